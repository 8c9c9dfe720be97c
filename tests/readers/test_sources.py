"""Files, folders, frames, rows and mappings: one kind of facts, whatever they come from."""

from __future__ import annotations

import datetime
import decimal
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rulescore.arguments.tables import Table, keyed_tables
from rulescore.language.syntax import Kind
from rulescore.readers.sources import files_by_model, named_source, observed_streams, prediction_streams, stem
from rulescore.setting.choices import Arrangement, ColumnType, FileFormat
from rulescore.setting.model import FactFile, SqlRule

KIN = [("mother", "alice", "bob"), ("sister", "alice", "daniel")]
COLUMNS = {"head": ["alice", "alice"], "relation": ["mother", "sister"], "tail": ["bob", "daniel"]}
ROWS = [("alice", "mother", "bob"), ("alice", "sister", "daniel")]
DAY = datetime.date(2020, 2, 29)
TYPED = {
    "text": ["x", "\x01n1"],
    "whole": [1, -(2**62)],
    "real": [2.0, 0.1],
    "flag": [True, False],
    "day": [DAY, datetime.date(1, 1, 1)],
}
TYPED_FACTS = [("p", *row) for row in zip(*TYPED.values(), strict=True)]


def test_a_choice_may_be_a_text(tmp_path, facts_of, problems_of):
    (tmp_path / "kin").mkdir()
    (tmp_path / "kin" / "a.tsv").write_text("alice\tmother\tbob\n")
    assert facts_of(observed_streams(FactFile(tmp_path / "kin", layout="triples"))) == [("mother", "alice", "bob")]
    pq.write_table(pa.table({"a0": ["alice"], "a1": ["bob"]}), tmp_path / "mother")
    assert facts_of(observed_streams(FactFile(tmp_path / "mother", format="parquet"))) == [("mother", "alice", "bob")]
    (problem,) = problems_of(lambda: FactFile("kin", layout="triple"))
    assert (problem.code, problem.helps) == ("E402", ("did you mean `triples`?",))
    assert SqlRule("one", "SELECT 1", kind="hard").kind is Kind.HARD
    (problem,) = problems_of(lambda: SqlRule("one", "SELECT 1", kind="firm"))
    assert (problem.code, problem.message) == ("E402", "`kind` cannot be `firm`")
    table = Table(tmp_path / "mother", key="a0", format="parquett")
    (problem,) = problems_of(lambda: keyed_tables({"mother": table}))
    assert (problem.code, problem.helps) == ("E402", ("did you mean `parquet`?",))


def test_files_frames_and_rows_give_the_same_facts(write, tmp_path, facts_of):
    pq.write_table(pa.table(COLUMNS), tmp_path / "facts.parquet")
    dictionary = pa.table({name: pa.array(values).dictionary_encode() for name, values in COLUMNS.items()})
    categorical = pl.DataFrame(COLUMNS).with_columns(pl.col("relation").cast(pl.Categorical))
    ntriples = "".join(f"<{a}> <{p}> <{b}> .\n" for a, p, b in ROWS)
    sources = [
        write("facts.tsv", "alice\tmother\tbob\nalice\tsister\tdaniel\n"),
        str(write("facts.csv.gz", "relation,tail,head\nmother,bob,alice\nsister,daniel,alice\n")),
        tmp_path / "facts.parquet",
        write("facts.nt", ntriples),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=["x", "y"]),
        pd.DataFrame(COLUMNS).astype("category"),
        pl.DataFrame(COLUMNS),
        categorical,
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
        pa.table(COLUMNS).to_reader(),
        dictionary,
        ROWS,
        tuple(ROWS),
        iter(ROWS),
        (row for row in ROWS),
        [list(row) for row in ROWS],
        {"mother": [("alice", "bob")], "sister": pl.DataFrame({"a0": ["alice"], "a1": ["daniel"]})},
        [write("one.tsv", "alice\tmother\tbob\n"), pd.DataFrame({name: values[1:] for name, values in COLUMNS.items()})],
    ]
    for source in sources:
        streams = observed_streams(source)
        assert facts_of(streams) == KIN
        assert facts_of(streams) == KIN


def test_typed_values_are_equal_whatever_they_come_from(write, tmp_path, facts_of):
    table = pa.table(TYPED)
    pq.write_table(table, tmp_path / "p.parquet")
    text = write("p.tsv", f"x\t1\t2.0\ttrue\t{DAY}\n\x01n1\t{-(2**62)}\t0.1\tfalse\t0001-01-01\n")
    types = dict(zip(["a0", "a1", "a2", "a3", "a4"], ["string", "integer", "float", "boolean", "date"], strict=True))
    declared = FactFile(text, predicate="p", types={name: ColumnType(kind) for name, kind in types.items()})
    for source in [
        tmp_path / "p.parquet",
        declared,
        {"p": table},
        {"p": pl.DataFrame(TYPED)},
        {"p": pd.DataFrame(TYPED)},
        {"p": list(zip(*TYPED.values(), strict=True))},
    ]:
        found = facts_of(observed_streams(source))
        assert found == TYPED_FACTS
        assert [type(value) for value in found[0]] == [str, str, int, int, bool, datetime.date]


def test_numbers_of_one_value_are_one_constant():
    values = [5, 5.0, decimal.Decimal("5.00"), np.int8(5), np.float32(5)]
    rows = {
        key for batch in observed_streams({"p": [(v,) for v in values]})[0].open() for key in batch.rows.column("a0").to_pylist()
    }
    kinds = [pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(21, 2)]
    for kind in kinds:
        (stream,) = observed_streams({"p": pa.table({"n": pa.array([5]).cast(kind)})})
        rows |= {key for batch in stream.open() for key in batch.rows.column("a0").to_pylist()}
    assert len(rows) == 1


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (pa.array(["x", None]), "E312"),
        (pa.array([1, None]), "E312"),
        (pa.array([1.0, float("nan")]), "E314"),
        (pa.array([1.0, float("-inf")]), "E314"),
        (pa.array([0, 1], pa.timestamp("ns")), "E314"),
    ],
)
def test_null_nan_infinity_and_nanoseconds_are_refused_with_the_row(tmp_path, facts_of, problems_of, column, code):
    table = pa.table({"a0": column})
    pq.write_table(table, tmp_path / "p.parquet")
    for source in [{"p": table}, tmp_path / "p.parquet", {"p": [(value,) for value in column.to_pylist()]}]:
        (problem,) = problems_of(lambda source=source: facts_of(observed_streams(source)))
        assert problem.code == code
        assert "row 1" in problem.message


def test_the_row_of_a_problem_is_counted_over_the_whole_file(tmp_path, facts_of, problems_of):
    pq.write_table(pa.table({"a0": ["x"] * 300_000 + [None]}), tmp_path / "p.parquet", row_group_size=50_000)
    (problem,) = problems_of(lambda: facts_of(observed_streams(tmp_path / "p.parquet")))
    assert "row 300,000" in problem.message


def test_relation_numbers_are_named_by_their_digits(facts_of):
    table = pa.table({"head": ["a"], "relation": [12], "tail": ["b"]})
    assert facts_of(observed_streams(table)) == [("12", "a", "b")]


@pytest.mark.parametrize("empty", [pd.DataFrame(COLUMNS)[:0], pl.DataFrame(COLUMNS)[:0], pa.table(COLUMNS)[:0], [], {}, {"p": []}])
def test_what_is_empty_in_memory_holds_no_facts(facts_of, empty):
    assert facts_of(observed_streams(empty)) == []


def written(name: str, content: str = "a\tp\tb\n", **described: Any) -> Callable[[Path], Any]:
    """A file, and how it is described."""

    def write(folder: Path) -> Any:
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(content)
        return FactFile(path, **described) if described else path

    return write


def parquet(rows: int, **described: Any) -> Callable[[Path], Any]:
    def write(folder: Path) -> Any:
        pq.write_table(pa.table({"a0": pa.array(["1"] * rows, pa.string())}), folder / "p.parquet")
        return FactFile(folder / "p.parquet", **described)

    return write


def beside_facts(name: str) -> Callable[[Path], Path]:
    """A folder that holds a file of facts, and another file."""

    def write(folder: Path) -> Path:
        written("data/facts.tsv")(folder)
        written(f"data/{name}")(folder)
        return folder / "data"

    return write


TRIPLE = {"head": ["a"], "relation": ["p"], "tail": ["b"]}
REFUSED: list[tuple[Any, str, str]] = [
    (["abc"], "E301", ""),
    ("", "E301", "the path is empty"),
    ({"p": ""}, "E301", "the path is empty"),
    ({"p": ["ab"]}, "E301", ""),
    ([("a", "p")], "E322", ""),
    ([("a", "p", "b", 0.5)], "E322", ""),
    ([("a", "p", "b"), "apb"], "E322", ""),
    ([("a", 3, "b")], "E322", ""),
    ([3], "E322", ""),
    ([()], "E322", ""),
    (3, "E322", ""),
    (None, "E322", ""),
    ({"p": {"q": []}}, "E322", ""),
    ([("a", "", "b")], "E322", ""),
    ([("a", None, "b")], "E322", ""),
    ([("a", "\ud800", "b")], "E322", ""),
    ({"\ud800": [("a",)]}, "E322", ""),
    ([("a", "p", object())], "E314", ""),
    *(
        (rows, "E314", "")
        for value in (10**5000, decimal.Decimal("1e5000"), "\ud800", "é\udfff")
        for rows in ([(value, "p", "a")], {"p": [("a", value)]})
    ),
    ({"p": pa.table({"a0": [[1, 2]]})}, "E321", ""),
    (pa.table(TRIPLE | {"relation": [""]}), "E312", ""),
    (pd.DataFrame({"head": ["a"], "relations": ["p"], "tail": ["b"]}), "E320", "is `relations` the relation column?"),
    (
        pd.DataFrame({"head": ["a", 1], "relation": ["p", "p"], "tail": ["b", "c"]}),
        "E322",
        "the frame cannot be read as a table: column `head` holds values of several types",
    ),
    (parquet(0), "E304", ""),
    (written("p.parquet", "not really"), "E305", ""),
    (written("facts.jsonld"), "E305", ""),
    (written("facts.xlsx"), "E305", ""),
    (written("facts.json.gz"), "E305", ""),
    (written("facts.zip"), "E305", ""),
    (written("facts.tsv", delimiter="::"), "E402", ""),
    (parquet(1, types={"a0": ColumnType.INTEGER}), "E320", ""),
    (lambda folder: [written("train.tsv")(folder), folder / "trian.tsv"][1], "E301", "train.tsv`?"),
    (lambda folder: folder, "E302", ""),
    (beside_facts(".hidden.tsv"), "E302", ""),
    (beside_facts("notes.md"), "E302", ""),
    (beside_facts("README"), "E302", ""),
    (beside_facts("deeper/facts.tsv"), "E302", ""),
]


@pytest.mark.parametrize(("source", "code", "words"), REFUSED)
def test_what_is_no_data_is_refused(tmp_path, facts_of, problems_of, source, code, words):
    (problem,) = problems_of(lambda: facts_of(observed_streams(source(tmp_path) if callable(source) else source)))
    told = "\n".join((problem.message, *problem.helps))
    assert (problem.code, words in told) == (code, True)
    assert len(problem.message) < 200
    assert told.encode()


def test_rows_of_predictions_may_add_score_and_rank(answers_of):
    rows = [("a", "p", "b", 0.5, 1), ("a", "p", "c", np.float32(0.25), np.int64(1)), ("a", "p", "d", None, 1)]
    found = answers_of(prediction_streams(rows))
    assert found == [("p", "a", "b", 0.5, 1, None), ("p", "a", "c", 0.25, 1, None), ("p", "a", "d", None, 1, None)]


@pytest.mark.parametrize("answer", [("x",), (float("nan"),), (True,), (1, 0), (1, 1.5), (1, True)])
def test_scores_and_ranks_that_are_none_are_refused(answers_of, problems_of, answer):
    (problem,) = problems_of(lambda: answers_of(prediction_streams([("a", "p", "b", *answer)])))
    assert problem.code == "E314"


def test_frames_of_predictions_carry_score_rank_and_query(answers_of):
    columns = {**COLUMNS, "score": [1, 2], "rank": [1.0, 1.0], "query_id": [7, 8]}
    for frame in [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]:
        assert answers_of(prediction_streams(frame)) == [(*KIN[0], 1.0, 1, "7"), (*KIN[1], 2.0, 1, "8")]


def test_missing_scores_of_a_frame_are_unknown(answers_of):
    frame = pd.DataFrame({**COLUMNS, "score": [0.5, float("nan")]})
    assert [answer[3] for answer in answers_of(prediction_streams(frame))] == [0.5, None]


def test_observed_facts_have_no_answer_columns_and_predictions_always_have():
    (observed,) = observed_streams(ROWS)
    (predicted,) = prediction_streams(ROWS)
    (batch,), (answers,) = observed.open(), predicted.open()
    assert batch.rows.schema.names == ["predicate", "a0", "a1"]
    text = [(name, pa.string()) for name in ("predicate", "a0", "a1")]
    assert answers.rows.schema == pa.schema([*text, ("score", pa.float64()), ("rank", pa.int64()), ("query", pa.string())])


def test_a_folder_holds_triples_and_one_file_per_predicate(write, tmp_path, facts_of):
    write("data/all.csv", "head,relation,tail\nalice,mother,bob\n")
    write("data/born.in.tsv.gz", "alice\tparis\nbob\trome\n")
    write("data/male.txt", "bob\n")
    write("data/more.nt", "<alice> <sister> <daniel> .\n")
    pq.write_table(pa.table({"child": ["bob"], "age": [7]}), tmp_path / "data" / "age.parquet")
    assert sorted(facts_of(observed_streams(tmp_path / "data")), key=str) == sorted(
        [*KIN, ("born.in", "alice", "paris"), ("born.in", "bob", "rome"), ("male", "bob"), ("age", "bob", 7)], key=str
    )


def test_a_folder_of_triples_without_header_is_read_as_declared(write, tmp_path, facts_of):
    write("data/train.txt", "alice\tmother\tbob\n")
    write("data/valid.txt", "alice\tsister\tdaniel\n")
    assert facts_of(observed_streams(FactFile(tmp_path / "data", layout=Arrangement.TRIPLES))) == KIN


@pytest.mark.parametrize("header", ["", "a0\ta1\n", "arg0\targ1\n", "subject\tobject\n", "head\ttail\n"])
def test_a_file_of_one_predicate_may_name_its_arguments(write, facts_of, header):
    path = write("x.tsv", header + "alice\tbob\n")
    assert facts_of(observed_streams({"mother": path})) == KIN[:1]


def test_named_arguments_are_found_in_any_order(write, facts_of):
    path = write("x.tsv", "object\tsubject\nbob\talice\n")
    assert facts_of(observed_streams({"mother": path})) == KIN[:1]


def test_a_declared_header_may_have_any_names(write, facts_of):
    path = write("x.csv", "parent,child\nalice,bob\n")
    assert facts_of(observed_streams({"mother": FactFile(path, header=True)})) == KIN[:1]
    assert facts_of(observed_streams({"mother": path})) == [("mother", "parent", "child"), *KIN[:1]]


def test_predictions_of_one_predicate_have_their_answers_in_named_columns(write, answers_of):
    path = write("x.tsv", "head\ttail\tscore\trank\nalice\tbob\t0.5\t1\n")
    assert answers_of(prediction_streams({"mother": path})) == [(*KIN[0], 0.5, 1, None)]
    path = write("y.tsv", "alice\tbob\t0.5\n")
    chosen = FactFile(path, columns={"arguments": [1, 2], "score": 3})
    assert answers_of(prediction_streams({"mother": chosen})) == [(*KIN[0], 0.5, None, None)]


def test_all_missing_files_are_told_at_once(tmp_path, problems_of):
    problems = problems_of(lambda: observed_streams([tmp_path / "a.tsv", tmp_path / "b" / "c.tsv", {"p": tmp_path / "d.tsv"}]))
    assert [problem.code for problem in problems] == ["E301"] * 3


def test_the_format_can_be_declared(write, facts_of):
    path = write("facts.json", "alice\tmother\tbob\n")
    assert facts_of(observed_streams(FactFile(path, format=FileFormat.TEXT))) == KIN[:1]


def test_types_may_be_words_and_unknown_words_are_refused(write, facts_of, problems_of):
    path = write("facts.tsv", "a\tp\t7\n")
    assert facts_of(observed_streams(FactFile(path, types={"tail": "integer"}))) == [("p", "a", 7)]
    (problem,) = problems_of(lambda: facts_of(observed_streams(FactFile(path, types={"tail": "integr"}))))
    assert (problem.code, problem.helps) == ("E320", ("did you mean `integer`?",))


def test_a_named_source_is_a_predicate_and_a_path_unless_the_whole_is_a_file(write, tmp_path, monkeypatch):
    write("a=b.tsv", "x")
    monkeypatch.chdir(tmp_path)
    assert named_source("born=data/born.tsv") == {"born": "data/born.tsv"}
    assert named_source("a=b.tsv") == "a=b.tsv"
    assert named_source("train.tsv") == "train.tsv"


def test_the_stem_of_a_file_has_no_endings():
    names = ["p.tsv", "p.tsv.gz", "a.b.parquet", "a.b", "p.nt.gz", "p"]
    assert [stem(Path(name)) for name in names] == ["p", "p", "a.b", "a.b", "p", "p"]


def test_files_under_a_name_that_was_given_are_one_model():
    assert files_by_model(["m=x/a.tsv", "m=b.tsv", "c.tsv"]) == {"m": ["x/a.tsv", "b.tsv"], "c": ["c.tsv"]}


@pytest.mark.parametrize("sources", [["x/m.tsv", "y/m.tsv"], ["x/m.tsv", "m=b.tsv"], ["m=b.tsv", "m.csv.gz"]])
def test_a_model_named_after_its_file_shares_its_name_with_no_other(problems_of, sources):
    (problem,) = problems_of(lambda: files_by_model(sources))
    assert problem.code == "E204"
    assert "MODEL=PATH" in problem.helps[0]


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".tsv.gz", ".parquet"])
def test_files_whose_names_are_not_utf_8_are_read(write, tmp_path, facts_of, ending):
    written = tmp_path / f"facts{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table(COLUMNS), written)
    else:
        mark = "," if ending == ".csv" else "\t"
        write(written.name, "".join(mark.join(row) + "\n" for row in ROWS))
    path = written.rename(tmp_path / os.fsdecode(b"caf\xe9" + ending.encode()))
    assert facts_of(observed_streams(path)) == KIN
    assert stem(path) == "caf\\udce9"


@pytest.mark.parametrize("row", [("a", "p", "b", 10**5000), ("a", "p", "b", 0.5, 10**5000), ("a", "p", "b", 0.5, 2**63)])
def test_scores_and_ranks_too_great_to_be_stored_are_refused(answers_of, problems_of, row):
    (problem,) = problems_of(lambda: answers_of(prediction_streams([row])))
    assert problem.code == "E314"


def test_a_folder_of_other_things_is_told_in_few_problems(write, tmp_path, problems_of):
    for number in range(30):
        write(f"{number}.py", "")
    problems = problems_of(lambda: observed_streams(tmp_path))
    assert [problem.code for problem in problems] == ["E302"] * 20
    assert "only the first 20 problems are shown" in problems[-1].notes
