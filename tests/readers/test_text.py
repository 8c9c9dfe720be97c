"""Text files: what is guessed, what is kept as it is, and what is refused with its line."""

from __future__ import annotations

import csv
import datetime
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rulescore.readers.lines import TrimmedStream
from rulescore.readers.sources import observed_streams, prediction_streams
from rulescore.setting.choices import ColumnType
from rulescore.setting.model import FactFile

KIN = [("mother", "alice", "bob"), ("sister", "alice", "daniel")]


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("header", ["", "head relation tail", "Subject Predicate Object", "s p o"])
def test_delimiter_line_end_and_header_are_found_out(write, facts_of, delimiter, end, header):
    lines = [header, "alice mother bob", "alice sister daniel"]
    path = write("facts.txt", end.join(line.replace(" ", delimiter) for line in lines if line) + end)
    assert facts_of(observed_streams(path)) == KIN


@pytest.mark.parametrize("name", ["facts.tsv", "facts.txt.gz", "facts", "facts.dat"])
def test_the_last_line_needs_no_end_and_a_byte_order_mark_is_skipped(write, facts_of, name):
    path = write(name, b"\xef\xbb\xbfalice\tmother\tbob\nalice\tsister\tdaniel")
    assert facts_of(observed_streams(path)) == KIN


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", [1, 2, 300])
@pytest.mark.parametrize("name", ["facts.tsv", "facts.csv", "facts.csv.gz"])
def test_empty_lines_at_the_end_are_passed_over(write, facts_of, name, blank, end):
    mark = "\t" if name == "facts.tsv" else ","
    lines = [mark.join(("alice", "mother", "bob")), mark.join(("alice", "sister", "daniel"))]
    assert facts_of(observed_streams(write(name, end.join(lines) + end * (1 + blank)))) == KIN


@given(st.lists(st.sampled_from([b"\n", b"\r", b"a"]), max_size=12).map(b"".join), st.integers(1, 4))
def test_a_stream_is_trimmed_whatever_its_blocks(text: bytes, size: int) -> None:
    stream = TrimmedStream(pa.BufferReader(text))
    blocks = list(iter(lambda: stream.read(size), b""))
    found, body = b"".join(blocks), text.rstrip(b"\r\n")
    assert max(map(len, blocks), default=0) <= size
    assert text.startswith(found)
    assert found.removeprefix(body) in ({b"", b"\n", b"\r", b"\r\n"} if body else {b""})


def test_values_are_not_interpreted(write, facts_of):
    rows = [("NA", "p", "null"), (" x ", "p", "1e5"), ("007", "p", "true"), ("nan", "p", "#N/A"), ("\x01n5", "p", "é\u2028ü")]
    path = write("facts.tsv", "".join("\t".join(row) + "\n" for row in rows))
    assert facts_of(observed_streams(path)) == [(p, a, b) for a, p, b in rows]


def test_quotes_are_ordinary_characters_in_tab_separated_files(write, facts_of):
    path = write("facts.tsv", '"a\tp\t5" pipe\n""\tp\t"b"\n')
    assert facts_of(observed_streams(path)) == [("p", '"a', '5" pipe'), ("p", '""', '"b"')]


def test_quotes_quote_in_comma_separated_files(write, facts_of):
    path = write("facts.csv", '"a, b",p,"say ""yes"""\n5" pipe,p,"two\nlines"\n')
    assert facts_of(observed_streams(path)) == [("p", "a, b", 'say "yes"'), ("p", '5" pipe', "two\nlines")]


_FIELDS = st.text(st.sampled_from('ab,;"\n\r é'), min_size=1, max_size=4)


@given(st.lists(st.tuples(_FIELDS, _FIELDS), min_size=1, max_size=6), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_what_a_csv_writer_writes_is_read_back(tmp_path: Path, facts_of, rows, quoting):
    """Whatever the fields hold, quotes, delimiters and line ends included."""
    text = io.StringIO()
    csv.writer(text, quoting=quoting).writerows([("head", "relation", "tail"), *((a, "likes", b) for a, b in rows)])
    path = tmp_path / "facts.csv"
    path.write_bytes(text.getvalue().encode())
    assert facts_of(observed_streams(FactFile(path, delimiter=","))) == [("likes", a, b) for a, b in rows]


def test_columns_are_found_by_name_in_any_order_and_others_are_ignored(write, facts_of):
    path = write("facts.csv", "id,tail,relation,note,head\n1,bob,mother,x,alice\n2,daniel,sister,,alice\n")
    assert facts_of(observed_streams(path)) == KIN


def test_a_parts_own_name_comes_before_its_other_names(write, facts_of):
    path = write("facts.tsv", "source\thead\trelation\ttail\nweb\talice\tmother\tbob\n")
    assert facts_of(observed_streams(path)) == KIN[:1]


def test_columns_can_be_chosen_by_name_and_by_number(write, facts_of):
    path = write("facts.csv", "kid,kind,parent\nbob,mother,alice\ndaniel,sister,alice\n")
    by_name = FactFile(path, columns={"head": "parent", "relation": "kind", "tail": "kid"})
    by_number = FactFile(path, header=True, columns={"head": 3, "relation": 2, "tail": 1})
    assert facts_of(observed_streams(by_name)) == facts_of(observed_streams(by_number)) == KIN


def test_a_column_that_does_not_exist_is_an_error_with_a_suggestion(write, facts_of, problems_of):
    path = write("facts.csv", "parent,kind,child\na,b,c\n")
    wrong = FactFile(path, columns={"head": "parrent", "relation": "kind", "tail": "child"})
    (problem,) = problems_of(lambda: facts_of(observed_streams(wrong)))
    assert (problem.code, problem.helps) == ("E320", ("did you mean `parent`?",))


def test_a_header_that_lacks_a_part_is_an_error(write, facts_of, problems_of):
    path = write("facts.csv", "head,kind,tail\na,b,c\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(FactFile(path, header=True))))
    assert (problem.code, problem.message) == ("E320", "no column for `relation`")


def test_a_table_where_facts_are_expected_is_told_with_what_to_write(write, facts_of, problems_of):
    path = write("rides.csv", "id,borough,distance,fare,total\n0,Queens,1.6,7.0,12.95\n")
    helps = [help for problem in problems_of(lambda: facts_of(observed_streams(path))) for help in problem.helps]
    assert "for a table, `rulescore init --table FILE` writes a project file" in helps


def test_a_first_line_that_may_be_a_fact_is_not_dropped(write, facts_of, problems_of):
    path = write("facts.tsv", "s\tp\to\na\tp\tb\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert problem.code == "E318"
    assert facts_of(observed_streams(path, header=False)) == [("p", "s", "o"), ("p", "a", "b")]
    assert facts_of(observed_streams(path, header=True)) == [("p", "a", "b")]


def test_declared_types_make_typed_constants(write, facts_of):
    path = write("facts.csv", "a,p,1.50\nb,p,-2\nc,p,1e3\n")
    typed = FactFile(path, types={"tail": ColumnType.FLOAT})
    assert facts_of(observed_streams(typed)) == [("p", "a", 1.5), ("p", "b", -2), ("p", "c", 1000)]
    path = write("born.tsv", "ann\t2001-02-03\ttrue\t+7\n")
    types = {"a1": ColumnType.DATE, "a2": ColumnType.BOOLEAN, "a3": ColumnType.INTEGER}
    found = facts_of(observed_streams(FactFile(path, predicate="born", types=types)))
    assert found == [("born", "ann", datetime.date(2001, 2, 3), True, 7)]
    assert [type(value) for value in found[0][2:]] == [datetime.date, bool, int]


@pytest.mark.parametrize(
    ("column_type", "text"),
    [
        (ColumnType.INTEGER, "1.0"),
        (ColumnType.INTEGER, "1_000"),
        (ColumnType.INTEGER, " 1"),
        (ColumnType.INTEGER, "٣"),
        (ColumnType.INTEGER, "9" * 5000),
        (ColumnType.FLOAT, "nan"),
        (ColumnType.FLOAT, "inf"),
        (ColumnType.FLOAT, "1e999"),
        (ColumnType.BOOLEAN, "1"),
        (ColumnType.DATE, "2023-02-29"),
        (ColumnType.DATE, "20230228"),
    ],
)
def test_a_value_that_is_not_of_its_type_is_an_error_with_its_place(write, facts_of, problems_of, column_type, text):
    good = {"integer": "1", "float": "1", "boolean": "true", "date": "2023-02-28"}[column_type]
    path = write("facts.tsv", f"a\tp\t{good}\nb\tp\t{text}\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(FactFile(path, types={"tail": column_type}))))
    assert problem.code == "E314"
    assert (problem.place.line, problem.place.column) == (2, 5)


def test_a_type_for_no_column_is_an_error(write, facts_of, problems_of):
    path = write("facts.tsv", "a\tp\tb\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(FactFile(path, types={"tial": ColumnType.INTEGER}))))
    assert (problem.code, problem.helps) == ("E320", ("did you mean `tail`?",))


BINARY, UTF_16 = "the file looks like a binary file", "the file looks like UTF-16"
# What stands in a file, the code, the place as line:column, and words of the message.
TABBED = [
    ("a\tp\tb\na\tp\n", "E310", "2:3", ""),
    ("a\tp\tb\na\tp\tb\tc\n", "E310", "2:7", ""),
    ("a\tp\n", "E310", "1:3", ""),
    ("a\tp\tb\n\na\tp\tc\n", "E310", "2:1", ""),
    ("\na\tp\tb\n", "E310", "1:1", ""),
    ("a\tp\tb\r\n\r\na\tp\tc\r\n\r\n", "E310", "2:1", ""),
    ("a\tp\tb\n\tp\tc\n", "E312", "2:1", ""),
    ("a\tp\tb\na\t\tc\n", "E312", "2:3", ""),
    ("a\tp\tb\na\tp\t\n", "E312", "2:5", ""),
    (b"a\tp\tb\na\tp\tc\xff\n", "E313", "2:6", ""),
    ("a\tp\tb\ra\tp\r", "E310", "2:3", ""),
    ("head\trelation\ttail\na\tp\tb\nc\tp\n", "E310", "3:3", ""),
    ("s\tsource\tp\to\n1\t2\t3\t4\n", "E320", "", "columns `s` and `source` both mean head"),
    ("", "E304", "", ""),
    ("head\trelation\ttail\n", "E304", "", ""),
    ("head\trelation\ttail", "E304", "", ""),
    (b"\xef\xbb\xbf", "E304", "", ""),
    (b"PAR1\x15\x04\x00\x00\n" * 30, "E305", "", BINARY),
    ("a\tp\tb\n".encode("utf-16"), "E305", "", UTF_16),
    (b"\xfe\xff" + "a\tp\tb\n".encode("utf-16-be"), "E305", "", UTF_16),
]
QUOTED = [
    ('a,p,b\nc,p,"d\ne,p,f\n', "E310", "2:5", ""),
    ('a,p,b\n"c"d,p,e\nf,p,g\n', "E310", "2:1", ""),
    ('a,p,b\nc,p,"d" \n', "E310", "2:5", ""),
    ('a,p,b\nc,p,"d', "E310", "2:5", ""),
    ('a,p,"b\nb"\nc,p\n', "E310", "3:3", ""),
    ("head,relation\na,relation\n", "E310", "", "there is no column for the tail"),
    ("subject,object\nsubject,object\n", "E310", "", "there is no column for the relation"),
    ("relation,tail\nrelation,tail\n", "E310", "", "there is no column for the head"),
    ("head;relation\na;relation\n", "E310", "", "there is no column for the tail"),
]


@pytest.mark.parametrize(
    ("name", "content", "code", "at", "message"),
    [
        *((name, *row) for name in ("facts.tsv", "facts.tsv.gz") for row in TABBED),
        *(("facts.nt", *row) for row in TABBED if row[3] in {BINARY, UTF_16}),
        *(("facts.csv", *row) for row in QUOTED),
    ],
)
def test_what_is_not_understood_is_one_problem_with_its_place(write, facts_of, problems_of, name, content, code, at, message):
    path = write(name, content)
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert (problem.code, problem.place.name) == (code, str(path))
    assert not at or f"{problem.place.line}:{problem.place.column}" == at
    assert not message or problem.message == message


def test_a_quoted_field_may_cross_the_blocks_in_which_a_file_is_read(write, facts_of):
    rows = [(f"{i}," * 20, "p", f'"{i}"\n') for i in range(70_000)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path = write("facts.csv", text.getvalue())
    assert len(text.getvalue()) > 8 << 20
    assert facts_of(observed_streams(path)) == [(p, a, b) for a, p, b in rows]


@pytest.mark.parametrize("before", [0, 100_000])
def test_a_row_may_be_longer_than_the_blocks_in_which_a_file_is_read(write, facts_of, before):
    long = "x" * (9 << 20)
    path = write("facts.tsv", "".join(f"a{i}\tp\tb{i}\n" for i in range(before)) + f"alice\tp\t{long}\nbob\tp\tc\n")
    found = facts_of(observed_streams(path))
    assert len(found) == before + 2
    assert {("p", "alice", long), ("p", "bob", "c")} <= {*found}


@pytest.mark.slow
def test_a_bad_row_far_into_a_file_is_found(write, facts_of, problems_of):
    path = write("facts.tsv", "alice\tmother\tbob\n" * 600_000 + "alice\tmother\n" + "alice\tmother\tbob\n" * 10)
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert (problem.code, problem.place.line) == ("E310", 600_001)


def test_the_first_twenty_problems_are_shown_and_more_are_announced(write, facts_of, problems_of):
    path = write("facts.tsv", "a\tp\tb\n" * 30 + "a\tp\n" * 30)
    problems = problems_of(lambda: facts_of(observed_streams(path)))
    assert [problem.place.line for problem in problems] == list(range(31, 51))
    assert "only the first 20 problems are shown" in problems[-1].notes


@pytest.mark.parametrize("damage", [lambda data: data[:-12], lambda data: b"plain text", lambda data: data + b"rubbish"])
def test_a_damaged_archive_is_an_error(write, facts_of, problems_of, damage):
    path = write("facts.tsv.gz", "".join(f"a{i}\tp\tb{i * i}\n" for i in range(2000)))
    path.write_bytes(damage(path.read_bytes()))
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert problem.code == "E305"


def test_archives_of_several_members_are_read_to_the_end(write, facts_of):
    path = write("facts.tsv.gz", "alice\tmother\tbob\n")
    path.write_bytes(path.read_bytes() + write("more.tsv.gz", "alice\tsister\tdaniel\n").read_bytes())
    assert facts_of(observed_streams(path)) == KIN


def test_predictions_carry_score_rank_and_query(write, answers_of):
    path = write("model.tsv", "query\tposition\thead\trelation\ttail\tconfidence\nq1\t1\ta\tp\tb\t0.5\nq2\t1\ta\tp\tc\t-2e-3\n")
    assert answers_of(prediction_streams(path)) == [("p", "a", "b", 0.5, 1, "q1"), ("p", "a", "c", -0.002, 1, "q2")]


def test_direction_and_test_row_together_are_the_query(write, answers_of):
    header = "query_direction\ttest_row\tposition\thead\trelation\ttail\tscore\n"
    path = write("model.tsv", header + "tail\t0\t1\ta\tp\tb\t1\nhead\t0\t1\tc\tp\tb\t2\n")
    assert answers_of(prediction_streams(path)) == [("p", "a", "b", 1.0, 1, "tail 0"), ("p", "c", "b", 2.0, 1, "head 0")]


def test_direction_alone_is_no_query(write, answers_of):
    path = write("model.tsv", "query_direction\thead\trelation\ttail\tscore\tanswer\ntail\ta\tp\tb\t1\tb\ntail\tc\tp\td\t2\te\n")
    assert answers_of(prediction_streams(path)) == [("p", "a", "b", 1.0, None, None), ("p", "c", "d", 2.0, None, None)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [("a\tp\tb", (None, None)), ("a\tp\tb\t0.5", (0.5, None)), ("a\tp\tb\t0.5\t1", (0.5, 1)), ("a\tp\tb\t\t1", (None, 1))],
)
def test_predictions_without_header_may_add_score_and_rank(write, answers_of, line, expected):
    assert answers_of(prediction_streams(write("model.tsv", line + "\n"))) == [("p", "a", "b", *expected, None)]


@pytest.mark.parametrize("answer", ["x\t1", "nan\t1", "inf\t1", "1\t0", "1\t1.5", "1\t-1", "1\tx"])
def test_a_score_or_rank_that_is_none_is_an_error_with_its_line(write, answers_of, problems_of, answer):
    path = write("model.tsv", f"a\tp\tb\t1\t1\nc\tp\td\t{answer}\n")
    (problem,) = problems_of(lambda: answers_of(prediction_streams(path)))
    assert (problem.code, problem.place.line) == ("E314", 2)


def test_a_stream_can_be_read_again(write, facts_of):
    streams = observed_streams(write("facts.tsv", "alice\tmother\tbob\nalice\tsister\tdaniel\n"))
    assert facts_of(streams) == facts_of(streams) == KIN


@pytest.mark.parametrize("first", ["head,relatoin,tail", "subject,verb,object", "relation,tail,origin", "Head,Relation,End"])
def test_a_first_line_that_names_two_parts_of_a_triple_is_neither_header_nor_fact(write, facts_of, problems_of, first):
    path = write("facts.csv", f"{first}\nalice,mother,bob\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert (problem.code, problem.place.line) == ("E318", 1)
    assert facts_of(observed_streams(path, header=False))[1:] == [("mother", "alice", "bob")]


def test_the_word_that_is_no_column_name_is_pointed_at(write, answers_of, problems_of):
    path = write("facts.csv", "head,relatoin,tail,score\nalice,mother,bob,1\n")
    (problem,) = problems_of(lambda: answers_of(prediction_streams(path)))
    assert (problem.place.column, problem.place.length) == (6, len("relatoin"))
    assert "`relatoin` the relation" in problem.helps[0]


def test_single_letters_that_are_column_names_may_be_constants(write, facts_of):
    assert facts_of(observed_streams(write("facts.tsv", "s\tp\tx\n"))) == [("p", "s", "x")]


def test_rel_names_the_relation(write, facts_of):
    assert facts_of(observed_streams(write("facts.csv", "tail,rel,head\nbob,mother,alice\n"))) == KIN[:1]


@pytest.mark.parametrize("header", [None, True])
def test_a_wrong_delimiter_is_one_problem_that_names_the_right_one(write, facts_of, problems_of, header):
    path = write("facts.txt", "head\trelation\ttail\n" + "a\tp\tb\n" * 30)
    (problem,) = problems_of(lambda: facts_of(observed_streams(path, delimiter=",", header=header)))
    assert (problem.code, problem.message) == ("E310", "no line has the delimiter `,`")
    assert "tab" in problem.helps[0]


def test_facts_of_one_argument_may_hold_any_delimiter(write, facts_of):
    path = write("city.txt", "New York\nLos Angeles\n")
    assert facts_of(observed_streams({"city": path}, delimiter="\t")) == [("city", "New York"), ("city", "Los Angeles")]


def test_a_short_row_of_predictions_is_told_what_may_follow_and_no_name_of_a_predicate(write, answers_of, problems_of):
    path = write("m.tsv", "a\tp\tb\na\tp\n")
    (problem,) = problems_of(lambda: answers_of(prediction_streams(path)))
    assert problem.notes == ("the columns are head, relation, tail; score and rank may follow",)
    assert problem.helps == ()
