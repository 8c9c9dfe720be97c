"""Refutation by any condition: each way to refute is a join from the asked heads, the distinct heads of all claims.

The branches of a union find the heads that are refuted, by observed facts alone or with the prediction among the refuting atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.logic.plan import Bound, ConditionShape, Free, Group, Parameter, ShapeAtom, ShapeSlot
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    argument,
    candidate_table,
    column,
    count_rows,
    different,
    equal,
    exists,
    fact_table,
    name,
    named,
    negation,
    number,
    one_if,
    select,
    table,
    union_all,
)
from rulescore.sql.horn.claims import (
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
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.evidence import OPPOSES, claim_readings, count_judged, is_found, is_head


@dataclass(frozen=True, slots=True)
class ConditionSource:
    """A shape of refutations and the table that holds its rows: `head`, `l0` …, `c0` …"""

    shape: ConditionShape
    rows: str


def condition_table(group: int, index: int) -> str:
    return name(f"condition_{group}_{index}")


def opposition_source(arity: int) -> ConditionSource:
    """Incompatible and negative facts, as one more shape: a literal that holds of the same tuple."""
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
    found = []
    if not asked.free and all(atom.arity in context.fact_arities for atom in atoms):
        found.append(_branch(source, context, asked, None, instances))
    if asked.predictions or asked.free:
        for first, own in enumerate(atoms):
            facts = all(atom.arity in context.fact_arities for atom in atoms[:first])
            known = context.fact_arities | context.candidate_arities
            if facts and own.arity in context.candidate_arities and all(atom.arity in known for atom in atoms[first:]):
                found.append(_branch(source, context, asked, first, instances))
    return found


def _branch(source: ConditionSource, context: HornContext, asked: AskedHeads, first: int | None, instances: bool) -> Select:
    shape = source.shape
    columns: dict[int, exp.Expr] = {i: column("q", head_argument(i)) for i in range(shape.arity)}
    query = select().from_(table(asked.source, "q"))
    query = query.join(table(source.rows, "c"), on=equal(column("c", "head"), column("q", "head")))
    prediction: exp.Expr | None = column("q", "prediction") if asked.predictions and not asked.free else None

    def value(slot: ShapeSlot) -> exp.Expr:
        match slot:
            case Bound(index):
                return columns[index].copy()
            case Parameter(index):
                return column("c", f"c{index}")
            case Free():
                raise AssertionError("a free slot has no value")

    for index, atom in enumerate(shape.atoms):
        alias = f"g{index}"
        on = [equal(column(alias, "literal"), column("c", f"l{index}"))]
        for position, slot in enumerate(atom.slots):
            here = column(alias, argument(position))
            if isinstance(slot, Bound) and slot.index not in columns:
                columns[slot.index] = here
            else:
                on.append(equal(here, value(slot)))
        joined: exp.Expr = table(fact_table(atom.arity), alias)
        if index == first:
            joined = table(candidate_table(atom.arity), alias)
            if prediction is None:
                prediction = column(alias, "prediction")
            else:
                on.append(equal(column(alias, "prediction"), prediction.copy()))
        elif first is not None and index > first and prediction is not None and atom.arity in context.candidate_arities:
            joined = facts_or_predictions(context, atom.arity).subquery(alias)
            on.append(fact_or_own(alias, prediction.copy()))
        query = query.join(joined, on=all_of(on))
    for test in shape.tests:
        compare = equal if test.equal else different
        query = query.where(compare(value(test.left), value(test.right)))
    for index, atom in enumerate(shape.negated):
        literal = column("c", f"l{len(shape.atoms) + index}")
        conditions = [equal(column("x", "literal"), literal)]
        conditions += [
            equal(column("x", argument(p)), value(slot)) for p, slot in enumerate(atom.slots) if not isinstance(slot, Free)
        ]
        if atom.arity in context.fact_arities:
            facts = select(number(1)).from_(table(fact_table(atom.arity), "x"))
            query = query.where(negation(exists(facts.where(*(c.copy() for c in conditions)))))
        if prediction is not None and atom.arity in context.candidate_arities:
            owned = select(number(1)).from_(table(candidate_table(atom.arity), "x"))
            owned = owned.where(*conditions, equal(column("x", "prediction"), prediction.copy()))
            query = query.where(negation(exists(owned)))
    selected = [named(column("q", "head"), "head")]
    selected += [named(column("q", head_argument(i)), head_argument(i)) for i in range(shape.arity)]
    selected += [named(column("q", extra), extra) for extra in asked.extra]
    if prediction is not None:
        selected.append(named(prediction.copy(), "prediction"))
    selected.append(named(number(0 if first is None else 1), "via"))
    if instances:
        selected += [named(column("c", f"l{i}"), f"l{i}") for i in range(len(shape.atoms) + len(shape.negated))]
        selected += [named(columns[i].copy(), f"x{i}") for i in range(shape.arity, shape.variables)]
        selected += [named(column("c", f"c{i}"), f"c{i}") for i in range(_constants(shape))]
    return query.select(*selected)


def _constants(shape: ConditionShape) -> int:
    slots = [slot for atom in (*shape.atoms, *shape.negated) for slot in atom.slots]
    slots += [slot for test in shape.tests for slot in (test.left, test.right)]
    return sum(1 for slot in slots if isinstance(slot, Parameter))


def asked_keys(arity: int, *, predictions: bool) -> list[str]:
    return ["head", *(head_argument(i) for i in range(arity)), *(["prediction"] if predictions else [])]


def refuted_heads(sources: Sequence[ConditionSource], context: HornContext, asked: AskedHeads, arity: int) -> Select | None:
    """Refuted heads, each once; `via` is 1 if the prediction can be among the refuting atoms. None if nothing can refute them."""
    found: list[Query] = [branch for source in sources for branch in branches(source, context, asked)]
    if not found:
        return None
    keys = asked_keys(arity, predictions=asked.predictions or asked.free)
    return (
        select(*(column("u", k) for k in keys), named(exp.Max(this=column("u", "via")), "via"))
        .from_(union_all(found).subquery("u"))
        .group_by(*(column("u", k) for k in keys))
    )


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
    """Claims with their two answers: the `selected` columns, `confirmed` and `refuted`."""
    keys = asked_keys(arity, predictions=predictions)
    asked = select(*(column("k", k) for k in keys)).distinct().from_(table("claims", "k"))
    query = select(*(column("k", c) for c in selected)).with_step("claims", claims).with_step("asked", asked)
    query = query.from_(table("claims", "k"))
    confirmed: list[exp.Expr] = []
    refuted: exp.Expr = exp.false()
    readings = claim_readings(context, arity) if own else []
    if arity in context.fact_arities:
        on = [equal(column("f", "literal"), column("k", "head"))]
        on += [equal(column("f", argument(i)), column("k", head_argument(i))) for i in range(arity)]
        query = query.join(table(fact_table(arity), "f"), on=all_of(on), join_type="left")
        confirmed.append(is_found("f", "literal"))
    if readings:
        confirmed.append(is_head(readings))
    roles: dict[str, exp.Expr] = {"head": is_head(readings), "refuter": exp.false()}
    refuted_query = refuted_heads(sources, context, AskedHeads("asked", predictions), arity)
    if refuted_query is not None:
        query = query.with_step("refuted", refuted_query)
        on = [equal(column("r", key), column("k", key)) for key in keys]
        query = query.join(table("refuted", "r"), on=all_of(on), join_type="left")
        refuted = is_found("r", "head")
        roles["refuter"] = equal(column("r", "via"), number(1))
    query = query.select(named(one_if(any_of(confirmed)), "confirmed"), named(one_if(refuted), "refuted"))
    return query.where(any_of(roles[role] for role in keep)) if keep is not None else query


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
    groundings = rows(dataset_groundings(group, number_of_group, context))
    keys = asked_keys(arity, predictions=False)
    asked = select(*(column("k", k) for k in keys)).distinct().from_(table("groundings", "k"))
    fields = ["rule", *keys, *([variable(i) for i in range(group.shape.variables)] if keep else [])]
    query = (
        select(*(column("g", c) for c in fields), column("r", "prediction"))
        .with_step("groundings", groundings)
        .with_step("asked", asked)
        .with_step("refuting", refuting)
        .from_(table("groundings", "g"))
        .join(table("refuting", "r"), on=all_of(equal(column("r", k), column("g", k)) for k in keys))
        .join(table(head_table(number_of_group), "h"), on=equal(column("h", "rule"), column("g", "rule")))
        .join(table(body_table(number_of_group), "b"), on=equal(column("b", "body"), column("h", "body")))
    )
    for index, atom in enumerate((*group.shape.atoms, *group.shape.negated)):
        query = query.where(*_is_not_prediction(context, column("b", f"l{index}"), [_ground(slot) for slot in atom.slots]))
    own_head = [column("g", head_argument(i)) for i in range(arity)]
    query = query.where(*_is_not_prediction(context, column("g", "head"), own_head))
    if keep:
        return query
    return query.select(named(count_rows(), "n")).group_by(*(column("g", c) for c in fields), column("r", "prediction"))


def _ground(slot: ShapeSlot) -> exp.Expr | None:
    """The value of a slot of a grounding; None if any value fits."""
    match slot:
        case Bound(index):
            return column("g", variable(index))
        case Parameter(index):
            return column("b", f"c{index}")
        case Free():
            return None


def _is_not_prediction(context: HornContext, literal: exp.Expr, values: Sequence[exp.Expr | None]) -> list[exp.Expr]:
    if len(values) not in context.candidate_arities:
        return []
    conditions = [equal(column("x", "prediction"), column("r", "prediction")), equal(column("x", "literal"), literal)]
    conditions += [equal(column("x", argument(i)), value) for i, value in enumerate(values) if value is not None]
    return [negation(exists(select(number(1)).from_(table(candidate_table(len(values)), "x")).where(*conditions)))]
