"""What an engine has to do. Statements arrive as sqlglot trees; tables come and go as Arrow.

An engine refuses options that it cannot keep when it is opened, with a code, before anything starts. It runs one statement at a
time and hears Ctrl-C while it does (see worker.py); what fails is raised as an EngineError.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pyarrow as pa
from sqlglot import exp


class Engine(Protocol):
    """A database session that holds temporary tables under the reserved prefix."""

    dialect: str
    longest_name: int | None
    """The bytes after which a name is cut; None where no name is."""

    def load(self, name: str, rows: pa.Table) -> None:
        """Create a temporary table from Arrow rows."""

    def append(self, name: str, rows: pa.Table) -> None:
        """Add Arrow rows to a table made by `load`."""

    def attach(self, database: Path, name: str) -> None:
        """Open a database file under a name, for reading only. InputError where the engine reads no files."""

    def run(self, statement: exp.Expr, *, as_written: bool = False) -> None:
        """Run a statement that returns nothing. `as_written` keeps the order of its joins."""

    def query(self, statement: exp.Expr, *, as_written: bool = False) -> pa.Table:
        """Run a query. `as_written` keeps the order of its joins."""

    def text(self, statement: exp.Expr, *, pretty: bool = False) -> str:
        """The statement in the engine's dialect."""

    def close(self) -> None:
        """Drop everything and disconnect."""
