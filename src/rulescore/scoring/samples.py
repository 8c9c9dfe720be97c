"""What is drawn from: the contributions of each model by query, and their sums in every draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.intervals import Entries, Floats, Integers, drawn_others, drawn_sums
from rulescore.scoring.results import ModelResult, RuleKind, RuleResult

# Characters of no name.
_BETWEEN, _QUERY, _PREDICTION = "\x1f", "\x1e", "\x1d"


@dataclass(frozen=True, slots=True)
class Sample:
    """A model of a result. `rules`: those of all results in their order, None for one that this result does not have."""

    run: str
    model: ModelResult
    rules: tuple[RuleResult | None, ...]
    contributions: Any

    @property
    def name(self) -> str:
        return f"{self.run}: {self.model.name}" if self.run else self.model.name

    @property
    def queries(self) -> int:
        """How many queries there are. If nobody has counted them every prediction is one."""
        counts = self.model.predictions
        return counts.distinct if counts.queries is None else counts.queries


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sums of a sample in every draw: refuted and evaluable groundings by rule, violating predictions, and by what sums are
    multiplied so that as many queries are drawn as there are. `taking_part`: by rule, the queries with evaluable groundings;
    `in_soft`: those of any rule that is scored as a soft one."""

    refuted: Floats
    evaluable: Floats
    violating: Floats
    proportion: Floats
    taking_part: Integers
    in_soft: int


def samples_of(evaluation: Evaluation, run: str, names: Sequence[str], models: Sequence[ModelResult]) -> list[Sample]:
    rules = {rule.info.name: rule for rule in evaluation.rule_results}
    table = evaluation.contributions
    of_model = table["model"].cast(pa.string())
    ordered = tuple(rules.get(name) for name in names)
    return [Sample(run, model, ordered, table.filter(pc.equal(of_model, model.name))) for model in models]


def prediction_keys(table: Any) -> Any:
    """One text for each row's prediction."""
    words = pc.binary_join(table["arguments"], _BETWEEN)
    return pc.binary_join_element_wise(table["predicate"].cast(pa.string()), words, _PREDICTION)


def draw(samples: Sequence[Sample], names: Sequence[str], draws: int, random: np.random.Generator) -> list[Drawn]:
    """All samples by the same weights, so that what they have in common is drawn together."""
    keys = [prediction_keys(sample.contributions) for sample in samples]
    queries, number = _numbered([_query_keys(one.contributions, found) for one, found in zip(samples, keys, strict=True)])
    rules = [_codes(sample.contributions["rule"].cast(pa.string()), names) for sample in samples]
    parts = [_part(*one, len(names)) for one in zip(samples, queries, rules, keys, strict=True)]
    width = 2 * len(names) + 2
    entries = Entries(
        np.concatenate([one.query for one in parts]),
        np.concatenate([one.column + place * width for place, one in enumerate(parts)]),
        np.concatenate([one.amount for one in parts]),
    )
    sums = drawn_sums(entries, number, width * len(samples), draws, random)
    normal = random.standard_normal(draws)
    return [
        _drawn(sample, sums[:, place * width : (place + 1) * width], queries[place], rules[place], len(names), normal)
        for place, sample in enumerate(samples)
    ]


def _drawn(sample: Sample, sums: Floats, query: Integers, rule: Integers, rules: int, normal: Floats) -> Drawn:
    seen = len(np.unique(query))
    all_drawn = sums[:, 2 * rules + 1] + drawn_others(max(0, sample.queries - seen), normal)
    with np.errstate(divide="ignore"):
        proportion = np.where(all_drawn > 0, max(seen, sample.queries) / all_drawn, np.nan)
    of_rule, of_query = np.divmod(np.unique(rule * (query.max(initial=0) + 1) + query), query.max(initial=0) + 1)
    soft = [number for number, one in enumerate(sample.rules) if one is not None and is_scored_soft(one, sample.model.name)]
    return Drawn(
        refuted=sums[:, :rules],
        evaluable=sums[:, rules : 2 * rules],
        violating=sums[:, 2 * rules],
        proportion=proportion,
        taking_part=np.bincount(of_rule, minlength=rules),
        in_soft=len(np.unique(of_query[np.isin(of_rule, soft)])),
    )


def is_scored_soft(rule: RuleResult, model: str) -> bool:
    return rule.kind is RuleKind.SOFT and rule.models[model].score.value is not None


def violations_only(first: Sample, second: Sample, names: Sequence[str]) -> tuple[Integers, Integers]:
    """By rule: how many predictions violate it of the first sample alone, and of the second alone."""
    broken = [one.contributions.filter(pc.greater(one.contributions["refuted"], 0)) for one in (first, second)]
    numbers, predictions = _numbered([prediction_keys(one) for one in broken])
    codes = [_codes(one["rule"].cast(pa.string()), names) * predictions + keys for one, keys in zip(broken, numbers, strict=True)]
    only = [np.setdiff1d(codes[0], codes[1]), np.setdiff1d(codes[1], codes[0])]
    one, two = (np.bincount(found // max(predictions, 1), minlength=len(names)) for found in only)
    return one, two


def _query_keys(table: Any, predictions: Any) -> Any:
    """A prediction of no known query is one by itself."""
    known = pc.binary_join_element_wise(_QUERY, table["query"], "")
    return pc.coalesce(known, predictions)


def _numbered(columns: Sequence[Any]) -> tuple[list[Integers], int]:
    """Numbers for texts that are the same in all columns, and how many texts there are."""
    together = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string()).combine_chunks()
    encoded = together.dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1]), len(encoded.dictionary)


def _codes(column: Any, names: Sequence[str]) -> Integers:
    found: Integers = pc.index_in(column, pa.array(names, pa.string())).to_numpy().astype(np.int64)
    return found


def _part(sample: Sample, query: Integers, rule: Integers, keys: Any, rules: int) -> Entries:
    """What each query gives: to refuted and evaluable groundings of each rule, to violating predictions, and once to all."""
    table = sample.contributions
    refuted = table["refuted"].to_numpy().astype(np.float64)
    hard = np.array([one is not None and one.kind is RuleKind.HARD for one in sample.rules], np.bool_)
    broken = np.flatnonzero(refuted > 0)
    violating = broken[hard[rule[broken]]]
    # Each violating prediction once, however many rules it violates.
    _, first = np.unique(keys.take(pa.array(violating)).dictionary_encode().combine_chunks().indices, return_index=True)
    once = query[violating[first]]
    seen = np.unique(query)
    return Entries(
        np.concatenate([query[broken], query, once, seen]),
        np.concatenate([rule[broken], rule + rules, np.full(len(once), 2 * rules), np.full(len(seen), 2 * rules + 1)]),
        np.concatenate([refuted[broken], table["evaluable"].to_numpy().astype(np.float64), np.ones(len(once) + len(seen))]),
    )
