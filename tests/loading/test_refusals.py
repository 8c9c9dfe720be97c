"""What an engine cannot do it says before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rulescore
from rulescore.arguments.project import stored_facts
from rulescore.arguments.python import make_setting
from rulescore.errors import InputError
from rulescore.session.session import Session
from rulescore.setting.model import DatabaseTable, FactBatch, FactStream, ModelPredictions, RowStream, Setting, TablePredictions
from targets import lacking

RULE = "P < 5.0 <- sale(id: A, price: P)."
PAIRS = "within(P, Q, {}) <- sale(id: A, price: P), sale(id: B, price: Q), A != B."


def unread(engine: object, rule: str, **table: Any) -> tuple[Setting, list[str]]:
    """A setting with facts and a table, and what of it is read."""
    read: list[str] = []
    rows = pa.table({"id": [1, 2], "price": [1.0, None]})

    def facts() -> Iterator[FactBatch]:
        read.append("facts")
        return iter(())

    def batches(names: Any) -> Iterator[pa.RecordBatch]:
        read.append("rows")
        return iter(rows.select(list(names)).to_batches())

    sale = rulescore.Table(rows, key="id", target="price", **table)
    setting = make_setting(None, None, rule, tables={"sale": sale}, engine=engine)
    streamed = replace(setting.tables[0], rows=RowStream("rows", lambda: rows.schema, batches))
    return replace(setting, observed=(FactStream("facts", facts),), tables=(streamed,)), read


def refused(setting: Setting, read: list[str], **options: Any) -> list[str]:
    with pytest.raises(InputError) as error, Session(setting, **options):
        pass
    assert read == []
    return [problem.code for problem in error.value.problems]


@pytest.mark.parametrize(
    "predictions",
    [
        ModelPredictions("m", (stored_facts("answers", model="m"),)),
        ModelPredictions("m", (), tables=(TablePredictions("sale", DatabaseTable(None, "prices")),)),
    ],
)
@pytest.mark.parametrize(("name", "code"), lacking("tables of its own"))
def test_tables_of_an_engine_that_has_none(
    engine_of: Callable[[str], object], name: str, code: str, predictions: ModelPredictions
) -> None:
    setting, read = unread(engine_of(name), RULE, hidden=[2])
    assert refused(replace(setting, predictions=(predictions,)), read) == [code]


@pytest.mark.parametrize(("name", "code"), lacking("tables of its own"))
def test_hidden_ids_of_an_engine_that_has_no_tables(engine_of: Callable[[str], object], name: str, code: str) -> None:
    assert refused(*unread(engine_of(name), RULE, hidden={"table": "held_out"})) == [code]


@pytest.mark.parametrize(("name", "code"), lacking("a database file"))
def test_database_files(engine_of: Callable[[str], object], tmp_path: Path, name: str, code: str) -> None:
    path = tmp_path / "some.duckdb"
    path.touch()
    found = unread(engine_of(name), RULE, hidden={"database": path, "table": "held_out"})
    assert refused(*found) == [code]


@pytest.mark.parametrize(("rule", "grid"), [(PAIRS.format("quantile(0.5)"), False), (PAIRS.format(1), True)])
@pytest.mark.parametrize(("name", "code"), lacking("a tolerance taken from rows"))
def test_tolerances_from_values_that_the_engine_keeps(
    engine_of: Callable[[str], object], name: str, code: str, rule: str, grid: bool
) -> None:
    assert refused(*unread(engine_of(name), rule), grid=grid) == [code]


@pytest.mark.xdist_group("spark")
def test_frames_of_another_engine(spark: Any) -> None:
    frame = spark.createDataFrame(pa.table({"id": [2], "prediction": [1.0]}))
    setting, read = unread("duckdb", RULE, hidden=[2])
    table = rulescore.Table(pa.table({"id": [1, 2], "price": [1.0, None]}), key="id", target="price", hidden=[2])
    given = make_setting(None, {"m": frame}, RULE, tables={"sale": table})
    assert refused(replace(setting, predictions=given.predictions), read) == ["E347"]
