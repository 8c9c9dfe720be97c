"""A file that somebody writes into while we read it is refused; one that is replaced or removed is read as it was."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.arguments.rule_sources import rule_sources
from rulescore.errors import InputError
from rulescore.language.reading import RuleSource
from rulescore.readers import files
from rulescore.readers.inputs import Inputs
from rulescore.readers.sources import observed_streams, prediction_streams
from rulescore.readers.table_rows import file_rows

NAMES = [(f"e{i}", f"f{i}") for i in range(30_000)]
STATEMENTS = "".join(f"<urn:{a}> <urn:p> <urn:{b}> .\n" for a, b in NAMES[:200])
XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:"><rdf:Description rdf:about="urn:a">
<u:p>1</u:p></rdf:Description></rdf:RDF>"""
FACTS: dict[str, str | bytes] = {
    "facts.tsv": "".join(f"{a}\tp\t{b}\n" for a, b in NAMES),
    "facts.csv": "head,relation,tail\n" + "".join(f'"{a}",p,{b}\n' for a, b in NAMES),
    "facts.tsv.gz": gzip.compress("".join(f"{a}\tp\t{b}\n" for a, b in NAMES).encode()),
    "facts.nt": STATEMENTS,
    "facts.ttl": STATEMENTS,
    "facts.nq": STATEMENTS,
    "facts.nt.gz": gzip.compress(STATEMENTS.encode()),
    "facts.rdf": XML,
    "expressgnn.txt": "".join(f"p({a}, {b})\n" for a, b in NAMES[:200]),
    "amie.tsv": "".join(f"<{a}>\t<p>\t<{b}>\n" for a, b in NAMES[:200]),
}
ANYBURL = "".join(f"{a} p {b}\nHeads: {a}\t0.5\t\nTails: {b}\t0.5\t\n" for a, b in NAMES[:200])


def in_place(path: Path, begin: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(begin)
        file.write(content)


CHANGES: dict[str, Callable[[Path], object]] = {
    "emptied": lambda path: os.truncate(path, 0),
    "halved": lambda path: os.truncate(path, path.stat().st_size // 2),
    "appended to": lambda path: in_place(path, path.stat().st_size, b"x\tp\ty\n"),
    "overwritten": lambda path: in_place(path, path.stat().st_size // 2, b"x"),
    "written anew": lambda path: path.write_bytes(path.read_bytes()),
}


@pytest.fixture(params=CHANGES, ids=lambda name: name.replace(" ", "-"))
def change(request: pytest.FixtureRequest) -> Callable[[Path], object]:
    return CHANGES[request.param]


def old(path: Path, content: str | bytes = b"") -> Path:
    """A file that was written long ago: what is written within some milliseconds has one time."""
    if content:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(path, ns=(0, 10**18))
    return path


def refused(batches: Iterator[Any], change: Callable[[Path], object], path: Path) -> None:
    next(batches)
    change(path)
    with pytest.raises(InputError) as error:
        list(batches)
    (problem,) = error.value.problems
    assert (problem.code, problem.message) == ("E305", "the file has been changed while it was read")
    assert problem.place is not None
    assert problem.place.name == str(path)


@pytest.mark.parametrize("name", FACTS)
def test_facts_that_change_are_refused(name: str, change: Callable[[Path], object], tmp_path: Path) -> None:
    path = old(tmp_path / name, FACTS[name])
    (stream,) = observed_streams(path)
    refused(stream.open(), change, path)


@cache
def long_file(name: str) -> bytes:
    """A file of several batches, made once for all changes."""
    if name == "anyburl.txt":
        return ANYBURL.encode()
    if name == "table.csv":
        return b"id,value\n" + b"".join(f"{a},{b}\n".encode() for a, b in NAMES)
    heads, tails = map(list, zip(*(NAMES * 10), strict=True))
    columns = {"head": heads, "relation": ["p"] * len(heads), "tail": tails} if name == "facts.parquet" else {"id": heads}
    pq.write_table(pa.table(columns), sink := pa.BufferOutputStream())
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("name", ["facts.parquet", "table.parquet", "table.csv", "anyburl.txt"])
def test_other_files_that_change_are_refused(name: str, change: Callable[[Path], object], tmp_path: Path) -> None:
    path = old(tmp_path / name, long_file(name))
    if name.startswith("table"):
        refused(file_rows(path).open(["id"]), change, path)
    else:
        (stream,) = prediction_streams(path) if name == "anyburl.txt" else observed_streams(path)
        refused(stream.open(), change, path)


@pytest.mark.parametrize("leave", [Path.unlink, lambda path: path.with_name("other").replace(path)], ids=["removed", "replaced"])
def test_a_file_that_is_no_longer_there_is_read_to_its_end(leave: Callable[[Path], object], tmp_path: Path) -> None:
    path = old(tmp_path / "facts.tsv", FACTS["facts.tsv"])
    (tmp_path / "other").write_text("a\tp\tb\n")
    (stream,) = observed_streams(path)
    batches = stream.open()
    first = next(batches)
    leave(path)
    assert first.rows.num_rows + sum(batch.rows.num_rows for batch in batches) == len(NAMES)


def test_a_second_reading_is_of_the_same_file(tmp_path: Path) -> None:
    """Scores and accuracy read the predictions one after the other."""
    path = tmp_path / "facts.npy"
    np.save(path, np.array([["a", "p", "b"]]))
    (stream,) = observed_streams(old(path))
    list(stream.open())
    np.save(path, np.array([["a", "p", "c"]]))
    with pytest.raises(InputError, match="E305"):
        list(stream.open())


def test_predictions_that_change_between_scores_and_accuracy_are_refused(tmp_path: Path) -> None:
    predictions, truth = old(tmp_path / "model.tsv", "a\tp\tb\t0.5\n"), old(tmp_path / "truth.tsv", "a\tp\tb\n")

    def rewrite(a: str) -> bool:
        predictions.write_text("a\tp\tc\t0.5\n")
        return True

    given = {"truth": truth, "functions": {"rewrite": rewrite}}
    with pytest.raises(InputError, match=r"(?s)E305.*model\.tsv"):
        rulescore.score([("a", "q", "b")], {"m": predictions}, "false <- p(X, Y), rewrite(X).", **given)


def test_the_digest_is_of_the_file_that_was_read(tmp_path: Path) -> None:
    path = old(tmp_path / "facts.tsv", "a\tp\tb\n")
    inputs = Inputs(make_setting(observed=path, rules="false <- p(X, X)."))
    (tmp_path / "later.tsv").write_text("c\tp\td\ne\tp\tf\n")
    (tmp_path / "later.tsv").replace(path)
    (stream,) = inputs.setting.observed
    assert sum(batch.rows.num_rows for batch in stream.open()) == 2  # type: ignore[union-attr]
    *_, facts = inputs.read({})
    assert (facts.size, facts.digested().sha256) == (12, hashlib.sha256(path.read_bytes()).hexdigest())
    in_place(path, 0, b"x")
    assert facts.digested().sha256 is None


def test_a_rule_file_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old(tmp_path / "many.rules", "p(X, Y) <- q(X, Y).\n" * 1000)

    def changing(file: Any) -> Iterator[bytes]:
        yield file.read(100)
        os.truncate(path, 200)
        yield file.read()

    monkeypatch.setattr("rulescore.arguments.rule_sources.chunks", changing)
    with pytest.raises(InputError, match="E305"):
        rule_sources(path)


@pytest.mark.parametrize("name", ["r.rules", "r.rules.gz", "r.ttl"])
def test_rules_have_the_digest_of_the_bytes_that_were_read(name: str, tmp_path: Path) -> None:
    axiom = "<urn:p> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <urn:q> .\n"
    content = (axiom if name == "r.ttl" else "p(X, Y) <- q(X, Y).\n").encode()
    path = old(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    given, digest = rule_sources(path), hashlib.sha256(path.read_bytes()).hexdigest()
    size = path.stat().st_size
    path.write_text("other")
    (source,) = given
    assert isinstance(source, RuleSource)
    assert source.digest == (digest, size)


def test_a_pipe_has_no_version(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert files.InputFile(tmp_path / "pipe").version() is None
