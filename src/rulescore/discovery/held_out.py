"""Holds out facts, and counts how often they break each rule.

We treat each held-out fact as a model's prediction: a grounding counts if the fact stands in its body or is its head. This is the
rate that `rulescore score` would give to a model that predicts just these facts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Source
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import FactBatch, FactSource, FactStream, ModelPredictions, Setting
from rulescore.setting.options import ScoringOptions
from rulescore.sql.names import arguments

_MODEL = "held out"
_MIX = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF
_Hashes = np.ndarray[Any, np.dtype[np.uint64]]


def split(sources: Sequence[FactSource], share: float, seed: int) -> tuple[tuple[FactSource, ...], tuple[FactSource, ...]]:
    """The facts that pick rules, and the facts held out. Only a fact's text and the seed decide its part, not its place in a
    file."""
    stored = [source.origin for source in sources if not isinstance(source, FactStream)]
    if stored:
        helps = ("hold out facts of your own: `--valid FILE`",)
        raise InputError(Diagnostic("E716", f"facts of a database cannot be divided: `{stored[0]}`", helps=helps))
    streams = [source for source in sources if isinstance(source, FactStream)]
    parts = [tuple(_part(stream, share, seed, held_out=held_out) for stream in streams) for held_out in (False, True)]
    return parts[0], parts[1]


def _part(stream: FactStream, share: float, seed: int, *, held_out: bool) -> FactStream:
    def opened() -> Iterator[FactBatch]:
        for batch in stream.open():
            is_held = _draws(batch, seed) < np.uint64(int(share * _MASK))
            rows = batch.rows.filter(pa.array(is_held if held_out else ~is_held))
            yield replace(batch, rows=as_predicted(rows) if held_out else rows)

    # We read the facts here: an engine that reads the file by itself would read the held-out ones, too.
    return replace(stream, open=opened, native=None, columns=None)


def _draws(batch: FactBatch, seed: int) -> _Hashes:
    """A number for each fact, which only the fact and the seed decide."""
    if batch.predicate is None:
        names = _hashes(batch.rows.column("predicate"))
    else:
        names = np.full(batch.rows.num_rows, zlib.crc32(batch.predicate.encode()), np.uint64)
    drawn = _mixed(names + np.uint64(seed & _MASK))
    for field in arguments(batch.arity):
        drawn = _mixed(drawn + _hashes(batch.rows.column(field)))
    return drawn


def _hashes(column: pa.Array) -> _Hashes:
    """A number for each text of a column. We compute it once for each different text."""
    encoded = column.dictionary_encode()
    numbers = np.array([zlib.crc32(text.encode()) for text in encoded.dictionary.to_pylist()], np.uint64)
    hashes: _Hashes = numbers[np.asarray(encoded.indices)] if len(numbers) else np.zeros(0, np.uint64)
    return hashes


def _mixed(numbers: _Hashes) -> _Hashes:
    """Mixes numbers by multiplying and shifting: every bit depends on all bits."""
    mixed = (numbers + np.uint64(1)) * np.uint64(_MIX)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(_MIX)
    return mixed ^ (mixed >> np.uint64(29))


def as_predicted(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Observed rows with the columns that predictions have, all missing."""
    table = pa.Table.from_batches([rows])
    for field, kind in (("score", pa.float64()), ("rank", pa.int64()), ("query", pa.string())):
        if field not in table.column_names:
            table = table.append_column(field, pa.nulls(rows.num_rows, kind))
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def held_out_counts(
    setting: Setting, scoring: ScoringOptions, held: Sequence[FactSource], text: str
) -> tuple[list[Counts], int, int]:
    """The counts of every rule of a text on the held-out facts; how many held-out facts there are, and how many of them are also
    observed."""
    predictions = (ModelPredictions(_MODEL, tuple(held)),)
    rules = (Source("discovered rules", text),)
    with Session(replace(setting, rules=rules, predictions=predictions, scoring=scoring)) as session:
        evaluation = session.evaluate(contributions=False)
        counts = [result.models[_MODEL].counts for result in evaluation.rule_results]
        counts_of_facts = session.predictions[_MODEL]
        return counts, counts_of_facts.distinct, counts_of_facts.already_observed
