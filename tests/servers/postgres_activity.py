"""What tests of the PostgreSQL engine have in common: statements, and a look at who is connected."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from sqlglot import exp, parse_one

from rulescore.engines.base import Engine, connect
from rulescore.setting.options import EngineOptions
from servers.postgres import READER, Server

TABLE = "__rulescore__t"
# Hours on any machine: it must not end by itself before it is stopped.
ENDLESS = "SELECT count(*) AS v FROM generate_series(1, 10000000) AS a, generate_series(1, 1000000) AS b"


@pytest.fixture(name="engine")
def opened_engine(postgres: Server) -> Iterator[Engine]:
    engine = connect(EngineOptions(url=postgres.url()))
    yield engine
    engine.close()


def statement(text: str) -> exp.Expr:
    return parse_one(text, dialect="postgres")


def sessions(server: Server) -> list[tuple[object, ...]]:
    """The sessions of ours, with what they do. Nothing that they have made outlives them, since nothing is ever committed. A server
    takes a moment to end one whose client has left."""
    for _ in range(500):
        found = server.ask(f"SELECT pid, state, query FROM pg_stat_activity WHERE usename = '{READER}'")
        if not found:
            return []
        time.sleep(0.02)
    return found
