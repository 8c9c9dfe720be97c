"""Gates on the command line: exit codes, the lines on stderr, and the reports."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from command_line import PROJECT, Run
from rulescore.reporting.json import schema

pytestmark = pytest.mark.slow

FILES = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "good=good.tsv", "--predictions", "bad=bad.tsv")


def test_a_gate_that_is_not_met_is_exit_code_1_and_the_table_is_still_there(run: Run) -> None:
    result = run("score", *FILES, "--fail-if", "rule(no_incest).refuted > 0")
    assert result.exit_code == 1
    assert result.stdout == run("score", *FILES).stdout
    assert result.stderr.splitlines()[-2:] == [
        "gate `rule(no_incest).refuted > 0` passed by `good`: rule(no_incest).refuted is 0",
        "gate `rule(no_incest).refuted > 0` failed by `bad`: rule(no_incest).refuted is 1",
    ]


def test_gates_that_are_met_change_no_exit_code(run: Run) -> None:
    result = run("score", *FILES, "--fail-if", "rule(no_incest).score > 3", "--fail-if", "evaluable < 1")
    assert result.exit_code == 0
    assert result.stderr.count("passed by") == 4


@pytest.mark.parametrize(
    ("gate", "code", "line", "caret"),
    [
        ("hrad > 0", "E520", "1 | hrad > 0", "  | ^^^^"),
        ("hard > 1%", "E520", "1 | hard > 1%", "  |        ^^"),
        ("rule(no_incset).score > 1", "E261", "1 | rule(no_incset).score > 1", "  |      ^^^^^^^^^"),
        ("worse than gone.json", "E504", "1 | worse than gone.json", "  |            ^^^^^^^^^"),
    ],
)
def test_a_gate_that_is_not_understood_is_wrong_use(run: Run, gate: str, code: str, line: str, caret: str) -> None:
    result = run("score", *FILES, "--fail-if", gate)
    assert (result.exit_code, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"error[{code}]")
    assert " --> --fail-if:1:" in lines[1]
    assert line in lines
    assert caret in lines


def test_an_unmeasured_model_meets_no_gate(run: Run, family: Path) -> None:
    (family / "other.tsv").write_text("bob\tage\tten\n", encoding="utf-8")
    (family / "family.rules").write_text("predicate age/2.\n" + (family / "family.rules").read_text(encoding="utf-8"))
    result = run("score", *FILES[:4], "--predictions", "other=other.tsv", "--fail-if", "hard > 0", "--fail-if", "violating > 50%")
    assert result.exit_code == 1
    assert result.stderr.count("failed by `other`") == 2
    assert "hard says nothing: unmeasured: " in result.stderr


def test_a_project_file_has_gates_with_names_severities_and_models(run: Run, family: Path) -> None:
    gates = """
[gates]
enough = "evaluable < 1"
[gates.lawful]
fail_if = "rule(no_incest).refuted > 0"
severity = "warn"
[gates.no_impossible]
fail_if = "violating > 0%"
models = ["bad"]
"""
    (family / "family.toml").write_text(PROJECT + gates, encoding="utf-8")
    result = run("score", "family.toml")
    assert result.exit_code == 1
    assert [line.partition(" by ")[0] for line in result.stderr.splitlines() if line.startswith("gate")] == [
        "gate `enough: evaluable < 1` passed",
        "gate `enough: evaluable < 1` passed",
        "gate `lawful: rule(no_incest).refuted > 0` passed",
        "gate `lawful: rule(no_incest).refuted > 0` failed",
        "gate `no_impossible: violating > 0%` failed",
    ]
    assert "failed by `bad` (a warning): " in result.stderr
    assert "violating is 50%" in result.stderr
    quiet = run("score", "family.toml", "--quiet")
    assert quiet.stderr.splitlines() == [line for line in result.stderr.splitlines() if line.startswith("gate")]
    further = run("score", "family.toml", "--fail-if", "rule(no_incest).score > 5")
    assert "gate `rule(no_incest).score > 5` passed by `bad`" in further.stderr
    assert "no_impossible" in further.stderr
    (family / "family.toml").write_text(PROJECT + gates.split("[gates.no_impossible]")[0], encoding="utf-8")
    assert run("score", "family.toml").exit_code == 0


@pytest.mark.parametrize("command", ["score", "check"])
def test_the_caret_points_into_the_project_file(run: Run, family: Path, command: str) -> None:
    text = '\n[gates.one]\nfail_if = "hard >"\n[gates]\ntwo = "sotf > 1"\nthree = { fail_if = "hard > 0", models = ["godo"] }\n'
    (family / "family.toml").write_text(PROJECT + text.replace("[gates]\ntwo", "[gates.two]\nfail_if").replace("three", "#"))
    result = run(command, "family.toml")
    assert result.exit_code == 2
    assert " --> family.toml:9:18\n" in result.stderr
    assert " --> family.toml:11:12\n" in result.stderr
    assert '11 | fail_if = "sotf > 1"\n   |            ^^^^\n' in result.stderr
    (family / "family.toml").write_text(PROJECT + '[gates.one]\nfail_if = "hard > 0"\nmodels = "godo"\n')
    result = run(command, "family.toml")
    assert result.exit_code == 2
    assert "error[E261]: no model is named `godo`\n" in result.stderr
    assert " --> family.toml:9:1\n" in result.stderr


def test_a_gate_written_with_escapes_is_still_shown(run: Run, family: Path) -> None:
    (family / "family.toml").write_text(PROJECT + '[gates.one]\nfail_if = "rule(\\"x\\").score > 1"\n')
    result = run("score", "family.toml")
    assert result.exit_code == 2
    assert " --> family.toml (gates.one):1:6\n" in result.stderr


def test_a_severity_is_one_of_two(run: Run, family: Path) -> None:
    (family / "family.toml").write_text(PROJECT + '[gates.one]\nfail_if = "hard > 0"\nseverity = "warning"\n')
    result = run("score", "family.toml")
    assert result.exit_code == 2
    assert "it is one of error, warn" in " ".join(result.stderr.split()).replace(" or ", ", ")


def test_worse_than_a_saved_result(run: Run, family: Path) -> None:
    assert run("score", *FILES[:6], "--output", "before").exit_code == 0
    same = run("score", *FILES[:6], "--fail-if", "worse than before/evaluation.json")
    assert same.exit_code == 0
    (family / "good.tsv").write_text("alice\twife\tdaniel\n", encoding="utf-8")
    now = run("score", *FILES[:6], "--fail-if", "rule(no_incest).score worse than before by 5%")
    assert now.exit_code == 1
    assert "rule(no_incest).score is 1, was 0, may be 0" in now.stderr
    other = run("score", *FILES, "--fail-if", "worse than before by 5%")
    assert "failed by `bad`: nothing to look at: `before` has no model `bad`" in other.stderr


def test_a_saved_result_lies_where_the_project_file_is(run: Run, family: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("score", "family.toml", "--output", "before")
    (family / "family.toml").write_text(PROJECT + '[gates]\nsteady = "worse than before by 5%"\n')
    (family / "elsewhere").mkdir()
    monkeypatch.chdir(family / "elsewhere")
    result = run("score", "../family.toml")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("passed by") == 2


def test_json_has_the_outcomes(run: Run) -> None:
    result = run("score", *FILES, "--format", "json", "--fail-if", "violating > 30%", "--fail-if", "rule(mothers).rate > 0.5")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    jsonschema.validate(document, schema())
    assert [(one["gate"], one["model"], one["met"]) for one in document["gates"]] == [
        ("violating > 30%", "good", True),
        ("violating > 30%", "bad", False),
        ("rule(mothers).rate > 0.5", "good", True),
        ("rule(mothers).rate > 0.5", "bad", False),
    ]
    assert document["gates"][1]["readings"][0]["bound"] == 0.3
    assert "gates" not in json.loads(run("score", *FILES, "--format", "json").stdout)


def test_reports_have_the_worst_rules_with_a_row_of_each(run: Run, family: Path) -> None:
    gates = ("--fail-if", "violating > 0", "--fail-if", "evaluable < 1")
    arguments = (*gates, "--junit", "out/gates.xml", "--summary", "out/summary.md")
    result = run("score", *FILES, *arguments)
    assert result.exit_code == 1
    suite = ElementTree.parse(family / "out" / "gates.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    failure = cases["rulescore.bad", "violating > 0"].find("failure")
    assert failure is not None
    row = "prediction wife(alice, daniel): sister(alice, daniel), wife(alice, daniel) → false"
    assert failure.get("message") == "violating is 1"
    assert row in (failure.text or "")
    assert cases["rulescore.bad", "evaluable < 1"].find("failure") is None
    summary = (family / "out" / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### rulescore: 1 of 2 gates failed\n")
    assert "| `violating > 0` | `bad` | **failed** | `violating is 1` |" in summary
    assert f"- `no_incest` (hard rule, refuted in 1 of 1): `false <- sister(X, Y), wife(X, Y)`\n  - `{row}`\n" in summary
    assert {path.name for path in (family / "out").iterdir()} == {"gates.xml", "summary.md"}


def test_a_summary_needs_no_gate(run: Run, family: Path) -> None:
    assert run("score", *FILES, "--summary", "summary.md").exit_code == 0
    assert (family / "summary.md").read_text(encoding="utf-8").startswith("### rulescore\n\n| model | violating a hard rule |")


def test_a_report_that_cannot_be_written_is_no_gate(run: Run, family: Path) -> None:
    (family / "file").write_text("")
    result = run("score", *FILES, "--fail-if", "violating > 0", "--junit", "file/gates.xml")
    assert result.exit_code == 2
    assert "error[E601]" in result.stderr
