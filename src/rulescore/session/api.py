"""The Python interface: the whole pipeline in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from rulescore.arguments.project import load_project
from rulescore.arguments.python import AuditOptions, ScoreOptions, make_setting, takes
from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import Table
from rulescore.errors import Diagnostic, InputError
from rulescore.readers.sources import FactsLike
from rulescore.reporting.violations import ViolationTable
from rulescore.session.result import OpenSession, Result

if TYPE_CHECKING:
    # Scoring does not need it, so we load it late.
    from rulescore.discovery.result import Discovered


class EngineArguments(TypedDict, total=False):
    """Options of the engine and of text files, which `score` explains."""

    engine: object
    memory_limit: str | None
    threads: int | None
    spill_folder: str | Path | None
    timeout: float | None
    delimiter: str | None
    header: bool | None


@takes(ScoreOptions)
def score(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None = None,
    rules: RulesLike = (),
    *,
    contributions: bool | str | Path | None = None,
    trusted: bool = False,
    **options: Unpack[ScoreOptions],
) -> Result:
    """Score the predictions of models against rules.

    Args:
        observed: The path of a project file, which says everything; or the facts: a path, a list of paths, a frame, an iterable of
            (head, relation, tail), or a mapping from predicate to rows. None if there are only `tables`.
        predictions: A mapping from model to any of these, or to ids and values of a table's target.
        rules: A path, rule text, a `RuleText`, or a list of them.
        contributions: True fetches each prediction's contribution (the default, except on Spark); a path writes them as Parquet.
        trusted: Whether a project file may run code, SQL and whatever else it asks for.
        negatives: Facts known to be false, in any form of `observed`.
        tables: Rows with a key, by name, each a `Table`.
        functions: Registered predicates: Python functions by name.
        sql_rules: Rules in SQL, each a `SqlRule`.
        convention: The way of counting, "definition" or "appendix".
        distinct_variables: Whether two variables must have two constants. None: the convention decides.
        roles: The roles in which predictions count. None: the convention decides.
        weights: Weights of rules, by name.
        kinds: Kinds of rules, by name: "hard" or "soft".
        hard_needs: How many evaluable groundings a rule needs in the data to be hard because none of them breaks it.
        top_k: How many of the best predictions for each query to keep, or "all". None: 1 if predictions have ranks or queries.
        engine: An address, or a Spark session.
        memory_limit: The most memory, such as "2GB"; on DuckDB, for this whole process.
        threads: How many threads the engine uses.
        spill_folder: Where the engine puts what does not fit into memory.
        timeout: The most seconds for one statement.
        delimiter: The delimiter of text files. None: as they look.
        header: Whether text files have a header. None: as they look.
        labels: Names for ids that people see, as a mapping or as files of two columns.
        allow_unrefutable: Score although nothing declared could refute any rule.
        truth: Held-out facts or a table's true values, to measure accuracy as well. A `Truth` has options.

    Returns:
        The rates of every rule and the scores of every model.

    Raises:
        InputError: If facts, predictions, rules or options have mistakes; it lists all of them.
        EngineError: If the engine fails.
    """
    with open_session(observed, predictions, rules, trusted=trusted, **options) as session:
        return session.score(contributions=contributions)


@takes(AuditOptions)
def audit(
    observed: FactsLike | None,
    rules: RulesLike = (),
    *,
    trusted: bool = False,
    **options: Unpack[AuditOptions],
) -> Result:
    """Count how often rules hold in the data alone.

    Args:
        observed: The path of a project file, or the facts, as for `score`.
        rules: The rules, as for `score`.
        trusted: Whether a project file may run code, SQL and whatever else it asks for.
        **options: The options of `score`, except `contributions`, `allow_unrefutable` and `truth`.

    Returns:
        The rates of every rule, without models.

    Raises:
        InputError: If facts, rules or options have mistakes.
        EngineError: If the engine fails.
    """
    with open_session(observed, None, rules, trusted=trusted, **options) as session:
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
    """List the rows behind the counts, without scoring first.

    Args:
        observed: The path of a project file, or the facts, as for `score`.
        predictions: The predictions, as for `score`.
        rules: The rules, as for `score`.
        model: Only violations by this model.
        rule: Only violations of this rule.
        prediction: Only violations by this prediction, as for `Result.violations`.
        dataset: Violations in the data, whatever models predict.
        by: Count by "rule", "predicate", "refuter", "entity" or "prediction" instead of listing.
        limit: The most rows to list; None for all.
        sample: How many rows to draw at random instead of listing the first.
        seed: The seed of the sample.
        trusted: Whether a project file may run code, SQL and whatever else it asks for.
        **options: The other options of `score`.

    Returns:
        The violations, with the number of all of them.

    Raises:
        InputError: If the input has mistakes, or the question names no rule, model or prediction.
        EngineError: If the engine fails.
    """
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
    """Open a session: it reads and loads everything once and then answers questions.

    `with rulescore.open("rulescore.toml") as session`: `session.score()`, `session.audit()`, `session.violations()` and
    `session.explain()` ask as often as you like.

    Args:
        observed: The path of a project file, or the facts, as for `score`.
        predictions: The predictions, as for `score`.
        rules: The rules, as for `score`.
        trusted: Whether a project file may run code, SQL and whatever else it asks for.
        **options: The other options of `score`.

    Returns:
        The open session, which is a context manager.

    Raises:
        InputError: If the input has mistakes, or a project file comes with further arguments.
    """
    if isinstance(observed, str | Path) and Path(observed).suffix == ".toml":
        if predictions is not None or rules or options:
            helps = ("write them into the project file, or give facts, predictions and rules instead of it",)
            raise InputError(Diagnostic("E327", "a project file is given with further arguments", helps=helps))
        return OpenSession(load_project(observed, trusted=trusted).setting)
    if isinstance(rules, tuple | list) and not rules and not options.get("sql_rules"):
        helps = ('give rules, as a path or as text; or a project file alone: `rulescore.score("rulescore.toml")`',)
        raise InputError(Diagnostic("E404", "no rules are given", helps=helps))
    return OpenSession(make_setting(observed, predictions, rules, **options))


def discover(
    observed: FactsLike | None,
    *,
    tables: Mapping[str, Table] | None = None,
    valid: FactsLike | None = None,
    min_support: int = 10,
    max_rate: float = 0.1,
    min_evaluable: int = 1,
    limit: int = 30,
    everything: bool = False,
    forms: Iterable[str] = (),
    longer: bool = False,
    hold_out: float = 0.0,
    seed: int = 0,
    max_groundings: int = 1_000_000_000,
    convention: str = "definition",
    distinct_variables: bool | None = None,
    **options: Unpack[EngineArguments],
) -> Discovered:
    """Rules that hold in the facts, for people who have none.

    Args:
        observed: The facts, as `score` takes them; None if there are only `tables`.
        tables: Rows with a key, by name, each a `Table`.
        valid: Facts that no rule is picked by; each rule gets its rate on them.
        min_support: How many groundings confirm a rule at least.
        max_rate: The share of its evaluable groundings that breaks a rule at most.
        min_evaluable: How many evaluable groundings a rule has at least.
        limit: How many rules are shown and written at most.
        everything: Whether to list all rules, also rules that are left out, with the reason.
        forms: Forms of rules to look for, such as "two_atoms"; all unless given.
        longer: Whether rules that are kept are also extended by one atom.
        hold_out: The share of the facts that no rule is picked by, if there is no `valid`.
        seed: Draws the facts that are held out.
        max_groundings: Forms that look at more pairs of facts are left out, and named.
        convention: The way of counting, as in `score`.
        distinct_variables: Whether two variables must have two constants, as in `score`.
        **options: Of the engine and of text files, as in `score`.

    Returns:
        The rules, as text by `rules`, as a file by `save`.

    Raises:
        InputError: The facts cannot be read, or an option has a wrong value.
    """
    from rulescore.discovery.result import discovered

    values = {
        "min_support": min_support,
        "max_rate": max_rate,
        "min_evaluable": min_evaluable,
        "limit": limit,
        "everything": everything,
        "forms": tuple(forms),
        "longer": longer,
        "hold_out": hold_out,
        "seed": seed,
        "max_groundings": max_groundings,
        "convention": convention,
        "distinct_variables": distinct_variables,
    }
    return discovered(make_setting(observed, None, (), tables=tables, **options), valid, values)
