"""Predictions in aggregates.

Through an aggregate, a prediction takes part only in groundings that are judged differently with it than without it. These are few
of the groundings that the aggregate concerns (0011). So we compute the values of aggregates once for each prediction and each
binding of the variables that they read, with the prediction (`after`) and without it (`before`), join the groundings of the data to
these values and judge them by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rulescore.language.syntax import Aggregation, Expression, Variable
from rulescore.logic import formula
from rulescore.logic.disjuncts import bound_variables
from rulescore.sql.formula.branches import in_measures, taken_part_through
from rulescore.sql.formula.scope import FormulaContext, Joins, RowSource, Scope
from rulescore.sql.query import Row, Select, alias, exists, name_of, row, select, union_all
from rulescore.sql.words import Sql, all_of, any_of, sql, when

# A short name for a row of the table that `Measured` describes.
k = alias("k")


def can_be_inside(context: FormulaContext, names: Sequence[str]) -> bool:
    """Whether a prediction can be an atom in the range of one of these aggregates."""
    disjuncts = [disjunct for name in names for disjunct in context.possible(context.rule.measures[name].disjuncts)]
    return any(
        context.predictable(atom)
        for disjunct in disjuncts
        for part in formula.parts_of(disjunct)
        for atom in formula.atoms_of(part)
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """A table with the values of a rule's aggregates. It has a row for each prediction and each binding of `outer`, the variables
    of a disjunct that the aggregates read. A row has the values of the aggregates `names` and of the expressions `computed` from
    them, with the prediction and without it, and whether the prediction is `inside` an aggregate that it can take part through."""

    context: FormulaContext
    disjunct: formula.Disjunct
    table: str
    outer: tuple[str, ...]
    names: tuple[str, ...]
    computed: tuple[Expression, ...]

    def keys(self, binding: Row) -> dict[str, Sql]:
        return {name: binding[f"o{i}"] for i, name in enumerate(self.outer)}

    def key_of(self, scope: Scope) -> list[Sql]:
        """The fields that identify the row of a grounding."""
        assert scope.prediction is not None
        outer = [scope.projected(name).named(f"o{i}") for i, name in enumerate(self.outer)]
        return [scope.prediction.named("prediction"), *outer]

    def is_row_of(self, scope: Scope) -> Sql:
        """Whether a row `k` belongs to a grounding."""
        assert scope.prediction is not None
        same = [scope.is_value_of(name, key) for name, key in self.keys(k).items()]
        return all_of(k.prediction == scope.prediction, *same)

    def measures(self, when: str) -> dict[str, Sql]:
        return {name: k[f"{when}{i}"] for i, name in enumerate(self.names)}

    def _expressions(self, when: str) -> dict[str, Sql]:
        return {repr(expression): k[f"computed_{when}{i}"] for i, expression in enumerate(self.computed)}

    def after(self, scope: Scope) -> Scope:
        """The scope of a grounding that reads what it can from its row `k`."""
        return replace(scope, columns={**scope.columns, **self.measures("after")}, computed=self._expressions("after"))

    def before(self, scope: Scope) -> Scope:
        """The scope of the same grounding over the data alone. A variable that an equation binds keeps the grounding's value."""
        own = {name: scope.column(Variable(name)) for name, _ in self.disjunct.values}
        columns = {**scope.columns, **own, **self.measures("before")}
        return replace(scope, columns=columns, prediction=None, computed=self._expressions("before"))


def measured(context: FormulaContext, disjunct: formula.Disjunct, table: str) -> Measured:
    names = (*context.rule.body_measures, *context.rule.head_measures)
    outer = _read_by(context, disjunct, names)
    return Measured(context, disjunct, table, outer, names, _computed_from(context, disjunct, {*outer, *names}))


def _read_by(context: FormulaContext, disjunct: formula.Disjunct, names: Sequence[str]) -> tuple[str, ...]:
    """The variables that atoms of a disjunct bind and aggregates read, directly or through equations."""
    made_of: dict[str, tuple[formula.Resolved, ...]] = {name: (value,) for name, value in disjunct.values}
    made_of.update({name: tuple(_parts(measure)) for name, measure in context.rule.measures.items()})
    read: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in read:
            read.add(name)
            waiting += [variable.name for part in made_of.get(name, ()) for variable in formula.variables_of(part)]
    return tuple(name for name in bound_variables(disjunct) if name in read)


def _computed_from(context: FormulaContext, disjunct: formula.Disjunct, names: set[str]) -> tuple[Expression, ...]:
    """Expressions of nothing but aggregates and the variables these read: we compute them once for each row, not for each
    grounding."""
    judgements = [*disjunct.tests, context.rule.confirmed, context.rule.refuted]
    every = {
        repr(part): part for judgement in judgements for part in formula.computed_in(judgement) if not isinstance(part, Variable)
    }
    return tuple(
        part for part in every.values() if {v.name for v in formula.variables_of(part)} <= names and _changes(context, part)
    )


def values(measured: Measured, standing: str | None, scope: Scope) -> Select:
    """The rows of the table that `Measured` describes. `standing`: a table of groundings in which predictions stand; `scope` is
    theirs."""
    parts = list(_inside(measured))
    if standing is not None:
        parts.append(select(*measured.key_of(scope), sql(0).named("inside")).from_(row(standing, "g")))
    keys = [key.node.alias for key in measured.key_of(scope)]
    u = union_all(parts).as_("u")
    rows = select(*u[keys], inside=u.inside.max()).from_(u).group_by(*u[keys])
    after = Scope(measured.context, measured.keys(k), k.prediction, dict(measured.disjunct.values))
    fields = [*keys, "inside"]
    for i, name in enumerate(measured.names):
        wider = with_aggregate(after, rows, fields, measured.context.rule.measures[name], f"after{i}")
        if wider is not None:
            rows, fields = wider, [*fields, f"after{i}"]
    names = [Variable(name) for name in measured.names]
    rows = _wider(rows, fields, "", names, (after, replace(after, prediction=None)))
    if measured.computed:
        known = [replace(after, columns={**after.columns, **measured.measures(when)}) for when in ("after", "before")]
        rows = _wider(rows, [field.alias_or_name for field in rows.fields], "computed_", measured.computed, known)
    return rows


def _wider(rows: Select, fields: list[str], prefix: str, values: Sequence[Expression], scopes: Sequence[Scope]) -> Select:
    """Rows `k` with further values, with the prediction and without it."""
    times = zip(("after", "before"), scopes, strict=True)
    every = {f"{prefix}{when}{i}": (scope, value) for when, scope in times for i, value in enumerate(values)}
    more = [scope.value(value).named(name) for name, (scope, value) in every.items() if name not in fields]
    return select(*k[fields], *more).from_(rows.as_("k"))


def _inside(measured: Measured) -> Iterator[Select]:
    """The rows whose prediction is in an aggregate."""
    for joins, _ in in_measures(measured.context, taken_part_through(measured.context), lambda: _around(measured)):
        yield joins.query(*measured.key_of(joins.scope), sql(1).named("inside"))


def _around(measured: Measured) -> Joins:
    """The distinct bindings, in the data, of the variables that aggregates read. If one atom has all these variables, we read only
    that atom: bindings that the rest of the body lacks join nothing later."""
    context, disjunct = measured.context, measured.disjunct
    name = context.alias()
    joins = Joins(Scope(context, measured.keys(alias(name)), None, dict(disjunct.values)))
    if not measured.outer:
        return joins
    enough = [atom for atom in disjunct.atoms if {*measured.outer} <= {variable.name for variable in formula.variables_of(atom)}]
    reading = Joins(Scope(context, {}, None))
    for atom in enough[:1] or disjunct.atoms:
        reading.read(atom, RowSource.OBSERVED)
    fields = [reading.scope.projected(variable).named(f"o{i}") for i, variable in enumerate(measured.outer)]
    joins.start(reading.query(*fields).distinct().as_(name))
    return joins


def turned(measured: Measured, held: Callable[[Scope], Sql] | None) -> Joins:
    """Groundings of the data whose judgement changes with a prediction inside one of their aggregates. `held`: whether the body
    held before, if the disjunct is not the only one."""
    scope = Scope(measured.context, measured.keys(k), k.prediction)
    joins = Joins(measured.after(scope))
    joins.start(row(measured.table, "k"))
    joins.read_observed(measured.disjunct)
    joins.condition(k.inside == 1)
    before = measured.before(joins.scope)
    joins.condition(judged_otherwise(joins.scope, before, _still_held(before, measured.disjunct) if held is None else held(before)))
    return joins


def _still_held(before: Scope, disjunct: formula.Disjunct) -> Sql | None:
    """Whether a disjunct with observed atoms held before; we test only what a prediction can change. None: the whole body held."""
    context = before.context
    tests = [before.judgement(test) for test in disjunct.tests if _changes(context, test)]
    values = [_has_value(before, name, value) for name, value in disjunct.values if _changes(context, value)]
    return all_of(*tests, *values) if tests or values else None


def held_over_data(before: Scope) -> Sql:
    """Whether the body of a grounding held before."""
    context = before.context
    return any_of(*(_held(before, disjunct) for disjunct in context.possible(context.rule.disjuncts)))


def _held(before: Scope, disjunct: formula.Disjunct) -> Sql:
    joins = Joins(before)
    for atom in disjunct.atoms:
        joins.read(atom, RowSource.OBSERVED)
    for name, value in disjunct.values:
        joins.condition(_has_value(before, name, value))
    return exists(joins.query(1, tests=disjunct.tests)) if disjunct.atoms else all_of(*joins.conditions(disjunct.tests))


def _has_value(scope: Scope, name: str, value: Expression) -> Sql:
    return scope.is_value_of(name, scope.typed(name, scope.value(value), scope.type_of(value)))


def judged_otherwise(after: Scope, before: Scope, held: Sql | None) -> Sql:
    """Whether a grounding whose body holds with a prediction is judged differently without it: its body does not hold, or one of
    the verdicts on the head differs. `held`: whether its body holds without the prediction; None: it holds."""
    context = after.context
    confirmed, refuted = context.rule.confirmed, context.rule.refuted
    conditions = [] if held is None else [when(held, 1, 0) == 0]
    if refuted == formula.Opposite(confirmed) and _judgement_changes(context, confirmed):  # true, false or unknown
        sides = [scope.judgement(confirmed).paren() for scope in (after, before)]
        return any_of(*conditions, Sql(exp.NullSafeNEQ(this=sides[0].node, expression=sides[1].node))).paren()
    for judgement in (confirmed, refuted):
        if _judgement_changes(context, judgement):
            conditions.append(when(after.judgement(judgement), 1, 0) != when(before.judgement(judgement), 1, 0))
    return any_of(*conditions).paren()


def _changes(context: FormulaContext, part: formula.Resolved) -> bool:
    """Whether a prediction may change the value of a test or an expression."""
    measures = context.rule.measures
    for node in formula.nodes_of(part):
        match node:
            case formula.ResolvedAtom() if context.predictable(node):
                return True
            case Variable(name) if name in measures and any(_changes(context, part) for part in _parts(measures[name])):
                return True
            case _:
                pass
    return False


def _parts(measure: formula.AggregateValue) -> Iterator[formula.Resolved]:
    yield measure.value
    for disjunct in measure.disjuncts:
        yield from formula.parts_of(disjunct)


def _judgement_changes(context: FormulaContext, judgement: formula.Judgement) -> bool:
    match judgement:
        case formula.Leaf():
            return _changes(context, judgement)
        case formula.All(parts) | formula.AnyOf(parts):
            return any(_judgement_changes(context, part) for part in parts)
        case formula.Opposite(part):
            return _judgement_changes(context, part)
        case formula.Exists(disjuncts):
            return any(_changes(context, part) for disjunct in disjuncts for part in formula.parts_of(disjunct))


# Joins the aggregates instead of asking a query about each row (decision 0019).


def with_aggregate(scope: Scope, rows: Select, fields: list[str], measure: formula.AggregateValue, name: str) -> Select | None:
    """Rows `k` with the value of an aggregate as a further field, by a join with the facts that the aggregate ranges over. The rows
    differ in their `fields`, and `scope` refers to them. None unless these are the facts of one atom that may be the prediction: in
    a query about each row that atom would stand beneath an OR, and Spark would compute the rows a second time to find their
    predictions."""
    context = scope.context
    disjuncts = context.possible(measure.disjuncts)
    atoms = disjuncts[0].atoms if len(disjuncts) == 1 else ()
    if measure.function is Aggregation.COUNT_DISTINCT or len(atoms) != 1 or not context.predictable(atoms[0]):
        return None
    joins = Joins(scope)
    joins.read_all(disjuncts[0])
    value = joins.scope.value(measure.value)
    facts, conditions = joins.only_atom(disjuncts[0].tests)
    if not _can_be_joined(value, conditions, name_of(facts)):
        return None
    if measure.function is Aggregation.COUNT:  # arguments of facts are never missing
        argument, _ = atoms[0].arguments[0]
        value = facts[context.relation(atoms[0]).columns[argument].column]
        aggregate = value.count()
    else:
        aggregate = scope.aggregated(measure, value)
    k = rows.as_("k")
    wider = select(*k[fields], aggregate.named(name)).from_(k)
    return wider.left_join(facts, *conditions).group_by(*k[fields])


def _can_be_joined(value: Sql, conditions: Sequence[Sql], facts: str) -> bool:
    """Whether an outer join of rows `k` with `facts` can find an aggregate's value. Its conditions may not contain a query. The
    value has to be missing if there is no fact. And there must be an equation, because without one the join is slower than a query
    about each row."""
    if any(expression.node.find(exp.Select) for expression in (value, *conditions)):
        return False
    equates = any(isinstance(condition.node, exp.EQ) and _tables(condition) == {"k", facts} for condition in conditions)
    return equates and facts in _tables(value)


def _tables(expression: Sql) -> set[str]:
    return {column.table for column in expression.node.find_all(exp.Column)}
