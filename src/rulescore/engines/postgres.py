"""A PostgreSQL server: temporary tables of one session, statements in one repeatable-read transaction."""

from __future__ import annotations

import io
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.csv as csv
from sqlglot import exp

from rulescore.data.setting import EngineOptions
from rulescore.errors import EngineError
from rulescore.sql.build import text

_TYPES = {
    pa.int8(): "SMALLINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE PRECISION",
    pa.string(): "TEXT",
    pa.large_string(): "TEXT",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
}
_READ = {16: pa.bool_(), 20: pa.int64(), 21: pa.int64(), 23: pa.int32(), 25: pa.string(), 1043: pa.string(), 700: pa.float64(), 701: pa.float64(), 1082: pa.date32(), 1700: pa.decimal128(38, 0)}


class PostgresEngine:
    dialect = "postgres"

    def __init__(self, options: EngineOptions) -> None:
        self._connection = psycopg.connect(options.url, autocommit=False)
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

    def load(self, name: str, rows: pa.Table) -> None:
        columns = ", ".join(f'"{f.name}" {_TYPES[f.type]}' for f in rows.schema)
        self._do(f'CREATE TEMP TABLE "{name}" ({columns})')
        self.append(name, rows)

    def append(self, name: str, rows: pa.Table) -> None:
        out = pa.BufferOutputStream()
        csv.write_csv(rows.combine_chunks(), out, csv.WriteOptions(include_header=False, quoting_style="all_valid"))
        with self._connection.cursor() as cursor, cursor.copy(f'COPY "{name}" FROM STDIN (FORMAT csv)') as copy:
            copy.write(out.getvalue().to_pybytes())

    def attach(self, database: Path, name: str) -> None:
        raise EngineError("cannot attach")

    def run(self, statement: exp.Expr, *, as_written: bool = False) -> None:
        self._do(self.text(statement))

    def _do(self, sql: str) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql)
        except psycopg.Error as error:
            self._connection.rollback()
            raise EngineError(f"{error}\n{sql[:3000]}") from error

    def query(self, statement: exp.Expr, *, as_written: bool = False) -> pa.Table:
        sql = self.text(statement)
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql)
                names = [c.name for c in cursor.description]
                types = [_type(c.type_code) for c in cursor.description]
                rows = cursor.fetchall()
        except psycopg.Error as error:
            self._connection.rollback()
            raise EngineError(f"{error}\n{sql[:3000]}") from error
        columns = list(zip(*rows)) if rows else [()] * len(names)
        return pa.table([pa.array(list(c), t) for c, t in zip(columns, types)], names=names)

    def text(self, statement: exp.Expr, *, pretty: bool = False) -> str:
        return text(statement, self.dialect, pretty=pretty)

    def close(self) -> None:
        self._connection.close()


def _type(oid: int) -> pa.DataType | None:
    if oid == 1009 or oid == 1015:
        return pa.list_(pa.string())
    if oid == 1007:
        return pa.list_(pa.int32())
    return _READ.get(oid)
