"""Adds a condition to a rule: another atom, a constant, an excluded constant or a bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pyarrow.compute as pc

from rulescore.discovery.table_rows import Rows
from rulescore.discovery.table_words import compared, variables_of
from rulescore.language import syntax
from rulescore.language.trees import variables_in
from rulescore.logic.checks import opposed
from rulescore.logic.refutation import Declared
from rulescore.session.session import Session
from rulescore.sql.facts import CONSTANT
from rulescore.sql.names import argument, fact_table
from rulescore.sql.query import Select, row, select
from rulescore.sql.words import count_rows, ordered, row_number
from rulescore.values import NUMBERS, ValueType, value_of

Place = tuple[str, int]
"""An argument of a predicate."""

_MOST_CONSTANTS = 20
"""How many constants of a place we try, the most frequent first."""
_MOST_CLASSES = 50
_BOUNDS = tuple(tenth / 10 for tenth in range(1, 10))


def of_graph(rule: syntax.Rule, predicates: Predicates, least: int, declared: Declared) -> Iterator[syntax.Rule]:
    """The rule with one more condition: an atom over its variables, the absence of an atom, an atom with a constant, or an excluded
    constant. `least`: how many facts must have the constant."""
    head = rule.head
    for condition in _of_graph(rule, predicates, least):
        if not isinstance(head, syntax.Atom) or not _is_decided(condition, head, declared):
            yield _with(rule, condition)


def _is_decided(condition: syntax.Condition, head: syntax.Atom, declared: Declared) -> bool:
    """Whether the fact that confirms or refutes the head decides the condition: `father(X, _)`, or `not mother(_, Y)`, lowers the
    rate of a head `father(X, Y)` that `mother(X, Y)` refutes, but says nothing."""
    match condition:
        case syntax.Atom():
            return _covers(condition, head)
        case syntax.Not(syntax.Atom() as absent):
            facts = (syntax.Atom(absent.predicate, terms) for terms in (head.terms, head.terms[::-1]))
            return any(_covers(absent, fact) and (fact == head or opposed(head, fact, declared)) for fact in facts)
        case _:
            return False


def _covers(atom: syntax.Atom, other: syntax.Atom) -> bool:
    """Whether an atom holds if another does: they are equal except for wildcards."""
    same = (atom.predicate, atom.arity) == (other.predicate, other.arity)
    return same and all(own in (term, syntax.Wildcard()) for own, term in zip(atom.terms, other.terms, strict=True))


def _of_graph(rule: syntax.Rule, predicates: Predicates, least: int) -> Iterator[syntax.Condition]:
    frequent = predicates.frequent
    variables = _bound(rule)
    present = {condition for condition in rule.body.conditions if isinstance(condition, syntax.Atom)}
    for predicate, arity in sorted(predicates.arities.items()):
        if arity not in (1, 2):
            continue
        for terms in permutations(variables, arity):
            atom = syntax.Atom(predicate, terms)
            if atom not in present:
                yield from (atom, syntax.Not(atom))
        for variable in variables if arity == 2 else ():
            for atom in (
                syntax.Atom(predicate, (variable, syntax.Wildcard())),
                syntax.Atom(predicate, (syntax.Wildcard(), variable)),
            ):
                yield from (atom, syntax.Not(atom))
            for place, other in ((1, 0), (0, 1)):
                for key, count in frequent.get((predicate, place), []):
                    if count >= least:
                        constant = syntax.Constant(value_of(key))
                        yield syntax.Atom(predicate, (variable, constant) if other == 0 else (constant, variable))
    for atom in present:
        for place, term in enumerate(atom.terms):
            if isinstance(term, syntax.Variable):
                for key, _ in frequent.get((atom.predicate, place), []):
                    yield syntax.Comparison(syntax.Operator.DIFFERENT, term, syntax.Constant(value_of(key)))


def of_table(rule: syntax.Rule, rows: Rows, least: int) -> Iterator[syntax.Rule]:
    """The rule with one more condition on its rows of the table: the rows have a value, or agree in a column. If the rule reads one
    row, also: the row does not have a value, or keeps a bound. `least`: how many rows must have the value."""
    atoms = [
        condition for condition in rule.body.conditions if isinstance(condition, syntax.RowAtom) and condition.table == rows.table
    ]
    used = {variable.name for condition in (rule.head, *rule.body.conditions) for variable in _variables(condition)}
    names = _free(variables_of(rows.types), used)
    named = {attribute for atom in atoms for attribute, _ in atom.arguments}
    for attribute, kind in rows.types.items():
        if attribute in named or attribute in rows.key:
            continue
        variable = syntax.Variable(names[attribute])
        values = pc.value_counts(rows.values(attribute).drop_null()).to_pylist()
        frequent = sorted((value for value in values if value["counts"] >= least), key=lambda value: -value["counts"])[
            :_MOST_CONSTANTS
        ]
        widened = _named_in_all(rule, rows.table, attribute, variable)
        if kind is not ValueType.FLOAT and 1 < len(values) <= _MOST_CLASSES:
            for value in frequent:
                constant = syntax.Constant(value["values"])
                yield _named_in_all(rule, rows.table, attribute, constant)
                if len(atoms) == 1:
                    yield _with(widened, syntax.Comparison(syntax.Operator.DIFFERENT, variable, constant))
        if kind is not ValueType.FLOAT and len(atoms) > 1 and len(values) > 1:
            yield widened
        if kind in NUMBERS and len(atoms) == 1 and len(values) > 2:
            numbers = rows.values(attribute).drop_null().to_numpy(zero_copy_only=False)
            for limit in sorted({number.item() for number in np.quantile(numbers, _BOUNDS, method="lower")}):
                yield from (
                    _with(widened, compared(variable, operator, limit))
                    for operator in (syntax.Operator.AT_LEAST, syntax.Operator.AT_MOST)
                )


@dataclass(frozen=True, slots=True)
class Predicates:
    """The predicates that have facts, with their arity, and the most frequent constants of their places, with how many facts have
    each."""

    arities: Mapping[str, int]
    frequent: Mapping[Place, Sequence[tuple[str, int]]]


def predicates_of(session: Session) -> Predicates:
    """The predicates of a session's facts. The engine counts, because facts may lie in its database."""
    loaded = session.data.loaded
    frequent: dict[Place, list[tuple[str, int]]] = {}
    names = list(loaded.predicate_ids)
    for arity in sorted({1, 2} & set(loaded.fact_arities)):
        for place in range(arity):
            for counted in session.engine.query(_most_frequent(arity, place, loaded.stride, len(names))).to_pylist():
                frequent.setdefault((names[counted["literal"] // loaded.stride], place), []).append(
                    (counted["key"], int(counted["n"]))
                )
    for constants in frequent.values():
        constants.sort(key=lambda constant: (-constant[1], constant[0]))
    arities = {known.name: known.arity for known in loaded.vocabulary.predicates.values() if known.observed}
    return Predicates(arities, frequent)


def _most_frequent(arity: int, place: int, stride: int, predicates: int) -> Select:
    f, c = row(fact_table(arity), "f"), row(CONSTANT, "c")
    value = f[argument(place)]
    # Greater literals are negative facts, and a remainder means another order of the arguments. We count neither.
    held = f.literal < predicates * stride, f.literal % stride == 0
    n = select(f.literal, value=value, n=count_rows()).from_(f).where(*held).group_by(f.literal, value).as_("n")
    rank = row_number(ordered(n.n, descending=True), n.value, per=[n.literal])
    r = select(n.literal, n.value, n.n, rank=rank).from_(n).as_("r")
    return select(r.literal, c.key, n=r.n.big()).from_(r).join(c, c.id == r.value).where(r.rank <= _MOST_CONSTANTS)


def _with(rule: syntax.Rule, condition: syntax.Condition) -> syntax.Rule:
    return replace(rule, body=syntax.And((*rule.body.conditions, condition)))


def _named_in_all(rule: syntax.Rule, table: str, attribute: str, term: syntax.Variable | syntax.Constant) -> syntax.Rule:
    conditions = tuple(
        replace(condition, arguments=(*condition.arguments, (attribute, term)))
        if isinstance(condition, syntax.RowAtom) and condition.table == table
        else condition
        for condition in rule.body.conditions
    )
    return replace(rule, body=syntax.And(conditions))


def _bound(rule: syntax.Rule) -> list[syntax.Variable]:
    """The variables that atoms of the body bind."""
    atoms = [condition for condition in rule.body.conditions if isinstance(condition, syntax.Atom)]
    return list(dict.fromkeys(term for atom in atoms for term in atom.terms if isinstance(term, syntax.Variable)))


def _variables(condition: object) -> Iterable[syntax.Variable]:
    return variables_in(condition)  # type: ignore[arg-type]  # the head `false` has no terms


def _free(names: dict[str, str], used: set[str]) -> dict[str, str]:
    """The names, each with underscores until the rule does not have it."""
    free = {}
    for attribute, name in names.items():
        while name in used:
            name += "_"
        free[attribute] = name
    return free
