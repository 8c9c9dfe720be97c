"""Contributions in words: fetched as a table, or written by the engine that keeps them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.counting.run import PredictedCounts
from rulescore.engines.base import Engine
from rulescore.errors import suggestion
from rulescore.language.terms import write_value
from rulescore.loading.facts import Loaded
from rulescore.logic.refutable import Concerned
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA
from rulescore.scoring.results import MOST_PREDICATES, PredictionFindings
from rulescore.sql import results as sql
from rulescore.sql.names import arguments
from rulescore.values.keys import value_of


def brought_contributions(engine: Engine, loaded: Loaded, rules: Sequence[str]) -> pa.Table:
    """The contributions of every model, fetched as a table. `rules`: the names of the rules."""
    if not loaded.predicted:
        return CONTRIBUTIONS_SCHEMA.empty_table()
    rows = engine.query(sql.contributions())
    numbers, predicates, words, types = _contributing(engine, loaded)
    places = pc.index_in(rows["prediction"], pa.chunked_array(numbers, rows["prediction"].type))
    return pa.table(
        [
            _dictionary(rows["model"], pa.array(loaded.models, pa.string())),
            _dictionary(rows["rule"], pa.array(rules, pa.string())),
            predicates.take(places),
            words.take(places),
            types.take(places),
            *(rows[field] for field in ("score", "rank", "query", "confirmed", "refuted", "evaluable")),
        ],
        schema=CONTRIBUTIONS_SCHEMA,
    )


def write_contributions(engine: Engine, loaded: Loaded, rules: Sequence[str], path: Path) -> None:
    """Write the contributions as a Parquet file or, if the engine writes Parquet itself, as files of a folder."""
    if not engine.capabilities.writes_parquet or not loaded.predicted:
        from pyarrow.parquet import write_table

        write_table(brought_contributions(engine, loaded, rules), path)
        return
    words = {"model": loaded.models, "rule": rules, "predicate": list(loaded.predicate_ids)}
    for field, names in words.items():
        numbered = {"id": pa.array(range(len(names)), pa.int32()), "name": pa.array(names, pa.string())}
        engine.load(sql.names_table(field), pa.table(numbered))
    engine.write(sql.described_contributions(loaded.predicted, loaded.stride), path)


def _contributing(engine: Engine, loaded: Loaded) -> tuple[list[pa.Array], pa.Array, pa.Array, pa.Array]:
    """The predictions with a contribution: number, predicate and arguments of each, and the types of these."""
    names = pa.array(loaded.predicate_ids, pa.string())
    numbers, literals, words, types = [], [], [], []
    for source in loaded.predicted:
        rows = engine.query(sql.contributing(source))
        numbers += rows["prediction"].chunks
        literals += rows["literal"].chunks
        types += rows["types"].chunks
        words.append(_lists([rows[field].combine_chunks() for field in arguments(source.arity)]))
    predicates = _dictionary(pc.divide(pa.chunked_array(literals, pa.int32()), loaded.stride), names)
    return numbers, predicates, pa.concat_arrays(words), pa.chunked_array(types, pa.string()).combine_chunks().dictionary_encode()


def _dictionary(numbers: pa.ChunkedArray, names: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(numbers.combine_chunks().cast(pa.int32()), names)


def _lists(columns: Sequence[pa.Array]) -> pa.ListArray:
    """The columns side by side: one list for each row."""
    rows, width = len(columns[0]), len(columns)
    order = np.arange(rows * width).reshape(width, rows).T.ravel()
    values = pa.concat_arrays(columns).take(pa.array(order))
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1) * width, pa.int32()), values)


# Findings about the predictions of each model.


Unlinked = Mapping[int, tuple[str, str | None]]
"""By model: the key of a constant that does not occur in the data, and the key that was probably meant."""


def prediction_findings(
    models: Sequence[str],
    counts: Iterable[PredictedCounts],
    concerned: Concerned,
    *,
    hard: Collection[int],
    observed: Collection[str],
    unlinked: Unlinked,
) -> dict[str, PredictionFindings]:
    """The findings by the model's name; `counts` and `unlinked` have the models' numbers. `hard`: the numbers of the hard rules.
    `observed`: the predicates of observed facts."""
    rows: list[list[PredictedCounts]] = [[] for _ in models]
    for count in counts:
        rows[count.model].append(count)
    denials = {number: concerned.by_denial[number] for number in hard if number in concerned.by_denial}
    return {
        model: _findings(rows[number], concerned, denials, observed, unlinked.get(number)) for number, model in enumerate(models)
    }


def _findings(
    rows: Sequence[PredictedCounts],
    concerned: Concerned,
    denials: Mapping[int, frozenset[str]],
    observed: Collection[str],
    unlinked: tuple[str, str | None] | None,
) -> PredictionFindings:
    unconcerned = {
        row.predicate: row.predictions
        for row in sorted(rows, key=lambda row: row.predicate)
        if row.predicate not in concerned.by_any
    }
    linked = {row.predicate for row in rows if row.linked}
    denied = frozenset[str]().union(*denials.values())
    meant = _meant([name for name in unconcerned if name not in observed], concerned.by_any)
    if unlinked is not None and unlinked[1] is not None:
        meant[_written(unlinked[0])] = _written(unlinked[1])
    return PredictionFindings(
        with_partner=sum(row.with_partner for row in rows),
        violating=sum(row.violating for row in rows),
        violating_any=sum(row.violating_any for row in rows),
        violating_new=sum(row.new_violating for row in rows),
        unconcerned=unconcerned,
        measured=any(row.predicate in concerned.by_refutable for row in rows),
        new=sum(row.new for row in rows),
        linked=sum(row.new_linked for row in rows),
        concerned=sum(row.new for row in rows if row.predicate in concerned.by_any),
        judged=sum(row.new_reached if row.predicate in denied else row.new_with_partner for row in rows),
        denials=frozenset(number for number, predicates in denials.items() if not linked.isdisjoint(predicates)),
        unlinked=None if unlinked is None else _written(unlinked[0]),
        meant=meant,
    )


def _meant(names: Sequence[str], known: Collection[str]) -> dict[str, str]:
    """The known name that each of the first names probably meant."""
    close = {name: suggestion(name, known) for name in names[:MOST_PREDICATES]}
    return {name: one for name, one in close.items() if one is not None}


def _written(key: str) -> str:
    return write_value(value_of(key))
