"""Counts in the data that suggest declarations."""

from __future__ import annotations

from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.offers import ArgumentCounts
from rulescore.sql.offers import argument_counts


def counted_arguments(engine: Engine, loaded: Loaded) -> dict[str, ArgumentCounts]:
    if 2 not in loaded.fact_arities:
        return {}
    rows = engine.query(argument_counts(loaded.stride, len(loaded.predicate_ids))).to_pylist()
    return {
        loaded.predicate_name(row["literal"]): ArgumentCounts(int(row["facts"]), int(row["first"]), int(row["second"]))
        for row in rows
    }
