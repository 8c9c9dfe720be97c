"""Actions beyond reading that a project file may ask for."""

from __future__ import annotations

from enum import StrEnum


class Deed(StrEnum):
    """An action of a project file that needs the user's trust."""

    CODE = "code"
    SQL = "sql"
    ENGINE = "engine"
    DATABASE = "database"
    SPILL = "spill"
    OUTPUT = "output"
    PLOTS = "plots"


ALL_DEEDS = frozenset(Deed)
