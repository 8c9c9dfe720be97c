"""Formulas counted: one statement counts one rule, over the data or for every prediction at once.

What the same grounding is found by twice is made distinct; then all tests are asked of the data with the prediction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from sqlglot import exp

from rulescore.data.setting import Role
from rulescore.language.syntax import Variable
from rulescore.logic.types import agree
from rulescore.sql.build import (
    Select,
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


def variable(index: int) -> str:
    return f"v{index}"


def groundings(context: Context, *, predictions: bool) -> exp.Query | None:
    """The groundings whose body holds: `prediction` where asked for, `v0`, `v1`, …; each once. None where there can be none."""
    found = list(branches(context, predictions=predictions))
    apart = _are_apart(context, found)
    others = [branch for branch in found if not (apart and branch.binds)]
    parts: list[exp.Query] = [_branch_rows(context, branch, predictions=predictions) for branch in found if apart and branch.binds]
    if others:
        rows = [_branch_rows(context, branch, predictions=predictions) for branch in others]
        parts.append(rows[0] if len(rows) == 1 and not others[0].repeats else _each_once(context, rows, predictions=predictions))
    return union_all(parts) if parts else None


def _are_apart(context: Context, found: Sequence[Branch]) -> bool:
    """Whether the groundings of branches that bind are in no other branch: then only the rest has to be made distinct, which
    takes longer than all else. A row with a prediction is never an observed one, as a predicted fact may be."""
    if any(branch.disjunct is not found[0].disjunct for branch in found):
        return False
    atoms = [atom for branch in found for atom in branch.disjunct.atoms if context.predictable(atom)]
    return all(context.relation(atom).is_table for atom in atoms)


def _each_once(context: Context, rows: Sequence[exp.Query], *, predictions: bool) -> Select:
    fields = [*(["prediction"] if predictions else []), *(variable(i) for i in range(len(context.rule.variables)))]
    columns: list[exp.Expr] = [column("u", c) for c in fields]
    columns = columns or [named(number(1), "one")]
    return select(*columns).distinct().from_(union_all(rows).subquery(alias="u", copy=False))


def _branch_rows(context: Context, branch: Branch, *, predictions: bool) -> Select:
    scope = branch.joins.scope
    fields = [named(_prediction(scope), "prediction")] if predictions else []
    fields += [named(scope.column(Variable(name)), variable(i)) for i, name in enumerate(context.rule.variables)]
    query = branch.joins.query(*(fields or [named(number(1), "one")]), tests=branch.disjunct.tests)
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
    names = [*(["prediction"] if predictions else []), *(variable(i) for i in range(len(context.rule.variables)))]
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
