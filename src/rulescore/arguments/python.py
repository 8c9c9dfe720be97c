"""A setting from Python objects, and the options of the Python functions: their names and types for type checkers and editors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import ParamSpec, TypedDict, TypeVar, Unpack

from rulescore.arguments.checking import checked, keys_of
from rulescore.arguments.functions import registered
from rulescore.arguments.rule_sources import RulesLike, rule_sources
from rulescore.arguments.tables import (
    Table,
    keyed_tables,
    predicts_values,
    table_predictions,
    target_table,
    the_target_table,
    unnamed_target,
)
from rulescore.arguments.truth import held_out
from rulescore.errors import Diagnostic, InputError, attempt
from rulescore.readers.aligned import plain_values
from rulescore.readers.frames import is_frame
from rulescore.readers.sources import FactsLike, observed_streams, prediction_streams, stem
from rulescore.setting.model import (
    FactSource,
    Function,
    HeldOut,
    KeyedTable,
    ModelPredictions,
    Setting,
    SqlRule,
    TablePredictions,
)
from rulescore.setting.options import EngineOptions, Options, ReadingOptions, ScoringOptions
from rulescore.values.keys import has_lone_surrogate

_FACTS = "facts"
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Options = TypeVar("_Options", bound=Options)


class AuditOptions(TypedDict, total=False):
    """The options of a setting beside facts, predictions and rules; the docstring of `score` explains each."""

    negatives: FactsLike | None
    tables: Mapping[str, Table] | None
    functions: Mapping[str, Callable[..., object] | Function] | None
    sql_rules: Iterable[SqlRule]
    convention: str
    distinct_variables: bool | None
    roles: str | Iterable[str] | None
    weights: Mapping[str, float] | None
    kinds: Mapping[str, str] | None
    hard_needs: int
    top_k: int | str | None
    engine: object
    memory_limit: str | None
    threads: int | None
    spill_folder: str | Path | None
    timeout: float | None
    delimiter: str | None
    header: bool | None


class ScoreOptions(AuditOptions, total=False):
    """The options of an audit, and those that make sense only with predictions."""

    allow_unrefutable: bool
    truth: object


_DEFAULTS: ScoreOptions = {
    "sql_rules": (),
    "convention": "definition",
    "hard_needs": 1,
    "engine": "duckdb",
    "allow_unrefutable": False,
}
"""The defaults that are shown, other than None."""


def takes(options: type[AuditOptions]) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """Decorator for a function that ends in `**options`: shows all options in its signature, for help and completion, and refuses
    any other keyword by name."""

    def decorate(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        plain = signature(function)
        before = [one for one in plain.parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
        after = [one for one in plain.parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
        shown = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=getattr(kind, "__forward_arg__", kind))
            for name, kind in options.__annotations__.items()
        ]
        whole = plain.replace(parameters=[*before, *shown, *after])

        @wraps(function)
        def called(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
            for name in kwargs:
                if name not in whole.parameters:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*args, **kwargs)

        called.__signature__ = whole  # type: ignore[attr-defined]  # where `inspect.signature` looks first
        return called

    return decorate


def checked_options(kind: type[_Options], given: ScoreOptions, problems: list[Diagnostic]) -> _Options:
    """Those of the options of a call that are of a kind; the defaults if they are wrong: then each problem goes to `problems`."""
    values = {name: given.get(name) for name in keys_of(kind) if given.get(name) is not None}
    return checked(kind, values, problems) or kind()


@takes(ScoreOptions)
def make_setting(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None = None,
    rules: RulesLike = (),
    **options: Unpack[ScoreOptions],
) -> Setting:
    """A setting of these facts, rules and options; everything wrong with them is raised together.

    `predictions` maps each model's name to its predictions. Predictions without a name are one model's, named after their file.
    If there are no observed facts and one table with a target, they are predictions of that target; otherwise a mapping from the
    table's name to them says so.
    """
    problems: list[Diagnostic] = []
    engine, tables = options.get("engine", "duckdb"), options.get("tables") or {}
    negatives, truth = options.get("negatives"), options.get("truth")
    if not isinstance(engine, str) and not _is_session(engine):
        # We do not show its value: it may be an address with a password.
        notes = ("it is an address, such as `duckdb` or `postgresql://user@host/database`, or a Spark session",)
        problems.append(Diagnostic("E402", f"`engine` is a {type(engine).__name__}", notes=notes))
    running = checked_options(EngineOptions, options, problems)
    call = checked_options(ReadingOptions, options, problems)

    def facts(what: FactsLike) -> tuple[FactSource, ...]:
        return attempt(problems, lambda: observed_streams(what, delimiter=call.delimiter, header=call.header), ())

    keyed = attempt(problems, lambda: keyed_tables(tables), ())
    models = _Models(keyed, call, problems, facts=observed is not None)
    # Without all tables we cannot tell what is predicted.
    readable = len(keyed) == len(tables)
    setting = Setting(
        observed=() if observed is None and tables else facts(observed),
        rules=attempt(problems, lambda: rule_sources(rules), ()),
        predictions=models.read(predictions) if readable else (),
        negatives=() if negatives is None else facts(negatives),
        scoring=checked_options(ScoringOptions, options, problems),
        engine=replace(running, url=engine) if isinstance(engine, str) else replace(running, url="spark://", session=engine),
        tables=keyed,
        functions=attempt(problems, lambda: registered(options.get("functions") or {}), ()),
        sql_rules=attempt(problems, lambda: _sql_rules(options.get("sql_rules", ())), ()),
        truth=None if truth is None or not readable else _truth(truth, keyed, call, problems, facts=observed is not None),
    )
    if problems:
        raise InputError(problems)
    return setting


def _truth(
    what: object, tables: tuple[KeyedTable, ...], call: ReadingOptions, problems: list[Diagnostic], *, facts: bool
) -> HeldOut | None:
    return attempt(problems, lambda: held_out(what, tables, facts=facts, delimiter=call.delimiter), None)


def _sql_rules(given: Iterable[SqlRule]) -> tuple[SqlRule, ...]:
    rules = tuple(given)
    for one in rules:
        if not isinstance(one, SqlRule):
            helps = ("write `rulescore.SqlRule(name, statement)`",)
            raise InputError(Diagnostic("E322", f"a {type(one).__name__} is not a rule in SQL", helps=helps))
    return rules


class _Models:
    """Reads predictions: of facts, or of the target of a table."""

    def __init__(self, tables: tuple[KeyedTable, ...], call: ReadingOptions, problems: list[Diagnostic], *, facts: bool) -> None:
        self._tables, self._call, self._problems = tables, call, problems
        self._only_table = None if facts else the_target_table(tables)

    def read(self, predictions: Mapping[str, FactsLike] | FactsLike | None) -> tuple[ModelPredictions, ...]:
        if predictions is None:
            return ()
        named = predictions if isinstance(predictions, Mapping) else {_model_name(predictions): predictions}
        wrong = (name for name in named if has_lone_surrogate(str(name)))
        self._problems.extend(
            Diagnostic("E322", f"`{name!r}` is not a name: a lone surrogate is not a character") for name in wrong
        )
        return tuple(self._model(str(name), what) for name, what in named.items())

    def _model(self, model: str, what: FactsLike) -> ModelPredictions:
        try:
            by_table = self._by_table(model, what)
        except InputError as error:
            self._problems.extend(error.problems)
            return ModelPredictions(model, ())
        if by_table is None:
            return ModelPredictions(model, self._answers(what), self._call.top_k)
        found = tuple(one for table, rows in by_table for one in self._table_answers(model, table, rows))
        return ModelPredictions(model, self._beside(what, by_table), self._call.top_k, found)

    def _beside(self, what: FactsLike, by_table: list[tuple[KeyedTable, FactsLike]]) -> tuple[FactSource, ...]:
        """Predicted facts of a mapping that also has predictions for tables: triples are under `facts`, other facts under
        predicates."""
        tables = {table.name for table, _ in by_table}
        if not isinstance(what, Mapping) or not tables & set(what):
            return ()
        facts = [rows if name == _FACTS else {name: rows} for name, rows in what.items() if name not in tables]
        return tuple(source for part in facts for source in self._answers(part))

    def _by_table(self, model: str, what: FactsLike) -> list[tuple[KeyedTable, FactsLike]] | None:
        """Predictions with the tables they are for; None for predicted facts."""
        targets = {table.name: table for table in self._tables if table.target is not None}
        if isinstance(what, Mapping) and what and set(what) <= targets.keys():
            return [(targets[name], rows) for name, rows in what.items()]
        if isinstance(what, Mapping) and targets.keys() & set(what):
            return [(targets[name], rows) for name, rows in what.items() if name in targets]
        if self._only_table is not None:
            return [(target_table(name, self._tables), rows) for name, rows in _sources_by_name(what)] or [(self._only_table, what)]
        if self._tables and (predicts_values(what) or (targets and (_is_ids_to_values(what) or plain_values(what) is not None))):
            raise InputError(unnamed_target(model, self._tables))
        return None

    def _table_answers(self, model: str, table: KeyedTable, what: FactsLike) -> tuple[TablePredictions, ...]:
        """A list of paths or frames is a union, as it is for facts."""
        sources = what if isinstance(what, list | tuple) and _are_sources(what) else (what,)
        origin = f"<predictions of {model}>"

        def read(one: FactsLike) -> tuple[TablePredictions]:
            return (table_predictions(table, one, origin, self._call.delimiter),)

        return tuple(found for one in sources for found in attempt(self._problems, partial(read, one), ()))

    def _answers(self, what: FactsLike) -> tuple[FactSource, ...]:
        call = self._call
        return attempt(self._problems, lambda: prediction_streams(what, delimiter=call.delimiter, header=call.header), ())


def _sources_by_name(what: FactsLike) -> list[tuple[str, FactsLike]]:
    """The parts of a mapping whose keys must be names of tables: a value for an id is never a frame or a mapping."""
    if not isinstance(what, Mapping) or "prediction" in what:
        return []
    named = all(isinstance(name, str) and (isinstance(rows, Mapping) or is_frame(rows)) for name, rows in what.items())
    return list(what.items()) if named else []


def _is_ids_to_values(what: FactsLike) -> bool:
    """Whether something is a mapping from ids to numbers: no predicate has a number for its facts."""
    return isinstance(what, Mapping) and bool(what) and all(isinstance(one, int | float) for one in what.values())


def _are_sources(what: list[FactsLike] | tuple[FactsLike, ...]) -> bool:
    return all(isinstance(one, str | Path) or is_frame(one) for one in what)


def _model_name(what: FactsLike) -> str:
    return stem(Path(what)) if isinstance(what, str | Path) else "model"


def _is_session(engine: object) -> bool:
    """Whether something is a Spark session, without loading Spark."""
    return any(kind.__module__.partition(".")[0] == "pyspark" for kind in type(engine).__mro__)
