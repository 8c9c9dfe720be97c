"""The types of columns of text files."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.readers.columns import parse_value
from rulescore.readers.table_rows import MisfitError, file_rows, read_as
from rulescore.setting.choices import ColumnType
from rulescore.values import ValueType, microseconds

INTEGER, FLOAT, STRING, BOOLEAN = ValueType.INTEGER, ValueType.FLOAT, ValueType.STRING, ValueType.BOOLEAN
DATE, DATETIME, INSTANT = ValueType.DATE, ValueType.DATETIME, ValueType.INSTANT


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "-20", "0"], INTEGER),
        (["1", "", "2"], INTEGER),
        (["1", "2.5"], FLOAT),
        (["2.5", "1"], FLOAT),
        (["1e5", "2"], FLOAT),
        ([".5", "-0.5", "3."], FLOAT),
        (["-0", "1"], FLOAT),
        (["01000", "44000"], STRING),
        (["44000", "01000"], STRING),
        (["00.5", "1.5"], STRING),
        (["+1", "2"], STRING),
        (["+1.5", "2"], STRING),
        (["0x10", "1"], STRING),
        ([" 1", "2"], STRING),
        (["1_000"], STRING),
        (["1,5"], STRING),
        (["9223372036854775807", "-9223372036854775808"], INTEGER),
        (["9223372036854775808", "1"], STRING),
        (["100000000000000000000"], STRING),
        (["9007199254740993", "1"], INTEGER),
        (["9007199254740993", "1.5"], STRING),
        (["1.5", "9007199254740993"], STRING),
        (["9007199254740992", "1.5"], FLOAT),
        (["nan", "1.5"], STRING),
        (["1.5", "inf"], STRING),
        (["1e400", "1"], STRING),
        (["NA", "1"], STRING),
        (["true", "false"], BOOLEAN),
        (["True", "FALSE"], BOOLEAN),
        (["true", "1"], STRING),
        (["2024-05-31", "2024-06-01"], DATE),
        (["2024-05-31", "2024-02-30"], STRING),
        (["2024-05-31", "2024-06-01T00:00:00"], STRING),
        (["2024-05-31 12:30", "2024-05-31T12:30:01.5"], DATETIME),
        (["2024-05-31 12"], STRING),
        (["2024-05-31T12:30:00Z", "2024-05-31T14:30:00+02:00"], INSTANT),
        (["2024-05-31T12:30:00Z", "2024-05-31T14:30:00"], STRING),
        (["", ""], None),
    ],
)
def test_all_values_of_a_column_give_its_type(tmp_path: Path, texts: list[str], expected: ValueType | None) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,x\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(texts)))
    columns = file_rows(path).text
    assert columns is not None
    assert columns.infer(["x"], whole=True) == {"x": expected}


def test_a_value_far_below_the_first_rows_is_a_misfit(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "1\n" * 1_000_000 + "2.5\n")
    columns = file_rows(path).text
    assert columns is not None
    assert columns.infer(["x"], whole=False) == {"x": INTEGER}
    assert columns.infer(["x"], whole=True) == {"x": FLOAT}
    with pytest.raises(MisfitError):
        list(columns.typed({"x": INTEGER}).open(["x"]))
    assert sum(batch.num_rows for batch in columns.typed({"x": FLOAT}).open(["x"])) == 1_000_001


MOMENTS = st.builds(
    "{}{}{}{}".format,
    st.datetimes(max_value=datetime.datetime(2100, 1, 1)).map(lambda moment: moment.isoformat()[:10]),
    st.sampled_from("T "),
    st.from_regex(r"[0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,8})?)?", fullmatch=True),
    st.sampled_from(["", "Z", "+02:00", "-0330", "+01", "+24:00"]),
)


@given(MOMENTS)
def test_date_times_are_those_that_a_declared_column_reads(text: str) -> None:
    for kind, declared in ((DATETIME, ColumnType.DATETIME), (INSTANT, ColumnType.INSTANT)):
        values = read_as(pa.array([text]), kind)
        if values is not None:
            moment = parse_value(text, declared)
            assert isinstance(moment, datetime.datetime)
            assert values.to_pylist() == [microseconds(moment)]


@given(st.from_regex(r"[+-]?[0-9]{0,20}\.?[0-9]{0,3}([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_numbers_are_those_that_a_declared_column_reads(text: str) -> None:
    for kind, declared in ((INTEGER, ColumnType.INTEGER), (FLOAT, ColumnType.FLOAT)):
        values = read_as(pa.array([text]), kind) if text else None
        if values is not None:
            assert values.to_pylist() == [parse_value(text, declared)]
