"""Paths of SHACL as atoms: properties, inverses, sequences and alternatives of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rulescore.language import syntax
from rulescore.ontologies.triples import Blank, Graph, Iri, Node, Thing, atom, equal, short
from rulescore.readers.rdf import RDF, SHACL

INVERSE, ALTERNATIVE = f"{SHACL}inversePath", f"{SHACL}alternativePath"


MANY = ("zeroOrMorePath", "oneOrMorePath")


class UnsayableError(Exception):
    """A rule cannot say this. `what`: the reason in words, without the name of the shape."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Fresh:
    """Variables that a rule does not have yet."""

    def __init__(self, taken: Mapping[str, int]) -> None:
        self.taken = dict(taken)

    def variable(self, stem: str) -> syntax.Variable:
        number = self.taken[stem] = self.taken.get(stem, 0) + 1
        return syntax.Variable(stem if number == 1 else f"{stem}{number}")


@dataclass(frozen=True, slots=True)
class Step:
    """`many`: a chain of facts of the property, one or more."""

    predicate: str
    inverse: bool = False
    many: bool = False

    def atom(self, left: syntax.Term, right: syntax.Term) -> syntax.Atom:
        predicate = f"{self.predicate}+" if self.many else self.predicate
        return atom(predicate, right, left) if self.inverse else atom(predicate, left, right)

    @property
    def shown(self) -> str:
        return f"{'^' if self.inverse else ''}{short(self.predicate)}{'+' if self.many else ''}"

    @property
    def written(self) -> str:
        return f"{'^' if self.inverse else ''}<{self.predicate}>{'+' if self.many else ''}"


@dataclass(frozen=True, slots=True)
class Path:
    """Each of the `ways` is a chain of steps."""

    ways: tuple[tuple[Step, ...], ...]

    @classmethod
    def of(cls, predicate: str) -> Path:
        return cls(((Step(predicate),),))

    @property
    def is_step(self) -> bool:
        return len(self.ways) == 1 and len(self.ways[0]) == 1

    def fact(self, left: syntax.Term, right: syntax.Term) -> syntax.Atom:
        """The only step, as an atom."""
        return self.ways[0][0].atom(left, right)

    @property
    def shown(self) -> str:
        """The path for people. A way without steps is an empty text between two bars."""
        return "|".join("/".join(step.shown for step in way) for way in self.ways)

    @property
    def written(self) -> str:
        """The path as SPARQL writes it; a single property as its IRI alone."""
        if self.is_step and self.ways[0] == (Step(self.ways[0][0].predicate),):
            return self.ways[0][0].predicate
        return "|".join("/".join(step.written for step in way) for way in self.ways)

    def bodies(self, left: Thing, right: Thing, fresh: Fresh) -> list[tuple[syntax.Condition, ...]]:
        """Conditions that bind both ends, one list for each rule that we need. Ways of one step share a rule."""
        if len(self.ways) > 1 and all(len(way) <= 1 for way in self.ways):
            return [(syntax.Or(tuple(condition for way in self.ways for condition in _chain(way, left, right, fresh))),)]
        return [tuple(_chain(way, left, right, fresh)) for way in self.ways]

    def body(self, left: Thing, right: Thing, fresh: Fresh) -> tuple[syntax.Condition, ...]:
        """Conditions that bind both ends, within one rule."""
        bodies = self.bodies(left, right, fresh)
        if len(bodies) > 1:
            raise UnsayableError("with several chains as its path")
        return bodies[0]

    def number(
        self, left: Thing, operator: syntax.Operator, number: int, fresh: Fresh, *tests: syntax.Condition, value: syntax.Variable
    ) -> syntax.Comparison:
        """A comparison with the number of values for which some tests hold."""
        function = syntax.Aggregation.COUNT if all(len(way) == 1 for way in self.ways) else syntax.Aggregation.COUNT_DISTINCT
        condition = syntax.And((*self.body(left, value, fresh), *tests))
        return syntax.Comparison(operator, syntax.Aggregate(function, value, condition), syntax.Constant(number))


def _chain(way: Sequence[Step], left: Thing, right: Thing, fresh: Fresh) -> Iterator[syntax.Condition]:
    if not way:
        return iter((equal(right, left),))
    ends = [left, *(fresh.variable("Z") for _ in way[1:]), right]
    return (step.atom(start, end) for step, start, end in zip(way, ends, ends[1:], strict=False))


def read_path(graph: Graph, node: Node) -> Path:
    match node:
        case Iri(name):
            return Path.of(name)
        case Blank() if graph.objects(node, f"{RDF}first"):
            parts = [read_path(graph, part).ways for part in graph.members(node)]
            return Path(tuple(tuple(step for way in ways for step in way) for ways in product(*parts)))
        case Blank() if inverse := graph.objects(node, INVERSE):
            ways = read_path(graph, inverse[0]).ways
            return Path(tuple(tuple(replace(step, inverse=not step.inverse) for step in reversed(way)) for way in ways))
        case Blank() if choice := graph.objects(node, ALTERNATIVE):
            return Path(tuple(way for part in graph.members(choice[0]) for way in read_path(graph, part).ways))
        case Blank() if perhaps := graph.objects(node, f"{SHACL}zeroOrOnePath"):
            return Path(((), *read_path(graph, perhaps[0]).ways))
        case Blank() if many := [value for name in MANY for value in graph.objects(node, f"{SHACL}{name}")]:
            path = read_path(graph, many[0])
            if not path.is_step:
                raise UnsayableError("of many steps of several properties")
            chain = ((replace(path.ways[0][0], many=True),),)
            return Path(chain if graph.objects(node, f"{SHACL}oneOrMorePath") else ((), *chain))
        case _:
            closure = next((short(name) for name, _ in graph.said_of(node) if name.startswith(SHACL)), "an odd path")
            raise UnsayableError(f"with {closure}")
