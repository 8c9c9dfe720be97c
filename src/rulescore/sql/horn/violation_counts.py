"""Statements that count the violations of many rules of Horn form at once, by what they have in common. The table VIOLATING holds
the groundings that we count by what refutes them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.horn.claims import variable
from rulescore.sql.horn.conditions import AskedHeads, ConditionSource, asked_keys, branches
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.listing import MODEL
from rulescore.sql.names import name
from rulescore.sql.query import Query, Row, Select, alias, row, same, select, union_all
from rulescore.sql.words import Sql, all_of, count_rows

VIOLATING = name("violating")
OF_OPPONENT, OF_LABEL = "opponent", "label"


def of_rule(rows: Select, rule: int) -> Select:
    return rows.where(alias("g").rule == rule)


def by_opponent(stride: int, *, models: bool) -> Select:
    """Groundings by the predicate of the fact against them, given as its first literal."""
    z = row(VIOLATING, "z")
    return _summed(z, _first_literal(z[OF_OPPONENT], stride), models=models)


def by_head(*, models: bool) -> Select:
    """Groundings of denials, whose heads are all alike."""
    z = row(VIOLATING, "z")
    return _summed(z, z.head, models=models)


def by_label(sources: Sequence[ConditionSource], context: HornContext, arity: int, *, models: bool) -> Select:
    """Groundings by the predicates that refute them, each given as its first literal. A head that no fact refutes is absent from a
    closed predicate: its label is -1 minus the literal of the head."""
    keys = asked_keys(arity, predictions=models)
    z, r = row(VIOLATING, "z"), row("reasons", "r")
    parts: list[Query] = []
    for source in sources:
        for index in range(len(source.shape.atoms) or 1):
            for branch in branches(source, context, AskedHeads("heads", models), instances=True):
                i = branch.as_("i")
                label = _first_literal(i[f"l{index}"], context.stride) if source.shape.atoms else -1 - i.head
                parts.append(select(*i[keys], label=label).from_(i))
    u = union_all(parts).as_("u")
    most = exp.Window(this=r.label.max().node, partition_by=[key.node for key in r[keys]])
    x = select(*r[keys], r.label, most=most).from_(r).as_("x")
    labelled = (
        select(x.label, *z[[MODEL] if models else []])
        .from_(z)
        .join(x, *same(x, z, keys))
        # The label of an absent fact counts only if the head has no other label.
        .where(~all_of(x.label < 0, ~(x.most < 0)))
        .as_("z")
    )
    summed = _summed(labelled, labelled.label, models=models)
    summed = summed.with_step("heads", select(*z[keys]).distinct().from_(z))
    return summed.with_step("reasons", select(*u[keys], u.label).distinct().from_(u))


def by_value(rows: Select, variables: int) -> Select:
    """How many groundings contain each constant."""
    z = row("violating", "z")
    parts: list[Query] = []
    for index in range(variables):
        earlier = (z[variable(index)] != z[variable(i)] for i in range(index))
        parts.append(select(id=z[variable(index)]).from_(z).where(*earlier))
    u = union_all(parts).as_("u")
    return select(u.id, n=count_rows()).with_step("violating", rows).from_(u).group_by(u.id)


def _summed(z: Row, label: Sql, *, models: bool) -> Select:
    model = z[[MODEL] if models else []]
    return select(label.named(OF_LABEL), *model, n=count_rows()).from_(z).group_by(label, *model)


def _first_literal(literal: Sql, stride: int) -> Sql:
    return literal - (literal % stride).paren()
