"""A made-up catalogue of films, series, books, people and places: a graph whose nodes have a class and a short description."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations

import numpy as np


class Class(StrEnum):
    PERSON = "person"
    FILM = "film"
    SERIES = "series"
    BOOK = "book"
    PLACE = "place"


SHARES = {Class.PERSON: 0.35, Class.FILM: 0.25, Class.SERIES: 0.1, Class.BOOK: 0.2, Class.PLACE: 0.1}

WORDS = ("born", "award", "screen", "season", "pages", "river")
"""What is counted in a description."""

# How often each class's descriptions use each word.
USES = {
    Class.PERSON: (5.2, 3.1, 2.3, 0.8, 1.7, 0.8),
    Class.FILM: (1.3, 3.1, 5.2, 1.0, 1.3, 1.0),
    Class.SERIES: (1.3, 2.2, 4.2, 4.7, 0.8, 0.8),
    Class.BOOK: (1.8, 2.6, 0.8, 1.0, 5.2, 1.3),
    Class.PLACE: (1.8, 0.4, 0.8, 1.3, 0.8, 5.2),
}

Edge = tuple[str, str, str]
"""Head, relation, tail."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What a relation leads from and to, and how many edges of it a node of the first class has on average."""

    name: str
    domain: Class
    range: Class
    times: float


RELATIONS = (
    Relation("acted_in", Class.PERSON, Class.FILM, 0.9),
    Relation("acted_in", Class.PERSON, Class.SERIES, 0.5),
    Relation("directed", Class.PERSON, Class.FILM, 0.4),
    Relation("directed", Class.PERSON, Class.SERIES, 0.2),
    Relation("wrote", Class.PERSON, Class.BOOK, 0.6),
    Relation("adapted_from", Class.FILM, Class.BOOK, 0.4),
    Relation("set_in", Class.FILM, Class.PLACE, 0.6),
    Relation("set_in", Class.BOOK, Class.PLACE, 0.5),
)
SEQUELS = 0.4
"""How many works follow another one, mostly one of their own class."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Nodes are rows of `classes`, `words` and `hidden`; edges name them."""

    names: tuple[str, ...]
    classes: tuple[Class, ...]
    words: np.ndarray
    hidden: np.ndarray
    edges: tuple[Edge, ...]

    @property
    def labels(self) -> dict[str, str]:
        """The classes of hidden nodes."""
        return {self.names[row]: self.classes[row].value for row in np.flatnonzero(self.hidden)}


def make_catalogue(number: int, random: np.random.Generator) -> Catalogue:
    classes = tuple(list(Class)[index] for index in random.choice(len(Class), number, p=list(SHARES.values())))
    names = tuple(f"n{row + 1}" for row in range(number))
    members = {which: [row for row in range(number) if classes[row] is which] for which in Class}
    edges = sorted({*_edges(members, random), *_sequels(members, random)})
    return Catalogue(
        names,
        classes,
        words=random.poisson([USES[which] for which in classes]),
        hidden=random.random(number) < 0.2,
        edges=tuple((names[head], relation, names[tail]) for head, relation, tail in edges),
    )


def disjoint_classes() -> list[Edge]:
    """Pairs of classes that no node has both of: all but film and series, as a film may also be shown in episodes."""
    return [(one, "disjoint", other) for one, other in permutations(Class, 2) if {one, other} != {Class.FILM, Class.SERIES}]


def _edges(members: dict[Class, list[int]], random: np.random.Generator) -> Iterator[tuple[int, str, int]]:
    for relation in RELATIONS:
        for head in members[relation.domain]:
            for tail in random.choice(members[relation.range], random.poisson(relation.times)):
                yield head, relation.name, int(tail)


def _sequels(members: dict[Class, list[int]], random: np.random.Generator) -> Iterator[tuple[int, str, int]]:
    for which in (Class.FILM, Class.SERIES, Class.BOOK):
        for head in members[which]:
            if random.random() < SEQUELS:
                followed = which if random.random() < 0.7 else random.choice([Class.FILM, Class.SERIES, Class.BOOK])
                tail = int(random.choice(members[Class(followed)]))
                if tail != head:
                    yield head, "sequel_of", tail
