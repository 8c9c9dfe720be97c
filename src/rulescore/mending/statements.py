"""The statements that find, for a seat of a rule, the groundings in which a candidate takes part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rulescore.loading.facts import Loaded
from rulescore.logic.normal import Bound, Fixed, Free, PatternAtom, Slot
from rulescore.mending.ways import Seat, Way
from rulescore.sql.horn.evidence import OPPOSES
from rulescore.sql.names import argument, arguments, fact_table, name
from rulescore.sql.query import Query, Row, Select, alias, exists, row, select, union_all
from rulescore.sql.words import NULL, Sql, count_rows, greatest, sql

QUERIES = name("asked_queries")


def number_of(loaded: Loaded, slot: Fixed) -> int:
    return loaded.constant_ids[slot.key]


@dataclass(slots=True)
class _Join:
    """A select that grows one fact at a time."""

    loaded: Loaded
    query: Select = field(default_factory=Select)
    columns: dict[int, Sql] = field(default_factory=dict)

    def add(self, source: Row, conditions: Sequence[Sql]) -> None:
        if self.query.source is None:
            self.query = self.query.from_(source).where(*conditions)
        else:
            self.query = self.query.join(source, *conditions)

    def fit(self, fact: Row, slots: Sequence[Slot]) -> list[Sql]:
        """Conditions under which a fact fits slots; slots that nothing bound before are bound to it."""
        conditions = []
        for place, slot in enumerate(slots):
            here = fact[argument(place)]
            if isinstance(slot, Bound) and slot.index not in self.columns:
                self.columns[slot.index] = here
            else:
                conditions.append(here == self.value(slot))
        return conditions

    def value(self, slot: Slot) -> Sql:
        match slot:
            case Fixed():
                return sql(number_of(self.loaded, slot))
            case Bound(index):
                return self.columns[index]
            case Free():
                raise AssertionError("a free slot has no value")


def possible(loaded: Loaded, way: Way) -> bool:
    """Whether there are facts of every arity that a way joins."""
    joined = (*way.facts, *([way.opposed] if way.opposed is not None else []))
    return all(atom.arity in loaded.fact_arities for atom in joined)


def _joined(loaded: Loaded, way: Way, head: PatternAtom | None) -> _Join:
    """All that a way joins, with its tests."""
    join = _Join(loaded)
    for index, atom in enumerate(way.facts):
        fact = row(fact_table(atom.arity), f"f{index}")
        join.add(fact, [fact.literal == loaded.fact_literal(atom.predicate), *join.fit(fact, atom.slots)])
    if way.opposed is not None and head is not None:
        fact, o = row(fact_table(head.arity), "g"), row(OPPOSES, "o")
        join.add(fact, join.fit(fact, way.opposed.slots))
        join.add(o, [o.l0 == fact.literal, o.head == loaded.fact_literal(head.predicate)])
    closed = [(left, right) for left, right in way.apart if not way.is_open(left) and not way.is_open(right)]
    join.query = join.query.where(*(join.value(left) != join.value(right) for left, right in closed))
    return join


def _joins(loaded: Loaded, seat: Seat, way: Way, head: PatternAtom | None, *, asked: bool) -> list[_Join]:
    """Ways to join, no two of which share a row. `asked`: only candidates that answer a query of the table of queries. Each is
    found by the first of its places that answers one. The queries are joined like facts, so the engine may begin with them. All
    rows with open classes stay."""
    if not asked or seat.opened(way):
        return [_joined(loaded, way, head)]
    literal = loaded.fact_literal(seat.candidate.predicate)
    joins: list[_Join] = []
    for place in range(seat.candidate.arity):
        join = _joined(loaded, way, head)
        values = [join.value(way.values[slot.index] if isinstance(slot, Bound) else slot) for slot in seat.candidate.slots]
        q = row(QUERIES, "q")
        join.add(q, [q.literal == literal, q.place == place, q.value == values[place]])
        for before in range(place):
            e = row(QUERIES, f"q{before}")
            join.query = join.query.where(~exists(e, e.literal == literal, e.place == before, e.value == values[before]))
        joins.append(join)
    return joins


@dataclass(frozen=True, slots=True)
class Apart:
    """A value that an open class must differ from: another open class, or (None) a column of the statement."""

    free: int
    other: int | None


def aparts(seat: Seat, way: Way) -> list[tuple[Apart, Slot]]:
    """The values from which the open classes of a way must differ."""
    first: dict[Slot, int] = {}
    for index, root in enumerate(seat.free):
        if way.is_open(way.values[root]):
            first.setdefault(way.values[root], index)
    tests = []
    for left, right in way.apart:
        if left in first or right in first:
            open_slot, other = (left, right) if left in first else (right, left)
            tests.append((Apart(first[open_slot], first.get(other)), other))
    return tests


def key(index: int) -> str:
    return f"k{index}"


def free(index: int) -> str:
    return f"x{index}"


def apart(index: int) -> str:
    return f"d{index}"


def open_number(first: int) -> int:
    """The stand-in for an open class, found by the first of the seat's classes that equals it."""
    return -2 - first


def _refutes(number: int) -> str:
    return f"r{number}"


def _vetoes(number: int) -> str:
    return f"v{number}"


def _opened_keys(loaded: Loaded, seat: Seat, way: Way, head: PatternAtom | None) -> Select:
    join = _joined(loaded, way, head)
    return join.query.select(**{key(i): join.value(way.values[root]) for i, root in enumerate(seat.keys)})


def groundings(
    loaded: Loaded,
    seat: Seat,
    way: Way,
    head: PatternAtom | None,
    refutations: Sequence[int] = (),
    *,
    asked: bool = False,
    openings: Sequence[Way] = (),
    opened: bool = False,
) -> Query:
    """A row for each grounding. `openings`: only groundings whose keys some of these ways have (`opened`), or none.

    `k0` …: the classes that the body binds. `x0` …: the other classes, below 0 if they are open. `d0` …: the values that open
    classes must differ from. `r0`, `v0` …: whether a refutation that asks for absent facts holds, and whether one of them is there.
    """
    return union_all(
        [
            _selected(loaded, seat, way, head, join, refutations, openings, opened=opened)
            for join in _joins(loaded, seat, way, head, asked=asked)
        ]
    )


def _selected(
    loaded: Loaded,
    seat: Seat,
    way: Way,
    head: PatternAtom | None,
    join: _Join,
    refutations: Sequence[int],
    openings: Sequence[Way],
    *,
    opened: bool,
) -> Select:
    first: dict[Slot, int] = {}
    named: dict[str, Sql] = {key(i): join.value(way.values[root]) for i, root in enumerate(seat.keys)}
    for i, root in enumerate(seat.free):
        slot = way.values[root]
        named[free(i)] = sql(open_number(first.setdefault(slot, i))) if way.is_open(slot) else join.value(slot)
    for i, (test, other) in enumerate(aparts(seat, way)):
        named[apart(i)] = NULL.integer() if test.other is not None else join.value(other)
    plain = not way.confirmed and way.refutation is None
    query = join.query
    if openings:
        o = union_all([_opened_keys(loaded, seat, other, head) for other in openings]).as_("o")
        shared = exists(o, *(o[field] == named[field] for field in map(key, range(len(seat.keys)))))
        query = query.where(shared if opened else ~shared)
    named |= {"confirmed": sql(int(way.confirmed)), "refuted": sql(int(plain and not way.unless))}
    named |= {"unless": sql(int(plain and way.unless))}
    for number in refutations:
        named[_refutes(number)] = sql(int(way.refutation == number and not way.vetoes))
        named[_vetoes(number)] = sql(int(way.refutation == number and way.vetoes))
    return query.select(**named).distinct()


def size(loaded: Loaded, seat: Seat, ways: Sequence[Way], head: PatternAtom | None, *, asked: bool) -> Query:
    """How many rows the ways give in sum; a row of two ways counts twice."""

    u = union_all([join.query.select(n=count_rows()) for way in ways for join in _joins(loaded, seat, way, head, asked=asked)]).as_(
        "u"
    )
    return select(n=u.n.sum().big()).from_(u)


def counted(
    loaded: Loaded, seat: Seat, ways: Sequence[Way], head: PatternAtom | None, *, asked: bool, openings: Sequence[Way] = ()
) -> Select:
    """The counts of a seat's ways that are not open, by candidate (`a0` …), without candidates that are facts.

    `asked`: only candidates that answer a query of the table of queries. `openings`: without the keys of these ways.
    """
    fields = [*(key(i) for i in range(len(seat.keys))), *(free(i) for i in range(len(seat.free)))]
    unless = {way.refutation: way.unless for way in ways if way.refutation is not None and not way.vetoes}
    g = union_all([groundings(loaded, seat, way, head, tuple(unless), asked=asked, openings=openings) for way in ways]).as_("g")
    confirmed = g.confirmed.max()
    refuted = greatest(g.refuted.max(), g.unless.max() - confirmed)
    for number, asks_for_head in unless.items():
        vetoed = g[_vetoes(number)].max()
        refuted = greatest(refuted, g[_refutes(number)].max() - (greatest(vetoed, confirmed) if asks_for_head else vetoed))
    each = select(*g[fields], confirmed=g.confirmed.max(), refuted=refuted).from_(g)
    e = (each.group_by(*g[fields]) if fields else each.having(count_rows() > 0)).as_("e")
    arity = seat.candidate.arity
    values = {argument(i): _argument(loaded, seat, slot, e) for i, slot in enumerate(seat.candidate.slots)}
    sums = {"confirmed": e.confirmed.sum(), "refuted": e.refuted.sum(), "evaluable": greatest(e.confirmed, e.refuted).sum()}
    grouped = select(**values, **{count: value.big() for count, value in sums.items()}).from_(e)
    variable = [values[argument(i)] for i, slot in enumerate(seat.candidate.slots) if isinstance(slot, Bound)]
    grouped = grouped.group_by(*variable) if variable else grouped.having(count_rows() > 0)
    c, literal = alias("c"), loaded.fact_literal(seat.candidate.predicate)
    query = select("*").from_(grouped.as_("c"))
    if arity in loaded.fact_arities:
        f = row(fact_table(arity), "f")
        query = query.where(~exists(f, f.literal == literal, *(f[field] == c[field] for field in arguments(arity))))
    return query


def _argument(loaded: Loaded, seat: Seat, slot: Slot, e: Row) -> Sql:
    match slot:
        case Fixed():
            return sql(number_of(loaded, slot))
        case Bound(index) if index in seat.keys:
            return e[key(seat.keys.index(index))]
        case Bound(index):
            return e[free(seat.free.index(index))]
        case Free():
            raise AssertionError("a candidate has no free slot")


def reflexive_facts(loaded: Loaded, predicate: str) -> Select:
    """How many facts of a predicate say something of one constant and itself."""
    f = row(fact_table(2), "f")
    same = [f.literal == loaded.fact_literal(predicate), f.a0 == f.a1]
    return select(n=count_rows()).from_(f).where(*same)
