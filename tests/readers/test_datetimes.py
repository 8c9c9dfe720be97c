"""Date-times from every kind of source: with a zone they are instants, without one what a clock shows."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulescore
from rulescore.arguments.tables import Table, keyed_tables
from rulescore.errors import InputError
from rulescore.readers.columns import keys
from rulescore.readers.sources import observed_streams
from rulescore.readers.table_rows import fitted, frame_rows
from rulescore.setting.choices import ColumnType
from rulescore.setting.model import FactFile
from rulescore.values import (
    FIRST,
    LAST,
    ValueType,
    key_of,
    microseconds,
    moment_at,
    parse_moment,
    spell_duration,
    text_of,
    value_of,
    write_moment,
)

WALL = datetime.datetime(2024, 3, 31, 2, 30, 0, 125_000)  # which no clock of Berlin shows
INSTANT = datetime.datetime(2024, 10, 27, 0, 30, tzinfo=datetime.UTC)  # half past two in Berlin, for the first time
BERLIN = ZoneInfo("Europe/Berlin")
FACTS = [("p", WALL, INSTANT)]

moments = st.datetimes(timezones=st.none() | st.just(datetime.UTC))


@given(moments)
def test_a_key_tells_its_date_time(moment):
    assert value_of(key_of(moment)) == moment
    assert parse_moment(text_of(key_of(moment))) == parse_moment(write_moment(moment)) == moment
    assert moment_at(microseconds(moment), zoned=moment.tzinfo is not None) == moment


@given(moments, moments)
def test_keys_are_equal_if_date_times_are(one, other):
    same = one == other and (one.tzinfo is None) == (other.tzinfo is None)
    assert (key_of(one) == key_of(other)) is same


@given(st.lists(st.datetimes(), min_size=1), st.sampled_from((None, "UTC", "Europe/Berlin")))
def test_columns_have_the_keys_of_their_values(values, zone):
    aware = [one if zone is None else one.replace(tzinfo=datetime.UTC) for one in values]
    assert keys(pa.array(aware, pa.timestamp("us", zone))).to_pylist() == list(map(key_of, aware))


@pytest.mark.parametrize(("unit", "size"), [("s", 1), ("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_000)])
def test_a_unit_is_no_part_of_a_date_time(unit, size):
    assert keys(pa.array([-size], pa.timestamp(unit))).to_pylist() == [key_of(datetime.datetime(1969, 12, 31, 23, 59, 59))]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-31T10:30", datetime.datetime(2024, 5, 31, 10, 30)),
        ("2024-05-31 10:30:00.5", datetime.datetime(2024, 5, 31, 10, 30, 0, 500_000)),
        ("2024-05-31T10:30:00.123456000", datetime.datetime(2024, 5, 31, 10, 30, 0, 123_456)),
        ("2024-05-31T10:30:00+02", datetime.datetime(2024, 5, 31, 8, 30, tzinfo=datetime.UTC)),
        ("2024-05-31 10:30:00-0330", datetime.datetime(2024, 5, 31, 14, 0, tzinfo=datetime.UTC)),
        ("2024-05-31T10:30:00.000Z", datetime.datetime(2024, 5, 31, 10, 30, tzinfo=datetime.UTC)),
    ],
)
def test_texts_of_date_times(text, moment):
    assert parse_moment(text) == moment
    kind = ValueType.DATETIME if moment.tzinfo is None else ValueType.INSTANT
    other = ValueType.INSTANT if moment.tzinfo is None else ValueType.DATETIME
    assert fitted(pa.array([text, ""]), kind).to_pylist() == [microseconds(moment), None]
    assert fitted(pa.array([text]), other).to_pylist() == [None]


@pytest.mark.parametrize(
    "text",
    ["2024-05-31", "2024-05-31T10", "31.05.2024 10:30", "2024-05-31T10:30:61", "2024-05-31T10:30:00.0000001", "2024-05-31T10:30 Z"],
)
def test_texts_that_are_no_date_times(text):
    with pytest.raises(ValueError, match=r"it|day"):
        parse_moment(text)


def test_date_times_are_equal_whatever_they_come_from(write, tmp_path, facts_of):
    columns = {"wall": [WALL], "instant": [INSTANT]}
    table = pa.table(
        {"wall": pa.array([WALL], pa.timestamp("ns")), "instant": pa.array([INSTANT], pa.timestamp("ms", "Europe/Berlin"))}
    )
    pq.write_table(table, tmp_path / "p.parquet")
    dictionary = pa.table({name: table[name].dictionary_encode() for name in table.column_names})
    text = write("p.tsv", "2024-03-31 02:30:00.125\t2024-10-27T02:30:00+02:00\n")
    declared = FactFile(text, predicate="p", types={"a0": ColumnType.DATETIME, "a1": ColumnType.INSTANT})
    berlin = INSTANT.astimezone(BERLIN)
    for source in [
        tmp_path / "p.parquet",
        declared,
        {"p": table},
        {"p": dictionary},
        {"p": pl.DataFrame(columns)},
        {"p": pd.DataFrame(columns)},
        {"p": pd.DataFrame({"wall": pd.to_datetime([WALL]), "instant": pd.to_datetime([berlin])})},
        {"p": [(WALL, berlin)]},
        {"p": [(pd.Timestamp(WALL), pd.Timestamp(berlin))]},
        {"p": [(np.datetime64(WALL, "ns"), INSTANT)]},
    ]:
        found = facts_of(observed_streams(source))
        assert found == FACTS
        assert found[0][2].tzinfo is datetime.UTC


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 1], pa.timestamp("ns")),
        pa.array([0, LAST // 1_000_000 + 1], pa.timestamp("s", "UTC")),
        pa.array([0, FIRST // 1_000 - 1], pa.timestamp("ms")),
    ],
)
def test_nanoseconds_and_other_years_are_refused_with_the_row(tmp_path, facts_of, problems_of, column):
    table = pa.table({"a0": column})
    (problem,) = problems_of(lambda: facts_of(observed_streams({"p": table})))
    assert problem.code == "E314"
    assert "in row 1" in problem.message
    (problem,) = problems_of(lambda: list(frame_rows(table, "rows").open(["a0"])))
    assert problem.code == "E314"
    assert "in row 1" in problem.message


@pytest.mark.parametrize(
    "value",
    [pd.Timestamp("2024-05-31 10:30:00.000000001"), np.datetime64(1, "ns"), pd.NaT, datetime.datetime(1, 1, 1, tzinfo=BERLIN)],
)
def test_a_row_s_value_that_is_no_date_time_is_refused(facts_of, problems_of, value):
    (problem,) = problems_of(lambda: facts_of(observed_streams({"p": [("a",), (value,)]})))
    assert problem.code == "E314"
    assert "row 1" in problem.message


@pytest.mark.parametrize(
    ("declared", "text", "other"),
    [
        ("datetime", "2024-05-31T10:30Z", "instant"),
        ("instant", "2024-05-31T10:30", "datetime"),
        ("date", "2024-05-31T10:30", "datetime"),
    ],
)
def test_a_text_of_another_kind_of_time_names_the_type_to_declare(write, facts_of, problems_of, declared, text, other):
    source = FactFile(write("p.tsv", f"{text}\n"), predicate="p", types={"a0": ColumnType(declared)})
    (problem,) = problems_of(lambda: facts_of(observed_streams(source)))
    assert problem.code == "E314"
    assert f"`{other}`" in problem.helps[0]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (datetime.timedelta(hours=2, minutes=5), "2 h 5 min"),
        (datetime.timedelta(days=-1), "1 d"),
        (datetime.timedelta(days=1000, seconds=1, microseconds=500_000), "1,000 d 1.5 s"),
        (datetime.timedelta(microseconds=1), "0.000001 s"),
        (datetime.timedelta(), "0 s"),
    ],
)
def test_durations_in_words(size, words):
    assert spell_duration(size) == words


def test_date_times_with_a_zone_and_without_one_do_not_mix_in_one_column(facts_of, problems_of):
    both = [WALL, INSTANT]
    for rows in ({"at": both}, [{"at": WALL}, {"at": INSTANT}], pd.DataFrame({"at": pd.Series(both, dtype=object)})):
        (problem,) = problems_of(lambda rows=rows: frame_rows(rows, "rows"))
        assert problem.code == "E322"
        assert "zone" in problem.notes[0]
    table = Table({"at": [WALL], "v": [None]}, key="at", target="v", hidden=both)
    (problem,) = problems_of(lambda: keyed_tables({"t": table}))
    assert problem.code == "E322"


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_a_date_beyond_the_year_9999_is_refused_with_its_row(kind: pa.DataType) -> None:
    day = 86_400_000 if kind == pa.date64() else 1
    with pytest.raises(InputError, match=r"E314.*in no year from 1 to 9999 in row 1"):
        rulescore.audit(
            pa.table({"head": ["a", "b"], "relation": ["r", "r"], "tail": pa.array([0, (2**31 - 1) * day], kind)}),
            "false <- q(X, X).",
        )
