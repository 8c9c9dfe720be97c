"""Finds the plug-ins of the core: engines, rule formats, prediction formats and commands, from this distribution and others.

Each is an entry point that a distribution declares. We load one only when somebody asks for it by its name, or when a file has to
be recognised.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

ENGINES = "rulescore.engines"
RULE_FORMATS = "rulescore.rule_formats"
PREDICTION_FORMATS = "rulescore.prediction_formats"
COMMANDS = "rulescore.commands"


@cache
def plugins(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by their names. If two have the same name, we take ours."""
    ours_last = sorted(entry_points(group=group), key=lambda point: (point.module.startswith("rulescore."), point.name))
    return {point.name: point for point in ours_last}


@cache
def load(group: str, name: str) -> Any:
    """What the entry point names: an object or a module."""
    return plugins(group)[name].load()
