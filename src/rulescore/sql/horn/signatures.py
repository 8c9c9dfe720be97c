"""Signatures: a number for each set of literals that hold of a tuple.

There are far fewer signatures than tuples. If one literal holds of a tuple, as for most tuples, the signature is that literal's
number plus one; larger sets have numbers beyond all literals; 0 is the empty set.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from rulescore.logic.refutation import Order
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    argument,
    arguments,
    candidate_table,
    column,
    count_rows,
    create,
    different,
    equal,
    exists,
    fact_table,
    identifier,
    integer,
    name,
    named,
    negation,
    number,
    select,
    table,
    total,
    tuple_table,
    union_all,
)
from rulescore.sql.horn.claims import flipped

SIGNATURE = name("signature")
MEMBER = name("member")
INVERSE = name("inverse_signature")


def _extremes(arity: int) -> str:
    return name(f"extremes_{arity}")


def _sets(arity: int) -> str:
    return name(f"signature_set_{arity}")


def _literals(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> exp.Expr:
    """Literals on tuples. `marked` adds a mark for every two orders that read a tuple alike, to distinguish one fact read both ways
    from two facts."""
    facts = table(fact_table(arity), "f")
    if not marked:
        return facts
    parts: list[Query] = [select(*(column("x", c) for c in [*arguments(arity), "literal"])).from_(table(fact_table(arity), "x"))]
    for (i, first), (j, second) in combinations(enumerate(orders), 2):
        alike = [equal(column("x", argument(a)), column("x", argument(b))) for a, b in zip(first, second, strict=True) if a != b]
        mark = named(integer(number(order_mark(i, j, stride))), "literal")
        part = select(*(column("x", a) for a in arguments(arity)), mark).distinct()
        parts.append(part.from_(table(fact_table(arity), "x")).where(*alike))
    return union_all(parts).subquery("f")


def order_mark(first: int, second: int, stride: int) -> int:
    """The mark of two orders that read a tuple alike; no literal is negative."""
    return -1 - (first * stride + second)


def create_extremes(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> exp.Create:
    """Each tuple that carries a fact, with the least and the greatest of its literals."""
    keys = [column("f", a) for a in arguments(arity)]
    least, greatest = exp.Min(this=column("f", "literal")), exp.Max(this=column("f", "literal"))
    query = select(*keys, named(least, "least"), named(greatest, "greatest"))
    query = query.from_(_literals(arity, orders, stride, marked=marked))
    return create(_extremes(arity), query.group_by(*(key.copy() for key in keys)))


def create_sets(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> exp.Create:
    """Each tuple of which several literals hold, with the sorted list of them."""
    keys = arguments(arity)
    members = sorted_list(column("f", "literal"))
    query = select(*(column("f", a) for a in keys), named(members, "members"))
    query = query.from_(_literals(arity, orders, stride, marked=marked))
    on = [equal(column("x", a), column("f", a)) for a in keys]
    on.append(different(column("x", "least"), column("x", "greatest")))
    query = query.join(table(_extremes(arity), "x"), on=all_of(on))
    return create(_sets(arity), query.group_by(*(column("f", a) for a in keys)))


def sorted_list(value: exp.Expr) -> exp.Expr:
    return exp.ArrayAgg(this=exp.Order(this=value, expressions=[exp.Ordered(this=value.copy())]))


def create_signatures(arities: Sequence[int], literals: int) -> exp.Create:
    """A number for each set of several literals, beyond those of the single ones."""
    sets = union_all([select(column("t", "members")).distinct().from_(table(_sets(n), "t")) for n in arities])
    beyond = exp.Add(this=exp.Window(this=exp.RowNumber()), expression=number(literals))
    query = select(named(integer(beyond), "signature"), column("s", "members"))
    return create(SIGNATURE, query.from_(sets.subquery("s")))


def create_tuples(arity: int, *, facts: bool, candidates: bool) -> exp.Create:
    """Every tuple of a fact or a prediction, with its signature; 0 if no fact holds of it."""
    keys = arguments(arity)
    parts: list[Query] = []
    if facts:
        single = select(*(column("x", a) for a in keys), named(_single(column("x", "least")), "signature"))
        parts.append(single.from_(table(_extremes(arity), "x")).where(equal(column("x", "least"), column("x", "greatest"))))
        parts.append(
            select(*(column("t", a) for a in keys), column("s", "signature"))
            .from_(table(_sets(arity), "t"))
            .join(table(SIGNATURE, "s"), on=equal(column("s", "members"), column("t", "members")))
        )
    if candidates:
        fresh = select(*(column("c", a) for a in keys), named(integer(number(0)), "signature"))
        fresh = fresh.distinct().from_(table(candidate_table(arity), "c"))
        if facts:
            known = select(number(1)).from_(table(_extremes(arity), "x"))
            fresh = fresh.where(negation(exists(known.where(*(equal(column("x", a), column("c", a)) for a in keys)))))
        parts.append(fresh)
    return create(tuple_table(arity), union_all(parts))


def _single(literal: exp.Expr) -> exp.Expr:
    return integer(exp.Add(this=literal, expression=number(1)))


def create_members(arities: Sequence[int]) -> exp.Create:
    """Signatures and the literals in them."""
    literal = exp.Unnest(expressions=[column("s", "members")], alias=identifier("literal"))
    several = select(column("s", "signature"), literal).from_(table(SIGNATURE, "s"))
    singles = [
        select(named(_single(column("x", "least")), "signature"), named(column("x", "least"), "literal"))
        .distinct()
        .from_(table(_extremes(n), "x"))
        .where(equal(column("x", "least"), column("x", "greatest")))
        for n in arities
    ]
    return create(MEMBER, union_all([several, *singles]))


def create_inverses(stride: int) -> exp.Create:
    """The signature of each binary tuple turned round: the same literals, each reversed."""
    literal = column("m", "literal")
    # Marks of alike orders are negative, and hold of the tuple either way round.
    mark = exp.If(this=exp.LT(this=literal, expression=number(0)), true=literal.copy())
    turned = exp.Case(ifs=[mark], default=flipped(literal.copy(), stride))
    members = sorted_list(integer(turned))
    sets = select(column("m", "signature"), named(members, "members"), named(count_rows(), "n"))
    sets = sets.from_(table(MEMBER, "m")).group_by(column("m", "signature"))
    several = (
        select(column("x", "signature"), named(column("s", "signature"), "inverse"))
        .from_(table("turned", "x"))
        .join(table(SIGNATURE, "s"), on=equal(column("s", "members"), column("x", "members")))
    )
    only = flipped(column("m", "literal"), stride)
    single = (
        select(column("x", "signature"), named(_single(only), "inverse"))
        .from_(table("turned", "x"))
        .join(table(MEMBER, "m"), on=equal(column("m", "signature"), column("x", "signature")))
        .where(equal(column("x", "n"), number(1)))
    )
    both = union_all([several, single]).subquery("b")
    return create(INVERSE, select("*").with_step("turned", sets).from_(both))


def intermediate_tables(arity: int) -> tuple[str, ...]:
    """Tables to drop once signatures are numbered."""
    return (_extremes(arity), _sets(arity))


def cooccurrences(arity: int, stride: int, predicates: int) -> Select:
    """Pairs of literals of observed facts, arguments in the order written, and the number of tuples they share."""
    weights = select(column("t", "signature"), named(count_rows(), "n")).from_(table(tuple_table(arity), "t"))
    weights = weights.group_by(column("t", "signature"))
    as_written = [condition for alias in ("x", "y") for condition in _as_written(alias, stride, predicates)]
    return (
        select(named(column("x", "literal"), "left"), named(column("y", "literal"), "right"), named(total(column("w", "n")), "n"))
        .from_(weights.subquery("w"))
        .join(table(MEMBER, "x"), on=equal(column("x", "signature"), column("w", "signature")))
        .join(
            table(MEMBER, "y"),
            on=all_of(
                (
                    equal(column("y", "signature"), column("w", "signature")),
                    exp.LT(this=column("x", "literal"), expression=column("y", "literal")),
                )
            ),
        )
        .where(*as_written)
        .group_by(column("x", "literal"), column("y", "literal"))
    )


def _as_written(alias: str, stride: int, predicates: int) -> tuple[exp.Expr, exp.Expr]:
    """A literal of an observed fact, arguments in the order written."""
    return (
        equal(exp.Mod(this=column(alias, "literal"), expression=number(stride)), number(0)),
        _observed(alias, stride, predicates),
    )


def _observed(alias: str, stride: int, predicates: int) -> exp.Expr:
    return exp.Between(this=column(alias, "literal"), low=number(0), high=number(stride * predicates - 1))


def tuples_with_facts(arity: int, arities: Sequence[int], stride: int, predicates: int) -> Select:
    """The number of constants in observed facts of any arity, of pairs that have a fact in either order, of longer tuples that have
    one as written."""
    places = [(one, [position]) for one in arities for position in range(one)] if arity == 1 else [(arity, list(range(arity)))]
    parts: list[Query] = []
    for one, positions in places:
        found = select(*(named(column("f", argument(position)), argument(place)) for place, position in enumerate(positions)))
        wanted = [_observed("f", stride, predicates)] if arity == 2 else _as_written("f", stride, predicates)
        parts.append(found.from_(table(fact_table(one), "f")).where(*wanted))
    distinct = select(*(column("u", one) for one in arguments(arity))).from_(union_all(parts).subquery("u"))
    return select(named(count_rows(), "n")).from_(distinct.distinct().subquery("d"))
