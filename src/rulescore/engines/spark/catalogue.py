"""The tables and views of a Spark session."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from rulescore.engines.catalogue import Catalogue, Path, StoredColumn
from rulescore.errors import Diagnostic, InputError
from rulescore.sql.stored import StoredType


class SparkCatalogue(Catalogue):
    """Tables by their names, `catalog.database.table` with as many of the parts as the session needs."""

    def __init__(self, schema_of: Callable[[str], pa.Schema | None]) -> None:
        """`schema_of`: the columns of a table by its quoted name, None if there is no such table."""
        self._schema_of = schema_of

    def find(self, table: str) -> Path:
        path = tuple(table.split("."))
        if self._schema_of(_quoted(path)) is None:
            helps = ("name it as the session would: `database.table`",)
            raise InputError(Diagnostic("E936", f"Spark has no table `{table}`, or may not read it", helps=helps))
        return path

    def columns(self, path: Path) -> dict[str, StoredColumn]:
        schema = self._schema_of(_quoted(path))
        assert schema is not None
        return {field.name: _column(field.type) for field in schema}


def _quoted(path: Path) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in path)


def _column(kind: pa.DataType) -> StoredColumn:
    scale = kind.scale if pa.types.is_decimal(kind) else None
    return StoredColumn(str(kind), _stored_type(kind), scale)


def _stored_type(kind: pa.DataType) -> StoredType | None:
    for test, found in (
        (pa.types.is_string, StoredType.TEXT),
        (pa.types.is_large_string, StoredType.TEXT),
        (pa.types.is_integer, StoredType.INTEGER),
        (pa.types.is_floating, StoredType.FLOAT),
        (pa.types.is_decimal, StoredType.DECIMAL),
        (pa.types.is_boolean, StoredType.BOOLEAN),
        (pa.types.is_date, StoredType.DATE),
        (pa.types.is_timestamp, StoredType.INSTANT if getattr(kind, "tz", None) else StoredType.TIMESTAMP),
    ):
        if test(kind):
            return found
    return None
