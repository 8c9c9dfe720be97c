"""From an engine's address to an engine; its library is imported only then."""

from __future__ import annotations

from rulescore.data.setting import EngineOptions
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError

CODES = {
    "E901": "an engine refuses one of its options",
    "E902": "an engine that is not known",
}


def connect(options: EngineOptions) -> Engine:
    if options.url == "duckdb":
        from rulescore.engines.duckdb import DuckDBEngine

        return DuckDBEngine(options)
    if options.url.startswith(("postgresql:", "host=")):
        from rulescore.engines.postgres import PostgresEngine

        return PostgresEngine(options)
    raise InputError(Diagnostic("E902", f"there is no engine `{options.url}`", helps=("the engine of this version is `duckdb`",)))
