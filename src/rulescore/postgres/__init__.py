"""PostgreSQL, the user's own server."""

from __future__ import annotations

from importlib.util import find_spec

from rulescore.engines.base import Engine
from rulescore.errors import MissingExtraError
from rulescore.setting.options import EngineOptions


def open_engine(options: EngineOptions) -> Engine:
    if find_spec("psycopg") is None:
        raise MissingExtraError("PostgreSQL", "postgres")
    from rulescore.postgres.engine import PostgresEngine

    return PostgresEngine(options)
