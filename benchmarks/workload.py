"""What the contenders run on: a folder with `facts.tsv` and `predictions.tsv` (distinct triples, no header), and the rules
twice: `rules.json` for the contenders, `program.rules` in the package's language, with all observed predicates pairwise
incompatible.

A folder, and not objects, because every measurement is a process of its own that begins with the text files.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import generate
from horn import Rule, from_json, program, read_anyburl, read_clauses, to_json

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


class Row(NamedTuple):
    """One rule's counts over the observed facts and for one model, by the appendix's way."""

    confirmed: int
    refuted: int
    evaluable: int
    model_confirmed: int
    model_refuted: int
    model_evaluable: int


def row(confirmed: int, refuted: int, model_confirmed: int, model_refuted: int) -> Row:
    """The appendix's denominator is the sum of both counts."""
    return Row(confirmed, refuted, confirmed + refuted, model_confirmed, model_refuted, model_confirmed + model_refuted)


Identifiers = npt.NDArray[np.int32]
Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Material:
    """A graph's facts and predictions, its rules, and those AnyBURL learned from it (none for a made graph)."""

    name: str
    facts: list[Triple]
    predictions: list[Triple]
    rules: list[Rule]
    learned: list[Rule]


@dataclass(frozen=True, slots=True)
class Triples:
    """Distinct facts, dictionary-encoded: one row is predicate(first, second)."""

    predicate: Identifiers
    first: Identifiers
    second: Identifiers

    def __len__(self) -> int:
        return len(self.predicate)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A workload with numbers for names. Predicates without an observed fact are none of the incompatible group."""

    predicates: list[str]
    entities: list[str]
    facts: Triples
    predictions: Triples


def material() -> Material:
    """FB15k-237 where the shared data are, else a generated graph of its size."""
    return _shared_material() if (SHARED / "fb15k-237").is_dir() else _made_material()


def _shared_material() -> Material:
    facts = _read_triples(SHARED / "fb15k-237" / "train.txt.gz")
    predictions = _read_triples(SHARED / "predictions" / "fb15k-237-compgcn.tsv.gz", first_column=1, header=True)
    with gzip.open(SHARED / "anyburl" / "fb15k-237.rules.100k.gz", "rt", encoding="utf-8") as lines:
        learned = list(read_anyburl(lines))
    return Material("FB15k-237", facts, predictions, read_clauses(SHARED / "fb15k-237" / "rules.mln.txt"), learned)


def _made_material() -> Material:
    graph = generate.generate()
    return Material("a generated graph of FB15k-237's size", graph.facts, graph.predictions, graph.rules, [])


def _read_triples(path: Path, *, first_column: int = 0, header: bool = False) -> list[Triple]:
    """The distinct triples of three neighbouring columns, in the order of their first occurrence."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if header:
            next(lines)
        cells = (line.rstrip("\n").split("\t")[first_column : first_column + 3] for line in lines)
        return list(dict.fromkeys((a, p, b) for a, p, b in cells))


def write(folder: Path, graph: Material, rules: Sequence[Rule], *, copies: int = 1) -> Path:
    """Lay out a workload. With copies, each entity of copy k carries the mark `#k`, so that copies share nothing."""
    folder.mkdir(parents=True)
    write_triples(folder / "facts.tsv", graph.facts, copies)
    write_triples(folder / "predictions.tsv", graph.predictions, copies)
    return _write_rules(folder, graph, rules)


def write_beside(folder: Path, other: Path, graph: Material, rules: Sequence[Rule]) -> Path:
    """Lay out a workload of other rules over the facts and predictions of one that is there."""
    folder.mkdir(parents=True)
    for name in ("facts.tsv", "predictions.tsv"):
        (folder / name).symlink_to(other / name)
    return _write_rules(folder, graph, rules)


def _write_rules(folder: Path, graph: Material, rules: Sequence[Rule]) -> Path:
    (folder / "rules.json").write_text(to_json(rules))
    (folder / "program.rules").write_text(program(rules, sorted({predicate for _, predicate, _ in graph.facts})))
    return folder


def write_triples(path: Path, triples: Sequence[Triple], copies: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for copy in range(copies):
            mark = f"#{copy}" if copy else ""
            file.writelines(f"{a}{mark}\t{p}\t{b}{mark}\n" for a, p, b in triples)


def read_rules(folder: Path) -> list[Rule]:
    return from_json((folder / "rules.json").read_text())


def encode(folder: Path) -> Encoded:
    """Read and encode the text files of a workload."""
    facts, predictions = (_read_table(folder / name) for name in ("facts.tsv", "predictions.tsv"))
    predicates = pc.unique(facts["predicate"])
    entities = pc.unique(pa.chunked_array([c for t in (facts, predictions) for n in ("first", "second") for c in t[n].chunks]))
    return Encoded(
        predicates.to_pylist(),
        entities.to_pylist(),
        _encode_table(facts, predicates, entities),
        _encode_table(predictions, predicates, entities),
    )


def _read_table(path: Path) -> pa.Table:
    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(column_names=["first", "predicate", "second"]),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(("first", "predicate", "second"), pa.string())),
    )


def _encode_table(table: pa.Table, predicates: pa.Array, entities: pa.Array) -> Triples:
    return Triples(
        _numbers(table["predicate"], predicates),
        _numbers(table["first"], entities),
        _numbers(table["second"], entities),
    )


def _numbers(column: pa.ChunkedArray, values: pa.Array) -> Identifiers:
    numbers: Identifiers = pc.index_in(column, values).to_numpy().astype(np.int32)
    return numbers
