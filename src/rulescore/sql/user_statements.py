"""Statements that users write: whether such a statement is a single query, which only reads."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import duckdb
from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

_NO_PART_OF_QUERIES = (exp.DML, exp.DDL, exp.Drop, exp.Alter, exp.Command, exp.Into, exp.Lock)


def not_one_query(statement: str, dialect: str) -> str | None:
    """Why a text is not one query; None if it is. DuckDB's own parser decides for DuckDB, sqlglot's for other dialects."""
    try:
        if dialect == "duckdb":
            found = duckdb.extract_statements(statement)
            if [one.type for one in found] != [duckdb.StatementType.SELECT]:
                return _listed(str(one.type).rpartition(".")[2] for one in found)
            # The database refuses clauses that modify data in any query that is not the whole statement.
            return None
        with _library_silent():
            parsed = [one for one in parse(statement, read=dialect) if one is not None]
    except RecursionError:
        return "it is nested too deeply"
    except (duckdb.Error, SqlglotError) as error:
        return str(error).splitlines()[0]
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query | exp.Values):
        return _listed(type(one).__name__.upper() for one in parsed)
    other = next(parsed[0].find_all(*_NO_PART_OF_QUERIES), None)
    return None if other is None else f"it has `{type(other).__name__.upper()}` in it"


@contextmanager
def _library_silent() -> Iterator[None]:
    """Context manager: the parser would log a statement that it does not understand, with any passwords in it."""
    log = logging.getLogger("sqlglot")
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before


def _listed(kinds: Iterable[str]) -> str:
    return f"it is {' and '.join(f'`{one}`' for one in kinds) or 'nothing'}"
