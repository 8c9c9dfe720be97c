"""Queries for the arguments that we pass to registered predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from rulescore.language.syntax import Expression
from rulescore.logic.questions import Question, question, rounds_before, test_places
from rulescore.sql.formula.branches import MOST_NESTED
from rulescore.sql.formula.counts import grounding, groundings
from rulescore.sql.formula.scope import FormulaContext, Joins, Scope
from rulescore.sql.query import Query, Select, select
from rulescore.sql.values import converted
from rulescore.sql.words import Sql
from rulescore.values.types import ValueType


def asked_arguments(context: FormulaContext, asked: Question, *, predictions: bool, rounds: int) -> Iterator[Select]:
    """Queries for the argument tuples to pass to a registered predicate: those known after so many rounds of answers."""
    rule = context.rule
    for place in test_places(rule):
        if question(rule, place.test) != asked or rounds_before(rule, place) != rounds:
            continue
        rows = groundings(context, predictions=predictions, only=place.disjunct)
        if rows is None:
            continue
        joins = Joins(grounding(context, predictions=predictions))
        joins.start(rows.as_("g"))
        tests = []
        for inner in place.inner:
            joins.read_all(inner)
            tests += context.tests(inner)
        fields = [
            _given(joins.scope, one, kind).named(f"a{i}")
            for i, (one, kind) in enumerate(zip(place.test.arguments, asked.types, strict=True))
        ]
        yield joins.query(*fields, tests=tests)


def _given(scope: Scope, argument: Expression, kind: ValueType | None) -> Sql:
    """An argument in the type in which we pass it to the predicate."""
    found = scope.type_of(argument)
    value = scope.value(argument)
    return value if found is None or kind is None else converted(value, found, kind, scope.inexact)


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
