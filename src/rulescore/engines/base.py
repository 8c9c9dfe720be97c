"""What an engine has to do. Statements arrive as sqlglot trees; tables come and go as Arrow.

An engine refuses options that it cannot keep when it is opened, with a code, before anything starts. It runs one statement at a
time and hears Ctrl-C while it does (see worker.py); what fails is raised as an EngineError.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa
from sqlglot import exp

from rulescore.engines.catalogue import Catalogue


class Engine(Protocol):
    """A database session that holds temporary tables under the reserved prefix."""

    dialect: str
    statements_at_once: int
    """How many statements that count are asked as one, where planning a statement takes longer than running it."""
    longest_name: int | None
    """The bytes after which a name is cut; None where no name is."""

    def load(self, name: str, rows: pa.Table) -> None:
        """Create a temporary table from Arrow rows."""

    def append(self, name: str, rows: pa.Table) -> None:
        """Add Arrow rows to a table made by `load`."""

    def attach(self, database: Path, name: str) -> None:
        """Open a database file under a name, for reading only, before anything else is asked. InputError where the engine reads
        no files."""

    def adopt(self, rows: Sequence[Path] | object) -> str | None:
        """A name for the rows of Parquet files, or of a frame of the engine's own library, under which `catalogue` finds them as a
        table; None where the engine does not read them by itself."""

    def catalogue(self) -> Catalogue | None:
        """The user's own tables that statements can read; None where the engine has no database but ours."""

    def run(self, statement: exp.Expr, *, as_written: bool = False) -> None:
        """Run a statement that returns nothing. `as_written` keeps the order of its joins."""

    def query(self, statement: exp.Expr, *, as_written: bool = False) -> pa.Table:
        """Run a query. `as_written` keeps the order of its joins."""

    def text(self, statement: exp.Expr, *, pretty: bool = False) -> str:
        """The statement in the engine's dialect."""

    def explain(self, sql: str) -> str:
        """The plan that the engine has for a query in its own dialect, as the engine writes it. Nothing is counted."""

    def cancel(self) -> None:
        """Make the engine give up the statement that runs; called from another thread, more than once if need be."""

    def close(self) -> None:
        """Drop everything and disconnect."""


@runtime_checkable
class LockingEngine(Engine, Protocol):
    """An engine whose session holds something for every table it ever made, dropped or not."""

    def for_a_while(self) -> AbstractContextManager[None]:
        """Take back everything that is made while it lasts."""


def for_a_while(engine: Engine) -> AbstractContextManager[None]:
    """Tables that are made while it lasts are also dropped while it lasts, and then leave no trace."""
    return engine.for_a_while() if isinstance(engine, LockingEngine) else nullcontext()


@runtime_checkable
class KeepingEngine(Engine, Protocol):
    """An engine that keeps rows: results come back added up, and as rows only where they are asked for."""

    def write(self, query: exp.Expr, folder: Path) -> None:
        """Write the rows of a query as Parquet files of a folder, without bringing them here."""
