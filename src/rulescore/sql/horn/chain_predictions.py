"""Counts predictions in chains by the paths on both sides of them, for many rules at once.

A prediction that fills atoms of a chain leaves a *half* on each side: the atoms from its end to the head's argument. We walk a
half, except its last atom, once from each constant at which predictions end. Many predictions and bodies may share this walk. The
half with fewer paths gives us one argument of the head; then we either follow the paths of the other half and look up the evidence
or, if fewer tuples carry evidence, follow those tuples and look up the other half. If the prediction is the head, we know both
arguments: its one half is the whole chain, from the end that has fewer paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.horn.chains import EVIDENCE, Piece, f
from rulescore.sql.horn.claims import HornContext, flipped, head_table, own_readings
from rulescore.sql.horn.evidence import INVERSE, plain_counts, prediction_counts, weighed
from rulescore.sql.horn.halves import NOTHING, c, chosen, chosen_heads, grouped, placed, placed_heads, singles, tables_of
from rulescore.sql.names import prediction_table, tuple_table
from rulescore.sql.query import Create, Query, Row, Select, alias, create, row, same, select, union_all
from rulescore.sql.words import Operand, Sql, all_of, any_of, count_rows, sql, when

# Short names for the rows of the steps that most statements here read.
t = row(tuple_table(2), "t")
w, p, z, a, g = row("walk", "w"), row("chosen", "p"), row("reached", "z"), row("wanted", "a"), row("found", "g")


def _walked(query: Select, group: int, ends: Query, depth: int, *, distinct: bool) -> Select:
    """Add the step `walk`: the halves from their ends, all atoms but the last. If variables must be distinct, paths keep the
    constants that they passed."""
    halves, e, h = ends.as_("e"), row("ends", "e"), row(tables_of(group).halves, "h")
    query = query.with_step("ends", select(halves.half, halves.c).distinct().from_(halves))
    passed = _passed(depth, distinct=distinct)
    standing = select(h.start, c=e.c, b=e.c, n=1, **dict.fromkeys(passed, NOTHING)).distinct().from_(e)
    levels: list[Query] = [standing.join(h, h.half == e.half).where(h.length == 1)]
    for index in range(1, depth + 1):
        query = query.with_step(f"walked_{index}", _further(group, index, distinct=distinct))
        level, own = row(f"walked_{index}", "w"), _passed(index, distinct=distinct)
        kept = (level[field] if field in own else sql(NOTHING).named(field) for field in passed)
        levels.append(select(*level["start", "c", "b", "n"], *kept).from_(level))
    return query.with_step("walk", union_all(levels))


def _passed(depth: int, *, distinct: bool) -> list[str]:
    """The columns for the constants that a path of that many atoms passed between its ends."""
    return [f"p{index}" for index in range(1, depth)] if distinct else []


def _further(group: int, index: int, *, distinct: bool) -> Select:
    """The paths of every start, one atom longer."""
    part, e, before = row(tables_of(group).parts, "p"), row("ends", "e"), row(f"walked_{index - 1}", "w")
    needed = select(*part["start", "parent", "literal"], e.c).distinct().from_(e)
    n = needed.join(part, part.half == e.half, part.depth == index).as_("n")
    query, here, many = select().from_(n), n.c, count_rows()
    if index > 1:
        query, here, many = query.join(before, before.start == n.parent, before.c == n.c), before.b, before.n.sum()
    query = query.join(f, f.literal == n.literal, f.a0 == here)
    fields = {"start": n.start, "c": n.c, "b": f.a1}
    if not distinct:
        return grouped(query, fields, many)
    kept = {f"p{i}": before[f"p{i}"] for i in range(1, index - 1)} | ({f"p{index - 1}": here} if index > 1 else {})
    query = query.where(*(f.a1 != value for value in (n.c, *kept.values())))
    return query.select(**fields, n=1, **kept)


@dataclass(frozen=True, slots=True)
class _Apart:
    """Which columns hold the constants of a path, if variables must be distinct: of a walk, and of the near half."""

    passed: Sequence[str]
    near: Sequence[str]

    def walk(self) -> list[Sql]:
        return w[["c", "b", *self.passed]]

    def far_half(self, y: Sql) -> list[Sql]:
        """A condition: the far half does not end at one of its own constants."""
        return _apart([y], self.walk())

    def halves(self, near: Row, y: Sql) -> list[Sql]:
        """A condition: the far half repeats no constant, neither its own nor a constant of the near half."""
        return [*self.far_half(y), *_apart(near[["x", *self.near]], [y, *self.walk()])]


def _apart(left: Sequence[Sql], right: Sequence[Sql]) -> list[Sql]:
    return [any_of(seat != other, seat == NOTHING, other == NOTHING) for seat in left for other in right]


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
    h, r = row(tables_of(group).halves, "h"), row(EVIDENCE.reach, "r")
    ended = select(*p[_REACHED], p.near_end.named("x"), p.n, **dict.fromkeys(kept, NOTHING)).from_(p).where(p.near == NOTHING)
    going = (
        select()
        .from_(p)
        .join(h, h.half == p.near)
        .join(w, w.start == h.start, w.c == p.near_end)
        .join(f, f.literal == h.literal, f.a0 == w.b)
    )
    fields = {field: p[field] for field in _REACHED} | {"x": f.a1}
    if apart:
        going = going.where(*apart.far_half(f.a1)).select(**fields, n=p.n)
        going = going.select(**dict(zip(kept, apart.walk(), strict=True)))
    else:
        going = grouped(going, fields, (p.n * w.n).sum())
    reached = union_all([ended, going]).as_("z")
    query = select(*reached[[*_REACHED, "x", "n", *kept]], onward=reached.far_n <= r.n.or_else(0)).from_(reached)
    return query.left_join(r, r.a0 == reached.x)


def _is_straight(fact: Row, stride: int) -> Sql:
    return fact.literal % stride == 0


def _met(y: Sql, n: Sql) -> Select:
    return select(*z["prediction", "observed", "body", "turned", "x"], y.named("y"), t.signature, n=n).from_(z)


def _by_far_half(group: int, apart: _Apart | None) -> Select:
    h = row(tables_of(group).halves, "h")
    return (
        _met(f.a1, z.n * w.n)
        .join(h, h.half == z.far)
        .join(w, w.start == h.start, w.c == z.far_end)
        .join(f, f.literal == h.literal, f.a0 == w.b)
        .join(t, t.a0 == z.x, t.a1 == f.a1, t.signature > 0)
        .where(z.onward, *(apart.halves(z, f.a1) if apart else ()))
    )


def _wanted(context: HornContext, apart: _Apart | None) -> Query:
    """Possible tuples of the head, given one argument: the tuples that carry evidence and the prediction's own tuple, if no fact
    holds of that."""
    query = _met(t.a1, z.n).select(*z[["far", "far_end", *(apart.near if apart else ())]])
    by_facts = query.join(t, t.a0 == z.x, t.signature > 0).where(exp.Not(this=z.onward.node))
    if context.appendix:
        return by_facts
    once = any_of(c.a0 != c.a1, _is_straight(c, context.stride))
    by_itself = query.join(c, c.prediction == z.prediction, c.a0 == z.x, once)
    return union_all([by_facts, by_itself.join(t, t.a0 == c.a0, t.a1 == c.a1, t.signature == 0)])


_FAR = ("far", "far_end", "y")


def _far_paths(group: int, apart: _Apart | None) -> Select:
    """The number of paths of the far half between each wanted pair of constants."""
    asked = select(*a[_FAR]).distinct().from_(a).as_("a")
    query = _backwards(select().from_(asked), group).where(*(apart.far_half(a.y) if apart else ()))
    return grouped(query, {field: a[field] for field in _FAR}, w.n.sum())


def _backwards(query: Select, group: int) -> Select:
    """Join the last atom of the far half, read from its end, and the walk before it."""
    h = row(tables_of(group).halves, "h")
    query = query.join(h, h.half == a.far).join(f, f.literal == h.back, f.a0 == a.y)
    return query.join(w, w.start == h.start, w.c == a.far_end, w.b == f.a1)


def _by_evidence(group: int, apart: _Apart | None) -> Select:
    query = select(*a["prediction", "observed", "body", "turned", "x", "y", "signature"]).from_(a)
    if apart:
        return _backwards(query.select(a.n), group).where(*apart.halves(a, a.y))
    return _with_found(query.select(n=a.n * g.n))


def _with_found(query: Select) -> Select:
    return query.join(g, *same(g, a, _FAR))


def create_spans(group: int, length: int, most: int, *, distinct: bool) -> Create:
    """The spans of predictions that fill up to `most` atoms: one, or from each that they fill by a jump to the next.

    Between jumps we walk over the data. If the prediction is also an observed fact, these walks may use it, too. Then jumps with a
    negative count subtract what spans with fewer jumps counted."""
    single = singles(group, distinct=distinct)
    if most == 1:
        return create(tables_of(group).spans, single)
    query = select().with_step("wanted", _jumps(group))
    query = _walked(query, group, _far_ends("wanted"), max(length - 3, 0), distinct=False)
    query = query.with_step("found", _far_paths(group, None)).with_step("span_2", _jumped())
    for atoms in range(3, most + 1):
        query = query.with_step(f"span_{atoms}", _longer(f"span_{atoms - 1}"))
    s = union_all([select("*").from_(row(f"span_{atoms}", "s")) for atoms in range(2, most + 1)]).as_("s")
    added = grouped(select().from_(s), {field: s[field] for field in _SPAN}, s.n.sum())
    return create(tables_of(group).spans, query.select("*").from_(union_all([single, added]).as_("b")))


_SPAN = ("prediction", "observed", "body", "first", "last", "u", "v")


def _jumps(group: int) -> Select:
    """A prediction at two atoms: the half between them must lead from `far_end` to `y`."""
    j, d = row(tables_of(group).jumps, "j"), row(prediction_table(2), "d")
    query = select(c.prediction, c.observed, *j["body", "first", "last", "far"], u=c.a0, v=d.a1, far_end=c.a1, y=d.a0)
    query = query.from_(c).join(j, j.from_literal == c.literal)
    return query.join(d, d.prediction == c.prediction, d.literal == j.to_literal)


def _jumped() -> Select:
    query = select(*a[_SPAN]).from_(a)
    over_facts = _with_found(query.select(g.n))
    at_once = query.select(n=1).where(a.far == NOTHING, a.far_end == a.y)
    b = union_all([over_facts, at_once]).as_("b")
    return select(*b[_SPAN], n=when(b.observed == 1, sql(-1) * b.n, b.n)).from_(b)


def _longer(spans: str) -> Select:
    """Spans with a further jump."""
    s, j = row(spans, "s"), row("span_2", "j")
    query = select().from_(s).join(j, *same(j, s, ["prediction", "body"]), j.first == s.last)
    fields = {field: (j if field in ("last", "v") else s)[field] for field in _SPAN}
    return grouped(query, fields, (s.n * j.n).sum())


def _closed() -> Select:
    """Predictions at both ends of the chain: nothing is left on either side."""
    at = row("placed", "p")
    ends = {"x": at.near_end, "y": at.far_end}
    query = select(*at["prediction", "observed", "body", "turned"], **ends).select(t.signature, at.n).from_(at)
    return query.join(t, t.a0 == at.near_end, t.a1 == at.far_end).where(at.far == NOTHING)


def body_counts(group: int, length: int, piece: Piece, context: HornContext, keep: Sequence[str] | None, *, heads: bool) -> Select:
    """Counts per rule and prediction of groundings with the prediction in the body. `heads`: if an observed prediction is also the
    head, leave the grounding to `head_counts`."""
    query = select().with_step("placed", placed(group, piece))
    query = query.with_step("chosen", chosen(group))
    near = select(half=p.near, c=p.near_end).from_(p)
    query = _walked(query, group, union_all([near, _far_ends("chosen")]), length - 2, distinct=context.distinct_variables)
    apart = _keeping_apart(length - 2, context)
    query = query.with_step("reached", _reached(group, apart)).with_step("wanted", _wanted(context, apart))
    if not apart:
        query = query.with_step("found", _far_paths(group, apart))
    met = union_all([_by_far_half(group, apart), _by_evidence(group, apart), _closed()])
    query = query.with_step("met", _added(met, context))
    located = _located(group, context)
    if context.appendix:
        return weighed(query.with_step("located", located), ("rule", "prediction"), context)
    if heads and context.any_observed_prediction:
        located = located.where(~all_of(alias("m").observed == 1, _is_head()))
    return prediction_counts(located, context, 2, keep=keep, steps=query)


def _far_ends(source: str) -> Select:
    ends = row(source, "p")
    return select(half=ends.far, c=ends.far_end).from_(ends)


def _is_head() -> Sql:
    m, h = alias("m"), alias("h")
    return any_of(*(reading.or_else(-1) == h.literal for reading in m["reading0", "reading1"]))


def _added(met: Query, context: HornContext) -> Select:
    """The groundings found, added up per evidence that judges them. Chains seen from the other side found their evidence with its
    arguments reversed."""
    m, i = met.as_("m"), row(INVERSE, "i")
    turned = m.turned == 1
    fields: dict[str, Operand] = {"body": m.body, "prediction": m.prediction}
    fields["signature"] = when(turned, i.inverse.or_else(0), m.signature)
    query = select().from_(m).left_join(i, i.signature == m.signature)
    if not context.appendix:
        query = query.join(c, c.prediction == m.prediction, _is_straight(c, context.stride))
        head = [when(turned, m.y, m.x), when(turned, m.x, m.y)]
        readings = own_readings(context, c.literal, [c.a0, c.a1], head)
        fields["observed"] = m.observed
        fields |= {f"reading{n}": when(holds, literal) for n, (holds, literal) in enumerate(readings)}
    return grouped(query, fields, m.n.sum()).having(m.n.sum() != 0)


def _located(group: int, context: HornContext) -> Select:
    """Counts of bodies per prediction and evidence, as claims of the rules that have the body."""
    m, h = row("met", "m"), row(head_table(group), "h")
    readings = () if context.appendix else ("reading0", "reading1")
    query = select(h.rule, h.literal.named("head"), *m["prediction", "signature", *readings, "n"]).from_(m)
    return query.join(h, h.body == m.body)


def head_counts(group: int, length: int, piece: Piece, context: HornContext, keep: Sequence[str] | None) -> Select:
    """Counts per rule and prediction of groundings whose head is the prediction."""
    distinct = context.distinct_variables
    query = select().with_step("placed", placed_heads(group, piece, distinct=distinct))
    query = query.with_step("wanted", chosen_heads(group, "placed"))
    query = _walked(query, group, _far_ends("wanted"), length - 1, distinct=distinct)
    query = query.with_step("found", _far_paths(group, _keeping_apart(length - 1, context)))
    claims = _with_found(select(a.rule, a.prediction, g.n).from_(a))
    if context.appendix:
        return plain_counts(claims, ["rule", "prediction"], confirmed=True, refuted=False, steps=query)
    loop = when(a.a0 == a.a1, flipped(a.literal, context.stride))
    located = claims.select(head=a.literal, reading0=a.literal, reading1=loop).select(t.signature)
    return prediction_counts(located.join(t, t.a0 == a.a0, t.a1 == a.a1), context, 2, keep=keep, steps=query)
