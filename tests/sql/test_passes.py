"""Each pass over a statement by itself, without a server: what it is given and what it makes of it stand in one file of its name.

`RULESCORE_UPDATE_GOLDEN=1 pytest tests/sql` writes what passes make anew; the difference is for people to read."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from sqlglot import exp, parse_one

from rulescore.postgres.dialect import POSTGRES, POSTGRES_BEFORE_17
from rulescore.spark.dialect import SPARK, numbered, numbering, task
from rulescore.sql.dialect import DUCKDB, Pass
from rulescore.sql.query import text

FOLDER = Path(__file__).parent / "passes"
UPDATE = os.environ.get("RULESCORE_UPDATE_GOLDEN") == "1"
DIALECTS = (DUCKDB, POSTGRES, POSTGRES_BEFORE_17, SPARK)
PASSES: dict[str, Pass] = {
    f"{dialect.name}/{one.__name__}": one for dialect in DIALECTS for one in (*dialect.passes, *dialect.overflow_checks)
}

# A comment that says what happens, a statement for DuckDB, and what the pass makes of it in its own dialect.
CASE = re.compile(r"(?P<title>(?:-- .*\n)+)(?P<given>(?:(?!-- ).+\n)+)-- becomes\n(?P<made>(?:.+\n)*)")


def read(given: str) -> exp.Expr:
    """A statement. `typed('double', x * y)` is `x * y`, an operation that says its type; `call('TRUNC', x)` calls a function that
    the parser would take for one of its own."""
    statement = parse_one(given, dialect="duckdb")
    for node in list(statement.find_all(exp.Anonymous)):
        match node.name, node.expressions:
            case "typed", [kind, value]:
                value.type = kind.name
                node.replace(value)
            case "call", [function, *arguments]:
                node.replace(exp.Anonymous(this=function.name, expressions=arguments))
    return statement


def shortened(statement: exp.Expr) -> exp.Expr:
    """All letters there are would be thousands."""
    for one in statement.find_all(exp.Literal):
        if len(one.name) > 300:
            one.set("this", f"{one.name[:8]}…")
    return statement


def made(case: re.Match[str], rewrite: Pass, dialect: str) -> str:
    return text(shortened(rewrite(read(case["given"]))), dialect, pretty=True) + "\n"


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_makes_what_its_file_says(name: str) -> None:
    path = FOLDER / f"{name}.sql"
    written = path.read_text(encoding="utf-8")
    dialect = name.split("/")[0]
    cases = list(CASE.finditer(written))
    found = "\n".join(f"{one['title']}{one['given']}-- becomes\n{made(one, PASSES[name], dialect)}" for one in cases)
    if UPDATE:
        path.write_text(found, encoding="utf-8")
    assert cases
    assert found == path.read_text(encoding="utf-8")


def test_every_file_is_of_a_pass() -> None:
    assert {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.sql")} == set(PASSES)


NUMBERED = 'SELECT "k"."key", CAST(ROW_NUMBER() OVER (ORDER BY "k"."key") AS INT) - 1 AS "id" FROM "keys" AS "k"'


def test_rows_that_a_window_numbers_are_numbered_by_their_places() -> None:
    query = parse_one(NUMBERED, dialect="duckdb")
    found = numbering(query)
    assert found is not None
    assert text(found.rows, "spark") == "SELECT `k`.`key`, `k`.`key` AS `__rulescore__key_0` FROM `keys` AS `k`"
    assert found.keys == ("__rulescore__key_0",)
    place = text(task(), "spark")
    before = f"ELEMENT_AT(ARRAY(CAST(0 AS BIGINT), CAST(5 AS BIGINT)), {place} + 1)"
    within = "(`__rulescore__place` & 8589934591)"
    for _ in range(2):
        columns = [text(one, "spark") for one in numbered(found, [0, 5])]
        assert columns == ["`key`", f"CAST(({before} + {within} + 1) AS INT) - 1 AS `id`"]
    assert text(query, "duckdb") == NUMBERED


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k.key FROM keys AS k",
        "SELECT ROW_NUMBER() OVER (PARTITION BY k.a ORDER BY k.key) AS id FROM keys AS k",
        "SELECT 1 AS id UNION ALL SELECT 2 AS id",
    ],
)
def test_other_queries_are_left_to_the_engine(sql: str) -> None:
    assert numbering(parse_one(sql, dialect="duckdb")) is None
