"""RDF in its five syntaxes: terms as constants, graphs, and statements that are none."""

from __future__ import annotations

import datetime
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, serialize

from rulescore.readers.sources import observed_streams, prediction_streams
from rulescore.setting.model import FactFile

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
        (f'"2020-02-29T00:00:00"^^<{XSD}dateTime>', datetime.datetime(2020, 2, 29)),
        (f'"2020-02-29T01:00:00.50+01:00"^^<{XSD}dateTime>', datetime.datetime(2020, 2, 29, 0, 0, 0, 500_000, datetime.UTC)),
        (f'"2020-02-29T00:00:00Z"^^<{XSD}dateTimeStamp>', datetime.datetime(2020, 2, 29, tzinfo=datetime.UTC)),
        (f'"00:00:00"^^<{XSD}time>', "00:00:00"),
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
        ("<a> <p> <b> . <c>", "E317", 15),
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


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "facts.nt",
            '<http://x/a> <http://x/p> <http://x/b> .\n<http://x/a> <http://x/q> "7"^^<XSDinteger> .\n_:n <http://x/p> "é" .\n',
        ),
        (
            "facts.nq",
            '<http://x/a> <http://x/p> <http://x/b> <http://x/g> .\n<http://x/a> <http://x/q> "7"^^<XSDinteger> .\n'
            '_:n <http://x/p> "é" <http://x/h> .',
        ),
        ("facts.ttl.gz", '@prefix x: <http://x/> .\nx:a x:p x:b ;\n  x:q 7 .\n_:n x:p "é"@fr .'),
        ("facts.trig", '@prefix x: <http://x/> .\nx:g { x:a x:p x:b }\nx:a x:q 7 .\nGRAPH x:h { _:n x:p """é""" }'),
        (
            "facts.rdf",
            """<?xml version="1.0"?>
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">
              <rdf:Description rdf:about="http://x/a">
                <x:p rdf:resource="http://x/b"/><x:q rdf:datatype="XSDinteger">7</x:q>
              </rdf:Description>
              <rdf:Description rdf:nodeID="n"><x:p>é</x:p></rdf:Description>
            </rdf:RDF>""",
        ),
    ],
)
def test_every_syntax_gives_the_same_facts(write, facts_of, name, content):
    path = write(name, content.replace("XSD", XSD))
    expected = [("http://x/p", "http://x/a", "http://x/b"), ("http://x/q", "http://x/a", 7), ("http://x/p", "_:n", "é")]
    assert facts_of(observed_streams(path)) == expected


_NODES = st.sampled_from([NamedNode("http://x/a"), NamedNode("http://x/é#b"), BlankNode("n0"), BlankNode("n1")])
_LITERALS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=6).map(Literal),
    st.integers().map(Literal),
    st.floats(allow_nan=False, allow_infinity=False).map(Literal),
    st.booleans().map(Literal),
    st.dates(min_value=datetime.date(1000, 1, 1)).map(lambda day: Literal(day.isoformat(), datatype=NamedNode(f"{XSD}date"))),
    st.just(Literal("colour", language="en")),
)
_QUADS = st.builds(Quad, _NODES, st.sampled_from([NamedNode("http://x/p"), NamedNode("http://x/q")]), st.one_of(_NODES, _LITERALS))
_ENDINGS = {
    "nt": RdfFormat.N_TRIPLES,
    "nq": RdfFormat.N_QUADS,
    "ttl": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "rdf": RdfFormat.RDF_XML,
}


@given(st.lists(_QUADS, min_size=1, max_size=6))
def test_what_one_syntax_says_every_other_says_too(tmp_path_factory, quads):
    folder = tmp_path_factory.mktemp("rdf")
    found = {}
    for ending, form in _ENDINGS.items():
        path = folder / f"facts.{ending}"
        path.write_bytes(serialize([quad.triple for quad in quads], format=form))
        (stream,) = observed_streams(path)
        found[ending] = sorted(tuple(row.values()) for batch in stream.open() for row in batch.rows.to_pylist())
    assert all(facts == found["nt"] for facts in found.values())


def test_blank_nodes_without_a_name_are_numbered_in_the_order_of_the_file(write, facts_of):
    path = write("people.ttl", "<a> <p> [ <q> 1 ], [] .\n_:mine <p> (2) .")
    first = "http://www.w3.org/1999/02/22-rdf-syntax-ns#first"
    facts = facts_of(observed_streams(path))
    assert facts == facts_of(observed_streams(path))
    assert {("q", "_:people#1", 1), ("p", "a", "_:people#1"), ("p", "a", "_:people#2"), (first, "_:people#3", 2)} < set(facts)
    assert ("p", "_:mine", "_:people#3") in facts


GRAPHS = "<http://x/g> { <a> <p> <b> } _:h { <a> <p> <c> } <a> <p> <d> ."


@pytest.mark.parametrize(("graph", "tails"), [(None, ["b", "c", "d"]), ("http://x/g", ["b"]), ("_:h", ["c"]), ("default", ["d"])])
def test_all_graphs_are_read_or_the_one_that_is_asked_for(write, facts_of, graph, tails):
    file = FactFile(write("facts.trig", GRAPHS), graph=graph)
    assert facts_of(observed_streams(file)) == [("p", "a", tail) for tail in tails]


def test_a_graph_that_is_not_there_has_no_facts_and_turtle_has_no_graphs(write, facts_of, problems_of):
    for name, code in (("facts.trig", "E304"), ("facts.ttl", "E320")):
        file = FactFile(write(name, "<a> <p> <b> ."), graph="http://x/g")
        (problem,) = problems_of(lambda file=file: facts_of(observed_streams(file)))
        assert problem.code == code


_XML = (
    "<?xml version='1.0'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x/'>\n{}\n</rdf:RDF>"
)


@pytest.mark.parametrize(
    ("name", "content", "code", "line", "column"),
    [
        ("facts.ttl", "<a> <p> <b> .\n<a> <p>\n  x:y .\n", "E317", 3, 3),
        ("facts.ttl", '<a> <p> <b> .\n<a> <p> "é", é .\n', "E317", 2, 14),
        ("facts.ttl", f'<a> <p> "7", "x" ;\n <q> "x"^^<{XSD}integer>\n .\n', "E314", 2, 7),
        ("facts.ttl", b'<a> <p> <b> .\n<a> <p> "\xff" .\n', "E313", 2, 10),
        ("facts.ttl", "<a> <p> <b> .\n<a> <p> <<( <a> <p> <b> )>> .\n", "E314", 2, 9),
        ("facts.nq", "<a> <p> <b> <g> <h> .\n", "E317", 1, 17),
        ("facts.trig", "<g> { <a> <p> <b>\n", "E317", 2, 1),
        ("facts.rdf", _XML.format("<oops/>"), "E317", 3, None),
        ("facts.rdf", _XML.format("<x:T><x:p></x:q></x:T>"), "E317", 3, None),
        ("facts.rdf", _XML.format(f"<x:T><x:p rdf:datatype='{XSD}date'>today</x:p></x:T>"), "E314", 3, 64),
        ("facts.xml", "<html><body/></html>", "E317", 1, None),
    ],
)
def test_a_problem_has_its_line_and_column(write, facts_of, problems_of, name, content, code, line, column):
    (problem,) = problems_of(lambda: facts_of(observed_streams(write(name, content))))
    assert (problem.code, problem.place.line, problem.place.column) == (code, line, column)


def test_a_damaged_archive_is_an_error(write, facts_of, problems_of):
    path = write("facts.ttl.gz", "<a> <p> <b> .")
    path.write_bytes(path.read_bytes()[:-9])
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert problem.code == "E305"


@pytest.mark.slow
def test_without_the_extra_a_message_names_it(write):
    """In a process of its own: what has been imported stays."""
    path = write("facts.ttl", "<a> <p> <b> .")
    program = f"""
import sys
sys.modules["pyoxigraph"] = None
import rulescore
rulescore.audit({str(path)!r}, "p(X, Y) <- p(Y, X).")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "error[E938]: reading Turtle needs an optional dependency that is not installed" in done.stderr
    assert "pip install '.[rdf]'" in done.stderr
