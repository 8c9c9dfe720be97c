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
from rulescore.sql.build import arguments


def brought_contributions(engine: Engine, loaded: Loaded, rules: Sequence[str]) -> pa.Table:
    """The contributions of every model, fetched as a table. `rules`: the names of the rules."""
    if not loaded.candidate_arities:
        return CONTRIBUTIONS_SCHEMA.empty_table()
    rows = engine.query(sql.contributions())
    predicates, words = _predictions(engine, loaded)
    return pa.table(
        [
            _dictionary(rows["model"], pa.array(loaded.models, pa.string())),
            _dictionary(rows["rule"], pa.array(rules, pa.string())),
            predicates.take(rows["prediction"]),
            words.take(rows["prediction"]),
            *(rows[field] for field in ("score", "rank", "query", "confirmed", "refuted", "evaluable")),
        ],
        schema=CONTRIBUTIONS_SCHEMA,
    )


def write_contributions(engine: Engine, loaded: Loaded, rules: Sequence[str], path: Path) -> None:
    """Write the contributions as a Parquet file or, if the engine writes Parquet itself, as files of a folder."""
    if not engine.capabilities.writes_parquet or not loaded.candidate_arities:
        from pyarrow.parquet import write_table

        write_table(brought_contributions(engine, loaded, rules), path)
        return
    words = {"model": loaded.models, "rule": rules, "predicate": list(loaded.predicate_ids)}
    for field, names in words.items():
        numbered = {"id": pa.array(range(len(names)), pa.int32()), "name": pa.array(names, pa.string())}
        engine.load(sql.names_table(field), pa.table(numbered))
    engine.write(sql.described_contributions(sorted(loaded.candidate_arities), loaded.stride), path)


def _predictions(engine: Engine, loaded: Loaded) -> tuple[pa.Array, pa.Array]:
    """Predicate and arguments of every prediction, in the order of their numbers."""
    names = pa.array(loaded.predicate_ids, pa.string())
    literals, words = [], []
    for arity in sorted(loaded.candidate_arities):
        rows = engine.query(sql.predictions(arity, loaded.stride))
        literals += rows["literal"].chunks
        words.append(_lists([rows[field].combine_chunks() for field in arguments(arity)]))
    predicates = _dictionary(pc.divide(pa.chunked_array(literals, pa.int32()), loaded.stride), names)
    return predicates, pa.concat_arrays(words)


def _dictionary(numbers: pa.ChunkedArray, names: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(numbers.combine_chunks().cast(pa.int32()), names)


def _lists(columns: Sequence[pa.Array]) -> pa.ListArray:
    """The columns side by side: one list for each row."""
    rows, width = len(columns[0]), len(columns)
    order = np.arange(rows * width).reshape(width, rows).T.ravel()
    values = pa.concat_arrays(columns).take(pa.array(order))
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1) * width, pa.int32()), values)
