"""Rules of the commonest heavy shape, `h(X, Y) <- p(X, Z), q(Y, Z)` in any directions, counted over the data by triangles.

Every evaluable grounding is a triangle of tuples that carry facts: X-Z and Y-Z for the body, X-Y for the evidence. We find all
triangles of the graph once, each from its corner of least degree, and count them per triple of signatures; only then do the rules
come in. The cost hardly depends on how many rules there are, and no hub is ever expanded against another (0004).
"""

from __future__ import annotations

from collections.abc import Sequence

from rulescore.logic.normal import Bound
from rulescore.logic.plan import Group, Judge, Shape, ShapeAtom
from rulescore.sql.horn.chains import EVIDENCE
from rulescore.sql.horn.claims import HornContext, body_table, flipped, head_table
from rulescore.sql.horn.evidence import INVERSE, MEMBER, OPPOSES, weighed
from rulescore.sql.names import name, tuple_table
from rulescore.sql.query import Create, Query, Select, create, row, select, union_all, union_distinct
from rulescore.sql.words import Sql, count_rows, ordered, row_number, when

SHAPE = Shape(
    atoms=(ShapeAtom((Bound(0), Bound(2))), ShapeAtom((Bound(1), Bound(2)))),
    negated=(),
    tests=(),
    variables=3,
    head=(Bound(0), Bound(1)),
)


def is_triangle(group: Group) -> bool:
    """Whether two atoms of the body and the evidence make a triangle."""
    return group.shape == SHAPE and group.judge is Judge.EVIDENCE


RANK = name("rank")
SIDE = name("side")
EDGE = name("edge")
TRIANGLE = name("triangle")

# A tuple of two constants with its signature.
t = row(tuple_table(2), "t")


def create_ranks() -> Create:
    """Constants by the number of their neighbours, their reach, fewest first."""
    r = row(EVIDENCE.reach, "r")
    return create(RANK, select(r.a0, rank=row_number(ordered(r.n), ordered(r.a0)).integer()).from_(r))


def tables(groups: Sequence[Group], context: HornContext) -> list[Create]:
    """Everything that the rules of such groups among these need to be counted over the data."""
    edges, found = create_edges(all_sides=False), create_triangles(distinct=context.distinct_variables)
    return [_create_sides(groups, context.stride), create_ranks(), edges, found]


def _create_sides(groups: Sequence[Group], stride: int) -> Create:
    """The signatures of sides that these rules look at: bodies, heads and what refutes these, in either direction."""
    parts: list[Query] = []
    for number in (number for number, group in enumerate(groups) if is_triangle(group)):
        b, h, o = row(body_table(number), "b"), row(head_table(number), "h"), row(OPPOSES, "o")
        parts += [select(literal=b.l0).from_(b), select(literal=b.l1).from_(b), select(h.literal).from_(h)]
        parts.append(select(literal=o.l0).from_(o).join(h, h.literal == o.head))
    u, m = union_distinct(parts).as_("u"), row(MEMBER, "m")
    both = union_distinct([select(u.literal).from_(u), select(literal=flipped(u.literal, stride)).from_(u)]).as_("w")
    return create(SIDE, select(m.signature).distinct().from_(both).join(m, m.literal == both.literal))


def create_edges(*, all_sides: bool) -> Create:
    """Tuples that carry facts, each pair of constants once, from the lower rank `u` to the higher `v`; `key` is both in one. Only
    sides that rules look at, unless `all_sides`."""
    x, y, s = row(RANK, "x"), row(RANK, "y"), row(SIDE, "s")
    query = select(u=x.rank, v=y.rank, key=edge_key(x.rank, y.rank), s=t.signature).from_(t)
    if not all_sides:
        query = query.join(s, s.signature == t.signature)
    query = query.join(x, x.a0 == t.a0).join(y, y.a0 == t.a1)
    return create(EDGE, query.where(t.signature > 0, x.rank <= y.rank).order_by(x.rank, y.rank))


# A prime that is greater than every rank. PostgreSQL combines both halves of a large number into one hash. With a power of 2 here,
# all keys with the same sum would have the same hash.
_BEYOND = 2_654_435_761


def edge_key(left: Sql, right: Sql) -> Sql:
    """Two numbers in one, which joins faster than two."""
    return left.big() * _BEYOND + right


def create_triangles(*, distinct: bool) -> Create:
    """Triangles u ≤ v ≤ w per triple of signatures, with their number; corners may coincide unless they must be distinct."""
    e, f, g = row(EDGE, "e"), row(EDGE, "f"), row(EDGE, "g")
    fields = {"uv": e.s, "uw": f.s, "vw": g.s}
    if distinct:
        query = select(**fields, u_is_v=0, v_is_w=0)
    else:
        fields |= {"u_is_v": when(e.u == e.v, 1, 0), "v_is_w": when(e.v == f.v, 1, 0)}
        query = select(**fields)
    query = query.select(n=count_rows()).from_(e)
    query = query.join(f, f.u == e.u, f.v > e.v if distinct else f.v >= e.v).join(g, g.key == edge_key(e.v, f.v))
    if distinct:
        query = query.where(e.u != e.v)
    return create(TRIANGLE, query.group_by(*fields.values()))


# The six ways in which X, Y, Z can be the corners u, v, w. For each: the sides XZ, YZ and XY, where a `-` reads the side backwards,
# and the equal corners that make it the same as another way.
PLACEMENTS = (
    ("uw", "vw", "uv", ()),
    ("uv", "-vw", "uw", ("v_is_w",)),
    ("vw", "uw", "-uv", ("u_is_v",)),
    ("-uv", "-uw", "vw", ("u_is_v",)),
    ("-vw", "uv", "-uw", ("v_is_w",)),
    ("-uw", "-uv", "-vw", ("u_is_v", "v_is_w")),
)


def sides() -> Select:
    """Triangles with each side's signature both ways."""
    r = row(TRIANGLE, "t")
    query = select(*r["uv", "uw", "vw", "u_is_v", "v_is_w", "n"]).from_(r)
    for side in ("uv", "uw", "vw"):
        i = row(INVERSE, f"i_{side}")
        query = query.select(i.inverse.named(f"-{side}")).join(i, i.signature == r[side])
    return query


def placed() -> Query:
    """Triangles in every place that X, Y and Z can take; `apart`: how many have three different corners."""
    s = row("sides", "s")
    parts = []
    apart = when(s.u_is_v + s.v_is_w == 0, s.n, 0)
    for xz, yz, xy, excluded in PLACEMENTS:
        part = select(xz=s[xz], yz=s[yz], xy=s[xy]).select(s.n, apart=apart).from_(s)
        parts.append(part.where(*(s[flag] == 0 for flag in excluded)))
    return union_all(parts)


def _used(group: int, literal: str) -> Select:
    """Signatures, with those of their literals that stand at an atom of some body."""
    b, m = row(body_table(group), "b"), row(MEMBER, "m")
    d = select(b[literal]).distinct().from_(b).as_("d")
    return select(m.signature, literal=d[literal]).from_(d).join(m, m.literal == d[literal])


def dataset_counts(group: int, context: HornContext) -> Select:
    """Counts per rule over the data."""
    query = select().with_step("sides", sides()).with_step("placed", placed())
    query = query.with_step("first", _used(group, "l0")).with_step("second", _used(group, "l1"))
    return weighed(query.with_step("counted", _counted(group)).with_step("located", _located(group)), ("rule",), context)


def _counted(group: int) -> Select:
    """How many triangles have the sides of each body, per evidence."""
    p, x, y, b = row("placed", "p"), row("first", "x"), row("second", "y"), row(body_table(group), "b")
    query = select(b.body, signature=p.xy, n=p.n.sum()).from_(p).join(x, x.signature == p.xz).join(y, y.signature == p.yz)
    return query.join(b, b.l0 == x.literal, b.l1 == y.literal).group_by(b.body, p.xy)


def _located(group: int) -> Select:
    """Counts of bodies per evidence, as claims of the rules that have the body."""
    c, h = row("counted", "c"), row(head_table(group), "h")
    return select(h.rule, h.literal.named("head"), *c["signature", "n"]).from_(c).join(h, h.body == c.body)
