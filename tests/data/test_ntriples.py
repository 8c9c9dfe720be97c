"""N-Triples: terms as constants, and lines that are no statement."""

from __future__ import annotations

import datetime

import pytest

from rulescore.data.request import FactFile
from rulescore.data.sources import observed_streams, prediction_streams

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("<http://x.org/a#b>", "http://x.org/a#b"),
        ("<http://x.org/\\u00e9>", "http://x.org/é"),
        ("_:b0", "_:b0"),
        ("_:b.1-c", "_:b.1-c"),
        ('"plain"', "plain"),
        ('""', ""),
        ('"say \\"yes\\"\\t\\u00e9\\U0001F600\\\\"', 'say "yes"\té😀\\'),
        ('"colour"@en-GB', "colour"),
        (f'"7"^^<{XSD}integer>', 7),
        (f'"-7"^^<{XSD}long>', -7),
        (f'"+7"^^<{XSD}nonNegativeInteger>', 7),
        (f'"7.50"^^<{XSD}decimal>', 7.5),
        (f'"1e3"^^<{XSD}double>', 1000),
        (f'"true"^^<{XSD}boolean>', True),
        (f'"0"^^<{XSD}boolean>', False),
        (f'"2020-02-29"^^<{XSD}date>', datetime.date(2020, 2, 29)),
        (f'"2020-02-29T00:00:00"^^<{XSD}dateTime>', "2020-02-29T00:00:00"),
        (f'"x"^^<{XSD}string>', "x"),
        ('"7"^^<http://x.org/own>', "7"),
    ],
)
@pytest.mark.parametrize("line", ["<s> <p> {} .\n", "  <s>\t<p>   {}. # why not\r\n", "<s><p>{}."])
def test_objects_are_constants_of_their_datatype(write, facts_of, term, value, line):
    (fact,) = facts_of(observed_streams(write("facts.nt", line.format(term))))
    assert fact == ("p", "s", value)
    assert type(fact[2]) is type(value)


def test_comments_and_blank_lines_may_stand(write, facts_of):
    path = write("facts.nt.gz", "# a graph\n\n_:x <p> <b> .\n   \n<a> <p> <c> . # end")
    assert facts_of(observed_streams(path)) == [("p", "_:x", "b"), ("p", "a", "c")]


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        ("<a> <p> <b>", "E317", 12),
        ("<a> <p> .", "E317", 9),
        ('"a" <p> <b> .', "E317", 1),
        ("<a> _:p <b> .", "E317", 5),
        ("a p b .", "E317", 1),
        ('<a> <p> "b .', "E317", 9),
        ('<a> <p> "\\x" .', "E317", 10),
        ('<a> <p> "\\ud800" .', "E317", 10),
        ("<a> <p> <b> . <c>", "E317", 13),
        (f'<a> <p> "x"^^<{XSD}integer> .', "E314", 10),
        (f'<a> <p> "NaN"^^<{XSD}double> .', "E314", 10),
        (f'<a> <p> "2021-02-29"^^<{XSD}date> .', "E314", 10),
        (b'<a> <p> "\xff" .', "E313", 10),
    ],
)
def test_a_line_that_is_no_statement_is_an_error_with_its_place(write, facts_of, problems_of, line, code, column):
    content = line if isinstance(line, bytes) else line.encode()
    path = write("facts.nt", b"<a> <p> <b> .\n" + content + b"\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert (problem.code, problem.place.line, problem.place.column) == (code, 2, column)


def test_the_first_twenty_problems_are_shown(write, facts_of, problems_of):
    path = write("facts.nt", "wrong\n" * 50)
    problems = problems_of(lambda: facts_of(observed_streams(path)))
    assert [problem.place.line for problem in problems] == list(range(1, 21))
    assert "only the first 20 problems are shown" in problems[-1].notes


def test_a_long_file_is_read_in_several_batches(write, facts_of):
    path = write("facts.nt", "".join(f"<a{i}> <p> <b> .\n" for i in range(70_000)))
    assert len(list(observed_streams(path)[0].open())) == 2
    assert facts_of(observed_streams(path)) == [("p", f"a{i}", "b") for i in range(70_000)]


@pytest.mark.parametrize("content", ["", "# nothing\n\n"])
def test_a_file_without_statements_is_an_error(write, facts_of, problems_of, content):
    (problem,) = problems_of(lambda: facts_of(observed_streams(write("facts.nt", content))))
    assert problem.code == "E304"


def test_predictions_have_no_score_rank_or_query(write, answers_of):
    path = write("model.nt", "<a> <p> <b> .\n")
    assert answers_of(prediction_streams(path)) == [("p", "a", "b", None, None, None)]


def test_an_n_triples_file_has_no_columns_to_choose(write, facts_of, problems_of):
    path = write("facts.nt", "<a> <p> <b> .\n")
    for wrong in ({"q": path}, FactFile(path, columns={"head": 1})):
        (problem,) = problems_of(lambda wrong=wrong: facts_of(observed_streams(wrong)))
        assert problem.code == "E320"
