"""How large a rule becomes once abbreviations are put in, counted before anything is built.

`let B = A + A, let C = B + B, …` doubles with each step: sixty of them are a line of text and more nodes than fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rulescore.language.syntax import Expression, Membership, Variable
from rulescore.language.trees import Node, parts

MOST_NODES = 100_000
MOST_WAYS = 1_000


class Size(NamedTuple):
    """Of a tree: its nodes, and the longest way down."""

    nodes: int
    height: int


_LEAF = Size(1, 1)


def size_of(node: Node, known: Mapping[str, Size]) -> Size:
    """The size of a tree in which variables stand for something of a known size."""
    if isinstance(node, Variable):
        return known.get(node.name, _LEAF)
    below = [size_of(one, known) for one in _parts(node)]
    return Size(1 + sum(one.nodes for one in below), 1 + max((one.height for one in below), default=0))


def _parts(node: Node) -> Iterable[Node]:
    """The constants of a set stay as they are, however many there are."""
    return (node.value,) if isinstance(node, Membership) else parts(node)


def sizes_of(values: Mapping[str, Expression], known: dict[str, Size]) -> Iterator[tuple[str, Size]]:
    """Of abbreviations, each of which may be made of those before it: their sizes are known from then on."""
    for name, value in values.items():
        known[name] = size_of(value, known)
        yield name, known[name]
