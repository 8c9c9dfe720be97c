"""`rulescore report`, and `--report` of `score` and `audit`."""

from __future__ import annotations

import html
import re
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


def title(path: str) -> str:
    found = re.search("<title>(.*?)</title>", Path(path).read_text("utf-8"))
    assert found is not None
    return found[1]


def test_a_project_has_a_report(run: Run) -> None:
    result = run("report", "family.toml", "--title", "A & B", "-o", "pages/page.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "wrote page.html to pages" in result.stderr
    assert title("pages/page.html") == "A &amp; B"
    page = Path("pages/page.html").read_text("utf-8")
    assert "rulescore violations family.toml" in page
    assert "bad" in page


def test_labels_stand_for_ids(run: Run) -> None:
    Path("labels.tsv").write_text("alice\tAlice A.\n", "utf-8")
    assert run("report", "family.toml", "--labels", "labels.tsv").exit_code == 0
    assert "Alice A." in Path("report.html").read_text("utf-8")
    result = run("report", "family.toml", "--labels", "missing.tsv")
    assert result.exit_code == 2
    assert "error[E301]" in result.stderr


def test_the_commands_of_a_report_name_the_whole_setting(run: Run) -> None:
    Path("ride.csv").write_text("fare,tip\n7,1\n,2\n", "utf-8")
    Path("ride.rules").write_text("tip: T <= F <- ride(fare: F, tip: T).", "utf-8")
    Path("answers.csv").write_text("row,prediction\n1,1.5\n", "utf-8")
    Path("truth.csv").write_text("row,fare\n1,3\n", "utf-8")
    setting = (
        "--table",
        "ride.csv",
        "--target",
        "fare",
        "--predictions",
        "m=answers.csv",
        "--rules",
        "ride.rules",
        "--hard-needs",
        "1",
    )
    assert run("report", *setting, "--truth", "truth.csv", "--allow-unrefutable").exit_code == 0
    commands = re.findall("<code>(rulescore .*?)</code>", Path("report.html").read_text("utf-8"))
    made_by, listing = (
        next(words for words in commands if words.startswith(f"rulescore {name} ")) for name in ("report", "violations")
    )
    assert "--truth truth.csv --allow-unrefutable" in made_by
    for command in (made_by, listing):
        result = run(*html.unescape(command).split()[1:])
        assert result.exit_code == 0, result.stderr
        assert set(setting) <= set(command.split())


def test_score_and_audit_write_one_beside_what_they_print(run: Run) -> None:
    plain = run("score", "family.toml").stdout
    result = run("score", "family.toml", "--report", "score.html")
    assert result.stdout == plain
    assert title("score.html") == "3 rules, 2 models"
    assert run("audit", "family.toml", "--report", "audit.html").exit_code == 0
    assert title("audit.html") == "3 rules over the data"
    assert "rulescore violations family.toml --dataset" in Path("audit.html").read_text("utf-8")
    assert run("score", "family.toml", "--dry-run", "--report", "x.html").exit_code == 2
    assert run("audit", "family.toml", "--tolerances", "5%", "--report", "x.html").exit_code == 2


def test_saved_results_have_reports_too(run: Run) -> None:
    run("score", "family.toml", "--output", "before")
    assert run("report", "before").exit_code == 0
    assert "does not know its data" in Path("report.html").read_text("utf-8")
    assert run("report", "before", "before", "-o", "changes.html").exit_code == 0
    assert "No rule is broken more often or less often than before." in Path("changes.html").read_text("utf-8")
    result = run("report", "family.toml", "before")
    assert result.exit_code == 2
    assert "give the folder or the file of each saved one" in result.stderr


def test_it_is_shown_in_the_browser_if_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    run("report", "family.toml")
    run("report", "family.toml", "--open")
    assert shown == [Path("report.html").resolve().as_uri()]


def test_the_options_of_the_setting_stand_in_its_commands(run: Run) -> None:
    words = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "bad=bad.tsv", "--convention", "definition")
    assert run("report", *words, "--no-header").exit_code == 0
    html = Path("report.html").read_text("utf-8")
    assert "rulescore violations --facts train.tsv --predictions bad=bad.tsv --rules family.rules" in html
    assert "--convention definition" in html
    assert "--no-header" in html
