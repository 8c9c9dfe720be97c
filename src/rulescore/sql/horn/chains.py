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
from rulescore.sql.horn.claims import flipped, head_table
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.evidence import OPPOSES, plain_counts, weighed
from rulescore.sql.horn.returns import Coincidence, coincidences, returned
from rulescore.sql.horn.signatures import INVERSE
from rulescore.sql.names import candidate_table, fact_table, name, tuple_table
from rulescore.sql.query import Create, Query, Row, Select, alias, create, exists, row, select, union_all
from rulescore.sql.words import Sql, count_rows, least, sql, when

DEGREE = name("degree")

# A fact of two arguments.
f = row(fact_table(2), "f")


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


def create_degrees() -> Create:
    """How many facts of a literal begin with a constant."""
    return create(DEGREE, _degrees())


def create_predicted_degrees() -> Create:
    r = row(PREDICTED.reach, "r")
    return create(PREDICTED.degree, _degrees().join(r, r.a0 == f.a1))


def _degrees() -> Select:
    return select(f.literal, f.a0, n=count_rows()).from_(f).group_by(f.literal, f.a0)


def create_reach(sought: Sought) -> Create:
    t = row(sought.tuples, "t")
    query = select(t.a0, n=count_rows()).from_(t).where(*_conditions(sought, t))
    return create(sought.reach, query.group_by(t.a0))


def _conditions(sought: Sought, t: Row) -> list[Sql]:
    """Predicted tuples of which no fact holds carry no evidence: their signature is 0."""
    return [t.signature > 0] if sought is EVIDENCE else []


def walks(group: int, length: int, stride: int, sought: Sought, constants: int) -> Select:
    """How many rows we walk for each start of `length` atoms, including those of its shorter beginnings. We add up paths with the
    same two ends, so that no more lead on from a constant than there are constants."""
    s, d = row(start_table(group), "s"), row(sought.degree, "d")
    first = select(s.start, b=d.a0, n=d.n.cast("DOUBLE")).from_(s).join(d, d.literal == flipped(s.l0, stride))
    query = select().with_step("walked_1", first)
    for index in range(2, length + 1):
        w, further = _onward(group, index, "walked")
        n = least(w.n, sql(constants).cast("DOUBLE")).sum()
        query = query.with_step(f"walked_{index}", _added(further, {"start": w.start, "b": f.a1}, n))
    rows = [row(f"walked_{index}", "w") for index in range(2, length + 1)]
    u = union_all([select(w.start, w.n).from_(w) for w in rows]).as_("u")
    return query.select(u.start, n=u.n.sum()).from_(u).group_by(u.start)


def _onward(group: int, index: int, walked: str) -> tuple[Row, Select]:
    """Paths of one atom less, and the facts that lead on."""
    w, s = row(f"{walked}_{index - 1}", "w"), row(start_table(group), "s")
    return w, select().from_(w).join(s, s.start == w.start).join(f, f.literal == s[f"l{index - 1}"], f.a0 == w.b)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one statement walks: the starts, or the seats of predictions, `s` of that number, from constants that leave the
    remainder when divided by the divisor."""

    number: int
    remainder: int
    divisor: int

    def conditions(self, constant: Sql) -> list[Sql]:
        own = alias("s").piece == self.number
        return [own, constant.paren() % self.divisor == self.remainder] if self.divisor > 1 else [own]


def dataset_counts(group: int, length: int, piece: Piece, context: HornContext) -> Select:
    """Counts per rule over the data, for the bodies of one piece, whose starts have `length` atoms."""
    query = _met(group, length, piece, EVIDENCE, distinct=context.distinct_variables)
    return weighed(query.with_step("located", _located(group)), ("rule",), context)


def refuter_counts(group: int, length: int, piece: Piece, context: HornContext) -> Select:
    """Counts per rule and prediction, for the bodies of one piece, of groundings whose head is incompatible with the prediction."""
    query = _met(group, length, piece, PREDICTED, distinct=context.distinct_variables)
    m, h, o = row("met", "m"), row(head_table(group), "h"), row(OPPOSES, "o")
    literal = _if_turned(m, flipped(m.literal, context.stride), m.literal)
    claims = select(h.rule, m.prediction, m.n).from_(m).join(h, h.body == m.body)
    claims = claims.join(o, o.head == h.literal, o.l0 == literal)
    if context.ambiguous and not context.distinct_variables:
        claims = claims.where(~_read_before(o, m))
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
    s, r = row(start_table(group), "s"), row(sought.reach, "r")
    query = select(s.start, x=f.a0, b=f.a1, n=1).from_(s).join(f, f.literal == s.l0).join(r, r.a0 == f.a0)
    query = query.where(*piece.conditions(f.a0))
    return query.where(f.a0 != f.a1) if distinct else query


def _walked(query: Select, group: int, index: int, length: int, *, distinct: bool) -> Select:
    """Add the step of paths that are one atom longer. If variables must be distinct, we take off the paths that return."""
    if not distinct or index < 3:
        return query.with_step(f"walked_{index}", _added(*_further(group, index, "walked", distinct=distinct)))
    # `any` holds all paths, those that return included.
    if index < length:
        before = "any" if index > 3 else "walked"
        query = query.with_step(f"any_{index}", _added(*_further(group, index, before, distinct=True)))
    further, fields, _ = _further(group, index, "walked", distinct=True)
    parts: list[Query] = [further.select(**fields, n=alias("w").n)]
    parts += [_returned_inside(group, how) for how in coincidences(index)]
    return query.with_step(f"walked_{index}", _remaining(union_all(parts), fields))


def _further(group: int, index: int, walked: str, *, distinct: bool) -> tuple[Select, dict[str, Sql], Sql]:
    """Paths that are one atom longer, what tells them apart, and how many they are."""
    w, query = _onward(group, index, walked)
    if distinct:
        query = query.where(f.a1 != w.x, f.a1 != w.b)
    # Paths of one atom are one each, and a count takes less room than a sum.
    n = count_rows() if index == 2 else w.n.sum()
    return query, {"start": w.start, "x": w.x, "b": f.a1}, n


def _added(query: Select, fields: Mapping[str, Sql], n: Sql) -> Select:
    return query.select(**fields, n=n).group_by(*fields.values())


def _remaining(parts: Query, fields: Iterable[str]) -> Select:
    """Paths added up, without those of which none is left."""
    u = parts.as_("u")
    return _added(select().from_(u), {field: u[field] for field in fields}, u.n.sum()).having(u.n.sum() != 0)


def _returned_inside(group: int, how: Coincidence) -> Select:
    query, b, n = returned(how, _leading_to(how), start_table(group), None)
    w = alias("w")
    return query.select(w.start, w.x, b=b, n=n)


def _returned_to_tuple(group: int, how: Coincidence, sought: Sought) -> Select:
    """Paths whose last constant is an earlier one, if they lead to a sought tuple."""
    query, y, n = returned(how, _leading_to(how), start_table(group), end_table(group))
    e, t = alias("e"), row(sought.tuples, "t")
    query = query.select(e.body, e.turned, n.named("n"), *t[sought.fields])
    return query.join(t, t.a0 == alias("w").x, t.a1 == y, *_conditions(sought, t))


def _leading_to(how: Coincidence) -> str:
    return f"{'any' if how.begins > 2 else 'walked'}_{how.begins}"


def _ended(group: int, length: int, sought: Sought) -> Select:
    """Walked paths with the last atom of each body that begins so; `onward` says whether that atom has fewer ways on than there
    are sought tuples."""
    w, e = row(f"walked_{length}", "w"), row(end_table(group), "e")
    d, r = row(DEGREE, "d"), row(sought.reach, "r")
    return (
        select(e.body, e.literal, e.turned, w.x, w.b, w.n, onward=d.n <= r.n)
        .from_(w)
        .join(e, e.start == w.start)
        .join(d, d.literal == e.literal, d.a0 == w.b)
        .join(r, r.a0 == w.x)
    )


def _at_end(t: Row, sought: Sought) -> tuple[Row, Select]:
    e = row("ended", "e")
    return e, select(e.body, e.turned, e.n, *t[sought.fields]).from_(e)


def _by_last_atom(sought: Sought, *, distinct: bool) -> Select:
    t = row(sought.tuples, "t")
    e, query = _at_end(t, sought)
    query = query.join(f, f.literal == e.literal, f.a0 == e.b)
    query = query.join(t, t.a0 == e.x, t.a1 == f.a1, *_conditions(sought, t))
    return query.where(e.onward, *([f.a1 != e.x, f.a1 != e.b] if distinct else ()))


def _by_tuple(sought: Sought, *, distinct: bool) -> Select:
    t = row(sought.tuples, "t")
    e, query = _at_end(t, sought)
    query = query.join(t, t.a0 == e.x, *_conditions(sought, t))
    query = query.join(f, f.literal == e.literal, f.a0 == e.b, f.a1 == t.a1)
    return query.where(exp.Not(this=e.onward.node), *([t.a1 != e.x, t.a1 != e.b] if distinct else ()))


def _if_turned(m: Row, value: Sql, otherwise: Sql) -> Sql:
    """A value for bodies walked from the other end: these found their tuple with its arguments reversed."""
    return when(m.turned == 1, value, otherwise)


def _located(group: int) -> Select:
    """Counts of bodies per evidence, as claims of the rules that have the body."""
    m, i, h = row("met", "m"), row(INVERSE, "i"), row(head_table(group), "h")
    query = select(h.rule, h.literal.named("head"), _if_turned(m, i.inverse, m.signature).named("signature"), m.n).from_(m)
    return query.join(i, i.signature == m.signature).join(h, h.body == m.body)


def _read_before(o: Row, m: Row) -> Sql:
    """Whether the prediction is a loop that we also read, in the other order, as a refuting literal of a lower number."""
    q, x = row(OPPOSES, "q"), row(PREDICTED.tuples, "x")
    earlier = select(1).from_(q).join(x, x.literal == q.l0)
    return exists(earlier.where(q.head == o.head, q.l0 < o.l0, x.prediction == m.prediction, x.a0 == x.a1))
