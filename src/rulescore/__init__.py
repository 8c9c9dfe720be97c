"""Measure how far a predictive model's outputs respect logical rules."""

import typing as _typing

from rulescore.version import __version__

if _typing.TYPE_CHECKING:
    from rulescore.api import audit, score, violations
    from rulescore.api import open_session as open
    from rulescore.arguments.rule_sources import RuleFile, RuleText
    from rulescore.arguments.tables import Table
    from rulescore.arguments.truth import Truth
    from rulescore.errors import EngineError, InputError, RulescoreError, RulescoreWarning
    from rulescore.readers.triples import Triples
    from rulescore.reporting.comparison import ModelComparison
    from rulescore.result import OpenSession, Result, load_result
    from rulescore.setting.model import Function, SqlRule
    from rulescore.setting.request import FactFile

__all__ = [
    "EngineError",
    "FactFile",
    "Function",
    "InputError",
    "ModelComparison",
    "OpenSession",
    "Result",
    "RuleFile",
    "RuleText",
    "RulescoreError",
    "RulescoreWarning",
    "SqlRule",
    "Table",
    "Triples",
    "Truth",
    "__version__",
    "audit",
    "load_result",
    "open",
    "score",
    "violations",
]

_HOMES = {
    "EngineError": "rulescore.errors",
    "FactFile": "rulescore.setting.request",
    "Function": "rulescore.setting.model",
    "InputError": "rulescore.errors",
    "ModelComparison": "rulescore.reporting.comparison",
    "OpenSession": "rulescore.result",
    "Result": "rulescore.result",
    "RuleFile": "rulescore.arguments.rule_sources",
    "RuleText": "rulescore.arguments.rule_sources",
    "RulescoreError": "rulescore.errors",
    "RulescoreWarning": "rulescore.errors",
    "SqlRule": "rulescore.setting.model",
    "Table": "rulescore.arguments.tables",
    "Triples": "rulescore.readers.triples",
    "Truth": "rulescore.arguments.truth",
    "audit": "rulescore.api",
    "load_result": "rulescore.result",
    "open": "rulescore.api",
    "score": "rulescore.api",
    "violations": "rulescore.api",
}
# Within the module that defines it, a function called `open` would hide the built-in one.
_NAMES = {"open": "open_session"}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> _typing.Any:
    """Names are imported when first used, so that `import rulescore` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rulescore' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), _NAMES.get(name, name))
