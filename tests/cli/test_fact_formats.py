"""The format of facts and of predictions, named on the command line if it is not recognised, or wrongly."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from command_line import Run

RANKING = "alice wife daniel\nHeads: \nTails: daniel\t0.9\tchristopher\t0.1\t\n"


def test_formats_are_named(run: Run, family: Path) -> None:
    """A Parquet file without an ending, facts of PSL, a ranking that nothing is said of any more."""
    pq.write_table(pa.table({"head": ["alice"], "relation": ["sister"], "tail": ["daniel"]}), family / "facts")
    (family / "ranking").write_text(RANKING)
    options = ("--rules", "family.rules", "--predictions", "m=ranking", "--predictions-format", "anyburl", "--format", "json")
    done = run("score", "--facts", "facts", "--facts-format", "parquet", *options)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["models"]["m"]["violating"] == 1
    assert "W361" not in done.stderr
    (family / "sister.txt").write_text("alice\tdaniel\t1\nalice\tbob\t0\n")
    done = run("score", "--facts", "sister=sister.txt", "--facts-format", "psl", *options)
    assert json.loads(done.stdout)["models"]["m"]["violating"] == 1


def test_what_is_recognised_is_overruled(run: Run, family: Path) -> None:
    (family / "ranking").write_text(RANKING)
    done = run(
        "score", "--facts", "train.tsv", "--rules", "family.rules", "--predictions", "ranking", "--predictions-format", "text"
    )
    assert done.exit_code == 2
    assert "AnyBURL" not in done.output
