"""Statements that list the groundings of a formula whose head is refuted, with the roles of the prediction and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rulescore.language.syntax import Comparison, Operator, Test, Variable, Wildcard
from rulescore.logic.formula import All, AnyOf, Disjunct, Exists, FormulaRule, Judgement, Leaf, Opposite, ResolvedAtom, atoms_of
from rulescore.sql.formula.branches import MOST_NESTED, refutes
from rulescore.sql.formula.changes import can_be_inside, held_over_data, judged_otherwise
from rulescore.sql.formula.counts import fields_of, g, grounding, head_atoms, judged, measure_places, variable
from rulescore.sql.formula.scope import FormulaContext, Joins, Scope
from rulescore.sql.horn.listing import MODEL
from rulescore.sql.query import Row, Select, row, select
from rulescore.sql.words import Sql, all_of, any_of, count_rows, row_number, sql, when
from rulescore.values import ValueType

_COMPARED = frozenset(ValueType) - {ValueType.MIXED}


def listed(context: FormulaContext, verdict: str) -> Select | None:
    """Groundings whose head is `refuted` or `confirmed`, as `verdict` says."""
    rows = judged(context)
    if rows is None:
        return None
    fields = g[fields_of(context)] or [sql(1).named("one")]
    return select(*fields).from_(rows.as_("g")).where(g[verdict] == 1)


@dataclass(frozen=True, slots=True)
class RefutedBy:
    """One of the reasons that refute a head. Reasons with the same `group` refute one atom."""

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
    compared = list(_comparisons(rule.refuted))
    if rule.refuted == All(()) and len(rule.disjuncts) == 1:
        leaves = [test.condition for test in rule.disjuncts[0].tests if isinstance(test, Leaf)]
        compared = [(leaf, True) for leaf in leaves if isinstance(leaf, Comparison)]
    scope = grounding(context)
    typed = [
        Decisive(comparison, (scope.type_of(comparison.left), scope.type_of(comparison.right)), holds)
        for comparison, holds in dict.fromkeys(compared)
    ]
    return [decisive for decisive in typed if _COMPARED.issuperset(decisive.types)]


def _comparisons(judgement: Judgement) -> Iterator[tuple[Comparison, bool]]:
    match judgement:
        # A comparison of a value with itself tests whether it is missing.
        case Leaf(Comparison(_, left, right) as comparisons) if left != right:
            yield comparisons, True
        case Opposite(Leaf(Comparison() as comparisons)):
            yield comparisons, False
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _comparisons(part)
        case _:
            return


def measures(context: FormulaContext) -> list[str]:
    """The aggregates of body and head whose values can be shown."""
    rule = context.rule
    return [name for name in (*rule.body_measures, *rule.head_measures) if rule.types.get(name) in _COMPARED]


def explained(context: FormulaContext, listed: str) -> Iterator[Select]:
    """Queries about the groundings in the table `listed`, in the order of its `row`: flags `body`, `head` and `refuter` for the
    roles of the prediction, `r0`, … for the reasons that hold, `l0`, `s0`, … for the sides of comparisons, `m0`, `b0`, … for
    aggregates with the prediction and before it came. If there are many reasons, `p0`, … say for each whether the prediction is in
    it: one statement would nest too much."""
    rule = context.rule
    why = reasons(rule)
    scope = grounding(context)
    fields = []
    for i, comparison in enumerate(comparisons(context)):
        compared = comparison.comparison
        decides = scope.condition(compared) if comparison.holds else ~scope.condition(compared)
        sides = {"l": scope.value(compared.left), "s": scope.value(compared.right), "c": when(decides, 1, 0)}
        fields += [value.named(f"{mark}{i}") for mark, value in sides.items()]
    before = replace(scope, prediction=None)
    for i, name in enumerate(measures(context)):
        fields += [scope.column(Variable(name)).named(f"m{i}"), before.column(Variable(name)).named(f"b{i}")]
    few = len(why) <= MOST_NESTED
    if context.predictions:
        fields += [when(condition, 1, 0).named(role) for role, condition in _roles(scope) if few or role != "refuter"]
    aggregated = context.predictions and can_be_inside(context, (*rule.body_measures, *rule.head_measures))
    yield _of_rows(fields, _with_changes(scope, listed) if aggregated else row(listed, "g"))
    for start in range(0, len(why), MOST_NESTED):
        part = list(enumerate(why))[start : start + MOST_NESTED]
        flags = [when(scope.judgement(reason.judgement), 1, 0).named(f"r{i}") for i, reason in part]
        if context.predictions and not few:
            flags += [when(any_of(*refutes(scope, reason.judgement)), 1, 0).named(f"p{i}") for i, reason in part]
        yield _of_rows(flags, row(listed, "g"))


def with_atoms(context: FormulaContext, judgement: Exists) -> list[Disjunct]:
    """The disjuncts of a condition with variables of its own that have atoms, and so name facts."""
    return [disjunct for disjunct in context.possible(judgement.disjuncts) if disjunct.atoms]


def by_reasons(context: FormulaContext, rows: Select) -> Select | None:
    """The number `n` of groundings for each combination of reasons (`r0`, …), of disjuncts of a reason that name facts (`d0_0`, …)
    and of comparisons that decide (`c0`, …), for each model. None if these are too many for one statement."""
    why = reasons(context.rule)
    scope = grounding(context)
    asked: dict[str, Sql] = {}
    for i, reason in enumerate(why):
        asked[f"r{i}"] = scope.judgement(reason.judgement)
        if isinstance(reason.judgement, Exists):
            for place, way in enumerate(with_atoms(context, reason.judgement)):
                asked[f"d{i}_{place}"] = scope.judgement(replace(reason.judgement, disjuncts=(way,)))
    if len(asked) > MOST_NESTED:
        return None
    for i, decisive in enumerate(comparisons(context)):
        compared = decisive.comparison
        decides = scope.condition(compared) if decisive.holds else ~scope.condition(compared)
        known = [scope.value(side).is_known() for side in (compared.left, compared.right)]
        asked[f"c{i}"] = all_of(*known, decides.paren())
    model = [MODEL] if context.predictions else []
    flags = {name: when(holds, 1, 0) for name, holds in asked.items()}
    j = select(*g[model], **flags, one=1).from_(rows.as_("g")).as_("j")
    keys = j[[*model, *asked]]
    query = select(*keys, n=j.one.sum().big()).from_(j)
    return query.group_by(*keys) if keys else query


def by_value(context: FormulaContext, rows: Select, index: int) -> Select:
    """How many groundings of the data have each value of a variable, if no variable before it has the same value."""
    scope = grounding(context)
    here, *_ = names = [Variable(name) for name in context.rule.variables[: index + 1]][::-1]
    value = g[variable(index)]
    query = select(value=value, n=count_rows()).from_(rows.as_("g"))
    query = query.where(*(scope.condition(Comparison(Operator.DIFFERENT, here, name)) for name in names[1:]))
    return query.group_by(value)


def _of_rows(fields: Sequence[Sql], rows: Row) -> Select:
    return select(g.row, *fields).from_(rows).order_by(g.row)


def instances(context: FormulaContext, disjunct: Disjunct, listed: str, *, most: int) -> Select:
    """A refuting condition may have variables of its own. These are the facts by which one of its disjuncts refutes listed
    groundings: `row`, and for every argument of its atoms a field `f0`, `f1`, …; at most `most` rows for each grounding."""
    joins = Joins(grounding(context))
    joins.start(row(listed, "g"))
    joins.read_all(disjunct)
    terms = [term for atom in disjunct.atoms for _, term in atom.arguments if not isinstance(term, Wildcard)]
    fields = [joins.scope.value(term).named(f"f{i}") for i, term in enumerate(terms)]
    rows = joins.query(g.row.named("row"), *fields, tests=disjunct.tests).distinct()
    names = ["row", *(f"f{i}" for i in range(len(terms)))]
    i = rows.as_("i")
    n = select(*i[names], place=row_number(*i[names], per=[i.row])).from_(i).as_("n")
    return select(*n[names]).from_(n).where(n.place <= most).order_by(*n[names])


def _with_changes(scope: Scope, listed: str) -> Row:
    """Listed groundings, with `changed`: whether the data alone judge each differently."""
    before = replace(scope, prediction=None)
    changed = judged_otherwise(scope, before, held_over_data(before))
    fields = g[["row", *fields_of(scope.context)]]
    return select(*fields, changed=when(changed, 1, 0)).from_(row(listed, "g")).as_("g")


def _roles(scope: Scope) -> Iterator[tuple[str, Sql]]:
    rule, context = scope.context.rule, scope.context
    tests = [test for disjunct in rule.disjuncts for test in disjunct.tests]
    body = [atom for disjunct in rule.disjuncts for atom in disjunct.atoms]
    body += [atom for test in tests for atom in atoms_of(test)]
    places = dict.fromkeys(place for atom in body for place in context.participating(atom))
    yield "body", any_of(*map(scope.is_prediction, places), *_in_changed(scope, rule.body_measures))
    yield "head", any_of(*head_atoms(scope), *_in_changed(scope, rule.head_measures))
    yield "refuter", any_of(*refutes(scope, rule.refuted))


def _in_changed(scope: Scope, names: Sequence[str]) -> Iterator[Sql]:
    """Ways in which the prediction takes part through aggregates."""
    for way in measure_places(scope, names):
        yield all_of(g.changed == 1, way).paren()
