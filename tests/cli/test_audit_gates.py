"""Gates on the data: exit codes, lines on stderr, JUnit and the summary, by the code that gates on models use."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from command_line import Run

SALES = "zip,city,price\n1,a,10\n1,b,12\n2,c,\n2,c,7\n"
RULES = "sale.price not null.\ncity: sale.city depends on zip.\nsale.price between 0 and 20.\n"
ARGUMENTS = ("audit", "--table", "sale=sale.csv", "--rules", "sale.rules")


@pytest.fixture(autouse=True)
def sale(family: Path) -> None:
    (family / "sale.csv").write_text(SALES, encoding="utf-8")
    (family / "sale.rules").write_text(RULES, encoding="utf-8")


@pytest.mark.parametrize(
    ("gate", "met", "found"),
    [
        ("rate > 1%", False, "rate is 50%; that of `city`"),
        ("rate > 50%", True, "rate is 50%; that of `city`"),
        ("refuted > 2", False, "refuted is 3"),
        ("evaluable < 12", False, "evaluable is 11"),
        ("rule(city).refuted > 0", False, "rule(city).refuted is 2"),
        ("rule(city).rate >= 0.5", False, "rule(city).rate is 0.5"),
        ("rule(sale.price not null).refuted > 1", True, "rule(sale.price not null).refuted is 1"),
    ],
)
def test_a_gate_on_the_data_ends_with_exit_code_1_if_it_is_not_met(run: Run, gate: str, met: bool, found: str) -> None:
    result = run(*ARGUMENTS, "--fail-if", gate)
    assert result.exit_code == (0 if met else 1)
    assert result.stderr.splitlines()[-1] == f"gate `{gate}` {'passed' if met else 'failed'} by the data: {found}"
    assert result.stdout == run(*ARGUMENTS).stdout


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("hard > 0", "error[E520]: `hard` is a number of models, and an audit has none"),
        ("rule(city).score > 0", "error[E520]: `rule(city).score` is a number of models, and an audit has none"),
        ("worse than x.json", "error[E520]: a saved result has models, and an audit has none"),
        ("rule(cty).rate > 0", "error[E261]: no rule is named `cty`"),
        ("refuted > 1%", "error[E520]: `refuted` is not a share, so it cannot be compared with a percentage"),
    ],
)
def test_a_gate_that_an_audit_cannot_hold_is_wrong_use(run: Run, gate: str, message: str) -> None:
    result = run(*ARGUMENTS, "--fail-if", gate)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == message
    assert result.stderr.splitlines()[1].startswith(" --> --fail-if:1:")


def test_a_rule_that_nothing_judges_meets_no_gate(run: Run, family: Path) -> None:
    (family / "sale.rules").write_text("none: sale.city depends on (zip, price).\n", encoding="utf-8")
    result = run(*ARGUMENTS, "--fail-if", "rate > 1%", "--fail-if", "rule(none).rate > 1%")
    assert result.exit_code == 1
    assert result.stderr.count("is undefined: no rule has an evaluable grounding") == 2


def test_denial_constraints_that_the_data_keep_have_no_rate_and_the_gate_says_what_they_have(run: Run, family: Path) -> None:
    (family / "sale.rules").write_text("false <- sale(price: P), P > 90.\n", encoding="utf-8")
    assert run(*ARGUMENTS, "--fail-if", "refuted > 0").exit_code == 0
    result = run(*ARGUMENTS, "--fail-if", "rate > 1%")
    assert result.exit_code == 1
    assert "rate is undefined: denial constraints that nothing breaks have no rate; `refuted > 0` says" in result.stderr


def test_junit_and_the_summary_name_the_worst_rules_with_a_violation(run: Run, family: Path) -> None:
    result = run(*ARGUMENTS, "--fail-if", "rate > 1%", "--fail-if", "refuted > 9", "--junit", "j.xml", "--summary", "s.md")
    assert result.exit_code == 1
    suite = ElementTree.parse(family / "j.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failing, passing = suite
    assert failing.get("classname") == passing.get("classname") == "rulescore.data"
    (failure,) = failing
    assert failure.text is not None
    assert "city: soft rule, refuted in 2 of 4" in failure.text
    assert "sale(row: 0, zip: 1, city: a), sale(row: 1, zip: 1, city: b), 0 != 1 → a = b" in failure.text
    summary = (family / "s.md").read_text(encoding="utf-8")
    assert "### rulescore: 1 of 2 gates failed" in summary
    assert "| `city` | 2 | 4 | 0.5000 |" in summary
    assert "Worst rules of the data:" in summary


def test_junit_needs_a_gate(run: Run) -> None:
    assert run(*ARGUMENTS, "--junit", "j.xml").exit_code == 2


def test_models_have_the_highest_rate_of_a_rule_as_well(run: Run) -> None:
    files = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "bad=bad.tsv")
    result = run("score", *files, "--fail-if", "refuted > 0")
    assert result.exit_code == 1
    assert "gate `refuted > 0` failed by `bad`: refuted is " in result.stderr
