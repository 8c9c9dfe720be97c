"""The program as a process of its own, on a Spark session that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

# For the Java of such a process: compiling well takes longer than it runs; and what it has compiled does not fit into the cache
# that belongs to that choice.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=128m -XX:+UseSerialGC"
ENVIRONMENT = {"JDK_JAVA_OPTIONS": JAVA_OPTIONS}

FACTS = [("a", "q", "b"), ("b", "q", "c"), ("b", "p", "a"), ("b", "p", "c"), ("b", "s", "c"), ("a", "s", "b")]
PREDICTIONS = [("c", "q", "a"), ("a", "q", "c"), ("a", "p", "b"), ("a", "q", "b")]
RULES = "one: p(X, Y) <- q(X, Y). two: s(X, Y) <- q(X, Y), p(Y, X). incompatible p, s."


def rows(facts: list[tuple[str, str, str]]) -> pa.Table:
    return pa.table(dict(zip(("head", "relation", "tail"), map(list, zip(*facts, strict=True)), strict=True)))


def sorted_rows(contributions: pa.Table) -> list[dict[str, object]]:
    return sorted(contributions.to_pylist(), key=str)


def audited(folder: Path, engine: str, *options: str, environment: Mapping[str, str] = os.environ) -> str:
    """What `audit` prints of one rule. It says nothing on stderr."""
    parquet.write_table(rows(FACTS), folder / "facts.parquet")
    (folder / "some.rules").write_text("one: p(X, Y) <- q(X, Y).")
    start = "from rulescore.cli.main import main; main()"
    files = ["--facts", "facts.parquet", "--rules", "some.rules", "--format", "csv", "--quiet"]
    command = [sys.executable, "-c", start, "audit", *files, "--engine", engine, *options]
    done = subprocess.run(command, cwd=folder, env={**environment, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "one" in done.stdout
    return done.stdout
