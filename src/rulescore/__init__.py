"""Measure how far a predictive model's outputs respect logical rules."""

import typing as _typing

from rulescore.version import __version__

if _typing.TYPE_CHECKING:
    from rulescore.arguments.rule_sources import RuleFile, RuleText
    from rulescore.arguments.tables import Table
    from rulescore.arguments.truth import Truth
    from rulescore.comparison.listings import ModelComparison
    from rulescore.errors import EngineError, InputError, RulescoreError, RulescoreWarning
    from rulescore.mending.making import candidates
    from rulescore.mending.table import CandidateTable
    from rulescore.readers.arrays import Triples
    from rulescore.session.api import audit, discover, score, violations
    from rulescore.session.api import open_session as open
    from rulescore.session.result import OpenSession, Result, load_result
    from rulescore.setting.model import FactFile, Function, SqlRule

__all__ = [
    "CandidateTable",
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
    "candidates",
    "discover",
    "load_result",
    "open",
    "score",
    "violations",
]

_HOMES = {
    "CandidateTable": "rulescore.mending.table",
    "EngineError": "rulescore.errors",
    "FactFile": "rulescore.setting.model",
    "Function": "rulescore.setting.model",
    "InputError": "rulescore.errors",
    "ModelComparison": "rulescore.comparison.listings",
    "OpenSession": "rulescore.session.result",
    "Result": "rulescore.session.result",
    "RuleFile": "rulescore.arguments.rule_sources",
    "RuleText": "rulescore.arguments.rule_sources",
    "RulescoreError": "rulescore.errors",
    "RulescoreWarning": "rulescore.errors",
    "SqlRule": "rulescore.setting.model",
    "Table": "rulescore.arguments.tables",
    "Triples": "rulescore.readers.arrays",
    "Truth": "rulescore.arguments.truth",
    "audit": "rulescore.session.api",
    "discover": "rulescore.session.api",
    "candidates": "rulescore.mending.making",
    "load_result": "rulescore.session.result",
    "open": "rulescore.session.api",
    "score": "rulescore.session.api",
    "violations": "rulescore.session.api",
}
# Within the module that defines it, a function called `open` would hide the built-in one.
_NAMES = {"open": "open_session"}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> _typing.Any:
    """Names are imported when first used, so `import rulescore` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rulescore' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), _NAMES.get(name, name))
