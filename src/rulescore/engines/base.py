"""What an engine has to do. Statements arrive as sqlglot trees; tables come and go as Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pyarrow as pa
from sqlglot import exp


class Engine(Protocol):
    """A database session that holds temporary tables under the reserved prefix."""

    dialect: str

    def load(self, name: str, rows: pa.Table) -> None:
        """Create a temporary table from Arrow rows."""

    def append(self, name: str, rows: pa.Table) -> None:
        """Add Arrow rows to a table made by `load`."""

    def attach(self, database: Path, name: str) -> None:
        """Open a database file under a name, for reading only."""

    def run(self, statement: exp.Expr, *, as_written: bool = False) -> None:
        """Run a statement that returns nothing. `as_written` keeps the order of its joins."""

    def query(self, statement: exp.Expr, *, as_written: bool = False) -> pa.Table:
        """Run a query. `as_written` keeps the order of its joins."""

    def text(self, statement: exp.Expr, *, pretty: bool = False) -> str:
        """The statement in the engine's dialect."""

    def close(self) -> None:
        """Drop everything and disconnect."""
