"""Whether the data fit, told from the sizes of their files before anything is read."""

from __future__ import annotations

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Severity
from rulescore.waiting import warn_now

NEEDED = 2.0
"""Bytes of memory and of temporary files for each byte of text: what 64 million facts took together (`benchmarks/whole.py`)."""


def warn_of_too_little_room(engine: Engine, text: int) -> None:
    """Warn if files of so many bytes of text will probably fit neither into memory nor on disk."""
    room, needed = engine.room(), text * NEEDED
    if room is None or needed <= room:
        return
    warn_now(
        Diagnostic(
            "W369",
            f"the data may need {_gigabytes(needed)} of memory and disk, and there are {_gigabytes(room)}",
            notes=(f"the files of facts and predictions hold about {_gigabytes(text)} of text",),
            helps=("give a spill folder on a larger disk (`spill_folder` of the engine), or use Spark",),
            severity=Severity.WARNING,
        )
    )


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"
