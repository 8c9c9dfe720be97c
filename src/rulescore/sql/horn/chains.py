"""Rules whose body is a chain from one argument of the head to the other, many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.logic.normal import Bound
from rulescore.logic.plan import Group, Judge, Shape
from rulescore.sql.horn.claims import HornContext, flipped, head_table
from rulescore.sql.horn.evidence import INVERSE, OPPOSES, plain_counts, weighed
from rulescore.sql.names import fact_table, name, prediction_table, tuple_table
from rulescore.sql.query import Create, Row, Select, alias, create, exists, row, select, union_all
from rulescore.sql.words import Sql, count_rows, least, sql, when

DEGREE = name("degree")

# A fact of two arguments.
f = row(fact_table(2), "f")


@dataclass(frozen=True, slots=True)
class Sought:
    """The tuples that paths must lead to: their table and the columns that we read. Table `reach`: how many begin with a constant.
    Table `degree`: how many facts of a literal lead from a constant to the beginning of such a tuple."""

    tuples: str
    fields: tuple[str, ...]
    reach: str
    degree: str


EVIDENCE = Sought(tuple_table(2), ("signature",), name("reach"), DEGREE)
PREDICTED = Sought(prediction_table(2), ("prediction", "literal"), name("predicted_reach"), name("predicted_degree"))


def start_table(group: int) -> str:
    return name(f"start_{group}")


def end_table(group: int) -> str:
    return name(f"end_{group}")


def way_through(shape: Shape) -> tuple[tuple[int, bool], ...] | None:
    """The atoms of a chain from the head's first argument to its second, and which of them are read backwards; None unless the body
    is a chain of at least two atoms."""
    slots = [[slot.index for slot in atom.slots if isinstance(slot, Bound)] for atom in shape.atoms]
    if (
        len(slots) < 2
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


def is_chain(group: Group) -> bool:
    """Whether the ends of the body's paths are the head's arguments, and evidence on these judges the head."""
    return group.judge is Judge.EVIDENCE and way_through(group.shape) is not None


def create_shared(*, predictions: bool) -> list[Create]:
    """The tables that all chains look up besides the reach of evidence, with the tables for predictions."""
    degrees = create(DEGREE, _degrees())
    if not predictions:
        return [degrees]
    r = row(PREDICTED.reach, "r")
    return [degrees, create_reach(PREDICTED), create(PREDICTED.degree, _degrees().join(r, r.a0 == f.a1))]


def _degrees() -> Select:
    """How many facts of a literal begin with a constant."""
    return select(f.literal, f.a0, n=count_rows()).from_(f).group_by(f.literal, f.a0)


def create_reach(sought: Sought) -> Create:
    """How many of the tuples begin with a constant."""
    t = row(sought.tuples, "t")
    query = select(t.a0, n=count_rows()).from_(t).where(*_conditions(sought, t))
    return create(sought.reach, query.group_by(t.a0))


def _conditions(sought: Sought, t: Row) -> list[Sql]:
    """If no fact holds of a predicted tuple, it carries no evidence: its signature is 0."""
    return [t.signature > 0] if sought is EVIDENCE else []


def walks(group: int, length: int, context: HornContext, sought: Sought, constants: int) -> Select:
    """How many rows we walk for each start of `length` atoms, including its shorter beginnings. Unless variables must be distinct,
    we add up paths with the same two ends, so no more lead on from a constant than there are constants."""
    s, d = row(start_table(group), "s"), row(sought.degree, "d")
    first = select(s.start, b=d.a0, n=d.n.cast("DOUBLE")).from_(s).join(d, d.literal == flipped(s.l0, context.stride))
    query = select().with_step("walked_1", first)
    for index in range(2, length + 1):
        w, further = _onward(group, index)
        most = w.n if context.distinct_variables else least(w.n, sql(constants).cast("DOUBLE"))
        query = query.with_step(f"walked_{index}", _added(further, {"start": w.start, "b": f.a1}, most.sum()))
    # We look up the first atom and walk from there, so `walked_1` counts only if there is no other atom.
    rows = [row(f"walked_{index}", "w") for index in range(min(2, length), length + 1)]
    u = union_all([select(w.start, w.n).from_(w) for w in rows]).as_("u")
    return query.select(u.start, n=u.n.sum()).from_(u).group_by(u.start)


def _onward(group: int, index: int) -> tuple[Row, Select]:
    """Paths of one atom less, and the facts that lead on."""
    w, s = row(f"walked_{index - 1}", "w"), row(start_table(group), "s")
    return w, select().from_(w).join(s, s.start == w.start).join(f, f.literal == s[f"l{index - 1}"], f.a0 == w.b)


@dataclass(frozen=True, slots=True)
class Piece:
    """The part that one statement walks: the starts, or the seats of predictions, `s` with that number, from constants whose
    division by the divisor leaves the remainder."""

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
    """The step `met`, after the steps that it needs. It says how many paths of each body lead to a sought tuple, added up by the
    columns that we read from the tuples."""
    query = select().with_step("walked_1", _first(group, piece, sought, distinct=distinct))
    for index in range(2, length + 1):
        query = query.with_step(f"walked_{index}", _further(group, index, distinct=distinct))
    passed = _passed(length) if distinct else []
    query = query.with_step("ended", _ended(group, length, sought, passed))
    u = union_all([_by_last_atom(sought, passed), _by_tuple(sought, passed)]).as_("u")
    fields = {field: u[field] for field in ("body", "turned", *sought.fields)}
    return query.with_step("met", _added(select().from_(u), fields, u.n.sum()))


def _passed(length: int) -> list[str]:
    """The columns for the constants that a path of that many atoms has passed, its two ends among them."""
    return ["x", *(f"p{index}" for index in range(1, length)), "b"]


def _first(group: int, piece: Piece, sought: Sought, *, distinct: bool) -> Select:
    """The first atom of the starts of a piece: `x` is where paths begin, `b` where they are."""
    s, r = row(start_table(group), "s"), row(sought.reach, "r")
    query = select(s.start, x=f.a0, b=f.a1, n=1).from_(s).join(f, f.literal == s.l0).join(r, r.a0 == f.a0)
    query = query.where(*piece.conditions(f.a0))
    return query.where(f.a0 != f.a1) if distinct else query


def _further(group: int, index: int, *, distinct: bool) -> Select:
    """Paths that are one atom longer, added up by their ends. If variables must be distinct, each path keeps what it has passed."""
    w, query = _onward(group, index)
    if distinct:
        before = _passed(index - 1)
        kept = dict(zip(_passed(index)[1:-1], w[before[1:]], strict=True))
        return query.select(w.start, w.x, **kept, b=f.a1, n=1).where(*(f.a1 != w[constant] for constant in before))
    # Paths of one atom have no counts to add up, so we count rows: a count takes less memory than a sum.
    return _added(query, {"start": w.start, "x": w.x, "b": f.a1}, count_rows() if index == 2 else w.n.sum())


def _added(query: Select, fields: Mapping[str, Sql], n: Sql) -> Select:
    return query.select(**fields, n=n).group_by(*fields.values())


def _ended(group: int, length: int, sought: Sought, passed: Sequence[str]) -> Select:
    """Walked paths with the last atom of each body that begins so; `onward` says whether that atom has fewer ways on than there
    are sought tuples. `passed`: the columns of the constants from which the last must differ."""
    w, e = row(f"walked_{length}", "w"), row(end_table(group), "e")
    d, r = row(DEGREE, "d"), row(sought.reach, "r")
    return (
        select(e.body, e.literal, e.turned, w.x, *w[passed[1:-1]], w.b, w.n, onward=d.n <= r.n)
        .from_(w)
        .join(e, e.start == w.start)
        .join(d, d.literal == e.literal, d.a0 == w.b)
        .join(r, r.a0 == w.x)
    )


def _at_end(t: Row, sought: Sought) -> tuple[Row, Select]:
    e = row("ended", "e")
    return e, select(e.body, e.turned, e.n, *t[sought.fields]).from_(e)


def _by_last_atom(sought: Sought, passed: Sequence[str]) -> Select:
    t = row(sought.tuples, "t")
    e, query = _at_end(t, sought)
    query = query.join(f, f.literal == e.literal, f.a0 == e.b)
    query = query.join(t, t.a0 == e.x, t.a1 == f.a1, *_conditions(sought, t))
    return query.where(e.onward, *(f.a1 != constant for constant in e[passed]))


def _by_tuple(sought: Sought, passed: Sequence[str]) -> Select:
    t = row(sought.tuples, "t")
    e, query = _at_end(t, sought)
    query = query.join(t, t.a0 == e.x, *_conditions(sought, t))
    query = query.join(f, f.literal == e.literal, f.a0 == e.b, f.a1 == t.a1)
    return query.where(exp.Not(this=e.onward.node), *(t.a1 != constant for constant in e[passed]))


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
