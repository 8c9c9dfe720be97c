"""Formulas counted: one statement counts one rule, over the data or for every prediction at once.

What the same grounding is found by twice is made distinct; then all tests are asked of the data with the prediction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, groupby

from sqlglot import exp

from rulescore.data.setting import Role
from rulescore.language.syntax import Condition, Variable
from rulescore.logic.formula import Disjunct
from rulescore.logic.types import agree
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    big,
    column,
    different,
    equal,
    exists,
    named,
    number,
    one_if,
    select,
    total,
    union_all,
)
from rulescore.sql.formula import Context, Joins, Scope
from rulescore.sql.formula_branches import Branch, branches, in_measures

# A statement of several hundred nested queries takes a planner hours. Where tests that are queries would be repeated in more
# branches than this, they are asked once of everything that the branches find.
_MOST_NESTED = 40


def variable(index: int) -> str:
    return f"v{index}"


def groundings(context: Context, *, predictions: bool) -> exp.Query | None:
    """The groundings whose body holds: `prediction` where asked for, `v0`, `v1`, …; each once. None where there can be none."""
    found = list(branches(context, predictions=predictions))
    if _are_apart(context, found):
        parts: list[exp.Query] = [_branch_rows(context, branch, predictions=predictions) for branch in found if branch.binds]
        found = [branch for branch in found if not branch.binds]
    else:
        parts = []
    if found:
        repeat = len(found) > 1 or found[0].repeats
        rows = list(_of_disjuncts(context, found, predictions=predictions))
        parts.append(_each_once(context, rows, predictions=predictions) if repeat else rows[0])
    return union_all(parts) if parts else None


def _of_disjuncts(context: Context, found: Sequence[Branch], *, predictions: bool) -> Iterator[Select]:
    for _, same in groupby(found, lambda branch: id(branch.disjunct)):
        chosen = list(same)
        postponed = _heavy_tests(context, chosen[0].disjunct, predictions=predictions) if len(chosen) > 1 else {}
        nested = sum(1 for condition in postponed.values() for _ in condition.find_all(exp.Select))
        if len(chosen) * nested <= _MOST_NESTED:
            yield from (_branch_rows(context, branch, predictions=predictions) for branch in chosen)
            continue
        rows = [_branch_rows(context, branch, predictions=predictions, without=postponed) for branch in chosen]
        candidates = _each_once(context, rows, predictions=predictions).subquery(alias="c", copy=False)
        fields = [column("c", field) for field in _fields(context, predictions=predictions)] or [column("c", "one")]
        yield select(*fields).from_(candidates).where(all_of(list(postponed.values())))


def _heavy_tests(context: Context, disjunct: Disjunct, *, predictions: bool) -> dict[Condition, exp.Expr]:
    """Tests that are queries of their own, asked of groundings `c`."""
    columns: dict[str, exp.Expr] = {name: column("c", variable(i)) for i, name in enumerate(context.rule.variables)}
    scope = Scope(context, columns, column("c", "prediction") if predictions else None)
    conditions = {test: scope.condition(test) for test in disjunct.tests}
    return {test: condition for test, condition in conditions.items() if condition.find(exp.Select)}


def _are_apart(context: Context, found: Sequence[Branch]) -> bool:
    """Whether the groundings of branches that bind are in no other branch: then only the rest has to be made distinct, which
    takes longer than all else. A row with a prediction is never an observed one, as a predicted fact may be."""
    if any(branch.disjunct is not found[0].disjunct for branch in found):
        return False
    atoms = [atom for branch in found for atom in branch.disjunct.atoms if context.predictable(atom)]
    return all(context.relation(atom).is_table for atom in atoms)


def _each_once(context: Context, rows: Sequence[exp.Query], *, predictions: bool) -> Select:
    columns: list[exp.Expr] = [column("u", c) for c in _fields(context, predictions=predictions)]
    columns = columns or [named(number(1), "one")]
    return select(*columns).distinct().from_(union_all(rows).subquery(alias="u", copy=False))


def _fields(context: Context, *, predictions: bool) -> list[str]:
    return [*(["prediction"] if predictions else []), *(variable(i) for i in range(len(context.rule.variables)))]


def _branch_rows(context: Context, branch: Branch, *, predictions: bool, without: Collection[Condition] = ()) -> Select:
    scope = branch.joins.scope
    fields = [named(_prediction(scope), "prediction")] if predictions else []
    fields += [named(scope.column(Variable(name)), variable(i)) for i, name in enumerate(context.rule.variables)]
    tests = [test for test in branch.disjunct.tests if test not in without]
    query = branch.joins.query(*(fields or [named(number(1), "one")]), tests=tests)
    if context.distinct_variables:
        pairs = [
            different(scope.column(Variable(a)), scope.column(Variable(b)))
            for a, b in combinations(context.rule.variables, 2)
            if agree(context.rule.types.get(a), context.rule.types.get(b))
        ]
        query = query.where(*pairs)
    return query


def _prediction(scope: Scope) -> exp.Expr:
    assert scope.prediction is not None
    return scope.prediction.copy()


def judged(context: Context, *, predictions: bool) -> Select | None:
    """The groundings with the two answers of their heads, each 0 or 1."""
    rows = groundings(context, predictions=predictions)
    if rows is None:
        return None
    names = _fields(context, predictions=predictions)
    columns: dict[str, exp.Expr] = {name: column("g", variable(i)) for i, name in enumerate(context.rule.variables)}
    prediction = column("g", "prediction") if predictions else None
    scope = Scope(context, columns, prediction)
    source = rows.subquery(alias="g", copy=False)
    if context.rule.head_measures:
        measures = {name: f"m{i}" for i, name in enumerate(context.rule.head_measures)}
        fields = [named(scope.column(Variable(name)), alias) for name, alias in measures.items()]
        wider = select(*(column("g", c) for c in names), *fields).from_(source)
        source = wider.subquery(alias="g", copy=False)
        scope = replace(scope, columns={**columns, **{name: column("g", alias) for name, alias in measures.items()}})
    answers = [
        named(one_if(scope.judgement(context.rule.confirmed)), "confirmed"),
        named(one_if(scope.judgement(context.rule.refuted)), "refuted"),
    ]
    query = select(*(column("g", c) for c in names), *answers).from_(source)
    if predictions and Role.BODY not in context.roles:
        query = query.where(any_of(head_places(scope)))
    return query


def head_places(scope: Scope) -> list[exp.Expr]:
    """Whether the prediction stands in the head of a grounding: at each of its atoms, in each of its aggregates."""
    context = scope.context
    atoms = dict.fromkeys(filter(context.predictable, context.rule.head_atoms))
    return [*map(scope.is_prediction, atoms), *measure_places(scope, context.rule.head_measures)]


def measure_places(scope: Scope, names: Sequence[str]) -> Iterator[exp.Expr]:
    """Whether the prediction takes part in aggregates of a grounding."""
    for joins, _ in in_measures(scope.context, names, lambda: Joins(scope)):
        yield exists(joins.query(number(1)))


def counts(context: Context, rule_number: int, *, predictions: bool) -> Select | None:
    """Confirmed, refuted and evaluable groundings: one row over the data, one a prediction otherwise."""
    rows = judged(context, predictions=predictions)
    if rows is None:
        return None
    keys = [column("j", "prediction")] if predictions else []
    either = one_if(any_of([equal(column("j", c), number(1)) for c in ("confirmed", "refuted")]))
    sums = {"confirmed": column("j", "confirmed"), "refuted": column("j", "refuted"), "evaluable": either}
    query = select(
        named(exp.cast(number(rule_number), "INT", copy=False), "rule"),
        *keys,
        *(named(big(exp.Coalesce(this=total(value), expressions=[number(0)])), name) for name, value in sums.items()),
    ).from_(rows.subquery(alias="j", copy=False))
    if not predictions:
        return query
    query = query.group_by(*(key.copy() for key in keys))
    return query.having(exp.GT(this=total(either.copy()), expression=number(0)), copy=False)  # type: ignore[return-value]
