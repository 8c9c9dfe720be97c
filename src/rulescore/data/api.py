"""A setting from Python objects or plain options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from rulescore.data.constants import has_lone_surrogate
from rulescore.data.options import CallOptions, EngineSection, ScoringSection, checked
from rulescore.data.rule_sources import RulesLike, rule_sources
from rulescore.data.setting import EngineOptions, FactStream, ModelPredictions, ScoringOptions, Setting
from rulescore.data.sources import FactsLike, observed_streams, prediction_streams, stem
from rulescore.errors import Diagnostic, InputError

Found = TypeVar("Found")


def make_setting(
    observed: FactsLike,
    predictions: Mapping[str, FactsLike] | FactsLike | None = None,
    rules: RulesLike = (),
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
) -> Setting:
    """A setting of these facts, rules and options; everything wrong with them is raised together.

    `predictions` maps each model's name to its predictions. Predictions without a name are one model's, named after their file.
    """
    problems: list[Diagnostic] = []
    scoring = {
        "convention": convention,
        "distinct_variables": distinct_variables,
        "roles": [roles] if isinstance(roles, str) else None if roles is None else list(roles),
        "weights": dict(weights or {}),
        "kinds": dict(kinds or {}),
    }
    running = {
        "url": engine,
        "memory_limit": memory_limit,
        "threads": threads,
        "spill_folder": None if spill_folder is None else str(spill_folder),
    }
    scoring_section = checked(ScoringSection, scoring, problems)
    engine_section = checked(EngineSection, running, problems)
    call = checked(CallOptions, {"top_k": top_k, "delimiter": delimiter, "header": header}, problems) or CallOptions()

    def facts(what: FactsLike) -> tuple[FactStream, ...]:
        return _attempt(problems, lambda: observed_streams(what, delimiter=call.delimiter, header=call.header))

    setting = Setting(
        observed=facts(observed),
        rules=_attempt(problems, lambda: rule_sources(rules)),
        predictions=tuple(_models(predictions, call, problems)),
        negatives=() if negatives is None else facts(negatives),
        scoring=ScoringOptions() if scoring_section is None else scoring_section.options(),
        engine=EngineOptions() if engine_section is None else engine_section.options(Path()),
    )
    if problems:
        raise InputError(problems)
    return setting


def _models(
    predictions: Mapping[str, FactsLike] | FactsLike | None, call: CallOptions, problems: list[Diagnostic]
) -> tuple[ModelPredictions, ...]:
    if predictions is None:
        return ()
    named = predictions if isinstance(predictions, Mapping) else {_model_name(predictions): predictions}
    wrong = (name for name in named if has_lone_surrogate(str(name)))
    problems.extend(Diagnostic("E322", f"`{name!r}` is not a name: a lone surrogate is not a character") for name in wrong)
    return tuple(ModelPredictions(str(name), _answers(what, call, problems), call.top_k) for name, what in named.items())


def _answers(what: FactsLike, call: CallOptions, problems: list[Diagnostic]) -> tuple[FactStream, ...]:
    return _attempt(problems, lambda: prediction_streams(what, delimiter=call.delimiter, header=call.header))


def _model_name(what: FactsLike) -> str:
    return stem(Path(what)) if isinstance(what, str | Path) else "model"


def _attempt(problems: list[Diagnostic], make: Callable[[], tuple[Found, ...]]) -> tuple[Found, ...]:
    """What `make` makes; its problems are kept for later."""
    try:
        return make()
    except InputError as error:
        problems.extend(error.problems)
        return ()
