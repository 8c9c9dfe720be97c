"""Statements that list the groundings behind a count: the same claims, a row each, with the heads that are refuted.

The limit is applied inside; rows come in the order of their constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.logic.plan import Group, Judge
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    argument,
    arguments,
    candidate_table,
    column,
    count_rows,
    equal,
    exists,
    fact_table,
    name,
    named,
    negation,
    number,
    select,
    table,
    union_all,
)
from rulescore.sql.claims import Context, head_argument, variable
from rulescore.sql.conditions import Asked, ConditionSource, asked_keys, refuted_heads
from rulescore.sql.evidence import OPPOSES, read_alike_before
from rulescore.sql.loading import ANSWER, CONSTANT

LISTED = name("listed")
WANTED = name("wanted")


def row_columns(group: Group, *, predictions: bool) -> list[str]:
    head = [head_argument(i) for i in range(len(group.shape.head or ()))]
    variables = [variable(i) for i in range(group.shape.variables)]
    return [*(["prediction"] if predictions else []), "head", *head, *variables]


def definition_rows(
    parts: Sequence[tuple[str, Select]],
    group: Group,
    context: Context,
    sources: Sequence[ConditionSource],
    roles: frozenset[str],
    *,
    predictions: bool,
) -> Select | None:
    """Groundings whose head is refuted. `parts` are claims with all their variables, each with the role that it shows."""
    columns = row_columns(group, predictions=predictions)
    selected = [
        select(*(column("k", c) for c in columns), named(exp.Literal.string(role), "role")).from_(
            part.subquery(alias="k", copy=False)
        )
        for role, part in parts
    ]
    if not selected:
        return None
    query = select(*(column("g", c) for c in columns)).with_step("groundings", union_all(selected))
    query = query.from_(table("groundings", "g"))
    if group.judge is Judge.DENIAL:
        return query if "body" in roles or not predictions else None
    arity = len(group.shape.head or ())
    keys = asked_keys(arity, predictions=predictions)
    asked = select(*(column("g", k) for k in keys)).distinct().from_(table("groundings", "g"))
    refuted = refuted_heads(sources, context, Asked("asked", predictions), arity)
    if refuted is None:
        return None
    query = query.with_step("asked", asked).with_step("refuted", refuted)
    query = query.join(table("refuted", "r"), on=all_of(equal(column("r", k), column("g", k)) for k in keys))
    return query.where(_plays_a_role(context, arity, roles)) if predictions else query


def _plays_a_role(context: Context, arity: int, roles: frozenset[str]) -> exp.Expr:
    played: list[exp.Expr] = []
    if "body" in roles:
        played.append(equal(column("g", "role"), exp.Literal.string("body")))
    if "head" in roles and arity in context.candidate_arities:
        itself = [
            equal(column("x", "prediction"), column("g", "prediction")),
            equal(column("x", "literal"), column("g", "head")),
        ]
        itself += [equal(column("x", argument(i)), column("g", head_argument(i))) for i in range(arity)]
        played.append(exists(select(number(1)).from_(table(candidate_table(arity), "x")).where(*itself)))
    if "refuter" in roles:
        played.append(equal(column("r", "via"), number(1)))
    return any_of(played)


def appendix_rows(
    observed: Sequence[Select], refuters: Sequence[Select], group: Group, context: Context, *, predictions: bool
) -> Select | None:
    """Groundings with each fact that is incompatible with their head: an observed one, or the prediction itself."""
    columns = row_columns(group, predictions=predictions)
    arity = len(group.shape.head or ())
    parts: list[exp.Query] = []
    for claims in observed:
        part = select(*(column("m", c) for c in columns), named(column("o", "l0"), "opponent"))
        part = part.from_(claims.subquery(alias="m", copy=False))
        part = part.join(table(OPPOSES, "o"), on=equal(column("o", "head"), column("m", "head")))
        on = [equal(column("f", "literal"), column("o", "l0"))]
        on += [equal(column("f", argument(i)), column("m", head_argument(i))) for i in range(arity)]
        part = part.join(table(fact_table(arity), "f"), on=all_of(on))
        if context.ambiguous:
            values = [column("m", head_argument(i)) for i in range(arity)]
            part = part.where(negation(read_alike_before(context.orders_of(arity), context.stride, values)))
        parts.append(part)
    for claims in refuters:
        part = select(*(column("m", c) for c in columns), named(column("m", "own"), "opponent"))
        parts.append(part.from_(claims.subquery(alias="m", copy=False)))
    if not parts:
        return None
    return select(*(column("g", c) for c in [*columns, "opponent"])).from_(union_all(parts).subquery(alias="g", copy=False))


def restricted(rows: Select, *, model: int | None, prediction: int | None) -> Select:
    """Rows of one model, of one prediction, or both."""
    if model is not None:
        on = [equal(column("a", "prediction"), column("g", "prediction")), equal(column("a", "model"), number(model))]
        rows = rows.join(table(ANSWER, "a"), on=all_of(on))
    if prediction is not None:
        rows = rows.where(equal(column("g", "prediction"), number(prediction)))
    return rows


def limited(rows: Select, columns: Sequence[str], limit: int) -> Select:
    query = select(*(column("z", c) for c in columns)).from_(rows.subquery(alias="z", copy=False))
    return query.order_by(*(column("z", c) for c in columns)).limit(limit)


def counted(rows: Select) -> Select:
    return select(named(count_rows(), "n")).from_(rows.subquery(alias="z", copy=False))


def constants_by_id() -> Select:
    query = select(column("c", "id"), column("c", "key")).from_(table(CONSTANT, "c"))
    return query.join(table(WANTED, "w"), on=equal(column("w", "id"), column("c", "id")))


def prediction_number(literal: int, constants: Sequence[int]) -> Select:
    """The number of a predicted fact."""
    conditions = [equal(column("c", "literal"), number(literal))]
    conditions += [equal(column("c", argument(i)), number(value)) for i, value in enumerate(constants)]
    return select(column("c", "prediction")).from_(table(candidate_table(len(constants)), "c")).where(*conditions)


def predictions_by_number(arity: int, stride: int) -> Select:
    """The wanted predictions of one arity, as written."""
    fields = [column("c", c) for c in ("prediction", "literal", *arguments(arity))]
    as_written = equal(exp.Mod(this=column("c", "literal"), expression=number(stride)), number(0))
    query = select(*fields).from_(table(candidate_table(arity), "c"))
    return query.join(table(WANTED, "w"), on=all_of((equal(column("w", "id"), column("c", "prediction")), as_written)))
