"""The Python interface: the whole pipeline in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rulescore.data.api import make_setting
from rulescore.data.rule_sources import RulesLike
from rulescore.data.sources import FactsLike
from rulescore.evaluate import Session
from rulescore.scoring.evaluation import Evaluation


def score(
    observed: FactsLike,
    predictions: Mapping[str, FactsLike] | FactsLike | None,
    rules: RulesLike,
    *,
    negatives: FactsLike | None = None,
    convention: str = "definition",
    distinct_variables: bool | None = None,
    roles: str | Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    kinds: Mapping[str, str] | None = None,
    top_k: int | None = None,
    engine: str = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
    spill_folder: str | Path | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Evaluation:
    """Score models' predictions against rules.

    `observed`: facts as a path, a list of paths, a frame, an iterable of (head, relation, tail), or a mapping from predicate to
    rows. `predictions`: a mapping from model to any of these. `rules`: a path, rule text, or a list of them."""
    setting = make_setting(
        observed,
        predictions,
        rules,
        negatives=negatives,
        convention=convention,
        distinct_variables=distinct_variables,
        roles=roles,
        weights=weights,
        kinds=kinds,
        top_k=top_k,
        engine=engine,
        memory_limit=memory_limit,
        threads=threads,
        spill_folder=spill_folder,
        delimiter=delimiter,
        header=header,
    )
    with Session(setting) as session:
        return session.evaluate()


def audit(
    observed: FactsLike,
    rules: RulesLike,
    *,
    negatives: FactsLike | None = None,
    convention: str = "definition",
    distinct_variables: bool | None = None,
    roles: str | Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    kinds: Mapping[str, str] | None = None,
    top_k: int | None = None,
    engine: str = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
    spill_folder: str | Path | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Evaluation:
    """Rates of rules in the data alone; the options of `score`."""
    setting = make_setting(
        observed,
        None,
        rules,
        negatives=negatives,
        convention=convention,
        distinct_variables=distinct_variables,
        roles=roles,
        weights=weights,
        kinds=kinds,
        top_k=top_k,
        engine=engine,
        memory_limit=memory_limit,
        threads=threads,
        spill_folder=spill_folder,
        delimiter=delimiter,
        header=header,
    )
    with Session(setting) as session:
        return session.audit()
