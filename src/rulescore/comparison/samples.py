"""The samples to draw from. A sample has a model's contributions by query, for the rules that two results share, and their sums in
every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.comparison.intervals import Entries, Floats, Integers, drawn_others, drawn_sums
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import ModelResult, RuleKind, RuleResult

Matched = tuple[RuleResult | None, ...]
"""A rule as it is in each result, None in one that does not have it."""

_KEYS: tuple[Callable[[RuleResult], object], ...] = (
    lambda rule: (rule.info.name, rule.info.text),
    # A rule that nobody has named is called by its line, and lines move.
    lambda rule: rule.info.text,
    lambda rule: rule.info.name,
)


def matched(results: Sequence[Sequence[RuleResult]]) -> list[Matched]:
    """The rules of one result, or of two: by name and text, else by text, else by name."""
    if len(results) == 1:
        return [(rule,) for rule in results[0]]
    first, second = results
    places: dict[int, int] = {}
    for key in _KEYS:
        taken = set(places.values())
        free = {key(rule): place for place, rule in reversed(list(enumerate(second))) if place not in taken}
        for place, rule in enumerate(first):
            if place not in places and (other := free.pop(key(rule), None)) is not None:
                places[place] = other
    pairs: list[Matched] = [(rule, second[places[place]] if place in places else None) for place, rule in enumerate(first)]
    taken = set(places.values())
    return pairs + [(None, rule) for place, rule in enumerate(second) if place not in taken]


def name_of(rule: Matched) -> str:
    """Its name in the last result that has it."""
    return [version.info.name for version in rule if version is not None][-1]


def is_changed(rule: Matched) -> bool:
    """Whether it has another text in one result than in the other."""
    return len({version.info.text for version in rule if version is not None}) > 1


def is_in_all(rule: Matched) -> bool:
    return None not in rule


# We join arguments by a character. If an argument contains it, we replace it there.
_BETWEEN, _ESCAPE = "\x1f", "\x1e"


@dataclass(frozen=True, slots=True)
class Sample:
    """A model of a result. `rules`: the rules of all results in their order, None for a rule that this result does not have. For
    each row of the contributions: the numbers of the rule, of the prediction and of its query. All samples share these numbers."""

    run: str
    model: ModelResult
    rules: tuple[RuleResult | None, ...]
    contributions: Any
    rule: Integers
    prediction: Integers
    query: Integers
    refuted: Integers
    evaluable: Integers

    @property
    def name(self) -> str:
        return f"{self.run}: {self.model.name}" if self.run else self.model.name

    @property
    def queries(self) -> int:
        """How many queries we draw from. A prediction that several queries produced is drawn with one of them, so we draw from at
        most as many queries as predictions. If queries were not counted, every prediction is one."""
        counts = self.model.predictions
        return counts.distinct if counts.queries is None else min(counts.queries, counts.distinct)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sums of a sample in every draw: refuted and evaluable groundings by rule, violating predictions, and the factor
    (`proportion`) that scales sums to the actual number of queries. `taking_part`: by rule, the queries with evaluable groundings;
    `in_soft`: the queries with evaluable groundings of any rule that is scored as a soft one."""

    refuted: Floats
    evaluable: Floats
    violating: Floats
    proportion: Floats
    taking_part: Integers
    in_soft: int


Source = tuple[str, Evaluation, Sequence[ModelResult]]
"""A name that distinguishes the models of two results, the result, and the chosen models."""


def samples_of(sources: Sequence[Source], rules: Sequence[Matched]) -> list[Sample]:
    """The models of all results, by these rules."""
    models = [(run, place, model) for place, (run, _, chosen) in enumerate(sources) for model in chosen]
    tables = [_of_model(sources[place][1].contributions, model.name) for _, place, model in models]
    predictions = _predictions(tables)
    queries = _queries(tables, predictions)
    lengths = np.cumsum([len(table) for table in tables])[:-1]
    samples = []
    numbered = zip(models, tables, np.split(predictions, lengths), np.split(queries, lengths), strict=True)
    for (run, place, model), table, prediction, query in numbered:
        result_rules = tuple(rule[place] for rule in rules)
        names = [None if rule is None else rule.info.name for rule in result_rules]
        refuted, evaluable = (table[name].to_numpy().astype(np.int64) for name in ("refuted", "evaluable"))
        numbers = _codes(table["rule"].cast(pa.string()), names), prediction, query, refuted, evaluable
        samples.append(Sample(run, model, result_rules, table, *numbers))
    return samples


def _of_model(table: Any, model: str) -> Any:
    return table.filter(pc.equal(table["model"].cast(pa.string()), model))


def _predictions(tables: Sequence[Any]) -> Integers:
    """The number of each row's prediction, table after table."""
    parts = [_numbered([joined(table["arguments"]) for table in tables])]
    parts.append(_numbered([table["predicate"].cast(pa.string()) for table in tables]))
    if not any(table["types"].null_count for table in tables):  # results of earlier versions lack these columns
        parts.append(_numbered([table["types"].cast(pa.string()) for table in tables]))
    numbers = parts[0]
    for part in parts[1:]:
        numbers = _renumbered(numbers * above([part]) + part)
    return numbers


def joined(arguments: Any) -> Any:
    """Lists of texts as texts: different lists as different texts."""
    lists = arguments.combine_chunks()
    texts = pc.replace_substring(pc.replace_substring(lists.flatten(), _ESCAPE, f"{_ESCAPE}0"), _BETWEEN, f"{_ESCAPE}1")
    ends = np.cumsum(lists.value_lengths().to_numpy(), dtype=np.int32)
    joined_texts = pc.binary_join(pa.ListArray.from_arrays(pa.array(np.concatenate([[0], ends]), pa.int32()), texts), _BETWEEN)
    return pa.chunked_array([joined_texts])


def _queries(tables: Sequence[Any], predictions: Integers) -> Integers:
    """The number of each row's query. A prediction without a known query is a query by itself."""
    known = _numbered([table["query"] for table in tables])
    return _renumbered(np.where(known < 0, above([known]) + predictions, known))


def _numbered(columns: Sequence[Any]) -> Integers:
    """Numbers for texts in the order of their first appearance, column after column; -1 for a missing text."""
    together = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string()).combine_chunks()
    return _integers(together.dictionary_encode().indices.fill_null(-1))


def _renumbered(numbers: Integers) -> Integers:
    """Numbers without gaps, in the order in which they are first seen."""
    return _integers(pa.array(numbers).dictionary_encode().indices)


def _integers(column: Any) -> Integers:
    integers: Integers = column.to_numpy(zero_copy_only=False).astype(np.int64)
    return integers


def _codes(column: Any, names: Sequence[str | None]) -> Integers:
    codes: Integers = pc.index_in(column, pa.array(names, pa.string())).to_numpy().astype(np.int64)
    return codes


def above(numbers: Sequence[Integers]) -> int:
    """A number that is above all of these."""
    return max((int(column.max(initial=-1)) for column in numbers), default=-1) + 1


def draw(samples: Sequence[Sample], rules: int, draws: int, random: np.random.Generator) -> Iterator[Drawn]:
    """Draws all samples with the same weights. What they have in common we draw once."""
    parts = [_part(sample, rules) for sample in samples]
    width = 2 * rules + 2
    entries = Entries(
        np.concatenate([part.entries.query for part in parts]),
        np.concatenate([part.entries.column + place * width for place, part in enumerate(parts)]),
        np.concatenate([part.entries.amount for part in parts]),
    )
    sums = drawn_sums(entries, above([sample.query for sample in samples]), width * len(samples), draws, random)
    normal = random.standard_normal(draws)
    return (
        _drawn(sample, part, sums[:, place * width : (place + 1) * width].astype(np.float64), rules, normal)
        for place, (sample, part) in enumerate(zip(samples, parts, strict=True))
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """The parts of a sample that are drawn, and the number of queries: in all, by rule, and in any rule that is scored as soft."""

    entries: Entries
    queries: int
    taking_part: Integers
    in_soft: int


def _part(sample: Sample, rules: int) -> _Part:
    """What each query adds: refuted and evaluable groundings of each rule, in neighbouring columns since the same queries add to
    both, violating predictions, and 1 for the query itself."""
    number = above([sample.query])
    pairs, refuted, evaluable = summed(sample.rule * number + sample.query, sample.refuted, sample.evaluable)
    rule, query = np.divmod(pairs, max(number, 1))
    broken = refuted > 0
    violating, seen = np.bincount(_violating(sample), minlength=number), np.flatnonzero(_marked(sample.query, number))
    once = np.flatnonzero(violating)
    soft = np.array([rule is not None and is_scored_soft(rule, sample.model.name) for rule in sample.rules], np.bool_)
    entries = Entries(
        np.concatenate([query[broken], query, once, seen]),
        np.concatenate([2 * rule[broken], 2 * rule + 1, np.full(len(once), 2 * rules), np.full(len(seen), 2 * rules + 1)]),
        np.concatenate([refuted[broken], evaluable, violating[once], np.ones(len(seen))]),
    )
    in_soft = int(_marked(query[soft[rule]], number).sum())
    return _Part(entries, len(seen), np.bincount(rule, minlength=rules), in_soft)


def summed(keys: Integers, *amounts: Integers) -> tuple[Integers, ...]:
    """Each key once, in order, and the sum of its amounts."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], *(np.add.reduceat(amount[order], starts) if len(starts) else amount for amount in amounts)


def _marked(numbers: Integers, length: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each number below `length`, whether it is among these."""
    marked = np.zeros(length, np.bool_)
    marked[numbers] = True
    return marked


def _violating(sample: Sample) -> Integers:
    """The query of each prediction that violates a hard rule: once, however many it violates."""
    hard = np.array([rule is not None and rule.kind is RuleKind.HARD for rule in sample.rules], np.bool_)
    rows = np.flatnonzero((sample.refuted > 0) & hard[sample.rule])
    of_prediction = np.full(above([sample.prediction]), -1)
    # We write in reverse order, so the first query of a prediction overwrites the others.
    of_prediction[sample.prediction[rows][::-1]] = sample.query[rows][::-1]
    violating: Integers = of_prediction[of_prediction >= 0]
    return violating


def _drawn(sample: Sample, part: _Part, sums: Floats, rules: int, normal: Floats) -> Drawn:
    all_drawn = sums[:, 2 * rules + 1] + drawn_others(max(0, sample.queries - part.queries), normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        proportion = np.where(all_drawn > 0, max(part.queries, sample.queries) / all_drawn, np.nan)
    return Drawn(
        refuted=sums[:, : 2 * rules : 2],
        evaluable=sums[:, 1 : 2 * rules : 2],
        violating=sums[:, 2 * rules],
        proportion=proportion,
        taking_part=part.taking_part,
        in_soft=part.in_soft,
    )


def is_scored_soft(rule: RuleResult, model: str) -> bool:
    return rule.kind is RuleKind.SOFT and rule.models[model].score.value is not None
