"""Counts chains of atoms in pieces. Decides from which end to walk each body, how many paths to walk at a time, and into which
halves a prediction divides a body.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil
from operator import attrgetter

import pyarrow as pa

from rulescore.counting.parameters import Counter, integer_columns
from rulescore.engines.base import Engine
from rulescore.logic.plan import Group
from rulescore.setting.choices import Role
from rulescore.sql.horn import chain_predictions, halves
from rulescore.sql.horn import chains as sql
from rulescore.sql.horn.chains import Piece
from rulescore.sql.horn.claims import HornContext
from rulescore.sql.horn.halves import AT_HEAD, NOTHING
from rulescore.sql.query import Select, TitledStatement, drop

MOST_PATHS = 2_000_000
"""How many rows one statement walks: paths, added up by their ends unless variables must be distinct; and predictions."""

_Literals = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _End:
    """A body walked from one of its ends: its number, the start, the literal of the last atom, and whether the walk begins at the
    head's second argument."""

    body: int
    start: int
    literal: int
    turned: bool


def dataset_statements(counter: Counter, number: int) -> Iterator[Select]:
    """The statements that count a group of chains over the data."""
    length = len(counter.plan.groups[number].shape.atoms) - 1
    for piece in _prepared(counter, number, sql.EVIDENCE):
        yield sql.dataset_counts(number, length, piece, counter.context).keeping_order()


def refuter_statements(counter: Counter, number: int) -> Iterator[Select]:
    """The statements that count a group of chains by the appendix convention, with predictions that are incompatible with the
    head."""
    length = len(counter.plan.groups[number].shape.atoms) - 1
    for piece in _prepared(counter, number, sql.PREDICTED):
        yield sql.refuter_counts(number, length, piece, counter.context).keeping_order()


def _prepared(counter: Counter, number: int, sought: sql.Sought) -> Iterator[Piece]:
    """Load the end from which we walk each body. Returns the pieces to walk at once."""
    engine, loaded, group = counter.engine, counter.loaded, counter.plan.groups[number]
    starts: dict[_Literals, int] = {}
    both = [_ends(body, way, loaded.stride, starts) for body, way in enumerate(_ways(counter, group))]
    length = len(group.shape.atoms) - 1
    _load(engine, sql.start_table(number), _start_rows(starts, dict.fromkeys(starts.values(), 0), length))
    counted = engine.query(sql.walks(number, length, counter.context, sought, loaded.summary.constants), as_written=True)
    walks = dict(zip(counted["start"].to_pylist(), counted["n"].to_pylist(), strict=True))
    # If no path begins at either end, the body has no grounding.
    possible = [ends for ends in both if all(end.start in walks for end in ends)]
    # From the left, 1,146 mined bodies have 770 million paths; from their cheaper ends, 10 million (0015).
    ends = [min(pair, key=lambda end: walks[end.start]) for pair in possible]
    pieces = _pieces({end.start: walks[end.start] for end in ends})
    chosen = {literals: start for literals, start in starts.items() if start in pieces}
    _load(engine, sql.start_table(number), _start_rows(chosen, pieces, length))
    rows = [(end.body, end.start, end.literal, int(end.turned)) for end in ends]
    _load(engine, sql.end_table(number), _integer_table(rows, ("body", "start", "literal", "turned")))
    for piece in sorted(set(pieces.values())):
        yield from _slices(piece, sum(walks[start] for start, own in pieces.items() if own == piece))


def _slices(piece: int, rows: float) -> Iterator[Piece]:
    """A piece. If it has more rows than a statement walks, we cut it by the first constant (0015)."""
    slices = max(1, ceil(rows / MOST_PATHS))
    return (Piece(piece, remainder, slices) for remainder in range(slices))


def _load(engine: Engine, table: str, rows: pa.Table) -> None:
    engine.run(drop(table))
    engine.load(table, rows)


def _integer_table(rows: Sequence[Sequence[int]], fields: Sequence[str]) -> pa.Table:
    return integer_columns({field: [row[index] for row in rows] for index, field in enumerate(fields)})


def _ways(counter: Counter, group: Group) -> list[_Literals]:
    """The literals of each body from the head's first argument to its second."""
    loaded, way = counter.loaded, sql.way_through(group.shape)
    assert way is not None
    bodies = [[(loaded.literal(body.literals[atom]), backwards) for atom, backwards in way] for body in group.bodies]
    return [tuple(_turned(literal, loaded.stride) if backwards else literal for literal, backwards in body) for body in bodies]


def _turned(literal: int, stride: int) -> int:
    return literal + 1 - 2 * (literal % stride)


def _turned_way(way: Sequence[int], stride: int) -> _Literals:
    return tuple(_turned(literal, stride) for literal in reversed(way))


def _ends(body: int, way: _Literals, stride: int, starts: dict[_Literals, int]) -> tuple[_End, _End]:
    def end(path: _Literals, *, is_back: bool) -> _End:
        return _End(body, starts.setdefault(path[:-1], len(starts)), path[-1], is_back)

    return end(way, is_back=False), end(_turned_way(way, stride), is_back=True)


def _pieces(walks: dict[int, float]) -> dict[int, int]:
    """The piece of each start. A piece has about as many paths as one statement walks. A start with more paths is a piece by
    itself."""
    pieces: dict[int, int] = {}
    piece, paths = 0, 0.0
    for start, own in walks.items():
        if pieces and paths + own > MOST_PATHS:
            piece, paths = piece + 1, 0.0
        pieces[start] = piece
        paths += own
    return pieces


def _start_rows(starts: dict[_Literals, int], pieces: dict[int, int], length: int) -> pa.Table:
    columns = {f"l{i}": [literals[i] for literals in starts] for i in range(length)}
    return integer_columns({"start": list(starts.values()), "piece": [pieces[start] for start in starts.values()], **columns})


_Span = tuple[int, int, int]
"""A body, and the first and last atom in it that a prediction fills."""


@dataclass(frozen=True, slots=True)
class _Seat:
    """The atoms of a body at which a prediction stands, from the first to the last, the numbers of the two halves that are left,
    and the number of the part of the far half that we walk."""

    body: int
    first: int
    last: int
    turned: bool
    near: int
    far: int
    walked: int
    paths: float = 0.0
    filled: int = 0
    piece: int = 0

    @property
    def at_head(self) -> bool:
        return self.first == AT_HEAD


def counts_roles(roles: frozenset[Role], context: HornContext) -> bool:
    """Whether this module can count predictions in these roles. By the definition, it cannot tell a prediction that is head and
    refuter at once from one that is the head alone."""
    # Such a prediction may be a fact too, and walks cannot tell its groundings from the others (0015, "Cost").
    binary = 2 in context.fact_arities and 2 in context.prediction_arities
    return binary and (context.appendix or Role.HEAD in roles or Role.REFUTER not in roles)


def prediction_statements(counter: Counter, number: int) -> Iterator[TitledStatement]:
    """The statements that count a group of chains with predictions in the body and at the head."""
    engine, group, context, roles = counter.engine, counter.plan.groups[number], counter.context, counter.roles
    ways, stride = _ways(counter, group), counter.loaded.stride
    length, distinct = len(group.shape.atoms), context.distinct_variables
    spans = _places(ways, stride, alone=context.appendix or distinct)
    numbers: dict[_Literals, int] = {}

    def half(literals: _Literals) -> int:
        return numbers.setdefault(literals, len(numbers)) if literals else NOTHING

    seats = list(_seats(ways, spans, half, stride))
    tables = halves.tables_of(number)
    _load(engine, tables.places, _place_rows(ways))
    _load(engine, tables.jumps, _jump_rows(ways, spans, half))
    _load(engine, tables.halves, _half_rows(numbers, length, stride))
    _load(engine, tables.parts, _part_rows(numbers))
    _load(engine, tables.seats, _seat_rows(seats))
    engine.run(drop(tables.spans))
    engine.run(chain_predictions.create_spans(number, length, _most_filled(spans), distinct=distinct), as_written=True)
    engine.run(drop(tables.paths))
    engine.run(halves.create_paths(number, length, distinct=distinct), as_written=True)
    sizes = engine.query(halves.sizes(number, length, distinct=distinct), as_written=True).to_pylist()
    fills = engine.query(halves.fills(number)).to_pylist()
    paths = {row["walked"]: row["n"] for row in sizes} | {NOTHING: 0.0}
    filled = {(row["body"], row["first"], row["last"]): row["n"] for row in fills}
    possible = [
        replace(seat, paths=paths[seat.walked], filled=filled.get((seat.body, seat.first, seat.last), 0))
        for seat in seats
        if seat.walked in paths
    ]
    inside = _in_pieces([seat for seat in possible if not seat.at_head], 0)
    at_head = _in_pieces([seat for seat in possible if seat.at_head], len(inside))
    _load(engine, tables.seats, _seat_rows([seat for piece in (*inside, *at_head) for seat in piece]))
    # By the definition, a prediction in the body counts if it plays any role that counts, even if the body's role does not.
    keep = None if Role.BODY in roles else [role for role in (Role.HEAD, Role.REFUTER) if role in roles]
    for piece in _slices_of_seats(inside) if keep is None or not context.appendix else ():
        counts = chain_predictions.body_counts(number, length, piece, context, keep=keep, heads=Role.HEAD in roles)
        yield "prediction in the body", counts.keeping_order()
    if Role.HEAD in roles:
        for piece in _slices_of_seats(at_head):
            yield "prediction is the head", chain_predictions.head_counts(number, length, piece, context, None).keeping_order()


def _places(ways: Sequence[_Literals], stride: int, *, alone: bool) -> list[_Span]:
    """The ranges of atoms of bodies that one prediction can fill."""
    return [
        (body, first, last)
        for body, way in enumerate(ways)
        for first in range(len(way))
        for last in range(first, first + 1 if alone else len(way))
        if way[first] // stride == way[last] // stride
    ]


def _most_filled(spans: Sequence[_Span]) -> int:
    """How many consecutive atoms of a body one prediction can fill."""
    return max(Tally((body, last) for body, _, last in spans).values())


def _seats(ways: Sequence[_Literals], spans: Sequence[_Span], half: Callable[[_Literals], int], stride: int) -> Iterator[_Seat]:
    for body, way in enumerate(ways):
        back = _turned_way(way, stride)
        forth_start, back_start = half(way[:-1]), half(back[:-1])
        yield _Seat(body, AT_HEAD, AT_HEAD, False, back_start, half(way), forth_start)
        yield _Seat(body, AT_HEAD, AT_HEAD, True, forth_start, half(back), back_start)
    for body, first, last in spans:
        left, right = half(_turned_way(ways[body][:first], stride)), half(ways[body][last + 1 :])
        if right != NOTHING or left == NOTHING:
            yield _Seat(body, first, last, False, left, right, right)
        if left != NOTHING:
            yield _Seat(body, first, last, True, right, left, left)


def _in_pieces(seats: Sequence[_Seat], beginning: int) -> list[list[_Seat]]:
    """Seats in pieces that have about as many rows as one statement walks: paths, and predictions that stand there. Seats that
    share a half are in one piece."""
    pieces: list[list[_Seat]] = []
    rows = 0.0
    for _, group in groupby(sorted(seats, key=attrgetter("walked")), attrgetter("walked")):
        sharing = list(group)
        own = _rows(sharing)
        if not pieces or rows + own > MOST_PATHS:
            pieces.append([])
            rows = 0.0
        pieces[-1] += [replace(seat, piece=beginning + len(pieces) - 1) for seat in sharing]
        rows += own
    return pieces


def _rows(seats: Sequence[_Seat]) -> float:
    """The paths of halves, each counted once, and the predictions."""
    return sum({seat.walked: seat.paths for seat in seats}.values()) + sum(seat.filled for seat in seats)


def _slices_of_seats(pieces: Sequence[Sequence[_Seat]]) -> Iterator[Piece]:
    for seats in pieces:
        yield from _slices(seats[0].piece, _rows(seats))


def _place_rows(ways: Sequence[_Literals]) -> pa.Table:
    rows = [(body, place, literal) for body, way in enumerate(ways) for place, literal in enumerate(way)]
    return _integer_table(rows, ("body", "place", "literal"))


def _jump_rows(ways: Sequence[_Literals], spans: Sequence[_Span], half: Callable[[_Literals], int]) -> pa.Table:
    rows = [
        (body, first, last, ways[body][first], ways[body][last], half(ways[body][first + 1 : last]))
        for body, first, last in spans
        if first < last
    ]
    return _integer_table(rows, ("body", "first", "last", "from_literal", "to_literal", "far"))


def _half_rows(halves: dict[_Literals, int], length: int, stride: int) -> pa.Table:
    """The halves, and the parts that remain of halves whose paths are counted: all but whole chains."""
    for half in [half for half in halves if len(half) < length]:
        for index in range(1, len(half)):
            halves.setdefault(half[index:], len(halves))
    starts = _starts(halves)
    tails = {half[1:] for half in halves if len(half) < length}
    return integer_columns(
        {
            "half": list(halves.values()),
            "length": [len(half) for half in halves],
            "first": [half[0] for half in halves],
            "tail": [halves.get(half[1:], NOTHING) for half in halves],
            "is_tail": [int(half in tails) for half in halves],
            "start": [starts[half[:-1]] for half in halves],
            "literal": [half[-1] for half in halves],
            "back": [_turned_way(half[-1:], stride)[0] for half in halves],
        }
    )


def _starts(halves: dict[_Literals, int]) -> dict[_Literals, int]:
    starts: dict[_Literals, int] = {}
    for half in halves:
        for depth in range(len(half)):
            starts.setdefault(half[:depth], len(starts))
    return starts


def _part_rows(halves: dict[_Literals, int]) -> pa.Table:
    starts = _starts(halves)
    rows = [(number, half[:depth]) for half, number in halves.items() for depth in range(1, len(half))]
    return integer_columns(
        {
            "half": [number for number, _ in rows],
            "depth": [len(start) for _, start in rows],
            "start": [starts[start] for _, start in rows],
            "parent": [starts[start[:-1]] for _, start in rows],
            "literal": [start[-1] for _, start in rows],
        }
    )


def _seat_rows(seats: Sequence[_Seat]) -> pa.Table:
    fields = ("body", "first", "last", "turned", "near", "far", "walked", "piece")
    return integer_columns({field: [int(getattr(seat, field)) for seat in seats] for field in fields})
