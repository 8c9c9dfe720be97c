"""What scores rest on is shown where there is something to show, and nowhere else."""

from __future__ import annotations

import csv
import io
import json

import jsonschema
import pytest
from rich.cells import cell_len

from rulescore.reporting.audit import audit_listing
from rulescore.reporting.cells import Appearance, Format
from rulescore.reporting.findings import check_listing, rules_listing, tolerances_listing
from rulescore.reporting.json import listing_schema, schema
from rulescore.reporting.render import render
from rulescore.reporting.short import models_listing
from rulescore.reporting.tables import detailed_listings, shortly_titled
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, RuleInfo
from rulescore.scoring.tolerances import GridRow, Tolerance

GRID = [
    GridRow(RuleInfo("near", "text"), Tolerance(1500), Counts(1, 3, 4)),
    GridRow(RuleInfo("relative", "text"), Tolerance(2.5, relative=True), Counts()),
]


def rows_of(evaluation: Evaluation, name: str) -> list[dict[str, object]]:
    (listing,) = [listing for listing in detailed_listings(evaluation) if listing.name == name]
    return [dict(zip([column.key for column in listing.columns], row, strict=True)) for row in listing.rows]


def test_a_model_of_a_table_has_its_coverage(table_evaluation: Evaluation) -> None:
    ridge, none = rows_of(table_evaluation, "predictions")
    assert (ridge["covered"], none["covered"]) == ("300 of 400", "0 of 400")


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


def test_groups_have_their_share_and_tolerances_their_value(table_evaluation: Evaluation) -> None:
    near, wide = rows_of(table_evaluation, "groups")
    assert (near["rule"], near["tolerance"], near["largest_group_share"]) == ("near", None, 0.25)
    assert (wide["rule"], wide["tolerance"], wide["largest_group_share"]) == ("wide", 1234.5, None)
    text = render(table_evaluation, Format.TABLE, detail=True)
    assert "1,234.5" in text
    assert "share undefined for 1 rule: no evaluable grounding in the data" in text


def test_an_audit_shows_groups_below_to_people_and_beside_to_programs(table_evaluation: Evaluation) -> None:
    listing = audit_listing(table_evaluation.rule_results)
    assert "Tolerances taken from the data, and largest groups" in render(listing, Format.MARKDOWN)
    rows = list(csv.DictReader(io.StringIO(render(listing, Format.CSV))))
    assert {row["rule"]: (row["tolerance"], row["largest_group_share"]) for row in rows} == {
        "near": ("", "0.25"),
        "wide": ("1234.5", ""),
        "plain": ("", ""),
    }


def test_json_of_tables_follows_the_schemas(table_evaluation: Evaluation) -> None:
    document = json.loads(render(table_evaluation, Format.JSON))
    jsonschema.validate(document, schema())
    assert document["data"]["tables"] == {"sale": {"rows": 4_000, "hidden": 400, "inferred_types": {}}}
    ridge = document["models"]["ridge_regression"]
    assert (ridge["coverage"], ridge["coverage_reason"], ridge["without_partner"]) == (0.75, None, 30)
    near, wide, plain = document["rules"]
    assert (near["dataset"]["largest_group"], near["dataset"]["largest_group_share"]) == (100, 0.25)
    assert (wide["tolerance"], wide["dataset"]["largest_group_share"]) == (1234.5, None)
    assert plain["dataset"]["largest_group_share_reason"] == "the rule's groundings are not counted by groups"
    for listing in (
        audit_listing(table_evaluation.rule_results),
        tolerances_listing(GRID),
        check_listing(table_evaluation.summary, 3, {model.name: model.predictions for model in table_evaluation.model_results}),
    ):
        jsonschema.validate(json.loads(render(listing, Format.JSON)), listing_schema())


def test_a_model_that_predicts_facts_has_no_coverage_but_a_reason(evaluation: Evaluation) -> None:
    model = json.loads(render(evaluation, Format.JSON))["models"]["compgcn"]
    assert (model["hidden"], model["covered"], model["coverage"]) == (None, None, None)
    assert model["coverage_reason"] == "the model predicts no table's target"


def test_files_have_the_same_numbers(table_evaluation: Evaluation) -> None:
    models = table_evaluation.models.to_pylist()
    assert [(row["hidden"], row["covered"], row["coverage"], row["without_partner"]) for row in models] == [
        (400, 300, 0.75, 30),
        (400, 0, 0.0, 0),
    ]
    near, *_ = table_evaluation.rules.to_pylist()
    assert (near["largest_group"], near["largest_group_share"], near["tolerance"]) == (100, 0.25, None)


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


def test_a_long_text_is_cut_behind_the_name() -> None:
    text = f"p(X) <- {', '.join(f'q{number}(X)' for number in range(40))}"
    assert shortly_titled(RuleInfo("r", text)) != f"r: {text}"


def test_what_is_read_is_said_of_tables_where_there_are_only_tables(table_evaluation: Evaluation, evaluation: Evaluation) -> None:
    assert "1 table, 4,000 rows; convention: definition" in render(table_evaluation, Format.TABLE)
    assert "272,115 observed facts, 237 predicates, 14,541 constants; convention" in render(evaluation, Format.TABLE)


def test_a_reason_that_is_true_of_all_models_is_said_once(table_evaluation: Evaluation) -> None:
    notes = models_listing(table_evaluation).notes
    assert notes[3:] == (
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
