"""The options of the Python functions, defined once: their names and types for type checkers and editors, their defaults for users,
and their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar

from rulescore.arguments.checking import checked, keys_of
from rulescore.errors import Diagnostic
from rulescore.setting.model import Function, SqlRule
from rulescore.setting.options import Options

if TYPE_CHECKING:
    from rulescore.arguments.tables import Table
    from rulescore.readers.sources import FactsLike

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
