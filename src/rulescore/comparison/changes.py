"""How violations changed from one sample to another, by rule and by prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.comparison.intervals import Integers
from rulescore.comparison.samples import Matched, Sample, above, is_changed, is_in_all, joined, name_of, summed


class Change(StrEnum):
    """How the violations of a rule, or of a prediction under a rule, changed from the first run to the second. `CHANGED`: the rule
    itself changed, and its violations cannot be compared."""

    NEW = "new"
    FIXED = "fixed"
    WORSE = "worse"
    BETTER = "better"
    SAME = "same"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Violated:
    """Each rule with each prediction that violates it in at least one of two samples, and the number of refuted groundings in
    each."""

    rule: Integers
    prediction: Integers
    first: Integers
    second: Integers

    def only(self, rules: int) -> tuple[Integers, Integers]:
        """For each rule: how many predictions violate it in the first sample alone, and in the second alone."""
        first, second = (np.bincount(self.rule[other == 0], minlength=rules) for other in (self.second, self.first))
        return first, second


def violated(first: Sample, second: Sample) -> Violated:
    number = above([first.prediction, second.prediction])
    broken = [sample.refuted > 0 for sample in (first, second)]
    keys = [sample.rule[some] * number + sample.prediction[some] for sample, some in zip((first, second), broken, strict=True)]
    before, after = first.refuted[broken[0]], second.refuted[broken[1]]
    was = np.concatenate([before, np.zeros_like(after)])
    is_now = np.concatenate([np.zeros_like(before), after])
    pairs, *refuted = summed(np.concatenate(keys), was, is_now)
    return Violated(*np.divmod(pairs, max(number, 1)), *refuted)


def changes_table(samples: Sequence[Sample], pairs: Iterable[tuple[int, int]], rules: Sequence[Matched]) -> Any:
    """For each pair of samples: the predictions whose violations of a rule changed, ordered by rule and prediction. Rules whose
    text changed, or that one result lacks, are left out."""
    tables = [_changes(samples[first], samples[second], rules) for first, second in pairs]
    return pa.concat_tables([_SCHEMA.empty_table(), *tables])


_SCHEMA = pa.schema(
    {
        **dict.fromkeys(("first", "second", "rule", "predicate"), pa.string()),
        "arguments": pa.list_(pa.string()),
        "change": pa.string(),
        "first_refuted": pa.int64(),
        "second_refuted": pa.int64(),
    }
)


def _changes(first: Sample, second: Sample, rules: Sequence[Matched]) -> Any:
    pairs = violated(first, second)
    same = np.array([is_in_all(rule) and not is_changed(rule) for rule in rules], np.bool_)
    changed = np.flatnonzero((pairs.first != pairs.second) & same[pairs.rule])
    facts = _facts(first, second, pairs.prediction[changed])
    before, after = pairs.first[changed], pairs.second[changed]
    texts = [change_of(was, is_now).value for was, is_now in zip(before.tolist(), after.tolist(), strict=True)]
    columns = {
        "first": pa.repeat(first.name, len(changed)),
        "second": pa.repeat(second.name, len(changed)),
        "rule": pa.array([name_of(rule) for rule in rules], pa.string()).take(pa.array(pairs.rule[changed])),
        "predicate": facts["predicate"].cast(pa.string()),
        "arguments": facts["arguments"],
        "change": pa.array(texts, pa.string()),
        "first_refuted": before,
        "second_refuted": after,
    }
    made = pa.table({name: columns[name] for name in _SCHEMA.names}).cast(_SCHEMA)
    return _ordered(made)


def _facts(first: Sample, second: Sample, predictions: Integers) -> Any:
    """The predicate and the arguments of predictions, by their numbers."""
    tables = [sample.contributions.select(["predicate", "arguments"]) for sample in (first, second)]
    row_of = np.zeros(above([first.prediction, second.prediction]), np.int64)
    row_of[first.prediction] = np.arange(len(first.prediction))
    row_of[second.prediction] = len(first.prediction) + np.arange(len(second.prediction))
    return pa.concat_tables(tables).take(pa.array(row_of[predictions]))


def _ordered(table: Any) -> Any:
    with_words = table.append_column("words", joined(table["arguments"]))
    by = [(name, "ascending") for name in ("rule", "predicate", "words")]
    return table.take(pc.sort_indices(with_words, sort_keys=by))


def change_of(before: int, after: int) -> Change:
    if before == after:
        return Change.SAME
    if not before:
        return Change.NEW
    if not after:
        return Change.FIXED
    return Change.WORSE if after > before else Change.BETTER
