"""Rules whose body is a chain of three or more binary atoms from one argument of the head to the other, many at once.

    h(X, Y) <- p(X, A), q(A, B), r(B, Y)

We walk a body from one of its ends, all atoms but the last, and add up paths that end alike; bodies that begin alike share that
part. If the last atom offers fewer ways on than there are tuples that we seek, we follow those ways and look up the tuple;
otherwise we follow the tuples and look up the last atom. No hub is expanded against another. Over the data we seek tuples that
carry evidence; for predictions that refute heads, the predicted tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from rulescore.logic.plan import Bound, Shape
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    candidate_table,
    column,
    count_rows,
    create,
    different,
    equal,
    exists,
    fact_table,
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
from rulescore.sql.horn.claims import flipped, head_table
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.evidence import OPPOSES, plain_counts, weighed
from rulescore.sql.horn.returns import Coincidence, coincidences, returned
from rulescore.sql.horn.signatures import INVERSE

DEGREE = name("degree")

_FACT = fact_table(2)


@dataclass(frozen=True, slots=True)
class Sought:
    """The tuples that paths must lead to: their table and what we read from it, the table of how many begin with a constant
    (`reach`), and that of how many facts of a literal lead from a constant to one with which such a tuple begins (`degree`)."""

    tuples: str
    fields: tuple[str, ...]
    reach: str
    degree: str


EVIDENCE = Sought(tuple_table(2), ("signature",), name("reach"), DEGREE)
PREDICTED = Sought(candidate_table(2), ("prediction", "literal"), name("predicted_reach"), name("predicted_degree"))


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
    return create(DEGREE, _degrees())


def create_predicted_degrees() -> exp.Create:
    on = equal(column("r", "a0"), column("f", "a1"))
    return create(PREDICTED.degree, _degrees().join(table(PREDICTED.reach, "r"), on=on))


def _degrees() -> Select:
    fields = [column("f", "literal"), column("f", "a0")]
    query = select(*fields, named(count_rows(), "n")).from_(table(_FACT, "f"))
    return query.group_by(*(field.copy() for field in fields))


def create_reach(sought: Sought) -> exp.Create:
    query = select(column("t", "a0"), named(count_rows(), "n")).from_(table(sought.tuples, "t")).where(*_conditions(sought))
    return create(sought.reach, query.group_by(column("t", "a0")))


def _conditions(sought: Sought) -> list[exp.Expr]:
    """Predicted tuples of which no fact holds carry no evidence: their signature is 0."""
    return [exp.GT(this=column("t", "signature"), expression=number(0))] if sought is EVIDENCE else []


def walks(group: int, length: int, stride: int, sought: Sought, constants: int) -> Select:
    """How many rows we walk for each start of `length` atoms, including those of its shorter beginnings. We add up paths with the
    same two ends, so that no more lead on from a constant than there are constants."""
    most = exp.cast(number(constants), "DOUBLE", copy=False)
    n = exp.cast(column("d", "n"), "DOUBLE", copy=False)
    first = select(column("s", "start"), named(column("d", "a0"), "b"), named(n, "n")).from_(table(start_table(group), "s"))
    first = first.join(table(sought.degree, "d"), on=equal(column("d", "literal"), flipped(column("s", "l0"), stride)))
    query = select().with_step("walked_1", first)
    for index in range(2, length + 1):
        fields = {"start": column("w", "start"), "b": column("f", "a1")}
        query = query.with_step(
            f"walked_{index}", _added(_onward(group, index, "walked"), fields, total(exp.func("least", column("w", "n"), most)))
        )
    parts = [select(column("w", "start"), column("w", "n")).from_(table(f"walked_{i}", "w")) for i in range(2, length + 1)]
    query = query.select(column("u", "start"), named(total(column("u", "n")), "n"))
    return query.from_(union_all(parts).subquery("u")).group_by(column("u", "start"))


def _onward(group: int, index: int, walked: str) -> Select:
    """Paths of one atom less, and the facts that lead on."""
    on = all_of((equal(column("f", "literal"), column("s", f"l{index - 1}")), equal(column("f", "a0"), column("w", "b"))))
    return (
        select()
        .from_(table(f"{walked}_{index - 1}", "w"))
        .join(table(start_table(group), "s"), on=equal(column("s", "start"), column("w", "start")))
        .join(table(_FACT, "f"), on=on)
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """What one statement walks: the starts, or the seats of predictions, `s` of that number, from constants that leave the
    remainder when divided by the divisor."""

    number: int
    remainder: int
    divisor: int

    def conditions(self, constant: exp.Expr) -> list[exp.Expr]:
        found = [equal(column("s", "piece"), number(self.number))]
        if self.divisor > 1:
            rest = exp.Mod(this=exp.Paren(this=constant), expression=number(self.divisor))
            found.append(equal(rest, number(self.remainder)))
        return found


def dataset_counts(group: int, length: int, piece: Piece, context: HornContext) -> Select:
    """Counts per rule over the data, for the bodies of one piece, whose starts have `length` atoms."""
    query = _met(group, length, piece, EVIDENCE, distinct=context.distinct_variables)
    return weighed(query.with_step("located", _located(group)), ("rule",), context)


def refuter_counts(group: int, length: int, piece: Piece, context: HornContext) -> Select:
    """Counts per rule and prediction, for the bodies of one piece, of groundings whose head is incompatible with the prediction."""
    query = _met(group, length, piece, PREDICTED, distinct=context.distinct_variables)
    literal = _if_turned(flipped(column("m", "literal"), context.stride), column("m", "literal"))
    opposed = all_of((equal(column("o", "head"), column("h", "literal")), equal(column("o", "l0"), literal)))
    claims = select(column("h", "rule"), column("m", "prediction"), column("m", "n")).from_(table("met", "m"))
    claims = claims.join(table(head_table(group), "h"), on=equal(column("h", "body"), column("m", "body")))
    claims = claims.join(table(OPPOSES, "o"), on=opposed)
    if context.ambiguous and not context.distinct_variables:
        claims = claims.where(negation(_read_before()))
    return plain_counts(claims, ["rule", "prediction"], confirmed=False, refuted=True, steps=query)


def _met(group: int, length: int, piece: Piece, sought: Sought, *, distinct: bool) -> Select:
    """The step `met`, after those that it needs: how many paths of each body lead to a sought tuple, added up per what we read from
    the tuples."""
    query = select().with_step("walked_1", _first(group, piece, sought, distinct=distinct))
    for index in range(2, length + 1):
        query = _walked(query, group, index, length, distinct=distinct)
    query = query.with_step("ended", _ended(group, length, sought))
    parts: list[Query] = [_by_last_atom(sought, distinct=distinct), _by_tuple(sought, distinct=distinct)]
    if distinct:
        parts += [_returned_to_tuple(group, how, sought) for how in coincidences(length + 1)]
    return query.with_step("met", _remaining(union_all(parts), ("body", "turned", *sought.fields)))


def _first(group: int, piece: Piece, sought: Sought, *, distinct: bool) -> Select:
    """The first atom of the starts of a piece: `x` is where paths begin, `b` where they are."""
    x, b = column("f", "a0"), column("f", "a1")
    query = (
        select(column("s", "start"), named(x, "x"), named(b, "b"), named(number(1), "n"))
        .from_(table(start_table(group), "s"))
        .join(table(_FACT, "f"), on=equal(column("f", "literal"), column("s", "l0")))
        .join(table(sought.reach, "r"), on=equal(column("r", "a0"), x.copy()))
        .where(*piece.conditions(x.copy()))
    )
    return query.where(different(x.copy(), b.copy())) if distinct else query


def _walked(query: Select, group: int, index: int, length: int, *, distinct: bool) -> Select:
    """Add the step of paths that are one atom longer. If variables must be distinct, we take off the paths that return."""
    if not distinct or index < 3:
        return query.with_step(f"walked_{index}", _added(*_further(group, index, "walked", distinct=distinct)))
    # `any` holds all paths, those that return included.
    if index < length:
        before = "any" if index > 3 else "walked"
        query = query.with_step(f"any_{index}", _added(*_further(group, index, before, distinct=True)))
    further, fields, n = _further(group, index, "walked", distinct=True)
    parts: list[Query] = [further.select(*(named(value, field) for field, value in fields.items()), named(n.this, "n"))]
    parts += [_returned_inside(group, how) for how in coincidences(index)]
    return query.with_step(f"walked_{index}", _remaining(union_all(parts), fields))


def _further(group: int, index: int, walked: str, *, distinct: bool) -> tuple[Select, dict[str, exp.Expr], exp.Expr]:
    """Paths that are one atom longer, what tells them apart, and how many they are."""
    query, x, b = _onward(group, index, walked), column("w", "x"), column("f", "a1")
    if distinct:
        query = query.where(different(b.copy(), x.copy()), different(b.copy(), column("w", "b")))
    # Paths of one atom are one each, and a count takes less room than a sum.
    n = count_rows() if index == 2 else total(column("w", "n"))
    return query, {"start": column("w", "start"), "x": x, "b": b}, n


def _added(query: Select, fields: Mapping[str, exp.Expr], n: exp.Expr) -> Select:
    query = query.select(*(named(value, field) for field, value in fields.items()), named(n, "n"))
    return query.group_by(*(value.copy() for value in fields.values()))


def _remaining(parts: Query, fields: Iterable[str]) -> Select:
    """Paths added up, without those of which none is left."""
    n = total(column("u", "n"))
    query = _added(select().from_(parts.subquery("u")), {field: column("u", field) for field in fields}, n)
    return query.having(different(n.copy(), number(0)))


def _returned_inside(group: int, how: Coincidence) -> Select:
    query, b, n = returned(how, _leading_to(how), start_table(group), None)
    return query.select(column("w", "start"), column("w", "x"), named(b, "b"), named(n, "n"))


def _returned_to_tuple(group: int, how: Coincidence, sought: Sought) -> Select:
    """Paths whose last constant is an earlier one, if they lead to a sought tuple."""
    query, y, n = returned(how, _leading_to(how), start_table(group), end_table(group))
    on = all_of((equal(column("t", "a0"), column("w", "x")), equal(column("t", "a1"), y), *_conditions(sought)))
    query = query.select(column("e", "body"), column("e", "turned"), named(n, "n"), *_read(sought))
    return query.join(table(sought.tuples, "t"), on=on)


def _leading_to(how: Coincidence) -> str:
    return f"{'any' if how.begins > 2 else 'walked'}_{how.begins}"


def _ended(group: int, length: int, sought: Sought) -> Select:
    """Walked paths with the last atom of each body that begins so; `onward` says whether that atom has fewer ways on than there
    are sought tuples."""
    on = all_of((equal(column("d", "literal"), column("e", "literal")), equal(column("d", "a0"), column("w", "b"))))
    onward = exp.LTE(this=column("d", "n"), expression=column("r", "n"))
    return (
        select(*(column("e", field) for field in ("body", "literal", "turned")))
        .select(*(column("w", field) for field in ("x", "b", "n")), named(onward, "onward"))
        .from_(table(f"walked_{length}", "w"))
        .join(table(end_table(group), "e"), on=equal(column("e", "start"), column("w", "start")))
        .join(table(DEGREE, "d"), on=on)
        .join(table(sought.reach, "r"), on=equal(column("r", "a0"), column("w", "x")))
    )


def _read(sought: Sought) -> list[exp.Expr]:
    return [column("t", field) for field in sought.fields]


def _at_end(sought: Sought) -> Select:
    query = select(*(column("e", field) for field in ("body", "turned", "n")), *_read(sought))
    return query.from_(table("ended", "e"))


def _distinct(y: exp.Expr) -> list[exp.Expr]:
    return [different(y.copy(), column("e", field)) for field in ("x", "b")]


def _by_last_atom(sought: Sought, *, distinct: bool) -> Select:
    y = column("f", "a1")
    last = all_of((equal(column("f", "literal"), column("e", "literal")), equal(column("f", "a0"), column("e", "b"))))
    found = all_of((equal(column("t", "a0"), column("e", "x")), equal(column("t", "a1"), y), *_conditions(sought)))
    query = _at_end(sought).join(table(_FACT, "f"), on=last).join(table(sought.tuples, "t"), on=found)
    return query.where(column("e", "onward"), *(_distinct(y) if distinct else ()))


def _by_tuple(sought: Sought, *, distinct: bool) -> Select:
    y = column("t", "a1")
    found = all_of((equal(column("t", "a0"), column("e", "x")), *_conditions(sought)))
    last = all_of(
        (
            equal(column("f", "literal"), column("e", "literal")),
            equal(column("f", "a0"), column("e", "b")),
            equal(column("f", "a1"), y),
        )
    )
    query = _at_end(sought).join(table(sought.tuples, "t"), on=found).join(table(_FACT, "f"), on=last)
    return query.where(exp.Not(this=column("e", "onward")), *(_distinct(y) if distinct else ()))


def _if_turned(value: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    """A value for bodies walked from the other end: these found their tuple with its arguments reversed."""
    return exp.Case(ifs=[exp.If(this=equal(column("m", "turned"), number(1)), true=value)], default=otherwise)


def _located(group: int) -> Select:
    """Counts of bodies per evidence, as claims of the rules that have the body."""
    signature = _if_turned(column("i", "inverse"), column("m", "signature"))
    return (
        select(column("h", "rule"), named(column("h", "literal"), "head"), named(signature, "signature"), column("m", "n"))
        .from_(table("met", "m"))
        .join(table(INVERSE, "i"), on=equal(column("i", "signature"), column("m", "signature")))
        .join(table(head_table(group), "h"), on=equal(column("h", "body"), column("m", "body")))
    )


def _read_before() -> exp.Expr:
    """Whether the prediction is a loop that we also read, in the other order, as a refuting literal of a lower number."""
    earlier = (
        select(number(1))
        .from_(table(OPPOSES, "q"))
        .join(table(PREDICTED.tuples, "x"), on=equal(column("x", "literal"), column("q", "l0")))
        .where(
            equal(column("q", "head"), column("o", "head")),
            exp.LT(this=column("q", "l0"), expression=column("o", "l0")),
            equal(column("x", "prediction"), column("m", "prediction")),
            equal(column("x", "a0"), column("x", "a1")),
        )
    )
    return exists(earlier)
