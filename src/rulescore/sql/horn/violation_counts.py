"""Statements that count the violations of many rules of Horn form at once, by what they have in common. The table VIOLATING holds
the groundings that we count by what refutes them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    column,
    count_rows,
    different,
    equal,
    name,
    named,
    negation,
    number,
    select,
    table,
    union_all,
)
from rulescore.sql.horn.claims import variable
from rulescore.sql.horn.conditions import AskedHeads, ConditionSource, asked_keys, branches
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.listing import MODEL

VIOLATING = name("violating")
OF_OPPONENT, OF_LABEL = "opponent", "label"


def of_rule(rows: Select, rule: int) -> Select:
    return rows.where(equal(column("g", "rule"), number(rule)))


def by_opponent(stride: int, *, models: bool) -> Select:
    """Groundings by the predicate of the fact against them, given as its first literal."""
    return _summed(table(VIOLATING, "z"), _first_literal(column("z", OF_OPPONENT), stride), models=models)


def by_head(*, models: bool) -> Select:
    """Groundings of denials, whose heads are all alike."""
    return _summed(table(VIOLATING, "z"), column("z", "head"), models=models)


def by_label(sources: Sequence[ConditionSource], context: HornContext, arity: int, *, models: bool) -> Select:
    """Groundings by the predicates that refute them, each given as its first literal. A head that no fact refutes is absent from a
    closed predicate: its label is -1 minus the literal of the head."""
    keys = asked_keys(arity, predictions=models)
    heads = select(*(column("z", key) for key in keys)).distinct().from_(table(VIOLATING, "z"))
    asked = AskedHeads("heads", models)
    parts: list[Query] = []
    for source in sources:
        for index in range(len(source.shape.atoms) or 1):
            for branch in branches(source, context, asked, instances=True):
                label = (
                    _first_literal(column("i", f"l{index}"), context.stride) if source.shape.atoms else _closed(column("i", "head"))
                )
                part = select(*(column("i", key) for key in keys), named(label, OF_LABEL))
                parts.append(part.from_(branch.subquery("i")))
    found = [*keys, OF_LABEL]
    reasons = select(*(column("u", one) for one in found)).distinct().from_(union_all(parts).subquery("u"))
    most = exp.Window(this=exp.Max(this=column("r", OF_LABEL)), partition_by=[column("r", key) for key in keys])
    ranked = select(*(column("r", one) for one in found), named(most, "most")).from_(table("reasons", "r"))
    labelled = (
        select(column("x", OF_LABEL), *([column("z", MODEL)] if models else []))
        .from_(table(VIOLATING, "z"))
        .join(ranked.subquery("x"), on=all_of(equal(column("x", key), column("z", key)) for key in keys))
        # The label of an absent fact counts only if the head has no other label.
        .where(negation(all_of((_negative(column("x", OF_LABEL)), negation(_negative(column("x", "most")))))))
    )
    summed = _summed(labelled.subquery("z"), column("z", OF_LABEL), models=models)
    return summed.with_step("heads", heads).with_step("reasons", reasons)


def by_value(rows: Select, variables: int) -> Select:
    """How many groundings contain each constant."""
    parts: list[Query] = []
    for index in range(variables):
        here = column("z", variable(index))
        earlier = [different(here.copy(), column("z", variable(i))) for i in range(index)]
        parts.append(select(named(here, "id")).from_(table("violating", "z")).where(*earlier))
    query = select(column("u", "id"), named(count_rows(), "n")).with_step("violating", rows)
    return query.from_(union_all(parts).subquery("u")).group_by(column("u", "id"))


def _summed(rows: exp.Expr, label: exp.Expr, *, models: bool) -> Select:
    keys = [named(label, OF_LABEL), *([column("z", MODEL)] if models else [])]
    query = select(*keys, named(count_rows(), "n")).from_(rows)
    return query.group_by(label.copy(), *([column("z", MODEL)] if models else []))


def _first_literal(literal: exp.Expr, stride: int) -> exp.Expr:
    return exp.Sub(this=literal, expression=exp.Paren(this=exp.Mod(this=literal.copy(), expression=number(stride))))


def _closed(head: exp.Expr) -> exp.Expr:
    return exp.Sub(this=number(-1), expression=head)


def _negative(value: exp.Expr) -> exp.Expr:
    return exp.LT(this=value, expression=number(0))
