"""Counts chains of atoms in pieces: from which end to walk each body, and how many paths at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import pyarrow as pa

from rulescore.counting.parameters import integer_columns
from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.plan import Group, Judge
from rulescore.sql.horn import chains as chain_sql
from rulescore.sql.horn.context import HornContext
from rulescore.sql.query import Select, drop

MOST_PATHS = 10_000_000
"""How many rows one statement walks: paths, added up by their ends."""

_Literals = tuple[int, ...]


MOST_DISTINCT_ATOMS = 5
"""The length of the longest chains that are counted here if variables must be distinct. Their paths may return in 14 ways; those of
one atom more in 51, and an engine takes seconds to plan such a statement."""


def is_chain(group: Group, *, distinct: bool) -> bool:
    if group.judge is not Judge.EVIDENCE or (distinct and len(group.shape.atoms) > MOST_DISTINCT_ATOMS):
        return False
    return chain_sql.way_through(group.shape) is not None


def prepare(engine: Engine, *, predictions: bool) -> None:
    """Create the tables that all chains share."""
    engine.run(chain_sql.create_degrees())
    engine.run(chain_sql.create_reach(chain_sql.EVIDENCE))
    if predictions:
        engine.run(chain_sql.create_reach(chain_sql.PREDICTED))
        engine.run(chain_sql.create_predicted_degrees())


@dataclass(frozen=True, slots=True)
class _End:
    """A body walked from one of its ends: its number, the start, the literal of the last atom, and whether the walk begins at the
    head's second argument."""

    body: int
    start: int
    literal: int
    turned: bool


def dataset_statements(engine: Engine, loaded: Loaded, number: int, group: Group, context: HornContext) -> Iterator[Select]:
    """The statements that count a group of chains over the data."""
    length = len(group.shape.atoms) - 1
    for piece in _prepared(engine, loaded, number, group, chain_sql.EVIDENCE):
        yield chain_sql.dataset_counts(number, length, piece, context).keeping_order()


def refuter_statements(engine: Engine, loaded: Loaded, number: int, group: Group, context: HornContext) -> Iterator[Select]:
    """The statements that count a group of chains, by the appendix, with predictions that are incompatible with the head."""
    length = len(group.shape.atoms) - 1
    for piece in _prepared(engine, loaded, number, group, chain_sql.PREDICTED):
        yield chain_sql.refuter_counts(number, length, piece, context).keeping_order()


def _prepared(engine: Engine, loaded: Loaded, number: int, group: Group, sought: chain_sql.Sought) -> Iterator[chain_sql.Piece]:
    """Load from which end to walk each body; the pieces to walk at once."""
    starts: dict[_Literals, int] = {}
    both = [_ends(loaded, group, body, starts) for body in range(len(group.bodies))]
    length = len(group.shape.atoms) - 1
    _load(engine, chain_sql.start_table(number), _start_rows(starts, dict.fromkeys(starts.values(), 0), length))
    found = engine.query(chain_sql.walks(number, length, loaded.stride, sought, loaded.summary.constants), as_written=True)
    walks = dict(zip(found["start"].to_pylist(), found["n"].to_pylist(), strict=True))
    # If the start of either end has no path, the body has no grounding.
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
            yield chain_sql.Piece(piece, remainder, slices)


def _load(engine: Engine, table: str, rows: pa.Table) -> None:
    engine.run(drop(table))
    engine.load(table, rows)


def literals(loaded: Loaded, group: Group, body: int) -> _Literals:
    """The literals of a body from the head's first argument to its second."""
    way = chain_sql.way_through(group.shape)
    assert way is not None
    found = [(loaded.literal(group.bodies[body].literals[atom]), backwards) for atom, backwards in way]
    return tuple(_turned(literal, loaded.stride) if backwards else literal for literal, backwards in found)


def _turned(literal: int, stride: int) -> int:
    return literal + 1 - 2 * (literal % stride)


def _ends(loaded: Loaded, group: Group, body: int, starts: dict[_Literals, int]) -> tuple[_End, _End]:
    forth = literals(loaded, group, body)
    back = tuple(_turned(one, loaded.stride) for one in reversed(forth))

    def end(path: _Literals, *, is_back: bool) -> _End:
        start = starts.setdefault(path[:-1], len(starts))
        return _End(body, start, path[-1], is_back)

    return end(forth, is_back=False), end(back, is_back=True)


def _pieces(walks: dict[int, float]) -> dict[int, int]:
    """The piece of each start. A piece has about as many paths as one statement walks; a start with more is a piece by itself."""
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
