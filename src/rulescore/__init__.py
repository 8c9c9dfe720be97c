"""Measure how far a predictive model's outputs respect logical rules."""

import typing as _typing

if _typing.TYPE_CHECKING:
    from rulescore.api import audit, score
    from rulescore.data.request import FactFile
    from rulescore.data.rule_sources import RuleText
    from rulescore.data.setting import Function, SqlRule
    from rulescore.data.tables import Table
    from rulescore.errors import EngineError, InputError, RulescoreError
    from rulescore.scoring.evaluation import Evaluation

__all__ = [
    "EngineError",
    "Evaluation",
    "FactFile",
    "Function",
    "InputError",
    "RuleText",
    "RulescoreError",
    "SqlRule",
    "Table",
    "__version__",
    "audit",
    "score",
]
__version__ = "0.1.0"

_HOMES = {
    "EngineError": "rulescore.errors",
    "Evaluation": "rulescore.scoring.evaluation",
    "FactFile": "rulescore.data.request",
    "Function": "rulescore.data.setting",
    "InputError": "rulescore.errors",
    "RuleText": "rulescore.data.rule_sources",
    "RulescoreError": "rulescore.errors",
    "SqlRule": "rulescore.data.setting",
    "Table": "rulescore.data.tables",
    "audit": "rulescore.api",
    "score": "rulescore.api",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> _typing.Any:
    """Names are imported when first used, so that `import rulescore` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rulescore' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
