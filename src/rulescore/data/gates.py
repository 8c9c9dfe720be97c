"""Gates as a project file gives them: texts that nobody has read yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rulescore.errors import Place, Span


class GateSeverity(StrEnum):
    """What it means that a gate is not met: the build fails, or somebody is told."""

    ERROR = "error"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class GateText:
    """`span`: where its text stands. `place`: where its models are named. `folder`: where the path of a saved result begins."""

    text: str
    span: Span
    name: str | None = None
    severity: GateSeverity = GateSeverity.ERROR
    models: tuple[str, ...] | None = None
    place: Place | None = None
    folder: Path = Path()
