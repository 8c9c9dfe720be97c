"""Problems of rules, data and options, as data and as text: every room reports through these."""

from rulescore.errors.diagnostics import Diagnostic, Place, Severity, Source, Span, are_errors, place_of
from rulescore.errors.exceptions import (
    EngineError,
    InputError,
    MissingExtraError,
    RulescoreError,
    RulescoreWarning,
    UncertainError,
    attempt,
    located,
)
from rulescore.errors.render import Paint, Part, plain, render, render_all
from rulescore.errors.secrets import masked, masked_address
from rulescore.errors.suggestions import did_you_mean, meant, meant_file, suggestion

__all__ = [
    "Diagnostic",
    "EngineError",
    "InputError",
    "MissingExtraError",
    "Paint",
    "Part",
    "Place",
    "RulescoreError",
    "RulescoreWarning",
    "Severity",
    "Source",
    "Span",
    "UncertainError",
    "are_errors",
    "attempt",
    "did_you_mean",
    "located",
    "masked",
    "masked_address",
    "meant",
    "meant_file",
    "place_of",
    "plain",
    "render",
    "render_all",
    "suggestion",
]
