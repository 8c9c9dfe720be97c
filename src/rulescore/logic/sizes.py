"""How large a rule becomes once expressions replace their abbreviations, computed before we build it.

`let B = A + A, let C = B + B, …` doubles with each step: sixty of them are a line of text and more nodes than fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rulescore.language.syntax import Expression, Membership, Variable
from rulescore.language.trees import Node, parts

MOST_NODES = 100_000
MOST_WAYS = 1_000
MOST_JOINS = 2_500
"""Limits a statement that counts several ways at once: a prediction may stand for each atom of each way, and the statement joins
it with the others. The database's planning time grows with the square of the atoms."""


class Size(NamedTuple):
    """The size of a tree: its nodes, and its height."""

    nodes: int
    height: int


_LEAF = Size(1, 1)


def size_of(node: Node, known: Mapping[str, Size]) -> Size:
    """The size of a tree once expressions replace its variables. `known`: the sizes of these expressions."""
    if isinstance(node, Variable):
        return known.get(node.name, _LEAF)
    below = [size_of(one, known) for one in _parts(node)]
    return Size(1 + sum(one.nodes for one in below), 1 + max((one.height for one in below), default=0))


def _parts(node: Node) -> Iterable[Node]:
    """The parts of a node without the constants of a set: they do not grow, however many there are."""
    return (node.value,) if isinstance(node, Membership) else parts(node)


def sizes_of(values: Mapping[str, Expression], known: dict[str, Size]) -> Iterator[tuple[str, Size]]:
    """The sizes of abbreviations, each of which may use those before it. Adds each size to `known`."""
    for name, value in values.items():
        known[name] = size_of(value, known)
        yield name, known[name]
