"""Results made of random contributions, without data: for intervals, whose truth is then known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA, Evaluation
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo, RuleKind
from rulescore.scoring.score import kind_of, score

SUMMARY = DataSummary(facts=0, fact_duplicates=0, negatives=0, negatives_observed=0, constants=0, predicates=0)

Rows = Mapping[str, np.ndarray[Any, Any]]
"""Contributions of a model as columns of equal length: `rule`, `prediction`, `refuted`, `evaluable` and, if it is known, `query`;
all are numbers."""


def made_result(
    dataset: Sequence[Counts], models: Mapping[str, Rows], predictions: int, queries: int, rules: Sequence[RuleInfo] | None = None
) -> Evaluation:
    """A result with rules `r0`, `r1`, …, in which every model makes so many predictions in answer to so many queries."""
    rules = rules or [RuleInfo(f"r{number}", f"p{number}(X) <- q(X)") for number in range(len(dataset))]
    hard = [number for number, one in enumerate(zip(rules, dataset, strict=True)) if kind_of(*one)[0] is RuleKind.HARD]
    counts = {model: _counts(rows, len(rules)) for model, rows in models.items()}
    read = {model: PredictionCounts(predictions, predictions, predictions, 0, 0, queries=queries) for model in models}
    found = score(rules, dataset, counts, read, {model: _findings(rows, hard) for model, rows in models.items()})
    names = pa.array([rule.name for rule in rules], pa.string())
    table = pa.concat_tables([_table(model, rows, names) for model, rows in models.items()], promote_options="default")
    return Evaluation("definition", *found, SUMMARY, contributions_table=table.unify_dictionaries().combine_chunks())


def _counts(rows: Rows, rules: int) -> list[Counts]:
    refuted = np.bincount(rows["rule"], rows["refuted"], rules).astype(int)
    evaluable = np.bincount(rows["rule"], rows["evaluable"], rules).astype(int)
    return [Counts(int(e - v), int(v), int(e)) for v, e in zip(refuted, evaluable, strict=True)]


def _findings(rows: Rows, hard: Sequence[int]) -> PredictionFindings:
    broken = rows["refuted"] > 0
    of_hard = broken & np.isin(rows["rule"], hard)
    number = [len(np.unique(rows["prediction"][some])) for some in (rows["evaluable"] > 0, of_hard, broken)]
    return PredictionFindings(*number, measured=True)


def _table(model: str, rows: Rows, names: pa.Array) -> pa.Table:
    length = len(rows["rule"])
    of = pa.array(np.zeros(length, np.int32))
    words = pa.array(rows["prediction"]).cast(pa.string())
    refuted, evaluable = (rows[field].astype(np.int64) for field in ("refuted", "evaluable"))
    query = pa.array(rows["query"]).cast(pa.string()) if "query" in rows else pa.nulls(length, pa.string())
    columns = [
        pa.DictionaryArray.from_arrays(of, pa.array([model])),
        pa.DictionaryArray.from_arrays(pa.array(rows["rule"].astype(np.int32)), names),
        pa.DictionaryArray.from_arrays(of, pa.array(["p"])),
        pa.ListArray.from_arrays(pa.array(np.arange(length + 1, dtype=np.int32)), words),
        pa.DictionaryArray.from_arrays(of, pa.array(["n"])),
        pa.nulls(length, pa.float64()),
        pa.nulls(length, pa.int64()),
        query,
        pa.array(evaluable - refuted),
        pa.array(refuted),
        pa.array(evaluable),
    ]
    return pa.table(columns, schema=CONTRIBUTIONS_SCHEMA)
