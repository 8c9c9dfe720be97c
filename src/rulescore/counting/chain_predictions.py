"""Counts predictions in chains of atoms in pieces: the halves that a prediction leaves of a body, and how many paths at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import pyarrow as pa

from rulescore.counting import chains
from rulescore.counting.parameters import integer_columns
from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.plan import Group
from rulescore.setting.choices import Role
from rulescore.sql.horn import chain_predictions as sql
from rulescore.sql.horn import halves as half_sql
from rulescore.sql.horn.chains import Piece
from rulescore.sql.horn.context import HornContext
from rulescore.sql.query import Select, drop

_Literals = tuple[int, ...]
_Span = tuple[int, int, int]
"""A body, and the first and last atom in it that a prediction fills."""


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where a prediction stands in a body, from atom to atom, and the numbers of the halves that it leaves."""

    body: int
    first: int
    last: int
    turned: bool
    near: int
    far: int
    paths: float = 0.0
    piece: int = 0

    @property
    def at_head(self) -> bool:
        return self.first == half_sql.AT_HEAD

    @property
    def key(self) -> tuple[bool, int]:
        return self.at_head, self.far


def counts_roles(roles: frozenset[Role], context: HornContext) -> bool:
    """Whether this module can count predictions in these roles. By the definition, it cannot tell a prediction that is head and
    refuter at once from one that is the head alone."""
    binary = 2 in context.fact_arities and 2 in context.candidate_arities
    return binary and (context.appendix or Role.HEAD in roles or Role.REFUTER not in roles)


def statements(
    engine: Engine, loaded: Loaded, number: int, group: Group, context: HornContext, roles: frozenset[Role]
) -> Iterator[tuple[str, Select]]:
    """The statements that count a group of chains with predictions in the body and at the head."""
    ways = [chains.literals(loaded, group, body) for body in range(len(group.bodies))]
    length = len(group.shape.atoms)
    distinct = context.distinct_variables
    spans = _places(ways, loaded.stride, alone=context.appendix or distinct)
    halves: dict[_Literals, int] = {}

    def half(literals: _Literals) -> int:
        return halves.setdefault(literals, len(halves)) if literals else half_sql.NOTHING

    seats = list(_seats(ways, spans, half, loaded.stride))
    _load(engine, half_sql.place_table(number), _place_rows(ways))
    _load(engine, half_sql.jump_table(number), _jump_rows(ways, spans, half))
    _load(engine, half_sql.half_table(number), _half_rows(halves, loaded.stride))
    _load(engine, half_sql.part_table(number), _part_rows(halves))
    _load(engine, half_sql.seat_table(number), _seat_rows(seats))
    engine.run(drop(half_sql.span_table(number)))
    engine.run(sql.create_spans(number, length, _most_filled(spans), distinct=distinct), as_written=True)
    engine.run(drop(half_sql.paths_table(number)))
    engine.run(half_sql.create_paths(number, length, distinct=distinct), as_written=True)
    rows = engine.query(half_sql.sizes(number, distinct=distinct), as_written=True)
    paths = {(bool(row["at_head"]), row["far"]): row["n"] for row in rows.to_pylist()} | {(False, half_sql.NOTHING): 0.0}
    possible = [replace(seat, paths=paths[seat.key]) for seat in seats if seat.key in paths]
    inside = _in_pieces([seat for seat in possible if not seat.at_head], 0)
    at_head = _in_pieces([seat for seat in possible if seat.at_head], len(inside))
    _load(engine, half_sql.seat_table(number), _seat_rows([seat for piece in (*inside, *at_head) for seat in piece]))
    # By the definition, a prediction in the body counts without the body's role if it also plays another role that counts.
    keep = None if Role.BODY in roles else [role for role in (Role.HEAD, Role.REFUTER) if role in roles]
    for piece in _slices(inside) if keep is None or not context.appendix else ():
        counts = sql.body_counts(number, length, piece, context, keep=keep, heads=Role.HEAD in roles)
        yield "prediction in the body", counts.keeping_order()
    if Role.HEAD in roles:
        for piece in _slices(at_head):
            yield "prediction is the head", sql.head_counts(number, length, piece, context, None).keeping_order()


def _load(engine: Engine, table: str, rows: pa.Table) -> None:
    engine.run(drop(table))
    engine.load(table, rows)


def _turned(way: Sequence[int], stride: int) -> _Literals:
    return tuple(literal + 1 - 2 * (literal % stride) for literal in reversed(way))


def _places(ways: Sequence[_Literals], stride: int, *, alone: bool) -> list[_Span]:
    """From which atom to which one prediction can stand in bodies."""
    return [
        (body, first, last)
        for body, way in enumerate(ways)
        for first in range(len(way))
        for last in range(first, first + 1 if alone else len(way))
        if way[first] // stride == way[last] // stride
    ]


def _most_filled(spans: Sequence[_Span]) -> int:
    """How many atoms of a body one prediction can fill: it stands from each of them to the last."""
    return max(Counter((body, last) for body, _, last in spans).values())


def _seats(ways: Sequence[_Literals], spans: Sequence[_Span], half: Callable[[_Literals], int], stride: int) -> Iterator[_Seat]:
    for body, way in enumerate(ways):
        back = _turned(way, stride)
        yield _Seat(body, half_sql.AT_HEAD, half_sql.AT_HEAD, False, half(back), half(way))
        yield _Seat(body, half_sql.AT_HEAD, half_sql.AT_HEAD, True, half(way), half(back))
    for body, first, last in spans:
        left, right = half(_turned(ways[body][:first], stride)), half(ways[body][last + 1 :])
        if right != half_sql.NOTHING or left == half_sql.NOTHING:
            yield _Seat(body, first, last, False, left, right)
        if left != half_sql.NOTHING:
            yield _Seat(body, first, last, True, right, left)


def _in_pieces(seats: Sequence[_Seat], beginning: int) -> list[list[_Seat]]:
    """Seats in pieces whose far halves have about as many paths as one statement walks. A half with more is a piece by itself."""
    found: list[list[_Seat]] = []
    before, walked = None, 0.0
    for seat in sorted(seats, key=lambda one: one.far):
        own = seat.paths if seat.far != before else 0.0
        if not found or (own and walked + own > chains.MOST_PATHS):
            found.append([])
            walked = 0.0
        found[-1].append(replace(seat, piece=beginning + len(found) - 1))
        before, walked = seat.far, walked + own
    return found


def _slices(pieces: Sequence[Sequence[_Seat]]) -> Iterator[Piece]:
    for seats in pieces:
        walked = sum({seat.far: seat.paths for seat in seats}.values())
        divisor = max(1, ceil(walked / chains.MOST_PATHS))
        for remainder in range(divisor):
            yield Piece(seats[0].piece, remainder, divisor)


def _place_rows(ways: Sequence[_Literals]) -> pa.Table:
    rows = [(body, place, literal) for body, way in enumerate(ways) for place, literal in enumerate(way)]
    return _rows(("body", "place", "literal"), rows)


def _jump_rows(ways: Sequence[_Literals], spans: Sequence[_Span], half: Callable[[_Literals], int]) -> pa.Table:
    rows = [
        (body, first, last, ways[body][first], ways[body][last], half(ways[body][first + 1 : last]))
        for body, first, last in spans
        if first < last
    ]
    return _rows(("body", "first", "last", "from_literal", "to_literal", "far"), rows)


def _rows(fields: Sequence[str], rows: Sequence[tuple[int, ...]]) -> pa.Table:
    return integer_columns({field: [row[index] for row in rows] for index, field in enumerate(fields)})


def _half_rows(halves: dict[_Literals, int], stride: int) -> pa.Table:
    for half in list(halves):
        for index in range(1, len(half)):
            halves.setdefault(half[index:], len(halves))
    starts = _starts(halves)
    tails = {half[1:] for half in halves}
    return integer_columns(
        {
            "half": list(halves.values()),
            "length": [len(half) for half in halves],
            "first": [half[0] for half in halves],
            "tail": [halves.get(half[1:], half_sql.NOTHING) for half in halves],
            "is_tail": [int(half in tails) for half in halves],
            "start": [starts[half[:-1]] for half in halves],
            "literal": [half[-1] for half in halves],
            "before": [half[-2] if len(half) > 1 else half_sql.NOTHING for half in halves],
            "back": [_turned(half[-1:], stride)[0] for half in halves],
        }
    )


def _starts(halves: dict[_Literals, int]) -> dict[_Literals, int]:
    found: dict[_Literals, int] = {}
    for half in halves:
        for depth in range(len(half)):
            found.setdefault(half[:depth], len(found))
    return found


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
    fields = ("body", "first", "last", "turned", "near", "far", "piece")
    return integer_columns({field: [int(getattr(seat, field)) for seat in seats] for field in fields})
