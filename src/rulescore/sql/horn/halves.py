"""Predictions in chains, and the halves of a chain on both sides of a prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlglot import exp

from rulescore.sql.horn.chains import DEGREE, Piece, f
from rulescore.sql.horn.claims import head_table
from rulescore.sql.names import name, prediction_table
from rulescore.sql.query import Create, Query, Row, Select, alias, create, row, same, select, union_all
from rulescore.sql.words import Operand, Sql, all_of, any_of, count_rows, least, node, when

# Short names for rows: predictions with two arguments, and the numbers of facts of a literal that begin with a constant.
c, d = row(prediction_table(2), "c"), row(DEGREE, "d")

AT_HEAD = -1
"""The first and last atom of a prediction that stands at the head."""
NOTHING = -1
"""The half of a prediction that stands at the end of the chain."""


class Tables(NamedTuple):
    """The tables by which predictions in a group of chains are counted.

    Attributes:
        places: The literals of bodies by their place, from the head's first argument to its second.
        jumps: Every two atoms of a body that one prediction may fill: their places and literals, and the half between them.
        spans: Predictions in bodies, from the first atom that they fill to the last: where they enter (`u`) and leave (`v`), and
            how many paths lead from there to there.
        halves: The number of atoms (`length`), the first literal, the number of the rest (`tail`), the number of the start (all
            atoms but the last), and the last literal in both directions.
        parts: The starts of each half, by the number of their atoms: their last literal, and the start before it.
        seats: Where predictions stand in a body, from atom to atom, and the halves that they leave, seen from either side.
            `walked`: the part of the far half that we walk. That is all of it or, if it is the whole chain, all but its last atom.
            At the head, `near` belongs to the other side.
        paths: How many rows we walk of halves.
    """

    places: str
    jumps: str
    spans: str
    halves: str
    parts: str
    seats: str
    paths: str


def tables_of(group: int) -> Tables:
    stems = ("place", "jump", "span", "half", "half_part", "seat", "half_paths")
    return Tables(*(name(f"{stem}_{group}") for stem in stems))


def grouped(query: Select, fields: Mapping[str, Operand], n: Sql) -> Select:
    keys = [value for value in map(node, fields.values()) if not isinstance(value, exp.Literal)]
    return query.select(**fields, n=n).group_by(*keys)


def singles(group: int, *, distinct: bool) -> Select:
    """Spans of predictions that fill one atom."""
    p = row(tables_of(group).places, "p")
    query = select(c.prediction, c.observed, p.body, first=p.place, last=p.place, u=c.a0, v=c.a1, n=1)
    query = query.from_(c).join(p, p.literal == c.literal)
    return query.where(c.a0 != c.a1) if distinct else query


def placed(group: int, piece: Piece | None) -> Select:
    """Predictions in bodies, seen from either side: the ends at which the two halves begin."""
    v, s = row(tables_of(group).spans, "v"), row(tables_of(group).seats, "s")
    far_end = when(s.turned == 1, v.u, v.v)
    return (
        select(*v["prediction", "observed", "n"], *s["body", "turned", "near", "far"])
        .select(near_end=when(s.turned == 1, v.v, v.u), far_end=far_end)
        .from_(v)
        .join(s, *same(s, v, ["body", "first", "last"]))
        .where(*(piece.conditions(far_end) if piece else ()))
    )


def placed_heads(group: int, piece: Piece | None, *, distinct: bool) -> Select:
    """Predictions that are the head, seen from either side; `far_end` is where the chain begins and `y` where it must end."""
    s, h = row(tables_of(group).seats, "s"), row(head_table(group), "h")
    far_end = when(s.turned == 1, c.a1, c.a0)
    return (
        select(*c["prediction", "literal", "a0", "a1"], *s["turned", "near", "far", "walked"], h.rule)
        .select(far_end=far_end, y=when(s.turned == 1, c.a0, c.a1))
        .from_(c)
        .join(h, h.literal == c.literal)
        .join(s, s.body == h.body, s.first == AT_HEAD)
        .where(*(piece.conditions(far_end) if piece else ()), *([c.a0 != c.a1] if distinct else []))
    )


def create_paths(group: int, length: int, *, distinct: bool) -> Create:
    """How many rows we walk of each half. If it has one atom, we walk from every constant; if it has more, from each end of a
    prediction at which it begins. We add up paths with the same ends, so there are at most as many as the last atom has facts."""
    h = row(tables_of(group).halves, "h")
    single = select(h.half, c=d.a0, n=d.n.cast("DOUBLE")).from_(h).join(d, d.literal == h.first).where(h.length == 1)
    if length == 2:
        return create(tables_of(group).paths, single)
    p, heads = row("placed", "p"), placed_heads(group, None, distinct=distinct).as_("p")
    ends: list[Query] = [select(half=p.near, c=p.near_end).from_(p), select(half=p.far, c=p.far_end).from_(p)]
    all_ends = union_all([*ends, select(half=heads.walked, c=heads.far_end).from_(heads)]).as_("e")
    query = select().with_step("placed", placed(group, None))
    query = query.with_step("ends", select(all_ends.half, all_ends.c).distinct().from_(all_ends))
    query = query.with_step("facts", grouped(select().from_(d), {"literal": d.literal}, d.n.cast("DOUBLE").sum()))
    for index in range(1, length - 1):
        query = query.with_step(f"ways_{index}", _ways(group, index))
    ways = union_all([select("*").from_(row(f"ways_{index}", "w")) for index in range(1, length - 1)])
    query = query.with_step("ways", ways)
    e = row("ends", "e")
    longer = _with_most(select().from_(e).join(h, h.half == e.half), h).join(f, f.literal == h.first, f.a0 == e.c)
    longer = _with_tail(longer, h, "ways", {"half": e.half, "c": e.c})
    return create(tables_of(group).paths, query.select("*").from_(union_all([single, longer]).as_("b")))


def _with_most(query: Select, h: Row) -> Select:
    """Join how many facts the last atom of each half has."""
    m = row("facts", "m")
    return query.join(m, m.literal == h.literal)


def _with_tail(query: Select, h: Row, ways: str, fields: Mapping[str, Sql]) -> Select:
    """One atom, and the paths from its end through the rest of the half."""
    w = row(ways, "w")
    return grouped(query.join(w, w.half == h.tail, w.a == f.a1), fields, least(w.n.sum(), alias("m").n.min()))


def _ways(group: int, length: int) -> Select:
    """How many rows we walk, from each constant, of each half of that length that is the rest of another."""
    h = row(tables_of(group).halves, "h")
    query = select().from_(h).where(h.length == length, h.is_tail == 1)
    if length == 1:
        return query.select(h.half, a=d.a0, n=d.n.cast("DOUBLE")).join(d, d.literal == h.first)
    query = _with_most(query, h).join(f, f.literal == h.first)
    return _with_tail(query, h, f"ways_{length - 1}", {"half": h.half, "a": f.a0})


def sizes(group: int, length: int, *, distinct: bool) -> Select:
    """How many paths we walk of each half from the chosen ends; of one atom, from all constants of predictions at most."""
    paths = row(tables_of(group).paths, "p")
    if length == 2:
        e = select(c.a0).distinct().from_(c).as_("e")
        return grouped(select().from_(paths).join(e, e.a0 == paths.c), {"walked": paths.half}, paths.n.sum())
    query = select().with_step("placed", placed(group, None)).with_step("chosen", chosen(group))
    query = query.with_step("placed_heads", placed_heads(group, None, distinct=distinct))
    query = query.with_step("chosen_heads", chosen_heads(group, "placed_heads"))
    chosen_ends = [select(c.walked, c.far_end).from_(c) for c in (row("chosen", "c"), row("chosen_heads", "c"))]
    u = union_all(chosen_ends).as_("u")
    e = select(u.walked, u.far_end).distinct().from_(u).as_("e")
    counted = query.from_(e).join(paths, paths.half == e.walked, paths.c == e.far_end)
    return grouped(counted, {"walked": e.walked}, paths.n.sum())


def fills(group: int) -> Query:
    """How many predictions stand at each place of a body, and at its head."""
    v, h = row(tables_of(group).spans, "v"), row(head_table(group), "h")
    inside = grouped(select().from_(v), {"body": v.body, "first": v.first, "last": v.last}, count_rows())
    heads = select(h.body, first=AT_HEAD, last=AT_HEAD, n=count_rows()).from_(c).join(h, h.literal == c.literal)
    return union_all([inside, heads.group_by(h.body.node)])


def _is_cheaper(p: Row, here: Sql, there: Sql) -> Sql:
    """Whether this is the cheaper of the two views of a prediction, with fewer paths. If both have equally many, it is the view
    that is not reversed."""
    # The half with fewer paths gives one argument of the head; the other half is joined with the evidence (0015).
    return any_of(here < there, all_of(here == there, p.turned == 0))


def chosen(group: int) -> Select:
    """Predictions in bodies that have paths on both sides, seen from the side with fewer."""
    p, a, b = row("placed", "p"), row(tables_of(group).paths, "a"), row(tables_of(group).paths, "b")
    fields = ("prediction", "observed", "n", "body", "turned", "near", "far", "near_end", "far_end")
    return (
        select(*p[fields], walked=p.far, far_n=b.n)
        .from_(p)
        .left_join(a, a.half == p.near, a.c == p.near_end)
        .join(b, b.half == p.far, b.c == p.far_end)
        .where(any_of(p.near == NOTHING, _is_cheaper(p, a.n, b.n)))
    )


def chosen_heads(group: int, source: str) -> Select:
    p, a, b = row(source, "p"), row(tables_of(group).paths, "a"), row(tables_of(group).paths, "b")
    return (
        select(*p["rule", "prediction", "literal", "a0", "a1", "far", "walked", "far_end", "y"])
        .from_(p)
        .join(a, a.half == p.walked, a.c == p.far_end)
        .join(b, b.half == p.near, b.c == p.y)
        .where(_is_cheaper(p, a.n, b.n))
    )
