"""Every engine finds the same table, and writes it as Parquet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.parquet import read_table

from rulescore.mending.making import candidates

FACTS = {
    "sister": [("ann", "bob"), ("fay", "gus"), ("hal", "hal"), ("liv", "max"), ("max", "liv")],
    "father": [("bob", "eve"), ("gus", "hal"), ("cid", "dora")],
    "mother": [("ann", "dora"), ("fay", "hal")],
    "aunt": [("ann", "eve")],
    "old": [("ann",), ("gus",)],
}
RULES = """
aunts: aunt(X, Z) <- sister(X, Y), father(Y, Z).
mutual: sister(X, Y) <- sister(Y, X).
never: false <- father(X, X).
elders: old(X) <- father(X, Y).
all: mother(X, ann) <- old(X).
incompatible aunt, mother, sister, father.
functional mother(Y -> X).
refute old(X) <- sister(X, X).
"""


def words(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((*row.values(),) for row in table.cast(_PLAIN).to_pylist())


_PLAIN = pa.schema(
    [
        ("rule", pa.string()),
        ("predicate", pa.string()),
        ("arguments", pa.list_(pa.string())),
        *((count, pa.int64()) for count in ("confirmed", "refuted", "evaluable")),
    ]
)


@pytest.mark.server
@pytest.mark.parametrize("name", ["postgres", "spark"])
@pytest.mark.parametrize("queries", [None, [("ann", "sister", "bob"), ("cid", "father", "dora")]])
def test_servers_write_what_duckdb_finds(
    name: str, queries: list[tuple[str, str, str]] | None, engine_of: Callable[[str], Any], tmp_path: Path
) -> None:
    expected = candidates(FACTS, RULES, queries=queries)
    table = candidates(FACTS, RULES, queries=queries, engine=engine_of(name))
    table.write(tmp_path / "candidates.parquet")
    written = read_table(tmp_path / "candidates.parquet")
    assert words(written) == words(expected.to_arrow())
    assert written.num_rows >= 10
    assert len(table.symbolic)
    assert {table.rules[number].name for number in table.hard} == {expected.rules[number].name for number in expected.hard}
    assert table.contribution("sister", "ann", "cid") == expected.contribution("sister", "ann", "cid")
