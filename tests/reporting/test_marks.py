"""A 0 that says nothing is not shown without the word that says so, in any format."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

from rulescore.reporting.cells import Format
from rulescore.reporting.files import write_outputs
from rulescore.reporting.json import schema
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo
from rulescore.scoring.score import score, unmeasured_models
from rulescore.setting.choices import OutputFormat

PEOPLE = [Format.TABLE, Format.MARKDOWN, Format.LATEX]


@pytest.fixture
def marked() -> Evaluation:
    rules = [RuleInfo("free", "p(X) <- q(X)", unrefutable=True), RuleInfo("bound", "false <- q(X), s(X)", denial=True)]
    findings = {
        "good": PredictionFindings(8, 2, 3, {"likes": 1}, measured=True),
        "misread": PredictionFindings(0, 0, 0, {"all": 40, "some": 10}),
        "silent": PredictionFindings(),
    }
    brought = {"good": 5_878, "misread": 50, "silent": 0}
    results = score(
        rules,
        [Counts(7, 0, 7), Counts()],
        {"good": [Counts(6, 0, 6), Counts(0, 2, 2)], "misread": [Counts(), Counts()], "silent": [Counts(), Counts()]},
        {model: PredictionCounts(number, number, number, 0, 0) for model, number in brought.items()},
        findings,
    )
    return Evaluation("definition", *results, DataSummary(5, 0, 0, 0, 5, 3), unmeasured_models(results[1]))


def rows_below(text: str, heading: str, name: str) -> list[str]:
    """The rows of a model or rule in the table under a heading."""
    section = text[text.index(heading) :]
    return [line for line in section.splitlines() if re.match(rf"(\| )?{name}\b", line)][:1]


@pytest.mark.parametrize("form", PEOPLE)
def test_people_read_the_word_in_place_of_the_number(marked: Evaluation, form: Format) -> None:
    text = render(marked, form, detail=True)
    for model in ("misread", "silent"):
        (row,) = rows_below(text, "Models", model)
        assert row.count("unmeasured") == 2
    (row,) = rows_below(text, "Models", "good")
    assert "2 of 5,878" in row
    assert "good: 3 of 5,878" in text.replace("\\", "")
    assert "misread (unmeasured)" in text.replace(r"\\(", " (")  # LaTeX stacks the words of a heading
    assert "Rules under misread, unmeasured" in text


@pytest.mark.parametrize("form", PEOPLE)
def test_a_rule_that_nothing_could_refute_is_marked_wherever_it_stands(marked: Evaluation, form: Format) -> None:
    text = render(marked, form, detail=True)
    for heading in ("Violations of each rule", "Rules over", "Rules under good", "Rules under silent"):
        (row,) = rows_below(text, heading, "free")
        assert "unrefutable" in text[text.index(row) : text.index(row) + 200]


def test_predicates_that_no_rule_mentions_are_named(marked: Evaluation) -> None:
    for detail in (False, True):
        text = render(marked, Format.MARKDOWN, detail=detail).replace("\\", "")
        assert "misread: no rule mentions" in text


def test_json_has_the_words_beside_the_numbers(marked: Evaluation) -> None:
    document = json.loads(render(marked, Format.JSON))
    jsonschema.validate(document, schema())
    good, misread = document["models"]["good"], document["models"]["misread"]
    assert (good["unmeasured"], good["violating"], good["violating_any"], good["evaluable"]) == (False, 2, 3, 8)
    assert (misread["unmeasured"], misread["hard_score"], misread["unconcerned"]) == (True, 0.0, 50)
    assert misread["hard_score_reason"].startswith("unmeasured: ")
    assert misread["unconcerned_predicates"] == {"all": 40, "some": 10}
    free, bound = document["rules"]
    assert (free["unrefutable"], bound["unrefutable"]) == (True, False)
    assert free["models"]["good"]["score_reason"].startswith("unrefutable: ")
    assert bound["models"]["good"]["score_reason"] is None
    assert bound["models"]["silent"]["score_reason"].startswith("unmeasured: ")


def test_tables_and_frames_have_columns_of_truth_values(marked: Evaluation) -> None:
    assert marked.models["unmeasured"].to_pylist() == [False, True, True]
    assert marked.models["violating"].to_pylist() == [2, 0, 0]
    assert marked.models["unconcerned"].to_pylist() == [1, 50, 0]
    assert marked.rules["unrefutable"].to_pylist() == [True] * 3 + [False] * 3
    frame = marked.to_pandas("models")
    assert str(frame["unmeasured"].dtype) == "boolean"
    assert str(frame["violating"].dtype) == "Int64"


def test_csv_has_the_same_columns(marked: Evaluation, tmp_path: Path) -> None:
    (row, *_) = csv.DictReader(io.StringIO(render(marked, Format.CSV)))
    assert (row["rule"], row["unrefutable"], row["score"]) == ("free", "True", "0.0")
    assert row["score_reason"].startswith("unrefutable: ")
    write_outputs(marked, tmp_path, [OutputFormat.CSV])
    models = list(csv.DictReader(io.StringIO((tmp_path / "models.csv").read_text(encoding="utf-8"))))
    assert [row["unmeasured"] for row in models] == ["False", "True", "True"]
    assert [row["violating"] for row in models] == ["2", "0", "0"]


def test_a_warning_for_each_unmeasured_model_counts_what_no_rule_mentions(marked: Evaluation) -> None:
    misread, silent = marked.warnings
    assert misread.message.startswith("model `misread` is unmeasured: none of its 50 predictions")
    assert "predictions of predicates that no rule mentions: 50 of 50, `all` (40), `some` (10)" in misread.notes
    assert silent.message == "model `silent` is unmeasured: it has no predictions"


def test_a_hard_score_over_rules_that_nothing_could_refute_says_so() -> None:
    """The model is measured, by a soft rule; its hard score is 0 all the same."""
    rules = [RuleInfo("free", "p(X) <- q(X)", unrefutable=True), RuleInfo("soft", "r(X) <- q(X)")]
    found = PredictionFindings(1, 0, 0, measured=True)
    counts = {"model": [Counts(1, 0, 1), Counts(1, 0, 1)]}
    predictions = {"model": PredictionCounts(1, 1, 1, 0, 0)}
    _, (model,) = score(rules, [Counts(5, 0, 5), Counts(3, 1, 4)], counts, predictions, {"model": found})
    assert (model.hard_score.value, model.hard_score.mark, model.hard_mean.mark) == (0.0, "unrefutable", "unrefutable")
    assert model.soft_score.mark is None
