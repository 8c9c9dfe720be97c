"""Tables with keys in the engine: what is observed, hidden and predicted, and everything that is refused."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from rulescore.arguments.python import make_setting
from rulescore.arguments.tables import Table
from rulescore.engines.base import Engine, connect
from rulescore.engines.duckdb import DuckDBEngine
from rulescore.errors import Diagnostic, InputError
from rulescore.language.syntax import Program
from rulescore.loading.facts import Loaded, StagedFacts, load
from rulescore.loading.tables import LoadedTable, load_tables
from rulescore.logic.rules import wanted_by
from rulescore.session.session import Session
from rulescore.setting.model import Setting
from rulescore.setting.options import EngineOptions
from rulescore.sql.query import every_row
from rulescore.values import ValueType, restored

pytestmark = pytest.mark.slow

SALES = {
    "id": [1, 2, 3, 4],
    "price": [100.0, 200.0, 300.0, None],
    "surface": [10, 20, 0, 40],
    "zip": ["44000", "44000", "44100", None],
    "split": ["train", "test", "train", "test"],
}
HIDDEN = {"column": "split", "values": ["test"]}


@pytest.fixture
def engine() -> Iterator[Engine]:
    connected = connect(EngineOptions(threads=1))
    yield connected
    connected.close()


def rows_of(engine: Engine, source: LoadedTable, which: str | None) -> list[dict[str, Any]]:
    """The rows of a table by the names of its attributes, in order of their keys."""
    assert which is not None
    names = {column.name: attribute for attribute, column in source.columns.items()}
    found = engine.query(every_row(which)).to_pylist()
    rows = [{names.get(field, field): value for field, value in row.items()} for row in found]
    return sorted(rows, key=lambda row: str([row[key] for key in source.key]))


def opened(engine: Engine, setting: Setting, **used: set[str]) -> tuple[dict[str, LoadedTable], Loaded]:
    """Tables with their predicted rows, and the facts."""
    tables = load_tables(engine, setting, used)
    _, _, wanted = wanted_by(setting, Program(()))
    return tables, load(engine, setting, wanted, tables, StagedFacts(engine, setting))


def sale(rows: object = SALES, **options: Any) -> dict[str, Table]:
    return {"sale": Table(rows, **{"key": "id", "target": "price", "hidden": HIDDEN, **options})}


def problems_of(call: Callable[[], object]) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as raised:
        call()
    return raised.value.problems


def loading_problems(
    tables: dict[str, Table], predictions: Any = None, facts: Any = None, **used: set[str]
) -> list[tuple[str, str]]:
    engine = connect(EngineOptions(threads=1))
    try:
        found = problems_of(lambda: opened(engine, make_setting(facts, predictions, "", tables=tables), **used))
    finally:
        engine.close()
    return [(problem.code, problem.message) for problem in found]


def test_only_the_target_of_a_hidden_row_is_masked(engine: Engine) -> None:
    tables, _ = opened(engine, make_setting(None, None, "", tables=sale()), sale={"zip", "surface"})
    found = tables["sale"]
    assert (found.rows, found.hidden, found.predicted) == (4, 2, None)
    assert rows_of(engine, found, found.observed) == [
        {"id": 1, "price": 100.0, "surface": 10, "zip": "44000"},
        {"id": 2, "price": None, "surface": 20, "zip": "44000"},
        {"id": 3, "price": 300.0, "surface": 0, "zip": "44100"},
        {"id": 4, "price": None, "surface": 40, "zip": None},
    ]


def test_only_the_columns_that_are_used_are_loaded(engine: Engine) -> None:
    tables, _ = opened(engine, make_setting(None, None, "", tables=sale()), sale={"zip", "nowhere"})
    assert list(tables["sale"].columns) == ["id", "price", "zip"]
    assert set(tables["sale"].attributes) == set(SALES)


def test_a_derived_attribute_is_computed_from_what_is_observed_and_from_what_is_predicted(engine: Engine) -> None:
    derived = {"price_m2": "price / surface", "twice": "price_m2 * 2", "large": "surface + 1"}
    setting = make_setting(None, {"ridge": {2: 250.0, 4: 80.0}}, "", tables=sale(derived=derived))
    tables, loaded = opened(engine, setting, sale={"twice", "large", "surface"})
    found = tables["sale"]
    assert found.from_target == {"price", "price_m2", "twice"}
    assert [row["twice"] for row in rows_of(engine, found, found.observed)] == [20.0, None, None, None]
    assert rows_of(engine, found, found.predicted) == [
        {"prediction": 0, "id": 2, "price": 250.0, "surface": 20, "large": 21, "twice": 25.0},
        {"prediction": 1, "id": 4, "price": 80.0, "surface": 40, "large": 41, "twice": 4.0},
    ]
    assert loaded.predictions["ridge"].distinct == 2


def test_models_share_predictions_of_one_value_and_coverage_is_told_of_each(engine: Engine) -> None:
    predictions = {"first": {2: 250, 4: 1}, "second": {2: 250.0, 4: 2}, "third": [{"id": 2, "prediction": 7}]}
    tables, loaded = opened(engine, make_setting(None, predictions, "", tables=sale()))
    found = tables["sale"]
    predicted = sorted((row["id"], row["price"]) for row in rows_of(engine, found, found.predicted))
    assert predicted == [(2, 7.0), (2, 250.0), (4, 1.0), (4, 2.0)]
    assert [(one.hidden, one.covered, one.distinct) for one in loaded.predictions.values()] == [(2, 2, 2), (2, 2, 2), (2, 1, 1)]


def test_equal_predictions_for_one_id_count_once(engine: Engine) -> None:
    rows = {"id": [2, 2, 4], "prediction": [5.0, 5.0, 6.0]}
    _, loaded = opened(engine, make_setting(None, {"ridge": rows}, "", tables=sale()))
    found = loaded.predictions["ridge"]
    assert (found.rows, found.distinct, found.duplicates, found.covered) == (3, 2, 1, 2)


def test_predicted_facts_have_no_coverage(engine: Engine) -> None:
    facts = [("a", "p", "b")]
    _, loaded = opened(engine, make_setting(facts, {"first": facts, "second": {"sale": {2: 1.0}}}, "", tables=sale()))
    assert [(one.hidden, one.covered) for one in loaded.predictions.values()] == [(None, None), (2, 1)]


def test_a_key_of_several_columns_names_rows_and_predictions(engine: Engine) -> None:
    rows = {"year": [2020, 2020, 2021], "number": ["a", "b", "a"], "price": [1.5, 2.5, 3.5]}
    table_ = Table(rows, key=["year", "number"], target="price", hidden=[(2020, "b"), (2021, "a")])
    predictions = {"mapping": {(2020, "b"): 9}, "frame": pl.DataFrame({"number": ["a"], "prediction": [8], "year": [2021]})}
    tables, loaded = opened(engine, make_setting(None, predictions, "", tables={"sale": table_}))
    found = tables["sale"]
    assert [row["price"] for row in rows_of(engine, found, found.observed)] == [1.5, None, None]
    predicted = [{k: v for k, v in row.items() if k != "prediction"} for row in rows_of(engine, found, found.predicted)]
    assert predicted == [{"year": 2020, "number": "b", "price": 9.0}, {"year": 2021, "number": "a", "price": 8.0}]
    assert [one.arity for one in loaded.predicted] == [3]


VALUES = {
    "text": ["a", "\x01n5", "", None],
    "flag": [True, False, None, True],
    "day": [datetime.date(2020, 2, 29), datetime.date(1969, 1, 1), None, datetime.date(9999, 12, 31)],
    "whole": [-(2**63), 2**63 - 1, 0, None],
    "number": [0.1, -1e300, 5e-324, None],
}


@pytest.mark.parametrize("target", VALUES)
def test_predictions_of_every_type_come_back_as_they_were(engine: Engine, target: str) -> None:
    """They pass through the keys of constants, as predictions of facts do."""
    rows = {"id": [1, 2, 3, 4], "value": VALUES[target]}
    known = {number: value for number, value in zip(rows["id"], rows["value"], strict=True) if value is not None}
    described = Table(rows, key="id", target="value", hidden=[1, 2, 3, 4])
    tables, _ = opened(engine, make_setting(None, {"truth": known}, "", tables={"t": described}))
    found = tables["t"]
    assert {row["id"]: row["value"] for row in rows_of(engine, found, found.predicted)} == known


@pytest.mark.parametrize(
    "ids", [[1, 2], ["a", "\x01s"], [0.5, 1e22], [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], [True, False]]
)
def test_rows_are_found_by_keys_of_every_type(engine: Engine, ids: list[Any]) -> None:
    described = Table({"key": ids, "value": [1, 2]}, key="key", target="value", hidden=ids)
    tables, _ = opened(engine, make_setting(None, {"truth": dict(zip(ids, [3, 4], strict=True))}, "", tables={"t": described}))
    found = tables["t"]
    assert {row["key"]: row["value"] for row in rows_of(engine, found, found.predicted)} == dict(zip(ids, [3, 4], strict=True))


def test_predictions_that_are_not_whole_make_a_target_of_whole_numbers_a_float(engine: Engine) -> None:
    rows = {"id": [1, 2], "count": [3, 4]}
    described = {"t": Table(rows, key="id", target="count", hidden=[2], derived={"twice": "count * 2"})}
    tables, _ = opened(engine, make_setting(None, {"first": {2: 5}, "second": {2: 4.5}}, "", tables=described), t={"twice"})
    found = tables["t"]
    assert {name: column.type for name, column in found.columns.items()} == {
        "id": ValueType.INTEGER,
        "count": ValueType.FLOAT,
        "twice": ValueType.FLOAT,
    }
    assert rows_of(engine, found, found.observed)[0] == {"id": 1, "count": 3.0, "twice": 6.0}
    assert sorted(row["twice"] for row in rows_of(engine, found, found.predicted)) == [9.0, 10.0]


def test_whole_predictions_keep_a_target_of_whole_numbers(engine: Engine) -> None:
    described = {"t": Table({"id": [1, 2], "count": [3, 4]}, key="id", target="count", hidden=[2])}
    tables, _ = opened(engine, make_setting(None, {"first": {2: 5.0}}, "", tables=described))
    assert tables["t"].columns["count"].type is ValueType.INTEGER
    assert rows_of(engine, tables["t"], tables["t"].predicted)[0]["count"] == 5


REACHED = {"code": "id = sale_address.sale, address = address.id, code"}
SALE_ADDRESS = {"sale": [1, 1, 2, 3], "address": ["a", "b", "c", "x"]}
ADDRESS = {"id": ["a", "b", "c"], "code": ["44000", "44000", None], "price": [1, 2, 3]}


def reached_tables(**options: Any) -> dict[str, Table]:
    return {
        **sale(reached={**REACHED, **options.pop("reached", {})}, **options),
        "sale_address": Table(SALE_ADDRESS),
        "address": Table(ADDRESS, key="id"),
    }


def test_an_attribute_is_reached_through_joins_and_missing_where_they_lead_nowhere(engine: Engine) -> None:
    tables, _ = opened(engine, make_setting(None, {"ridge": {2: 1, 4: 2}}, "", tables=reached_tables()), sale={"code"})
    found = tables["sale"]
    assert [row["code"] for row in rows_of(engine, found, found.observed)] == ["44000", None, None, None]
    assert [row["code"] for row in rows_of(engine, found, found.predicted)] == [None, None]
    assert set(tables) == {"sale", "address"}, "a table without key is only passed through"


def test_a_reached_attribute_with_different_values_in_a_row_is_refused() -> None:
    tables = reached_tables(reached={"size": "id = sale_address.sale, address = address.id, price"})
    assert loading_problems(tables, sale={"size"}) == [("E341", "`size` of table `sale` has different values in 1 row: `1`")]


def test_hidden_rows_are_told_by_a_condition_by_values_or_by_ids(engine: Engine, tmp_path: Path) -> None:
    ids = tmp_path / "ids.csv"
    ids.write_text("row\n2\n4\n")
    database = tmp_path / "ids.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE hidden AS SELECT * FROM (VALUES (2), (4)) v(id)")
    forms: list[Any] = [
        HIDDEN,
        {"where": "surface >= 20"},
        'surface >= 20 and not split = "none"',
        "price_m2 = 10 and id = 2 or id = 4",
        {"path": ids},
        ids,
        [2, 4],
        pa.table({"id": [2.0, 4.0, 2.0]}),
        {"database": database, "table": "hidden"},
    ]
    for number, hidden in enumerate(forms):
        tables = {f"sale{number}": sale(hidden=hidden, derived={"price_m2": "price / surface"})["sale"]}
        connected = connect(EngineOptions(threads=1))
        found = load_tables(connected, make_setting(None, None, "", tables=tables), {})[f"sale{number}"]
        observed = rows_of(connected, found, found.observed)
        connected.close()
        assert [row["id"] for row in observed if row["price"] is None] == [2, 4], hidden


def test_a_value_that_hides_no_row_is_warned_of(engine: Engine) -> None:
    tables = load_tables(engine, make_setting(None, None, "", tables=sale(hidden={"column": "split", "values": ["tset"]})), {})
    (warning,) = tables["sale"].warnings
    assert warning.code == "W331"
    assert warning.message == "no row of table `sale` is hidden: `split` is nowhere `tset`"
    assert warning.notes == ("it has the values `test`, `train`",)


def test_a_condition_that_is_unknown_hides_nothing(engine: Engine) -> None:
    tables = load_tables(engine, make_setting(None, None, "", tables=sale(hidden='zip != "44000"')), {})
    assert tables["sale"].hidden == 1


def typed(values: list[Any], kind: pa.DataType) -> pa.Table:
    return pa.table({"id": pa.array(range(len(values))), "value": pa.array(values, kind)})


DAY = datetime.date(2020, 1, 31)
NOON = datetime.datetime(2020, 1, 31, 12)
MIDNIGHT = datetime.datetime(2020, 1, 31)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None], pa.int8(), ValueType.INTEGER),
        ([1, 2], pa.uint64(), ValueType.INTEGER),
        ([Decimal(7), None], pa.decimal128(20, 0), ValueType.INTEGER),
        ([Decimal("0.1"), None], pa.decimal128(20, 2), ValueType.FLOAT),
        ([0.5, None], pa.float32(), ValueType.FLOAT),
        (["a", None], pa.large_string(), ValueType.STRING),
        (["a", "b", "a"], pa.string(), ValueType.STRING),
        ([True, None], pa.bool_(), ValueType.BOOLEAN),
        ([DAY, None], pa.date32(), ValueType.DATE),
        ([DAY, None], pa.date64(), ValueType.DATE),
        ([MIDNIGHT, None], pa.timestamp("ns"), ValueType.DATETIME),
        ([NOON, None], pa.timestamp("s"), ValueType.DATETIME),
        ([datetime.datetime(1, 1, 1), datetime.datetime.max], pa.timestamp("us"), ValueType.DATETIME),
        ([NOON.replace(tzinfo=datetime.UTC), None], pa.timestamp("us", "Asia/Kathmandu"), ValueType.INSTANT),
    ],
)
def test_every_source_gives_the_same_values_of_the_same_types(
    engine: Engine, tmp_path: Path, values: list[Any], kind: pa.DataType, expected: ValueType
) -> None:
    rows = typed(values, kind)
    pq.write_table(rows, tmp_path / "rows.parquet")
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
    sources = {
        "arrow": Table(rows, key="id"),
        "dictionary": Table(rows.set_column(1, "value", rows["value"].dictionary_encode()), key="id"),
        "polars": Table(pl.from_arrow(rows), key="id"),
        "parquet": Table(tmp_path / "rows.parquet", key="id"),
        "database": Table(database=tmp_path / "rows.duckdb", table="t", key="id"),
    }
    if kind == pa.date64():  # of which Polars makes date-times
        del sources["polars"]
    tables = load_tables(engine, make_setting(None, None, "", tables=sources), {name: {"value"} for name in sources})
    wanted = [float(one) if expected is ValueType.FLOAT and one is not None else one for one in values]
    for name, found in tables.items():
        assert found.columns["value"].type is expected, name
        assert [restored(row["value"], expected) for row in rows_of(engine, found, found.observed)] == wanted, name


def test_a_database_is_only_read_and_may_have_schemas_and_views(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "housing.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA old; CREATE TABLE old."the sales" AS SELECT 1 AS id, 2.5::DECIMAL(9, 2) AS price')
        connection.execute('CREATE VIEW sales AS SELECT id + 1 AS id, price FROM old."the sales"')
    before = path.read_bytes()
    described = {
        "one": Table(database=path, table="old.the sales", key="id"),
        "two": Table(database=path, table="sales", key="id"),
    }
    tables = load_tables(engine, make_setting(None, None, "", tables=described), {"one": {"price"}, "two": {"price"}})
    assert [rows_of(engine, found, found.observed) for found in tables.values()] == [
        [{"id": 1, "price": 2.5}],
        [{"id": 2, "price": 2.5}],
    ]
    assert path.read_bytes() == before


def test_a_database_or_table_that_cannot_be_read_is_told(engine: Engine, tmp_path: Path) -> None:
    text = tmp_path / "text.duckdb"
    text.write_text("no database at all, but text that goes on for quite a while")
    path = tmp_path / "housing.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE sales(id INTEGER)")
    assert loading_problems({"a": Table(database=text, table="t", key="id")}) == [
        ("E337", f"`{text}` cannot be read as a database")
    ]
    found = problems_of(
        lambda: load_tables(
            engine,
            make_setting(None, None, "", tables={"a": Table(database=path, table="sale", key="id")}),
            {},
        )
    )
    assert [(one.code, one.notes, one.helps) for one in found] == [
        ("E337", ("its tables are `sales`",), ("did you mean `sales`?",))
    ]


def test_values_that_no_value_can_be_are_refused_where_the_column_is_used(tmp_path: Path) -> None:
    path = tmp_path / "odd.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1 AS id, [1] AS list, 170141183460469231731687303715884105727::HUGEINT AS huge, "
            "TIMESTAMP_NS '2020-01-31 12:00:00.000000001' AS fine, 'infinity'::TIMESTAMPTZ AS always, "
            "TIMESTAMP '10000-01-01 00:00:00' AS far"
        )
    in_place = {"t": Table(database=path, table="t", key="id")}
    fine, far = pa.array([1], pa.timestamp("ns")), pa.array([2**40], pa.timestamp("s"))
    columns = {"list": [[1]], "huge": pa.array([2**64 - 1], pa.uint64()), "fine": fine, "far": far, "always": far}
    frame = {"t": Table(pa.table({"id": [1], **columns}), key="id")}
    for tables in (in_place, frame):
        connected = connect(EngineOptions(threads=1))
        assert load_tables(connected, make_setting(None, None, "", tables=tables), {})["t"].rows == 1
        connected.close()
        assert [code for code, _ in loading_problems(tables, t={"list"})] == ["E321"]
        assert [code for code, _ in loading_problems(tables, t={"huge"})] == ["E314"]
        for column, reason in (("fine", "nanoseconds"), ("far", "year"), ("always", "year")):
            ((code, message),) = loading_problems(tables, t={column})
            assert code == "E314"
            assert reason in message


def test_nan_is_missing_in_pandas_and_refused_elsewhere_and_infinity_everywhere(engine: Engine) -> None:
    values = {"id": [1, 2], "x": [1.5, float("nan")]}
    tables = load_tables(engine, make_setting(None, None, "", tables={"t": Table(pd.DataFrame(values), key="id")}), {"t": {"x"}})
    assert [row["x"] for row in rows_of(engine, tables["t"], tables["t"].observed)] == [1.5, None]
    message = "`x` of table `t` is NaN or infinite in 1 row: `2`"
    assert loading_problems({"t": Table(pa.table(values), key="id")}, t={"x"}) == [("E314", message)]
    infinite = pd.DataFrame({"id": [1, 2], "x": [1.5, np.inf]})
    assert loading_problems({"t": Table(infinite, key="id")}, t={"x"}) == [("E314", message)]


@pytest.mark.parametrize(
    ("tables", "used", "expected"),
    [
        (sale(key="di"), {}, [("E320", "table `sale` has no column `di` for its key")]),
        (sale(target="prices"), {}, [("E320", "table `sale` has no column `prices` for its target")]),
        (sale(key=["id", "id"]), {}, [("E204", "a column of `sale` is named twice in its key, or is key and target")]),
        (
            sale({**SALES, "id": [1, 1, None, 1]}, hidden=None),
            {},
            [
                ("E345", "table `sale` has 1 row without a value for `id`, the key"),
                ("E345", "1 repeated key in table `sale`: `1`"),
            ],
        ),
        (
            sale(pa.table({"id": list(range(8)) * 2, "price": [1.0] * 16}), hidden=None),
            {},
            [("E345", "8 repeated keys in table `sale`: `0`, `1`, `2`, `3`, `4` and 3 more")],
        ),
        (sale(hidden=[2, 7, 9]), {}, [("E335", "2 hidden ids that table `sale` does not have: `7`, `9`")]),
        (sale(hidden=["a"]), {}, [("E351", "`id` is a string, and the table's column an integer")]),
        (
            sale(hidden={"column": "split", "values": [1]}),
            {},
            [("E335", "`split` of table `sale` is a string, and `1` is an integer")],
        ),
        (
            sale(hidden={"column": "spilt", "values": ["test"]}),
            {},
            [("E320", "table `sale` has no attribute `spilt`, which is to tell the hidden rows")],
        ),
        (sale(hidden="yaer > 3"), {}, [("E320", "table `sale` has no attribute `yaer`")]),
        (sale(hidden='surface > "a"'), {}, [("E206", "an integer is compared with a string")]),
        (sale(derived={"a": "pirce / surface"}), {}, [("E320", "table `sale` has no attribute `pirce`")]),
        (sale(derived={"a": "zip * 2"}), {}, [("E271", "`*` does not take a string and an integer")]),
        (sale(derived={"a": "a + 1"}), {}, [("E343", "`a` is computed from itself: `a` from `a`")]),
        (
            sale(derived={"a": "b + 1", "b": "c", "c": "b"}),
            {},
            [("E343", "`c` is computed from itself: `b` from `c` from `b`")],
        ),
        (sale(derived={"zip": "price"}), {}, [("E204", "table `sale` has two attributes `zip`")]),
        (
            sale({**SALES, "a": [DAY] * 4, "b": [DAY] * 4}, derived={"days": "a - b"}),
            {},
            [("E343", "`days` would be a duration")],
        ),
        (
            sale(reached={"x": "zip = nowhere.id, code"}),
            {},
            [("E341", "`x` is reached through table `nowhere`, but there is no such table")],
        ),
        (
            reached_tables(reached={"x": "id = address.id, code"}),
            {},
            [("E341", "`id` of `sale` is an integer, and `id` of `address` a string")],
        ),
        (
            reached_tables(reached={"x": "zip = address.id, cod"}),
            {},
            [("E320", "table `address` has no column `cod`, by which `x` is reached")],
        ),
        (
            sale(reached={"x": "id = sale.id, price"}),
            {},
            [("E341", "`x` is reached through `price`, which is the target of `sale`")],
        ),
    ],
)
def test_a_table_that_is_wrong_is_refused(
    tables: dict[str, Table], used: dict[str, set[str]], expected: list[tuple[str, str]]
) -> None:
    assert loading_problems(tables, **used) == expected


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        ({7: 1.0, 8: 2.0}, ("E352", "`ridge` predicts 2 ids that table `sale` does not have: `7`, `8`")),
        ({1: 1.0}, ("E353", "`ridge` predicts 1 id of table `sale` whose `price` is not hidden: `1`")),
        (
            {"id": [2, 2, 4, 4], "prediction": [1.0, 2.0, 1.0, 1.0]},
            ("E345", "`ridge` predicts different values for 1 id: `2`"),
        ),
        ({2: float("nan")}, ("E351", "`ridge` predicts NaN or infinity for 1 id: `2`")),
        ({2: float("inf"), 4: float("-inf")}, ("E351", "`ridge` predicts NaN or infinity for 2 ids: `2`, `4`")),
        ({2: None, 4: 1.0}, ("E351", "`ridge` has no prediction for 1 id that it lists: `2`")),
        ({None: 1.0, 2: 1.0}, ("E351", "`ridge` has 1 prediction without id")),
        ({2: "high"}, ("E351", "`prediction` is a string, and the table's column a float")),
        ({2: True}, ("E351", "`prediction` is a boolean, and the table's column a float")),
        ({"2": 1.0}, ("E351", "`id` is a string, and the table's column an integer")),
        ({2.5: 1.0}, ("E351", "1 value of `id` is not a whole number: `2.5`")),
        (
            {"id": [2], "guess": [1.0], "prediction": [[1]]},
            ("E351", "`prediction` is of a type without values, and the table's column a float"),
        ),
    ],
)
def test_predictions_that_are_wrong_are_refused_with_their_ids(predictions: Any, expected: tuple[str, str]) -> None:
    assert loading_problems(sale(), {"ridge": predictions}) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,prediction\n2,abc\n4,x1\n", ("E351", "2 values of `prediction` are not a number: `abc` for `2`, `x1` for `4`")),
        ("id,prediction\ntwo,1\n", ("E351", "1 value of `id` is not a whole number: `two`")),
        ("id,prediction\n2,NaN\n4,-inf\n", ("E351", "`ridge` predicts NaN or infinity for 2 ids: `2`, `4`")),
        ("id,prediction\n2,\n4,1\n", ("E351", "`ridge` has no prediction for 1 id that it lists: `2`")),
        ("id,guess\n2,1\n", ("E320", "there is no column `prediction`")),
        ("row,prediction\n2,1\n", ("E320", "there is no column `id`")),
        ("", ("E304", "there are no predictions")),
        ("id,prediction\n", ("E304", "there are no predictions")),
        ("id,prediction\n2\n", ("E310", "expected 2 columns, found 1")),
    ],
)
def test_a_text_file_of_predictions_that_is_wrong_is_refused(tmp_path: Path, text: str, expected: tuple[str, str]) -> None:
    path = tmp_path / "ridge.csv"
    path.write_text(text)
    assert loading_problems(sale(), {"ridge": path}) == [expected]


def test_text_files_of_predictions_take_the_types_of_the_table(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "ridge.csv"
    path.write_text("id,prediction\n2,12\n4,+1.5e1\n")
    tables, _ = opened(engine, make_setting(None, {"ridge": path}, "", tables=sale()))
    found = tables["sale"]
    assert [row["price"] for row in rows_of(engine, found, found.predicted)] == [12.0, 15.0]


def test_numbers_are_no_class_labels_but_text_in_a_file_is(engine: Engine, tmp_path: Path) -> None:
    described = {"node": Table({"id": [1, 2], "label": ["7", "8"]}, key="id", target="label", hidden=[2])}
    assert loading_problems(described, {"m": {2: 7}}) == [("E351", "`prediction` is an integer, and the table's column a string")]

    path = tmp_path / "m.csv"
    path.write_text("id,prediction\n2,7\n")
    tables, _ = opened(engine, make_setting(None, {"m": path}, "", tables=described))
    assert rows_of(engine, tables["node"], tables["node"].predicted)[0]["label"] == "7"


@pytest.mark.parametrize(("prediction", "found"), [(True, "a boolean"), ("high", "a string")])
def test_a_problem_of_predictions_names_the_type_that_the_column_has(prediction: object, found: str) -> None:
    described = {"t": Table({"id": [1, 2], "count": [3, 4]}, key="id", target="count", hidden=[2])}
    wanted = [("E351", f"`prediction` is {found}, and the table's column an integer")]
    assert loading_problems(described, {"m": {2: prediction}}) == wanted


def test_the_problems_of_all_models_are_told_together() -> None:
    found = loading_problems(sale(), {"first": {7: 1.0}, "second": {1: 1.0}, "third": {2: 1.0}})
    assert sorted(code for code, _ in found) == ["E352", "E353"]


def test_a_model_of_several_sources_is_their_union_and_may_not_contradict_itself(engine: Engine) -> None:
    first, second = pa.table({"id": [2], "prediction": [1.0]}), pa.table({"id": [4], "prediction": [2.0]})
    _, loaded = opened(engine, make_setting(None, {"m": [first, second]}, "", tables=sale()))
    assert loaded.predictions["m"].covered == 2
    third = pa.table({"id": [2], "prediction": [3.0]})
    assert [code for code, _ in loading_problems(sale(), {"m": [first, third]})] == ["E345"]


def test_top_k_says_nothing_of_values(engine: Engine) -> None:
    setting = make_setting(None, {"m": {2: 1.0}}, "", tables=sale(), top_k=1)
    assert [one.code for one in problems_of(lambda: load_tables(engine, setting, {}))] == ["E330"]


@pytest.mark.parametrize("predictions", [None, {"m": {"sale": {2: 1.0}}}])
@pytest.mark.parametrize("predicate", ["sale", "sale.price", "sale.zip"])
def test_a_table_and_a_predicate_of_facts_have_different_names(predicate: str, predictions: Any) -> None:
    found = loading_problems(sale(), predictions, {predicate: [("a", "b")]})
    assert found == [("E204", f"`{predicate}` is a predicate of the facts, and a table or an attribute")]


def test_predictions_of_a_target_do_not_come_as_facts_too() -> None:
    """A row would have two predicted values, and nobody would be told."""
    found = loading_problems(sale(), {"m": {"sale": {2: 1.0}, "sale.price": [(2, 8.0)]}})
    assert [code for code, _ in found] == ["E204"]


@pytest.mark.parametrize(("fact", "codes"), [((2, 1), []), (("2", 1.0), ["W323"]), (("2", "1"), ["W323", "W323"])])
def test_negative_facts_about_a_target_have_the_types_of_its_predictions(fact: tuple[Any, ...], codes: list[str]) -> None:
    rules = "one: sale.price(A, P) <- sale(id: A, price: P)."
    setting = make_setting(None, {"m": {2: 1.0}}, rules, tables=sale(), negatives={"sale.price": [fact]})
    with Session(setting) as session:
        assert [problem.code for problem in session.warnings] == codes
        assert session.evaluate().rule_results[0].models["m"].counts.refuted == (not codes)


def test_negative_facts_about_a_target_have_its_arguments() -> None:
    setting = make_setting(None, {"m": {2: 1.0}}, "", tables=sale(), negatives={"sale.price": [(2, 1.0, 1.0)]})
    assert [one.code for one in problems_of(lambda: Session(setting))] == ["E204"]


def test_predictions_are_numbered_in_the_order_of_their_keys_and_values(engine: Engine) -> None:
    tables = sale({"id": [10, 9, 11], "price": [0.5, 0.5, 0.5]}, hidden=[9, 10, 11])
    setting = make_setting(None, {"a": {10: 5, 9: 10}, "b": {9: 9, 11: 0}}, "", tables=tables)
    found = opened(engine, setting)[0]["sale"]
    numbered = sorted(rows_of(engine, found, found.predicted), key=lambda row: row["prediction"])
    assert [(row["id"], row["price"]) for row in numbered] == [(9, 9.0), (9, 10.0), (10, 5.0), (11, 0.0)]


def test_nothing_is_left_behind_but_the_tables_that_formulas_read(engine: Engine) -> None:
    tables, _ = opened(engine, make_setting(None, {"m": {2: 1.0}}, "", tables=reached_tables()), sale={"code"})
    names = engine.query(exp.select("table_name").from_("information_schema.tables"))["table_name"].to_pylist()
    ours = {name for name in names if name.startswith("__rulescore__table_")}
    assert ours == {table_ for one in tables.values() for table_ in (one.observed, one.predicted) if table_ is not None}


def test_what_is_wrong_with_rows_is_told_with_where_they_come_from(tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("id,price\n1,5\n1,6\n")
    table = Table(file, key="id", target="price")
    engine = connect(EngineOptions(threads=1))
    (repeated,) = problems_of(lambda: opened(engine, make_setting(None, None, "", tables={"sale": table})))
    (absent,) = problems_of(lambda: opened(engine, make_setting(None, None, "", tables=sale(key="ident"))))
    engine.close()
    assert (repeated.code, str(repeated.place)) == ("E345", str(file))
    assert (absent.code, str(absent.place)) == ("E320", "<tables.sale>")


def test_a_column_whose_name_another_has_is_said_to_be_one_of_several(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("id,price,price\n1,5,6\n")
    table = Table(file, key="id", target="price")
    (problem,) = problems_of(lambda: opened(engine, make_setting(None, None, "", tables={"sale": table})))
    assert problem.notes[0] == "several columns have this name, and none of them can be meant"


@pytest.mark.parametrize(("text", "refused"), [("2\n4\n", True), ("row\n2\n4\n", False), ("id\n2\n4\n", False)])
def test_a_file_of_hidden_ids_does_not_lose_its_first_id(tmp_path: Path, text: str, refused: bool) -> None:
    ids = tmp_path / "test.csv"
    ids.write_text(text)
    engine = connect(EngineOptions(threads=1))
    setting = make_setting(None, None, "", tables=sale(hidden=ids))
    if refused:
        (problem,) = problems_of(lambda: opened(engine, setting))
        assert (problem.code, problem.helps) == ("E320", ("put a line with `id` before it",))
    else:
        assert opened(engine, setting)[0]["sale"].hidden == 2
    engine.close()


def test_predictions_without_any_value_are_of_every_type(engine: Engine) -> None:
    assert loading_problems(sale(), {"m": {2: None}}) == [("E351", "`m` has no prediction for 1 id that it lists: `2`")]
    _, loaded = opened(engine, make_setting(None, {"m": {}}, "", tables=sale()))
    assert loaded.predictions["m"].distinct == 0


def test_predictions_for_rows_that_a_wrong_value_does_not_hide_say_what_is_wrong(engine: Engine) -> None:
    tables = sale(hidden={"column": "split", "values": ["tests"]})
    (problem,) = problems_of(lambda: opened(engine, make_setting(None, {"m": {2: 1.0}}, "", tables=tables)))
    assert problem.code == "E353"
    assert problem.notes[1:] == (
        "no row of table `sale` is hidden: `split` is nowhere `tests`",
        "it has the values `test`, `train`",
    )


@pytest.mark.parametrize(
    ("rule", "relations"), [("P <= 900 <- sale(id: A, price: P).", 0), ("P <= 900 <- sale(id: A, price: P), q(A).", 1)]
)
def test_a_target_is_read_from_its_table_alone(rule: str, relations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No relation is made of the predictions as facts, which no statement would read."""
    made: list[str] = []
    run = DuckDBEngine.run

    def noted(self: DuckDBEngine, statement: exp.Expr, **options: Any) -> None:
        if isinstance(statement, exp.Create):
            made.append(statement.this.name)
        run(self, statement, **options)

    monkeypatch.setattr(DuckDBEngine, "run", noted)
    setting = make_setting({"q": [(2,)]}, {"ridge": {"sale": {2: 250.0}}}, rule, tables=sale())
    with Session(setting) as session:
        assert session.evaluate().rule_results[0].models["ridge"].counts.evaluable == 1
    assert sum("_relation_" in one for one in made) == relations
