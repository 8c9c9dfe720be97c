"""The interface of engines. Statements arrive as trees, or as queries that make one; rows come and go as Arrow.

An engine that is opened with options it cannot keep raises an InputError with a code before anything starts. It runs one statement
at a time, obeys Ctrl-C meanwhile (see worker.py), and raises an EngineError if the statement fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from rulescore.engines.catalogue import Catalogue
from rulescore.engines.log import logged
from rulescore.sql.query import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an engine can do and what it does well. Code that depends on a capability tests for it, never for the engine."""

    fetches_rows: bool = True
    """We may bring any number of rows here: contributions, and values to sort or to take a tolerance from. Without it results come
    back added up, and as rows only if the user asks for them."""
    cheap_statements: bool = True
    """A statement that reads few rows takes little time. Without it we make one table for many predicates, and views on it."""
    statements_at_once: int = 1
    """How many counting statements we unite into one: several if planning a statement takes longer than running it."""
    reads_parquet: bool = False
    """`read_natively` takes Parquet files."""
    writes_parquet: bool = False
    """The engine implements `write`."""
    longest_name: int | None = None
    """The number of bytes to which the engine cuts names; None if it cuts none."""


class Engine(ABC):
    """A database session that holds temporary tables under the reserved prefix."""

    dialect: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    def load(self, name: str, rows: pa.Table) -> None:
        """Create a temporary table from Arrow rows."""
        logged(lambda: f"-- rows for {name}", lambda: self._load(name, rows), lambda _: rows.num_rows)

    def append(self, name: str, rows: pa.Table) -> None:
        """Add Arrow rows to a table made by `load`."""
        logged(lambda: f"-- further rows for {name}", lambda: self._append(name, rows), lambda _: rows.num_rows)

    @abstractmethod
    def attach(self, database: Path, name: str) -> None:
        """Open a database file under a name, read-only, before any other call. InputError if the engine reads no such files."""

    def read_natively(self, rows: Sequence[Path] | object) -> str | None:
        """A name under which `catalogue` finds the rows of Parquet files, or of a frame of the engine's own library, as a table;
        None if the engine cannot read them itself: then we must."""
        return None

    @abstractmethod
    def catalogue(self) -> Catalogue | None:
        """The user's own tables that statements can read; None if the engine has no database but ours."""

    def run(self, statement: Statement, *, as_written: bool = False) -> None:
        """Run a statement that returns nothing. `as_written` keeps the order of its joins."""
        logged(lambda: self._shown(statement), lambda: self._run(statement, as_written), lambda rows: rows)

    def query(self, statement: Statement, *, as_written: bool = False) -> pa.Table:
        """Run a query. `as_written` keeps the order of its joins."""
        return logged(lambda: self._shown(statement), lambda: self._query(statement, as_written), lambda rows: rows.num_rows)

    def write(self, query: Statement, folder: Path) -> None:
        """Write the rows of a query as Parquet files of a folder, without bringing them here. Needs `writes_parquet`."""
        logged(lambda: self._shown(query), lambda: self._write(query, folder), lambda _: None)

    def scratch_tables(self) -> AbstractContextManager[None]:
        """Context manager for work that drops every table it makes. If an engine's session keeps a resource for every table it ever
        made, dropped or not, the engine releases those at the end."""
        return nullcontext()

    @abstractmethod
    def text(self, statement: Statement, *, pretty: bool = False) -> str:
        """The statement in the engine's dialect."""

    @abstractmethod
    def explain(self, sql: str) -> str:
        """The engine's plan for a query in its own dialect, as the engine writes it. The query is not run."""

    @abstractmethod
    def cancel(self) -> None:
        """Stop the running statement. Called from another thread, more than once if need be."""

    @abstractmethod
    def close(self) -> None:
        """Drop everything and disconnect."""

    # Each engine implements these for the public methods of the same names.

    @abstractmethod
    def _load(self, name: str, rows: pa.Table) -> None: ...

    @abstractmethod
    def _append(self, name: str, rows: pa.Table) -> None: ...

    @abstractmethod
    def _run(self, statement: Statement, as_written: bool) -> int | None:
        """The number of rows that the statement made, if the engine reports it."""

    @abstractmethod
    def _query(self, statement: Statement, as_written: bool) -> pa.Table: ...

    def _write(self, query: Statement, folder: Path) -> None:
        raise NotImplementedError

    def _shown(self, statement: Statement) -> str:
        """A statement for the log."""
        return f"{self.text(statement)};"
