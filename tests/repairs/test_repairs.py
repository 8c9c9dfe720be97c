"""Repairs are judged one by one as predictions: against a count by hand, and on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from random import Random

import jsonschema
import pytest

from command_line import Run, family, run
from rulescore.repairs.judging import Verdict
from rulescore.reporting.json import listing_schema

__all__ = ["family", "run"]

COLUMNS = ("zip", "city", "price")
RULES = "city: sale.city depends on zip.\ndear: sale.price between 2 and 9.\n@hard no: false <- sale(city: c, price: 1).\n"
CHOICES = {"zip": ["1", "2"], "city": ["a", "b", "c", ""], "price": ["1", "2", "30", ""]}

Sales = list[dict[str, str]]


def sales() -> Sales:
    random = Random(2)
    return [{name: random.choice(CHOICES[name]) for name in COLUMNS} for _ in range(14)]


def repairs() -> list[tuple[int, str, str]]:
    random = Random(5)
    return [(row, column, random.choice(CHOICES[column])) for row in range(0, 14, 2) for column in COLUMNS]


def judged_by_hand(number: int, column: str, value: str) -> tuple[int, int]:
    """The refuted and the evaluable groundings of one predicted cell, with the repaired cells of its column hidden."""
    data = [dict(sale) for sale in sales()]
    for row, name, new in repairs():
        if name == column and data[row][name] != new:
            data[row][name] = ""
    data[number][column] = value
    refuted = evaluable = 0
    here = data[number]
    if not value:
        return 0, 0
    if column in ("zip", "city"):
        for other, there in enumerate(data):
            if other != number and here["zip"] and here["zip"] == there["zip"] and here["city"] and there["city"]:
                evaluable += 2
                refuted += 2 * (here["city"] != there["city"])
    if column == "price":
        evaluable += 1
        refuted += not 2 <= float(value) <= 9
    if column in ("city", "price") and here["city"] == "c" and here["price"] == "1":
        evaluable += 1
        refuted += 1
    return refuted, evaluable


@pytest.fixture
def arguments(family: Path) -> tuple[str, ...]:
    with (family / "sale.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(sales())
    lines = [f"{row},{column},{value}" for row, column, value in repairs()]
    (family / "tool.csv").write_text("\n".join(["tid,attribute,correct_val", *lines]) + "\n", encoding="utf-8")
    (family / "sale.rules").write_text(RULES, encoding="utf-8")
    return ("repairs", "--table", "sale.csv", "--rules", "sale.rules", "--predictions", "tool=tool.csv")


def test_each_repair_is_judged_as_a_prediction_beside_the_value_that_it_replaces(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(int(row["id"]), row["attribute"], row["value"]) for row in rows] == repairs()
    for row, (number, column, value) in zip(rows, repairs(), strict=True):
        old = sales()[number][column]
        assert row["old"] == old
        if old == value:
            assert row["verdict"] == Verdict.UNCHANGED
            continue
        before, _ = judged_by_hand(number, column, old)
        after, evaluable = judged_by_hand(number, column, value)
        assert (int(row["refuted_before"]), int(row["refuted"]), int(row["evaluable"])) == (before, after, evaluable), row
        assert bool(row["rules"]) == bool(after)
    verdicts = {row["verdict"] for row in rows}
    assert verdicts >= {Verdict.UNCHANGED, Verdict.FIXES, Verdict.BREAKS, Verdict.AGREES}


def test_what_programs_read_keeps_the_schema(run: Run, arguments: tuple[str, ...]) -> None:
    document = json.loads(run(*arguments, "--format", "json").stdout)
    assert len(document["rows"]) == len(repairs())
    jsonschema.validate(document, listing_schema())


def test_people_see_the_worst_repairs_first_and_how_many_there_are_of_each_kind(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--limit", "2")
    assert result.stdout.startswith("Repairs, one by one\nrow ")
    assert "fixes: none is left" in result.stdout
    assert f"tool: {len(repairs())} repairs: " in result.stdout
    assert f"{len(repairs()) - 2} more repairs are not shown" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tid,attribute,value\n77,price,1\n", "error[E352]: 1 id that the table does not have: `77`"),
        ("tid,attribute,value\n1,prise,1\n", "error[E320]: there is no column `prise` in the table"),
        ("tid,attribute,value\n1,price,1\n1,price,2\n", "error[E327]: there are two values for `price` of row `1`"),
        ("id,prediction\n1,2\n", "error[E320]: `tool.csv` is no file of repairs"),
        ("tid,attribute,value\n1,price,cheap\n", "error[E351]"),
    ],
)
def test_repairs_that_cannot_be_judged_are_refused(
    run: Run, arguments: tuple[str, ...], family: Path, text: str, message: str
) -> None:
    (family / "tool.csv").write_text(text, encoding="utf-8")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_repairs_need_one_table_with_a_key(run: Run, arguments: tuple[str, ...], family: Path) -> None:
    result = run(*arguments, "--table", "other=sale.csv")
    assert result.exit_code == 2
    assert "error[E333]: repairs belong to one table, and there are 2 with a key" in result.stderr


def test_people_see_the_part_of_a_long_value_around_the_change(run: Run, family: Path) -> None:
    before, after = f"{'a' * 60} beta bxockers {'z' * 60}", f"{'a' * 60} beta blockers {'z' * 60}"
    (family / "sale.csv").write_text(f"zip,note\n1,{before}\n1,{after}\n", encoding="utf-8")
    (family / "note.rules").write_text("sale.note depends on zip.\n", encoding="utf-8")
    (family / "tool.csv").write_text(f"tid,attribute,value\n0,note,{after}\n", encoding="utf-8")
    asked = ("repairs", "--table", "sale.csv", "--rules", "note.rules", "--predictions", "tool=tool.csv", "--format")
    shown = run(*asked, "markdown").stdout
    assert f"| …{'a' * 13} beta bxockers {'z' * 12}… | …{'a' * 13} beta blockers {'z' * 12}… | fixes |" in shown
    (row,) = csv.DictReader(io.StringIO(run(*asked, "csv").stdout))
    assert (row["old"], row["value"]) == (before, after)
