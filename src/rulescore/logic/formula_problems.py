"""What is wrong with the names, types and variables of a formula, in words."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.data.relations import Relation, Schema
from rulescore.data.setting import ValueType
from rulescore.errors import Diagnostic, Severity, Span, suggestion
from rulescore.language.cursor import DEEPEST
from rulescore.language.printer import print_term
from rulescore.language.syntax import Atom, Condition, Constant, Expression, RowAtom, Test, Variable
from rulescore.logic.sizes import MOST_NODES
from rulescore.logic.types import TESTS, type_of_value, with_article

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
        self.report("E277", message, span, "values of different types are never equal: convert one where it is read")

    def never_equal(self, variable: str, span: Span | None, notes: Sequence[str]) -> None:
        """A rule that has no groundings, because what it joins is never equal."""
        message = f"nothing can be `{variable.rpartition(' ')[2]}`: its values have one type here and another elsewhere"
        helps = ("convert one of them where it is read: values of different types are never equal",)
        place = span.place() if span is not None else None
        problem = Diagnostic("W210", message, place, notes=tuple(notes), helps=helps, severity=Severity.WARNING)
        if problem not in self.found:
            self.found.append(problem)

    def wrong_type(self, relation: Relation, column: str, term: Constant) -> None:
        own = with_article(type_of_value(term.value))
        if isinstance(term.value, datetime.timedelta):
            message, advice = f"`{print_term(term)}` is {own}, which no fact holds", "compare the difference of two dates with it"
        else:
            found = relation.columns[column]
            here = " or ".join(with_article(one) for one in ValueType if one in (found.kinds or {found.type}))
            message = f"`{print_term(term)}` is {own}, but {print_column(relation, column)} is {here}"
            advice = "write a constant of that type, or declare the column's type where it is read"
        self.report("E206", message, term.span, advice)

    def unsafe(self, variable: Variable, why: str) -> None:
        self.found.append(
            Diagnostic(
                "E202",
                f"variable `{variable.name}` is unsafe: {why}",
                variable.span.place() if variable.span else None,
                "not bound",
                notes=("in every part of an `or`, a variable is bound by a positive atom, or by `=` or `let` to bound variables",),
                helps=(f"add an atom that mentions `{variable.name}`",),
            )
        )

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
            columns = ", ".join(f"{one}: {one[:1].upper()}" for one in relation.attributes[:3])
            self.report("E275", f"`{table}` is a table: its attributes are named", atom.span, f"write `{table}({columns})`")

    def unknown_table(self, atom: RowAtom) -> None:
        span = _part_of(atom.span, r"[^(]*")
        if atom.table in self.schema.relations:
            message = f"`{atom.table}` is a predicate of facts, whose arguments have no names"
            self.report("E275", message, span, "write the arguments in their order, without names")
            return
        tables = [one.name for one in self.schema.relations.values() if one.is_table]
        meant = suggestion(atom.table, tables)
        known = f"the tables are {', '.join(f'`{one}`' for one in tables)}" if tables else "no table with a key is given"
        self.report("E275", f"there is no table `{atom.table}`", span, f"did you mean `{meant}`?" if meant else known)

    def unknown_attribute(self, atom: Atom | RowAtom, relation: Relation, attribute: str) -> None:
        meant = suggestion(attribute, relation.attributes)
        known = f"its attributes are {', '.join(f'`{one}`' for one in relation.attributes)}"
        message = f"table `{relation.name}` has no attribute `{attribute}`"
        named = rf"(?<!\w){re.escape(attribute)}(?=[`\"]?\s*:)" if isinstance(atom, RowAtom) else re.escape(atom.predicate)
        self.report("E275", message, _part_of(atom.span, named), f"did you mean `{meant}`?" if meant else known)

    def expression_in_atom(self, test: Test) -> None:
        if self.schema.positions(test.predicate) is not None:
            computed = next(one for one in test.arguments if not isinstance(one, Variable | Constant))
            message = f"an argument of `{test.predicate}` is computed: those of atoms are variables and constants"
            self.report("E278", message, computed.span, "name the value in the body, `let V = …`, and write `V` here")
            return
        meant = suggestion(test.predicate, [*DECIDABLE, *self.functions])
        advice = f"did you mean `{meant}`?" if meant else "only tests and registered functions take computed arguments"
        message = f"`{test.predicate}` is no predicate of the data, no test and no registered function"
        self.report("E278", message, _part_of(test.span, r"[^(]*"), advice)

    def too_large(self, node: Condition | Expression) -> None:
        message = "once abbreviations are put in, this is too large to be computed"
        advice = (
            f"at most {MOST_NODES:,} operations in a rule, nested at most {DEEPEST} deep: add a column with the value to the data"
        )
        self.report("E282", message, node.span, advice)

    def report(self, code: str, message: str, span: Span | None, advice: str | None) -> None:
        place = span.place() if span is not None else None
        problem = Diagnostic(code, message, place, helps=(advice,) if advice else ())
        if problem not in self.found:
            self.found.append(problem)


def print_column(relation: Relation, column: str) -> str:
    if relation.is_table:
        return f"`{relation.name}.{column}`"
    return f"argument {list(relation.columns).index(column) + 1} of `{relation.name}`"


def _part_of(span: Span | None, pattern: str) -> Span | None:
    """The part of a span that matches; all of it where nothing does, as in a template."""
    found = re.search(pattern, span.source.text[span.start : span.end]) if span is not None else None
    if span is None or found is None:
        return span
    return Span(span.source, span.start + found.start(), span.start + found.end())
