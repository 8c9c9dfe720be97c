"""Statements for pairs within a distance, and for the arguments that registered predicates are called with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from rulescore.language.syntax import Expression, Variable
from rulescore.logic.judgement import Question, question, rounds_before, test_places
from rulescore.logic.proximity import Proximity
from rulescore.sql.formula.branches import MOST_NESTED
from rulescore.sql.formula.counts import grounding, groundings
from rulescore.sql.formula.scope import FormulaContext, Joins, RowSource, Scope
from rulescore.sql.moments import days, first_day
from rulescore.sql.names import name
from rulescore.sql.query import Create, Query, Select, create, row, same, select, union_all
from rulescore.sql.values import converted
from rulescore.sql.words import Sql, row_number, sql
from rulescore.values import ValueType

GROUPS = name("proximity_groups")


def create_groups(context: FormulaContext, form: Proximity) -> Create:
    """Every group gets a number."""
    fields = _fields(form)
    sources = [RowSource.OBSERVED, RowSource.PREDICTED] if context.predictions else [RowSource.OBSERVED]
    rows = union_all([_compared_rows(context, form, source).distinct() for source in sources])
    u = rows.as_("u")
    d = select(*u[fields]).distinct().from_(u).as_("d")
    return create(GROUPS, select(row_number(*d[fields]).named("id"), *d[fields]).from_(d))


def ordered_values(context: FormulaContext, form: Proximity) -> Select:
    """The observed values with the numbers of their groups."""
    query = _with_numbers(_compared_rows(context, form, RowSource.OBSERVED, "value"), form, "value")
    return query.order_by(exp.column("id", quoted=True), exp.column("value", quoted=True))


def predicted_values(context: FormulaContext, form: Proximity) -> Select:
    """The predicted values with the numbers of their groups."""
    return _with_numbers(_compared_rows(context, form, RowSource.PREDICTED, "prediction", "value"), form, "prediction", "value")


def _fields(form: Proximity) -> list[str]:
    return [f"g{i}" for i in range(len(form.groups))]


def _compared_rows(context: FormulaContext, form: Proximity, source: RowSource, *wanted: str) -> Select:
    """The rows to compare, with the columns of their groups and the `wanted` fields."""
    joins = Joins(Scope(context, {}, None))
    joins.read(form.row, source)
    scope = joins.scope
    fields = {field: scope.column(Variable(name)) for field, name in zip(_fields(form), form.groups, strict=True)}
    fields["value"] = scope.value(form.value)
    if scope.type_of(form.value) is ValueType.DATE:
        fields["value"] = days(fields["value"], first_day())
    if scope.prediction is not None:
        fields["prediction"] = scope.prediction
    for test in form.tests:
        joins.condition(scope.judgement(test))
    joins.condition(fields["value"].paren().is_known())
    return joins.query(*(fields[field].named(field) for field in (*_fields(form), *wanted)))


def _with_numbers(rows: Select, form: Proximity, *wanted: str) -> Select:
    r, k = rows.as_("r"), row(GROUPS, "k")
    if not form.groups:
        return select(sql(0).named("id"), *r[wanted]).from_(r)
    return select(k.id, *r[wanted]).from_(r).join(k, *same(k, r, _fields(form)))


def asked_arguments(context: FormulaContext, asked: Question, *, rounds: int) -> Iterator[Select]:
    """Queries for the argument tuples to pass to a registered predicate: those known after so many rounds of answers."""
    rule = context.rule
    for place in test_places(rule):
        if question(rule, place.test) != asked or rounds_before(rule, place) != rounds:
            continue
        rows = groundings(context, only=place.disjunct)
        if rows is None:
            continue
        joins = Joins(grounding(context))
        joins.start(rows.as_("g"))
        tests = []
        for inner in place.inner:
            joins.read_all(inner)
            tests += context.tests(inner)
        fields = [
            _converted(joins.scope, argument, kind).named(f"a{i}")
            for i, (argument, kind) in enumerate(zip(place.test.arguments, asked.types, strict=True))
        ]
        yield joins.query(*fields, tests=tests)


def _converted(scope: Scope, argument: Expression, kind: ValueType | None) -> Sql:
    """An argument in the type in which we pass it to the predicate."""
    type_ = scope.type_of(argument)
    value = scope.value(argument)
    return value if type_ is None or kind is None else converted(value, type_, kind, scope.inexact)


def distinct_rows(query: Query) -> Select:
    return select("*").distinct().from_(query.as_("q"))


def in_pieces(queries: Iterable[Select]) -> Iterator[list[Select]]:
    """Queries to be united, few enough at a time for a planner."""
    piece: list[Select] = []
    nested = 0
    for query in queries:
        own = sum(1 for _ in query.tree().find_all(exp.Select))
        if piece and nested + own > MOST_NESTED:
            yield piece
            piece, nested = [], 0
        piece.append(query)
        nested += own
    if piece:
        yield piece
