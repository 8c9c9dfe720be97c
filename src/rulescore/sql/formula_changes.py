"""Predictions in aggregates.

Through an aggregate a prediction takes part in the groundings that are judged otherwise over the data with it than over the data
alone: few of the many that the aggregate concerns. So what aggregates come to is computed once for each prediction and each
binding of the variables that they read, with the prediction (`after`) and without (`before`); the groundings of the data are joined
to these values and judged by both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rulescore.language.syntax import Condition, Expression, RowAtom, Variable
from rulescore.language.trees import expressions_in, nodes_in, variables_in
from rulescore.logic.disjuncts import bound_variables
from rulescore.logic.formula import All, Any, Disjunct, Exists, Judgement, Leaf, Measure, Opposite
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    column,
    different,
    equal,
    exists,
    named,
    number,
    one_if,
    select,
    table,
    union_all,
)
from rulescore.sql.formula import Context, Joins, Scope, Source
from rulescore.sql.formula_branches import in_measures, taken_part_through


def can_be_inside(context: Context, names: Sequence[str]) -> bool:
    """Whether a prediction can be an atom of something that one of these aggregates ranges over."""
    disjuncts = [one for name in names for one in context.possible(context.rule.measures[name].disjuncts)]
    nodes = (node for disjunct in disjuncts for part in _parts_of(disjunct) for node in nodes_in(part))
    return any(isinstance(node, RowAtom) and context.predictable(node) for node in nodes)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the aggregates of a rule come to, in a table with a row for each prediction and each binding of `outer`, the variables
    of a disjunct that they read: the values of the aggregates in `names` and of the expressions `computed` from them, after and
    before the prediction came, and whether it is `inside` an aggregate that it can take part through."""

    context: Context
    disjunct: Disjunct
    table: str
    outer: tuple[str, ...]
    names: tuple[str, ...]
    computed: tuple[Expression, ...]

    def keys(self, alias: str) -> dict[str, exp.Expr]:
        return {name: column(alias, f"o{i}") for i, name in enumerate(self.outer)}

    def key_of(self, scope: Scope) -> list[exp.Expr]:
        """The fields that tell the row of a grounding."""
        assert scope.prediction is not None
        outer = [named(scope.projected(name), f"o{i}") for i, name in enumerate(self.outer)]
        return [named(scope.prediction.copy(), "prediction"), *outer]

    def is_row_of(self, scope: Scope) -> exp.Expr:
        """Whether a row `k` is that of a grounding."""
        assert scope.prediction is not None
        same = [scope.is_value_of(name, one) for name, one in self.keys("k").items()]
        return all_of([equal(column("k", "prediction"), scope.prediction.copy()), *same])

    def measures(self, when: str) -> dict[str, exp.Expr]:
        return {name: column("k", f"{when}{i}") for i, name in enumerate(self.names)}

    def _expressions(self, when: str) -> dict[str, exp.Expr]:
        return {repr(one): column("k", f"computed_{when}{i}") for i, one in enumerate(self.computed)}

    def after(self, scope: Scope) -> Scope:
        """The scope of a grounding that reads what it can from its row `k`."""
        return replace(scope, columns={**scope.columns, **self.measures("after")}, computed=self._expressions("after"))

    def before(self, scope: Scope) -> Scope:
        """The scope of the same grounding over the data alone. What an equation binds is the grounding's own value."""
        own = {name: scope.column(Variable(name)) for name, _ in self.disjunct.values}
        columns = {**scope.columns, **own, **self.measures("before")}
        return replace(scope, columns=columns, prediction=None, computed=self._expressions("before"))


def measured(context: Context, disjunct: Disjunct, table: str) -> Measured:
    names = (*context.rule.body_measures, *context.rule.head_measures)
    outer = _read_by(context, disjunct, names)
    return Measured(context, disjunct, table, outer, names, _computed_from(context, disjunct, {*outer, *names}))


def _read_by(context: Context, disjunct: Disjunct, names: Sequence[str]) -> tuple[str, ...]:
    """The variables that atoms of a disjunct bind and aggregates read, be it by way of equations."""
    made_of: dict[str, tuple[Condition | Expression, ...]] = {name: (value,) for name, value in disjunct.values}
    made_of.update({name: tuple(_parts(measure)) for name, measure in context.rule.measures.items()})
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [one.name for part in made_of.get(name, ()) for one in variables_in(part)]
    return tuple(name for name in bound_variables(disjunct) if name in found)


def _computed_from(context: Context, disjunct: Disjunct, names: set[str]) -> tuple[Expression, ...]:
    """Expressions of aggregates and of what these read alone: computed for each row here, they are not for each grounding."""
    conditions = [*disjunct.tests, *_conditions(context.rule.confirmed), *_conditions(context.rule.refuted)]
    every = {repr(one): one for condition in conditions for one in expressions_in(condition) if not isinstance(one, Variable)}
    return tuple(one for one in every.values() if {v.name for v in variables_in(one)} <= names and _changes(context, one))


def values(found: Measured, standing: str | None, scope: Scope) -> Select:
    """The table of what aggregates come to. `standing`: a table of groundings in which predictions stand, and their scope."""
    parts = list(_inside(found))
    if standing is not None:
        parts.append(select(*found.key_of(scope), named(number(0), "inside")).from_(table(standing, "g")))
    keys = [one.alias for one in found.key_of(scope)]
    rows = select(*(column("u", one) for one in keys), named(exp.Max(this=column("u", "inside")), "inside"))
    rows = rows.from_(union_all(parts).subquery(alias="u", copy=False)).group_by(*(column("u", one) for one in keys))
    after = Scope(found.context, found.keys("k"), column("k", "prediction"), dict(found.disjunct.values))
    names = [Variable(name) for name in found.names]
    rows = _wider(rows, [*keys, "inside"], "", names, (after, replace(after, prediction=None)))
    if found.computed:
        known = [replace(after, columns={**after.columns, **found.measures(when)}) for when in ("after", "before")]
        rows = _wider(rows, [one.alias_or_name for one in rows.expressions], "computed_", found.computed, known)
    return rows


def _wider(rows: Select, fields: Sequence[str], prefix: str, values: Sequence[Expression], scopes: Sequence[Scope]) -> Select:
    """Rows `k` with further values, after a prediction came and before."""
    times = zip(("after", "before"), scopes, strict=True)
    more = [named(scope.value(value), f"{prefix}{when}{i}") for when, scope in times for i, value in enumerate(values)]
    return select(*(column("k", one) for one in fields), *more).from_(rows.subquery(alias="k", copy=False))


def _inside(found: Measured) -> Iterator[Select]:
    """The rows whose prediction is in an aggregate."""
    for joins, _ in in_measures(found.context, taken_part_through(found.context), lambda: _around(found)):
        yield joins.query(*found.key_of(joins.scope), named(number(1), "inside"))


def _around(found: Measured) -> Joins:
    """The bindings that the data have of the variables that aggregates read, each once. If one atom has all of them, it alone is
    read: bindings that the rest of the body does not have are joined to nothing later."""
    context, disjunct = found.context, found.disjunct
    alias = context.alias()
    joins = Joins(Scope(context, found.keys(alias), None, dict(disjunct.values)))
    if not found.outer:
        return joins
    enough = [atom for atom in disjunct.atoms if {*found.outer} <= {one.name for one in variables_in(atom)}]
    reading = Joins(Scope(context, {}, None))
    for atom in enough[:1] or disjunct.atoms:
        reading.read(atom, Source.OBSERVED)
    fields = [named(reading.scope.projected(name), f"o{i}") for i, name in enumerate(found.outer)]
    joins.start(reading.query(*fields).distinct().subquery(alias=alias, copy=False))
    return joins


def turned(found: Measured, held: Callable[[Scope], exp.Expr] | None) -> Joins:
    """Groundings of the data that are judged otherwise with a prediction that is in an aggregate of theirs. `held`: whether the
    body held before, if the disjunct is not the only one."""
    scope = Scope(found.context, found.keys("k"), column("k", "prediction"))
    joins = Joins(found.after(scope))
    joins.start(table(found.table, "k"))
    joins.read_observed(found.disjunct)
    joins.condition(equal(column("k", "inside"), number(1)))
    before = found.before(joins.scope)
    joins.condition(judged_otherwise(joins.scope, before, _still_held(before, found.disjunct) if held is None else held(before)))
    return joins


def _still_held(before: Scope, disjunct: Disjunct) -> exp.Expr | None:
    """Whether a disjunct whose atoms are observed held before: what no prediction changes did. None: all of it did."""
    context = before.context
    tests = [before.condition(test) for test in disjunct.tests if _changes(context, test)]
    values = [_has_value(before, name, value) for name, value in disjunct.values if _changes(context, value)]
    return all_of([*tests, *values]) if tests or values else None


def held_over_data(before: Scope) -> exp.Expr:
    """Whether the body of a grounding held before."""
    context = before.context
    return any_of([_held(before, one) for one in context.possible(context.rule.disjuncts)])


def _held(before: Scope, disjunct: Disjunct) -> exp.Expr:
    joins = Joins(before)
    for atom in disjunct.atoms:
        joins.read(atom, Source.OBSERVED)
    for name, value in disjunct.values:
        joins.condition(_has_value(before, name, value))
    return exists(joins.query(number(1), tests=disjunct.tests)) if disjunct.atoms else all_of(joins.conditions(disjunct.tests))


def _has_value(scope: Scope, name: str, value: Expression) -> exp.Expr:
    return scope.is_value_of(name, scope.typed(name, scope.value(value), scope.type_of(value)))


def judged_otherwise(after: Scope, before: Scope, held: exp.Expr | None) -> exp.Expr:
    """Whether a grounding whose body holds with a prediction is judged otherwise without it: its body does not hold, or one of the
    head's answers is another. `held`: whether its body holds without it; None: it does."""
    context = after.context
    confirmed, refuted = context.rule.confirmed, context.rule.refuted
    found = [] if held is None else [equal(one_if(held), number(0))]
    if refuted == Opposite(confirmed) and _judgement_changes(context, confirmed):  # true, false or unknown
        sides = [exp.Paren(this=scope.judgement(confirmed)) for scope in (after, before)]
        return exp.Paren(this=any_of([*found, exp.NullSafeNEQ(this=sides[0], expression=sides[1])]))
    for judgement in (confirmed, refuted):
        if _judgement_changes(context, judgement):
            found.append(different(one_if(after.judgement(judgement)), one_if(before.judgement(judgement))))
    return exp.Paren(this=any_of(found))


def _changes(context: Context, node: Condition | Expression) -> bool:
    """Whether what a condition or an expression comes to may be another with a prediction."""
    measures = context.rule.measures
    for one in nodes_in(node):
        match one:
            case RowAtom() if context.predictable(one):
                return True
            case Variable(name) if name in measures and any(_changes(context, part) for part in _parts(measures[name])):
                return True
            case _:
                pass
    return False


def _parts(measure: Measure) -> Iterator[Condition | Expression]:
    yield measure.value
    for disjunct in measure.disjuncts:
        yield from _parts_of(disjunct)


def _parts_of(disjunct: Disjunct) -> Iterator[Condition | Expression]:
    yield from disjunct.atoms
    yield from disjunct.tests
    yield from (value for _, value in disjunct.values)


def _conditions(judgement: Judgement) -> Iterator[Condition]:
    match judgement:
        case Leaf(condition):
            yield condition
        case All(parts) | Any(parts):
            for part in parts:
                yield from _conditions(part)
        case Opposite(part):
            yield from _conditions(part)
        case Exists():
            return


def _judgement_changes(context: Context, judgement: Judgement) -> bool:
    match judgement:
        case Leaf(condition):
            return _changes(context, condition)
        case All(parts) | Any(parts):
            return any(_judgement_changes(context, part) for part in parts)
        case Opposite(part):
            return _judgement_changes(context, part)
        case Exists(disjuncts):
            return any(_changes(context, part) for disjunct in disjuncts for part in _parts_of(disjunct))
