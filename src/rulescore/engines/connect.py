"""From an engine's address to an engine; its library is imported only then."""

from __future__ import annotations

from importlib.util import find_spec

from rulescore.data.setting import EngineOptions
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, MissingExtraError, masked_address

CODES = {
    "E901": "an engine refuses one of its options",
    "E902": "an engine that is not known",
}

_POSTGRES = ("postgresql://", "postgres://")
_SPARK = ("spark://", "sc://")


def connect(options: EngineOptions) -> Engine:
    if options.session is None and options.url == "duckdb":
        from rulescore.engines.duckdb import DuckDBEngine

        return DuckDBEngine(options)
    if options.url.startswith(_POSTGRES):
        if find_spec("psycopg") is None:
            raise MissingExtraError("PostgreSQL", "postgres")
        from rulescore.engines.postgres import PostgresEngine

        return PostgresEngine(options)
    if options.session is not None or options.url.startswith(_SPARK):
        if find_spec("pyspark") is None:
            raise MissingExtraError("Spark", "spark")
        from rulescore.engines.spark import SparkEngine

        return SparkEngine(options)
    helps = (
        "the engines are `duckdb`, which is the default, `postgresql://user@host/database`, `spark://local[*]`, "
        "`spark://host:7077` and `sc://host:15002`",
    )
    raise InputError(Diagnostic("E902", f"there is no engine `{masked_address(options.url)}`", helps=helps))
