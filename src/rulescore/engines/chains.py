"""Chains of atoms, counted in pieces: which end each body is walked from, and how many paths at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.engines.loading import Loaded
from rulescore.engines.parameters import integer_columns
from rulescore.logic.plan import Group, Judge
from rulescore.sql import chains as chain_sql
from rulescore.sql.build import Select, drop, keeping_order
from rulescore.sql.claims import Context

MOST_PATHS = 10_000_000
"""How many paths one statement walks before it adds up those that end alike."""

_Literals = tuple[int, ...]


def is_chain(group: Group) -> bool:
    return group.judge is Judge.EVIDENCE and chain_sql.way_through(group.shape) is not None


def prepare(engine: Engine) -> None:
    """What all chains need, once."""
    engine.run(chain_sql.create_degrees())
    engine.run(chain_sql.create_reach())


@dataclass(frozen=True, slots=True)
class _End:
    """A body walked from one of its ends: its number, the start, the literal of the last atom, and whether it is walked from the
    head's second argument."""

    body: int
    start: int
    literal: int
    turned: bool


def dataset_statements(engine: Engine, loaded: Loaded, number: int, group: Group, context: Context) -> Iterator[Select]:
    """The statements that count a group of chains over the data."""
    starts: dict[_Literals, int] = {}
    both = [_ends(loaded, group, body, starts) for body in range(len(group.bodies))]
    length = len(group.shape.atoms) - 1
    _load(engine, chain_sql.start_table(number), _start_rows(starts, dict.fromkeys(starts.values(), 0), length))
    found = engine.query(chain_sql.walks(number, length, loaded.stride), as_written=True)
    walks = dict(zip(found["start"].to_pylist(), found["n"].to_pylist(), strict=True))
    # A start without a path is in no grounding, whichever end it is.
    possible = [ends for ends in both if all(end.start in walks for end in ends)]
    ends = [min(pair, key=lambda end: walks[end.start]) for pair in possible]
    pieces = _pieces({end.start: walks[end.start] for end in ends})
    chosen = {literals: start for literals, start in starts.items() if start in pieces}
    _load(engine, chain_sql.start_table(number), _start_rows(chosen, pieces, length))
    _load(engine, chain_sql.end_table(number), _end_rows(ends))
    for piece in sorted(set(pieces.values())):
        paths = sum(walks[start] for start, own in pieces.items() if own == piece)
        slices = max(1, ceil(paths / MOST_PATHS))
        for remainder in range(slices):
            yield keeping_order(chain_sql.dataset_counts(number, length, piece, (remainder, slices), context))


def _load(engine: Engine, table: str, rows: pa.Table) -> None:
    engine.run(drop(table))
    engine.load(table, rows)


def _ends(loaded: Loaded, group: Group, body: int, starts: dict[_Literals, int]) -> tuple[_End, _End]:
    way = chain_sql.way_through(group.shape)
    assert way is not None
    literals = [loaded.literal(group.bodies[body].literals[atom]) for atom, _ in way]

    def turned(literal: int) -> int:
        return literal + 1 - 2 * (literal % loaded.stride)

    forth = [turned(one) if backwards else one for one, (_, backwards) in zip(literals, way, strict=True)]
    back = [turned(one) for one in reversed(forth)]

    def end(path: list[int], *, is_back: bool) -> _End:
        start = starts.setdefault(tuple(path[:-1]), len(starts))
        return _End(body, start, path[-1], is_back)

    return end(forth, is_back=False), end(back, is_back=True)


def _pieces(walks: dict[int, float]) -> dict[int, int]:
    """Starts in pieces of about as many paths as one statement walks; one with more is a piece of its own."""
    found: dict[int, int] = {}
    piece, paths = 0, 0.0
    for start, own in walks.items():
        if found and paths + own > MOST_PATHS:
            piece, paths = piece + 1, 0.0
        found[start] = piece
        paths += own
    return found


def _start_rows(starts: dict[_Literals, int], pieces: dict[int, int], length: int) -> pa.Table:
    columns = {f"l{i}": [literals[i] for literals in starts] for i in range(length)}
    return integer_columns({"start": list(starts.values()), "piece": [pieces[start] for start in starts.values()], **columns})


def _end_rows(ends: list[_End]) -> pa.Table:
    return integer_columns(
        {
            "body": [end.body for end in ends],
            "start": [end.start for end in ends],
            "literal": [end.literal for end in ends],
            "turned": [int(end.turned) for end in ends],
        }
    )
