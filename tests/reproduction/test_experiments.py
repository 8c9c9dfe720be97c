"""The published experiments, run again."""

from __future__ import annotations

import csv
import io
import json
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rulescore.cli.main import program
from rulescore.errors import InputError
from rulescore.reporting.files import write_files
from rulescore.reporting.listing import Format, Listing
from rulescore.reproduction.comparison import Cause, Compared, Reproduction
from rulescore.reproduction.experiments import EXPERIMENTS, ExperimentOutcome, render, run
from rulescore.reproduction.published import prediction_files
from rulescore.reproduction.real_estate import FACTORS, KINDS

# One process runs them: each experiment takes seconds.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduction")]


def table(found: Reproduction, name: str) -> Compared:
    return next(one for one in found.compared if one.name == name)


def listing(found: Reproduction, name: str) -> Listing:
    return next(part for part in found.parts if isinstance(part, Listing) and part.name == name)


def number(found: Reproduction, name: str, row: str, measure: str) -> float | int | None:
    (one,) = (one for one in table(found, name).cells if (one.row, one.measure) == (row, measure))
    return one.ours


@pytest.fixture(params=EXPERIMENTS)
def each(request: pytest.FixtureRequest) -> Reproduction:
    found: Reproduction = request.getfixturevalue(request.param.replace("-", "_"))
    return found


def test_commands_that_show_why_are_commands(each: Reproduction) -> None:
    """The first writes the project that the second reads."""
    for command in {reason.command for compared in each.compared for reason in compared.reasons.values()}:
        for one in command.split("; "):
            _, name, *words = shlex.split(one)
            known = program.get_command(click.Context(program), name)
            assert known is not None, name
            known.make_context(name, list(words))
            if words[0].endswith("/rulescore.toml"):
                assert command.startswith(f"rulescore reproduce {each.name} --output {words[0].removesuffix('/rulescore.toml')}; ")


def test_every_difference_has_a_class_a_reason_and_a_command(each: Reproduction) -> None:
    for compared, one in each.cells:
        if one.cause is not Cause.SAME:
            assert compared.reasons[one.cause].command.startswith("rulescore "), (compared.name, one)


def test_dataset_rates_of_family_are_the_published_ones(family: Reproduction) -> None:
    rates = table(family, "dataset_rates").cells
    assert {one.cause for one in rates} == {Cause.SAME}
    assert sum(one.ours == 0 for one in rates) == 28
    assert [one.row for one in rates if round(one.by_definition or 0, 4) != float(one.published)] == ["niece daughter sister"]


def test_family_has_both_filters_and_answers_turned_round(family: Reproduction) -> None:
    assert round(number(family, "models", "UniKER-own-filter", "MRR") or 0, 4) == 0.8722
    assert round(number(family, "models", "UniKER", "MRR") or 0, 4) == 0.5955
    as_they_are, turned = (number(family, "models", model, "RVS hard") or 0 for model in ("CompGCN", "CompGCN-turned"))
    assert abs(turned - 425) < abs(as_they_are - 425)


def test_fb15k_237_says_how_published_means_come_about(fb15k_237: Reproduction) -> None:
    means = {row[0]: row[1] for row in listing(fb15k_237, "hard_means").rows}
    assert means == {"ExpressGNN": "0.0", "CompGCN": "49.8 = 847/17", "AnyBURL": "1.44 = 13/9", "TransE": "–"}
    kinds = listing(fb15k_237, "kinds").rows[0][:4]
    assert kinds == ("appendix", 30, 148, 331)
    soft = {one.measure: one.difference or 0 for one in table(fb15k_237, "models").cells if one.row == "AnyBURL"}
    assert abs(soft["mean of soft"]) < abs(soft["soft mean"]) < abs(soft["RVS soft"])


def test_rates_that_the_public_files_do_not_give_are_listed_with_our_counts(fb15k_237: Reproduction) -> None:
    (case,) = table(fb15k_237, "cases").cells
    assert case.ours == 1026 / 1379
    assert case.cause is Cause.UNKNOWN
    missing = listing(fb15k_237, "rates_not_given").rows
    assert {row[0] for row in missing} == {"0.0476", "0.5000", "0.7083", "0.8800", "0.9999"}
    assert ("0.8800", 1026, 1379) in {(row[0], row[2], row[3]) for row in missing}


def test_expressgnn_knows_the_test_facts_it_trains_on_and_no_others(fb15k_237: Reproduction) -> None:
    split = {(row[0], row[1]): row[2:4] for row in listing(fb15k_237, "split").rows}
    (trained, high), (others, low) = (split["ExpressGNN", title] for title in ("head a grounding", "head none"))
    assert (trained, others) == (15_534, 4_932)
    assert high > 60 * low
    assert split["CompGCN", "head a grounding"][1] < 2 * split["CompGCN", "head none"][1]
    causes = {one.cause for one in table(fb15k_237, "models").cells if one.row == "ExpressGNN"}
    assert causes == {Cause.TEST_FACTS}


def test_formats_hold_the_same_cells(family: Reproduction) -> None:
    rows = list(csv.DictReader(io.StringIO(render(ExperimentOutcome((family,)), Format.CSV))))
    (document,) = json.loads(render(ExperimentOutcome((family,)), Format.JSON))["reproductions"]
    assert len(rows) == len(document["cells"]) == len(family.cells)
    assert [row["class"] for row in rows] == [one["class"] for one in document["cells"]]
    assert document["classes"]["same"] == family.causes[Cause.SAME]
    assert "0.4667" in render(ExperimentOutcome((family,)), Format.MARKDOWN)
    assert r"\toprule" in render(ExperimentOutcome((family,)), Format.LATEX)


def test_tables_project_and_figures_are_written(real_estate: Reproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was run once already is not run again."""
    monkeypatch.setitem(EXPERIMENTS, "real-estate", lambda: real_estate)
    folders = ["--output", str(tmp_path / "output"), "--plots", str(tmp_path / "plots")]
    told = CliRunner().invoke(program, ["reproduce", "real-estate", *folders])
    assert told.exit_code == 0, told.output
    assert "This is no reproduction of the published experiment" in told.stdout
    assert {path.name for path in (tmp_path / "output").iterdir()} == {
        *(f"reproduction.{ending}" for ending in ("json", "csv", "md")),
        *real_estate.project,
    }
    drawn = {f"{figure.name}.{ending}" for figure in real_estate.figures for ending in ("svg", "png", "pdf")}
    assert {path.name for path in (tmp_path / "plots").iterdir()} == drawn
    assert "tolerances.pdf" in told.stderr


def test_public_sales_are_never_taken_for_the_restricted_ones(real_estate: Reproduction) -> None:
    assert real_estate.remarks[0].startswith("This is no reproduction of the published experiment")
    assert {one.row for _, one in real_estate.cells if one.cause is not Cause.DATA} == {"rules"}
    assert "1,500 euros per m² (house)" in real_estate.remarks[1]


def test_a_larger_tolerance_refutes_less(real_estate: Reproduction) -> None:
    points = next(one.points for one in real_estate.figures if one.name == "tolerances").to_pylist()
    for kind in KINDS:
        rates = [point["value"] for point in points if (point["model"], point["measure"]) == (kind, "dataset_rate")]
        assert len(rates) == len(FACTORS)
        assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    ("name", "measure", "score"), [("family", "RVS hard", "hard_score"), ("real_estate", "RVS together", "soft_score")]
)
def test_the_project_that_is_written_gives_the_same_scores(
    name: str, measure: str, score: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    found: Reproduction = request.getfixturevalue(name)
    write_files(tmp_path, found.project)
    again = CliRunner().invoke(program, ["score", str(tmp_path / "rulescore.toml"), "--format", "json", "--quiet"])
    models = json.loads(again.stdout)["models"]
    ours = {one.row: one.ours for one in table(found, "models").cells if one.measure == measure and one.ours is not None}
    assert ours == {model: models[model][score] for model in ours}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_data_set_that_is_missing_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError) as caught:
        run(name)
    assert [problem.code for problem in caught.value.problems] == ["E752"]


def test_predictions_that_are_missing_are_named_with_where_to_put_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path))
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "family-anyburl.tsv.gz").touch()
    with pytest.raises(InputError) as caught:
        prediction_files("family", {"AnyBURL": "anyburl", "CompGCN": "compgcn"})
    (problem,) = caught.value.problems
    assert problem.code == "E752"
    assert "family-compgcn.tsv.gz" in problem.message
    assert "family-anyburl.tsv.gz" not in problem.message
    assert str(tmp_path / "predictions") in problem.helps[0]
