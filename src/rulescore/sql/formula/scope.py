"""Formulas as SQL: variables in scope, conditions, aggregates, and the joins that read atoms.

For a prediction A the facts are D ∪ {A}: an atom holds if it is observed or is A.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import count

from rulescore.language.syntax import Aggregation, Attribute, Constant, Expression, Test, Variable, Wildcard
from rulescore.language.trees import variables_in
from rulescore.logic import formula
from rulescore.logic.judgement import Question, asks, question
from rulescore.logic.types import may_be_missing
from rulescore.setting.choices import Role
from rulescore.sql.expressions import Compiler, sum_of_doubles
from rulescore.sql.query import Row, Select, exists, no_row, row, select, union_all, union_distinct
from rulescore.sql.values import cast, constant, constant_in, converted, is_exact, same
from rulescore.sql.words import FALSE, NULL, Field, Sql, all_of, any_of, count_rows, sql, when
from rulescore.values import ValueType


class RowSource(Enum):
    """Which rows an atom reads."""

    OBSERVED = auto()
    PREDICTED = auto()
    EITHER = auto()


@dataclass(frozen=True, slots=True)
class FormulaContext:
    """What all statements of a rule share. `predictions`: whether a prediction takes part in groundings, or none. `calls`: the
    tables that hold the answers of registered predicates. While we are `asking` these, we skip every test that needs an answer, and
    values computed from answers may be missing."""

    rule: formula.FormulaRule
    schema: formula.Schema
    calls: Mapping[Question, str]
    predictions: bool
    distinct_variables: bool = False
    roles: frozenset[Role] = frozenset({Role.BODY, Role.HEAD})
    asking: bool = False
    numbers: Iterator[int] = field(default_factory=count)

    def relation(self, atom: formula.ResolvedAtom) -> formula.Relation:
        return self.schema.relations[atom.relation]

    def predictable(self, atom: formula.ResolvedAtom) -> bool:
        """Whether a prediction can be this atom."""
        relation = self.relation(atom)
        return relation.predicted is not None and any(name in relation.from_prediction for name, _ in atom.arguments)

    def tests(self, disjunct: formula.Disjunct) -> list[formula.Judgement]:
        return [test for test in disjunct.tests if not self.asking or not asks(test, self.rule, disjunct)]

    def possible(self, disjuncts: Sequence[formula.Disjunct]) -> list[formula.Disjunct]:
        """Disjuncts that can hold. A relation without rows is left out: its columns have no types, nor do values computed from
        them."""
        return [
            disjunct
            for disjunct in disjuncts
            if all(self.relation(atom).columns[name].type is not None for atom in disjunct.atoms for name, _ in atom.arguments)
        ]

    def participating(self, atom: formula.ResolvedAtom) -> list[formula.ResolvedAtom]:
        """The atoms at which a prediction can stand. A row whose key and attributes are all given is one atom for each attribute; a
        row with wildcards stays one atom, since all of it must hold of the same row."""
        relation = self.relation(atom)
        if not self.predictable(atom):
            return []
        arguments = dict(atom.arguments)
        if not relation.is_table or any(
            isinstance(arguments.get(attribute, Wildcard()), Wildcard) for attribute in (*relation.key, *arguments)
        ):
            return [atom]
        key = tuple((attribute, arguments[attribute]) for attribute in relation.key)
        return [
            formula.ResolvedAtom(atom.relation, (*key, argument), atom.written)
            for argument in atom.arguments
            if argument[0] in relation.from_prediction
        ]

    def alias(self) -> str:
        return f"t{next(self.numbers)}"


# If all values of a group are the same, these aggregates return that value.
_OF_EQUAL_VALUES = {Aggregation.LEAST, Aggregation.GREATEST}


@dataclass
class Scope(Compiler):
    """Variables with their columns or, if an equation binds them, their values. Also the prediction that is added to the data;
    None: the data alone. `computed`: columns that hold the values of whole expressions."""

    context: FormulaContext
    columns: dict[str, Sql]
    prediction: Sql | None
    values: dict[str, Expression] = field(default_factory=dict)
    kinds: dict[str, ValueType] = field(default_factory=dict)
    """Types of columns that hold values of a variable of mixed type."""
    computed: Mapping[str, Sql] = field(default_factory=dict)

    @property
    def inexact(self) -> Collection[str]:
        return self.context.schema.inexact

    def value(self, expression: Expression) -> Sql:
        known = self.computed.get(repr(expression))
        return super().value(expression) if known is None else known

    def column(self, variable: Variable | Attribute) -> Sql:
        name = variable.name
        if name in self.columns:
            return self.columns[name]
        if name in self.values:
            type_ = self.type_of(self.values[name])
            return self.value(self.values[name]) if name in self.kinds else self.typed(name, self.value(self.values[name]), type_)
        return self._measured(self.context.rule.measures[name], self.type(variable))

    def type(self, variable: Variable | Attribute) -> ValueType | None:
        return self.kinds.get(variable.name, self.context.rule.types.get(variable.name))

    def projected(self, variable: str) -> Sql:
        """A variable's value in the type that it has in all parts of the rule."""
        return self.typed(variable, self.column(Variable(variable)), self.type(Variable(variable)))

    def bind(self, name: str, value: Sql, kind: ValueType | None) -> None:
        """Bind a variable to a column. A variable of mixed type keeps the column's type here: nothing is computed with it."""
        wanted = self.context.rule.types.get(name)
        if kind is not None and wanted is ValueType.MIXED:
            self.columns[name], self.kinds[name] = value, kind
        elif kind is ValueType.INTEGER and wanted is ValueType.FLOAT:
            # An integer that no double equals must match no float.
            self.columns[name] = when(is_exact(value), cast(value, ValueType.FLOAT))
        else:
            self.columns[name] = self.typed(name, value, kind)

    def is_value_of(self, variable: str, other: Sql) -> Sql:
        """Whether a column that has the variable's type in all parts of the rule holds its value."""
        type_, wanted = self.type(Variable(variable)), self.context.rule.types.get(variable)
        value = self.column(Variable(variable))
        return other == value if type_ is None or wanted is None else same(other, wanted, value, type_, self.inexact)

    def knows(self, name: str) -> bool:
        return name in self.columns or name in self.values or name in self.context.rule.measures

    def typed(self, name: str, value: Sql, type_: ValueType | None) -> Sql:
        """A value of a variable in the variable's own type: an integer here may be a float elsewhere in the rule."""
        wanted = self.context.rule.types.get(name)
        if wanted is None or type_ is None:
            return value if wanted is None else cast(value, wanted)
        return converted(value, type_, wanted, self.inexact)

    def atom(self, atom: formula.ResolvedAtom) -> Sql:
        """An atom holds if it is observed or is the prediction."""
        no_rows = any(self.context.relation(atom).columns[name].type is None for name, _ in atom.arguments)
        ways = [FALSE if no_rows else self._some((atom,), RowSource.OBSERVED)]
        if self.prediction is not None and self.context.predictable(atom):
            ways.append(self.is_prediction(atom))
        ways += self._unknown(atom)
        return any_of(*ways).paren() if len(ways) > 1 else ways[0]

    def _unknown(self, atom: formula.ResolvedAtom) -> Iterator[Sql]:
        """Conditions that are NULL if a missing argument makes the atom unknown, and false otherwise. A row is the conjunction of
        its attributes. If no row has the known values, it is false, not unknown."""
        relation = self.context.relation(atom)
        attributes = []
        for name, term in atom.arguments:
            if isinstance(term, Wildcard) or not self._may_be_missing(term):
                continue
            if relation.is_table and name not in relation.key:
                attributes.append(name)
            else:
                value = self.value(term).paren()
                yield value != value
        if attributes:
            joins = Joins(self)
            predicted = self.prediction is not None and self.context.predictable(atom)
            joins.read(atom, RowSource.EITHER if predicted else RowSource.OBSERVED, or_missing=attributes)
            yield all_of(exists(joins.query(1)), NULL.cast("BOOLEAN")).paren()

    def _may_be_missing(self, term: Expression) -> bool:
        return may_be_missing(term, self.type_of, lambda name: name in self.columns or name in self.values)

    def is_prediction(self, atom: formula.ResolvedAtom) -> Sql:
        return self._some((atom,), RowSource.PREDICTED)

    def registered(self, test: Test) -> Sql:
        asked = question(self.context.rule, test)
        if self.context.asking and asked not in self.context.calls:
            return NULL.cast("BOOLEAN")
        verdicts = row(self.context.calls[asked], self.context.alias())
        alike = [
            same(verdicts[f"a{i}"], kind, self.value(argument), self.type_of(argument) or kind, self.inexact) if kind else FALSE
            for i, (argument, kind) in enumerate(zip(test.arguments, asked.types, strict=True))
        ]
        # sqlglot takes a subquery as a condition only in parentheses.
        return select(verdicts.answer).from_(verdicts).where(all_of(*alike)).value().paren()

    def judgement(self, judgement: formula.Judgement) -> Sql:
        match judgement:
            case formula.Leaf(condition):
                return self.atom(condition) if isinstance(condition, formula.ResolvedAtom) else self.condition(condition)
            case formula.All(parts):
                return all_of(*map(self.judgement, parts)).paren()
            case formula.AnyOf(parts):
                return any_of(*map(self.judgement, parts)).paren()
            case formula.Opposite(part):
                return ~self.judgement(part)
            case formula.Exists(disjuncts):
                return any_of(*map(self._exists, self.context.possible(disjuncts))).paren()

    def _exists(self, disjunct: formula.Disjunct) -> Sql:
        joins = Joins(self)
        joins.read_all(disjunct)
        if not disjunct.atoms:
            return all_of(*joins.conditions(disjunct.tests))
        return exists(joins.query(1, tests=disjunct.tests))

    def _some(self, atoms: Sequence[formula.ResolvedAtom], source: RowSource) -> Sql:
        joins = Joins(self)
        for atom in atoms:
            joins.read(atom, source)
        return exists(joins.query(1))

    def _measured(self, measure: formula.AggregateValue, kind: ValueType | None) -> Sql:
        """The value of an aggregate, as a query that depends on the row at hand. We cast a missing value to its type, since some
        engines take an untyped column for text."""
        disjuncts = self.context.possible(measure.disjuncts)
        if not disjuncts:
            counts = {Aggregation.COUNT, Aggregation.COUNT_DISTINCT, Aggregation.SUM}
            missing = NULL if kind is None else cast(NULL, kind)
            return sql(0) if measure.function in counts else missing
        names = {variable.name for variable in variables_in(measure.value)}
        if measure.function in _OF_EQUAL_VALUES and not names & set(measure.variables):
            value = cast(self.value(measure.value), kind) if kind is not None else self.value(measure.value)
            return when(any_of(*map(self._exists, disjuncts)), value)
        if len(disjuncts) == 1 and names and names <= set(measure.variables):
            predicted = [atom for atom in disjuncts[0].atoms if self.prediction is not None and self.context.predictable(atom)]
            if measure.function is Aggregation.COUNT_DISTINCT and len(predicted) == 1:
                return self._distinct_values(measure.value, disjuncts[0], predicted[0])
            joins = Joins(self)
            joins.read_all(disjuncts[0])
            value = self.aggregated(measure, joins.scope.value(measure.value))
            return joins.query(value, tests=disjuncts[0].tests).value()
        return self._measured_rows(measure, disjuncts)

    def _distinct_values(self, value: Expression, disjunct: formula.Disjunct, predicted: formula.ResolvedAtom) -> Sql:
        """The number of distinct values: the number in the data, which all predictions share, plus the values that the prediction
        adds at the only atom that it can fill. A set of values for each prediction would be as large as the group."""
        observed, added = (self._rows_of(disjunct, predicted, source) for source in (RowSource.OBSERVED, RowSource.PREDICTED))
        there = self._rows_of(disjunct, predicted, RowSource.OBSERVED)
        there.condition(there.scope.value(value) == added.scope.value(value))
        added.condition(no_row(there.query(1, tests=disjunct.tests)))
        many = [joins.query(joins.scope.value(value).count_distinct(), tests=disjunct.tests) for joins in (observed, added)]
        return (many[0].value() + many[1].value()).paren()

    def _rows_of(self, disjunct: formula.Disjunct, predicted: formula.ResolvedAtom, source: RowSource) -> Joins:
        """The rows of a disjunct whose one atom that can be predicted is read from `source`."""
        joins = Joins(self)
        for atom in disjunct.atoms:
            joins.read(atom, source if atom is predicted else RowSource.OBSERVED)
        joins.compute(disjunct)
        return joins

    def _measured_rows(self, measure: formula.AggregateValue, disjuncts: Sequence[formula.Disjunct]) -> Sql:
        """Each grounding of several disjuncts counts once. An inner query computes a value that depends on the row at hand: engines
        would take an aggregate of it for one of the outer query."""
        parts = []
        for disjunct in disjuncts:
            joins = Joins(self)
            joins.read_all(disjunct)
            fields = [joins.scope.projected(name).named(f"v{i}") for i, name in enumerate(measure.variables)]
            value = joins.scope.value(measure.value).named("value")
            parts.append(joins.query(*fields, value, tests=disjunct.tests))
        rows = union_distinct(parts).as_(self.context.alias())
        return select(self.aggregated(measure, rows.value)).from_(rows).value()

    def aggregated(self, measure: formula.AggregateValue, value: Sql) -> Sql:
        """The aggregate of a value over the rows of a query."""
        match measure.function:
            case Aggregation.COUNT:
                return count_rows()
            case Aggregation.COUNT_DISTINCT:
                return value.count_distinct()
            case Aggregation.SUM if self.type_of(measure.value) is ValueType.FLOAT:
                # The sum over no values is 0. A sum over some values may be missing.
                return when(value.count() == 0, constant(0.0), sum_of_doubles(value))
            case Aggregation.SUM:
                # A sum of 64-bit integers would have 128 bits, which a registered predicate cannot take as an integer.
                return value.sum().or_else(0).big()
            case Aggregation.AVERAGE if self.type_of(measure.value) is ValueType.INTEGER:
                # We divide the exact sum by the number, as doubles, because the engines' own averages of integers have different
                # types.
                return cast(value.sum(), ValueType.FLOAT) / cast(value.count().null_if(0), ValueType.FLOAT)
            case Aggregation.AVERAGE:
                return sum_of_doubles(value).paren() / cast(value.count().null_if(0), ValueType.FLOAT)
            case Aggregation.LEAST:
                return value.min()
            case Aggregation.GREATEST:
                return value.max()


class Joins:
    """Reads atoms one after the other, each joined to those before it and to the scope around."""

    def __init__(self, around: Scope) -> None:
        self.scope = replace(around, columns=dict(around.columns), values=dict(around.values), kinds=dict(around.kinds))
        self._tables: list[tuple[Row, list[Sql]]] = []
        self._further: list[Sql] = []
        self._computed: list[str] = []

    def start(self, rows: Row) -> None:
        """Begin with rows that the scope around refers to."""
        self._tables.append((rows, []))

    def read_all(self, disjunct: formula.Disjunct) -> None:
        """Read the atoms over the facts of the scope: observed ones and, if there is one, the prediction."""
        for atom in disjunct.atoms:
            predicted = self.scope.prediction is not None and self.scope.context.predictable(atom)
            self.read(atom, RowSource.EITHER if predicted else RowSource.OBSERVED)
        self.compute(disjunct)

    def read_observed(self, disjunct: formula.Disjunct) -> None:
        for atom in disjunct.atoms:
            self.read(atom, RowSource.OBSERVED)
        self.compute(disjunct)

    def compute(self, disjunct: formula.Disjunct) -> None:
        """Bind the variables of equations. We compute their values only where they are used: a prediction may be known only
        then."""
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

    def read(self, atom: formula.ResolvedAtom, source: RowSource, or_missing: Collection[str] = ()) -> None:
        """Read an atom; `or_missing`: attributes that match any row if their argument is missing."""
        context = self.scope.context
        relation = context.relation(atom)
        here = _source_rows(relation, source, context.alias(), [name for name, _ in atom.arguments])
        conditions: list[Sql] = []
        if source is RowSource.PREDICTED:
            if self.scope.prediction is None:
                self.scope.prediction = here.prediction
            else:
                conditions.append(here.prediction == self.scope.prediction)
        elif source is RowSource.EITHER:
            assert self.scope.prediction is not None
            conditions.append(any_of(here.prediction.is_null(), here.prediction == self.scope.prediction).paren())
        for name, term in atom.arguments:
            matches = list(self._match(here[relation.columns[name].column], relation, name, term))
            if name in or_missing and not isinstance(term, Wildcard):
                matches.append(self.scope.value(term).paren().is_null())
                matches = [any_of(*matches).paren()]
            conditions.extend(matches)
        self._tables.append((here, conditions))

    def _match(self, here: Sql, relation: formula.Relation, name: str, term: Expression | Wildcard) -> Iterator[Sql]:
        kind = relation.columns[name].type
        match term:
            case Wildcard():
                if relation.is_table:
                    yield here.is_known()
            case Constant(value):
                member = None if kind is None else constant_in(value, kind)  # a column without a type has no rows
                yield FALSE if member is None else here == member
            case Variable(variable) if not self.scope.knows(variable):
                self.scope.bind(variable, here, kind)
                if relation.is_table:
                    yield here.is_known()
            case _ if kind is None:
                yield FALSE
            case _:
                yield same(here, kind, self.scope.value(term), self.scope.type_of(term) or kind, self.scope.inexact)

    def condition(self, condition: Sql) -> None:
        """A further condition on the rows read so far."""
        self._further.append(condition)

    def conditions(self, tests: Sequence[formula.Judgement] = ()) -> list[Sql]:
        """The further conditions, and tests. If the value of an equation is missing, there is no grounding. But while we collect
        questions for registered predicates, it may be missing only because their answers are."""
        for name in () if self.scope.context.asking else self._computed:
            self.condition(self.scope.column(Variable(name)).paren().is_known())
        self._computed = []
        return [*self._further, *(self.scope.judgement(test) for test in tests)]

    def only_atom(self, tests: Sequence[formula.Judgement]) -> tuple[Row, list[Sql]]:
        """The rows of the atom, if we read only one, and all conditions on them."""
        ((rows, own),) = self._tables
        return rows, [*own, *self.conditions(tests)]

    def forget(self, all_but: Collection[str]) -> None:
        """Forget the variables that belong to an aggregate. The aggregate ranges over all of their values, even if a kept variable
        is computed from it."""
        kept = [name for name in self._computed if name in all_but]
        self._computed = [name for name in self._computed if name not in all_but]
        self._further = self.conditions()
        self._computed = kept
        self.scope.columns = {name: value for name, value in self.scope.columns.items() if name in all_but}
        self.scope.values = {name: value for name, value in self.scope.values.items() if name in all_but}
        self.scope.kinds = {name: kind for name, kind in self.scope.kinds.items() if name in all_but}

    def query(self, *fields: Field, tests: Sequence[formula.Judgement] = ()) -> Select:
        """The rows that meet all conditions; a single row if no atom is read."""
        query = select(*fields)
        conditions = self.conditions(tests)
        for index, (rows, own) in enumerate(self._tables):
            if index == 0:
                query = query.from_(rows)
                conditions = [*own, *conditions]
            else:
                query = query.join(rows, *own)
        return query.where(*conditions)


def _source_rows(relation: formula.Relation, source: RowSource, alias: str, names: Sequence[str]) -> Row:
    match source:
        case RowSource.OBSERVED:
            return row(relation.observed, alias)
        case RowSource.PREDICTED:
            assert relation.predicted is not None
            return row(relation.predicted, alias)
        case RowSource.EITHER:
            assert relation.predicted is not None
            columns = list(dict.fromkeys(relation.columns[name].column for name in names))
            o, p = row(relation.observed, "o"), row(relation.predicted, "p")
            observed = select(NULL.integer().named("prediction"), *o[columns]).from_(o)
            predicted = select(p.prediction, *p[columns]).from_(p)
            if not relation.is_table:  # an observed fact that is predicted as well counts once
                predicted = predicted.where(p.observed == 0)
            return union_all([observed, predicted]).as_(alias)
