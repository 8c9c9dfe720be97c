"""Formulas as SQL: one statement counts one rule, over the data or for every prediction at once.

For a prediction A the facts are D ∪ {A}. Every grounding in which A takes part is found from a place where A stands: a binding
atom of the body, an atom that binds nothing, or an aggregate. The atoms read before that place are observed facts, those behind
it either. What the same grounding is found by twice is made distinct; then all tests are asked of D ∪ {A}.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import combinations, count

from sqlglot import exp

from rulescore.data.relations import Relation, Schema
from rulescore.data.setting import Role, ValueType
from rulescore.language.syntax import Aggregation, Attribute, Condition, Constant, RowAtom, Test, Variable, Wildcard
from rulescore.language.trees import nodes_in, variables_in
from rulescore.logic.formula import All, Any, Disjunct, Exists, FormulaRule, Judgement, Leaf, Measure, Opposite
from rulescore.logic.resolve import bound_variables
from rulescore.logic.types import TESTS, agree
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    big,
    column,
    count_rows,
    different,
    equal,
    exists,
    named,
    negation,
    number,
    one_if,
    select,
    table,
    total,
    union_all,
)
from rulescore.sql.expressions import Compiler, cast, constant


class Source(Enum):
    """Which rows an atom reads."""

    OBSERVED = auto()
    PREDICTED = auto()
    EITHER = auto()


@dataclass(frozen=True, slots=True)
class Context:
    """What all statements of a rule share. `calls`: the tables that hold the answers of registered predicates. While these are
    being asked, no test that needs an answer counts."""

    rule: FormulaRule
    schema: Schema
    calls: Mapping[str, str]
    distinct_variables: bool = False
    roles: frozenset[Role] = frozenset({Role.BODY, Role.HEAD})
    asking: bool = False
    numbers: Iterator[int] = field(default_factory=count)

    def relation(self, atom: RowAtom) -> Relation:
        return self.schema.relations[atom.table]

    def predictable(self, atom: RowAtom) -> bool:
        """Whether a prediction can be this atom."""
        relation = self.relation(atom)
        return relation.predicted is not None and any(name in relation.from_prediction for name, _ in atom.arguments)

    def tests(self, disjunct: Disjunct) -> list[Condition]:
        return [test for test in disjunct.tests if not self.asking or not _asks(test)]

    def possible(self, disjuncts: Sequence[Disjunct]) -> list[Disjunct]:
        """Disjuncts that can hold: a relation without any rows has no types, and nothing that is computed from it has one."""
        return [
            disjunct
            for disjunct in disjuncts
            if all(self.relation(atom).columns[name].type is not None for atom in disjunct.atoms for name, _ in atom.arguments)
        ]

    def participating(self, atom: RowAtom) -> list[RowAtom]:
        """The atoms at which a prediction can stand. A row whose key and attributes are all given is one atom for each attribute;
        one that speaks of some row is an atom of the rows for which all of it holds."""
        relation = self.relation(atom)
        if not self.predictable(atom):
            return []
        given = dict(atom.arguments)
        if not relation.is_table or any(isinstance(given.get(one, Wildcard()), Wildcard) for one in (*relation.key, *given)):
            return [atom]
        key = tuple((one, given[one]) for one in relation.key)
        return [RowAtom(atom.table, (*key, one), atom.span) for one in atom.arguments if one[0] in relation.from_prediction]

    def alias(self) -> str:
        return f"t{next(self.numbers)}"


@dataclass
class Scope(Compiler):
    """Variables with their columns, and the prediction that is added to the data; None: the data alone."""

    context: Context
    columns: dict[str, exp.Expr]
    prediction: exp.Expr | None

    def column(self, variable: Variable | Attribute) -> exp.Expr:
        if variable.name in self.columns:
            return self.columns[variable.name].copy()
        return self._measured(self.context.rule.measures[variable.name])

    def type(self, variable: Variable | Attribute) -> ValueType | None:
        return self.context.rule.types.get(variable.name)

    def atom(self, atom: RowAtom) -> exp.Expr:
        """An atom holds if it is observed or is the prediction."""
        if any(self.context.relation(atom).columns[name].type is None for name, _ in atom.arguments):
            return exp.false()  # the relation has no rows
        ways = [self._some((atom,), Source.OBSERVED)]
        if self.prediction is not None and self.context.predictable(atom):
            ways.append(self.is_prediction(atom))
        return exp.Paren(this=any_of(ways)) if len(ways) > 1 else ways[0]

    def is_prediction(self, atom: RowAtom) -> exp.Expr:
        return self._some((atom,), Source.PREDICTED)

    def registered(self, test: Test) -> exp.Expr:
        alias = self.context.alias()
        answers = table(self.context.calls[test.predicate], alias)
        same = [equal(column(alias, f"a{i}"), self.value(one)) for i, one in enumerate(test.arguments)]
        return select(column(alias, "answer")).from_(answers).where(all_of(same)).subquery(copy=False)

    def judgement(self, judgement: Judgement) -> exp.Expr:
        match judgement:
            case Leaf(condition):
                return self.condition(condition)
            case All(parts):
                return exp.Paren(this=all_of([self.judgement(part) for part in parts]))
            case Any(parts):
                return exp.Paren(this=any_of([self.judgement(part) for part in parts]))
            case Opposite(part):
                return negation(self.judgement(part))
            case Exists(disjuncts):
                return exp.Paren(this=any_of([self._exists(disjunct) for disjunct in self.context.possible(disjuncts)]))

    def _exists(self, disjunct: Disjunct) -> exp.Expr:
        if not disjunct.atoms:
            return all_of([self.condition(test) for test in disjunct.tests])
        joins = Joins(self)
        joins.read_all(disjunct)
        return exists(joins.query(number(1), tests=disjunct.tests))

    def _some(self, atoms: Sequence[RowAtom], source: Source) -> exp.Expr:
        joins = Joins(self)
        for atom in atoms:
            joins.read(atom, source)
        return exists(joins.query(number(1)))

    def _measured(self, measure: Measure) -> exp.Expr:
        """The value of an aggregate, as a query that depends on the row at hand."""
        disjuncts = self.context.possible(measure.disjuncts)
        if not disjuncts:
            counts = {Aggregation.COUNT, Aggregation.COUNT_DISTINCT, Aggregation.SUM}
            return number(0) if measure.function in counts else exp.null()
        inner = {one.name for one in variables_in(measure.value)} & set(measure.variables)
        if len(disjuncts) == 1 and inner:
            joins = Joins(self)
            joins.read_all(disjuncts[0])
            value = _aggregated(measure, joins.scope.value(measure.value), self.type_of(measure.value))
            return joins.query(value, tests=disjuncts[0].tests).subquery(copy=False)
        return self._measured_rows(measure, disjuncts)

    def _measured_rows(self, measure: Measure, disjuncts: Sequence[Disjunct]) -> exp.Expr:
        """Of several disjuncts each grounding counts once. And a value that depends on nothing but the row at hand is computed
        before: an aggregate of it would be taken for one of the query around."""
        parts = []
        for disjunct in disjuncts:
            joins = Joins(self)
            joins.read_all(disjunct)
            fields = [named(joins.scope.columns[name].copy(), f"v{i}") for i, name in enumerate(measure.variables)]
            value = named(joins.scope.value(measure.value), "value")
            parts.append(joins.query(*fields, value, tests=disjunct.tests))
        alias = self.context.alias()
        rows = parts[0] if len(parts) == 1 else exp.union(*parts, distinct=True, copy=False)
        found = _aggregated(measure, column(alias, "value"), self.type_of(measure.value))
        return select(found).from_(rows.subquery(alias=alias, copy=False)).subquery(copy=False)


def _aggregated(measure: Measure, value: exp.Expr, kind: ValueType | None) -> exp.Expr:
    match measure.function:
        case Aggregation.COUNT:
            return count_rows()
        case Aggregation.COUNT_DISTINCT:
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case Aggregation.SUM:
            return exp.Coalesce(this=exp.Sum(this=value), expressions=[number(0)])
        case Aggregation.AVERAGE if kind is ValueType.INTEGER:
            # The exact sum, divided as doubles: the engines' own averages of integers are of different types.
            many = exp.Nullif(this=exp.Count(this=value.copy()), expression=number(0))
            sides = [cast(one, ValueType.FLOAT) for one in (exp.Sum(this=value), many)]
            return exp.Div(this=sides[0], expression=sides[1], typed=True, safe=False)
        case Aggregation.AVERAGE:
            return exp.Avg(this=value)
        case Aggregation.LEAST:
            return exp.Min(this=value)
        case Aggregation.GREATEST:
            return exp.Max(this=value)


class Joins:
    """Reads atoms one after the other, each joined to those before it and to the scope around."""

    def __init__(self, around: Scope) -> None:
        self.scope = replace(around, columns=dict(around.columns))
        self._tables: list[tuple[exp.Expr, list[exp.Expr]]] = []

    def read_all(self, disjunct: Disjunct) -> None:
        """Atoms over the facts of the scope: observed ones and, where there is one, the prediction."""
        for atom in disjunct.atoms:
            predicted = self.scope.prediction is not None and self.scope.context.predictable(atom)
            self.read(atom, Source.EITHER if predicted else Source.OBSERVED)
        self.compute(disjunct)

    def compute(self, disjunct: Disjunct) -> None:
        for name, value in disjunct.values:
            self.scope.columns[name] = self.scope.value(value)

    def read(self, atom: RowAtom, source: Source) -> None:
        context = self.scope.context
        relation = context.relation(atom)
        alias = context.alias()
        conditions: list[exp.Expr] = []
        if source is Source.PREDICTED:
            mine = column(alias, "prediction")
            if self.scope.prediction is None:
                self.scope.prediction = mine
            else:
                conditions.append(equal(mine, self.scope.prediction.copy()))
        elif source is Source.EITHER:
            assert self.scope.prediction is not None
            own = equal(column(alias, "prediction"), self.scope.prediction.copy())
            conditions.append(exp.Paren(this=any_of([_is_null(column(alias, "prediction")), own])))
        for name, term in atom.arguments:
            conditions.extend(self._match(relation, alias, name, term))
        self._tables.append((_rows(relation, source, alias, [name for name, _ in atom.arguments]), conditions))

    def _match(self, relation: Relation, alias: str, name: str, term: object) -> Iterator[exp.Expr]:
        here = column(alias, relation.columns[name].column)
        match term:
            case Wildcard():
                if relation.is_table:
                    yield exp.Not(this=_is_null(here))
            case Constant(value):
                yield equal(here, constant(value))
            case Variable(variable) if variable not in self.scope.columns and variable not in self.scope.context.rule.measures:
                wanted = self.scope.context.rule.types.get(variable)
                known = relation.columns[name].type
                self.scope.columns[variable] = here if known is not None or wanted is None else cast(here, wanted)
                if relation.is_table:
                    yield exp.Not(this=_is_null(here.copy()))
            case _:
                yield equal(here, self.scope.value(term))  # type: ignore[arg-type]  # an expression: see Resolver.atom

    def condition(self, condition: exp.Expr) -> None:
        """A further condition on the rows read so far."""
        self._tables[-1][1].append(condition)

    def forget(self, all_but: Collection[str]) -> None:
        """Let go of variables that belong to an aggregate: the aggregate itself ranges over all of their values."""
        self.scope.columns = {name: value for name, value in self.scope.columns.items() if name in all_but}

    def query(self, *fields: exp.Expr, tests: Sequence[Condition] = ()) -> Select:
        """The rows that meet all conditions; a single row where no atom is read."""
        query = select(*fields)
        conditions = [self.scope.condition(test) for test in tests]
        for index, (rows, own) in enumerate(self._tables):
            if index == 0:
                query = query.from_(rows)
                conditions = [*own, *conditions]
            else:
                query = query.join(rows, on=all_of(own))
        return query.where(all_of(conditions)) if conditions else query


def _rows(relation: Relation, source: Source, alias: str, names: Sequence[str]) -> exp.Expr:
    match source:
        case Source.OBSERVED:
            return table(relation.observed, alias)
        case Source.PREDICTED:
            assert relation.predicted is not None
            return table(relation.predicted, alias)
        case Source.EITHER:
            assert relation.predicted is not None
            columns = list(dict.fromkeys(relation.columns[name].column for name in names))
            nothing = named(exp.cast(exp.null(), "INT", copy=False), "prediction")
            observed = select(nothing, *(column("o", c) for c in columns)).from_(table(relation.observed, "o"))
            predicted = select(column("p", "prediction"), *(column("p", c) for c in columns)).from_(table(relation.predicted, "p"))
            if not relation.is_table:  # a fact that is observed already is not there twice
                predicted = predicted.where(equal(column("p", "observed"), number(0)))
            return union_all([observed, predicted]).subquery(alias=alias, copy=False)


def _is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.null())


@dataclass(frozen=True, slots=True)
class Branch:
    """One way to come by groundings: a disjunct, its atoms read, and the place of the prediction in words."""

    disjunct: Disjunct
    joins: Joins
    title: str


def branches(context: Context, *, predictions: bool) -> Iterator[Branch]:
    """Every way to come by the groundings of a rule, before the tests of the body are asked."""
    for disjunct in context.possible(context.rule.disjuncts):
        if predictions:
            yield from _prediction_branches(context, disjunct)
        else:
            joins = Joins(Scope(context, {}, None))
            for atom in disjunct.atoms:
                joins.read(atom, Source.OBSERVED)
            joins.compute(disjunct)
            yield Branch(disjunct, joins, "over the data")


def _prediction_branches(context: Context, disjunct: Disjunct) -> Iterator[Branch]:
    rule = context.rule
    for index, atom in enumerate(disjunct.atoms):
        if context.predictable(atom):
            yield Branch(disjunct, _binding(context, disjunct, index), f"prediction at body atom {index + 1}")
    for atom in _other_atoms(context, rule.disjuncts, disjunct):
        yield Branch(disjunct, _beside(context, disjunct, atom), "prediction at an atom that binds nothing")
    yield from _measure_branches(context, disjunct, rule.body_measures)
    if Role.HEAD in context.roles:
        for atom in dict.fromkeys(filter(context.predictable, rule.head_atoms)):
            yield Branch(disjunct, _beside(context, disjunct, atom), "prediction in the head")
        yield from _measure_branches(context, disjunct, rule.head_measures)


def _binding(context: Context, disjunct: Disjunct, index: int) -> Joins:
    """The prediction at one of the atoms that bind."""
    joins = Joins(Scope(context, {}, None))
    joins.read(disjunct.atoms[index], Source.PREDICTED)
    for other, atom in enumerate(disjunct.atoms):
        if other != index:
            behind = other > index and context.predictable(atom)
            joins.read(atom, Source.EITHER if behind else Source.OBSERVED)
    joins.compute(disjunct)
    return joins


def _other_atoms(context: Context, disjuncts: Sequence[Disjunct], disjunct: Disjunct) -> list[RowAtom]:
    """Atoms of a condition that bind nothing in one of its disjuncts and may be the prediction."""
    found: list[RowAtom] = []
    for other in disjuncts:
        found += [node for test in other.tests for node in nodes_in(test) if isinstance(node, RowAtom)]
        found += other.atoms if other is not disjunct else ()
    return list(dict.fromkeys(one for atom in found for one in context.participating(atom)))


def _observed(context: Context, *disjuncts: Disjunct) -> Joins:
    joins = Joins(Scope(context, {}, None))
    for disjunct in disjuncts:
        for atom in disjunct.atoms:
            joins.read(atom, Source.OBSERVED)
        joins.compute(disjunct)
    return joins


def _beside(context: Context, disjunct: Disjunct, atom: RowAtom) -> Joins:
    """Observed facts in the body, and the prediction at an atom that binds nothing."""
    joins = _observed(context, disjunct)
    joins.read(atom, Source.PREDICTED)
    return joins


def _measure_branches(context: Context, disjunct: Disjunct, names: Sequence[str]) -> Iterator[Branch]:
    """Groundings in whose aggregates the prediction takes part: at an atom of an inner grounding that holds, or held before."""
    title = "prediction in an aggregate"
    for measure in (context.rule.measures[name] for name in names):
        for inner in context.possible(measure.disjuncts):
            for index, atom in enumerate(inner.atoms):
                if context.predictable(atom):
                    yield Branch(disjunct, _in_measure(context, disjunct, inner, index), title)
            for atom in _other_atoms(context, measure.disjuncts, inner):
                yield Branch(disjunct, _beside_measure(context, disjunct, inner, atom), title)


def _in_measure(context: Context, disjunct: Disjunct, inner: Disjunct, index: int) -> Joins:
    joins = _observed(context, disjunct)
    joins.read(inner.atoms[index], Source.PREDICTED)
    for other, atom in enumerate(inner.atoms):
        if other != index:
            joins.read(atom, Source.EITHER if context.predictable(atom) else Source.OBSERVED)
    joins.compute(inner)
    for test in context.tests(inner):
        joins.condition(joins.scope.condition(test))
    joins.forget(context.rule.variables)
    return joins


def _beside_measure(context: Context, disjunct: Disjunct, inner: Disjunct, atom: RowAtom) -> Joins:
    joins = _observed(context, disjunct, inner)
    joins.read(atom, Source.PREDICTED)
    before = replace(joins.scope, prediction=None)
    ways = [all_of([scope.condition(test) for test in context.tests(inner)]) for scope in (joins.scope, before)]
    joins.condition(exp.Paren(this=any_of([exp.Paren(this=way) for way in ways])))
    joins.forget(context.rule.variables)
    return joins


def variable(index: int) -> str:
    return f"v{index}"


def groundings(context: Context, *, predictions: bool) -> exp.Query | None:
    """The groundings whose body holds: `prediction` where asked for, `v0`, `v1`, …; each once. None where there can be none."""
    found = list(branches(context, predictions=predictions))
    if not found:
        return None
    parts = [_branch_rows(context, branch, predictions=predictions) for branch in found]
    if len(parts) == 1 and not _repeats(found[0]):
        return parts[0]
    rows = union_all(parts).subquery(alias="u", copy=False)
    fields = [*(["prediction"] if predictions else []), *(variable(i) for i in range(len(context.rule.variables)))]
    return select(*(column("u", c) for c in fields) if fields else (named(number(1), "one"),)).distinct().from_(rows)


def _repeats(branch: Branch) -> bool:
    """Whether one grounding may come several times: an atom beside the body's own may match in several ways."""
    return branch.title not in {"over the data"} and not branch.title.startswith("prediction at body atom")


def _branch_rows(context: Context, branch: Branch, *, predictions: bool) -> Select:
    scope = branch.joins.scope
    fields = [named(_prediction(scope), "prediction")] if predictions else []
    fields += [named(scope.columns[name].copy(), variable(i)) for i, name in enumerate(context.rule.variables)]
    query = branch.joins.query(*(fields or [named(number(1), "one")]), tests=branch.disjunct.tests)
    if context.distinct_variables:
        pairs = [
            different(scope.columns[a].copy(), scope.columns[b].copy())
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
        query = query.where(any_of([scope.is_prediction(atom) for atom in context.rule.head_atoms if context.predictable(atom)]))
    return query


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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a registered test is asked: after which branches, and within which disjuncts of aggregates or refutations."""

    test: Test
    disjunct: Disjunct | None
    inner: tuple[Disjunct, ...]


def asked_arguments(context: Context, function: str, *, predictions: bool, deferred: bool) -> Iterator[Select]:
    """Queries for the argument tuples that a registered predicate is asked about. `deferred`: those that are known only when
    other answers are, because an aggregate among the arguments asks too."""
    rule = context.rule
    for place in _test_places(rule):
        if place.test.predicate != function or _is_deferred(rule, place.test) is not deferred:
            continue
        for branch in branches(context, predictions=predictions):
            if place.disjunct is not None and branch.disjunct is not place.disjunct:
                continue
            joins = branch.joins
            tests = context.tests(branch.disjunct)
            for inner in place.inner:
                joins.read_all(inner)
                tests += context.tests(inner)
            fields = [named(joins.scope.value(one), f"a{i}") for i, one in enumerate(place.test.arguments)]
            yield joins.query(*fields, tests=tests)


def _is_deferred(rule: FormulaRule, test: Test) -> bool:
    measures = [rule.measures[node.name] for node in variables_in(test) if node.name in rule.measures]
    return any(_asks(one) for measure in measures for disjunct in measure.disjuncts for one in disjunct.tests)


def asked_functions(rule: FormulaRule) -> set[str]:
    """The registered predicates that a rule uses."""
    return {place.test.predicate for place in _test_places(rule) if place.test.predicate not in TESTS}


def distinct_rows(query: exp.Query) -> Select:
    return select("*").distinct().from_(query.subquery(alias="q", copy=False))


def _asks(condition: Condition) -> bool:
    """Whether a condition holds a registered test. Those of aggregates are asked apart."""
    return any(isinstance(node, Test) and node.predicate not in TESTS for node in nodes_in(condition))


def _test_places(rule: FormulaRule) -> Iterator[_Place]:
    for disjunct in rule.disjuncts:
        yield from _places_in(rule, disjunct.tests, disjunct, ())
    yield from _judgement_places(rule, rule.confirmed)
    yield from _judgement_places(rule, rule.refuted)


def _places_in(
    rule: FormulaRule, tests: Sequence[Condition], disjunct: Disjunct | None, inner: tuple[Disjunct, ...]
) -> Iterator[_Place]:
    for test in tests:
        for node in nodes_in(test):
            if isinstance(node, Test):
                yield _Place(node, disjunct, inner)
            elif isinstance(node, Variable) and node.name in rule.measures:
                for one in rule.measures[node.name].disjuncts:
                    yield from _places_in(rule, one.tests, disjunct, (*inner, one))


def _judgement_places(rule: FormulaRule, judgement: Judgement, inner: tuple[Disjunct, ...] = ()) -> Iterator[_Place]:
    match judgement:
        case Leaf(condition):
            yield from _places_in(rule, (condition,), None, inner)
        case All(parts) | Any(parts):
            for part in parts:
                yield from _judgement_places(rule, part, inner)
        case Opposite(part):
            yield from _judgement_places(rule, part, inner)
        case Exists(disjuncts):
            for one in disjuncts:
                yield from _places_in(rule, one.tests, None, (*inner, one))


__all__ = [
    "Context",
    "Scope",
    "asked_arguments",
    "asked_functions",
    "bound_variables",
    "branches",
    "counts",
    "distinct_rows",
    "groundings",
    "judged",
    "variable",
]
