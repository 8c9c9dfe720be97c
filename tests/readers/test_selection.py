"""top_k: which answers of a query are kept."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import InputError
from rulescore.readers.selection import PredictionReader
from rulescore.readers.sources import prediction_streams
from rulescore.setting.model import ModelPredictions


def table(**columns):
    length = len(next(iter(columns.values())))
    names = {"head": ["a"] * length, "relation": ["p"] * length, "tail": [f"b{i}" for i in range(length)]}
    return pa.table({**names, **columns})


def kept(what, top_k=None):
    reader = PredictionReader(ModelPredictions("model", prediction_streams(what), top_k))
    tails = [tail for batch in reader for tail in batch.rows.column("a1").to_pylist()]
    return [int(tail[1:]) for tail in tails], reader.rows_read


def test_by_rank_the_rows_up_to_k_are_kept():
    rows = table(query=["x", "x", "x", "y"], rank=[2, 1, 3, 1], score=[0.9, 0.1, 0.2, 0.3])
    assert kept(rows) == ([1, 3], 4)
    assert kept(rows, 2) == ([0, 1, 3], 4)


def test_a_rank_needs_no_query():
    assert kept(table(rank=[1, 2, 1, 3]), 2) == ([0, 1, 2], 4)


def test_by_query_the_best_scores_are_kept_and_of_equal_ones_the_earlier():
    rows = table(query=["x", "y", "x", "x", "y"], score=[0.1, 0.5, 0.7, 0.7, 0.5])
    assert kept(rows) == ([1, 2], 5)
    assert kept(rows, 2) == ([1, 2, 3, 4], 5)


def test_without_rank_and_query_every_row_is_kept():
    assert kept(table(score=[0.1, 0.2])) == ([0, 1], 2)


def test_without_rank_and_query_an_explicit_top_k_is_an_error():
    with pytest.raises(InputError, match="E330"):
        kept(table(score=[0.1, 0.2]), 1)


def test_each_source_is_chosen_from_by_what_it_knows():
    assert kept([table(rank=[1, 2]), table(score=[1, 2]), table(query=["x", "x"], score=[1, 2])]) == ([0, 0, 1, 1], 6)


@pytest.mark.parametrize("columns", [{"rank": [1, None]}, {"query": ["x", None], "score": [1, 2]}])
def test_a_rank_or_query_of_some_rows_only_is_an_error(columns):
    with pytest.raises(InputError, match="E330"):
        kept(table(**columns))


def test_rows_that_differ_between_batches_are_an_error_too(tmp_path):
    path = tmp_path / "model.tsv"
    path.write_text("a\tp\tb1\t1\t1\n" * 500_000 + "a\tp\tb1\t1\t\n" * 500_000)
    with pytest.raises(InputError, match="E330"):
        kept(path)


def test_answers_without_score_are_kept_only_where_there_is_nothing_to_choose():
    assert kept(table(query=["x", "y"])) == ([0, 1], 2)
    with pytest.raises(InputError, match="E330"):
        kept(table(query=["x", "x"]))


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3)), min_size=1, max_size=30), st.integers(1, 4))
def test_by_query_and_score_the_first_k_of_a_sorted_query_are_kept(rows, top_k):
    queries, scores = [query for query, _ in rows], [score for _, score in rows]
    expected = set()
    for query in set(queries):
        members = [i for i, name in enumerate(queries) if name == query]
        expected.update(sorted(members, key=lambda i: (-scores[i], i))[:top_k])
    assert kept(table(query=queries, score=scores), top_k) == (sorted(expected), len(rows))
