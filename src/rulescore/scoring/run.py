"""How an evaluation came about: which program and engine, when, with which options, from which inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from rulescore.language.formats.names import FormatName
from rulescore.language.sources import EVERY_RULE, RuleSource
from rulescore.readers.inputs import Input
from rulescore.setting.model import Setting
from rulescore.version import __version__


@dataclass(frozen=True, slots=True)
class Run:
    """`date` is in UTC, by ISO 8601. `options` are plain values, as JSON has them."""

    rulescore: str
    date: str
    engine: str
    engine_version: str
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()

    def digested(self) -> Self:
        """The same with the digests of its inputs."""
        return replace(self, inputs=tuple(one.digested() for one in self.inputs))


def run_of(setting: Setting, engine: str, engine_version: str, inputs: tuple[Input, ...]) -> Run:
    """A run that ends now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Run(__version__, now, engine, engine_version, _options(setting), inputs)


def _options(setting: Setting) -> dict[str, Any]:
    """The options that affect counts; those of the engine do not."""
    scoring = setting.scoring
    rules = {one.name: _rule_options(one) for one in setting.rules if isinstance(one, RuleSource) and _is_chosen(one)}
    return {
        "convention": scoring.convention.value,
        "distinct_variables": scoring.distinct_variables,
        "roles": None if scoring.roles is None else sorted(scoring.roles),
        "weights": dict(scoring.weights),
        "kinds": {rule: kind.value for rule, kind in scoring.kinds.items()},
        "hard_needs": scoring.hard_needs,
        "allow_unrefutable": scoring.allow_unrefutable,
        "top_k": {model.model: model.top_k for model in setting.predictions},
        "functions": [function.name for function in setting.functions],
        **({"rules": rules} if rules else {}),
    }


def _is_chosen(source: RuleSource) -> bool:
    return source.format not in (None, FormatName.RULESCORE) or source.choice != EVERY_RULE


def _rule_options(source: RuleSource) -> dict[str, Any]:
    return {"format": source.format} | asdict(source.choice) | {"heads": list(source.choice.heads)}
