"""Statements that find rules with a head.

Each form has a table of its bodies. It says how often each body holds, by the signature of the head's tuple. `judged` joins heads
to this table, in the same way for all forms.

A literal is a predicate in one of two argument orders; literals with odd numbers are reversed. A signature is a set of literals
(0004).
"""

from __future__ import annotations

from collections.abc import Sequence

from rulescore.sql.facts import CONSTANT
from rulescore.sql.horn.evidence import MEMBER
from rulescore.sql.horn.triangles import EDGE, PLACEMENTS, edge_key, placed, sides
from rulescore.sql.names import fact_table, name, tuple_table
from rulescore.sql.query import Create, Query, Row, Select, create, row, select, union_all
from rulescore.sql.words import Sql, any_of, case, count_rows, ordered, sql, when

BODIES = name("bodies")
HEADS, TURNED_HEADS = name("heads"), name("turned_heads")
TOGETHER = name("together")
FREQUENT = name("frequent")

f, t, u = row(fact_table(2), "f"), row(tuple_table(2), "t"), row(tuple_table(1), "u")


_MILLION = 1_000_000
_SIDES = ("uv", "uw", "vw")
_APART = when(f.a0 == f.a1, 0, 1)


def _apart(r: Row, *, distinct: bool) -> list[Sql]:
    return [r.a0 != r.a1] if distinct else []


def judged(
    keys: Sequence[str],
    heads_table: str,
    least: int,
    *,
    several: bool,
    most: float = 1.0,
    limit: int | None = None,
    of_rule: bool = False,
) -> Select:
    """The heads that at least `least` groundings of a body confirm. For each head: how many groundings confirm and refute it, and
    how often the body holds on a tuple that facts could judge.

    The column `apart`: how many groundings confirm the head with a different constant for each variable. `several`: count each fact
    that refutes a head, as the appendix convention does. `most`: an approximate upper limit for the rate. `limit`: how many heads
    we look at, the most confirmed first. `of_rule`: only the head of the rule that is a key.
    """
    b, m, h = row(BODIES, "b"), row(MEMBER, "m"), row(heads_table, "h")
    heads = select(*b[keys], head=m.literal, confirmed=b.n.sum(), apart=b.apart.sum()).from_(b).join(m, m.signature == b.signature)
    own = [h.rule == b.rule] if of_rule else []
    # A rule whose head stands in its body says nothing, but would have the most confirmations. So we leave it out.
    heads = heads.where(any_of(m.literal != b.l0, b.c != b.d)) if {"c", "d"} <= set(keys) else heads
    heads = heads.join(h, h.literal == m.literal, *own).group_by(*b[keys], m.literal).having(b.n.sum() >= least)
    if limit is not None:
        order = [ordered(b.n.sum(), descending=True), *map(ordered, (*b[keys], m.literal))]
        heads = heads.order_by(*order).limit(limit)
    c, l, v = row("candidates", "c"), row("located", "l"), row("verdicts", "v")  # noqa: E741
    located = select(*c[keys], *c["head", "confirmed", "apart"], *b["signature", "n"]).from_(c)
    located = located.join(b, *(b[key] == c[key] for key in keys))
    p, o = select(l.head, l.signature).distinct().from_(l).as_("p"), row(TOGETHER, "o")
    verdicts = select(p.head, p.signature, refuted=count_rows() if several else sql(1).max()).from_(p)
    verdicts = verdicts.join(m, m.signature == p.signature, (m.literal - p.head).paren() % 2 == 0)
    verdicts = verdicts.left_join(o, o.head == p.head, o.literal == m.literal)
    verdicts = verdicts.where(o.head.is_null()).group_by(p.head, p.signature)
    counts = {"confirmed": l.confirmed.max(), "apart": l.apart.max()}
    counts |= {"refuted": (l.n * v.refuted.or_else(0)).sum(), "bodies": l.n.sum()}
    query = select(*l[keys], l.head, **{field: count.big() for field, count in counts.items()}).from_(l)
    query = query.left_join(v, v.head == l.head, v.signature == l.signature).group_by(*l[keys], l.head)
    if most < 1:
        part, whole = counts["refuted"], counts["confirmed"] + counts["refuted"]
        query = query.having(part * _MILLION <= whole * round((most + 1e-6) * _MILLION))
    return query.with_step("candidates", heads).with_step("located", located).with_step("verdicts", verdicts)


def one_atom(arity: int, *, distinct: bool) -> Create:
    """Bodies of one atom on the tuple of the head."""
    r, m = row(tuple_table(arity), "r"), row(MEMBER, "m")
    apart = _apart(r, distinct=distinct) if arity == 2 else []
    several = when(r.a0 == r.a1, 0, 1).sum() if arity == 2 else count_rows()
    w = select(r.signature, n=count_rows(), apart=several).from_(r).where(*apart).group_by(r.signature).as_("w")
    return create(BODIES, select(m.literal.named("l0"), *w["signature", "n", "apart"]).from_(w).join(m, m.signature == w.signature))


def two_atoms() -> Create:
    """Bodies of two atoms, from X to a third constant and from Y to it, by triangles."""
    p, x, y = row("placed", "p"), row(MEMBER, "x"), row(MEMBER, "y")
    counts = {"n": p.n.sum().big(), "apart": p.apart.sum().big()}
    query = select(x.literal.named("l0"), y.literal.named("l1"), p.xy.named("signature"), **counts).from_(p)
    query = query.join(x, x.signature == p.xz).join(y, y.signature == p.yz).group_by(x.literal, y.literal, p.xy)
    return create(BODIES, query.with_step("sides", sides()).with_step("placed", placed()))


def ways_of_edges() -> Select:
    """How many pairs of edges we look at to find all triangles."""
    e = row(EDGE, "e")
    d = select(n=count_rows().cast("DOUBLE")).from_(e).group_by(e.u).as_("d")
    return select(n=(d.n * d.n).sum()).from_(d)


def places(*, distinct: bool) -> Create:
    """Bodies of one atom of two places, for heads of one place: `p(X) <- r(X, Y)`."""
    fields = {"l0": f.literal, "signature": u.signature.or_else(0)}
    query = select(**fields, n=count_rows(), apart=_APART.sum()).from_(f).left_join(u, u.a0 == f.a0)
    return create(BODIES, query.where(*_apart(f, distinct=distinct)).group_by(*fields.values()))


def typed_places(*, distinct: bool) -> Create:
    """Bodies `r(X, Y), q(Y)` for heads of one place."""
    m, y = row(MEMBER, "m"), row(tuple_table(1), "y")
    fields = {"l0": f.literal, "sy": y.signature, "signature": u.signature.or_else(0)}
    w = select(**fields, n=count_rows(), apart=_APART.sum()).from_(f).join(y, y.a0 == f.a1).left_join(u, u.a0 == f.a0)
    c = w.where(*_apart(f, distinct=distinct)).group_by(*fields.values()).as_("c")
    counts = {"n": c.n.sum().big(), "apart": c.apart.sum().big()}
    query = select(c.l0, m.literal.named("l1"), c.signature, **counts).from_(c).join(m, m.signature == c.sy)
    return create(BODIES, query.group_by(c.l0, m.literal, c.signature))


def create_frequent(least: int) -> Create:
    """The pairs of a literal and its second argument that at least `least` facts share."""
    query = select(f.literal, f.a1, n=count_rows()).from_(f).group_by(f.literal, f.a1)
    return create(FREQUENT, query.having(count_rows() >= least))


def frequent() -> Select:
    q = row(FREQUENT, "q")
    return select(q.literal, constant=q.a1, n=q.n.big()).from_(q)


def with_constants() -> Create:
    """Bodies `q(X, d)` for heads `p(X, c)`."""
    q, c = row(FREQUENT, "q"), _constants()
    fields = {"l0": f.literal, "d": f.a1, "c": t.a1, "signature": t.signature}
    query = select(**fields, n=count_rows(), apart=count_rows()).from_(f).join(q, q.literal == f.literal, q.a1 == f.a1)
    return create(BODIES, query.join(t, t.a0 == f.a0).join(c, c.a1 == t.a1).group_by(*fields.values()))


def ways_of_constants() -> Select:
    """How many pairs of facts `with_constants` looks at."""
    q, c = row(FREQUENT, "q"), _constants()
    bodies = select(f.a0, n=count_rows().cast("DOUBLE")).from_(f).join(q, q.literal == f.literal, q.a1 == f.a1).group_by(f.a0)
    heads = select(t.a0, n=count_rows().cast("DOUBLE")).from_(t).join(c, c.a1 == t.a1).group_by(t.a0)
    x, y = bodies.as_("x"), heads.as_("y")
    return select(n=(x.n * y.n).sum()).from_(x).join(y, y.a0 == x.a0)


def _constants() -> Row:
    q = row(FREQUENT, "q")
    return select(q.a1).distinct().from_(q).as_("c")


def constant_to_place() -> Create:
    """Bodies `q(X, d)` for heads of one place."""
    q = row(FREQUENT, "q")
    fields = {"l0": f.literal, "d": f.a1, "signature": u.signature}
    query = select(**fields, n=count_rows(), apart=count_rows()).from_(f)
    query = query.join(q, q.literal == f.literal, q.a1 == f.a1).join(u, u.a0 == f.a0)
    return create(BODIES, query.group_by(*fields.values()))


def place_to_constant() -> Create:
    """Bodies of one place for heads `p(X, c)`."""
    m, c = row(MEMBER, "m"), _constants()
    fields = {"l0": m.literal, "c": t.a1, "signature": t.signature}
    query = select(**fields, n=count_rows(), apart=count_rows()).from_(u).join(m, m.signature == u.signature)
    return create(BODIES, query.join(t, t.a0 == u.a0).join(c, c.a1 == t.a1).group_by(*fields.values()))


def explained_places(rules: str, *, distinct: bool, typed: bool) -> Select:
    """For each rule `p(X) <- r(X, Y)`, or `p(X) <- r(X, Y), q(Y)`, how many constants its groundings explain."""
    r, h = row(rules, "r"), row(fact_table(1), "h")
    query = select(r.rule, a0=f.a0).distinct().from_(r).join(f, f.literal == r.l0).join(h, h.literal == r.head, h.a0 == f.a0)
    if typed:
        y = row(fact_table(1), "y")
        query = query.join(y, y.literal == r.l1, y.a0 == f.a1)
    d = query.where(*_apart(f, distinct=distinct)).as_("d")
    return select(d.rule, n=count_rows()).from_(d).group_by(d.rule)


def alike() -> Select:
    """The pairs of literals of two arguments, and on how many tuples both hold."""
    x, y = row(MEMBER, "x"), row(MEMBER, "y")
    w = select(t.signature, n=count_rows()).from_(t).group_by(t.signature).as_("w")
    query = select(left=x.literal, right=y.literal, n=w.n.sum().big()).from_(w).join(x, x.signature == w.signature)
    return query.join(y, y.signature == w.signature, x.literal < y.literal).group_by(x.literal, y.literal)


def constants_by_number(numbers: str) -> Select:
    c, k = row(CONSTANT, "c"), row(numbers, "k")
    return select(c.id, c.key).from_(c).join(k, k.id == c.id)


def explained_pairs(rules: str, *, distinct: bool) -> Select:
    """The number of head facts per rule. `rules`: a table with columns `rule`, `l0`, `l1` and `head`; rules that explain nothing
    get no row."""
    e, f, g, w = row(EDGE, "e"), row(EDGE, "f"), row(EDGE, "g"), row("wanted", "w")
    key = case((w.side == 0, e.key), (w.side == 1, f.key), default=g.key)
    is_loop = case((w.side == 0, when(e.u == e.v, 0, 1)), (w.side == 1, when(f.u == f.v, 0, 1)), default=when(g.u == g.v, 0, 1))
    query = select(w.rule, key=key, turned=w.turned * is_loop.paren()).distinct().from_(e)
    query = query.join(f, f.u == e.u, f.v > e.v if distinct else f.v >= e.v).join(g, g.key == edge_key(e.v, f.v))
    query = query.join(w, w.uv == e.s, w.uw == f.s, w.vw == g.s)
    d = (query.where(e.u != e.v) if distinct else query).as_("d")
    steps = select().with_step("sides", sides()).with_step("wanted", _wanted(rules))
    return steps.select(d.rule, n=count_rows()).from_(d).group_by(d.rule).keeping_order()


def _wanted(rules: str) -> Select:
    """For each kind of triangle and each rule with such groundings: the side of the triangle that is the rule's head, and whether
    it is reversed."""
    s, r, x, y, h = row("sides", "s"), row(rules, "r"), row(MEMBER, "x"), row(MEMBER, "y"), row(MEMBER, "h")
    parts: list[Query] = []
    for xz, yz, xy, _ in PLACEMENTS:
        part = select(*s[_SIDES], r.rule, side=_SIDES.index(xy.removeprefix("-")), turned=int(xy[0] == "-")).from_(s)
        part = part.join(x, x.signature == s[xz]).join(r, r.l0 == x.literal)
        part = part.join(y, y.signature == s[yz], y.literal == r.l1)
        parts.append(part.join(h, h.signature == s[xy], h.literal == r.head))
    return select("*").distinct().from_(union_all(parts).as_("k"))
