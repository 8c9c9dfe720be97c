"""A setting from Python objects, and the options of the Python functions: their names and types for type checkers and editors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import ParamSpec, TypedDict, TypeVar, Unpack

from rulescore.arguments.project_file import checked, keys_of
from rulescore.arguments.rule_sources import RulesLike, registered, rule_sources
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
from rulescore.errors import Diagnostic, InputError, attempt, refuse
from rulescore.readers.arrays import plain_values
from rulescore.readers.frames import is_frame
from rulescore.readers.labels import LabelsLike, labels_of
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
from rulescore.values import has_lone_surrogate

_FACTS = "facts"
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Options = TypeVar("_Options", bound=Options)


class AuditOptions(TypedDict, total=False):
    """The options of a setting, without facts, predictions and rules; the docstring of `score` explains each."""

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
    labels: LabelsLike


class ScoreOptions(AuditOptions, total=False):
    """The options of an audit, and further ones that make sense only with predictions."""

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
        before = [parameter for parameter in plain.parameters.values() if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD]
        after = [parameter for parameter in plain.parameters.values() if parameter.kind is Parameter.KEYWORD_ONLY]
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


def checked_options(kind: type[_Options], options: ScoreOptions, problems: list[Diagnostic]) -> _Options:
    """The options of one kind in a call. If they are wrong: the defaults, and each problem goes to `problems`."""
    values = {name: options.get(name) for name in keys_of(kind) if options.get(name) is not None}
    return checked(kind, values, problems) or kind()


@takes(ScoreOptions)
def make_setting(
    observed: FactsLike | None,
    predictions: Mapping[str, FactsLike] | FactsLike | None = None,
    rules: RulesLike = (),
    **options: Unpack[ScoreOptions],
) -> Setting:
    """A setting of these facts, rules and options. One error names everything that is wrong with them.

    `predictions` maps each model's name to its predictions. Predictions without a name belong to one model, which we name after
    their file. If there are no observed facts and one table with a target, they are predictions of that target; otherwise a mapping
    from the table's name to them says so.
    """
    problems: list[Diagnostic] = []
    engine, tables = options.get("engine", "duckdb"), options.get("tables") or {}
    negatives, truth, labels = options.get("negatives"), options.get("truth"), options.get("labels")
    # We recognise a Spark session without loading Spark.
    if not isinstance(engine, str) and not any(kind.__module__.partition(".")[0] == "pyspark" for kind in type(engine).__mro__):
        # We do not show its value: it may be an address with a password.
        notes = ("it is an address, such as `duckdb` or `postgresql://user@host/database`, or a Spark session",)
        problems.append(Diagnostic("E402", f"`engine` is a {type(engine).__name__}", notes=notes))
    running = checked_options(EngineOptions, options, problems)
    call = checked_options(ReadingOptions, options, problems)

    def facts(what: FactsLike) -> tuple[FactSource, ...]:
        return attempt(problems, lambda: observed_streams(what, delimiter=call.delimiter, header=call.header), ())

    keyed = attempt(problems, lambda: keyed_tables(tables), ()) if tables else ()
    models = _Models(keyed, call, problems, facts=observed is not None)
    # If a table could not be read, we do not know every target.
    readable = len(keyed) == len(tables)

    def read_truth() -> HeldOut | None:
        if truth is None or not readable:
            return None
        return held_out(truth, keyed, facts=observed is not None, delimiter=call.delimiter)

    setting = Setting(
        observed=() if observed is None and tables else facts(observed),
        rules=attempt(problems, lambda: rule_sources(rules), ()),
        predictions=models.model_predictions(predictions) if readable else (),
        negatives=() if negatives is None else facts(negatives),
        scoring=checked_options(ScoringOptions, options, problems),
        engine=replace(running, url=engine) if isinstance(engine, str) else replace(running, url="spark://", session=engine),
        tables=keyed,
        functions=attempt(problems, lambda: registered(options.get("functions") or {}), ()),
        sql_rules=attempt(problems, lambda: _sql_rules(options.get("sql_rules", ())), ()),
        truth=attempt(problems, read_truth, None),
        labels=attempt(problems, lambda: labels_of(labels), {}) if labels is not None else {},
    )
    refuse(problems)
    return setting


def _sql_rules(listed: Iterable[SqlRule]) -> tuple[SqlRule, ...]:
    rules = tuple(listed)
    for rule in rules:
        if not isinstance(rule, SqlRule):
            helps = ("write `rulescore.SqlRule(name, statement)`",)
            raise InputError(Diagnostic("E322", f"a {type(rule).__name__} is not a rule in SQL", helps=helps))
    return rules


class _Models:
    """Reads predictions: of facts, or of the target of a table."""

    def __init__(self, tables: tuple[KeyedTable, ...], call: ReadingOptions, problems: list[Diagnostic], *, facts: bool) -> None:
        self._tables, self._call, self._problems = tables, call, problems
        self._only_table = None if facts else the_target_table(tables)

    def model_predictions(self, predictions: Mapping[str, FactsLike] | FactsLike | None) -> tuple[ModelPredictions, ...]:
        if predictions is None:
            return ()
        name = stem(Path(predictions)) if isinstance(predictions, str | Path) else "model"
        named = predictions if isinstance(predictions, Mapping) else {name: predictions}
        wrong = (name for name in named if has_lone_surrogate(str(name)))
        self._problems.extend(
            Diagnostic("E322", f"`{name!r}` is not a name: a lone surrogate is not a character") for name in wrong
        )
        return tuple(self._model(str(name), what) for name, what in named.items())

    def _model(self, model: str, what: FactsLike) -> ModelPredictions:
        try:
            by_table, facts = self._parts(model, what)
        except InputError as error:
            self._problems.extend(error.problems)
            return ModelPredictions(model, ())
        streams = tuple(source for part in facts for source in self._predicted_facts(part))
        tables = tuple(part for table, rows in by_table for part in self._table_predictions(model, table, rows))
        return ModelPredictions(model, streams, self._call.top_k, tables)

    def _parts(self, model: str, what: FactsLike) -> tuple[list[tuple[KeyedTable, FactsLike]], list[FactsLike]]:
        """Predictions with the tables they are for, and predicted facts. In a mapping that has both, triples are under `facts` and
        other facts under their predicates."""
        targets = {table.name: table for table in self._tables if table.target is not None}
        if isinstance(what, Mapping) and targets.keys() & set(what):
            of_tables = [(targets[name], rows) for name, rows in what.items() if name in targets]
            return of_tables, [rows if name == _FACTS else {name: rows} for name, rows in what.items() if name not in targets]
        if self._only_table is not None:
            named = [(target_table(name, self._tables), rows) for name, rows in _sources_by_name(what)]
            return named or [(self._only_table, what)], []
        # A mapping to numbers holds predicted values, because a mapping from predicates would lead to facts.
        numbers = isinstance(what, Mapping) and bool(what) and all(isinstance(value, int | float) for value in what.values())
        if self._tables and (predicts_values(what) or (targets and (numbers or plain_values(what) is not None))):
            raise InputError(unnamed_target(model, self._tables))
        return [], [what]

    def _table_predictions(self, model: str, table: KeyedTable, what: FactsLike) -> tuple[TablePredictions, ...]:
        """A list of paths or frames is a union, as it is for facts."""
        sources = [what]
        if isinstance(what, list | tuple) and all(isinstance(source, str | Path) or is_frame(source) for source in what):
            sources = list(what)
        calls = [partial(table_predictions, table, source, f"<predictions of {model}>", self._call.delimiter) for source in sources]
        read = [attempt(self._problems, call, None) for call in calls]
        return tuple(predictions for predictions in read if predictions is not None)

    def _predicted_facts(self, what: FactsLike) -> tuple[FactSource, ...]:
        call = self._call
        return attempt(self._problems, lambda: prediction_streams(what, delimiter=call.delimiter, header=call.header), ())


def _sources_by_name(what: FactsLike) -> list[tuple[str, FactsLike]]:
    """The parts of a mapping that are frames or mappings. Their keys must be names of tables, because a value for an id is
    neither."""
    if not isinstance(what, Mapping) or "prediction" in what:
        return []
    named = all(isinstance(name, str) and (isinstance(rows, Mapping) or is_frame(rows)) for name, rows in what.items())
    return list(what.items()) if named else []
