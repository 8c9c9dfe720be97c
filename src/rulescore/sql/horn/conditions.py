"""Refutes heads by any condition. Each way to refute is a join that begins at the asked heads, the distinct heads of all claims.

The branches of a union find the heads that are refuted, by observed facts alone or with the prediction among the refuting atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.logic.normal import Bound, Free
from rulescore.logic.plan import ConditionShape, Group, Parameter, ShapeAtom, ShapeSlot
from rulescore.sql.horn.claims import (
    HornContext,
    body_table,
    dataset_groundings,
    fact_or_own,
    facts_or_predictions,
    head_argument,
    head_table,
    possible,
    rows,
    variable,
)
from rulescore.sql.horn.evidence import OPPOSES, claim_readings, count_judged, is_head
from rulescore.sql.names import argument, fact_table, name, prediction_table
from rulescore.sql.query import Query, Row, Select, alias, exists, row, same, select, union_all
from rulescore.sql.words import FALSE, Sql, any_of, count_rows, when


@dataclass(frozen=True, slots=True)
class ConditionSource:
    """A shape of refutations and the table that holds its rows: `head`, `l0` …, `c0` …"""

    shape: ConditionShape
    rows: str


def condition_table(group: int, index: int) -> str:
    return name(f"condition_{group}_{index}")


def opposition_source(arity: int) -> ConditionSource:
    """Incompatible and negative facts as a further shape: a literal that holds of the same tuple."""
    atom = ShapeAtom(tuple(Bound(i) for i in range(arity)))
    return ConditionSource(ConditionShape(arity, (atom,), (), (), arity), OPPOSES)


@dataclass(frozen=True, slots=True)
class AskedHeads:
    """The heads to judge: a table with `head`, `t0` …, and `prediction` if predictions take part.

    With `free`, the table names no prediction: the query finds the predictions that refute."""

    source: str
    predictions: bool
    free: bool = False
    extra: tuple[str, ...] = ()


def branches(source: ConditionSource, context: HornContext, asked: AskedHeads, *, instances: bool = False) -> list[Select]:
    """Queries that find refuted heads, one for facts alone and one for each atom that may be the first to be the prediction.

    `via` is 1 if the prediction is among the refuting atoms."""
    atoms = source.shape.atoms
    queries = []
    if not asked.free and all(atom.arity in context.fact_arities for atom in atoms):
        queries.append(_branch(source, context, asked, None, instances))
    if asked.predictions or asked.free:
        for first, own in enumerate(atoms):
            facts = all(atom.arity in context.fact_arities for atom in atoms[:first])
            known = context.fact_arities | context.prediction_arities
            if facts and own.arity in context.prediction_arities and all(atom.arity in known for atom in atoms[first:]):
                queries.append(_branch(source, context, asked, first, instances))
    return queries


def _branch(source: ConditionSource, context: HornContext, asked: AskedHeads, first: int | None, instances: bool) -> Select:
    shape = source.shape
    q, c, x = row(asked.source, "q"), row(source.rows, "c"), alias("x")
    columns = {i: q[head_argument(i)] for i in range(shape.arity)}
    query = select().from_(q).join(c, c.head == q.head)
    prediction = q.prediction if asked.predictions and not asked.free else None

    def value(slot: ShapeSlot) -> Sql:
        match slot:
            case Bound(index):
                return columns[index]
            case Parameter(index):
                return c[f"c{index}"]
            case Free():
                raise AssertionError("a free slot has no value")

    for index, atom in enumerate(shape.atoms):
        fact = alias(f"g{index}")
        on = [fact.literal == c[f"l{index}"]]
        for position, slot in enumerate(atom.slots):
            here = fact[argument(position)]
            if isinstance(slot, Bound) and slot.index not in columns:
                columns[slot.index] = here
            else:
                on.append(here == value(slot))
        joined = row(fact_table(atom.arity), f"g{index}")
        if index == first:
            joined = row(prediction_table(atom.arity), f"g{index}")
            if prediction is None:
                prediction = fact.prediction
            else:
                on.append(fact.prediction == prediction)
        elif first is not None and index > first and prediction is not None and atom.arity in context.prediction_arities:
            joined = facts_or_predictions(context, atom.arity).as_(f"g{index}")
            on.append(fact_or_own(fact, prediction))
        query = query.join(joined, *on)
    for test in shape.tests:
        left, right = value(test.left), value(test.right)
        query = query.where(left == right if test.equal else left != right)
    for index, atom in enumerate(shape.negated):
        bound = [(position, slot) for position, slot in enumerate(atom.slots) if not isinstance(slot, Free)]
        conditions = [x.literal == c[f"l{len(shape.atoms) + index}"]]
        conditions += [x[argument(position)] == value(slot) for position, slot in bound]
        if atom.arity in context.fact_arities:
            query = query.where(~exists(row(fact_table(atom.arity), "x"), *conditions))
        if prediction is not None and atom.arity in context.prediction_arities:
            own = row(prediction_table(atom.arity), "x")
            query = query.where(~exists(own, *conditions, x.prediction == prediction))
    kept = ["head", *(head_argument(i) for i in range(shape.arity)), *asked.extra]
    query = query.select(**{field: q[field] for field in kept})
    if prediction is not None:
        query = query.select(prediction=prediction)
    query = query.select(via=0 if first is None else 1)
    if instances:
        query = query.select(**{f"l{i}": c[f"l{i}"] for i in range(len(shape.atoms) + len(shape.negated))})
        query = query.select(**{f"x{i}": columns[i] for i in range(shape.arity, shape.variables)})
        query = query.select(**{f"c{i}": c[f"c{i}"] for i in range(_constants(shape))})
    return query


def _constants(shape: ConditionShape) -> int:
    slots = [slot for atom in (*shape.atoms, *shape.negated) for slot in atom.slots]
    slots += [slot for test in shape.tests for slot in (test.left, test.right)]
    return sum(1 for slot in slots if isinstance(slot, Parameter))


def asked_keys(arity: int, *, predictions: bool) -> list[str]:
    return ["head", *(head_argument(i) for i in range(arity)), *(["prediction"] if predictions else [])]


def refuted_heads(sources: Sequence[ConditionSource], context: HornContext, asked: AskedHeads, arity: int) -> Select | None:
    """Refuted heads, each once; `via` is 1 if the prediction can be among the refuting atoms. None if nothing can refute them."""
    queries: list[Query] = [branch for source in sources for branch in branches(source, context, asked)]
    if not queries:
        return None
    u = union_all(queries).as_("u")
    keys = u[asked_keys(arity, predictions=asked.predictions or asked.free)]
    return select(*keys, via=u.via.max()).from_(u).group_by(*keys)


def judged_claims(
    claims: Select,
    sources: Sequence[ConditionSource],
    context: HornContext,
    arity: int,
    *,
    predictions: bool,
    own: bool,
    selected: Sequence[str],
    keep: Sequence[str] | None = None,
) -> Select:
    """Claims with their two verdicts: the `selected` columns, `confirmed` and `refuted`."""
    k, f, r = row("claims", "k"), row(fact_table(arity), "f"), row("refuted", "r")
    keys = asked_keys(arity, predictions=predictions)
    query = select(*k[selected]).with_step("claims", claims).with_step("asked", select(*k[keys]).distinct().from_(k)).from_(k)
    confirmed: list[Sql] = []
    refuted = FALSE
    readings = claim_readings(context, arity) if own else []
    if arity in context.fact_arities:
        query = query.left_join(f, f.literal == k.head, *(f[argument(i)] == k[head_argument(i)] for i in range(arity)))
        confirmed.append(~f.literal.is_null())
    if readings:
        confirmed.append(is_head(readings))
    roles = {"head": is_head(readings), "refuter": FALSE}
    refuted_query = refuted_heads(sources, context, AskedHeads("asked", predictions), arity)
    if refuted_query is not None:
        query = query.with_step("refuted", refuted_query).left_join(r, *same(r, k, keys))
        refuted = ~r.head.is_null()
        roles["refuter"] = r.via == 1
    query = query.select(confirmed=when(any_of(*confirmed), 1, 0), refuted=when(refuted, 1, 0))
    return query.where(any_of(*(roles[role] for role in keep))) if keep is not None else query


def condition_counts(
    claims: Select,
    sources: Sequence[ConditionSource],
    context: HornContext,
    arity: int,
    *,
    predictions: bool,
    own: bool,
    keep: Sequence[str] | None = None,
) -> Select:
    """Counts per rule (and prediction) of a group whose heads can be refuted by any condition."""
    keys = ["rule", "prediction"] if predictions else ["rule"]
    judged = judged_claims(claims, sources, context, arity, predictions=predictions, own=own, selected=[*keys, "n"], keep=keep)
    return count_judged(judged, keys)


def refuter_claims(
    group: Group, number_of_group: int, context: HornContext, sources: Sequence[ConditionSource], *, keep: bool = False
) -> Select | None:
    """Claims in which the prediction is among the refuting atoms, and neither in the body nor the head itself.

    With `keep`, a row for each grounding with all its variables."""
    arity = len(group.shape.head or ())
    refuting = refuted_heads(sources, context, AskedHeads("asked", predictions=False, free=True), arity)
    if refuting is None or not possible(group, context, None):
        return None
    g, r = row("groundings", "g"), row("refuting", "r")
    h, b = row(head_table(number_of_group), "h"), row(body_table(number_of_group), "b")
    k = row("groundings", "k")
    keys = asked_keys(arity, predictions=False)
    fields = [*g[["rule", *keys]], *(g[variable(i)] for i in range(group.shape.variables) if keep), r.prediction]
    query = (
        select(*fields)
        .with_step("groundings", rows(dataset_groundings(group, number_of_group, context)))
        .with_step("asked", select(*k[keys]).distinct().from_(k))
        .with_step("refuting", refuting)
        .from_(g)
        .join(r, *same(r, g, keys))
        .join(h, h.rule == g.rule)
        .join(b, b.body == h.body)
    )
    for index, atom in enumerate((*group.shape.atoms, *group.shape.negated)):
        values = [_ground(slot, g, b) for slot in atom.slots]
        query = query.where(*_is_not_prediction(context, r, b[f"l{index}"], values))
    query = query.where(*_is_not_prediction(context, r, g.head, [g[head_argument(i)] for i in range(arity)]))
    return query if keep else query.select(n=count_rows()).group_by(*fields)


def _ground(slot: ShapeSlot, g: Row, b: Row) -> Sql | None:
    """The value of a slot of a grounding `g`; None if any value fits."""
    match slot:
        case Bound(index):
            return g[variable(index)]
        case Parameter(index):
            return b[f"c{index}"]
        case Free():
            return None


def _is_not_prediction(context: HornContext, r: Row, literal: Sql, values: Sequence[Sql | None]) -> list[Sql]:
    if len(values) not in context.prediction_arities:
        return []
    x = row(prediction_table(len(values)), "x")
    conditions = [x.prediction == r.prediction, x.literal == literal]
    conditions += [x[argument(i)] == value for i, value in enumerate(values) if value is not None]
    return [~exists(x, *conditions)]
