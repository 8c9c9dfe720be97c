"""The tables and views of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rulescore.engines.base import Engine
from rulescore.engines.catalogue import Path, SchemaCatalogue, StoredColumn, StoredRelation, listed
from rulescore.errors import Diagnostic, InputError, meant
from rulescore.sql import stored as sql
from rulescore.sql.stored import StoredType


class PostgresCatalogue(SchemaCatalogue):
    """The tables and views of a PostgreSQL database, as the role sees them."""

    def __init__(self, engine: Engine, searched: Sequence[str]) -> None:
        """`searched`: the schemas of the role's search path, in order. The session itself no longer searches them."""
        self._engine, self._searched = engine, searched
        self._known: list[StoredRelation] | None = None

    @property
    def relations(self) -> list[StoredRelation]:
        if self._known is None:
            rows = self._engine.query(sql.relations()).to_pylist()
            self._known = sorted((StoredRelation(**row) for row in rows), key=lambda one: one.full)
        return self._known

    def schemas(self) -> list[str]:
        names: list[str] = self._engine.query(sql.schemas())["schema"].to_pylist()
        return names

    def find(self, table: str) -> Path:
        """Schema and name of a table. The user may leave the schema out if the search path finds the table."""
        found = [one for one in self.relations if one.full == table]
        if not found and (visible := self._visible().get(table)) is not None:
            found = [visible]
        if not found:
            raise InputError(self._unknown(table))
        if len(found) > 1:
            both = " and ".join(f"`{one.name}` of schema `{one.schema}`" for one in found)
            helps = ("give one of them another name by a view",)
            raise InputError(Diagnostic("E922", f"`{table}` may be {both}", helps=helps))
        if not found[0].readable:
            helps = ("grant it `SELECT` on the table, and `USAGE` on its schema",)
            raise InputError(Diagnostic("E922", f"the role may not read `{table}`", helps=helps))
        return found[0].schema, found[0].name

    def _visible(self) -> dict[str, StoredRelation]:
        """The tables that need no schema. Of several with one name: the table in the schema that is searched first."""
        return {one.name: one for schema in reversed(self._searched) for one in self.relations if one.schema == schema}

    def _unknown(self, table: str) -> Diagnostic:
        visible = self._visible()
        shown = [one.name if visible.get(one.name) is one else one.full for one in self.relations if one.readable]
        helps = meant(table, dict.fromkeys([*shown, *(one.full for one in self.relations)]))
        notes = (f"tables that can be read are {listed(shown)}", "capital letters count")
        return Diagnostic("E922", f"the database has no table `{table}`", notes=notes, helps=helps)

    def columns(self, path: Path) -> dict[str, StoredColumn]:
        rows = self._engine.query(sql.columns_of(*path)).to_pylist()
        return {row["name"]: _column(row) for row in rows}

    def tables_of(self, schema: str) -> dict[str, dict[str, StoredColumn]]:
        readable = {one.name for one in self.relations if one.schema == schema and one.readable}
        found: dict[str, dict[str, StoredColumn]] = {name: {} for name in sorted(readable)}
        for row in self._engine.query(sql.columns_of(schema)).to_pylist():
            if row["table"] in found:
                found[row["table"]][row["name"]] = _column(row)
        return found


def _column(row: Mapping[str, object]) -> StoredColumn:
    name, kind, modifier = str(row["type"]), row["kind"], row["modifier"]
    if row["cast_by_function"]:
        return StoredColumn(f"{name}, which a function of another schema converts", None)
    # Anybody may give a composite type the name of a plain type.
    found = StoredType.TEXT if kind == "e" else sql.STORED_TYPES.get(name) if kind == "b" else None
    # The lower 11 bits of a numeric's modifier are its scale, which may be negative; no modifier, no scale.
    scale = None if not isinstance(modifier, int) or modifier < 4 else ((modifier - 4 & 2047) ^ 1024) - 1024
    return StoredColumn(name, found, max(0, scale) if scale is not None else None)
