"""Pipes and standard input are read once and completely; a file has one opening for a reading."""

from __future__ import annotations

import gc
import gzip
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rulescore.arguments.tables import Table
from rulescore.readers import text
from rulescore.readers.files import InputFile
from rulescore.readers.sources import observed_streams, prediction_streams
from rulescore.readers.table_rows import file_rows
from rulescore.session.api import audit, score
from rulescore.setting.model import FactFile

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

# 16 bytes a line: what a first opening would take away ends at the end of a line, and nothing would be noticed.
LINES = "".join(f"e{i:05d}\tp\tf{i:05d}\n" for i in range(20_000))
FACTS = [("p", f"e{i:05d}", f"f{i:05d}") for i in range(20_000)]
PIPED = Callable[..., Path]


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[PIPED]:
    """Makes a named pipe that gives these bytes to whoever opens it first, and nothing to anyone else."""
    writers = []

    def make(content: str | bytes, name: str = "pipe") -> Path:
        path = tmp_path / name
        os.mkfifo(path)
        data = content.encode() if isinstance(content, str) else content
        writers.append(Thread(target=lambda: path.write_bytes(data), daemon=True))
        writers[-1].start()
        return path

    yield make
    for writer in writers:
        writer.join(10)


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_every_row_of_a_pipe_is_read(piped, facts_of):
    assert facts_of(observed_streams(piped(LINES))) == FACTS


def test_a_pipe_may_be_compressed(piped, facts_of):
    assert facts_of(observed_streams(piped(gzip.compress(LINES.encode())))) == FACTS


def test_a_pipe_is_asked_for_its_header_and_delimiter_as_a_file_is(piped, facts_of):
    assert facts_of(observed_streams(piped("relation,tail,head\np,b,a\n"))) == [("p", "a", "b")]


def test_a_pipe_that_is_read_again_gives_the_same(piped, facts_of):
    streams = observed_streams(piped(LINES))
    assert facts_of(streams) == facts_of(streams) == FACTS


def test_predictions_come_from_a_pipe(piped, answers_of):
    assert answers_of(prediction_streams(piped(LINES))) == [(*fact, None, None, None) for fact in FACTS]


def test_ntriples_and_parquet_come_from_a_pipe(piped, facts_of):
    triples = FactFile(piped("<a> <p> <b> .\n", "triples"), format="ntriples")
    rows = io.BytesIO()
    pq.write_table(pa.table({"head": ["a"], "relation": ["p"], "tail": ["b"]}), rows)
    table = FactFile(piped(rows.getvalue(), "rows"), format="parquet")
    assert facts_of(observed_streams([triples, table])) == [("p", "a", "b")] * 2


def test_a_wrong_row_of_a_pipe_has_its_line(piped, facts_of, problems_of):
    path = piped(LINES + "a\tb\n")
    (problem,) = problems_of(lambda: facts_of(observed_streams(path)))
    assert (problem.code, problem.place.name, problem.place.line) == ("E310", str(path), 20_001)


def test_an_empty_pipe_holds_no_facts(piped, facts_of, problems_of):
    (problem,) = problems_of(lambda: facts_of(observed_streams(piped(""))))
    assert problem.code == "E304"


def test_the_whole_of_a_setting_comes_from_pipes(piped):
    found = score(
        piped("a\tp\tb\nb\tp\tc\n", "facts"),
        {"m": piped("a\tp\tc\n", "answers")},
        piped("p(X, Z) <- p(X, Y), p(Y, Z).\nclosed p.\n", "rules"),
        negatives=piped("b\tp\ta\n", "negatives"),
    )
    assert found.model_results[0].predictions.distinct == 1
    assert found.rule_results[0].dataset.evaluable == 1


@pytest.mark.parametrize("form", ["text", "parquet"])
def test_a_table_comes_from_a_pipe(piped, form):
    rows = io.BytesIO(b"id,price\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(3000)))
    if form == "parquet":
        rows = io.BytesIO()
        pq.write_table(pa.table({"id": range(3000), "price": range(3000)}), rows)
    types = {"price": "integer"} if form == "text" else {}
    table = Table(piped(rows.getvalue()), key="id", types=types, format=form)
    found = audit(None, "P >= 0 <- sale(id: A, price: P).", tables={"sale": table})
    assert found.rule_results[0].dataset.evaluable == 3000


def test_standard_input_is_read_for_the_one_who_asks_first(standard_input, facts_of, problems_of):
    standard_input(LINES)
    assert facts_of(observed_streams("/dev/stdin")) == FACTS
    (problem,) = problems_of(lambda: facts_of(observed_streams("/dev/stdin")))
    assert problem.code == "E327"


@pytest.mark.parametrize("second", ["pipe", "link"])
@pytest.mark.timeout(20)
def test_a_pipe_that_two_sources_name_is_refused_before_it_is_read(tmp_path, problems_of, second):
    """The second reader would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    first, second = str(tmp_path / "pipe"), str(tmp_path / second)
    rule = "p(X, Y) <- p(Y, X)."
    for call in (lambda: audit([first, second], rule), lambda: score(first, {"m": second}, rule, negatives=[("a", "p", "b")])):
        (problem,) = problems_of(call)
        assert (problem.code, problem.message) == ("E327", f"the pipe `{second}` is given twice, but can be read only once")


@pytest.mark.parametrize("form", ["tsv", "parquet"])
def test_a_file_of_facts_is_opened_once(tmp_path, monkeypatch, form):
    path = tmp_path / f"facts.{form}"
    path.write_text("a\tp\tb\n")
    if form == "parquet":
        pq.write_table(pa.table({"head": ["a"], "relation": ["p"], "tail": ["b"]}), path)
    plain, opened = Path.open, []

    def counted(file, *given, **more):
        opened.append(file)
        return plain(file, *given, **more)

    monkeypatch.setattr(Path, "open", counted)
    audit(path, "p(X, Y) <- p(Y, X).")
    assert opened.count(path) == 1


def test_rules_come_from_standard_input(standard_input):
    standard_input("p(X, Y) <- p(Y, X).\r\n")
    assert len(audit([("a", "p", "b")], "/dev/stdin").rule_results) == 1


def test_there_may_be_no_standard_input(monkeypatch, facts_of, problems_of):
    monkeypatch.setattr(sys, "stdin", None)
    (problem,) = problems_of(lambda: facts_of(observed_streams("/dev/stdin")))
    assert (problem.code, problem.message) == ("E302", "there is no standard input")


def test_a_pipe_for_which_there_is_no_room_is_an_error(standard_input, monkeypatch, facts_of, problems_of):
    standard_input(LINES)
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(Path("/dev/full").open, "wb"))
    (problem,) = problems_of(lambda: facts_of(observed_streams("/dev/stdin")))
    assert problem.code == "E302"
    assert problem.message.endswith("no space left on device")


def test_a_device_is_no_file(problems_of):
    (problem,) = problems_of(lambda: observed_streams("/dev/zero"))
    assert problem.code == "E302"


def test_the_copy_of_a_pipe_goes_with_the_source(piped):
    file = InputFile(piped(LINES))
    with file.opened() as opening:
        assert opening.reader().read() == LINES.encode()
        again = opening.reader()
    del file
    gc.collect()
    with pytest.raises(ValueError, match="closed"):
        again.read()


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was(write, monkeypatch, facts_of):
    path = write("facts.tsv", "head\trelation\ttail\na\tp\tb\n")
    other = write("other.tsv", "x\tq\ty\nz\tq\ty\n")

    def replacing(*given: object) -> text.Dialect:
        found = find_dialect(*given)
        other.replace(path)
        return found

    find_dialect = text.find_dialect
    monkeypatch.setattr(text, "find_dialect", replacing)
    assert facts_of(observed_streams(path)) == [("p", "a", "b")]


@pytest.mark.parametrize("name", ["sale.csv", "sale.parquet"])
def test_a_table_that_is_replaced_between_its_names_and_its_rows_is_refused(name, tmp_path, problems_of):
    path = tmp_path / name

    def write(names: list[str]) -> None:
        if name.endswith("csv"):
            path.write_text(",".join(names) + "\n1,2\n")
        else:
            pq.write_table(pa.table({one: ["1"] for one in names}), path)

    write(["id", "price"])
    rows = file_rows(path)
    assert rows.schema().names == ["id", "price"]
    write(["price", "identity"])
    (problem,) = problems_of(lambda: list(rows.open(["id"])))
    assert (problem.code, problem.message) == ("E305", "the file has been changed while it was read")
