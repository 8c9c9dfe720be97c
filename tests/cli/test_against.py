"""Two versions of a table against the same rules: by rule, by row, by cell; whole tables, and cells as repair tools write them."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from random import Random

import jsonschema
import pyarrow as pa
import pytest
from pyarrow import parquet

from command_line import Run
from rulescore.reporting.json import listing_schema

COLUMNS = ("zip", "city", "price")
RULES = "city: sale.city depends on zip.\nsale.price not null.\nsale.price between 2 and 9.\n"


def dirty() -> list[dict[str, str]]:
    random = Random(4)
    choices = {"zip": ["1", "2", "3"], "city": ["a", "b", ""], "price": ["1", "2", "3.5", ""]}
    return [{name: random.choice(choices[name]) for name in COLUMNS} for _ in range(12)]


def repairs() -> list[tuple[int, str, str]]:
    random = Random(5)
    return [
        (row, column, random.choice({"zip": "123", "city": "ab", "price": "25"}[column]))
        for row in range(0, 12, 2)
        for column in COLUMNS
    ]


def clean() -> list[dict[str, str]]:
    rows = dirty()
    for row, column, value in repairs():
        rows[row][column] = value
    return rows


def broken(rows: list[dict[str, str]]) -> list[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """By hand: the rule, the rows and the columns of each violation."""
    found: list[tuple[str, tuple[int, ...], tuple[str, ...]]] = []
    for number, row in enumerate(rows):
        if not row["price"]:
            found.append(("sale.price not null", (number,), ("price",)))
        elif not 2 <= float(row["price"]) <= 9:
            found.append(("sale.price between 2 and 9", (number,), ("price",)))
        for other_number, other in enumerate(rows):
            if row["zip"] == other["zip"] and row["city"] and other["city"] and row["city"] != other["city"]:
                found.append(("city", (number, other_number), ("zip", "city")))
    return found


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(params=["whole.csv", "cells.csv"])
def arguments(family: Path, request: pytest.FixtureRequest) -> tuple[str, ...]:
    write(family / "sale.csv", dirty())
    write(family / "whole.csv", clean())
    lines = [f"{row},{column},{value}" for row, column, value in repairs()]
    (family / "cells.csv").write_text("\n".join(["tid,attribute,correct_val", *lines]) + "\n", encoding="utf-8")
    (family / "sale.rules").write_text(RULES, encoding="utf-8")
    return ("audit", "--table", "sale.csv", "--rules", "sale.rules", "--against", request.param)


def listed(run: Run, *arguments: str) -> list[dict[str, str]]:
    result = run(*arguments, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def word(before: int, after: int) -> str:
    return "same" if before == after else "fixed" if not after else "new" if not before else "better" if after < before else "worse"


def test_every_rule_has_its_counts_and_what_was_fixed_and_is_new(run: Run, arguments: tuple[str, ...]) -> None:
    before, after = (Counter((rule, tuple(sorted(rows))) for rule, rows, _ in broken(data)) for data in (dirty(), clean()))
    found = {row["rule"]: row for row in listed(run, *arguments)}
    assert len(found) == 3
    for rule, row in found.items():
        first, second = ({places: n for (name, places), n in counts.items() if name == rule} for counts in (before, after))
        assert int(row["refuted_before"]) == sum(first.values())
        assert int(row["refuted_after"]) == sum(second.values())
        assert int(row["fixed"]) == sum(max(0, n - second.get(places, 0)) for places, n in first.items())
        assert int(row["new"]) == sum(max(0, n - first.get(places, 0)) for places, n in second.items())


def test_rows_that_changed_are_listed_with_their_violations(run: Run, arguments: tuple[str, ...]) -> None:
    before, after = (Counter(row for _, rows, _ in broken(data) for row in rows) for data in (dirty(), clean()))
    expected = {f"sale({row})": (word(before[row], after[row]), before[row], after[row]) for row in before | after}
    found = {row["row"]: (row["change"], int(row["before"]), int(row["after"])) for row in listed(run, *arguments, "--by", "row")}
    assert found == {row: told for row, told in expected.items() if told[0] != "same"}
    assert {told[0] for told in found.values()} >= {"better", "worse"}


def test_cells_that_changed_are_listed_with_their_violations(run: Run, arguments: tuple[str, ...]) -> None:
    before, after = (
        Counter((row, column) for _, rows, columns in broken(data) for row in rows for column in columns)
        for data in (dirty(), clean())
    )
    expected = {(f"sale({row})", column): word(before[row, column], after[row, column]) for row, column in before | after}
    found = {(row["row"], row["column"]): row["change"] for row in listed(run, *arguments, "--by", "cell")}
    assert found == {cell: change for cell, change in expected.items() if change != "same"}
    assert set(found.values()) >= {"fixed", "new"}


def test_people_read_how_many_rows_and_cells_fared_how(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    before, after = len(broken(dirty())), len(broken(clean()))
    assert result.stdout.startswith(f"The data have {before} violations of these rules, the data of `--against` {after}.\n")
    assert "City = City2 <- sale(" in result.stdout
    assert "3 rules: " in result.stdout
    assert " rows in violations: " in result.stdout
    assert " cells in violations: " in result.stdout


def test_cells_of_a_table_with_types_of_its_own(run: Run, family: Path) -> None:
    parquet.write_table(pa.table({"id": ["x", "y"], "price": [1, 5]}), family / "sale.parquet")
    (family / "cells.csv").write_text("id,attribute,value\nx,price,7\n", encoding="utf-8")
    (family / "sale.rules").write_text("low: P > 2 <- sale(price: P).\n", encoding="utf-8")
    arguments = (
        "audit",
        "--table",
        "sale.parquet",
        "--key",
        "id",
        "--rules",
        "sale.rules",
        "--against",
        "cells.csv",
        "--format",
        "json",
    )
    (row,) = json.loads(run(*arguments).stdout)["rows"]
    assert (row["change"], row["refuted_before"], row["refuted_after"]) == ("fixed", 1, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tid,attribute,value\n77,price,1\n", "error[E352]: 1 id that the table does not have: `77`"),
        ("tid,attribute,value\n1,prise,1\n", "error[E320]: there is no column `prise` in the table"),
    ],
)
def test_a_cell_that_the_table_does_not_have_is_refused(
    run: Run, arguments: tuple[str, ...], family: Path, text: str, message: str
) -> None:
    (family / "cells.csv").write_text(text, encoding="utf-8")
    result = run(*arguments[:-1], "cells.csv")
    assert result.exit_code == 2
    assert message in result.stderr


def test_what_programs_read_keeps_the_schema(run: Run, arguments: tuple[str, ...]) -> None:
    for by in ("rule", "row", "cell"):
        document = json.loads(run(*arguments, "--by", by, "--format", "json").stdout)
        assert document["rows"]
        jsonschema.validate(document, listing_schema())


def test_options_that_do_not_go_together_are_refused(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments[:-2], "--by", "row").exit_code == 2
    assert run(*arguments, "--fail-if", "rate > 1%").exit_code == 2
    assert run(*arguments[:-1], "other=whole.csv").exit_code == 2


def test_a_rule_is_better_or_worse_by_the_number_of_its_violations(run: Run, arguments: tuple[str, ...]) -> None:
    before, after = (Counter(rule for rule, _, _ in broken(data)) for data in (dirty(), clean()))
    changes = {row["rule"]: row["change"] for row in listed(run, *arguments)}
    assert changes == {rule: word(before[rule], after[rule]) for rule in changes}
