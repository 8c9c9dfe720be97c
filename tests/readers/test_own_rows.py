"""Whole rows tell what the fast readers tell: the same facts, and the same problems, row by row."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import Diagnostic, InputError
from rulescore.readers.sources import prediction_streams
from rulescore.setting.model import FactBatch, FactStream

FIELDS = st.sampled_from(
    ["a", "b", "r", "", " a", "é", '"q"', '"x,y"', '"open', "0.5", "1", "high", "\u2028", "=1", "null", "2.0", '"say ""yes"""']
)
ROWS = st.lists(st.lists(FIELDS, min_size=2, max_size=5), min_size=1, max_size=8)
HEADERS = st.sampled_from(["", "head,relation,tail\n", "head,relation,tail,score\n", "note,s,p,o,confidence\n", "a,b,c\n"])


def facts(batches: Iterable[FactBatch]) -> list[tuple[Any, ...]]:
    return [
        (batch.predicate, *row.values())
        for batch in batches
        for row in batch.rows.select(sorted(batch.rows.schema.names)).to_pylist()
    ]


def require_the_same(path: Path) -> None:
    """The same facts; or problems in the same lines, of which whole rows tell the first of each line."""
    (stream,) = prediction_streams(path)
    assert isinstance(stream, FactStream)
    assert stream.own is not None
    expected: list[Any] = []
    problems: list[Diagnostic] = []
    try:
        expected = facts(stream.open())
    except InputError as error:
        problems = list(error.problems)
    try:
        own = stream.own()
    except InputError as error:
        whole = list(error.problems)
    else:
        whole = []
    assert list(map(str, whole)) == list(map(str, problems))[: len(whole)]
    if whole:
        return
    told = list(own.unreadable.values())
    assert own.table.num_rows == len(facts(own.facts)) + len(told)
    assert {problem.place and problem.place.line for problem in told} == {
        problem.place and problem.place.line for problem in problems
    }
    assert set(map(str, told)) <= set(map(str, problems))
    if not problems:
        assert facts(own.facts) == expected


@given(HEADERS, ROWS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]), st.sampled_from(["csv", "tsv"]))
def test_text_is_read_alike(header: str, rows: list[list[str]], end: str, mark: str, ending: str) -> None:
    text = mark + header.replace("\n", end) + "".join(",".join(row) + end for row in rows)
    if ending == "tsv":
        text = text.replace(",", "\t")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"x.{ending}")
        path.write_bytes(text.encode())
        require_the_same(path)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"head": st.sampled_from(["a", "", None, 1, 2.5]), "relation": st.sampled_from(["r", None, 3]), "tail": st.just("b")},
            optional={"score": st.sampled_from([0.5, "0.5", "high", None]), "note": st.just([1])},
        ),
        min_size=1,
        max_size=6,
    )
)
def test_json_lines_are_read_alike(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        require_the_same(path)


@pytest.mark.parametrize("ending", ["parquet", "frame"])
def test_frames_are_read_alike(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"n": [1, 2], "head": ["a", "b"], "relation": ["r", "r"], "tail": [1.5, 2.0], "score": [0.5, None]})
    frame.to_parquet(tmp_path / "x.parquet")
    (stream,) = prediction_streams(tmp_path / "x.parquet" if ending == "parquet" else frame)
    assert isinstance(stream, FactStream)
    assert stream.own is not None
    own = stream.own()
    assert facts(own.facts) == facts(stream.open())
    assert own.table.column_names == list(frame.columns)
    assert own.table["n"].to_pylist() == [1, 2]
