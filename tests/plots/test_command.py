"""`rulescore score --plots`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MODELS = ("--predictions", "good=good.tsv", "--predictions", "bad=bad.tsv")
DATA = ("score", "--facts", "train.tsv", "--rules", "family.rules", *MODELS)
ENDINGS = ("svg", "png", "pdf")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_figures_are_written_and_those_left_out_are_said_once(run, family: Path) -> None:
    result = run(*DATA, "--plots", "figures")
    assert result.exit_code == 0
    assert names(family / "figures") == {
        f"{name}.{end}" for name in ("dataset_rates", "rules", "heat_map", "models") for end in ("svg", "png", "pdf")
    }
    assert "not drawn: tradeoff (no accuracy was measured), curve (`--curve --plots` draws it)\n" in result.stderr
    assert result.stdout == run(*DATA).stdout
    assert run(*DATA, "--plots", "figures", "--quiet").stderr == ""


def test_figures_have_intervals(run, family: Path) -> None:
    assert run(*DATA, "--plots", "figures").exit_code == 0
    for name in ("rules", "models"):
        assert "thin lines: 95% intervals" in (family / f"figures/{name}.svg").read_text("utf-8")


def test_a_curve_is_drawn_alone(run, family: Path) -> None:
    (family / "good.tsv").write_text("head\trelation\ttail\trank\nalice\twife\tchristopher\t1\n")
    result = run(*DATA[:-2], "--curve", "--plots", "figures")
    assert result.exit_code == 0, result.stderr
    assert names(family / "figures") == {"curve.svg", "curve.png", "curve.pdf"}


def test_figures_may_lie_with_results_but_not_in_a_folder_of_theirs(run, family: Path) -> None:
    for _ in range(2):
        assert run(*DATA, "--output", "both", "--plots", "both").exit_code == 0
    assert {"evaluation.json", "rules.svg"} <= names(family / "both")
    result = run(*DATA, "--output", "results", "--plots", "results/figures")
    assert result.exit_code == 2
    assert "lie one inside the other" in result.stderr
    assert not (family / "results").exists()


def test_a_project_draws_in_its_folder_and_elsewhere_only_if_trusted(run, family: Path) -> None:
    project = (family / "family.toml").read_text()
    (family / "p.toml").write_text(project + '[output]\nplots = "drawn"\n')
    assert run("score", "p.toml").exit_code == 0
    assert "models.svg" in names(family / "drawn")
    (family / "p.toml").write_text(project + '[output]\nplots = "../drawn"\n')
    refused = run("score", "p.toml", "--output", "results")
    assert "it writes figures into `../drawn`, outside its own folder" in refused.stderr
    assert refused.exit_code == 2
    assert not (family / "results").exists()
    assert run("score", "p.toml", "--plots", "mine").exit_code == 0
    assert run("audit", "p.toml").exit_code == 0
    assert not (family.parent / "drawn").exists()


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_what_is_missing_is_told_before_anything_is_counted(
    run, family: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("rulescore.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    result = run(*DATA, "--plots", "figures")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install '.[plots]'" in result.stderr
