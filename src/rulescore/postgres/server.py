"""A PostgreSQL server: its address and its tables and views. No message shows the password of the address."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from rulescore.engines.base import Engine
from rulescore.engines.catalogue import SchemaCatalogue, StoredColumn, StoredKey, StoredRelation, TablePath, listed
from rulescore.errors import Diagnostic, InputError, meant
from rulescore.sql import stored as sql
from rulescore.sql.stored import StoredType

_CONNECT_SECONDS = 30

# Defaults for settings that the address leaves out. With these we notice within two minutes that a server has vanished.
_SETTINGS = {"application_name": "rulescore", "keepalives_idle": 60, "keepalives_interval": 10, "keepalives_count": 6}


def connected(url: str) -> psycopg.Connection:
    """A connection to the server at an address."""
    known = _address(url)
    if not known.get("connect_timeout") and "PGCONNECT_TIMEOUT" not in os.environ:
        known["connect_timeout"] = _CONNECT_SECONDS
    for name, value in _SETTINGS.items():
        known.setdefault(name, value)
    try:
        return psycopg.connect(**known, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        notes = tuple(line.strip() for line in str(error).splitlines() if line.strip())
        raise InputError(Diagnostic("E912", f"no connection to `{_address_text(known)}`", notes=notes)) from None


def _address_text(known: Mapping[str, Any]) -> str:
    """The address of a server, with its place and user but without other parameters such as the password."""
    host, port = str(known.get("host") or ""), str(known.get("port") or "")
    apart = "/" in host or "," in host  # the host is a folder, or a list of servers
    user = f"{known['user']}@" if known.get("user") else ""
    place = "" if apart else f"{host}:{port}" if port else host
    parts = {"host": host if apart else "", "port": port if apart else "", "service": known.get("service")}
    rest = "&".join(f"{name}={value}" for name, value in parts.items() if value)
    return f"postgresql://{user}{place}/{known.get('dbname') or ''}" + (f"?{rest}" if rest else "")


def _address(url: str) -> dict[str, Any]:
    """The parts of an address. If it cannot be parsed we hide the library's own message, which may quote a password."""
    try:
        known = dict(conninfo_to_dict(url))
    except (psycopg.Error, UnicodeError):
        known = {"port": "?"}
    server, _, rest = url.partition("://")[2].partition("/")
    misplaced = server.count("@") > 1 or "@" in rest.partition("?")[0]
    if misplaced or not all(port.isdigit() for port in str(known.get("port") or "").split(",") if port):
        helps = (
            "write it like `postgresql://user@host:5432/database`",
            "the password may stand in PGPASSWORD or in ~/.pgpass; in an address, `@` and `/` of it are written `%40` and `%2F`",
        )
        raise InputError(Diagnostic("E912", "the address of the server cannot be understood", helps=helps))
    return known


class PostgresCatalogue(SchemaCatalogue):
    """The tables and views of a PostgreSQL database that the role can see."""

    def __init__(self, engine: Engine, searched: Sequence[str]) -> None:
        """`searched`: the schemas of the role's search path, in order. The session itself no longer searches them."""
        self._engine, self._searched = engine, searched
        self._known: list[StoredRelation] | None = None

    @property
    def relations(self) -> list[StoredRelation]:
        if self._known is None:
            rows = self._engine.query(sql.relations()).to_pylist()
            self._known = sorted((StoredRelation(**row) for row in rows), key=lambda relation: relation.full)
        return self._known

    def schemas(self) -> list[str]:
        names: list[str] = self._engine.query(sql.schemas())["schema"].to_pylist()
        return names

    def find(self, table: str) -> TablePath:
        """Schema and name of a table. The user may leave the schema out if the search path finds the table."""
        relations = [relation for relation in self.relations if relation.full == table]
        if not relations and (visible := self._visible().get(table)) is not None:
            relations = [visible]
        if not relations:
            raise InputError(self._unknown(table))
        if len(relations) > 1:
            both = " and ".join(f"`{relation.name}` of schema `{relation.schema}`" for relation in relations)
            helps = ("give one of them another name by a view",)
            raise InputError(Diagnostic("E337", f"`{table}` may be {both}", helps=helps))
        if not relations[0].readable:
            helps = ("grant it `SELECT` on the table, and `USAGE` on its schema",)
            raise InputError(Diagnostic("E337", f"the role may not read `{table}`", helps=helps))
        return relations[0].schema, relations[0].name

    def _visible(self) -> dict[str, StoredRelation]:
        """The tables that need no schema. If several have one name: the table in the schema that is searched first."""
        return {
            relation.name: relation
            for schema in reversed(self._searched)
            for relation in self.relations
            if relation.schema == schema
        }

    def _unknown(self, table: str) -> Diagnostic:
        visible = self._visible()
        shown = [
            relation.name if visible.get(relation.name) is relation else relation.full
            for relation in self.relations
            if relation.readable
        ]
        helps = meant(table, dict.fromkeys([*shown, *(relation.full for relation in self.relations)]))
        notes = (f"tables that can be read are {listed(shown)}", "capital letters count")
        return Diagnostic("E337", f"the database has no table `{table}`", notes=notes, helps=helps)

    def columns(self, path: TablePath) -> dict[str, StoredColumn]:
        rows = self._engine.query(sql.columns_of(*path)).to_pylist()
        return {row["name"]: _column(row) for row in rows}

    def keys(self) -> list[StoredKey]:
        rows = self._engine.query(sql.keys()).to_pylist()
        by_number = groupby(rows, key=itemgetter("schema", "table", "number", "other_schema", "other_table"))
        return [
            StoredKey(
                (schema, table),
                tuple(row["column"] for row in columns),
                None if other is None else (other_schema, other),
                () if other is None else tuple(row["other"] for row in columns),
            )
            for (schema, table, _, other_schema, other), group in by_number
            if (columns := list(group))
        ]

    def tables_of(self, schema: str) -> dict[str, dict[str, StoredColumn]]:
        readable = {relation.name for relation in self.relations if relation.schema == schema and relation.readable}
        tables: dict[str, dict[str, StoredColumn]] = {name: {} for name in sorted(readable)}
        for row in self._engine.query(sql.columns_of(schema)).to_pylist():
            if row["table"] in tables:
                tables[row["table"]][row["name"]] = _column(row)
        return tables


def _column(row: Mapping[str, object]) -> StoredColumn:
    name, kind, modifier = str(row["type"]), row["kind"], row["modifier"]
    if row["cast_by_function"]:
        return StoredColumn(f"{name}, which a function of another schema converts", None)
    # Anybody may give a composite type the name of a plain type, so we check the kind, too.
    stored_type = StoredType.TEXT if kind == "e" else sql.STORED_TYPES.get(name) if kind == "b" else None
    # The lower 11 bits of a numeric's modifier are its scale, which may be negative. Without a modifier, the type has no scale.
    scale = None if not isinstance(modifier, int) or modifier < 4 else ((modifier - 4 & 2047) ^ 1024) - 1024
    return StoredColumn(name, stored_type, max(0, scale) if scale is not None else None)
