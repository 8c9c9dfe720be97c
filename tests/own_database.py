"""A database of the test's own on a PostgreSQL server, and a role that may only read it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

SERVER = "RULESCORE_TEST_POSTGRES"


def server() -> str:
    """The address of a role that may make databases. Without one the test is skipped; in CI there has to be one."""
    address = os.environ.get(SERVER)
    if address is None:
        message = f"needs a PostgreSQL server, whose address {SERVER} holds"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return address


@dataclass(frozen=True)
class Database:
    """`address` is its owner's, `reader` that of a role with SELECT and TEMP alone."""

    address: str
    reader: str

    def run(self, *statements: str) -> None:
        with psycopg.connect(self.address) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.address) as connection:
            return connection.execute(query.encode()).fetchall()

    def number(self, query: str) -> int:
        ((found,),) = self.rows(query)
        assert isinstance(found, int)
        return found

    def state(self) -> list[tuple[object, ...]]:
        """Everything that lasts: tables with their owners, comments and rows written."""
        return self.rows(
            "SELECT n.nspname, c.relname, c.relowner::bigint, c.relfilenode::bigint, obj_description(c.oid), c.relacl::text, "
            "pg_relation_size(c.oid), (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1, 2"
        )


@contextmanager
def own_database() -> Iterator[Database]:
    name, reader = f"rulescore_{uuid.uuid4().hex}", f"reader_{uuid.uuid4().hex}"
    admin = server()
    statements = ("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", "CREATE ROLE {} LOGIN")
    with psycopg.connect(admin, autocommit=True) as connection:
        for statement, what in zip(statements, (name, reader), strict=True):
            connection.execute(sql.SQL(statement).format(sql.Identifier(what)))
    try:
        database = Database(_address(admin, name), _address(admin, name, user=reader))
        database.run(
            f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
            f"GRANT CONNECT, TEMPORARY ON DATABASE {name} TO {reader}",
            f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {reader}",
            f"ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO {reader}",
        )
        yield database
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(reader)))


def _address(admin: str, name: str, **changes: str) -> str:
    known = {key: str(value) for key, value in conninfo_to_dict(admin).items() if key != "dbname"}
    return f"postgresql:///{name}?{urlencode(known | changes)}"
