"""The Python interface: the whole pipeline in one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from rulescore.arguments.project import load_project
from rulescore.arguments.python import AuditOptions, ScoreOptions, make_setting, takes
from rulescore.arguments.rule_sources import RulesLike
from rulescore.errors import Diagnostic, InputError
from rulescore.readers.sources import FactsLike
from rulescore.reporting.violations import ViolationTable
from rulescore.result import OpenSession, Result


@takes(ScoreOptions)
def score(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None,
    rules: RulesLike,
    *,
    contributions: bool | str | Path | None = None,
    **options: Unpack[ScoreOptions],
) -> Result:
    """Score models' predictions against rules.

    `observed`: facts as a path, a list of paths, a frame, an iterable of (head, relation, tail), or a mapping from predicate to
    rows; None where there are only `tables`.
    `predictions`: a mapping from model to any of these, or to ids and values of a table's target.
    `rules`: a path, rule text, a `RuleText`, or a list of them.
    `negatives`: facts known to be false, as `observed`.
    `tables`: rows with a key, by name, each a `Table`.
    `functions`: registered predicates, Python functions by name.
    `sql_rules`: rules in SQL, each a `SqlRule`.
    `convention`: the way of counting, "definition" or "appendix"; `distinct_variables`, whether two variables must have two
    constants, and `roles` in which predictions count, are the convention's own unless given.
    `weights`, `kinds`: of rules, by name; a kind is "hard" or "soft".
    `hard_needs`: how many evaluable groundings in the data a rule needs to be hard because none of them breaks it.
    `top_k`: how many of the best answers to each query are kept, or "all"; of predictions with ranks or queries 1 unless given.
    `engine`: an address, or a Spark session. `memory_limit`, such as "2GB", which on DuckDB is that of this whole process,
    `threads`, `spill_folder` and `timeout` in seconds are the limits of the engine.
    `delimiter`, `header`: of text files, if they are not as they look.
    `contributions`: whether those of single predictions are brought here, which is so unless the engine is Spark; or where they are
    written to, as Parquet.
    `allow_unrefutable`: score although nothing declared could refute any rule, else an error.
    `truth`: held-out facts or a table's true values, for accuracy beside the scores; a `Truth` has options."""
    setting = make_setting(observed, predictions, rules, **options)
    with OpenSession(setting) as session:
        return session.score(contributions=contributions)


@takes(AuditOptions)
def audit(
    observed: FactsLike | None,
    rules: RulesLike,
    **options: Unpack[AuditOptions],
) -> Result:
    """Rates of rules in the data alone; the options of `score`."""
    setting = make_setting(observed, None, rules, **options)
    with OpenSession(setting) as session:
        return session.audit()


@takes(ScoreOptions)
def violations(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None = None,
    rules: RulesLike = (),
    *,
    model: str | None = None,
    rule: str | None = None,
    prediction: object = None,
    dataset: bool = False,
    by: str | None = None,
    limit: int | None = 1000,
    sample: int | None = None,
    seed: int = 0,
    trusted: bool = False,
    **options: Unpack[ScoreOptions],
) -> ViolationTable:
    """The rows behind the counts, without scoring first: of a project file, or of the arguments of `score`. The others are those of
    `Result.violations`."""
    with open_session(observed, predictions, rules, trusted=trusted, **options) as session:
        return session.violations(
            model=model, rule=rule, prediction=prediction, dataset=dataset, by=by, limit=limit, sample=sample, seed=seed
        )


@takes(ScoreOptions)
def open_session(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None = None,
    rules: RulesLike = (),
    *,
    trusted: bool = False,
    **options: Unpack[ScoreOptions],
) -> OpenSession:
    """A session that stays open: a project file's, or one of the arguments of `score`.

    `with rulescore.open("rulescore.toml") as session` reads and loads everything once; `session.score()`, `session.audit()`,
    `session.violations()` and `session.explain()` then ask as often as you like. `trusted`: the project file may run code, SQL and
    whatever else it asks for."""
    if isinstance(observed, str | Path) and Path(observed).suffix == ".toml":
        if predictions is not None or rules or options:
            helps = ("write them into the project file, or give facts, predictions and rules instead of it",)
            raise InputError(Diagnostic("E542", "a project file is given with further arguments", helps=helps))
        return OpenSession(load_project(observed, trusted=trusted).setting)
    return OpenSession(make_setting(observed, predictions, rules, **options))
