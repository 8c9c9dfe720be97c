"""Formulas counted: one statement counts one rule, over the data or for every prediction at once (0007).

If several branches find the same grounding, we keep it once; then we evaluate all tests over the data with the prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, groupby

from sqlglot import exp

from rulescore.language.syntax import Comparison, Operator, Variable
from rulescore.logic.formula import Disjunct, Judgement, variables_of
from rulescore.setting.choices import Role
from rulescore.sql.formula.branches import MOST_NESTED, Branch, branches, in_measures, refutes, taken_part_through
from rulescore.sql.formula.changes import can_be_inside, held_over_data, judged_otherwise, measured, turned, values
from rulescore.sql.formula.scope import FormulaContext, Joins, Scope
from rulescore.sql.query import Query, Row, Select, alias, exists, row, select, union_all
from rulescore.sql.words import Sql, all_of, any_of, sql, when

# A row of groundings.
g = alias("g")


def variable(index: int) -> str:
    return f"v{index}"


def groundings(context: FormulaContext, *, only: Disjunct | None = None) -> Query | None:
    """One row for each grounding whose body holds or, with `only`, that disjunct of it: `prediction` if asked for, `v0`, `v1`, ….
    None if there can be none."""
    chosen = [branch for branch in branches(context) if only is None or branch.disjunct is only]
    parts: list[Query] = []
    if _are_apart(context, chosen):
        parts += [_branch_rows(context, branch) for branch in chosen if branch.binds]
        chosen = [branch for branch in chosen if not branch.binds]
    if chosen:
        repeat = len(chosen) > 1 or chosen[0].repeats
        rows = list(_of_disjuncts(context, chosen))
        parts.append(_each_once(context, rows) if repeat else rows[0])
    return union_all(parts) if parts else None


def _of_disjuncts(context: FormulaContext, ways: Sequence[Branch]) -> Iterator[Select]:
    """The rows of all branches. If tests that contain queries would be repeated too often, we evaluate them once, over the rows of
    all branches."""
    for _, same in groupby(ways, lambda branch: id(branch.disjunct)):
        chosen = list(same)
        tests = context.tests(chosen[0].disjunct)
        nested = {test: sum(1 for _ in _condition(context, test).node.find_all(exp.Select)) for test in tests}
        heavy = [test for test in tests if nested[test]]
        if len(chosen) * sum(nested.values()) <= MOST_NESTED:
            yield from (_branch_rows(context, branch) for branch in chosen)
            continue
        rows = [_branch_rows(context, branch, without=heavy) for branch in chosen]
        source, scope = with_measures(
            context,
            _each_once(context, rows),
            [name for name in context.rule.body_measures if any(_mentions(test, name) for test in heavy)],
        )
        fields = g[fields_of(context)] or [g.one]
        yield select(*fields).from_(source).where(*map(scope.judgement, heavy))


def _condition(context: FormulaContext, test: Judgement) -> Sql:
    return grounding(context).judgement(test)


def _mentions(test: Judgement, measure: str) -> bool:
    return any(variable.name == measure for variable in variables_of(test))


def grounding(context: FormulaContext) -> Scope:
    """The scope of a row `g` of groundings."""
    columns = {name: g[variable(i)] for i, name in enumerate(context.rule.variables)}
    return Scope(context, columns, g.prediction if context.predictions else None)


def with_measures(context: FormulaContext, rows: Query, measures: Sequence[str]) -> tuple[Row, Scope]:
    """Groundings as a source `g`. Each of these aggregates is computed once there, even if several tests ask for it."""
    scope = grounding(context)
    source = rows.as_("g")
    if not measures:
        return source, scope
    names = fields_of(context) or ["one"]
    values = {f"m{i}": scope.column(Variable(name)) for i, name in enumerate(measures)}
    wider = select(*g[names], **values).from_(source)
    columns = {**scope.columns, **{name: g[f"m{i}"] for i, name in enumerate(measures)}}
    return wider.as_("g"), replace(scope, columns=columns)


def _are_apart(context: FormulaContext, ways: Sequence[Branch]) -> bool:
    """Whether no other branch finds the groundings of the branches that bind. Then only the groundings of the other branches need a
    DISTINCT, which is the slowest step. That is so for tables: a row with a prediction is never an observed row, but a predicted
    fact may be observed."""
    if any(branch.disjunct is not ways[0].disjunct for branch in ways):
        return False
    atoms = [atom for branch in ways for atom in branch.disjunct.atoms if context.predictable(atom)]
    return all(context.relation(atom).is_table for atom in atoms)


def _each_once(context: FormulaContext, rows: Sequence[Query]) -> Select:
    u = union_all(rows).as_("u")
    fields = u[fields_of(context)] or [sql(1).named("one")]
    return select(*fields).distinct().from_(u)


def fields_of(context: FormulaContext) -> list[str]:
    return [*(["prediction"] if context.predictions else []), *(variable(i) for i in range(len(context.rule.variables)))]


def _branch_rows(context: FormulaContext, branch: Branch, *, without: Collection[Judgement] = ()) -> Select:
    scope = branch.joins.scope
    fields = [_prediction(scope).named("prediction")] if context.predictions else []
    fields += [scope.projected(name).named(variable(i)) for i, name in enumerate(context.rule.variables)]
    tests = [test for test in context.tests(branch.disjunct) if test not in without]
    query = branch.joins.query(*(fields or [sql(1).named("one")]), tests=tests)
    # While we collect questions for registered predicates, a value may still be missing.
    if context.distinct_variables and not context.asking:
        pairs = combinations(map(Variable, context.rule.variables), 2)
        query = query.where(*(scope.condition(Comparison(Operator.DIFFERENT, *pair)) for pair in pairs))
    return query


def _prediction(scope: Scope) -> Sql:
    assert scope.prediction is not None
    return scope.prediction


def judged(context: FormulaContext) -> Select | None:
    """The groundings with the two verdicts on their heads, each 0 or 1."""
    if context.predictions and can_be_inside(context, taken_part_through(context)):
        return _judged_by_changes(context)
    rows = groundings(context)
    if rows is None:
        return None
    source, scope = with_measures(context, rows, context.rule.head_measures)
    query = select(*_verdict_fields(scope)).from_(source)
    if context.predictions and Role.BODY not in context.roles:
        query = query.where(any_of(*_outside_the_body(scope)))
    return query


def _outside_the_body(scope: Scope) -> list[Sql]:
    """Ways in which the prediction takes part in a grounding as its head or its refuter."""
    roles = scope.context.roles
    ways = head_atoms(scope) if Role.HEAD in roles else []
    return [*ways, *(refutes(scope, scope.context.rule.refuted) if Role.REFUTER in roles else [])]


def _verdict_fields(scope: Scope) -> list[Sql]:
    rule = scope.context.rule
    judgements = {"confirmed": rule.confirmed, "refuted": rule.refuted}
    fields = g[fields_of(scope.context)]
    return [*fields, *(when(scope.judgement(judgement), 1, 0).named(name) for name, judgement in judgements.items())]


def _judged_by_changes(context: FormulaContext) -> Select | None:
    """For a rule whose aggregates can contain predictions: the groundings in which a prediction stands, and the groundings whose
    judgement it changes."""
    ways = list(branches(context))
    disjuncts = context.possible(context.rule.disjuncts)
    held = _is_held if len(disjuncts) > 1 else None
    parts = [
        _disjunct_by_changes(context, disjunct, [way for way in ways if way.disjunct is disjunct], held) for disjunct in disjuncts
    ]
    if len(parts) <= 1:
        return parts[0] if parts else None
    rows = union_all([select("*").from_(part.as_(f"d{i}")) for i, part in enumerate(parts)])
    of_data = groundings(replace(context, predictions=False))
    assert of_data is not None
    return select("*").with_step("held", of_data).distinct().from_(rows.as_("j"))


def _is_held(before: Scope) -> Sql:
    """Whether a grounding is one of the data's groundings, which the step `held` keeps."""
    h = row("held", "h")
    same = (before.is_value_of(name, h[variable(i)]) for i, name in enumerate(before.context.rule.variables))
    return exists(h, all_of(*same))


def _disjunct_by_changes(
    context: FormulaContext, disjunct: Disjunct, ways: Sequence[Branch], held: Callable[[Scope], Sql] | None
) -> Select:
    """`ways`: the branches of a disjunct; `held`: how to test whether a body held before, if other disjuncts may make it hold."""
    tests = context.tests(disjunct)
    heavy = [test for test in tests if _condition(context, test).node.find(exp.Select)]
    scope, fields = grounding(context), fields_of(context)
    query, rows = select(), []
    if ways:
        standing = union_all([_branch_rows(context, way, without=heavy) for way in ways])
        query = query.with_step("standing", standing)
        s = row("standing", "s")
        rows.append(select(*s[fields]).from_(s))
    known = measured(context, disjunct, "measured")
    query = query.with_step(known.table, values(known, "standing" if ways else None, scope))
    way = Branch(disjunct, turned(known, held), "prediction in an aggregate")
    rows.append(_branch_rows(context, way))
    apart = all(way.binds for way in ways) and _are_apart(context, [*ways, way])
    source = union_all(rows) if apart else _each_once(context, rows)
    after = known.after(scope)
    query = query.select(*_verdict_fields(after)).from_(source.as_("g"))
    query = query.join(row(known.table, "k"), known.is_row_of(scope)).where(*map(after.judgement, heavy))
    if Role.BODY not in context.roles:
        inside = any_of(*measure_places(scope, context.rule.head_measures)).paren()
        before = known.before(after)
        changed = all_of(inside, judged_otherwise(after, before, (held or held_over_data)(before)))
        query = query.where(any_of(*_outside_the_body(after), changed.paren()))
    return query


def head_atoms(scope: Scope) -> list[Sql]:
    """Whether the prediction stands in the head of a grounding, at each of its atoms."""
    context = scope.context
    return list(map(scope.is_prediction, dict.fromkeys(filter(context.predictable, context.rule.head_atoms))))


def measure_places(scope: Scope, names: Sequence[str]) -> Iterator[Sql]:
    """Whether the prediction is in aggregates of a grounding."""
    for joins, _ in in_measures(scope.context, names, lambda: Joins(scope)):
        yield exists(joins.query(1))


def counts(context: FormulaContext, rule_number: int) -> Select | None:
    """Confirmed, refuted and evaluable groundings: one row over the data, or one for each prediction."""
    rows = judged(context)
    if rows is None:
        return None
    j = rows.as_("j")
    either = when(any_of(j.confirmed == 1, j.refuted == 1), 1, 0)
    sums = {"confirmed": j.confirmed, "refuted": j.refuted, "evaluable": either}
    query = select(rule=sql(rule_number).integer()).from_(j)
    if context.predictions:
        query = query.select(j.prediction).group_by(j.prediction).having(either.sum() > 0)
    return query.select(**{name: value.sum().or_else(0).big() for name, value in sums.items()})
