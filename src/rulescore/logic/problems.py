"""Messages about wrong names, types and variables of a formula, and about formulas that become too large."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rulescore.errors import Diagnostic, Severity, Span, did_you_mean, place_of, ticked
from rulescore.language.cursor import DEEPEST
from rulescore.language.printer import print_term
from rulescore.language.syntax import Atom, Condition, Constant, Expression, Membership, RowAtom, Test, Variable
from rulescore.language.trees import Node, parts
from rulescore.logic.formula import Relation, Schema
from rulescore.logic.types import TESTS, type_of_value, with_article
from rulescore.values import ValueType

MOST_NODES = 100_000
MOST_WAYS = 1_000
MOST_JOINS = 2_500
"""Limits a statement that counts several ways at once: a prediction may stand for each atom of each way, and the statement joins
it with the others. The database's planning time grows with the square of the atoms."""


class Size(NamedTuple):
    """The size of a tree: its nodes, and its height."""

    nodes: int
    height: int


_LEAF = Size(1, 1)


def size_of(node: Node, known: Mapping[str, Size]) -> Size:
    """The size of a tree once expressions replace its variables. `known`: the sizes of these expressions."""
    if isinstance(node, Variable):
        return known.get(node.name, _LEAF)
    below = [size_of(part, known) for part in _parts(node)]
    return Size(1 + sum(size.nodes for size in below), 1 + max((size.height for size in below), default=0))


def _parts(node: Node) -> Iterable[Node]:
    """The parts of a node without the constants of a set, because constants never grow."""
    return (node.value,) if isinstance(node, Membership) else parts(node)


def sizes_of(values: Mapping[str, Expression], known: dict[str, Size]) -> Iterator[tuple[str, Size]]:
    """The sizes of abbreviations. Each may use the abbreviations before it. Adds each size to `known`."""
    for name, value in values.items():
        known[name] = size_of(value, known)
        yield name, known[name]


DECIDABLE = frozenset({*TESTS, "within"})
"""Tests that are built in."""


@dataclass(frozen=True, slots=True)
class Report:
    """Collects problems, each once."""

    schema: Schema
    functions: frozenset[str]
    found: list[Diagnostic]

    def two_types(self, what: str, span: Span | None) -> None:
        message = f"{what} has another type than what is written here"
        self.report("E206", message, span, "values of different types are never equal: convert one where it is read")

    def never_equal(self, variable: str, span: Span | None, notes: Sequence[str]) -> None:
        """Warn of a rule without groundings: the values that it joins are never equal."""
        message = f"nothing can be `{variable.rpartition(' ')[2]}`: its values have one type here and another elsewhere"
        helps = ("convert one of them where it is read: values of different types are never equal",)
        place = place_of(span)
        problem = Diagnostic("W210", message, place, notes=tuple(notes), helps=helps, severity=Severity.WARNING)
        if problem not in self.found:
            self.found.append(problem)

    def wrong_type(self, relation: Relation, column: str, term: Constant) -> None:
        attribute = relation.columns[column]
        problem = wrong_type(term, print_column(relation, column), attribute.kinds or {attribute.type})
        if problem not in self.found:
            self.found.append(problem)

    def unknown_predicate(self, atom: Atom) -> None:
        table, dot, attribute = atom.predicate.partition(".")
        relation = self.schema.relations.get(table)
        if dot and relation is not None:
            if attribute in relation.columns:
                message = f"`{atom.predicate}` has {len(relation.key) + 1} arguments, the key and the value, not {atom.arity}"
                self.report("E203", message, atom.span, None)
            else:
                self.unknown_attribute(atom, relation, attribute)
        elif relation is not None and relation.is_table:
            columns = ", ".join(f"{attribute}: {attribute[:1].upper()}" for attribute in relation.attributes[:3])
            self.report("E120", f"`{table}` is a table: name its attributes", atom.span, f"write `{table}({columns})`")

    def unknown_table(self, atom: RowAtom) -> None:
        span = _part_of(atom.span, r"[^(]*")
        if atom.table in self.schema.relations:
            message = f"`{atom.table}` is a predicate of facts, whose arguments have no names"
            self.report("E120", message, span, "write the arguments in their order, without names")
            return
        tables = [relation.name for relation in self.schema.relations.values() if relation.is_table]
        known = f"the tables are {ticked(tables)}" if tables else "no table with a key is given"
        self.report("E205", f"there is no table `{atom.table}`", span, did_you_mean(atom.table, tables) or known)

    def unknown_attribute(self, atom: Atom | RowAtom, relation: Relation, attribute: str) -> None:
        known = f"its attributes are {ticked(relation.attributes)}"
        message = f"table `{relation.name}` has no attribute `{attribute}`"
        named = rf"(?<!\w){re.escape(attribute)}(?=[`\"]?\s*:)" if isinstance(atom, RowAtom) else re.escape(atom.predicate)
        self.report("E205", message, _part_of(atom.span, named), did_you_mean(attribute, relation.attributes) or known)

    def expression_in_atom(self, test: Test) -> None:
        if self.schema.positions(test.predicate) is not None:
            computed = next(argument for argument in test.arguments if not isinstance(argument, Variable | Constant))
            message = f"an argument of `{test.predicate}` is computed: arguments of atoms are variables and constants"
            self.report("E109", message, computed.span, "name the value in the body, `let V = …`, and write `V` here")
            return
        known = [*DECIDABLE, *self.functions]
        advice = did_you_mean(test.predicate, known) or "only tests and registered functions take computed arguments"
        message = f"`{test.predicate}` is no predicate of the data, no test and no registered function"
        self.report("E205", message, _part_of(test.span, r"[^(]*"), advice)

    def too_large(self, node: Condition | Expression) -> None:
        message = "once abbreviations are put in, this is too large to be computed"
        advice = (
            f"at most {MOST_NODES:,} operations in a rule, nested at most {DEEPEST} deep: add a column with the value to the data"
        )
        self.report("E122", message, node.span, advice)

    def report(self, code: str, message: str, span: Span | None, advice: str | None) -> None:
        place = place_of(span)
        problem = Diagnostic(code, message, place, helps=(advice,) if advice else ())
        if problem not in self.found:
            self.found.append(problem)


def wrong_type(term: Constant, where: str, kinds: Collection[ValueType | None]) -> Diagnostic:
    """The error for a constant at a place where the data have values of other types."""
    its_type = with_article(type_of_value(term.value))
    if isinstance(term.value, datetime.timedelta):
        message, advice = f"`{print_term(term)}` is {its_type}, which no fact holds", "compare the difference of two dates with it"
    else:
        others = " or ".join(with_article(kind) for kind in ValueType if kind in kinds)
        message = f"`{print_term(term)}` is {its_type}, but {where} is {others}"
        wanted = f'a string, "{print_term(term)}"' if set(kinds) == {ValueType.STRING} else "a constant of that type"
        advice = f"write {wanted}, or declare the column's type where the data are read"
    return Diagnostic("E206", message, place_of(term.span), its_type, helps=(advice,))


def print_column(relation: Relation, column: str) -> str:
    if relation.is_table:
        return f"`{relation.name}.{column}`"
    return print_argument(relation.name, list(relation.columns).index(column))


def print_argument(predicate: str, position: int) -> str:
    return f"argument {position + 1} of `{predicate}`"


def _part_of(span: Span | None, pattern: str) -> Span | None:
    """The part of a span that matches. If nothing matches, as in a template: the whole span."""
    match = re.search(pattern, span.source.text[span.start : span.end]) if span is not None else None
    if span is None or match is None:
        return span
    return Span(span.source, span.start + match.start(), span.start + match.end())
