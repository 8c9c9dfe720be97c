"""A comparison in every form: one line, texts, tables and files, and JSON by its schema."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from made_results import Rows, made_result
from rulescore import ModelComparison
from rulescore.comparison.comparing import compare
from rulescore.comparison.listings import comparison_listings, write_comparison
from rulescore.errors import InputError
from rulescore.reporting.json import comparison_schema
from rulescore.reporting.listing import ComparisonTable
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, RuleInfo
from rulescore.setting.choices import OutputFormat


def rows(rate: float, seed: int) -> Rows:
    broken = np.random.default_rng(seed).random(100) < rate
    refuted = np.concatenate([broken, np.zeros(100)]).astype(np.int64)
    return {"rule": np.repeat([0, 1], 100), "prediction": np.tile(np.arange(100), 2), "refuted": refuted, "evaluable": refuted + 1}


def result(text: str = "p(X) <- q(X)", **rates: float) -> Evaluation:
    infos = [RuleInfo("dry", text), RuleInfo("<b>=1\u202e", "s(X) <- q(X)")]
    models = {name: rows(rate, seed) for seed, (name, rate) in enumerate(rates.items())}
    return made_result([Counts(9, 0, 9), Counts(90, 10, 100)], models, 100, 100, infos)


TWO = ModelComparison.of(compare(result(ridge=0.1, forest=0.5)))
ALONE = ModelComparison.of(compare(result(ridge=0.1)))
RUNS = ModelComparison.of(compare(result(ridge=0.1, forest=0.5), result("p(X) <- r(X)", ridge=0.1, forest=0.2)))
ALL = (TWO, ALONE, RUNS)


def test_a_comparison_is_one_line() -> None:
    assert repr(TWO) == (
        "<ModelComparison of ridge and forest, 95% intervals: better by violating a hard rule: ridge, by RVS hard: ridge, "
        "by RVS soft: –>"
    )
    assert repr(ALONE).startswith("<ModelComparison of ridge alone, 95% intervals: RVS hard ")
    assert repr(RUNS).startswith("<ModelComparison of 2 pairs of models, 95% intervals: ")
    assert all("\n" not in repr(one) for one in ALL)


def many(count: int, name: str = "m") -> dict[str, float]:
    return {f"{name}{number}": number / 10 for number in range(count)}


def test_of_more_than_five_models_people_see_each_with_the_first() -> None:
    five, six = (ModelComparison.of(compare(result(**many(count)))) for count in (5, 6))
    assert [five.to_text().count(f"Rules that separate m{number}") for number in range(4)] == [4, 3, 2, 1]
    assert "`--against NAME`" not in five.to_text()
    text = " ".join(six.to_text().split())
    (_, differences) = comparison_listings(six)
    assert [row[:2] for row in differences.rows] == [("m0", f"m{number}") for number in range(1, 6) for _ in range(3)]
    assert "all are compared with m0: choose another with `--against NAME`" in text
    assert "rules and changes are shown of at most 5 models: choose them with `--model NAME`" in text
    assert (len(six.differences), len(six.rule_differences)) == (15 * 3, 15 * 2)


@pytest.mark.parametrize("count", [5, 6])
@pytest.mark.parametrize("others", [None, "m", "other"])
def test_what_people_see_does_not_need_the_rest(count: int, others: str | None) -> None:
    second = None if others is None else result(**many(count, others))
    brief, full = (compare(result(**many(count)), second, brief=brief) for brief in (True, False))
    assert comparison_listings(brief) == comparison_listings(full)
    assert (len(brief.rule_differences) > 0) == (count == 5 and others != "other")


def test_without_a_hard_rule_nobody_violates_one_or_none() -> None:
    infos = [RuleInfo("r", "r(X) <- q(X)"), RuleInfo("s", "s(X) <- q(X)")]
    soft = compare(made_result([Counts(90, 10, 100)] * 2, {"ridge": rows(0.1, 0)}, 100, 100, infos))
    (models, *_) = comparison_listings(soft)
    assert models.rows[0][1:3] == (None, None)


@pytest.mark.parametrize("comparison", ALL)
def test_json_follows_its_schema(comparison: ModelComparison) -> None:
    jsonschema.Draft202012Validator.check_schema(comparison_schema())
    document = json.loads(comparison.to_json())
    jsonschema.validate(document, comparison_schema())
    assert (document["listing"], document["draws"], document["two_runs"]) == ("comparison", 1000, comparison is RUNS)
    for table in ComparisonTable:
        assert document[table] == getattr(comparison, table).to_pylist()
        alone = json.loads(comparison.to_json(table))
        jsonschema.validate(alone, comparison_schema())
        assert (alone["listing"], alone["rows"]) == (f"comparison_{table}", document[table])
    assert "\u202e" not in comparison.to_json()


@pytest.mark.slow
def test_the_schema_is_strict() -> None:
    document = json.loads(RUNS.to_json())
    for place in (document, *(document[table][0] for table in ComparisonTable if document[table]), document["warnings"][0]):
        place["unknown"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, comparison_schema())
        del place["unknown"]
        for key in list(place):
            value = place.pop(key)
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(document, comparison_schema())
            place[key] = value
    jsonschema.validate(document, comparison_schema())


def test_people_see_what_matters_or_one_table() -> None:
    for text in (TWO.to_text(), TWO.to_markdown(), TWO._repr_html_()):
        assert "Models, with intervals" in text
        assert "Rules that separate ridge and forest most" in text
        assert "\u202e" not in text
    assert "<b>=1" not in TWO._repr_html_()
    for one, title in (("models", "Models, with intervals"), ("differences", "Differences"), ("rules", "Rules of ridge")):
        assert TWO.to_text(one).startswith(title)
        assert TWO.to_markdown(one).startswith(f"### {title}")
    assert "Rules of forest" in TWO.to_text("rules")
    assert "From A: ridge to B: ridge" in RUNS.to_text("changes")
    assert max(map(len, TWO.to_text(width=140).splitlines())) > 100


def test_latex_has_one_table_and_no_label_twice() -> None:
    assert TWO.to_latex().count(r"\begin{tabular") == 1
    text = TWO.to_latex("rules")
    assert (text.count(r"\begin{tabular"), text.count(r"\label{tab:rulescore-rules}")) == (2, 1)


def test_csv_is_exact_and_spreadsheets_compute_nothing() -> None:
    for table in ComparisonTable:
        found = list(csv.DictReader(io.StringIO(RUNS.to_csv(table))))
        assert len(found) == len(getattr(RUNS, table))
    assert TWO.to_csv() == TWO.to_csv("differences")
    assert ALONE.to_csv() == ALONE.to_csv("models")
    named = ModelComparison.of(compare(result(**{"=ridge": 0.1})))
    assert "'=ridge" in named.to_csv(spreadsheet=True)


def test_tables_are_frames() -> None:
    assert TWO.to_pandas()["measure"].tolist()[:3] == ["violating", "hard_score", "soft_score"]
    assert TWO.to_polars("differences").shape == (3, 8)
    assert all(isinstance(getattr(TWO, table), pa.Table) for table in ComparisonTable)
    assert {"rule", "text", "kind", "model", "refuted", "evaluable", "rate", "score", "score_reason"} <= set(TWO.rules.column_names)


def test_a_table_that_there_is_not_is_told() -> None:
    for ask in (TWO.to_text, TWO.to_csv, TWO.to_latex, TWO.to_json, TWO.to_markdown, TWO.to_pandas, TWO.to_polars):
        with pytest.raises(InputError, match="did you mean `models`") as caught:
            ask("model")
        assert caught.value.problems[0].code == "E502"


def test_files_of_every_format(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    written = write_comparison(RUNS, tmp_path / "out", list(OutputFormat))
    assert {path.name for path in written} == {path.name for path in (tmp_path / "out").iterdir()} - {"mine.txt"}
    jsonschema.validate(json.loads((tmp_path / "out" / "comparison.json").read_text()), comparison_schema())
    for table in ComparisonTable:
        assert parquet.read_table(tmp_path / "out" / f"comparison_{table}.parquet").equals(getattr(RUNS, table))
        assert (tmp_path / "out" / f"comparison_{table}.csv").read_text() == RUNS.to_csv(table)
    again = write_comparison(RUNS, tmp_path / "out", ["markdown"])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"comparison.md", "mine.txt"}
    assert [path.name for path in again] == ["comparison.md"]
