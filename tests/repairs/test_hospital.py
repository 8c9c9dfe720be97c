"""HoloClean's hospital data as they are: no key column, denial constraints, `tid,attribute,correct_val`; against counts by hand."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter, defaultdict

import pytest

from command_line import Run, family, run
from shared_data import shared

__all__ = ["family", "run"]

pytestmark = pytest.mark.slow

Rows = list[dict[str, str]]


def dirty() -> Rows:
    with gzip.open(shared("hospital/dirty.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cells() -> list[tuple[int, str, str]]:
    with gzip.open(shared("hospital/clean.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        return [(int(row["tid"]), row["attribute"], row["correct_val"]) for row in csv.DictReader(file)]


def clean() -> Rows:
    rows = dirty()
    for row, attribute, value in cells():
        rows[row][attribute] = value
    return rows


def different_pairs(rows: Rows, by: str, column: str) -> Counter[int]:
    """The ordered pairs of rows that agree in one column and differ in another, by each of their rows."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if row[by] and row[column]:
            groups[row[by]].append(number)
    counts: Counter[int] = Counter()
    for members in groups.values():
        values = Counter(rows[number][column] for number in members)
        for number in members:
            if others := len(members) - values[rows[number][column]]:
                counts[number] = 2 * others
    return counts


@pytest.fixture
def arguments() -> tuple[str, ...]:
    files = [str(shared(f"hospital/{name}")) for name in ("dirty.csv.gz", "constraints.txt")]
    return ("--table", f"hospital={files[0]}", "--rules", files[1])


def listed(run: Run, *arguments: str) -> list[dict[str, str]]:
    result = run(*arguments, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_violations_of_a_dependency_are_those_of_a_count_by_hand(run: Run, arguments: tuple[str, ...]) -> None:
    found = listed(run, "violations", *arguments, "--dataset", "--by", "row", "--rule", "constraints.txt:2")
    expected = different_pairs(dirty(), "HospitalName", "ZipCode")
    assert {int(row["row"]): int(row["violations"]) for row in found} == expected
    assert sum(expected.values()) == 2 * 1288


def test_the_right_values_fix_what_a_count_by_hand_says(run: Run, arguments: tuple[str, ...]) -> None:
    rows = {row["rule"]: row for row in listed(run, "audit", *arguments, "--against", str(shared("hospital/clean.csv.gz")))}
    for rule, (by, column) in {5: ("MeasureCode", "Stateavg"), 12: ("City", "CountyName")}.items():
        row = rows[f"constraints.txt:{rule}"]
        before, after = (sum(different_pairs(data, by, column).values()) // 2 for data in (dirty(), clean()))
        assert (int(row["refuted_before"]), int(row["refuted_after"])) == (before, after)


def test_every_cell_of_the_file_is_judged(run: Run, arguments: tuple[str, ...]) -> None:
    rows = listed(run, "repairs", *arguments, "--predictions", f"gold={shared('hospital/clean.csv.gz')}")
    before = dirty()
    assert [(int(row["id"]), row["attribute"], row["value"]) for row in rows] == cells()
    unchanged = sum(before[row][attribute] == value for row, attribute, value in cells())
    verdicts = Counter(row["verdict"] for row in rows)
    assert verdicts["unchanged"] == unchanged
    assert verdicts["fixes"] > 10 * (verdicts["worse"] + verdicts["breaks"])
