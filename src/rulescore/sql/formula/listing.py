"""Statements that list the groundings of a formula whose head is refuted, with the roles of the prediction and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rulescore.language.syntax import Comparison, Operator, Test, Variable, Wildcard
from rulescore.logic.formula import All, AnyOf, Disjunct, Exists, FormulaRule, Judgement, Leaf, Opposite, ResolvedAtom
from rulescore.logic.resolved_trees import atoms_of
from rulescore.sql.build import Select, all_of, any_of, big, column, count_rows, equal, named, number, one_if, select, table, total
from rulescore.sql.formula.branches import MOST_NESTED, refutes
from rulescore.sql.formula.changes import can_be_inside, held_over_data, judged_otherwise
from rulescore.sql.formula.counts import fields_of, grounding, head_atoms, judged, measure_places, variable
from rulescore.sql.formula.scope import FormulaContext, Joins, Scope
from rulescore.sql.horn.listing import MODEL
from rulescore.values.types import ValueType

_COMPARED = frozenset(ValueType) - {ValueType.MIXED}


def listed(context: FormulaContext, answer: str, *, predictions: bool) -> Select | None:
    """Groundings whose head is `refuted` or `confirmed`, as `answer` says."""
    rows = judged(context, predictions=predictions)
    if rows is None:
        return None
    fields: list[exp.Expr] = [column("g", c) for c in fields_of(context, predictions=predictions)]
    query = select(*(fields or [named(number(1), "one")])).from_(rows.subquery("g"))
    return query.where(equal(column("g", answer), number(1)))


@dataclass(frozen=True, slots=True)
class RefutedBy:
    """One reason among those that refute a head. Reasons with the same `group` refute one atom."""

    judgement: Judgement
    group: int


def reasons(rule: FormulaRule) -> list[RefutedBy]:
    return list(_reasons(rule.refuted, iter(range(10**9)), 0))


def _reasons(judgement: Judgement, numbers: Iterator[int], group: int) -> Iterator[RefutedBy]:
    match judgement:
        case Leaf(ResolvedAtom() | Test()) | Opposite(Leaf(ResolvedAtom() | Test())) | Exists():
            yield RefutedBy(judgement, group)
        case All(parts) | AnyOf(parts):
            own = next(numbers)
            for part in parts:
                yield from _reasons(part, numbers, own)
        case Leaf() | Opposite():
            return


@dataclass(frozen=True, slots=True)
class Decisive:
    """A comparison that decides whether a head is refuted, the types of its sides, and whether it refutes by holding or by
    failing."""

    comparison: Comparison
    types: tuple[ValueType | None, ValueType | None]
    holds: bool


def comparisons(context: FormulaContext) -> list[Decisive]:
    """The comparisons that decide whether a head is refuted. If the head is `false`, the body refutes it: the comparisons of the
    body."""
    rule = context.rule
    found = list(_comparisons(rule.refuted))
    if rule.refuted == All(()) and len(rule.disjuncts) == 1:
        leaves = [test.condition for test in rule.disjuncts[0].tests if isinstance(test, Leaf)]
        found = [(one, True) for one in leaves if isinstance(one, Comparison)]
    scope = grounding(context, predictions=False)
    typed = [Decisive(one, (scope.type_of(one.left), scope.type_of(one.right)), holds) for one, holds in dict.fromkeys(found)]
    return [one for one in typed if _COMPARED.issuperset(one.types)]


def _comparisons(judgement: Judgement) -> Iterator[tuple[Comparison, bool]]:
    match judgement:
        # A comparison of a value with itself tests whether it is missing.
        case Leaf(Comparison(_, left, right) as found) if left != right:
            yield found, True
        case Opposite(Leaf(Comparison() as found)):
            yield found, False
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _comparisons(part)
        case _:
            return


def measures(context: FormulaContext) -> list[str]:
    """The aggregates of body and head whose values can be shown."""
    rule = context.rule
    return [name for name in (*rule.body_measures, *rule.head_measures) if rule.types.get(name) in _COMPARED]


def explained(context: FormulaContext, listed: str, *, predictions: bool) -> Iterator[Select]:
    """Queries about the groundings in the table `listed`, in the order of its `row`: flags `body`, `head` and `refuter` for the
    roles of the prediction, `r0`, … for the reasons that hold, `l0`, `s0`, … for the sides of comparisons, `m0`, `b0`, … for
    aggregates with the prediction and before it came. If there are many reasons, `p0`, … say for each whether the prediction is in
    it: one statement would nest too much."""
    rule = context.rule
    found = reasons(rule)
    scope = grounding(context, predictions=predictions)
    fields = []
    for i, one in enumerate(comparisons(context)):
        compared = one.comparison
        decides = scope.condition(compared) if one.holds else exp.Not(this=exp.Paren(this=scope.condition(compared)))
        sides = {"l": scope.value(compared.left), "s": scope.value(compared.right), "c": one_if(decides)}
        fields += [named(value, f"{mark}{i}") for mark, value in sides.items()]
    before = replace(scope, prediction=None)
    for i, name in enumerate(measures(context)):
        fields += [named(scope.column(Variable(name)), f"m{i}"), named(before.column(Variable(name)), f"b{i}")]
    few = len(found) <= MOST_NESTED
    if predictions:
        fields += [named(one_if(condition), role) for role, condition in _roles(scope) if few or role != "refuter"]
    aggregated = predictions and can_be_inside(context, (*rule.body_measures, *rule.head_measures))
    yield _of_rows(fields, _with_changes(scope, listed) if aggregated else table(listed, "g"))
    for start in range(0, len(found), MOST_NESTED):
        part = list(enumerate(found))[start : start + MOST_NESTED]
        flags = [named(one_if(scope.judgement(one.judgement)), f"r{i}") for i, one in part]
        if predictions and not few:
            flags += [named(one_if(any_of(refutes(scope, one.judgement))), f"p{i}") for i, one in part]
        yield _of_rows(flags, table(listed, "g"))


def with_atoms(context: FormulaContext, judgement: Exists) -> list[Disjunct]:
    """The disjuncts of a condition with variables of its own that have atoms, and so name facts."""
    return [one for one in context.possible(judgement.disjuncts) if one.atoms]


def by_reasons(context: FormulaContext, rows: Select, *, predictions: bool) -> Select | None:
    """The number `n` of groundings for each combination of reasons (`r0`, …), of disjuncts of a reason that name facts (`d0_0`, …)
    and of comparisons that decide (`c0`, …), for each model. None if these are too many for one statement."""
    found = reasons(context.rule)
    scope = grounding(context, predictions=predictions)
    asked: dict[str, exp.Expr] = {}
    for i, one in enumerate(found):
        asked[f"r{i}"] = scope.judgement(one.judgement)
        if isinstance(one.judgement, Exists):
            for j, way in enumerate(with_atoms(context, one.judgement)):
                asked[f"d{i}_{j}"] = scope.judgement(replace(one.judgement, disjuncts=(way,)))
    if len(asked) > MOST_NESTED:
        return None
    for i, decisive in enumerate(comparisons(context)):
        compared = decisive.comparison
        decides = scope.condition(compared) if decisive.holds else exp.Not(this=exp.Paren(this=scope.condition(compared)))
        known = [exp.Not(this=exp.Is(this=scope.value(one), expression=exp.null())) for one in (compared.left, compared.right)]
        asked[f"c{i}"] = all_of([*known, exp.Paren(this=decides)])
    model = [MODEL] if predictions else []
    flags = select(*(column("g", one) for one in model), *(named(one_if(holds), one) for one, holds in asked.items()))
    flags = flags.select(named(number(1), "one")).from_(rows.subquery("g"))
    keys = [column("j", one) for one in (*model, *asked)]
    query = select(*keys, named(big(total(column("j", "one"))), "n")).from_(flags.subquery("j"))
    return query.group_by(*(key.copy() for key in keys)) if keys else query


def by_value(context: FormulaContext, rows: Select, index: int) -> Select:
    """How many groundings of the data have each value of a variable, if no variable before it has the same value."""
    scope = grounding(context, predictions=False)
    here, *_ = names = [Variable(one) for one in context.rule.variables[: index + 1]][::-1]
    value = column("g", variable(index))
    query = select(named(value, "value"), named(count_rows(), "n")).from_(rows.subquery("g"))
    query = query.where(*(scope.condition(Comparison(Operator.DIFFERENT, here, one)) for one in names[1:]))
    return query.group_by(value.copy())


def _of_rows(fields: Sequence[exp.Expr], rows: exp.Expr) -> Select:
    return select(column("g", "row"), *fields).from_(rows).order_by(column("g", "row"))


def instances(context: FormulaContext, disjunct: Disjunct, listed: str, *, predictions: bool, most: int) -> Select:
    """The facts by which one disjunct of a condition with variables of its own refutes listed groundings: `row`, and for every
    argument of its atoms a field `f0`, `f1`, …; at most `most` rows for each grounding."""
    joins = Joins(grounding(context, predictions=predictions))
    joins.start(table(listed, "g"))
    joins.read_all(disjunct)
    terms = [term for atom in disjunct.atoms for _, term in atom.arguments if not isinstance(term, Wildcard)]
    fields = [named(joins.scope.value(term), f"f{i}") for i, term in enumerate(terms)]
    found = joins.query(named(column("g", "row"), "row"), *fields, tests=disjunct.tests).distinct()
    names = ["row", *(f"f{i}" for i in range(len(terms)))]
    order = exp.Order(expressions=[exp.Ordered(this=column("i", name)) for name in names])
    place = exp.Window(this=exp.RowNumber(), partition_by=[column("i", "row")], order=order)
    numbered = select(*(column("i", one) for one in names), named(place, "place")).from_(found.subquery("i"))
    few = exp.LTE(this=column("n", "place"), expression=number(most))
    query = select(*(column("n", one) for one in names)).from_(numbered.subquery("n")).where(few)
    return query.order_by(*(column("n", one) for one in names))


def _with_changes(scope: Scope, listed: str) -> exp.Expr:
    """Listed groundings, with `changed`: whether the data alone judge each differently."""
    before = replace(scope, prediction=None)
    changed = judged_otherwise(scope, before, held_over_data(before))
    fields = [column("g", c) for c in ("row", *fields_of(scope.context, predictions=True))]
    return select(*fields, named(one_if(changed), "changed")).from_(table(listed, "g")).subquery("g")


def _roles(scope: Scope) -> Iterator[tuple[str, exp.Expr]]:
    rule, context = scope.context.rule, scope.context
    tests = [test for disjunct in rule.disjuncts for test in disjunct.tests]
    body = [atom for disjunct in rule.disjuncts for atom in disjunct.atoms]
    body += [atom for test in tests for atom in atoms_of(test)]
    places = dict.fromkeys(place for atom in body for place in context.participating(atom))
    yield "body", any_of([*map(scope.is_prediction, places), *_in_changed(scope, rule.body_measures)])
    yield "head", any_of([*head_atoms(scope), *_in_changed(scope, rule.head_measures)])
    yield "refuter", any_of(refutes(scope, rule.refuted))


def _in_changed(scope: Scope, names: Sequence[str]) -> Iterator[exp.Expr]:
    """Ways in which the prediction takes part through aggregates."""
    for way in measure_places(scope, names):
        yield exp.Paren(this=all_of([equal(column("g", "changed"), number(1)), way]))
