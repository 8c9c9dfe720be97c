"""Finds every rule of each form that enough groundings confirm, with exact counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from rulescore.discovery import statements as sql
from rulescore.discovery.graph import Graph, GraphRule, Pattern, X, Y, Z, number, with_bodies
from rulescore.discovery.model import Form
from rulescore.scoring.results import Counts
from rulescore.sql.horn import evidence as signatures
from rulescore.sql.horn import triangles
from rulescore.sql.horn.chains import EVIDENCE, create_reach
from rulescore.sql.query import Create, drop

Row = dict[str, int]

_MOST_WITH_CONSTANTS = 2_000


class Enumeration:
    """Enumerates the rules of one graph. `reasons`: why we left out a form. `notes`: further remarks for the reader."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.reasons: list[str] = []
        self.notes: list[str] = []

    def rules(self, wanted: Iterable[Form]) -> Iterator[GraphRule]:
        """The rules of the wanted forms. Each form has statements of its own."""
        if not self._graph.refutable:
            return
        pairs, places = bool(self._graph.of_arity(2)), bool(self._graph.of_arity(1))
        for form in wanted:
            match form:
                case Form.IMPLICATION if pairs:
                    yield from self._one_atom_pairs(turned=0)
                case Form.INVERSION if pairs:
                    yield from self._one_atom_pairs(turned=1)
                case Form.TWO_ATOMS if pairs:
                    yield from self._two_atoms()
                case Form.ONE_PLACE if places:
                    yield from self._one_place()
                    yield from self._from_places() if pairs else ()
                case Form.CONSTANTS if pairs:
                    yield from self._constants()

    def _judged(self, bodies: Create, keys: list[str], heads: str = sql.HEADS, limit: int | None = None) -> list[Row]:
        graph, options = self._graph, self._graph.options
        limit = None if options.everything else limit
        most = options.max_rate if limit is None and not options.everything else 1.0
        query = sql.judged(keys, heads, max(1, options.min_support), several=graph.appendix, most=most, limit=limit)
        rows = with_bodies(graph, bodies, query)
        if limit is not None and len(rows) == limit:
            self.notes.append(f"we look at only {limit:,} rules of each kind that have constants: the ones with most support")
        return rows

    def _counts(self, row: Row) -> Counts:
        # Incompatible predicates share no tuple, so no grounding is both confirmed and refuted.
        return Counts(row["confirmed"], row["refuted"], row["confirmed"] + row["refuted"])

    def _by_chance(self, row: Row, arity: int) -> float:
        return row["bodies"] * self._graph.facts[row["head"] // 2] / self._graph.tuples[arity]

    @cached_property
    def _pairs_judged(self) -> list[Row]:
        return self._judged(sql.one_atom(2, distinct=self._graph.distinct), ["l0"])

    def _one_atom_pairs(self, *, turned: int) -> Iterator[GraphRule]:
        for row in self._pairs_judged:
            head, body = row["head"], row["l0"]
            if head == body or body % 2 != turned:
                continue
            yield GraphRule(
                Form.INVERSION if turned else Form.IMPLICATION,
                Pattern(head, (X, Y)),
                (Pattern(body, (X, Y)),),
                self._counts(row),
                self._by_chance(row, 2),
                row["apart"],
                self._graph.facts[head // 2],
                row["confirmed"],
                key=(head, body),
            )

    def _two_atoms(self) -> Iterator[GraphRule]:
        graph = self._graph
        graph.engine.run(signatures.create_inverses(2))
        graph.engine.run(create_reach(EVIDENCE))
        graph.engine.run(triangles.create_ranks())
        graph.engine.run(triangles.create_edges(all_sides=True), as_written=True)
        if self._is_too_much(Form.TWO_ATOMS, number(graph, sql.ways_of_edges())):
            return
        graph.engine.run(triangles.create_triangles(distinct=graph.distinct), as_written=True)
        for row in self._judged(sql.two_atoms(), ["l0", "l1"]):
            yield GraphRule(
                Form.TWO_ATOMS,
                Pattern(row["head"], (X, Y)),
                (Pattern(row["l0"], (X, Z)), Pattern(row["l1"] ^ 1, (Z, Y))),
                self._counts(row),
                self._by_chance(row, 2),
                row["apart"],
                graph.facts[row["head"] // 2],
                key=(row["head"], row["l0"], row["l1"]),
            )

    def _one_place(self) -> Iterator[GraphRule]:
        for row in self._judged(sql.one_atom(1, distinct=False), ["l0"]):
            if row["head"] != row["l0"]:
                body = (Pattern(row["l0"], (X,)),)
                yield self._about_one(row, body, row["confirmed"])

    def _from_places(self) -> Iterator[GraphRule]:
        distinct = self._graph.distinct
        for row in self._judged(sql.places(distinct=distinct), ["l0"]):
            yield self._about_one(row, (Pattern(row["l0"], (X, Y)),), None)
        for row in self._judged(sql.typed_places(distinct=distinct), ["l0", "l1"]):
            yield self._about_one(row, (Pattern(row["l0"], (X, Y)), Pattern(row["l1"], (Y,))), None)

    def _about_one(self, row: Row, body: tuple[Pattern, ...], explained: int | None) -> GraphRule:
        return GraphRule(
            Form.ONE_PLACE,
            Pattern(row["head"], (X,)),
            body,
            self._counts(row),
            self._by_chance(row, 1),
            row["apart"],
            self._graph.facts[row["head"] // 2],
            explained,
            key=(row["head"], *(pattern.literal for pattern in body)),
        )

    def _constants(self) -> Iterator[GraphRule]:
        """Chance distributes the head's property anew among all constants."""
        graph = self._graph
        graph.engine.run(sql.create_frequent(max(1, graph.options.min_support)))
        try:
            if self._is_too_much(Form.CONSTANTS, number(graph, sql.ways_of_constants())):
                return
            frequent = graph.engine.query(sql.frequent())
            columns = (frequent[field].to_pylist() for field in ("literal", "constant", "n"))
            have = {(literal, constant): int(n) for literal, constant, n in zip(*columns, strict=True)}
            constants = graph.tuples.get(1) or self._constants_with_facts()
            rows = self._judged(sql.with_constants(), ["l0", "d", "c"], sql.TURNED_HEADS, _MOST_WITH_CONSTANTS)
            judged = [(row, True, True) for row in rows]
            if graph.of_arity(1):
                rows = self._judged(sql.constant_to_place(), ["l0", "d"], limit=_MOST_WITH_CONSTANTS)
                judged += [(row, True, False) for row in rows]
                rows = self._judged(sql.place_to_constant(), ["l0", "c"], sql.TURNED_HEADS, _MOST_WITH_CONSTANTS)
                judged += [(row, False, True) for row in rows]
            for row, in_body, in_head in judged:
                head, body = row["head"], row["l0"]
                patterns = (
                    Pattern(head, (X, row["c"]) if in_head else (X,)),
                    Pattern(body, (X, row["d"]) if in_body else (X,)),
                )
                head_facts = have[head, row["c"]] if in_head else graph.facts[head // 2]
                holds = have[body, row["d"]] if in_body else graph.facts[body // 2]
                yield GraphRule(
                    Form.CONSTANTS,
                    patterns[0],
                    (patterns[1],),
                    self._counts(row),
                    holds * head_facts / constants,
                    row["apart"],
                    head_facts,
                    row["confirmed"],
                    key=(head, body, row.get("c"), row.get("d")),
                )
        finally:
            graph.engine.run(drop(sql.FREQUENT))

    def _constants_with_facts(self) -> int:
        query = signatures.tuples_with_facts(1, sorted(set(self._graph.arities)), 2, len(self._graph.names))
        return number(self._graph, query)

    def _is_too_much(self, form: Form, ways: int) -> bool:
        most = self._graph.options.max_groundings
        if ways > most:
            looked = f"finding them looks at {ways:,} pairs of facts, and the limit is {most:,}"
            self.reasons.append(f"rules of the form “{form.heading}” are left out: {looked}")
        return ways > most
