"""The table of what candidates contribute: rows of single candidates, and rows that are the same for every value of an argument."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.mending.enumeration import COUNTS, NO_ARGUMENT, Integers, Rows
from rulescore.mending.sources import batches, read
from rulescore.readers.sources import FactsLike
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA
from rulescore.scoring.results import Counts, RuleKind
from rulescore.values import MARKER, Value, key_of, text_of, value_of

if TYPE_CHECKING:
    from rulescore.mending.numbered import Labels, NumberedTable
    from rulescore.mending.price import Price

_PIECE = 1_000_000
"""How many rows we put into words at once."""

Fact = tuple[int, ...]
"""The number of a predicate, then of its arguments."""


@dataclass(frozen=True, slots=True)
class CandidateRule:
    """A rule of a table.

    `kind`: the kind by the data, unless declarations are trusted. `declared`: it is declared hard although the data contradict it.
    `unrefutable`: nothing declared could ever refute its head.
    """

    name: str
    text: str
    kind: RuleKind
    weight: float
    dataset: Counts
    declared: bool = False
    unrefutable: bool = False


@dataclass(frozen=True)
class CandidateTable:
    """What every candidate contributes to every rule.

    A candidate is a fact that is not observed. Its contribution is the sum of all rows that fit it, in `rows` and in `symbolic`.

    Attributes:
        rules: The rules, each with its counts over the data.
        predicates: The numbers of predicates, by name.
        arities: How many arguments a predicate has, by its number.
        keys: Constants by their numbers.
        rows: Contributions of single candidates.
        symbolic: Contributions that are the same for every value of an argument.
        observed: The facts, in numbers.
        opposes: For each predicate, the predicates whose facts refute its own, each with the order in which it takes the arguments.
        negative: Facts known to be false.
        conclusions: What hard rules conclude from the data, each with a rule.
        domain: The candidates that the table has; None: all.
    """

    rules: tuple[CandidateRule, ...]
    predicates: Mapping[str, int]
    arities: Mapping[int, int]
    keys: Sequence[str]
    rows: Rows
    symbolic: Rows
    observed: Integers
    opposes: Mapping[int, tuple[tuple[int, tuple[int, ...]], ...]]
    negative: frozenset[Fact] = frozenset()
    conclusions: Mapping[Fact, int] = field(default_factory=dict)
    domain: Domain | None = None

    def __repr__(self) -> str:
        return f"<CandidateTable of {len(self.rules):,} rules: {len(self.rows):,} rows and {len(self.symbolic):,} for every value>"

    @property
    def bytes(self) -> int:
        """The memory that the rows take."""
        return sum(
            column.nbytes
            for rows in (self.rows, self.symbolic)
            for column in (rows.rule, rows.predicate, rows.arguments, rows.counts)
        )

    @property
    def constants(self) -> list[Value]:
        """The constants by their numbers, which are the columns of a mask."""
        return [value_of(key) for key in self.keys]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of constants, by their keys."""
        return {key: number for number, key in enumerate(self.keys)}

    @cached_property
    def facts(self) -> frozenset[Fact]:
        """The observed facts."""
        return frozenset(fact_of(*row) for row in zip(self.observed[:, 0].tolist(), self.observed[:, 1:].tolist(), strict=True))

    @cached_property
    def hard(self) -> tuple[int, ...]:
        """The numbers of the hard rules."""
        return tuple(number for number, rule in enumerate(self.rules) if rule.kind is RuleKind.HARD)

    @cached_property
    def soft(self) -> tuple[int, ...]:
        """The numbers of the soft rules that the data contradict now and then: others have no rate to compare with."""
        return tuple(number for number, rule in enumerate(self.rules) if rule.kind is RuleKind.SOFT and rule.dataset.rate)

    @property
    def forbids(self) -> bool:
        """Whether some candidate would break a hard rule."""
        return any(bool((rows.counts[np.isin(rows.rule, self.hard), 1] > 0).any()) for rows in (self.rows, self.symbolic))

    @cached_property
    def _by_fact(self) -> dict[Fact, list[int]]:
        places: dict[Fact, list[int]] = {}
        for place, (predicate, arguments) in enumerate(
            zip(self.rows.predicate.tolist(), self.rows.arguments.tolist(), strict=True)
        ):
            places.setdefault(fact_of(predicate, arguments), []).append(place)
        return places

    @cached_property
    def _symbolic_by_predicate(self) -> dict[int, list[tuple[int, list[int]]]]:
        places: dict[int, list[tuple[int, list[int]]]] = {}
        for place, (predicate, arguments) in enumerate(
            zip(self.symbolic.predicate.tolist(), self.symbolic.arguments.tolist(), strict=True)
        ):
            places.setdefault(predicate, []).append((place, arguments))
        return places

    def of(self, fact: Fact) -> dict[int, tuple[int, int, int]]:
        """The contributions (c, v, e) of one candidate that are not all 0, by the number of the rule.

        Args:
            fact: The candidate, in numbers.
        """
        contributions: dict[int, Integers] = {}
        for place in self._by_fact.get(fact, ()):
            contributions[int(self.rows.rule[place])] = self.rows.counts[place].copy()
        for place, pattern in self._symbolic_by_predicate.get(fact[0], ()):
            if fits(pattern, fact[1:]):
                rule = int(self.symbolic.rule[place])
                contributions[rule] = contributions.get(rule, np.zeros(3, np.int64)) + self.symbolic.counts[place]
        return {
            rule: (int(counts[0]), int(counts[1]), int(counts[2])) for rule, counts in sorted(contributions.items()) if counts.any()
        }

    def contribution(self, predicate: str, *arguments: Value) -> dict[str, Counts]:
        """What one candidate contributes, by the names of the rules; rules to which it contributes nothing are left out.

        Args:
            predicate: The candidate's predicate.
            arguments: The candidate's constants; they need not occur in the data.

        Returns:
            Confirmed, refuted and evaluable groundings by rule.

        Raises:
            InputError: The table knows no such predicate, the fact is observed, or the table does not have it.
        """
        fact = self.fact(predicate, [key_of(argument) for argument in arguments], {})
        return {self.rules[rule].name: Counts(*counts) for rule, counts in self.of(fact).items()}

    def fact(self, predicate: str, keys: Sequence[str], others: dict[str, int]) -> Fact:
        """A candidate as numbers.

        Args:
            predicate: The candidate's predicate.
            keys: The keys of its constants.
            others: Numbers for constants that the data do not have, by key; further ones are added.
        """
        if predicate not in self.predicates or self.arities[self.predicates[predicate]] != len(keys):
            helps = meant(predicate, self.predicates)
            raise InputError(
                Diagnostic("E802", f"no facts or rules have a predicate `{predicate}` of {len(keys)} arguments", helps=helps)
            )
        numbers = self.numbers
        fact = (
            self.predicates[predicate],
            *(numbers[key] if key in numbers else others.setdefault(key, len(self.keys) + len(others)) for key in keys),
        )
        shown = f"`{predicate}({', '.join(map(text_of, keys))})`"
        if fact in self.facts:
            helps = ("`rulescore.score` counts predictions that are observed already",)
            raise InputError(Diagnostic("E803", f"{shown} is an observed fact, and no candidate", helps=helps))
        if self.domain is not None and fact not in self.domain:
            helps = ("make a table of all candidates, or one of lists or queries that have this candidate",)
            raise InputError(Diagnostic("E802", f"the table does not have the candidate {shown}", helps=helps))
        return fact

    def contributions(self, predictions: FactsLike, *, model: str = "model") -> pa.Table:
        """What predictions contribute, with the columns of `result.contributions`.

        Args:
            predictions: One model's predictions, as `rulescore.score` takes them; all count, whatever their ranks.
            model: The model's name in the table.

        Returns:
            One row for each rule and prediction that has an evaluable grounding.

        Raises:
            InputError: A prediction is an observed fact, or the table does not have it.
        """
        others: dict[str, int] = {}
        best: dict[Fact, tuple[Any, ...]] = {}
        for batch in batches(predictions):
            columns = batch.rows.to_pydict()
            for predicate, keys, row in read(batch):
                fact = self.fact(predicate, keys, others)
                score, rank, query = (columns[field][row] for field in ("score", "rank", "query"))
                _, _, score0, rank0, query0 = best.get(fact, (predicate, keys, score, rank, query))
                best[fact] = (predicate, keys, _best(max, score0, score), _best(min, rank0, rank), _best(min, query0, query))
        rows = [
            (model, self.rules[rule].name, predicate, list(map(text_of, keys)), types_of(keys), score, rank, query, *counts)
            for fact, (predicate, keys, score, rank, query) in best.items()
            for rule, counts in self.of(fact).items()
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(CONTRIBUTIONS_SCHEMA)
        arrays = [
            pa.array(list(values), _plain(field.type)).cast(field.type)
            for values, field in zip(columns, CONTRIBUTIONS_SCHEMA, strict=True)
        ]
        return pa.table(arrays, schema=CONTRIBUTIONS_SCHEMA)

    def numbered(self, entities: Labels, relations: Labels) -> NumberedTable:
        """The table in a model's own numbers.

        Args:
            entities: The labels of entities by id, or their ids by label.
            relations: The labels of relations by id, or their ids by label.

        Returns:
            A table that answers batches of queries in these ids.

        Raises:
            InputError: The table knows none of the entities, or none of the relations.
        """
        from rulescore.mending.numbered import NumberedTable

        return NumberedTable(self, entities, relations)

    def mask(
        self,
        heads: Any = None,
        relations: Any = None,
        tails: Any = None,
        *,
        entities: Labels | None = None,
        relation_labels: Labels | None = None,
        reasons: Collection[str] | None = None,
    ) -> Any:
        """Mark the forbidden answers to a batch of queries.

        Args:
            heads: The heads, if tails are asked for: labels, or ids if `entities` says which.
            relations: The relations: labels, or ids if `relation_labels` says which.
            tails: The tails, if heads are asked for.
            entities: The labels of ids, or the ids of labels; the columns of the mask. All constants of the data unless given.
            relation_labels: The labels of relation ids, or the ids of the labels.
            reasons: The reasons that forbid an answer; all unless given.

        Returns:
            A row for each query, a column for each entity, true for answers to leave out. It is a tensor if the batch is one,
            and a NumPy array otherwise.

        Raises:
            InputError: Not exactly one of heads and tails is given, the batch is empty, or an entity or relation is unknown.
        """
        from rulescore.mending.masks import mask

        return mask(self, heads, relations, tails, entities, relation_labels, reasons)

    def price(self, valid: FactsLike, *, reasons: Collection[str] | None = None) -> Price:
        """What forbidding candidates would cost: read it before you leave answers out or train.

        Args:
            valid: True facts that are not observed.
            reasons: The reasons that forbid a candidate; all unless given.

        Returns:
            How many of the facts would be forbidden, by rule or reason, and which rules are declared hard although the data
            contradict them.
        """
        from rulescore.mending.price import price_of
        from rulescore.mending.reasons import AGAINST, Reasons, reasons_named

        return price_of(self, Reasons(self), reasons_named(AGAINST if reasons is None else reasons), valid)

    def to_arrow(self) -> pa.Table:
        """All rows in words.

        Returns:
            The columns `rule`, `predicate`, `arguments`, `confirmed`, `refuted` and `evaluable`. The arguments `*1` and `*2` stand
            for any value; equal marks stand for equal values. A candidate's contribution is the sum of the rows that fit it.
        """
        return pa.concat_tables(self._pieces())

    def write(self, path: Path) -> None:
        """Write the rows as Parquet.

        Args:
            path: The file, which we replace if it exists.

        Raises:
            InputError: The file cannot be written.
        """
        from pyarrow.parquet import ParquetWriter

        pieces = self._pieces()
        first = next(pieces)
        try:
            with ParquetWriter(path, first.schema) as writer:
                writer.write_table(first)
                for piece in pieces:
                    writer.write_table(piece)
        except OSError as error:
            raise InputError(
                Diagnostic("E601", f"`{path}` cannot be written", notes=((error.strerror or str(error)).lower(),))
            ) from error

    def _pieces(self) -> Iterator[pa.Table]:
        """All rows in words, some at a time: words take more memory than numbers. There is at least one piece."""
        for rows in (self.rows, self.symbolic):
            for start in range(0, max(len(rows), 1), _PIECE):
                yield self._worded(rows.taken(np.arange(start, min(start + _PIECE, len(rows)))))

    def _worded(self, rows: Rows) -> pa.Table:
        rules, predicates = pa.array([rule.name for rule in self.rules], pa.string()), pa.array(list(self.predicates), pa.string())
        marks = NO_ARGUMENT - int(rows.arguments.min(initial=NO_ARGUMENT))  # the number of `*1` is `NO_ARGUMENT` - 1
        words = pa.array([*(f"*{number}" for number in range(marks, 0, -1)), *map(text_of, self.keys)], pa.string())
        used = rows.arguments != NO_ARGUMENT
        numbers = rows.arguments[used]
        places = marks + np.where(numbers < 0, numbers - NO_ARGUMENT, numbers)
        offsets = np.append(0, np.cumsum(used.sum(axis=1)))
        counts = {count: pa.array(rows.counts[:, place]) for place, count in enumerate(COUNTS)}
        named = {
            "rule": pa.DictionaryArray.from_arrays(pa.array(rows.rule.astype(np.int32)), rules),
            "predicate": pa.DictionaryArray.from_arrays(pa.array(rows.predicate.astype(np.int32)), predicates),
            "arguments": pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), words.take(pa.array(places))),
        }
        return pa.table({**named, **counts})


@dataclass(frozen=True)
class Domain:
    """The candidates that a table has: listed candidates, or candidates that answer queries. A query is a predicate, the place of
    an argument, and the argument."""

    listed: Collection[Fact] = frozenset()
    queries: Collection[tuple[int, int, int]] = frozenset()

    def __contains__(self, fact: Fact) -> bool:
        return fact in self.listed or any((fact[0], place, value) in self.queries for place, value in enumerate(fact[1:]))


def fact_of(predicate: int, arguments: Sequence[int]) -> Fact:
    return (predicate, *(value for value in arguments if value != NO_ARGUMENT))


def fits(pattern: Sequence[int], arguments: Sequence[int]) -> bool:
    """Whether a candidate has the arguments of a row, in which negative numbers stand for any."""
    seen: dict[int, int] = {}
    for mine, theirs in zip(pattern, arguments, strict=False):
        if mine >= 0:
            if mine != theirs:
                return False
        elif seen.setdefault(mine, theirs) != theirs:
            return False
    return True


def split(rows: Rows, facts: frozenset[Fact]) -> tuple[Rows, Rows]:
    """The rows of single candidates that are no facts, and the rows for many candidates."""
    is_open = (rows.arguments < NO_ARGUMENT).any(axis=1)
    single, many = rows.taken(np.flatnonzero(~is_open)), rows.taken(np.flatnonzero(is_open))
    pairs = zip(single.predicate.tolist(), single.arguments.tolist(), strict=True)
    is_new = (
        np.array([fact_of(predicate, arguments) not in facts for predicate, arguments in pairs], np.bool_)
        if len(many)
        else np.ones(len(single), np.bool_)
    )
    return single.taken(np.flatnonzero(is_new)), many


def types_of(keys: Sequence[str]) -> str:
    """The letters of the types of constants, in the form of tables of contributions."""
    return "".join(key[1] if key.startswith(MARKER) else "s" for key in keys)


def _best(choose: Callable[[list[Any]], Any], *values: Any) -> Any:
    known = [value for value in values if value is not None]
    return choose(known) if known else None


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
