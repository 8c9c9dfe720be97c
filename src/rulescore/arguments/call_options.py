"""The options of the Python functions, defined once: their names and types for type checkers and editors, their defaults for users,
and their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar

from rulescore.errors import Diagnostic
from rulescore.setting.model import EVERY_ANSWER, EngineOptions, Function, ScoringOptions, SqlRule

if TYPE_CHECKING:
    from rulescore.arguments.tables import Table
    from rulescore.readers.sources import FactsLike

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


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


_DEFAULTS: ScoreOptions = {"sql_rules": (), "convention": "definition", "engine": "duckdb", "allow_unrefutable": False}
"""The defaults other than None."""


def with_defaults(options: ScoreOptions) -> ScoreOptions:
    return ScoreOptions(**{**dict.fromkeys(ScoreOptions.__annotations__), **_DEFAULTS, **options})  # type: ignore[typeddict-item]


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


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How files are read, and how many predictions are kept."""

    top_k: int | None = None
    delimiter: str | None = None
    header: bool | None = None


# Pydantic checks options only if one differs from its default: importing it takes a tenth of a second.


def scoring_options(given: ScoreOptions, problems: list[Diagnostic]) -> ScoringOptions:
    roles = given["roles"]
    values = {
        "convention": given["convention"],
        "distinct_variables": given["distinct_variables"],
        "roles": [roles] if isinstance(roles, str) else None if roles is None else list(roles),
        "weights": dict(given["weights"] or {}),
        "kinds": dict(given["kinds"] or {}),
        "allow_unrefutable": given["allow_unrefutable"],
    }
    if _are_defaults(values, ScoringOptions()):
        return ScoringOptions()
    from rulescore.arguments.options import ScoringSection, checked

    section = checked(ScoringSection, values, problems)
    return ScoringOptions() if section is None else section.options()


def engine_options(given: ScoreOptions, problems: list[Diagnostic]) -> EngineOptions:
    engine, folder = given["engine"], given["spill_folder"]
    values = {
        "url": engine if isinstance(engine, str) else "spark://",
        "memory_limit": given["memory_limit"],
        "threads": given["threads"],
        "spill_folder": None if folder is None else str(folder),
        "timeout": given["timeout"],
    }
    if _are_defaults(values, EngineOptions()):
        return EngineOptions()
    from rulescore.arguments.options import EngineSection, checked

    section = checked(EngineSection, values, problems)
    return EngineOptions() if section is None else section.options(Path())


def reading_options(given: ScoreOptions, problems: list[Diagnostic]) -> ReadingOptions:
    top_k = EVERY_ANSWER if given["top_k"] == "all" else given["top_k"]
    values = {"top_k": top_k, "delimiter": given["delimiter"], "header": given["header"]}
    if _are_defaults(values, ReadingOptions()):
        return ReadingOptions()
    from rulescore.arguments.options import CallOptions, checked

    section = checked(CallOptions, values, problems)
    return ReadingOptions() if section is None else ReadingOptions(section.top_k, section.delimiter, section.header)


def _are_defaults(given: Mapping[str, object], defaults: object) -> bool:
    """Whether every given value is the default; 0 is not false."""
    pairs = ((value, getattr(defaults, name)) for name, value in given.items())
    return all(type(value) is type(default) and value == default for value, default in pairs)
