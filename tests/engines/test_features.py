"""Every feature on every engine: it works, or the engine refuses it with the code that targets.py says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.engines.base import connect
from rulescore.errors import InputError
from rulescore.session.session import Session
from rulescore.sql.names import name
from rulescore.sql.query import row, select
from targets import TARGETS, options_of, parameters

RULE = "P < 5.0 <- sale(id: A, price: P)."
PAIRS = "within(P, Q, quantile(0.5)) <- sale(id: A, price: P), sale(id: B, price: Q), A != B."
ROWS = pa.table({"id": [1, 2, 3], "price": [1.0, 2.0, None]})


def opened(engine: Any, rule: str = RULE, **options: Any) -> None:
    sale = rulescore.Table(ROWS, key="id", target="price", **options)
    with Session(make_setting(None, None, rule, tables={"sale": sale}, engine=engine)):
        pass


def with_option(engine: Any, **options: Any) -> None:
    connect(options_of(engine, **options)).close()


def with_nul(engine: Any) -> None:
    session = connect(options_of(engine))
    try:
        session.load(name("words"), pa.table({"word": ["a\0b"]}))
        assert session.query(select("*").from_(row(name("words"), "w")))["word"].to_pylist() == ["a\0b"]
    finally:
        session.close()


def with_database_file(engine: Any, folder: Path) -> None:
    with duckdb.connect(folder / "held.duckdb") as database:
        database.execute("CREATE TABLE held_out AS SELECT 3 AS id")
    opened(engine, hidden={"database": folder / "held.duckdb", "table": "held_out"})


def with_own_tables(engine: Any) -> None:
    """An engine that has tables looks for this one, and says that there is none."""
    with pytest.raises(InputError) as error:
        opened(engine, hidden={"table": "no_such_table"})
    if error.value.problems[0].code != "E337":
        raise error.value


FEATURES: dict[str, Callable[[Any, Path], None]] = {
    "memory_limit": lambda engine, folder: with_option(engine, memory_limit="8GB"),
    "threads": lambda engine, folder: with_option(engine, threads=1),
    "spill_folder": lambda engine, folder: with_option(engine, spill_folder=folder / "spilled"),
    "timeout": lambda engine, folder: with_option(engine, timeout=60),
    "the character NUL": lambda engine, folder: with_nul(engine),
    "a database file": with_database_file,
    "tables of its own": lambda engine, folder: with_own_tables(engine),
    "a tolerance taken from rows": lambda engine, folder: opened(engine, PAIRS),
}


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("engine_name", parameters())
def test_a_feature_works_or_is_refused_with_its_code(
    engine_name: str, feature: str, engine_of: Callable[[str], Any], tmp_path: Path
) -> None:
    engine, lack = engine_of(engine_name), TARGETS[engine_name].cannot.get(feature)
    if lack is None:
        FEATURES[feature](engine, tmp_path)
        return
    with pytest.raises(InputError) as error:
        FEATURES[feature](engine, tmp_path)
    assert [problem.code for problem in error.value.problems] == [lack.code]


def test_what_an_engine_lacks_is_a_feature() -> None:
    assert {feature for target in TARGETS.values() for feature in target.cannot} <= FEATURES.keys()
