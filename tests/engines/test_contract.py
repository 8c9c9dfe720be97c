"""What every engine does alike, whatever its database: the contract of engines/base.py."""

from __future__ import annotations

import datetime
import math
import random
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from rulescore.engines.base import Engine, connect
from rulescore.errors import EngineError
from rulescore.sql.names import name
from rulescore.sql.query import Select, alias, create, drop, row, select
from rulescore.sql.values import key
from rulescore.sql.words import count_rows
from rulescore.values import ValueType, key_of
from targets import options_of, parameters

ROWS = name("rows")


@pytest.fixture(params=parameters())
def session(request: pytest.FixtureRequest, engine_of: Callable[[str], Any]) -> Iterator[Engine]:
    opened = connect(options_of(engine_of(request.param)))
    yield opened
    opened.close()


def doubles() -> list[float]:
    """Whole and broken, near 0 and near the end of their range: what engines write in different ways, and some of any kind."""
    bits = random.Random(7)
    edges = [1e-5, 1e-4, 1e-3, 1e7, 1e15, 1e16, 2.0**53, 2.0**63, 1e19, 1e22, 1e38, 1e300, 1.7976931348623157e308]
    near = [toward(one) for one in edges for toward in (lambda x: x, lambda x: x / 3, lambda x: math.nextafter(x, 0))]
    tiny = [i * 5e-324 for i in range(1, 60)]
    plain = [round(bits.uniform(-1, 1) * 10.0 ** bits.randint(-9, 18), bits.randint(0, 9)) for _ in range(1000)]
    some = [struct.unpack("<d", bits.randbytes(8))[0] for _ in range(3000)]
    found = [0.0, -0.0, 0.1, 0.5, 2e-3, 1 / 3, 2.2250738585072014e-308, *near, *tiny, *plain, *filter(math.isfinite, some)]
    return [*found, *(-one for one in found)]


def everything(source: str) -> Select:
    return select("*").from_(row(source, "r"))


def in_order(rows: pa.Table) -> list[dict[str, object]]:
    return sorted(rows.to_pylist(), key=lambda row: str(row["number"]))


def test_rows_come_back_as_they_went(session: Engine):
    """Missing values, empty strings, quotes and line ends, numbers at the ends of their ranges, doubles to the last digit."""
    rows = pa.table(
        {
            "number": pa.array([-(2**63), 2**63 - 1, 1, None], pa.int64()),
            "small": pa.array([-(2**31), 2**31 - 1, 0, None], pa.int32()),
            "word": pa.array(["", 'a "b"\\c', "é\n,\t'", None], pa.string()),
            "float": pa.array([0.1, -1.7976931348623157e308, 5e-324, None], pa.float64()),
            "flag": pa.array([True, False, True, None], pa.bool_()),
            "day": pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1970, 1, 1), None], pa.date32()),
        }
    )
    session.load(ROWS, rows)
    assert in_order(session.query(everything(ROWS))) == in_order(rows)


def test_rows_can_be_added_copied_and_dropped(session: Engine):
    part = pa.table({"number": pa.array([1, 2], pa.int64())})
    session.load(ROWS, part)
    session.append(ROWS, part)
    copy = name("copy")
    session.run(create(copy, everything(ROWS)))
    session.run(drop(ROWS))
    assert sorted(session.query(everything(copy))["number"].to_pylist()) == [1, 1, 2, 2]
    with pytest.raises(EngineError):
        session.query(everything(ROWS))


def test_rows_of_several_chunks_arrive_whole(session: Engine):
    parts = [pa.table({"number": pa.array([i], pa.int64()), "word": pa.array([str(i)], pa.string())}) for i in range(3)]
    session.load(ROWS, pa.concat_tables(parts))
    session.append(ROWS, pa.concat_tables(parts))
    assert sorted(session.query(everything(ROWS))["word"].to_pylist()) == ["0", "0", "1", "1", "2", "2"]


def test_strings_are_compared_by_code_point_and_case(session: Engine):
    words = ["a", "B", "A", "ä", "z", "", "Z", "\U0001f600", "\uffee"]
    session.load(ROWS, pa.table({"word": pa.array(words, pa.string())}))
    found = session.query(everything(ROWS).order_by(alias("r").word))["word"].to_pylist()
    assert found == sorted(words)


VALUES = {
    ValueType.STRING: pa.array(["", "a", "\x01", "\x01n1", "é '\\"], pa.string()),
    ValueType.INTEGER: pa.array([0, -1, 2**63 - 1, -(2**63)], pa.int64()),
    ValueType.BOOLEAN: pa.array([True, False], pa.bool_()),
    ValueType.DATE: pa.array([datetime.date(1, 1, 1), datetime.date(987, 6, 5), datetime.date(9999, 12, 31)], pa.date32()),
    ValueType.FLOAT: pa.array(doubles(), pa.float64()),
}


@pytest.mark.parametrize("kind", VALUES)
def test_keys_of_constants_are_written_as_python_writes_them(session: Engine, kind: ValueType):
    session.load(ROWS, pa.table({"value": VALUES[kind]}))
    r = row(ROWS, "r")
    made = create(name("keys"), select(r.value, key=key(r.value, kind)).from_(r))
    session.run(made)
    found = session.query(everything(name("keys"))).to_pylist()
    assert len(found) == len(VALUES[kind])
    assert [row for row in found if row["key"] != key_of(row["value"])] == []


def test_the_plan_of_a_query_names_what_it_reads(session: Engine):
    session.load(ROWS, pa.table({"number": pa.array(range(3), pa.int64())}))
    plan = session.explain(session.text(everything(ROWS)))
    assert "number" in plan or ROWS in plan


def test_a_statement_can_be_cancelled_from_another_thread(session: Engine):
    """It would run for minutes; what runs afterwards is not concerned. On Spark tasks look whether to go on at every row that they
    read, not at every row that they make of it: joined once more, one makes more than can be waited for."""
    session.load(ROWS, pa.table({"number": pa.array(range(300_000), pa.int64())}))
    a, b = row(ROWS, "a"), row(ROWS, "b")
    joined = select(n=count_rows()).from_(a).join(b, a.number != b.number)
    ended = threading.Event()

    def cancel() -> None:
        while not ended.wait(0.5):
            session.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        with pytest.raises(EngineError):
            session.query(joined)
    finally:
        ended.set()
        thread.join()
    assert session.query(select(n=count_rows()).from_(row(ROWS, "r")))["n"].to_pylist() == [300_000]
