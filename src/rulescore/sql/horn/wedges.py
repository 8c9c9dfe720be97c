"""Rules of the commonest heavy shape, `h(X, Y) <- p(X, Z), q(Y, Z)` in any directions, counted by triangles.

Every evaluable grounding is a triangle of tuples that carry facts: X-Z and Y-Z for the body, X-Y for the evidence. All triangles
of the graph are found once, each from its corner of least degree, and counted per triple of signatures; only then do the rules
come in. The cost hardly depends on how many rules there are, and no hub is ever expanded against another.

Predictions are one side of a triangle whose other two sides are observed (a *spoke* each, from its ends to the third corner).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rulescore.logic.plan import Bound, Shape, ShapeAtom
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    big,
    candidate_table,
    column,
    count_rows,
    create,
    different,
    equal,
    fact_table,
    integer,
    name,
    named,
    number,
    one_if,
    select,
    table,
    total,
    tuple_table,
    union_all,
)
from rulescore.sql.horn.claims import body_table, flipped, head_table
from rulescore.sql.horn.context import LOOPED, LOOPED_FACT, LOOPED_TUPLE, HornContext
from rulescore.sql.horn.evidence import COUNTS, OPPOSES, count_judged, is_found, verdict_of, weighed, with_verdicts
from rulescore.sql.horn.signatures import INVERSE, MEMBER

WEDGE = Shape(
    atoms=(ShapeAtom((Bound(0), Bound(2))), ShapeAtom((Bound(1), Bound(2)))),
    negated=(),
    tests=(),
    variables=3,
    head=(Bound(0), Bound(1)),
)

RANK = name("rank")
EDGE = name("edge")
TRIANGLE = name("triangle")
SPOKE = name("spoke")

_TUPLE = tuple_table(2)


def _carries_fact(alias: str) -> exp.Expr:
    return exp.GT(this=column(alias, "signature"), expression=number(0))


def create_looped() -> Iterator[exp.Create]:
    """The predictions that join a constant to itself or at one of whose ends a fact does, and the facts and tuples that have no
    other constants than one such prediction."""
    loop = equal(column("f", "a0"), column("f", "a1"))
    loops = select(column("f", "a0")).distinct().from_(table(fact_table(2), "f")).where(loop)
    query = select(*(column("c", one) for one in ("literal", "a0", "a1", "prediction", "observed")))
    query = query.from_(table(candidate_table(2), "c"))
    for end, alias in (("a0", "x"), ("a1", "y")):
        query = query.join(loops.subquery(alias), on=equal(column(alias, "a0"), column("c", end)), join_type="left")
    found = (is_found(alias, "a0") for alias in ("x", "y"))
    yield create(LOOPED, query.where(any_of([equal(column("c", "a0"), column("c", "a1")), *found])))
    ends = [("a0", "a1"), ("a0", "a0"), ("a1", "a1")]
    pairs = union_all([select(named(column("c", i), "a0"), named(column("c", j), "a1")).from_(table(LOOPED, "c")) for i, j in ends])
    known = select(column("u", "a0"), column("u", "a1")).distinct().from_(pairs.subquery("u"))
    for target, source, field in ((LOOPED_FACT, fact_table(2), "literal"), (LOOPED_TUPLE, _TUPLE, "signature")):
        rows = select(*(column("f", one) for one in (field, "a0", "a1"))).from_(table(source, "f"))
        on = all_of(equal(column("p", one), column("f", one)) for one in ("a0", "a1"))
        yield create(target, rows.join(known.subquery("p"), on=on))


def create_ranks() -> exp.Create:
    """Constants by the number of their neighbours, fewest first."""
    degrees = select(column("t", "a0"), named(count_rows(), "degree")).from_(table(_TUPLE, "t"))
    degrees = degrees.where(_carries_fact("t")).group_by(column("t", "a0"))
    order = exp.Order(expressions=[exp.Ordered(this=column("d", "degree")), exp.Ordered(this=column("d", "a0"))])
    rank = named(integer(exp.Window(this=exp.RowNumber(), order=order)), "rank")
    return create(RANK, select(column("d", "a0"), rank).from_(degrees.subquery("d")))


def create_edges() -> exp.Create:
    """Tuples that carry facts, each pair of constants once, from the lower rank `u` to the higher `v`; `key` is both in one."""
    u, v = column("x", "rank"), column("y", "rank")
    return create(
        EDGE,
        select(named(u, "u"), named(v, "v"), named(_key(u.copy(), v.copy()), "key"), named(column("t", "signature"), "s"))
        .from_(table(_TUPLE, "t"))
        .join(table(RANK, "x"), on=equal(column("x", "a0"), column("t", "a0")))
        .join(table(RANK, "y"), on=equal(column("y", "a0"), column("t", "a1")))
        .where(_carries_fact("t"), exp.LTE(this=u.copy(), expression=v.copy()))
        .order_by(u.copy(), v.copy()),
    )


# A prime beyond every rank. PostgreSQL hashes both halves of a large number together: with a power of 2 here, all keys of one sum
# would fall into one place.
_BEYOND = 2_654_435_761


def _key(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Two numbers in one, which joins faster than two."""
    return exp.Add(this=exp.Mul(this=big(left), expression=number(_BEYOND)), expression=right)


def create_triangles(*, distinct: bool) -> exp.Create:
    """Triangles u ≤ v ≤ w per triple of signatures, with their number; corners may coincide unless they must be distinct."""
    beyond = exp.GT if distinct else exp.GTE
    values: dict[str, exp.Expr] = {"uv": column("e", "s"), "uw": column("f", "s"), "vw": column("g", "s")}
    if distinct:
        values |= {"u_is_v": number(0), "v_is_w": number(0)}
    else:
        values |= {
            "u_is_v": one_if(equal(column("e", "u"), column("e", "v"))),
            "v_is_w": one_if(equal(column("e", "v"), column("f", "v"))),
        }
    second = all_of((equal(column("f", "u"), column("e", "u")), beyond(this=column("f", "v"), expression=column("e", "v"))))
    third = equal(column("g", "key"), _key(column("e", "v"), column("f", "v")))
    query = (
        select(*(named(value, field) for field, value in values.items()), named(count_rows(), "n"))
        .from_(table(EDGE, "e"))
        .join(table(EDGE, "f"), on=second)
        .join(table(EDGE, "g"), on=third)
    )
    if distinct:
        query = query.where(different(column("e", "u"), column("e", "v")))
    return create(TRIANGLE, query.group_by(*(value.copy() for value in values.values() if not isinstance(value, exp.Literal))))


# The six ways in which X, Y, Z can be the corners u, v, w: the sides XZ, YZ and XY (a `-` reads the side backwards), and the
# coincidences of corners under which another way is the same.
_PLACEMENTS = (
    ("uw", "vw", "uv", ()),
    ("uv", "-vw", "uw", ("v_is_w",)),
    ("vw", "uw", "-uv", ("u_is_v",)),
    ("-uv", "-uw", "vw", ("u_is_v",)),
    ("-vw", "uv", "-uw", ("v_is_w",)),
    ("-uw", "-uv", "-vw", ("u_is_v", "v_is_w")),
)


def _sides() -> Select:
    """Triangles with each side's signature both ways."""
    query = select(*(column("t", field) for field in ("uv", "uw", "vw", "u_is_v", "v_is_w", "n")))
    query = query.from_(table(TRIANGLE, "t"))
    for side in ("uv", "uw", "vw"):
        alias = f"i_{side}"
        query = query.select(named(column(alias, "inverse"), f"-{side}"))
        query = query.join(table(INVERSE, alias), on=equal(column(alias, "signature"), column("t", side)))
    return query


def _placed() -> Query:
    parts = []
    for xz, yz, xy, excluded in _PLACEMENTS:
        fields = [named(column("s", side), field) for side, field in ((xz, "xz"), (yz, "yz"), (xy, "xy"))]
        part = select(*fields, column("s", "n")).from_(table("sides", "s"))
        parts.append(part.where(*(equal(column("s", flag), number(0)) for flag in excluded)))
    return union_all(parts)


def _used(group: int, index: int, *, turned: bool = False, stride: int = 2) -> Select:
    """Signatures and those of their literals that stand at an atom of some body."""
    literals = select(column("b", f"l{index}")).distinct().from_(table(body_table(group), "b"))
    wanted = column("d", f"l{index}")
    return (
        select(column("m", "signature"), named(wanted, "literal"))
        .from_(literals.subquery("d"))
        .join(
            table(MEMBER, "m"),
            on=equal(column("m", "literal"), flipped(wanted.copy(), stride) if turned else wanted.copy()),
        )
    )


def _located(group: int, keys: tuple[str, ...] = ()) -> Select:
    """Counts of bodies per evidence, as claims of the rules that have the body."""
    return (
        select(column("h", "rule"), named(column("h", "literal"), "head"))
        .select(*(column("c", c) for c in (*keys, "signature", "n")))
        .from_(table("counted", "c"))
        .join(table(head_table(group), "h"), on=equal(column("h", "body"), column("c", "body")))
    )


def dataset_counts(group: int, context: HornContext) -> Select:
    """Counts per rule over the data."""
    counted = (
        select(column("b", "body"), named(column("p", "xy"), "signature"), named(total(column("p", "n")), "n"))
        .from_(table("placed", "p"))
        .join(table("first", "x"), on=equal(column("x", "signature"), column("p", "xz")))
        .join(table("second", "y"), on=equal(column("y", "signature"), column("p", "yz")))
        .join(table(body_table(group), "b"), on=_body(column("x", "literal"), column("y", "literal")))
        .group_by(column("b", "body"), column("p", "xy"))
    )
    query = select().with_step("sides", _sides()).with_step("placed", _placed())
    query = query.with_step("first", _used(group, 0)).with_step("second", _used(group, 1))
    return weighed(query.with_step("counted", counted).with_step("located", _located(group)), ("rule",), context)


def _body(first: exp.Expr, second: exp.Expr) -> exp.Expr:
    return all_of((equal(column("b", "l0"), first), equal(column("b", "l1"), second)))


def create_spokes(*, distinct: bool) -> exp.Create:
    """For each predicted pair of constants, the signatures of its two ends' tuples with a third constant, and how many."""
    pairs = select(column("c", "a0"), column("c", "a1")).distinct().from_(table(candidate_table(2), "c"))
    if distinct:
        pairs = pairs.where(different(column("c", "a0"), column("c", "a1")))
    corner = column("s", "a1")
    # Expanding the end of lower degree is enough: predicted pairs are held both ways round, so the other order is its mirror.
    found = (
        select(
            column("p", "a0"),
            column("p", "a1"),
            named(column("s", "signature"), "s0"),
            named(column("r", "signature"), "s1"),
            named(count_rows(), "n"),
            named(one_if(exp.LT(this=column("x", "rank"), expression=column("y", "rank"))), "mirrored"),
        )
        .from_(pairs.subquery("p"))
        .join(table(RANK, "x"), on=equal(column("x", "a0"), column("p", "a0")))
        .join(
            table(RANK, "y"),
            on=all_of(
                (equal(column("y", "a0"), column("p", "a1")), exp.LTE(this=column("x", "rank"), expression=column("y", "rank")))
            ),
        )
        .join(table(_TUPLE, "s"), on=all_of((equal(column("s", "a0"), column("p", "a0")), _carries_fact("s"))))
        .join(
            table(_TUPLE, "r"),
            on=all_of((equal(column("r", "a0"), column("p", "a1")), equal(column("r", "a1"), corner.copy()), _carries_fact("r"))),
        )
        .where(different(corner, column("p", "a0")), different(corner.copy(), column("p", "a1")))
        .group_by(
            column("p", "a0"),
            column("p", "a1"),
            column("s", "signature"),
            column("r", "signature"),
            column("x", "rank"),
            column("y", "rank"),
        )
    )
    straight = select(*(column("f", c) for c in ("a0", "a1", "s0", "s1", "n"))).from_(table("found", "f"))
    turned = (
        select(
            named(column("f", "a1"), "a0"),
            named(column("f", "a0"), "a1"),
            named(column("f", "s1"), "s0"),
            named(column("f", "s0"), "s1"),
            column("f", "n"),
        )
        .from_(table("found", "f"))
        .where(equal(column("f", "mirrored"), number(1)))
    )
    both = union_all([straight, turned])
    return create(SPOKE, select("*").with_step("found", found).from_(both.subquery("b")))


def _spokes_of_prediction() -> exp.Expr:
    return all_of((equal(column("k", "a0"), column("p", "a0")), equal(column("k", "a1"), column("p", "a1"))))


def body_counts(group: int, index: int, context: HornContext) -> Select:
    """Counts per rule and prediction of groundings in which the prediction is one body atom and the third corner neither of its
    ends.

    Such a prediction is neither the other atom nor evidence on the head, so observed facts alone judge the grounding."""
    other = 1 - index
    evidence: exp.Expr = column("k", "s0")
    counted = (
        select(column("b", "body"), column("p", "prediction"))
        .from_(table(candidate_table(2), "p"))
        .join(table(SPOKE, "k"), on=_spokes_of_prediction())
        .join(table("others", "o"), on=equal(column("o", "signature"), column("k", "s1")))
        .join(
            table(body_table(group), "b"),
            on=all_of(
                (
                    equal(column("b", f"l{index}"), column("p", "literal")),
                    equal(column("b", f"l{other}"), column("o", "literal")),
                )
            ),
        )
    )
    if index == 1:
        counted = counted.join(table(INVERSE, "i"), on=equal(column("i", "signature"), evidence))
        evidence = column("i", "inverse")
    counted = counted.select(named(evidence.copy(), "signature"), named(total(column("k", "n")), "n"))
    counted = counted.group_by(column("b", "body"), column("p", "prediction"), evidence.copy())
    query = select().with_step("others", _used(group, other, turned=True, stride=context.stride))
    query = query.with_step("counted", counted).with_step("located", _located(group, ("prediction",)))
    return weighed(query, ("rule", "prediction"), context)


def _paths(group: int) -> Select:
    """Bodies between the ends of each predicted pair, with their number."""
    return (
        select(column("b", "body"), column("k", "a0"), column("k", "a1"), named(total(column("k", "n")), "n"))
        .from_(table(SPOKE, "k"))
        .join(table("first", "x"), on=equal(column("x", "signature"), column("k", "s0")))
        .join(table("second", "y"), on=equal(column("y", "signature"), column("k", "s1")))
        .join(table(body_table(group), "b"), on=_body(column("x", "literal"), column("y", "literal")))
        .group_by(column("b", "body"), column("k", "a0"), column("k", "a1"))
    )


def _paths_of_prediction() -> Select:
    query = select().from_(table("paths", "k"))
    return query.join(table(candidate_table(2), "p"), on=_spokes_of_prediction())


def _with_paths(query: Select, group: int) -> Select:
    query = query.with_step("first", _used(group, 0)).with_step("second", _used(group, 1))
    return query.with_step("paths", _paths(group))


def head_counts(group: int, context: HornContext) -> Select:
    """Counts per rule and prediction of groundings in which the prediction is the head and the third corner neither of its ends."""
    on_head = all_of((equal(column("h", "body"), column("k", "body")), equal(column("h", "literal"), column("p", "literal"))))
    query = _paths_of_prediction().join(table(head_table(group), "h"), on=on_head)
    keys = [column("h", "rule"), column("p", "prediction")]
    if context.appendix:
        n = total(column("k", "n"))
        values = [named(value, field) for value, field in zip((n, number(0), n.copy()), COUNTS, strict=True)]
        return _with_paths(query.select(*keys, *values), group).group_by(*(key.copy() for key in keys))
    same_pair = all_of((equal(column("t", "a0"), column("p", "a0")), equal(column("t", "a1"), column("p", "a1"))))
    reversed_loop = exp.Case(
        ifs=[exp.If(this=equal(column("p", "a0"), column("p", "a1")), true=flipped(column("p", "literal"), context.stride))]
    )
    located = query.join(table(_TUPLE, "t"), on=same_pair).select(
        *keys,
        named(column("h", "literal"), "head"),
        column("t", "signature"),
        column("k", "n"),
        named(reversed_loop, "reading"),
    )
    query = with_verdicts(_with_paths(select(), group).with_step("located", located), context)
    query = query.select(*(column("l", c) for c in ("rule", "prediction", "n")), named(number(1), "confirmed"))
    query = query.from_(table("located", "l")).join(table("verdict", "v"), on=verdict_of("l"), join_type="left")
    asymmetric = all_of((equal(column("o", "head"), column("l", "head")), equal(column("o", "l0"), column("l", "reading"))))
    query = query.join(table(OPPOSES, "o"), on=asymmetric, join_type="left")
    refuted = any_of((equal(column("v", "refuted"), number(1)), is_found("o", "head")))
    return count_judged(query.select(named(one_if(refuted), "refuted")), ("rule", "prediction"))


def refuter_counts(group: int) -> Select:
    """Counts per rule and prediction of groundings in which the prediction is an incompatible fact, as the appendix counts it."""
    n = total(column("k", "n"))
    keys = [column("h", "rule"), column("p", "prediction")]
    query = (
        _paths_of_prediction()
        .join(table(head_table(group), "h"), on=equal(column("h", "body"), column("k", "body")))
        .join(
            table(OPPOSES, "o"),
            on=all_of((equal(column("o", "head"), column("h", "literal")), equal(column("o", "l0"), column("p", "literal")))),
        )
    )
    values = [named(value, field) for value, field in zip((number(0), n, n.copy()), COUNTS, strict=True)]
    return _with_paths(query.select(*keys, *values), group).group_by(*(key.copy() for key in keys))
