"""Counts of predictions in chains, by the paths on either side of them, many rules at once.

A prediction that fills atoms of a chain leaves a *half* on each side: the atoms from its end to the head's argument. We walk a
half, all atoms but the last, once from each constant at which predictions end, however many predictions and bodies share it. The
half with fewer paths gives us one argument of the head; then we either follow the paths of the other half and look up the evidence
or, if fewer tuples carry evidence, follow those tuples and look up the other half. If the prediction is the head, we know both
arguments: its one half is the whole chain, from the end that has fewer paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    candidate_table,
    column,
    count_rows,
    create,
    different,
    equal,
    fact_table,
    named,
    negation,
    number,
    product,
    select,
    table,
    total,
    tuple_table,
    union_all,
)
from rulescore.sql.horn.chains import EVIDENCE, Piece
from rulescore.sql.horn.claims import flipped, head_table, own_readings
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.evidence import plain_counts, prediction_counts, weighed
from rulescore.sql.horn.halves import (
    NOTHING,
    chosen,
    chosen_heads,
    columns,
    either,
    grouped,
    half_table,
    has,
    jump_table,
    part_table,
    placed,
    placed_heads,
    same,
    singles,
    span_table,
)
from rulescore.sql.horn.signatures import INVERSE

_FACT = fact_table(2)
_TUPLE = tuple_table(2)
_CANDIDATE = candidate_table(2)


def _walked(query: Select, group: int, ends: Query, depth: int, *, distinct: bool) -> Select:
    """Add the step `walk`: the halves from their ends, all atoms but the last. Paths keep the constants they passed if variables
    must be distinct."""
    query = query.with_step("ends", select(*columns("e", "half", "c")).distinct().from_(ends.subquery("e")))
    passed = _passed(depth, distinct=distinct)
    c = column("e", "c")
    standing = select(column("h", "start"), named(c, "c"), named(c.copy(), "b"), named(number(1), "n")).distinct()
    standing = standing.select(*(named(number(NOTHING), field) for field in passed))
    standing = standing.from_(table("ends", "e")).join(table(half_table(group), "h"), on=all_of(same("h", "e", "half")))
    levels: list[Query] = [standing.where(has("h", "length", 1))]
    for index in range(1, depth + 1):
        query = query.with_step(f"walked_{index}", _further(group, index, distinct=distinct))
        level = select(*columns("w", "start", "c", "b", "n")).from_(table(f"walked_{index}", "w"))
        own = _passed(index, distinct=distinct)
        level = level.select(*(column("w", field) if field in own else named(number(NOTHING), field) for field in passed))
        levels.append(level)
    return query.with_step("walk", union_all(levels))


def _passed(depth: int, *, distinct: bool) -> list[str]:
    """The columns for the constants that a path of that many atoms passed between its ends."""
    return [f"p{index}" for index in range(1, depth)] if distinct else []


def _further(group: int, index: int, *, distinct: bool) -> Select:
    """The paths of every start, one atom longer."""
    needed = select(*columns("p", "start", "parent", "literal"), column("e", "c")).distinct().from_(table("ends", "e"))
    on = all_of([*same("p", "e", "half"), has("p", "depth", index)])
    needed = needed.join(table(part_table(group), "p"), on=on)
    query = select().from_(needed.subquery("n"))
    here, n = column("n", "c"), count_rows()
    if index > 1:
        walked = [equal(column("w", "start"), column("n", "parent")), *same("w", "n", "c")]
        query = query.join(table(f"walked_{index - 1}", "w"), on=all_of(walked))
        here, n = column("w", "b"), total(column("w", "n"))
    query = query.join(table(_FACT, "f"), on=all_of([*same("f", "n", "literal"), equal(column("f", "a0"), here)]))
    fields = {"start": column("n", "start"), "c": column("n", "c"), "b": column("f", "a1")}
    if not distinct:
        return grouped(query, fields, n)
    kept = {f"p{i}": column("w", f"p{i}") for i in range(1, index - 1)} | ({f"p{index - 1}": here.copy()} if index > 1 else {})
    query = query.where(*(different(column("f", "a1"), value.copy()) for value in (column("n", "c"), *kept.values())))
    return query.select(*(named(value, field) for field, value in (fields | {"n": number(1)} | kept).items()))


@dataclass(frozen=True, slots=True)
class _Apart:
    """Which columns hold the constants of a path, if variables must be distinct: of a walk, and of the near half."""

    passed: Sequence[str]
    near: Sequence[str]

    def walk(self) -> list[exp.Expr]:
        return columns("w", "c", "b", *self.passed)

    def far_half(self, y: exp.Expr) -> list[exp.Expr]:
        """The far half ends at none of its own constants."""
        return _apart([y], self.walk())

    def halves(self, alias: str, y: exp.Expr) -> list[exp.Expr]:
        """The far half repeats no constant, neither its own nor one of the near half."""
        return [*self.far_half(y), *_apart(columns(alias, "x", *self.near), [y, *self.walk()])]


def _apart(left: Sequence[exp.Expr], right: Sequence[exp.Expr]) -> list[exp.Expr]:
    def differ(one: exp.Expr, other: exp.Expr) -> exp.Expr:
        nothing = (equal(side.copy(), number(NOTHING)) for side in (one, other))
        return any_of((different(one.copy(), other.copy()), *nothing))

    return [differ(one, other) for one in left for other in right]


def _keeping_apart(depth: int, context: HornContext) -> _Apart | None:
    if not context.distinct_variables:
        return None
    passed = _passed(depth, distinct=True)
    return _Apart(passed, [f"q{index}" for index in range(len(passed) + 2)])


_REACHED = ("prediction", "observed", "body", "turned", "far", "far_end", "far_n")


def _reached(group: int, apart: _Apart | None) -> Select:
    """The near half to its end `x`, one argument of the head; `onward` says whether the far half has fewer paths than there are
    tuples that carry evidence."""
    kept = apart.near if apart else ()
    ended = select(*columns("p", *_REACHED), named(column("p", "near_end"), "x"), column("p", "n")).from_(table("chosen", "p"))
    ended = ended.where(has("p", "near", NOTHING)).select(*(named(number(NOTHING), field) for field in kept))
    walked = [*same("w", "h", "start"), equal(column("w", "c"), column("p", "near_end"))]
    last = [*same("f", "h", "literal"), equal(column("f", "a0"), column("w", "b"))]
    going = (
        select()
        .from_(table("chosen", "p"))
        .join(table(half_table(group), "h"), on=equal(column("h", "half"), column("p", "near")))
        .join(table("walk", "w"), on=all_of(walked))
        .join(table(_FACT, "f"), on=all_of(last))
    )
    fields = {field: column("p", field) for field in _REACHED} | {"x": column("f", "a1")}
    if apart:
        going = going.where(*apart.far_half(column("f", "a1")))
        going = going.select(*(named(value, field) for field, value in (fields | {"n": column("p", "n")}).items()))
        going = going.select(*(named(value, field) for value, field in zip(apart.walk(), kept, strict=True)))
    else:
        going = grouped(going, fields, total(product(column("p", "n"), column("w", "n"))))
    reach = exp.Coalesce(this=column("r", "n"), expressions=[number(0)])
    onward = named(exp.LTE(this=column("z", "far_n"), expression=reach), "onward")
    query = select(*columns("z", *_REACHED, "x", "n", *kept), onward)
    query = query.from_(union_all([ended, going]).subquery("z"))
    return query.join(table(EVIDENCE.reach, "r"), on=equal(column("r", "a0"), column("z", "x")), join_type="left")


def _is_straight(alias: str, stride: int) -> exp.Expr:
    return equal(exp.Mod(this=column(alias, "literal"), expression=number(stride)), number(0))


def _met(source: str, alias: str, y: exp.Expr, n: exp.Expr) -> Select:
    query = select(*columns(alias, "prediction", "observed", "body", "turned", "x"), named(y, "y"), column("t", "signature"))
    return query.select(named(n, "n")).from_(table(source, alias))


def _has_signature() -> exp.Expr:
    return exp.GT(this=column("t", "signature"), expression=number(0))


def _by_far_half(group: int, apart: _Apart | None) -> Select:
    y = column("f", "a1")
    walked = [*same("w", "h", "start"), equal(column("w", "c"), column("z", "far_end"))]
    last = [*same("f", "h", "literal"), equal(column("f", "a0"), column("w", "b"))]
    evidence = [equal(column("t", "a0"), column("z", "x")), equal(column("t", "a1"), y.copy()), _has_signature()]
    return (
        _met("reached", "z", y, product(column("z", "n"), column("w", "n")))
        .join(table(half_table(group), "h"), on=equal(column("h", "half"), column("z", "far")))
        .join(table("walk", "w"), on=all_of(walked))
        .join(table(_FACT, "f"), on=all_of(last))
        .join(table(_TUPLE, "t"), on=all_of(evidence))
        .where(column("z", "onward"), *(apart.halves("z", y.copy()) if apart else ()))
    )


def _wanted(context: HornContext, apart: _Apart | None) -> Query:
    """Possible tuples of the head, given one argument: the tuples that carry evidence and the prediction's own tuple, if no fact
    holds of that."""
    kept = ("far", "far_end", *(apart.near if apart else ()))
    query = _met("reached", "z", column("t", "a1"), column("z", "n")).select(*columns("z", *kept))
    evidence = all_of((equal(column("t", "a0"), column("z", "x")), _has_signature()))
    by_facts = query.join(table(_TUPLE, "t"), on=evidence).where(exp.Not(this=column("z", "onward")))
    if context.appendix:
        return by_facts
    query = _met("reached", "z", column("t", "a1"), column("z", "n")).select(*columns("z", *kept))
    once = any_of((different(column("c", "a0"), column("c", "a1")), _is_straight("c", context.stride)))
    own = [*same("c", "z", "prediction"), equal(column("c", "a0"), column("z", "x")), once]
    by_itself = query.join(table(_CANDIDATE, "c"), on=all_of(own))
    by_itself = by_itself.join(table(_TUPLE, "t"), on=all_of([*same("t", "c", "a0", "a1"), has("t", "signature", 0)]))
    return union_all([by_facts, by_itself])


def _found(group: int, apart: _Apart | None) -> Select:
    """The number of paths of the far half between each wanted pair of constants."""
    asked = select(*columns("a", "far", "far_end", "y")).distinct().from_(table("wanted", "a"))
    query = _backwards(select().from_(asked.subquery("a")), group)
    query = query.where(*(apart.far_half(column("a", "y")) if apart else ()))
    return grouped(query, {field: column("a", field) for field in ("far", "far_end", "y")}, total(column("w", "n")))


def _backwards(query: Select, group: int) -> Select:
    """Join the last atom of the far half, read from its end, and the walk before it."""
    last = [equal(column("f", "literal"), column("h", "back")), equal(column("f", "a0"), column("a", "y"))]
    walked = [
        *same("w", "h", "start"),
        equal(column("w", "c"), column("a", "far_end")),
        equal(column("w", "b"), column("f", "a1")),
    ]
    query = query.join(table(half_table(group), "h"), on=equal(column("h", "half"), column("a", "far")))
    return query.join(table(_FACT, "f"), on=all_of(last)).join(table("walk", "w"), on=all_of(walked))


def _by_evidence(group: int, apart: _Apart | None) -> Select:
    fields = ("prediction", "observed", "body", "turned", "x", "y", "signature")
    query = select(*columns("a", *fields)).from_(table("wanted", "a"))
    if apart:
        return _backwards(query.select(column("a", "n")), group).where(*apart.halves("a", column("a", "y")))
    return _with_found(query.select(named(product(column("a", "n"), column("g", "n")), "n")))


def _with_found(query: Select) -> Select:
    return query.join(table("found", "g"), on=all_of(same("g", "a", "far", "far_end", "y")))


def create_spans(group: int, length: int, most: int, *, distinct: bool) -> exp.Create:
    """The spans of predictions that fill up to `most` atoms: one, or from each that they fill by a jump to the next.

    Between jumps we walk over the data. If the prediction is a fact itself, these walks may use it, too; jumps that count less than
    nothing then take off what spans with fewer jumps counted."""
    single = singles(group, distinct=distinct)
    if most == 1:
        return create(span_table(group), single)
    query = select().with_step("wanted", _jumps(group))
    query = _walked(query, group, _far_ends("wanted"), length - 3, distinct=False)
    query = query.with_step("found", _found(group, None)).with_step("span_2", _jumped())
    for atoms in range(3, most + 1):
        query = query.with_step(f"span_{atoms}", _longer(f"span_{atoms - 1}"))
    several = union_all([select("*").from_(table(f"span_{atoms}", "s")) for atoms in range(2, most + 1)]).subquery("s")
    fields = {field: column("s", field) for field in _SPAN}
    added = grouped(select().from_(several), fields, total(column("s", "n")))
    return create(span_table(group), query.select("*").from_(union_all([single, added]).subquery("b")))


_SPAN = ("prediction", "observed", "body", "first", "last", "u", "v")


def _jumps(group: int) -> Select:
    """A prediction at two atoms: the half between them must lead from `far_end` to `y`."""
    to = [*same("d", "c", "prediction"), equal(column("d", "literal"), column("j", "to_literal"))]
    return (
        select(*columns("c", "prediction", "observed"), *columns("j", "body", "first", "last", "far"))
        .select(named(column("c", "a0"), "u"), named(column("d", "a1"), "v"))
        .select(named(column("c", "a1"), "far_end"), named(column("d", "a0"), "y"))
        .from_(table(_CANDIDATE, "c"))
        .join(table(jump_table(group), "j"), on=equal(column("j", "from_literal"), column("c", "literal")))
        .join(table(_CANDIDATE, "d"), on=all_of(to))
    )


def _jumped() -> Select:
    query = select(*columns("a", *_SPAN)).from_(table("wanted", "a"))
    over_facts = _with_found(query.select(column("g", "n")))
    at_once = query.select(named(number(1), "n")).where(has("a", "far", NOTHING), equal(*columns("a", "far_end", "y")))
    negative = product(number(-1), column("b", "n"))
    n = either(has("b", "observed", 1), negative, column("b", "n"))
    return select(*columns("b", *_SPAN), named(n, "n")).from_(union_all([over_facts, at_once]).subquery("b"))


def _longer(spans: str) -> Select:
    """Spans with a further jump."""
    on = [*same("j", "s", "prediction", "body"), equal(column("j", "first"), column("s", "last"))]
    query = select().from_(table(spans, "s")).join(table("span_2", "j"), on=all_of(on))
    fields = {field: column("j" if field in ("last", "v") else "s", field) for field in _SPAN}
    return grouped(query, fields, total(product(column("s", "n"), column("j", "n"))))


def _closed() -> Select:
    """Predictions at both ends of the chain: nothing is left on either side."""
    query = select(*columns("p", "prediction", "observed", "body", "turned"), named(column("p", "near_end"), "x"))
    query = query.select(named(column("p", "far_end"), "y"), column("t", "signature"), column("p", "n")).from_(table("placed", "p"))
    on = (equal(column("t", "a0"), column("p", "near_end")), equal(column("t", "a1"), column("p", "far_end")))
    return query.join(table(_TUPLE, "t"), on=all_of(on)).where(has("p", "far", NOTHING))


def body_counts(
    group: int,
    length: int,
    piece: Piece,
    context: HornContext,
    keep: Sequence[str] | None,
    *,
    heads: bool,
) -> Select:
    """Counts per rule and prediction of groundings with the prediction in the body. `heads`: if an observed prediction is also the
    head, leave the grounding to `head_counts`."""
    query = select().with_step("placed", placed(group, piece))
    query = query.with_step("chosen", chosen(group))
    near = select(named(column("p", "near"), "half"), named(column("p", "near_end"), "c")).from_(table("chosen", "p"))
    query = _walked(query, group, union_all([near, _far_ends("chosen")]), length - 2, distinct=context.distinct_variables)
    apart = _keeping_apart(length - 2, context)
    query = query.with_step("reached", _reached(group, apart)).with_step("wanted", _wanted(context, apart))
    if not apart:
        query = query.with_step("found", _found(group, apart))
    met = union_all([_by_far_half(group, apart), _by_evidence(group, apart), _closed()])
    query = query.with_step("met", _added(met, context))
    located = _located(group, context)
    if context.appendix:
        return weighed(query.with_step("located", located), ("rule", "prediction"), context)
    if heads and context.any_observed_prediction:
        located = located.where(negation(all_of((has("m", "observed", 1), _is_head()))))
    return prediction_counts(located, context, 2, keep=keep, steps=query)


def _far_ends(source: str) -> Select:
    return select(named(column("p", "far"), "half"), named(column("p", "far_end"), "c")).from_(table(source, "p"))


def _is_head() -> exp.Expr:
    readings = (exp.Coalesce(this=column("m", f"reading{i}"), expressions=[number(-1)]) for i in (0, 1))
    return any_of(equal(reading, column("h", "literal")) for reading in readings)


def _added(met: Query, context: HornContext) -> Select:
    """The groundings found, added up per evidence that judges them. Chains seen from the other side found their evidence with its
    arguments reversed."""
    turned = has("m", "turned", 1)
    inverse = exp.Coalesce(this=column("i", "inverse"), expressions=[number(0)])
    fields: dict[str, exp.Expr] = {"body": column("m", "body"), "prediction": column("m", "prediction")}
    fields["signature"] = either(turned, inverse, column("m", "signature"))
    query = select().from_(met.subquery("m"))
    query = query.join(table(INVERSE, "i"), on=all_of(same("i", "m", "signature")), join_type="left")
    if not context.appendix:
        query = query.join(table(_CANDIDATE, "c"), on=all_of([*same("c", "m", "prediction"), _is_straight("c", context.stride)]))
        x, y = column("m", "x"), column("m", "y")
        head = [either(turned.copy(), y, x), either(turned.copy(), x.copy(), y.copy())]
        readings = own_readings(context, column("c", "literal"), columns("c", "a0", "a1"), head)
        fields["observed"] = column("m", "observed")
        fields |= {f"reading{i}": exp.Case(ifs=[exp.If(this=holds, true=literal)]) for i, (holds, literal) in enumerate(readings)}
    n = total(column("m", "n"))
    return grouped(query, fields, n).having(different(n, number(0)))


def _located(group: int, context: HornContext) -> Select:
    """Counts of bodies per prediction and evidence, as claims of the rules that have the body."""
    readings = () if context.appendix else ("reading0", "reading1")
    query = select(column("h", "rule"), named(column("h", "literal"), "head")).from_(table("met", "m"))
    query = query.select(*columns("m", "prediction", "signature", *readings, "n"))
    return query.join(table(head_table(group), "h"), on=all_of(same("h", "m", "body")))


def head_counts(group: int, length: int, piece: Piece, context: HornContext, keep: Sequence[str] | None) -> Select:
    """Counts per rule and prediction of groundings whose head is the prediction."""
    distinct = context.distinct_variables
    query = select().with_step("placed", placed_heads(group, piece, distinct=distinct))
    query = query.with_step("wanted", chosen_heads(group, "placed"))
    query = _walked(query, group, _far_ends("wanted"), length - 1, distinct=distinct)
    query = query.with_step("found", _found(group, _keeping_apart(length - 1, context)))
    claims = _with_found(select(*columns("a", "rule", "prediction"), column("g", "n")).from_(table("wanted", "a")))
    if context.appendix:
        return plain_counts(claims, ["rule", "prediction"], confirmed=True, refuted=False, steps=query)
    loop = exp.Case(ifs=[exp.If(this=equal(*columns("a", "a0", "a1")), true=flipped(column("a", "literal"), context.stride))])
    located = claims.select(*(named(column("a", "literal"), field) for field in ("head", "reading0")), named(loop, "reading1"))
    located = located.select(column("t", "signature")).join(table(_TUPLE, "t"), on=all_of(same("t", "a", "a0", "a1")))
    return prediction_counts(located, context, 2, keep=keep, steps=query)
