"""The report of two results: what it counts as worse and better is what the comparison says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rulescore
from report.conftest import kinship_setting
from rulescore.demo.files import run
from rulescore.report.make import ReportChoice
from rulescore.report.two_runs import changes_page, report_of_two
from rulescore.session.result import Result


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Result]:
    """One model's predictions, then another's under the same name."""
    folder = tmp_path_factory.mktemp("runs")
    run(folder / "demo")
    setting = kinship_setting(folder / "demo")

    def scored(name: str) -> Result:
        return rulescore.score(**{**setting, "predictions": {"model": setting["predictions"][name]}})

    return scored("careful"), scored("gender-blind")


def test_it_says_what_the_comparison_says(runs: tuple[Result, Result]):
    page = changes_page(*runs, ReportChoice())
    (pair,) = page.pairs
    rows: list[dict[str, Any]] = [row for row in runs[0].compare(runs[1]).rule_differences.to_pylist() if row["change"] != "same"]
    worse = [row for row in rows if row["change"] in {"new", "worse"}]
    better = [row for row in rows if row["change"] in {"fixed", "better"}]
    beyond = [sum(row["better"] == side for row in some) for some, side in ((worse, "first"), (better, "second"))]
    words = [str(number) if number else "none" for number in beyond]
    told = f"{len(worse)} rules got worse, {words[0]} beyond chance; {len(better)} rules got better, {words[1]} beyond chance."
    assert (pair.name, pair.headline.text) == ("model", told)
    assert {(rule.name, rule.before, rule.after) for rule in pair.rules} == {
        (row["rule"], f"{row['first_refuted']:,}", f"{row['second_refuted']:,}") for row in rows
    }
    assert [rule.verdict != "may be chance" for rule in pair.rules] == sorted(
        (row["better"] is not None for row in rows), reverse=True
    )


def test_changes_beyond_chance_come_first_and_what_got_worse_before_what_got_better(runs: tuple[Result, Result]):
    for pair in (runs, runs[::-1]):
        (page,) = changes_page(*pair, ReportChoice()).pairs
        more = [int(rule.after.replace(",", "")) - int(rule.before.replace(",", "")) for rule in page.rules]
        keys = [(rule.verdict == "may be chance", n <= 0, -abs(n)) for rule, n in zip(page.rules, more, strict=True)]
        assert keys == sorted(keys)


def test_the_scores_are_those_of_the_results(runs: tuple[Result, Result]):
    (pair,) = changes_page(*runs, ReportChoice()).pairs
    (first,), (second,) = (result.model_results for result in runs)
    violating = pair.measures[0]
    assert violating.before == f"{(first.violating or 0) / first.predictions.distinct:.2%}"
    assert violating.after == f"{(second.violating or 0) / second.predictions.distinct:.2%}"
    assert violating.verdict == "worse"


def test_nothing_changed_is_said(runs: tuple[Result, Result]):
    (pair,) = changes_page(runs[0], runs[0], ReportChoice()).pairs
    assert pair.headline.text == "No rule is broken more often or less often than before."
    assert pair.rules == ()


def test_a_new_violation_is_one_of_the_second_run_alone(runs: tuple[Result, Result]):
    (pair,) = changes_page(*runs, ReportChoice()).pairs
    changes = runs[0].compare(runs[1]).changes.to_pylist()
    new = {(row["rule"], f"{row['predicate']}({', '.join(row['arguments'])})") for row in changes if row["change"] == "new"}
    assert all((rule.name, rule.example) in new for rule in pair.rules if rule.change == "new")


def test_it_is_one_file_without_scripts(runs: tuple[Result, Result], tmp_path: Path):
    html = report_of_two(*runs, ReportChoice("<b>")).html
    assert "<script" not in html
    assert "<title>&lt;b&gt;</title>" in html
