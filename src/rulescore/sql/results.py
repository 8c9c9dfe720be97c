"""Statements over the contributions: one row for each rule and prediction with evaluable groundings."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    argument,
    arguments,
    big,
    column,
    count_rows,
    create,
    equal,
    name,
    named,
    number,
    one_if,
    select,
    table,
    total,
    union_all,
)
from rulescore.sql.facts import ANSWER
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.keys import word
from rulescore.sql.predictions import Predictions

CONTRIBUTION = name("contribution")


def part_table(index: int) -> str:
    """The table of the counts that one statement found; several statements may add to one contribution."""
    return name(f"contribution_part_{index}")


def create_part(index: int, query: Select) -> exp.Create:
    return create(part_table(index), query)


def create_contributions(parts: Sequence[int]) -> exp.Create:
    rows = union_all([select("*").from_(table(part_table(index), "p")) for index in parts])
    sums = [named(big(total(column("u", c))), c) for c in COUNTS]
    query = select(column("u", "rule"), column("u", "prediction"), *sums).from_(rows.subquery("u"))
    return create(CONTRIBUTION, query.group_by(column("u", "rule"), column("u", "prediction")))


def _by_answer(query: Select) -> Select:
    joined = query.from_(table(CONTRIBUTION, "c"))
    return joined.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("c", "prediction")))


def model_totals() -> Select:
    """Counts per model and rule."""
    keys = [column("a", "model"), column("c", "rule")]
    query = select(*keys, *(named(total(column("c", alias)), alias) for alias in COUNTS))
    return _by_answer(query).group_by(*(key.copy() for key in keys))


HARD_RULES = name("hard_rule")
"""The numbers of the hard rules."""


def prediction_counts(sources: Sequence[Predictions]) -> Select:
    """By model and literal: how many predictions there are, how many have a contribution, violate a hard rule, violate any."""
    query = select(column("a", "model"), column("p", "literal"), named(count_rows(), "predictions"))
    query = query.select(named(exp.Count(this=column("s", "prediction")), "with_partner"))
    for flag in ("violating", "violating_any"):
        query = query.select(named(exp.Coalesce(this=total(column("s", flag)), expressions=[number(0)]), flag))
    query = query.from_(table(ANSWER, "a"))
    query = query.join(_literals(sources), on=equal(column("p", "prediction"), column("a", "prediction")))
    query = query.join(_judged(), on=equal(column("s", "prediction"), column("a", "prediction")), join_type="left")
    return query.group_by(column("a", "model"), column("p", "literal"))


def predicted_literals(sources: Sequence[Predictions], model: int) -> Select:
    """The literals of a model's predictions."""
    query = select(column("p", "literal")).distinct().from_(table(ANSWER, "a"))
    query = query.join(_literals(sources), on=equal(column("p", "prediction"), column("a", "prediction")))
    return query.where(equal(column("a", "model"), number(model)))


def _literals(sources: Sequence[Predictions]) -> exp.Expr:
    """The literal of every distinct prediction."""
    return union_all([one.literals() for one in sources]).subquery("p")


def _judged() -> exp.Expr:
    """Every prediction with a contribution, and whether it violates a hard rule, and any."""
    violates = exp.GT(this=column("c", "refuted"), expression=number(0))
    hard = exp.Not(this=exp.Is(this=column("h", "rule"), expression=exp.null()))
    flags = {"violating": all_of([violates.copy(), hard]), "violating_any": violates}
    query = select(column("c", "prediction"), *(named(exp.Max(this=one_if(found)), flag) for flag, found in flags.items()))
    query = query.from_(table(CONTRIBUTION, "c"))
    query = query.join(table(HARD_RULES, "h"), on=equal(column("h", "rule"), column("c", "rule")), join_type="left")
    return query.group_by(column("c", "prediction")).subquery("s")


def names_table(field: str) -> str:
    """The table that gives the names of models, rules or predicates by their numbers."""
    return name(f"{field}_names")


def described_contributions(sources: Sequence[Predictions], stride: int) -> Query:
    """The contributions of every model, with names instead of numbers: the rows of `Evaluation.contributions`."""
    return union_all([_described(one, stride) for one in sources])


def _described(source: Predictions, stride: int) -> Select:
    rows = _by_answer(select(column("a", "model"), column("c", "rule"), *_answer(), *(column("c", alias) for alias in COUNTS)))
    rows = source.with_keys(rows, column("c", "prediction"))
    query = select().from_(rows.subquery("d"))
    predicate = exp.IntDiv(this=column("d", "literal"), expression=number(stride))
    for field, number_of in (("model", column("d", "model")), ("rule", column("d", "rule")), ("predicate", predicate)):
        query = query.join(table(names_table(field), field), on=equal(column(field, "id"), number_of))
        query = query.select(named(column(field, "name"), field))
    words = exp.Array(expressions=[word(column("d", argument(i))) for i in range(source.arity)])
    return query.select(named(words, "arguments"), *(column("d", one) for one in (*_ANSWERED, *COUNTS)))


_ANSWERED = ("score", "rank", "query")


def _answer() -> list[exp.Expr]:
    return [column("a", field) for field in _ANSWERED]


def contributions() -> Select:
    """The contributions of every model."""
    keys = [column("a", "model"), column("c", "rule"), column("c", "prediction")]
    fields = [*_answer(), *(column("c", alias) for alias in COUNTS)]
    return _by_answer(select(*keys, *fields)).order_by(*(key.copy() for key in keys))


def contributing(source: Predictions) -> Select:
    """The predictions with a contribution: their numbers, their literals and their arguments in words."""
    numbers = select(column("c", "prediction")).distinct().from_(table(CONTRIBUTION, "c"))
    rows = source.with_keys(select(column("n", "prediction")).from_(numbers.subquery("n")), column("n", "prediction"))
    words = [named(word(column("d", one)), one) for one in arguments(source.arity)]
    return select(column("d", "prediction"), column("d", "literal"), *words).from_(rows.subquery("d"))
