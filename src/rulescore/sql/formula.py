"""Formulas as SQL: variables in scope, conditions, aggregates, and the joins that read atoms.

For a prediction A the facts are D ∪ {A}: an atom holds if it is observed or is A.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import count

from sqlglot import exp

from rulescore.data.relations import Relation, Schema
from rulescore.data.setting import Role, ValueType
from rulescore.language.syntax import Aggregation, Attribute, Condition, Constant, Expression, RowAtom, Test, Variable, Wildcard
from rulescore.language.trees import variables_in
from rulescore.logic.formula import All, Any, Disjunct, Exists, FormulaRule, Judgement, Leaf, Measure, Opposite
from rulescore.logic.questions import Question, asks, question
from rulescore.logic.ranges import may_be_missing
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    big,
    column,
    count_rows,
    equal,
    exists,
    named,
    negation,
    number,
    select,
    table,
    union_all,
)
from rulescore.sql.expressions import Compiler, sum_of_doubles, when
from rulescore.sql.values import cast, constant, constant_in, converted, is_exact, same


class Source(Enum):
    """Which rows an atom reads."""

    OBSERVED = auto()
    PREDICTED = auto()
    EITHER = auto()


@dataclass(frozen=True, slots=True)
class Context:
    """What all statements of a rule share. `calls`: the tables that hold the answers of registered predicates. While these are
    being asked, no test that needs an answer counts, and what is computed from answers may be missing."""

    rule: FormulaRule
    schema: Schema
    calls: Mapping[Question, str]
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
        return [test for test in disjunct.tests if not self.asking or not asks(test, self.rule, disjunct)]

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


# What these come to for values that are all the same is that value.
_OF_EQUAL_VALUES = {Aggregation.LEAST, Aggregation.GREATEST}


@dataclass
class Scope(Compiler):
    """Variables with their columns or, where an equation binds them, their values, and the prediction that is added to the data;
    None: the data alone. `computed`: columns that hold the values of whole expressions."""

    context: Context
    columns: dict[str, exp.Expr]
    prediction: exp.Expr | None
    values: dict[str, Expression] = field(default_factory=dict)
    kinds: dict[str, ValueType] = field(default_factory=dict)
    """Types of columns that hold values of a variable of mixed type."""
    computed: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def inexact(self) -> Collection[str]:
        return self.context.schema.inexact

    def value(self, expression: Expression) -> exp.Expr:
        known = self.computed.get(repr(expression))
        return super().value(expression) if known is None else known.copy()

    def column(self, variable: Variable | Attribute) -> exp.Expr:
        name = variable.name
        if name in self.columns:
            return self.columns[name].copy()
        if name in self.values:
            found = self.type_of(self.values[name])
            return self.value(self.values[name]) if name in self.kinds else self.typed(name, self.value(self.values[name]), found)
        return self._measured(self.context.rule.measures[name], self.type(variable))

    def type(self, variable: Variable | Attribute) -> ValueType | None:
        return self.kinds.get(variable.name, self.context.rule.types.get(variable.name))

    def projected(self, variable: str) -> exp.Expr:
        """A variable's value in the type that it has in all parts of the rule."""
        return self.typed(variable, self.column(Variable(variable)), self.type(Variable(variable)))

    def bind(self, name: str, value: exp.Expr, kind: ValueType | None) -> None:
        """Let a variable stand for a column. What is mixed in the whole rule keeps its type here: nothing is computed with it."""
        wanted = self.context.rule.types.get(name)
        if kind is not None and wanted is ValueType.MIXED:
            self.columns[name], self.kinds[name] = value, kind
        elif kind is ValueType.INTEGER and wanted is ValueType.FLOAT:
            # Joined with floats, an integer that no double equals is none of them.
            self.columns[name] = when(is_exact(value), cast(value.copy(), ValueType.FLOAT))
        else:
            self.columns[name] = self.typed(name, value, kind)

    def is_value_of(self, variable: str, other: exp.Expr) -> exp.Expr:
        """Whether a column that has the variable's type in all parts of the rule holds its value."""
        found, wanted = self.type(Variable(variable)), self.context.rule.types.get(variable)
        value = self.column(Variable(variable))
        return equal(other, value) if found is None or wanted is None else same(other, wanted, value, found, self.inexact)

    def knows(self, name: str) -> bool:
        return name in self.columns or name in self.values or name in self.context.rule.measures

    def typed(self, name: str, value: exp.Expr, found: ValueType | None) -> exp.Expr:
        """A value of a variable in the variable's own type: what is an integer here may be a float elsewhere."""
        wanted = self.context.rule.types.get(name)
        if wanted is None or found is None:
            return value if wanted is None else cast(value, wanted)
        return converted(value, found, wanted, self.inexact)

    def atom(self, atom: RowAtom) -> exp.Expr:
        """An atom holds if it is observed or is the prediction."""
        no_rows = any(self.context.relation(atom).columns[name].type is None for name, _ in atom.arguments)
        ways = [exp.false() if no_rows else self._some((atom,), Source.OBSERVED)]
        if self.prediction is not None and self.context.predictable(atom):
            ways.append(self.is_prediction(atom))
        ways += self._unknown(atom)
        return exp.Paren(this=any_of(ways)) if len(ways) > 1 else ways[0]

    def _unknown(self, atom: RowAtom) -> Iterator[exp.Expr]:
        """Conditions that are NULL if a missing argument makes the atom unknown, and false otherwise. A row is the conjunction of
        its attributes: false, not unknown, if no row has those whose values are known."""
        relation = self.context.relation(atom)
        attributes = []
        for name, term in atom.arguments:
            if self._may_be_missing(term) and relation.is_table and name not in relation.key:
                attributes.append(name)
            elif self._may_be_missing(term):
                value = exp.Paren(this=self.value(term))  # type: ignore[arg-type]  # an expression: see Resolver.atom
                yield exp.NEQ(this=value, expression=value.copy())
        if attributes:
            joins = Joins(self)
            predicted = self.prediction is not None and self.context.predictable(atom)
            joins.read(atom, Source.EITHER if predicted else Source.OBSERVED, or_missing=attributes)
            yield exp.Paren(this=all_of([exists(joins.query(number(1))), exp.cast(exp.null(), "BOOLEAN", copy=False)]))

    def _may_be_missing(self, term: object) -> bool:
        if isinstance(term, Wildcard):
            return False
        return may_be_missing(term, self.type_of, lambda name: name in self.columns or name in self.values)  # type: ignore[arg-type]

    def is_prediction(self, atom: RowAtom) -> exp.Expr:
        return self._some((atom,), Source.PREDICTED)

    def registered(self, test: Test) -> exp.Expr:
        asked = question(self.context.rule, test)
        if self.context.asking and asked not in self.context.calls:
            return exp.cast(exp.null(), "BOOLEAN", copy=False)
        alias = self.context.alias()
        answers = table(self.context.calls[asked], alias)
        given = [
            same(column(alias, f"a{i}"), kind, self.value(one), self.type_of(one) or kind, self.inexact) if kind else exp.false()
            for i, (one, kind) in enumerate(zip(test.arguments, asked.types, strict=True))
        ]
        query = select(column(alias, "answer")).from_(answers).where(all_of(given))
        query.meta["answers"] = True
        # To the library a subquery is no condition, but something in parentheses is.
        return exp.Paren(this=query.subquery(copy=False))

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
        joins = Joins(self)
        joins.read_all(disjunct)
        if not disjunct.atoms:
            return all_of(joins.conditions(disjunct.tests))
        return exists(joins.query(number(1), tests=disjunct.tests))

    def _some(self, atoms: Sequence[RowAtom], source: Source) -> exp.Expr:
        joins = Joins(self)
        for atom in atoms:
            joins.read(atom, source)
        return exists(joins.query(number(1)))

    def _measured(self, measure: Measure, kind: ValueType | None) -> exp.Expr:
        """The value of an aggregate, as a query that depends on the row at hand. A missing one has the type that it would have: a
        column without one is text to some engines."""
        disjuncts = self.context.possible(measure.disjuncts)
        if not disjuncts:
            counts = {Aggregation.COUNT, Aggregation.COUNT_DISTINCT, Aggregation.SUM}
            missing = exp.null() if kind is None else cast(exp.null(), kind)
            return number(0) if measure.function in counts else missing
        names = {one.name for one in variables_in(measure.value)}
        if measure.function in _OF_EQUAL_VALUES and not names & set(measure.variables):
            value = cast(self.value(measure.value), kind) if kind is not None else self.value(measure.value)
            return exp.Case(ifs=[exp.If(this=any_of([self._exists(one) for one in disjuncts]), true=value)])
        if len(disjuncts) == 1 and names and names <= set(measure.variables):
            predicted = [atom for atom in disjuncts[0].atoms if self.prediction is not None and self.context.predictable(atom)]
            if measure.function is Aggregation.COUNT_DISTINCT and len(predicted) == 1:
                return self._distinct_values(measure.value, disjuncts[0], predicted[0])
            joins = Joins(self)
            joins.read_all(disjuncts[0])
            value = self._aggregated(measure, joins.scope.value(measure.value))
            return joins.query(value, tests=disjuncts[0].tests).subquery(copy=False)
        return self._measured_rows(measure, disjuncts)

    def _distinct_values(self, value: Expression, disjunct: Disjunct, predicted: RowAtom) -> exp.Expr:
        """How many values there are: those of the data, which all predictions share, and those that the prediction, the only one
        of its kind, adds. A set of values for each prediction would be as large as the group."""
        observed, added = (self._rows_of(disjunct, predicted, source) for source in (Source.OBSERVED, Source.PREDICTED))
        there = self._rows_of(disjunct, predicted, Source.OBSERVED)
        there.condition(equal(there.scope.value(value), added.scope.value(value)))
        added.condition(exp.Not(this=exists(there.query(number(1), tests=disjunct.tests))))
        many = [
            joins.query(exp.Count(this=exp.Distinct(expressions=[joins.scope.value(value)])), tests=disjunct.tests)
            for joins in (observed, added)
        ]
        return exp.Paren(this=exp.Add(this=many[0].subquery(copy=False), expression=many[1].subquery(copy=False)))

    def _rows_of(self, disjunct: Disjunct, predicted: RowAtom, source: Source) -> Joins:
        """The rows of a disjunct whose one atom that can be predicted is read from `source`."""
        joins = Joins(self)
        for atom in disjunct.atoms:
            joins.read(atom, source if atom is predicted else Source.OBSERVED)
        joins.compute(disjunct)
        return joins

    def _measured_rows(self, measure: Measure, disjuncts: Sequence[Disjunct]) -> exp.Expr:
        """Of several disjuncts each grounding counts once. And a value that depends on the row at hand is computed before: an
        aggregate of it would be taken for one of the query around."""
        parts = []
        for disjunct in disjuncts:
            joins = Joins(self)
            joins.read_all(disjunct)
            fields = [named(joins.scope.projected(name), f"v{i}") for i, name in enumerate(measure.variables)]
            value = named(joins.scope.value(measure.value), "value")
            parts.append(joins.query(*fields, value, tests=disjunct.tests))
        alias = self.context.alias()
        rows = parts[0] if len(parts) == 1 else exp.union(*parts, distinct=True, copy=False)
        found = self._aggregated(measure, column(alias, "value"))
        return select(found).from_(rows.subquery(alias=alias, copy=False)).subquery(copy=False)

    def _aggregated(self, measure: Measure, value: exp.Expr) -> exp.Expr:
        match measure.function:
            case Aggregation.COUNT:
                return count_rows()
            case Aggregation.COUNT_DISTINCT:
                return exp.Count(this=exp.Distinct(expressions=[value]))
            case Aggregation.SUM if self.type_of(measure.value) is ValueType.FLOAT:
                # Over nothing it is 0, but a sum of something may be missing.
                nothing = exp.If(this=equal(exp.Count(this=value.copy()), number(0)), true=constant(0.0))
                return exp.Case(ifs=[nothing], default=sum_of_doubles(value))
            case Aggregation.SUM:
                # A sum of 64-bit integers would have 128 bits, which are no integers to a registered predicate.
                return big(exp.Coalesce(this=exp.Sum(this=value), expressions=[number(0)]))
            case Aggregation.AVERAGE if self.type_of(measure.value) is ValueType.INTEGER:
                # The exact sum, divided as doubles: the engines' own averages of integers are of different types.
                many = exp.Nullif(this=exp.Count(this=value.copy()), expression=number(0))
                sides = [cast(one, ValueType.FLOAT) for one in (exp.Sum(this=value), many)]
                return exp.Div(this=sides[0], expression=sides[1], typed=True, safe=False)
            case Aggregation.AVERAGE:
                many = exp.Nullif(this=exp.Count(this=value.copy()), expression=number(0))
                sum_of_all = exp.Paren(this=sum_of_doubles(value))
                return exp.Div(this=sum_of_all, expression=cast(many, ValueType.FLOAT), typed=True, safe=False)
            case Aggregation.LEAST:
                return exp.Min(this=value)
            case Aggregation.GREATEST:
                return exp.Max(this=value)


class Joins:
    """Reads atoms one after the other, each joined to those before it and to the scope around."""

    def __init__(self, around: Scope) -> None:
        self.scope = replace(around, columns=dict(around.columns), values=dict(around.values), kinds=dict(around.kinds))
        self._tables: list[tuple[exp.Expr, list[exp.Expr]]] = []
        self._further: list[exp.Expr] = []
        self._computed: list[str] = []

    def start(self, rows: exp.Expr) -> None:
        """Rows to begin with, which the scope around speaks of."""
        self._tables.append((rows, []))

    def read_all(self, disjunct: Disjunct) -> None:
        """Atoms over the facts of the scope: observed ones and, where there is one, the prediction."""
        for atom in disjunct.atoms:
            predicted = self.scope.prediction is not None and self.scope.context.predictable(atom)
            self.read(atom, Source.EITHER if predicted else Source.OBSERVED)
        self.compute(disjunct)

    def read_observed(self, disjunct: Disjunct) -> None:
        for atom in disjunct.atoms:
            self.read(atom, Source.OBSERVED)
        self.compute(disjunct)

    def compute(self, disjunct: Disjunct) -> None:
        """Variables that equations bind. Their values are computed where they are used: a prediction may be known only then."""
        for name, value in disjunct.values:
            self.scope.values[name] = value
            kind = self.scope.type_of(value)
            if kind is not None and self.scope.context.rule.types.get(name) is ValueType.MIXED:
                self.scope.kinds[name] = kind
        measures = self.scope.context.rule.measures
        self._computed += [
            name
            for name, value in disjunct.values
            if not isinstance(value, Constant) and not (isinstance(value, Variable) and value.name not in measures)
        ]

    def read(self, atom: RowAtom, source: Source, or_missing: Collection[str] = ()) -> None:
        """Read an atom; `or_missing`: attributes that any row has whose argument is missing."""
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
            matches = list(self._match(relation, alias, name, term))
            if name in or_missing:
                matches.append(_is_null(exp.Paren(this=self.scope.value(term))))  # type: ignore[arg-type]  # as in _match
                matches = [exp.Paren(this=any_of(matches))]
            conditions.extend(matches)
        self._tables.append((_rows(relation, source, alias, [name for name, _ in atom.arguments]), conditions))

    def _match(self, relation: Relation, alias: str, name: str, term: object) -> Iterator[exp.Expr]:
        here = column(alias, relation.columns[name].column)
        kind = relation.columns[name].type
        match term:
            case Wildcard():
                if relation.is_table:
                    yield exp.Not(this=_is_null(here))
            case Constant(value):
                found = None if kind is None else constant_in(value, kind)  # without a type there are no rows
                yield exp.false() if found is None else equal(here, found)
            case Variable(variable) if not self.scope.knows(variable):
                self.scope.bind(variable, here, kind)
                if relation.is_table:
                    yield exp.Not(this=_is_null(here.copy()))
            case _ if kind is None:
                yield exp.false()
            case _:  # an expression: see Resolver.atom
                other = self.scope.type_of(term)  # type: ignore[arg-type]
                yield same(here, kind, self.scope.value(term), other or kind, self.scope.inexact)  # type: ignore[arg-type]

    def condition(self, condition: exp.Expr) -> None:
        """A further condition on the rows read so far."""
        self._further.append(condition)

    def conditions(self, tests: Sequence[Condition] = ()) -> list[exp.Expr]:
        """The further conditions, and tests. A variable has a value: if that of an equation is missing there is no grounding. While
        predicates are asked it may be missing for want of their answers."""
        for name in () if self.scope.context.asking else self._computed:
            self.condition(exp.Not(this=_is_null(exp.Paren(this=self.scope.column(Variable(name))))))
        self._computed = []
        return [*self._further, *(self.scope.condition(test) for test in tests)]

    def forget(self, all_but: Collection[str]) -> None:
        """Let go of variables that belong to an aggregate: the aggregate itself ranges over all of their values, also where a kept
        variable is computed from it."""
        kept = [name for name in self._computed if name in all_but]
        self._computed = [name for name in self._computed if name not in all_but]
        self._further = self.conditions()
        self._computed = kept
        self.scope.columns = {name: value for name, value in self.scope.columns.items() if name in all_but}
        self.scope.values = {name: value for name, value in self.scope.values.items() if name in all_but}
        self.scope.kinds = {name: kind for name, kind in self.scope.kinds.items() if name in all_but}

    def query(self, *fields: exp.Expr, tests: Sequence[Condition] = ()) -> Select:
        """The rows that meet all conditions; a single row where no atom is read."""
        query = select(*fields)
        conditions = self.conditions(tests)
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
