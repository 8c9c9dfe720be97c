"""JSON Lines: facts, predictions and rows of tables, one object a line."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from rulescore.errors import InputError
from rulescore.readers.sources import observed_streams, prediction_streams
from rulescore.readers.table_rows import file_rows
from rulescore.setting.model import ColumnType, FactFile

KIN = [("mother", "alice", "bob"), ("sister", "alice", "daniel")]


def lines(*rows: object) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


@pytest.mark.parametrize("name", ["kin.jsonl", "kin.ndjson", "kin.jsonl.gz"])
def test_facts_are_objects_whatever_the_order_of_their_fields(write, facts_of, name):
    path = write(name, lines(*({"tail": tail, "relation": relation, "head": head} for relation, head, tail in KIN)))
    assert facts_of(observed_streams(path)) == KIN


def test_values_keep_their_types_one_by_one(write, facts_of):
    values = [1867, 2.5, True, "1867", 2.0]
    path = write("x.jsonl", lines(*({"head": "a", "relation": "p", "tail": value} for value in values)))
    (stream,) = observed_streams(path)
    assert facts_of([stream]) == [("p", "a", value) for value in values]
    (batch,) = stream.open()
    assert batch.floats == {("p", 1)}


def test_a_declared_type_reads_texts_and_makes_texts_of_numbers(write, facts_of):
    rows = [{"who": "a", "born": "1867-11-07"}, {"who": "b", "born": "1903-01-01"}]
    stream = observed_streams(FactFile(write("x.jsonl", lines(*rows)), predicate="born", types={"born": "date"}))
    assert [fact[2].isoformat() for fact in facts_of(stream)] == ["1867-11-07", "1903-01-01"]
    rows = [{"head": "a", "relation": "p", "tail": 1867}, {"head": "a", "relation": "p", "tail": "1867"}]
    (stream,) = observed_streams(FactFile(write("y.jsonl", lines(*rows)), types={"tail": "string"}))
    assert facts_of([stream]) == [("p", "a", "1867")] * 2
    (batch,) = stream.open()
    assert batch.declared_text == {("p", 1)}


def test_a_nested_field_is_named_by_its_last_part_unless_another_ends_so(write, answers_of):
    row = {"doc": {"id": 7}, "triple": {"subject": "alice", "predicate": "mother", "object": "bob"}, "confidence": 0.5}
    assert answers_of(prediction_streams(write("x.jsonl", lines(row)))) == [(*KIN[0], 0.5, None, None)]
    two = {**row, "evidence": {"subject": "a letter"}}
    path = write("y.jsonl", lines(two))
    with pytest.raises(InputError, match=r"no column for `head`"):
        answers_of(prediction_streams(path))
    chosen = FactFile(path, columns={"head": "triple.subject"})
    assert answers_of(prediction_streams(chosen)) == [(*KIN[0], 0.5, None, None)]


def test_objects_within_a_list_are_no_rows_and_the_help_says_what_to_write(write, facts_of):
    path = write("x.jsonl", lines({"doc": 1, "triples": [{"head": "alice", "relation": "mother", "tail": "bob"}]}))
    with pytest.raises(InputError) as raised:
        facts_of(observed_streams(path))
    (problem,) = raised.value.problems
    assert problem.helps[0] == f"`triples` is a list of objects: write each on a line of its own, `jq -c '.triples[]' {path}`"


@pytest.mark.parametrize("end", ["name", "text", "label"])
def test_a_field_within_a_part_of_a_triple_plays_that_part(write, answers_of, end):
    row = {"subject": {end: "alice", "type": "person"}, "predicate": {end: "mother"}, "object": {end: "bob", "type": "person"}}
    assert answers_of(prediction_streams(write("x.jsonl", lines(row)))) == [(*KIN[0], None, None, None)]
    flat = {**row, "predicate": "mother", "object": "bob"}
    assert answers_of(prediction_streams(write("y.jsonl", lines(flat)))) == [(*KIN[0], None, None, None)]


def test_a_field_within_a_part_keeps_the_short_name_that_is_chosen(write, answers_of):
    path = write("x.jsonl", lines({"head": {"id": 7}, "relation": "mother", "tail": "bob"}))
    stream = prediction_streams(FactFile(path, columns={"head": "id"}, types={"id": "string"}))
    assert answers_of(stream) == [("mother", "7", "bob", None, None, None)]


def test_a_score_and_a_rank_within_a_part_of_a_triple_count(write, answers_of):
    row = {"subject": "alice", "predicate": {"name": "mother", "score": 0.5}, "object": "bob", "source": {"rank": 1, "query": "q"}}
    assert answers_of(prediction_streams(write("x.jsonl", lines(row)))) == [(*KIN[0], 0.5, 1, "q")]


def test_a_list_of_three_texts_may_be_a_triple_and_the_help_says_how_to_say_so(write, answers_of):
    path = write("x.jsonl", lines({"doc": 1, "triple": ["alice", "mother", "bob"]}))
    with pytest.raises(InputError) as raised:
        answers_of(prediction_streams(path))
    helps = "is `triple` a triple? `--predictions-columns head=triple.0,relation=triple.1,tail=triple.2`"
    assert raised.value.problems[0].helps[0] == helps


def test_members_of_a_list_are_chosen_by_their_places(write, facts_of):
    path = write("x.jsonl", lines({"triple": ["alice", "mother", "bob"], "notes": ["a", "b"]}))
    columns = {"head": "triple.0", "relation": "triple.1", "tail": "triple.2"}
    assert facts_of(observed_streams(FactFile(path, columns=columns))) == KIN[:1]


def test_fields_that_come_late_or_are_missing_are_unknown_scores(write, answers_of):
    rows = [{"head": "a", "relation": "p", "tail": "b"}, {"head": "a", "relation": "p", "tail": "c", "score": "0.25", "query": 3}]
    assert answers_of(prediction_streams(write("x.jsonl", lines(rows[0], {**rows[1], "query": None})))) == [
        ("p", "a", "b", None, None, None),
        ("p", "a", "c", 0.25, None, None),
    ]


def test_every_wrong_line_is_told_with_its_place(write, facts_of):
    path = write(
        "x.jsonl",
        '{"head": "a", "relation": "p", "tail": "b"}\n'
        '{"head": "a", "relation": "p",\n'
        "\n"
        '["a", "p", "b"]\n'
        '{"head": "a", "relation": "p", "tail": null}\n'
        '{"head": "a", "relation": 2.5, "tail": ["b"]}\n'
        '{"head": "a", "relation": "p", "tail": NaN}\n'
        '{"head": "\\ud800", "relation": "p", "tail": 1}\n'
        '{"head": "a", "relation": "p", "tail": 1, "score": "high"}\n',
    )
    with pytest.raises(InputError) as raised:
        list(prediction_streams(path)[0].open())
    told = [(problem.code, problem.place.line, problem.place.column) for problem in raised.value.problems if problem.place]
    assert told == [
        ("E310", 2, 31),
        ("E310", 3, 1),
        ("E310", 4, None),
        ("E312", 5, None),
        ("E314", 6, None),
        ("E310", 7, None),
        ("E314", 8, None),
        ("E314", 9, None),
    ]
    assert raised.value.problems[0].label.startswith("expecting property name")
    assert raised.value.problems[-1].message == '`score` is `"high"`, not a finite number'


@pytest.mark.parametrize("depth", [200, 5_000])
def test_objects_within_objects_are_read_or_refused_with_their_line(write, facts_of, depth):
    deep = '{"head": "a", "relation": "r", "tail": "b", "more": ' + '{"x": ' * depth + "1" + "}" * depth + "}"
    stream = observed_streams(write("x.jsonl", f"{deep}\n"))
    if depth == 200:
        assert facts_of(stream) == [("r", "a", "b")]
        return
    with pytest.raises(InputError) as raised:
        facts_of(stream)
    assert [(problem.code, problem.place.line) for problem in raised.value.problems] == [("E310", 1)]


def test_a_file_without_any_object_is_told_by_its_lines(write, facts_of):
    with pytest.raises(InputError) as raised:
        facts_of(observed_streams(write("x.jsonl", '[{"head": "a"}]\n')))
    assert [(problem.code, problem.place.line) for problem in raised.value.problems] == [("E310", 1)]


@pytest.mark.parametrize("content", ["", "\n\n", "{}\n"])
def test_a_file_without_fields_holds_no_facts(write, facts_of, content):
    with pytest.raises(InputError) as raised:
        facts_of(observed_streams(write("x.jsonl", content)))
    assert [problem.code for problem in raised.value.problems] == ["E304"]


def test_rows_of_a_table_have_a_type_for_each_column(write):
    rows = [
        {"id": 1, "price": 2, "flat": True, "at": {"zip": "44"}, "tags": ["a"], "odd": 1, "none": None},
        {"id": 2, "price": 2.5, "flat": None, "at": {"zip": "45"}, "odd": "x"},
    ]
    stream = file_rows(write("sale.jsonl", lines(*rows)))
    assert dict(zip(stream.schema().names, stream.schema().types, strict=True)) == {
        "id": pa.int64(),
        "price": pa.float64(),
        "flat": pa.bool_(),
        "zip": pa.string(),
        "tags": pa.string(),
        "odd": pa.string(),
        "none": pa.string(),
    }
    (batch,) = stream.open(["id", "price", "zip", "flat", "tags"])
    assert batch.to_pylist()[0] == {"id": 1, "price": 2.0, "zip": "44", "flat": True, "tags": '["a"]'}
    with pytest.raises(InputError) as raised:
        list(stream.open(["odd"]))
    (problem,) = raised.value.problems
    assert (problem.message, problem.place.line) == ("`odd` is a text here and a number in line 1", 2)


def test_declared_types_of_a_table_are_read_from_texts(write):
    path = write("sale.jsonl", lines({"id": 1, "day": "2024-05-31", "odd": 1}, {"id": 2, "day": None, "odd": "x"}))
    stream = file_rows(path, types={"day": ColumnType.DATE, "odd": ColumnType.STRING})
    (batch,) = stream.open(["day", "odd"])
    assert [str(row["day"]) for row in batch.to_pylist()] == ["2024-05-31", "None"]
    assert batch["odd"].to_pylist() == ["1", "x"]
    with pytest.raises(InputError, match="`dya`, which is not a column"):
        file_rows(path, types=dict.fromkeys(("dya", *"abcdefgh"), ColumnType.DATE)).schema()
    with pytest.raises(InputError) as raised:
        list(file_rows(write("t.jsonl", lines({"day": "May"})), types={"day": ColumnType.DATE}).open(["day"]))
    assert raised.value.problems[0].place.line == 1


def test_an_integer_that_does_not_fit_is_told_with_its_line(write):
    stream = file_rows(write("x.jsonl", lines({"id": 1}, {"id": 2**63})))
    assert stream.schema().types == [pa.string()]
    with pytest.raises(InputError) as raised:
        list(stream.open(["id"]))
    assert (raised.value.problems[0].code, raised.value.problems[0].place.line) == ("E314", 2)
