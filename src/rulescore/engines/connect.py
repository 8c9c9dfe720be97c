"""Opens the engine at an address. We import an engine's library only when we open that engine."""

from __future__ import annotations

from importlib.util import find_spec

from rulescore.engines.base import Engine
from rulescore.engines.log import follow_environment
from rulescore.errors import Diagnostic, InputError, MissingExtraError, masked_address
from rulescore.setting.options import EngineOptions

_POSTGRES = ("postgresql://", "postgres://")
_SPARK = ("spark://", "sc://")


def connect(options: EngineOptions) -> Engine:
    follow_environment()
    if options.session is None and options.url == "duckdb":
        from rulescore.engines.duckdb import DuckDBEngine

        return DuckDBEngine(options)
    if options.url.startswith(_POSTGRES):
        if find_spec("psycopg") is None:
            raise MissingExtraError("PostgreSQL", "postgres")
        from rulescore.engines.postgres.engine import PostgresEngine

        return PostgresEngine(options)
    if options.session is not None or options.url.startswith(_SPARK):
        if find_spec("pyspark") is None:
            raise MissingExtraError("Spark", "spark")
        from rulescore.engines.spark.engine import SparkEngine

        return SparkEngine(options)
    helps = (
        "the engines are `duckdb`, which is the default, `postgresql://user@host/database`, `spark://local[*]`, "
        "`spark://host:7077` and `sc://host:15002`",
    )
    raise InputError(Diagnostic("E902", f"there is no engine `{masked_address(options.url)}`", helps=helps))
