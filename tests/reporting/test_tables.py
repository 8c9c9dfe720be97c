"""What scores rest on is shown where there is something to show, and nowhere else."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import jsonschema
import pytest
from rich.cells import cell_len

from evaluations import make_everything
from rulescore.reporting.audit import audit_listing
from rulescore.reporting.findings import check_listing, rules_listing, tolerances_listing
from rulescore.reporting.json import listing_schema, schema
from rulescore.reporting.listing import Appearance, CellKind, Column, Format, Listing, Tone, render_csv
from rulescore.reporting.render import render
from rulescore.reporting.short import models_listing
from rulescore.reporting.tables import detailed_listings, shortly_titled
from rulescore.reporting.terminal import render_terminal
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, GridRow, PredictionCounts, PredictionFindings, RuleInfo, Tolerance
from rulescore.scoring.score import score

GRID = [
    GridRow(RuleInfo("near", "text"), Tolerance(1500), Counts(1, 3, 4)),
    GridRow(RuleInfo("relative", "text"), Tolerance(2.5, relative=True), Counts()),
]


def rows_of(evaluation: Evaluation, name: str) -> list[dict[str, object]]:
    (listing,) = [listing for listing in detailed_listings(evaluation) if listing.name == name]
    return [dict(zip([column.key for column in listing.columns], row, strict=True)) for row in listing.rows]


def test_models_of_facts_have_no_columns_of_tables(evaluation: Evaluation) -> None:
    assert set(rows_of(evaluation, "predictions")[0]) == {
        "model",
        "rows",
        "kept",
        "predictions",
        "new",
        "linked",
        "concerned",
        "judged",
    }
    assert "groups" not in {listing.name for listing in detailed_listings(evaluation)}


def test_json_of_every_kind_follows_the_schemas() -> None:
    everything = make_everything()
    jsonschema.validate(json.loads(render(everything, Format.JSON)), schema())
    for listing in (
        audit_listing(everything.rule_results),
        tolerances_listing(GRID),
        check_listing(everything.summary, 3, {model.name: model.predictions for model in everything.model_results}),
    ):
        jsonschema.validate(json.loads(render(listing, Format.JSON)), listing_schema())


def test_frames_have_types_with_nulls() -> None:
    frame = make_everything().to_pandas("models")
    assert (str(frame["unmeasured"].dtype), str(frame["violating"].dtype)) == ("boolean", "Int64")


def test_a_hard_score_over_rules_that_nothing_could_refute_says_so() -> None:
    """The model is measured, by a soft rule; its hard score is 0 all the same."""
    rules = [RuleInfo("free", "p(X) <- q(X)", unrefutable=True), RuleInfo("soft", "r(X) <- q(X)")]
    findings = {"model": PredictionFindings(1, 0, 0, measured=True)}
    counts = {"model": [Counts(1, 0, 1), Counts(1, 0, 1)]}
    predictions = {"model": PredictionCounts(1, 1, 1, 0, 0)}
    _, (model,) = score(rules, [Counts(5, 0, 5), Counts(3, 1, 4)], counts, predictions, findings)
    assert (model.hard_score.value, model.hard_score.mark, model.hard_mean.mark) == (0.0, "unrefutable", "unrefutable")
    assert model.soft_score.mark is None


@pytest.mark.parametrize("width", [80, 120])
def test_tables_of_long_rules_fit_the_terminal(table_evaluation: Evaluation, width: int) -> None:
    text = render(table_evaluation, Format.TABLE, detail=True, appearance=Appearance(width))
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_a_long_text_is_cut_beside_figures_and_whole_in_the_list_of_rules(table_evaluation: Evaluation) -> None:
    info = table_evaluation.rule_results[0].info
    (shown,) = [listing for listing in detailed_listings(table_evaluation) if listing.name == "dataset"]
    assert info.text not in render(shown, Format.CSV)
    assert "sale(id: A0, price: P0)" in render(shown, Format.CSV)
    assert info.text in render(rules_listing([info]), Format.CSV)
    assert f"`{info.text}`" in render(table_evaluation, Format.MARKDOWN)
    assert info.text in render(table_evaluation, Format.CSV)


def test_a_text_that_is_shown_whole_is_folded_below_its_row() -> None:
    text = f"p(X) <- {', '.join(f'q{number}(X)' for number in range(40))}"
    columns = (Column("n", "n", CellKind.COUNT), Column("text", "text", CellKind.CODE, whole=True))
    shown = render(Listing("rules", "Rules", columns, ((1, text),)), Format.TABLE, appearance=Appearance(60))
    folded = shown.split("1\n", 1)[1].splitlines()
    assert len(folded) > 3
    assert all(line.startswith("  ") and cell_len(line) <= 60 for line in folded if line)
    assert " ".join(line.strip() for line in folded).strip() == text


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (120, ["rule", "refuted", "confidence", "support", "flags"]),
        (40, ["rule", "refuted", "confidence", "flags"]),
        (30, ["rule", "refuted", "flags"]),
        (10, ["rule", "refuted", "flags"]),
    ],
)
def test_a_narrow_terminal_leaves_spare_columns_out_and_says_so(width: int, headings: list[str]) -> None:
    columns = (
        Column("rule", "rule"),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("confidence", "confidence", CellKind.RATE, spare=True),
        Column("support", "support", CellKind.COUNT, spare=True),
        Column("flagged", "flags"),
    )
    listing = Listing("rules", "Rules", columns, (("one", 3, 0.5, 12, "few"),), tones={(0, 4): Tone.BAD})
    lines = render_terminal([listing], Appearance(width=width)).splitlines()
    assert lines[1].split() == headings
    note = " ".join(lines[4:])
    assert {name for name in ("confidence", "support") if name in note} == {"confidence", "support"}.difference(headings)
    assert render_csv(listing).startswith("rule,refuted,confidence,support,flagged")


def test_a_long_text_is_cut_behind_the_name() -> None:
    text = f"p(X) <- {', '.join(f'q{number}(X)' for number in range(40))}"
    assert shortly_titled(RuleInfo("r", text)) != f"r: {text}"


def test_what_is_read_is_said_of_tables_where_there_are_only_tables(table_evaluation: Evaluation, evaluation: Evaluation) -> None:
    assert "1 table, 4,000 rows; 3 rules" in render(table_evaluation, Format.TABLE)
    assert "272,115 observed facts, 237 predicates, 14,541 constants; 4 rules" in render(evaluation, Format.TABLE)
    appendix = replace(evaluation, convention="appendix")
    assert "constants; convention: appendix; 4 rules" in " ".join(render(appendix, Format.TABLE).split())


def test_a_reason_that_is_true_of_all_models_is_said_once(table_evaluation: Evaluation) -> None:
    notes = models_listing(table_evaluation, detail=True).notes
    assert notes[2:] == (
        "– RVS hard: there is no hard rule",
        "– hard mean: no hard rule has an evaluable grounding with a prediction",
    )


def test_a_grid_has_tolerances_as_written_for_people_and_as_numbers_for_programs() -> None:
    listing = tolerances_listing(GRID)
    table = [line.split() for line in render(listing, Format.TABLE).splitlines()[3:]]
    assert table == [["near", "1,500", "1", "3", "4", "0.7500"], ["relative", "2.5%", "0", "0", "0", "–"]]
    near, relative = csv.DictReader(io.StringIO(render(listing, Format.CSV)))
    assert (near["tolerance"], near["unit"], near["rate"]) == ("1500", "absolute", "0.75")
    assert (relative["tolerance"], relative["unit"], relative["rate"]) == ("2.5", "percent", "")
