"""`rulescore compare`: saved results, models of one, models of a project."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import Result
from pyarrow import parquet

from rulescore.reporting.json import comparison_schema

pytestmark = pytest.mark.slow

Run = Callable[..., Result]


def saved(run: Run, folder: str) -> None:
    assert run("score", "family.toml", "--output", folder, "--quiet").exit_code == 0


def rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_the_models_of_a_saved_result(run: Run) -> None:
    saved(run, "out")
    result = run("compare", "out")
    assert result.exit_code == 0
    assert "bootstrap over queries" in " ".join(result.stdout.split())
    found = json.loads(run("compare", "out", "--format", "json").stdout)
    assert (found["program"], found["listing"], found["seed"]) == ("rulescore", "comparison", 0)
    assert [(row["model"], row["measure"]) for row in found["models"]][:2] == [("good", "violating"), ("good", "hard_score")]
    assert {row["value"] for row in found["models"] if (row["model"], row["measure"]) == ("bad", "violating")} == {0.5}


def test_models_by_name(run: Run) -> None:
    saved(run, "out")
    by_name = run("compare", "bad", "good", "--result", "out", "--format", "csv")
    assert [(row["first"], row["second"]) for row in rows(by_name)] == [("bad", "good")] * 3
    of_project = run("compare", "bad", "good", "--project", "family.toml", "--format", "csv")
    assert of_project.stdout == by_name.stdout
    unknown = run("compare", "goood", "bad", "--result", "out")
    assert (unknown.exit_code, "did you mean `good`" in unknown.stderr) == (2, True)


def test_against_one_model(run: Run) -> None:
    saved(run, "out")
    against = run("compare", "out", "--against", "bad", "--format", "csv")
    assert [(row["first"], row["second"]) for row in rows(against)] == [("bad", "good")] * 3
    assert "Rules that separate bad and good most" in run("compare", "out", "--against", "bad").stdout
    assert run("compare", "out", "out", "--against", "bad").exit_code == 2


def test_a_project_file_is_no_saved_result(run: Run) -> None:
    result = run("compare", "family.toml")
    assert (result.exit_code, "E504" in result.stderr) == (2, True)
    assert "rulescore score family.toml --output FOLDER" in " ".join(result.stderr.split())


def test_one_model_alone(run: Run) -> None:
    saved(run, "out")
    result = run("compare", "bad", "--result", "out")
    assert result.exit_code == 0, result.stderr
    assert "Differences" not in result.stdout
    assert "Rules of bad, with intervals" in result.stdout
    assert "1 of 1" in result.stdout
    models = rows(run("compare", "bad", "--result", "out", "--format", "csv"))
    assert [row["measure"] for row in models] == ["violating", "hard_score", "soft_score"]
    assert run("compare", "bad", "--result", "out", "--format", "csv", "--table", "differences").stdout.count("\n") == 1
    assert json.loads(run("compare", "bad", "--result", "out", "--format", "json").stdout)["differences"] == []


def test_two_runs(run: Run, family: Path) -> None:
    saved(run, "before")
    (family / "good.tsv").write_text("alice\twife\tdaniel\n")
    saved(run, "after")
    (change,) = rows(run("compare", "before", "after", "--format", "csv", "--table", "changes"))
    assert (change["first"], change["change"], change["rule"]) == ("A: good", "new", "no_incest")
    assert change["arguments"] == "alice; daniel"
    shown = run("compare", "before", "after").stdout
    assert "violations of predictions: 1 new" in shown
    assert "violations of predictions: none has changed" in shown


def test_what_is_no_result_is_refused(run: Run, family: Path) -> None:
    for names in (("train.tsv",), ("family.toml", "train.tsv")):
        result = run("compare", *names)
        assert (result.exit_code, "E504" in result.stderr) == (2, True)
    saved(run, "out")
    assert "E402" in run("compare", "out", "--draws", "1").stderr
    assert run("compare", "out", "out", "out").exit_code == 2
    (family / "out" / "contributions.parquet").unlink()
    assert "E502" in run("compare", "out").stderr


def test_one_table_in_every_format(run: Run) -> None:
    saved(run, "out")
    assert run("compare", "out", "--table", "rules").stdout.startswith("Rules of good, with intervals")
    assert run("compare", "out", "--table", "models", "--format", "markdown").stdout.startswith("### Models")
    assert run("compare", "out", "--format", "latex").stdout.count("tabular}{") == 1
    found = json.loads(run("compare", "out", "--table", "rules", "--format", "json").stdout)
    jsonschema.validate(found, comparison_schema())
    assert found["listing"] == "comparison_rules"


def test_a_comparison_is_written_to_a_folder_or_a_file(run: Run, family: Path) -> None:
    saved(run, "out")
    result = run("compare", "out", "--output", "compared")
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    names = {path.name for path in (family / "compared").iterdir()}
    assert {"comparison.json", "comparison_models.csv", "comparison_rules.parquet", "comparison_differences.csv"} <= names
    assert (family / "compared" / "comparison.json").read_text() == run("compare", "out", "--format", "json").stdout
    for name, options in {
        "c.json": ("json",),
        "c.csv": ("csv", "--table", "rules"),
        "c.md": ("markdown",),
        "c.tex": ("latex",),
    }.items():
        form, *table = options
        assert run("compare", "out", *table, "-o", name).exit_code == 0
        assert (family / name).read_text() == run("compare", "out", *table, "--format", form).stdout
    assert run("compare", "out", "-o", "c.parquet").exit_code == 0
    assert parquet.read_table(family / "c.parquet").num_rows == 3
    assert "E603" in run("compare", "out", "-o", "c.json").stderr
    assert run("compare", "out", "-o", "c.json", "--force").exit_code == 0
    assert "E602" in run("compare", "out", "-o", "c.xlsx").stderr


def test_nothing_to_compare_says_what_there_could_be(run: Run) -> None:
    for names in ((), ("before.json",), ("careful", "careless")):
        result = run("compare", *names)
        assert (result.exit_code, "E507" in result.stderr) == (2, True)
        assert "rulescore compare before/ after/" in result.stderr
        assert "--project rulescore.toml" in result.stderr
        assert "--facts" not in result.stderr
        assert all(name in result.stderr for name in names)


def test_a_path_that_leads_nowhere_is_no_model(run: Run, family: Path) -> None:
    (family / "family.toml").rename(family / "rulescore.toml")
    for name in ("before.json", "runs/before"):
        result = run("compare", name)
        assert (result.exit_code, f"there is no saved result `{name}`" in result.stderr) == (2, True)
    assert "E261" in run("compare", "goood").stderr


def test_a_rule_that_was_changed_shows_both_texts(run: Run, family: Path) -> None:
    saved(run, "before")
    path = next(family.glob("*.rules"))
    text = path.read_text()
    assert "no_incest" in text
    changed = [line.replace("sister", "parent") if "no_incest" in line else line for line in text.splitlines()]
    path.write_text("\n".join(changed) + "\n")
    saved(run, "after")
    result = run("compare", "before", "after")
    assert "W506" in result.stderr
    assert "Rules whose text has changed" in result.stdout
    assert "sister(" in result.stdout
    assert "parent(" in result.stdout
    assert "violations of predictions: none has changed" in result.stdout


@pytest.mark.slow
def test_a_process_prints_the_same_twice(run: Run, family: Path) -> None:
    saved(run, "out")
    program = "from rulescore.cli.main import main; main()"
    command = [sys.executable, "-c", program, "compare", "out", "--format", "json"]
    first, second = (subprocess.run(command, cwd=family, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == second
    assert json.loads(first)["version"] == 1


def test_models_scored_now_keep_as_many_answers_as_asked(run: Run, family: Path) -> None:
    (family / "ranked.tsv").write_text(
        "query\trank\thead\trelation\ttail\nq\t1\talice\twife\tchristopher\nq\t2\talice\twife\tdaniel\n", encoding="utf-8"
    )
    project = 'facts = "train.tsv"\nrules = "family.rules"\n[predictions]\nranked = "ranked.tsv"\n'
    (family / "ranked.toml").write_text(project, encoding="utf-8")
    best, both = (run("compare", "--project", "ranked.toml", "--format", "json", *k) for k in ((), ("--top-k", "2")))
    shares = [json.loads(result.stdout)["models"][0]["value"] for result in (best, both)]
    assert shares == [0.0, 0.5]
    saved(run, "out")
    refused = run("compare", "out", "--top-k", "2")
    assert (refused.exit_code, "a saved result keeps its own" in refused.stderr) == (2, True)
