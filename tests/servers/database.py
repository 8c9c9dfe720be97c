"""A database of the test's own on a PostgreSQL server, and a role that may only read it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import psycopg.sql

from servers.postgres import Server


@dataclass(frozen=True)
class Database:
    """`address` is its owner's, `reader` that of a role with SELECT and TEMP alone, whose name is `role`."""

    address: str
    reader: str
    role: str

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
        """Everything that lasts: tables with their owners, comments and rows."""
        found = self.rows(
            "SELECT n.nspname, c.relname, c.relowner::bigint, c.relfilenode::bigint, obj_description(c.oid), c.relacl::text, "
            "c.relkind::text, (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1, 2"
        )
        return [(*one, self._contents(str(one[0]), str(one[1])) if one[6] in ("r", "m") else None) for one in found]

    def _contents(self, schema: str, table: str) -> list[tuple[object, ...]]:
        name = psycopg.sql.Identifier(schema, table).as_string()
        return self.rows(f"SELECT t::text FROM {name} AS t ORDER BY 1")


@contextmanager
def own_database(server: Server) -> Iterator[Database]:
    name, reader = f"rulescore_{uuid.uuid4().hex}", f"reader_{uuid.uuid4().hex}"
    server.ask(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    server.ask(f"CREATE ROLE {reader} LOGIN")
    try:
        database = Database(server.url(user="postgres", database=name), server.url(user=reader, database=name), reader)
        database.run(
            f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
            f"GRANT CONNECT, TEMPORARY ON DATABASE {name} TO {reader}",
            f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {reader}",
            f"ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO {reader}",
        )
        yield database
    finally:
        server.ask(f"DROP DATABASE {name} WITH (FORCE)")
        server.ask(f"DROP ROLE {reader}")
