"""Statements over the contributions: one row for each rule and prediction with evaluable groundings."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    argument,
    big,
    candidate_table,
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
from rulescore.sql.facts import ANSWER, CONSTANT
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.keys import word

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


def prediction_counts(arities: Sequence[int], stride: int) -> Select:
    """By model and literal: how many predictions there are, how many have a contribution, violate a hard rule, violate any."""
    facts = union_all([_literals(arity, stride) for arity in arities]).subquery("p")
    query = select(column("a", "model"), column("p", "literal"), named(count_rows(), "predictions"))
    query = query.select(named(exp.Count(this=column("s", "prediction")), "with_partner"))
    for flag in ("violating", "violating_any"):
        query = query.select(named(exp.Coalesce(this=total(column("s", flag)), expressions=[number(0)]), flag))
    query = query.from_(table(ANSWER, "a")).join(facts, on=equal(column("p", "prediction"), column("a", "prediction")))
    query = query.join(_judged(), on=equal(column("s", "prediction"), column("a", "prediction")), join_type="left")
    return query.group_by(column("a", "model"), column("p", "literal"))


def predicted_literals(arities: Sequence[int], stride: int, model: int) -> Select:
    """The literals of a model's predictions."""
    facts = union_all([_literals(arity, stride) for arity in arities]).subquery("p")
    query = select(column("p", "literal")).distinct().from_(table(ANSWER, "a"))
    query = query.join(facts, on=equal(column("p", "prediction"), column("a", "prediction")))
    return query.where(equal(column("a", "model"), number(model)))


def _literals(arity: int, stride: int) -> Select:
    """The literal of every distinct prediction of one arity, as it was read."""
    query = select(column("l", "prediction"), column("l", "literal")).from_(table(candidate_table(arity), "l"))
    return query.where(equal(exp.Mod(this=column("l", "literal"), expression=number(stride)), number(0)))


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


def described_contributions(arities: Sequence[int], stride: int) -> Query:
    """The contributions of every model, with names instead of numbers: the rows of `Evaluation.contributions`."""
    return union_all([_described(arity, stride) for arity in arities])


def _described(arity: int, stride: int) -> Select:
    counts = [column("c", alias) for alias in COUNTS]
    words = [word(column(f"c{i}", "key")) for i in range(arity)]
    query = _by_answer(select()).join(
        table(candidate_table(arity), "p"), on=equal(column("p", "prediction"), column("c", "prediction"))
    )
    predicate = exp.IntDiv(this=column("p", "literal"), expression=number(stride))
    for field, number_of in (("model", column("a", "model")), ("rule", column("c", "rule")), ("predicate", predicate)):
        query = query.join(table(names_table(field), field), on=equal(column(field, "id"), number_of))
        query = query.select(named(column(field, "name"), field))
    for i in range(arity):
        query = query.join(table(CONSTANT, f"c{i}"), on=equal(column(f"c{i}", "id"), column("p", argument(i))))
    query = query.select(named(exp.Array(expressions=words), "arguments"), *_answer(), *counts)
    return query.where(equal(exp.Mod(this=column("p", "literal"), expression=number(stride)), number(0)))


def _answer() -> list[exp.Expr]:
    return [column("a", field) for field in ("score", "rank", "query")]


def contributions() -> Select:
    """The contributions of every model."""
    keys = [column("a", "model"), column("c", "rule"), column("c", "prediction")]
    fields = [*_answer(), *(column("c", alias) for alias in COUNTS)]
    return _by_answer(select(*keys, *fields)).order_by(*(key.copy() for key in keys))


def predictions(arity: int, stride: int) -> Select:
    """Distinct predictions of one arity in the order of their numbers: their literal and their arguments in words."""
    query = select(column("p", "literal")).from_(table(candidate_table(arity), "p"))
    for i in range(arity):
        alias = f"c{i}"
        query = query.join(table(CONSTANT, alias), on=equal(column(alias, "id"), column("p", argument(i))))
        query = query.select(named(word(column(alias, "key")), argument(i)))
    query = query.where(equal(exp.Mod(this=column("p", "literal"), expression=number(stride)), number(0)))
    return query.order_by(column("p", "prediction"))
