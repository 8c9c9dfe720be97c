"""Violations of the data by row, by cell and by the rows together, against a count by hand."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from random import Random

import jsonschema
import pytest

from command_line import Run
from rulescore.reporting.json import listing_schema

RULES = """\
city: sale.city depends on zip.
there: sale.price not null.
sale.email unique.
either: P > 1 <- sale(row: A, price: P), sale(row: A, zip: Z).
same: P <= Q <- sale(row: A, zip: "z1", price: P), sale(row: B, zip: "z2", price: Q).
known: sale.zip references zone.code.
"""
COLUMNS = ("zip", "city", "price", "email")


def rows() -> list[dict[str, str]]:
    random = Random(3)
    choices = {
        "zip": ["z1", "z2", "z3"],
        "city": ["a", "b", ""],
        "price": ["1", "2", "3", ""],
        "email": ["e", "f", "g", "h", "", "i"],
    }
    return [{name: random.choice(choices[name]) for name in COLUMNS} for _ in range(9)]


def violations() -> list[tuple[str, dict[int, set[str]]]]:
    """By hand: the rule, and the rows that it names with their cells."""
    found: list[tuple[str, dict[int, set[str]]]] = []
    sales = list(enumerate(rows()))
    for number, sale in sales:
        if not sale["price"]:
            found.append(("there", {number: {"price"}}))
        if sale["email"] and sum(sale["email"] == other["email"] for _, other in sales) > 1:
            found.append(("sale.email unique", {number: {"email"}}))
        if sale["price"] == "1":
            found.append(("either", {number: {"price", "zip"}}))
        if sale["zip"] == "z3":
            found.append(("known", {number: {"zip"}}))
        for other_number, other in sales:
            if (
                number != other_number
                and sale["zip"] == other["zip"]
                and sale["city"]
                and other["city"]
                and sale["city"] != other["city"]
            ):
                found.append(("city", {number: {"zip", "city"}, other_number: {"zip", "city"}}))
            if sale["zip"] == "z1" and other["zip"] == "z2" and sale["price"] and other["price"] and sale["price"] > other["price"]:
                found.append(("same", {number: {"zip", "price"}, other_number: {"zip", "price"}}))
    return found


@pytest.fixture
def arguments(family: Path) -> tuple[str, ...]:
    with (family / "sale.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows())
    (family / "zone.csv").write_text("code\nz1\nz2\n", encoding="utf-8")
    (family / "sale.rules").write_text(RULES, encoding="utf-8")
    return ("violations", "--table", "sale.csv", "--table", "zone.csv", "--rules", "sale.rules", "--dataset")


def listed(run: Run, *arguments: str) -> list[dict[str, str]]:
    result = run(*arguments, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_rows_are_counted_once_for_each_violation_that_names_them(run: Run, arguments: tuple[str, ...]) -> None:
    expected = Counter((str(row), rule) for rule, cells in violations() for row in cells)
    assert {(row["row"], row["rule"]): int(row["violations"]) for row in listed(run, *arguments, "--by", "row")} == expected
    assert {rule for _, rule in expected} == {"city", "there", "sale.email unique", "either", "same", "known"}


def test_cells_are_those_that_a_violation_names_with_their_values(run: Run, arguments: tuple[str, ...]) -> None:
    expected = Counter((str(row), column, rule) for rule, cells in violations() for row in cells for column in cells[row])
    found = listed(run, *arguments, "--by", "cell")
    assert {(row["row"], row["column"], row["rule"]): int(row["violations"]) for row in found} == expected
    assert {(row["row"], row["column"], row["value"]) for row in found} == {
        (row, column, rows()[int(row)][column]) for row, column, _ in expected
    }


def test_a_pair_is_named_once_with_both_its_orders_counted(run: Run, arguments: tuple[str, ...]) -> None:
    expected = Counter((", ".join(f"sale({row})" for row in sorted(cells)), rule) for rule, cells in violations())
    found = listed(run, *arguments, "--by", "rows")
    assert {(row["row"], row["rule"]): int(row["violations"]) for row in found} == expected
    assert {number for (_, rule), number in expected.items() if rule == "city"} == {2}


def test_people_see_the_worst_first_with_the_rules(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--by", "cell", "--rule", "either", "--limit", "1")
    number = len([rule for rule, _ in violations() if rule == "either"])
    assert result.stdout.startswith("Cells in violations\n")
    assert f"{number} violations, which name {2 * number} cells" in result.stdout
    assert f"{2 * number - 1} more rows are not shown" in result.stdout


def test_a_rule_in_sql_names_no_rows(run: Run, family: Path) -> None:
    (family / "sale.csv").write_text("id,price\n1,5\n2,-5\n", encoding="utf-8")
    statement = "SELECT NULL AS prediction, false AS confirmed, price < 0 AS refuted FROM observed_sale"
    (family / "project.toml").write_text(
        f"""
[tables.sale]
path = "sale.csv"
key = "id"
types = {{ price = "float" }}

[[sql_rules]]
name = "positive"
statement = "{statement}"
""",
        encoding="utf-8",
    )
    result = run("violations", "project.toml", "--trust", "--dataset", "--by", "row")
    assert "1 violation, which name 0 rows\na rule in SQL says of no row that it breaks the rule" in result.stdout


def test_a_key_of_several_columns_and_facts_beside_the_table(run: Run, family: Path) -> None:
    (family / "line.csv").write_text("order,number,price\n1,1,5\n1,2,-5\n", encoding="utf-8")
    (family / "line.rules").write_text("P > 0 <- line(price: P).\nfalse <- mother(X, Y), father(X, Y).\n", encoding="utf-8")
    arguments = ("--facts", "train.tsv", "--table", "line.csv", "--key", "order,number", "--rules", "line.rules", "--dataset")
    result = run("violations", *arguments, "--by", "cell", "--format", "json")
    (row,) = json.loads(result.stdout)["rows"]
    assert (row["table"], row["row"], row["column"], row["value"], row["violations"]) == ("line", "line(1, 2)", "price", -5, 1)


@pytest.mark.parametrize("by", ["row", "cell", "rows"])
def test_what_programs_read_keeps_the_schema(run: Run, arguments: tuple[str, ...], by: str) -> None:
    document = json.loads(run(*arguments, "--by", by, "--format", "json").stdout)
    assert document["rows"]
    jsonschema.validate(document, listing_schema())


def test_rows_are_those_of_the_data(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments[:-1], "--by", "row")
    assert result.exit_code == 2
    assert "`--by row` counts violations of the data: give `--dataset`" in result.stderr
