"""Contributions in words: fetched as a table, or written by the engine that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA
from rulescore.sql import results as sql
from rulescore.sql.names import arguments


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
