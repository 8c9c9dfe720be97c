"""Rules whose body is a chain of three or more binary atoms from one argument of the head to the other, many at once.

    h(X, Y) <- p(X, A), q(A, B), r(B, Y)

We walk a body from one of its ends, all atoms but the last, and add up paths that end alike; bodies that begin alike share that
part. If the last atom offers fewer ways on than there are tuples that carry evidence, we follow those ways and look up the
evidence; otherwise we follow the evidence and look up the last atom. No hub is expanded against another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from rulescore.logic.plan import Bound, Shape
from rulescore.sql.build import (
    Select,
    all_of,
    column,
    count_rows,
    create,
    different,
    equal,
    fact_table,
    name,
    named,
    number,
    select,
    table,
    total,
    tuple_table,
    union_all,
)
from rulescore.sql.horn.claims import HornContext, flipped, head_table
from rulescore.sql.horn.evidence import weighed
from rulescore.sql.horn.signatures import INVERSE

DEGREE = name("degree")
REACH = name("reach")

_FACT = fact_table(2)
_TUPLE = tuple_table(2)


def start_table(group: int) -> str:
    return name(f"start_{group}")


def end_table(group: int) -> str:
    return name(f"end_{group}")


def way_through(shape: Shape) -> tuple[tuple[int, bool], ...] | None:
    """The atoms of a chain from the head's first argument to its second, and which of them are read backwards; None unless the body
    is a chain of at least three atoms."""
    slots = [[slot.index for slot in atom.slots if isinstance(slot, Bound)] for atom in shape.atoms]
    if (
        len(slots) < 3
        or shape.negated
        or shape.tests
        or shape.head != (Bound(0), Bound(1))
        or shape.variables != len(slots) + 1
        or any(len(set(pair)) != 2 or len(pair) != shape.atoms[i].arity for i, pair in enumerate(slots))
    ):
        return None
    here, left, way = 0, set(range(len(slots))), []
    while left:
        following = [i for i in left if here in slots[i]]
        if len(following) != 1:
            return None
        (atom,) = following
        backwards = slots[atom][1] == here
        way.append((atom, backwards))
        left.remove(atom)
        here = slots[atom][0 if backwards else 1]
    return tuple(way) if here == 1 else None


def create_degrees() -> exp.Create:
    """How many facts of a literal begin with a constant."""
    fields = [column("f", "literal"), column("f", "a0")]
    query = select(*fields, named(count_rows(), "n")).from_(table(_FACT, "f"))
    return create(DEGREE, query.group_by(*(field.copy() for field in fields)))


def create_reach() -> exp.Create:
    """How many tuples that carry evidence begin with a constant."""
    query = select(column("t", "a0"), named(count_rows(), "n")).from_(table(_TUPLE, "t")).where(_carries_fact())
    return create(REACH, query.group_by(column("t", "a0")))


def _carries_fact() -> exp.Expr:
    return exp.GT(this=column("t", "signature"), expression=number(0))


def walks(group: int, length: int, stride: int) -> Select:
    """How many paths each start of `length` atoms has, including the paths of its shorter beginnings."""
    first = all_of(
        (
            equal(column("d", "literal"), flipped(column("s", "l0"), stride)),
            equal(column("d", "a0"), column("f", "a0")),
        )
    )
    n: exp.Expr = exp.cast(column("d", "n"), "DOUBLE", copy=False)
    query = (
        select(column("s", "start"), named(column("f", "a1"), "a"), named(total(n), "n"))
        .from_(table(start_table(group), "s"))
        .join(table(_FACT, "f"), on=equal(column("f", "literal"), column("s", "l1")))
        .join(table(DEGREE, "d"), on=first)
        .group_by(column("s", "start"), column("f", "a1"))
    )
    steps = [query]
    for index in range(2, length):
        on = all_of((equal(column("f", "literal"), column("s", f"l{index}")), equal(column("f", "a0"), column("w", "a"))))
        steps.append(
            select(column("s", "start"), named(column("f", "a1"), "a"), named(total(column("w", "n")), "n"))
            .from_(table(f"walked_{index - 1}", "w"))
            .join(table(start_table(group), "s"), on=equal(column("s", "start"), column("w", "start")))
            .join(table(_FACT, "f"), on=on)
            .group_by(column("s", "start"), column("f", "a1"))
        )
    found = select()
    for index, step in enumerate(steps, start=1):
        found = found.with_step(f"walked_{index}", step)
    parts = [select(column("w", "start"), column("w", "n")).from_(table(f"walked_{i}", "w")) for i in range(1, length)]
    found = found.select(column("u", "start"), named(total(column("u", "n")), "n"))
    return found.from_(union_all(parts).subquery("u")).group_by(column("u", "start"))


def dataset_counts(group: int, length: int, piece: int, slice_: tuple[int, int], context: HornContext) -> Select:
    """Counts per rule over the data, for the bodies of one piece, whose starts have `length` atoms. If the piece is cut, only paths
    whose first constant leaves the remainder `slice_[0]` when divided by `slice_[1]`."""
    query = select().with_step("walked_1", _first(group, piece, slice_, distinct=context.distinct_variables))
    for index in range(2, length):
        query = query.with_step(f"walked_{index}", _further(group, index, distinct=context.distinct_variables))
    passed = [f"v{i}" for i in range(1, length)] if context.distinct_variables else []
    query = query.with_step("ended", _ended(group, f"walked_{length - 1}", passed))
    met = union_all([_by_last_atom(passed), _by_evidence(passed)])
    fields = [column("m", field) for field in ("body", "turned", "signature")]
    added = select(*fields, named(total(column("m", "n")), "n")).from_(met.subquery("m"))
    query = query.with_step("met", added.group_by(*(field.copy() for field in fields)))
    return weighed(query.with_step("located", _located(group)), ("rule",), context)


def _first(group: int, piece: int, slice_: tuple[int, int], *, distinct: bool) -> Select:
    """The first two atoms of the starts of a piece: `x` is where paths begin, `b` where they are."""
    on = all_of((equal(column("g", "literal"), column("s", "l1")), equal(column("g", "a0"), column("f", "a1"))))
    query = (
        select()
        .from_(table(start_table(group), "s"))
        .join(table(_FACT, "f"), on=equal(column("f", "literal"), column("s", "l0")))
        .join(table(_FACT, "g"), on=on)
        .where(equal(column("s", "piece"), number(piece)))
    )
    remainder, divisor = slice_
    if divisor > 1:
        query = query.where(equal(exp.Mod(this=column("f", "a0"), expression=number(divisor)), number(remainder)))
    x, a, b = column("f", "a0"), column("f", "a1"), column("g", "a1")
    fields = [("start", column("s", "start")), ("x", x), ("b", b)]
    if distinct:
        query = query.where(*(different(left.copy(), right.copy()) for left, right in combinations((x, a, b), 2)))
        return query.select(*(named(value, field) for field, value in [*fields, ("n", number(1)), ("v1", a.copy())]))
    return _added(query, fields, count_rows())


def _further(group: int, index: int, *, distinct: bool) -> Select:
    """The paths of every start, one atom longer."""
    on = all_of((equal(column("f", "literal"), column("s", f"l{index}")), equal(column("f", "a0"), column("w", "b"))))
    query = (
        select()
        .from_(table(f"walked_{index - 1}", "w"))
        .join(table(start_table(group), "s"), on=equal(column("s", "start"), column("w", "start")))
        .join(table(_FACT, "f"), on=on)
    )
    b = column("f", "a1")
    fields = [("start", column("w", "start")), ("x", column("w", "x")), ("b", b)]
    if distinct:
        passed = [f"v{i}" for i in range(1, index)]
        query = query.where(*(different(b.copy(), column("w", field)) for field in ("x", "b", *passed)))
        fields += [("n", column("w", "n")), *((field, column("w", field)) for field in passed), (f"v{index}", column("w", "b"))]
        return query.select(*(named(value, field) for field, value in fields))
    return _added(query, fields, total(column("w", "n")))


def _added(query: Select, fields: Sequence[tuple[str, exp.Expr]], n: exp.Expr) -> Select:
    query = query.select(*(named(value, field) for field, value in fields), named(n, "n"))
    return query.group_by(*(value.copy() for _, value in fields))


def _ended(group: int, walked: str, passed: Sequence[str]) -> Select:
    """Walked paths with the last atom of each body that begins so; `onward` says whether that atom has fewer ways on than there
    are tuples that carry evidence."""
    on = all_of((equal(column("d", "literal"), column("e", "literal")), equal(column("d", "a0"), column("w", "b"))))
    onward = exp.LTE(this=column("d", "n"), expression=column("r", "n"))
    return (
        select(*(column("e", field) for field in ("body", "literal", "turned")))
        .select(*(column("w", field) for field in ("x", "b", "n", *passed)), named(onward, "onward"))
        .from_(table(walked, "w"))
        .join(table(end_table(group), "e"), on=equal(column("e", "start"), column("w", "start")))
        .join(table(DEGREE, "d"), on=on)
        .join(table(REACH, "r"), on=equal(column("r", "a0"), column("w", "x")))
    )


def _met() -> Select:
    query = select(*(column("e", field) for field in ("body", "turned", "n")), column("t", "signature"))
    return query.from_(table("ended", "e"))


def _distinct(y: exp.Expr, passed: Sequence[str]) -> list[exp.Expr]:
    return [different(y.copy(), column("e", field)) for field in ("x", "b", *passed)] if passed else []


def _by_last_atom(passed: Sequence[str]) -> Select:
    y = column("f", "a1")
    last = all_of((equal(column("f", "literal"), column("e", "literal")), equal(column("f", "a0"), column("e", "b"))))
    evidence = all_of((equal(column("t", "a0"), column("e", "x")), equal(column("t", "a1"), y), _carries_fact()))
    query = _met().join(table(_FACT, "f"), on=last).join(table(_TUPLE, "t"), on=evidence)
    return query.where(column("e", "onward"), *_distinct(y, passed))


def _by_evidence(passed: Sequence[str]) -> Select:
    y = column("t", "a1")
    evidence = all_of((equal(column("t", "a0"), column("e", "x")), _carries_fact()))
    last = all_of(
        (
            equal(column("f", "literal"), column("e", "literal")),
            equal(column("f", "a0"), column("e", "b")),
            equal(column("f", "a1"), y),
        )
    )
    query = _met().join(table(_TUPLE, "t"), on=evidence).join(table(_FACT, "f"), on=last)
    return query.where(exp.Not(this=column("e", "onward")), *_distinct(y, passed))


def _located(group: int) -> Select:
    """Counts of bodies per evidence, as claims of the rules that have the body. Bodies walked from the other end found their
    evidence with its arguments reversed."""
    turned = equal(column("m", "turned"), number(1))
    signature = exp.Case(ifs=[exp.If(this=turned, true=column("i", "inverse"))], default=column("m", "signature"))
    return (
        select(column("h", "rule"), named(column("h", "literal"), "head"), named(signature, "signature"), column("m", "n"))
        .from_(table("met", "m"))
        .join(table(INVERSE, "i"), on=equal(column("i", "signature"), column("m", "signature")))
        .join(table(head_table(group), "h"), on=equal(column("h", "body"), column("m", "body")))
    )
