"""The Python interface: the whole pipeline in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rulescore.data.api import make_setting
from rulescore.data.rule_sources import RulesLike
from rulescore.data.setting import Function, SqlRule
from rulescore.data.sources import FactsLike
from rulescore.data.tables import Table
from rulescore.evaluate import Session
from rulescore.scoring.evaluation import Evaluation


def score(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None,
    rules: RulesLike,
    *,
    negatives: FactsLike | None = None,
    tables: Mapping[str, Table] | None = None,
    functions: Mapping[str, Callable[..., object] | Function] | None = None,
    sql_rules: Iterable[SqlRule] = (),
    convention: str = "definition",
    distinct_variables: bool | None = None,
    roles: str | Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    kinds: Mapping[str, str] | None = None,
    top_k: int | None = None,
    engine: object = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
    spill_folder: str | Path | None = None,
    timeout: float | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    contributions: bool | str | Path | None = None,
    allow_unrefutable: bool = False,
) -> Evaluation:
    """Score models' predictions against rules.

    `observed`: facts as a path, a list of paths, a frame, an iterable of (head, relation, tail), or a mapping from predicate to
    rows; None where there are only `tables`. `predictions`: a mapping from model to any of these, or to ids and values of a table's
    target. `rules`: a path, rule text, a `RuleText`, or a list of them. `engine`: an address, or a Spark session.
    `contributions`: whether those of single predictions are brought here, which is so unless the engine is Spark; or where they are
    written to, as Parquet. `allow_unrefutable`: score although nothing declared could refute any rule, else an error."""
    setting = make_setting(
        observed,
        predictions,
        rules,
        negatives=negatives,
        tables=tables,
        functions=functions,
        sql_rules=sql_rules,
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
        timeout=timeout,
        delimiter=delimiter,
        header=header,
        allow_unrefutable=allow_unrefutable,
    )
    with Session(setting) as session:
        path = None if contributions is None or isinstance(contributions, bool) else Path(contributions)
        evaluation = session.evaluate(contributions=contributions if isinstance(contributions, bool) else None)
        if path is not None:
            session.write_contributions(path)
        return evaluation


def audit(
    observed: FactsLike | None,
    rules: RulesLike,
    *,
    negatives: FactsLike | None = None,
    tables: Mapping[str, Table] | None = None,
    functions: Mapping[str, Callable[..., object] | Function] | None = None,
    sql_rules: Iterable[SqlRule] = (),
    convention: str = "definition",
    distinct_variables: bool | None = None,
    roles: str | Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    kinds: Mapping[str, str] | None = None,
    top_k: int | None = None,
    engine: object = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
    spill_folder: str | Path | None = None,
    timeout: float | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Evaluation:
    """Rates of rules in the data alone; the options of `score`."""
    setting = make_setting(
        observed,
        None,
        rules,
        negatives=negatives,
        tables=tables,
        functions=functions,
        sql_rules=sql_rules,
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
        timeout=timeout,
        delimiter=delimiter,
        header=header,
    )
    with Session(setting) as session:
        return session.audit()
