"""Queries for what registered predicates are asked about."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rulescore.logic.questions import Question, is_deferred, question, test_places
from rulescore.sql.build import Select, named, select
from rulescore.sql.formula import Context
from rulescore.sql.formula_branches import branches


def asked_arguments(context: Context, asked: Question, *, predictions: bool, deferred: bool) -> Iterator[Select]:
    """Queries for the argument tuples that a registered predicate is asked about. `deferred`: those that are known only when
    other answers are, because an aggregate among the arguments asks too."""
    rule = context.rule
    for place in test_places(rule):
        if question(rule, place.test) != asked or is_deferred(rule, place.test) is not deferred:
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


def distinct_rows(query: exp.Query) -> Select:
    return select("*").distinct().from_(query.subquery(alias="q", copy=False))
