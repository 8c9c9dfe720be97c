"""Statements over the contributions: one row for each rule and prediction with evaluable groundings."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.data.constants import MARKER
from rulescore.sql.build import (
    Select,
    argument,
    big,
    candidate_table,
    column,
    create,
    equal,
    name,
    named,
    number,
    select,
    table,
    total,
    union_all,
)
from rulescore.sql.evidence import COUNTS
from rulescore.sql.loading import ANSWER, CONSTANT

CONTRIBUTION = name("contribution")


def part_table(index: int) -> str:
    """Counts that one statement found; several statements may add to one contribution."""
    return name(f"contribution_part_{index}")


def create_part(index: int, query: Select) -> exp.Create:
    return create(part_table(index), query)


def create_contributions(parts: Sequence[int]) -> exp.Create:
    rows = union_all([select("*").from_(table(part_table(index), "p")) for index in parts])
    sums = [named(big(total(column("u", c))), c) for c in COUNTS]
    query = select(column("u", "rule"), column("u", "prediction"), *sums).from_(rows.subquery(alias="u", copy=False))
    return create(CONTRIBUTION, query.group_by(column("u", "rule"), column("u", "prediction")))


def _by_answer(query: Select) -> Select:
    joined = query.from_(table(CONTRIBUTION, "c"))
    return joined.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("c", "prediction")))


def model_totals() -> Select:
    """Counts per model and rule."""
    keys = [column("a", "model"), column("c", "rule")]
    query = select(*keys, *(named(total(column("c", alias)), alias) for alias in COUNTS))
    return _by_answer(query).group_by(*(key.copy() for key in keys))


def contributions() -> Select:
    """The contributions of every model."""
    keys = [column("a", "model"), column("c", "rule"), column("c", "prediction")]
    fields = [column("a", "score"), column("a", "rank"), *(column("c", alias) for alias in COUNTS)]
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


def word(key: exp.Expr) -> exp.Expr:
    """A constant as it is shown: its key without the mark of its type."""
    marked = exp.If(this=_is_marked(key), true=exp.func("substr", key.copy(), number(3)))
    return exp.Case(ifs=[marked], default=key.copy())


def _is_marked(key: exp.Expr) -> exp.Expr:
    return equal(exp.func("substr", key, number(1), number(1)), exp.Literal.string(MARKER))


def constant_types(source: str, position: int) -> Select:
    """The letters of types that occur at a position of each literal."""
    mark = type_letter(column("c", "key"))
    query = select(column("f", "literal"), named(mark, "mark")).distinct().from_(table(source, "f"))
    return query.join(table(CONSTANT, "c"), on=equal(column("c", "id"), column("f", argument(position))))


def types_in_use() -> Select:
    """The letters of all types of constants."""
    return select(named(type_letter(column("c", "key")), "mark")).distinct().from_(table(CONSTANT, "c"))


def type_letter(key: exp.Expr) -> exp.Expr:
    letter = exp.If(this=_is_marked(key), true=exp.func("substr", key.copy(), number(2), number(1)))
    return exp.Case(ifs=[letter], default=exp.Literal.string("s"))
