"""Statements that list the groundings behind a count: the same claims, a row each, with the heads that are refuted.

The limit is applied inside; rows come in the order of their constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.logic.plan import Group, Judge
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    argument,
    big,
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
from rulescore.sql.facts import ANSWER, CONSTANT
from rulescore.sql.horn.claims import head_argument, variable
from rulescore.sql.horn.conditions import AskedHeads, ConditionSource, asked_keys, refuted_heads
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.evidence import OPPOSES, read_alike_before
from rulescore.sql.predictions import Predictions
from rulescore.sql.results import CONTRIBUTION
from rulescore.sql.words import Sql

LISTED = name("listed")
WANTED = name("wanted")


def row_columns(group: Group, *, predictions: bool) -> list[str]:
    head = [head_argument(i) for i in range(len(group.shape.head or ()))]
    variables = [variable(i) for i in range(group.shape.variables)]
    return [*(["prediction"] if predictions else []), "head", *head, *variables]


def definition_rows(
    parts: Sequence[tuple[str, Select]],
    group: Group,
    context: HornContext,
    sources: Sequence[ConditionSource],
    roles: frozenset[str],
    columns: Sequence[str],
    *,
    predictions: bool,
) -> Select | None:
    """These columns of the groundings whose head is refuted. Each of `parts` has the columns, and the role that the prediction
    plays in it."""
    if not parts:
        return None
    query = _groundings(parts, columns)
    if group.judge is Judge.DENIAL:
        return query if "body" in roles or not predictions else None
    arity = len(group.shape.head or ())
    keys = asked_keys(arity, predictions=predictions)
    asked = select(*(column("g", k) for k in keys)).distinct().from_(table("groundings", "g"))
    refuted = refuted_heads(sources, context, AskedHeads("asked", predictions), arity)
    if refuted is None:
        return None
    query = query.with_step("asked", asked).with_step("refuted", refuted)
    query = query.join(table("refuted", "r"), on=all_of(equal(column("r", k), column("g", k)) for k in keys))
    return query.where(_plays_a_role(context, arity, roles)) if predictions else query


def _groundings(parts: Sequence[tuple[str, Select]], columns: Sequence[str]) -> Select:
    selected = [
        select(*(column("k", c) for c in columns), named(exp.Literal.string(role), "role")).from_(part.subquery("k"))
        for role, part in parts
    ]
    query = select(*(column("g", c) for c in columns)).with_step("groundings", union_all(selected))
    return query.from_(table("groundings", "g"))


def _plays_a_role(context: HornContext, arity: int, roles: frozenset[str]) -> exp.Expr:
    played: list[exp.Expr] = []
    if "body" in roles:
        played.append(equal(column("g", "role"), exp.Literal.string("body")))
    if "head" in roles:
        played.append(_is_predicted(context, arity))
    if "refuter" in roles:
        played.append(equal(column("r", "via"), number(1)))
    return any_of(played)


def _is_predicted(context: HornContext, arity: int) -> exp.Expr:
    """Whether the prediction of a grounding `g` is its head."""
    if arity not in context.candidate_arities:
        return exp.false()
    itself = _is_head("x", arity)
    itself.append(equal(column("x", "prediction"), column("g", "prediction")))
    return exists(select(number(1)).from_(table(candidate_table(arity), "x")).where(*itself))


def _is_observed(context: HornContext, arity: int) -> exp.Expr:
    """Whether the head of a grounding `g` is a fact."""
    if arity not in context.fact_arities:
        return exp.false()
    return exists(select(number(1)).from_(table(fact_table(arity), "f")).where(*_is_head("f", arity)))


def _is_head(alias: str, arity: int) -> list[exp.Expr]:
    same = [equal(column(alias, argument(i)), column("g", head_argument(i))) for i in range(arity)]
    return [equal(column(alias, "literal"), column("g", "head")), *same]


def confirmed_rows(
    parts: Sequence[tuple[str, Select]], group: Group, context: HornContext, roles: frozenset[str], *, predictions: bool
) -> Select | None:
    """Groundings whose head is confirmed: it is a fact, or the prediction. Groundings in which the prediction only refutes are left
    out."""
    if not parts or group.judge is Judge.DENIAL:
        return None
    arity = len(group.shape.head or ())
    query = _groundings(parts, row_columns(group, predictions=predictions))
    if not predictions:
        return query.where(_is_observed(context, arity))
    query = query.where(any_of([_is_observed(context, arity), _is_predicted(context, arity)]))
    return query.where(_plays_a_role(context, arity, roles - {"refuter"}))


def appendix_rows(
    observed: Sequence[Select], refuters: Sequence[Select], group: Group, context: HornContext, columns: Sequence[str]
) -> Select | None:
    """Groundings with each fact that is incompatible with their head: an observed one, or the prediction itself."""
    arity = len(group.shape.head or ())
    parts: list[Query] = []
    for claims in observed:
        part = select(*(column("m", c) for c in columns), named(column("o", "l0"), "opponent"))
        part = part.from_(claims.subquery("m"))
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
        parts.append(part.from_(claims.subquery("m")))
    if not parts:
        return None
    return select(*(column("g", c) for c in [*columns, "opponent"])).from_(union_all(parts).subquery("g"))


def confirmed_appendix_rows(
    observed: Sequence[Select], heads: Sequence[Select], group: Group, context: HornContext, columns: Sequence[str]
) -> Select | None:
    """Groundings whose head is a fact, or is the prediction itself."""
    arity = len(group.shape.head or ())
    parts: list[Query] = []
    for claims, condition in [*((one, [_is_observed(context, arity)]) for one in observed), *((one, []) for one in heads)]:
        part = select(*(column("g", c) for c in columns)).from_(claims.subquery("g"))
        parts.append(part.where(*condition))
    if not parts:
        return None
    return select(*(column("g", c) for c in columns)).from_(union_all(parts).subquery("g"))


OF_ANSWER = MODEL, SCORE, RANK = tuple(name(one) for one in ("model", "score", "rank"))


def restricted(rows: Select, *, models: Sequence[int], prediction: int | None) -> Select:
    """Rows of some models, with the number of each, its score and its rank; of one prediction if one is given."""
    among = exp.In(this=column("a", "model"), expressions=[number(one) for one in models])
    rows = rows.join(table(ANSWER, "a"), on=all_of([equal(column("a", "prediction"), big(column("g", "prediction"))), among]))
    rows = rows.select(*(named(column("a", one), field) for one, field in zip(("model", "score", "rank"), OF_ANSWER, strict=True)))
    return rows.where(equal(column("g", "prediction"), number(prediction))) if prediction is not None else rows


def chosen(rows: Select, columns: Sequence[str], further: Sequence[str], limit: int | None, seed: str | None) -> Select:
    """Rows in the order of their columns or, with a seed, in an order drawn by the seed, so that the first rows are a sample."""
    query = select(*(column("z", c) for c in (*columns, *further))).from_(rows.subquery("z"))
    order: list[exp.Expr] = [column("z", c) for c in columns]
    if seed is not None:
        words = [exp.Coalesce(this=exp.cast(one.copy(), "TEXT", copy=False), expressions=[exp.Literal.string("")]) for one in order]
        parts: list[exp.Expr] = [exp.Literal.string(f"{seed}|")]
        for word in words:
            parts += [word, exp.Literal.string("|")]
        drawn: exp.Expr = parts[0]
        for part in parts[1:]:
            drawn = exp.DPipe(this=drawn, expression=part)
        order = [exp.MD5(this=drawn), *order]
    query = query.order_by(*order) if order else query
    return query if limit is None else query.limit(limit)


def counted(rows: Select, *, by_model: bool) -> Select:
    """How many rows there are, or how many of each model."""
    query = select(named(count_rows(), "n")).from_(rows.subquery("z"))
    return query.select(column("z", MODEL)).group_by(column("z", MODEL)) if by_model else query


def refuted_counts(prediction: int | None) -> Select:
    """Violations of each rule and model, by the contributions: those of all predictions, or of one."""
    keys = [column("c", "rule"), column("a", "model")]
    query = select(*keys, named(big(exp.Sum(this=column("c", "refuted"))), "n")).from_(table(CONTRIBUTION, "c"))
    query = query.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("c", "prediction")))
    if prediction is not None:
        query = query.where(equal(column("c", "prediction"), number(prediction)))
    return query.group_by(*(key.copy() for key in keys))


def violating_predictions(models: Sequence[int], rules: Sequence[int]) -> Select:
    """Every prediction of these models that violates one of these rules, with the number of its violations."""
    keys = [column("a", "model"), column("c", "prediction"), column("a", "score"), column("a", "rank")]
    query = select(*keys, named(big(exp.Sum(this=column("c", "refuted"))), "n")).from_(table(CONTRIBUTION, "c"))
    query = query.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("c", "prediction")))
    among = [(column("a", "model"), models), (column("c", "rule"), rules)]
    query = query.where(*(exp.In(this=one, expressions=[number(n) for n in numbers]) for one, numbers in among))
    return query.where(exp.GT(this=column("c", "refuted"), expression=number(0))).group_by(*(key.copy() for key in keys))


def constants_by_id() -> Select:
    query = select(column("c", "id"), column("c", "key")).from_(table(CONSTANT, "c"))
    return query.join(table(WANTED, "w"), on=equal(column("w", "id"), column("c", "id")))


def wanted_predictions(source: Predictions) -> Select:
    """The wanted predictions of one source: their literals, and the keys of their arguments."""
    return source.with_keys(select(named(column("w", "id"), "prediction")).from_(table(WANTED, "w")), Sql(column("w", "id")))


def makers_of(prediction: int) -> Select:
    """The models that make a prediction."""
    return select(column("a", "model")).from_(table(ANSWER, "a")).where(equal(column("a", "prediction"), number(prediction)))


def contributions_of(prediction: int) -> Select:
    """What one prediction contributes to every rule."""
    fields = [column("c", one) for one in ("rule", "confirmed", "refuted", "evaluable")]
    return select(*fields).from_(table(CONTRIBUTION, "c")).where(equal(column("c", "prediction"), number(prediction)))
