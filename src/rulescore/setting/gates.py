"""Gates as a project file gives them: texts that are not parsed yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rulescore.errors import Place, Span


class GateSeverity(StrEnum):
    """What happens if a gate is not met: the build fails, or the user sees a warning."""

    ERROR = "error"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class GateText:
    """`span`: where its text stands. `place`: where its models' names stand. `folder`: paths of saved results begin there."""

    text: str
    span: Span
    name: str | None = None
    severity: GateSeverity = GateSeverity.ERROR
    models: tuple[str, ...] | None = None
    place: Place | None = None
    folder: Path = Path()
