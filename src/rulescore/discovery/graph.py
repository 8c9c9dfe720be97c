"""Loads a graph for discovery: its predicates, which of them meet, and the tables of the statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.counting.parameters import integer_columns
from rulescore.discovery import statements as sql
from rulescore.discovery.model import DiscoverOptions, Form
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError
from rulescore.language.printer import print_rule
from rulescore.language.syntax import And, Atom, Comparison, Condition, Constant, Falsity, Operator, Rule, Term, Variable, Wildcard
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.choices import Convention
from rulescore.sql.horn import evidence as signatures
from rulescore.sql.query import Create, Select, drop
from rulescore.values import value_of

MOST_PREDICATES = 3_000
"""The most predicates of one arity. With more, so many pairs never meet that no rule file could say `extract incompatible`."""


@dataclass(frozen=True)
class Graph:
    """Loaded facts. A predicate is its number.

    `facts`: how many facts each predicate has. `together`: on how many tuples two literals of one arity both hold, the lower
    number first. `tuples`: how many tuples could carry a fact, by arity. `refutable`: the predicates whose facts another
    predicate could refute.
    """

    engine: Engine
    options: DiscoverOptions
    names: tuple[str, ...]
    arities: tuple[int, ...]
    facts: tuple[int, ...]
    together: dict[tuple[int, int], int]
    tuples: dict[int, int]
    refutable: frozenset[int]
    distinct: bool

    def of_arity(self, arity: int) -> list[int]:
        return [predicate for predicate, own_arity in enumerate(self.arities) if own_arity == arity]

    @property
    def appendix(self) -> bool:
        return self.options.convention is Convention.APPENDIX

    def meet(self, left: int, right: int) -> int:
        """On how many tuples two literals both hold."""
        return self.facts[left // 2] if left == right else self.together.get((min(left, right), max(left, right)), 0)


def load_graph(session: Session, options: DiscoverOptions) -> Graph:
    """Number the evidence, and load which predicates meet."""
    engine, loaded = session.engine, session.data.loaded
    if loaded.summary.negatives:
        helps = ("give a file of the facts that hold",)
        raise InputError(
            Diagnostic("E363", "some facts are marked as false, but we discover rules in true facts only", helps=helps)
        )
    session.evidence.number()
    names = tuple(loaded.predicate_ids)
    predicates = [loaded.vocabulary.predicates[name] for name in names]
    arities = sorted({predicate.arity for predicate in predicates} & {1, 2})
    together: dict[tuple[int, int], int] = {}
    tuples: dict[int, int] = {}
    for arity in arities:
        query = sql.alike() if arity == 2 else signatures.cooccurrences(1, loaded.stride, len(names))
        rows = engine.query(query)
        columns = (rows[field].to_pylist() for field in ("left", "right", "n"))
        together |= {(left, right): int(n) for left, right, n in zip(*columns, strict=True)}
        counted = signatures.tuples_with_facts(arity, sorted(loaded.fact_arities), loaded.stride, len(names))
        tuples[arity] = int(engine.query(counted)["n"].to_pylist()[0])
    distinct = options.distinct_variables
    graph = Graph(
        engine,
        options,
        names,
        tuple(predicate.arity for predicate in predicates),
        tuple(predicate.observed for predicate in predicates),
        together,
        tuples,
        _refutable([predicate.arity for predicate in predicates], together),
        options.convention is Convention.APPENDIX if distinct is None else distinct,
    )
    _load_heads(graph)
    return graph


def _refutable(arities: Sequence[int], together: dict[tuple[int, int], int]) -> frozenset[int]:
    """The predicates that never meet some other predicate of their arity."""
    of_arity = Counter(arities)
    partners: Counter[int] = Counter()
    for left, right in together:
        if left % 2 == 0 and right % 2 == 0:
            partners.update((left // 2, right // 2))
    return frozenset(
        number
        for number, arity in enumerate(arities)
        if arity in (1, 2) and of_arity[arity] <= MOST_PREDICATES and partners[number] < of_arity[arity] - 1
    )


def _load_heads(graph: Graph) -> None:
    heads = sorted(graph.refutable)
    graph.engine.load(sql.HEADS, integer_columns({"literal": [2 * head for head in heads]}))
    turned = [2 * head + 1 for head in heads if graph.arities[head] == 2]
    graph.engine.load(sql.TURNED_HEADS, integer_columns({"literal": sorted([2 * head for head in heads] + turned)}))
    pairs = {(literal, literal) for head in heads for literal in (2 * head, 2 * head + 1)}
    for left, right in graph.together:
        if left % 2 == 0 and right % 2 == 0:
            pairs |= {(left, right), (right, left), (left + 1, right + 1), (right + 1, left + 1)}
    columns = list(zip(*sorted(pairs), strict=True)) or [(), ()]
    graph.engine.load(sql.TOGETHER, integer_columns({"head": list(columns[0]), "literal": list(columns[1])}))


def with_bodies(graph: Graph, bodies: Create, query: Select) -> list[dict[str, int]]:
    """The rows of a query on a table of bodies, which we make and drop."""
    graph.engine.run(bodies)
    try:
        return [{field: int(value) for field, value in judged.items()} for judged in graph.engine.query(query).to_pylist()]
    finally:
        graph.engine.run(drop(sql.BODIES))


def number(graph: Graph, query: Select) -> int:
    """The only value of a query of one row; 0 if it is missing."""
    value = graph.engine.query(query)["n"].to_pylist()[0]
    return int(value or 0)


def load_rules(graph: Graph, table: str, columns: dict[str, list[int]], ask: Callable[[], pa.Table]) -> dict[int, int]:
    """A number for each rule, asked while the rules are loaded under a name."""
    graph.engine.load(table, integer_columns(columns))
    try:
        rows = ask()
        return dict(zip(rows["rule"].to_pylist(), map(int, rows["n"].to_pylist()), strict=True))
    finally:
        graph.engine.run(drop(table))


X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A literal with its two terms, or a predicate of one place with its term. A number stands for a constant."""

    literal: int
    terms: tuple[Variable | Wildcard | int, ...]


@dataclass(frozen=True, slots=True)
class GraphRule:
    """A rule. `head` is None for a denial constraint.

    `apart`: how many confirmed groundings have a different constant for each variable. `different`: variables that must have
    different constants. `key`: equal for rules that say the same of these data. `parent`: the rule that this rule extends.
    """

    form: Form
    head: Pattern | None
    body: tuple[Pattern, ...]
    counts: Counts
    expected: float
    apart: int = 0
    head_facts: int | None = None
    explained: int | None = None
    different: tuple[Variable, Variable] | None = None
    key: tuple[object, ...] = ()
    parent: GraphRule | None = None


def text_of(rule: GraphRule, predicates: Sequence[str], constants: Mapping[int, str]) -> str:
    """The rule in our language. `constants`: keys by number."""
    head = Falsity() if rule.head is None else _atom(rule.head, predicates, constants)
    body: list[Condition] = [_atom(pattern, predicates, constants) for pattern in rule.body]
    if rule.different:
        body.append(Comparison(Operator.DIFFERENT, *rule.different))
    return print_rule(Rule(head, And(tuple(body))))


def _atom(pattern: Pattern, predicates: Sequence[str], constants: Mapping[int, str]) -> Atom:
    terms: list[Term] = [Constant(value_of(constants[term])) if isinstance(term, int) else term for term in pattern.terms]
    return Atom(predicates[pattern.literal // 2], tuple(reversed(terms)) if pattern.literal % 2 else tuple(terms))


def constants_in(rule: GraphRule) -> list[int]:
    patterns = rule.body if rule.head is None else (rule.head, *rule.body)
    return [term for pattern in patterns for term in pattern.terms if isinstance(term, int)]
