"""A table in a model's own numbers. It tells what the answers to a batch of queries contribute, and which of them are known or
forbidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.mending.enumeration import Integers, Rows
from rulescore.mending.reasons import AGAINST, Opposes, Reason, Reasons, reasons_named
from rulescore.mending.table import CandidateTable
from rulescore.values import key_of

Labels = Sequence[Any] | Mapping[Any, int]
"""Labels by id, or ids by label."""
Booleans = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

EVERY = -1
"""What stands for all answers of a query at once."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Parts of contributions: the query's place in the batch, the answer (or `EVERY`), the rule, and (c, v, e)."""

    query: Integers
    answer: Integers
    rule: Integers
    counts: Integers


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Rows by relation and given entity: sorted by `keys`."""

    keys: Integers
    answers: Integers
    rules: Integers
    counts: Integers

    def of(self, wanted: Integers) -> tuple[Integers, Integers]:
        """For each row with a wanted key: the place of the key in `wanted`, and the place of the row."""
        low, high = np.searchsorted(self.keys, wanted, "left"), np.searchsorted(self.keys, wanted, "right")
        sizes = high - low
        queries = np.repeat(np.arange(len(wanted)), sizes)
        inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return queries, np.repeat(low, sizes) + inside


_Pairs = tuple[_Sorted, _Sorted]
"""Pairs by head, and by tail."""


class NumberedTable:
    """A table of candidates in a model's own ids; only candidates of two arguments.

    `entities`, `relations`: the labels of the ids, or the ids of the labels.
    """

    def __init__(self, table: CandidateTable, entities: Labels, relations: Labels) -> None:
        self.table = table
        labels, names = _by_id(entities), [str(label) for label in _by_id(relations)]
        self.entities, self.relations = len(labels), len(names)
        numbers = table.numbers
        keys = [key_of(label) for label in labels]
        own = np.array([numbers.get(key, -1) for key in keys], np.int64)
        if self.entities and not (own >= 0).any():
            message = f"the table knows none of the {self.entities:,} entities, such as `{labels[0]}`"
            advice = "give the labels that the facts have, by the ids of the model: `entities=factory.entity_id_to_label`"
            raise InputError(Diagnostic("E802", message, helps=(advice,)))
        if not any(name in table.predicates for name in names):
            helps = (
                "give the labels that the facts have, by the ids of the model",
                *(meant(names[0], table.predicates) if names else ()),
            )
            raise InputError(Diagnostic("E802", "the table knows none of the relations", helps=helps))
        self.own_entity = own
        self.own_relation = np.array([table.predicates.get(name, -1) for name in names], np.int64)
        self.entity_of = np.full(len(table.keys) + 1, -1, np.int64)
        self.entity_of[own[own >= 0]] = np.flatnonzero(own >= 0)
        self.relation_of = np.full(max(len(table.predicates), 1), -1, np.int64)
        known = self.own_relation >= 0
        self.relation_of[self.own_relation[known]] = np.flatnonzero(known)

    @cached_property
    def _bound(self) -> tuple[Integers, Integers, Rows]:
        """The rows of single candidates that the model knows, each with relation, head and tail in the model's ids."""
        rows = self.table.rows
        relation = self.relation_of[rows.predicate]
        is_pair = np.array([self.table.arities[number] == 2 for number in range(len(self.relation_of))] or [False])[rows.predicate]
        places = np.flatnonzero((relation >= 0) & is_pair)
        chosen_rows = rows.taken(places)
        ids = self.entity_of[chosen_rows.arguments[:, :2]] if chosen_rows.arguments.shape[1] > 1 else np.zeros((0, 2), np.int64)
        kept = np.flatnonzero((ids >= 0).all(axis=1))
        return relation[places][kept], ids[kept], chosen_rows.taken(kept)

    def _sorted(self, end: int) -> _Sorted:
        relation, ids, rows = self._bound
        keys, order = self._order(relation, ids, end)
        return _Sorted(keys, ids[order, 1 - end], rows.rule[order], rows.counts[order])

    def _order(self, relation: Integers, ids: Integers, end: int) -> tuple[Integers, Integers]:
        """The sorted keys of relation and given entity, and for each its place before sorting."""
        keys = relation * self.entities + ids[:, end]
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    @cached_property
    def _by_head(self) -> _Sorted:
        return self._sorted(0)

    @cached_property
    def _by_tail(self) -> _Sorted:
        return self._sorted(1)

    @cached_property
    def _facts(self) -> _Pairs:
        return self._pairs(self.table.observed)

    @cached_property
    def _negative(self) -> _Pairs:
        return self._pairs(self._of_two(self.table.negative))

    @cached_property
    def _conclusions(self) -> _Pairs:
        return self._pairs(self._of_two(self.table.conclusions))

    @staticmethod
    def _of_two(facts: Iterable[tuple[int, ...]]) -> Integers:
        return np.array([fact for fact in facts if len(fact) == 3], np.int64).reshape(-1, 3)

    def _pairs(self, facts: Integers) -> _Pairs:
        """Facts of two arguments that the model knows, by head and by tail. Their predicates keep the numbers of the table."""
        is_pair = np.array([self.table.arities.get(number, 0) == 2 for number in range(len(self.relation_of))])
        facts = facts[is_pair[facts[:, 0]]] if facts.shape[1] > 2 else np.zeros((0, 3), np.int64)
        ids = self.entity_of[facts[:, 1:3]]
        kept = (ids >= 0).all(axis=1)
        predicate, ids = facts[kept, 0], ids[kept]
        by_end = []
        for end in (0, 1):
            keys, order = self._order(predicate, ids, end)
            empty = np.zeros(len(order), np.int64)
            by_end.append(_Sorted(keys, ids[order, 1 - end], empty, empty))
        return by_end[0], by_end[1]

    def _answers(self, pairs: _Pairs, predicates: Integers, ends: Integers, *, heads: bool) -> tuple[Integers, Integers]:
        """The pairs that answer queries: the place of the query, and the answer."""
        rows = pairs[0 if heads else 1]
        queries, places = rows.of(predicates * self.entities + ends)
        return queries, rows.answers[places]

    def known(self, relations: Integers, ends: Integers, *, heads: bool) -> tuple[Integers, Integers]:
        """The observed answers: the place of the query, and the answer. `heads`: the given entities are heads; we ask for tails."""
        return self._answers(self._facts, self.own_relation[relations], ends, heads=heads)

    def entries(self, relations: Integers, ends: Integers, *, heads: bool) -> Entries:
        """What the answers to queries contribute. The entries of an answer add up, with the entries for `EVERY` answer."""
        if self.table.domain is not None:
            self._refuse_others(relations, ends, heads=heads)
        rows = self._by_head if heads else self._by_tail
        queries, places = rows.of(relations * self.entities + ends)
        parts = [Entries(queries, rows.answers[places], rows.rules[places], rows.counts[places])]
        parts += self._open_entries(relations, ends, heads=heads)
        return Entries(
            *(np.concatenate([getattr(part, field) for part in parts]) for field in ("query", "answer", "rule", "counts"))
        )

    def _refuse_others(self, relations: Integers, ends: Integers, *, heads: bool) -> None:
        domain, place = self.table.domain, 0 if heads else 1
        assert domain is not None
        asked = zip(self.own_relation[relations].tolist(), self.own_entity[ends].tolist(), strict=True)
        if any(entity >= 0 and relation >= 0 and (relation, place, entity) not in domain.queries for relation, entity in asked):
            helps = ("make the table of all candidates, or of these queries: `rulescore.candidates(…, queries=…)`",)
            raise InputError(Diagnostic("E802", "the table does not have all candidates for a query of the batch", helps=helps))

    def _open_entries(self, relations: Integers, ends: Integers, *, heads: bool) -> Iterable[Entries]:
        rows, place = self.table.symbolic, 0 if heads else 1
        for number in range(len(rows)):
            predicate = int(rows.predicate[number])
            if self.table.arities[predicate] != 2 or self.relation_of[predicate] < 0:
                continue
            mine, answer = int(rows.arguments[number, place]), int(rows.arguments[number, 1 - place])
            fits = relations == self.relation_of[predicate]
            if mine >= 0:
                fits = fits & (self.own_entity[ends] == mine)
            queries = np.flatnonzero(fits)
            if answer >= 0:
                answers = np.full(len(queries), self.entity_of[answer])
                queries, answers = (queries, answers) if self.entity_of[answer] >= 0 else (queries[:0], answers[:0])
            else:
                answers = ends[queries] if answer == mine else np.full(len(queries), EVERY)
            counts = np.repeat(rows.counts[number : number + 1], len(queries), axis=0)
            yield Entries(queries, answers, np.full(len(queries), rows.rule[number]), counts)

    def forbidden(self, relations: Integers, ends: Integers, *, heads: bool, reasons: Collection[str] = AGAINST) -> Booleans:
        """For each query and entity, whether something speaks against it as an answer."""
        wanted = reasons_named(reasons)
        is_forbidden = np.zeros((len(relations), self.entities), np.bool_)
        if Reason.BREAKS in wanted:
            is_forbidden |= self._breaking(relations, ends, heads=heads)
        predicates = self.own_relation[relations]
        if Reason.TAKEN in wanted:
            is_forbidden[self._answers(self._negative, predicates, ends, heads=heads)] = True
            self._mark(is_forbidden, self._facts, self._reasons.opposes, predicates, ends, heads=heads)
        if Reason.CONTRADICTS in wanted:
            self._mark(is_forbidden, self._conclusions, self._reasons.opposed_by, predicates, ends, heads=heads)
        if Reason.REFLEXIVE in wanted:
            reflexive = np.isin(predicates, list(self._reasons.irreflexive))
            is_forbidden[np.flatnonzero(reflexive), ends[reflexive]] = True
        queries, answers = self.known(relations, ends, heads=heads)
        is_forbidden[queries, answers] = False
        return is_forbidden

    def _breaking(self, relations: Integers, ends: Integers, *, heads: bool) -> Booleans:
        entries = self.entries(relations, ends, heads=heads)
        broken = np.zeros((len(relations), self.entities), np.bool_)
        for rule in self.table.hard:
            of_rule = np.flatnonzero((entries.rule == rule) & (entries.counts[:, 1] != 0))
            if not len(of_rule):
                continue
            refuted = np.zeros((len(relations), self.entities), np.int64)
            every = of_rule[entries.answer[of_rule] == EVERY]
            single = of_rule[entries.answer[of_rule] != EVERY]
            np.add.at(refuted, entries.query[every], entries.counts[every, 1][:, None])
            np.add.at(refuted, (entries.query[single], entries.answer[single]), entries.counts[single, 1])
            broken |= refuted > 0
        return broken

    @cached_property
    def _reasons(self) -> Reasons:
        return Reasons(self.table)

    def _mark(
        self,
        is_forbidden: Booleans,
        pairs: _Pairs,
        opposes: Opposes,
        predicates: Integers,
        ends: Integers,
        *,
        heads: bool,
    ) -> None:
        """Mark the answers whose arguments a pair of an opposing predicate has, in its order."""
        for predicate in np.unique(predicates).tolist():
            queries = np.flatnonzero(predicates == predicate)
            for order in ((0, 1), (1, 0)):
                others = [opponent for opponent, orders in opposes.get(predicate, {}).items() if order in orders]
                asked = np.repeat(np.array(others, np.int64), len(queries))
                at = np.tile(queries, len(others))
                places, answers = self._answers(pairs, asked, ends[at], heads=heads == (order == (0, 1)))
                is_forbidden[at[places], answers] = True


def _by_id(labels: Labels) -> list[Any]:
    if not isinstance(labels, Mapping):
        return list(labels)
    if all(isinstance(value, int) for value in labels.values()) and not all(isinstance(key, int) for key in labels):
        return sorted(labels, key=lambda label: labels[label])
    return [labels[number] for number in range(len(labels))]
