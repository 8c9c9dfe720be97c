"""Signatures: a number for each set of literals that hold of a tuple.

There are far fewer signatures than tuples. If one literal holds of a tuple, as for most tuples, the signature is that literal's
number plus one; larger sets have numbers beyond all literals; 0 is the empty set.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from rulescore.logic.refutation import Order
from rulescore.sql.horn.claims import flipped
from rulescore.sql.names import argument, arguments, candidate_table, fact_table, name, tuple_table
from rulescore.sql.query import Create, Query, Row, Select, create, exists, row, same, select, union_all
from rulescore.sql.words import Sql, count_rows, identifier, row_number, sorted_list, sql, when

SIGNATURE = name("signature")
MEMBER = name("member")
INVERSE = name("inverse_signature")


def _extremes(arity: int) -> str:
    return name(f"extremes_{arity}")


def _sets(arity: int) -> str:
    return name(f"signature_set_{arity}")


def _literals(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> Row:
    """Literals on tuples. `marked` adds a mark for every two orders that read a tuple alike, to distinguish one fact read both ways
    from two facts."""
    if not marked:
        return row(fact_table(arity), "f")
    x = row(fact_table(arity), "x")
    parts: list[Query] = [select(*x[arguments(arity)], x.literal).from_(x)]
    for (i, first), (j, second) in combinations(enumerate(orders), 2):
        alike = [x[argument(a)] == x[argument(b)] for a, b in zip(first, second, strict=True) if a != b]
        mark = sql(order_mark(i, j, stride)).integer()
        parts.append(select(*x[arguments(arity)], literal=mark).distinct().from_(x).where(*alike))
    return union_all(parts).as_("f")


def order_mark(first: int, second: int, stride: int) -> int:
    """The mark of two orders that read a tuple alike; no literal is negative."""
    return -1 - (first * stride + second)


def create_extremes(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> Create:
    """Each tuple that carries a fact, with the least and the greatest of its literals."""
    f = _literals(arity, orders, stride, marked=marked)
    keys = f[arguments(arity)]
    return create(_extremes(arity), select(*keys, least=f.literal.min(), greatest=f.literal.max()).from_(f).group_by(*keys))


def create_sets(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> Create:
    """Each tuple of which several literals hold, with the sorted list of them."""
    f, x = _literals(arity, orders, stride, marked=marked), row(_extremes(arity), "x")
    keys = arguments(arity)
    query = select(*f[keys], members=sorted_list(f.literal)).from_(f).join(x, *same(x, f, keys), x.least != x.greatest)
    return create(_sets(arity), query.group_by(*f[keys]))


def create_signatures(arities: Sequence[int], literals: int) -> Create:
    """A number for each set of several literals, beyond those of the single ones."""
    rows = [row(_sets(arity), "t") for arity in arities]
    s = union_all([select(t.members).distinct().from_(t) for t in rows]).as_("s")
    return create(SIGNATURE, select((row_number() + literals).integer().named("signature"), s.members).from_(s))


def create_tuples(arity: int, *, facts: bool, candidates: bool) -> Create:
    """Every tuple of a fact or a prediction, with its signature; 0 if no fact holds of it."""
    keys = arguments(arity)
    x, t, s, c = row(_extremes(arity), "x"), row(_sets(arity), "t"), row(SIGNATURE, "s"), row(candidate_table(arity), "c")
    parts: list[Query] = []
    if facts:
        parts.append(select(*x[keys], signature=_single(x.least)).from_(x).where(x.least == x.greatest))
        parts.append(select(*t[keys], s.signature).from_(t).join(s, s.members == t.members))
    if candidates:
        fresh = select(*c[keys], signature=sql(0).integer()).distinct().from_(c)
        parts.append(fresh.where(~exists(x, *same(x, c, keys))) if facts else fresh)
    return create(tuple_table(arity), union_all(parts))


def _single(literal: Sql) -> Sql:
    return (literal + 1).integer()


def create_members(arities: Sequence[int]) -> Create:
    """Signatures and the literals in them."""
    s = row(SIGNATURE, "s")
    literal = exp.Unnest(expressions=[s.members.node], alias=identifier("literal"))
    several = select(s.signature, literal).from_(s)
    rows = [row(_extremes(arity), "x") for arity in arities]
    singles = [select(signature=_single(x.least), literal=x.least).distinct().from_(x).where(x.least == x.greatest) for x in rows]
    return create(MEMBER, union_all([several, *singles]))


def create_inverses(stride: int) -> Create:
    """The signature of each binary tuple turned round: the same literals, each reversed."""
    m, s, x = row(MEMBER, "m"), row(SIGNATURE, "s"), row("turned", "x")
    # Marks of alike orders are negative, and hold of the tuple either way round.
    literal = when(m.literal < 0, m.literal, flipped(m.literal, stride))
    turned = select(m.signature, members=sorted_list(literal.integer()), n=count_rows()).from_(m).group_by(m.signature)
    several = select(x.signature, inverse=s.signature).from_(x).join(s, s.members == x.members)
    single = select(x.signature, inverse=_single(flipped(m.literal, stride))).from_(x)
    single = single.join(m, m.signature == x.signature).where(x.n == 1)
    return create(INVERSE, select("*").with_step("turned", turned).from_(union_all([several, single]).as_("b")))


def intermediate_tables(arity: int) -> tuple[str, ...]:
    """Tables to drop once signatures are numbered."""
    return (_extremes(arity), _sets(arity))


def cooccurrences(arity: int, stride: int, predicates: int) -> Select:
    """Pairs of literals of observed facts, arguments in the order written, and the number of tuples they share."""
    t, x, y = row(tuple_table(arity), "t"), row(MEMBER, "x"), row(MEMBER, "y")
    w = select(t.signature, n=count_rows()).from_(t).group_by(t.signature).as_("w")
    return (
        select(left=x.literal, right=y.literal, n=w.n.sum())
        .from_(w)
        .join(x, x.signature == w.signature)
        .join(y, y.signature == w.signature, x.literal < y.literal)
        .where(*_as_written(x, stride, predicates), *_as_written(y, stride, predicates))
        .group_by(x.literal, y.literal)
    )


def _as_written(fact: Row, stride: int, predicates: int) -> tuple[Sql, Sql]:
    """A literal of an observed fact, arguments in the order written."""
    return fact.literal % stride == 0, _observed(fact, stride, predicates)


def _observed(fact: Row, stride: int, predicates: int) -> Sql:
    return fact.literal.between(0, stride * predicates - 1)


def tuples_with_facts(arity: int, arities: Sequence[int], stride: int, predicates: int) -> Select:
    """The number of constants in observed facts of any arity, of pairs that have a fact in either order, of longer tuples that have
    one as written."""
    places = [(n, [position]) for n in arities for position in range(n)] if arity == 1 else [(arity, list(range(arity)))]
    parts: list[Query] = []
    for width, positions in places:
        f = row(fact_table(width), "f")
        found = select(**{argument(place): f[argument(position)] for place, position in enumerate(positions)}).from_(f)
        wanted = [_observed(f, stride, predicates)] if arity == 2 else _as_written(f, stride, predicates)
        parts.append(found.where(*wanted))
    u = union_all(parts).as_("u")
    d = select(*u[arguments(arity)]).from_(u).distinct().as_("d")
    return select(n=count_rows()).from_(d)
