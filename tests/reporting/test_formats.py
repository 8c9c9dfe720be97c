"""Every format shows the same results, and none can be broken by a name."""

from __future__ import annotations

import csv
import io
import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rulescore.errors.texts import visible
from rulescore.reporting import latex
from rulescore.reporting import listing as markdown
from rulescore.reporting.audit import audit_listing
from rulescore.reporting.findings import check_listing, rules_listing
from rulescore.reporting.json import listing_schema, schema
from rulescore.reporting.listing import Appearance, CellKind, Column, Format, Listing
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import PredictionCounts
from rulescore.setting.choices import OutputFormat


def test_json_follows_its_schema(evaluation: Evaluation, audit: Evaluation) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    for shown in (evaluation, audit):
        jsonschema.validate(json.loads(render(shown, Format.JSON)), schema())


def test_the_schema_is_strict(evaluation: Evaluation) -> None:
    document = json.loads(render(evaluation, Format.JSON))
    for place in (document, document["data"], document["rules"][0], document["rules"][0]["dataset"], document["warnings"][0]):
        place["unknown"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, schema())
        del place["unknown"]
    jsonschema.validate(document, schema())
    del document["models"]["compgcn"]["hard_score"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema())


def test_listings_follow_their_schema(audit: Evaluation) -> None:
    jsonschema.Draft202012Validator.check_schema(listing_schema())
    infos = [result.info for result in audit.rule_results]
    for listing in (
        audit_listing(audit.rule_results),
        rules_listing(infos),
        check_listing(audit.summary, 3, {"m": PredictionCounts(9, 8, 7, 1, 2)}),
    ):
        jsonschema.validate(json.loads(render(listing, Format.JSON)), listing_schema())


def test_csv_reads_back_as_the_rules_table(evaluation: Evaluation) -> None:
    rows = list(csv.DictReader(io.StringIO(render(evaluation, Format.CSV), newline="")))
    expected = evaluation.rules.to_pylist()
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert list(row) == list(wanted)
        assert row["rule"] == wanted["rule"]
        assert row["score"] == ("" if wanted["score"] is None else repr(wanted["score"]))
        assert row["confirmed"] == str(wanted["confirmed"])


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_figure_is_folded_or_cut_at_any_width(evaluation: Evaluation, width: int) -> None:
    text = render(evaluation, Format.TABLE, detail=True, appearance=Appearance(width))
    for figure in ("1,234,567", "12,345", "1,246,912", "0.0099", "1,000", "21,000", "0.0476", "4.81", "23,631", "23,999"):
        assert re.search(rf"(^|\s){re.escape(figure)}(\s|$)", text, re.MULTILINE), figure


def test_tables_fit_when_their_names_and_figures_do(evaluation: Evaluation) -> None:
    lines = render(evaluation, Format.TABLE, detail=True, appearance=Appearance(90)).splitlines()
    assert max(cell_len(line) for line in lines) <= 90


def test_colour_is_used_only_when_asked_for(evaluation: Evaluation) -> None:
    assert "\x1b" not in render(evaluation, Format.TABLE)
    assert "\x1b[1m" in render(evaluation, Format.TABLE, appearance=Appearance(80, colour=True))


def test_long_tables_say_how_much_is_left_out() -> None:
    column = Column("number", "number", CellKind.COUNT)
    listing = Listing("numbers", "Numbers", (column,), tuple((number,) for number in range(1000)))
    assert "… and 800 more rows" in render(listing, Format.TABLE)
    assert render(listing, Format.CSV).count("\n") == 1001


def test_markdown_rows_have_as_many_cells_as_columns(evaluation: Evaluation) -> None:
    text = render(evaluation, Format.MARKDOWN)
    for table in re.split(r"^### .*$", text, flags=re.MULTILINE)[1:]:
        rows = [line for line in table.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_latex_rows_have_as_many_cells_as_columns(evaluation: Evaluation) -> None:
    text = render(evaluation, Format.LATEX, detail=True).replace(r"p{0.4\linewidth}", "p")
    for alignment, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        rows = [line for line in body.splitlines() if line.endswith(r" \\")]
        assert rows
        assert all(len(re.findall(r"(?<!\\)&", row)) == len(alignment) - 1 for row in rows)


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_latex_leaves_no_character_with_a_meaning_of_its_own(text: str) -> None:
    commands = r"\\text[a-z]+\{\}|\\[{}$&#%_]|\{-\}"
    assert not re.search(r"[\\{}$&#%_^~<>|\"`']", re.sub(commands, "", latex.escaped(text)))


@given(st.text())
def test_markdown_escapes_can_be_undone(text: str) -> None:
    assert re.sub(r"\\([\\`*_{}\[\]<>|~&#$:@!.])", r"\1", markdown.escaped(text)) == visible(text)


def test_every_printed_format_can_be_written_too() -> None:
    assert {*Format, "parquet"} == {*OutputFormat}


def test_names_are_not_broken_and_texts_fold_at_spaces() -> None:
    columns = (Column("rule", "rule"), *(Column(f"n{number}", f"number {number}", CellKind.COUNT) for number in range(6)))
    name = "a_rather_long_name_of_a_rule_or_model"
    text = "mother(X, Y) <- stepmother(X, Y), father(Z, Y)"
    listing = Listing("rules", "Rules", columns, ((name, *[1_234_567] * 6), (f"r: {text}", *[7] * 6)))
    shown = render(listing, Format.TABLE, appearance=Appearance(80))
    assert {name, *text.split()} <= set(shown.split())


def test_a_dumb_terminal_does_not_break_figures(evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = render(evaluation, Format.TABLE, appearance=Appearance(200, colour=True))
    monkeypatch.setenv("TERM", "dumb")
    dumb = render(evaluation, Format.TABLE, appearance=Appearance(200, colour=True))
    assert max(map(cell_len, dumb.splitlines())) > 80
    assert re.sub(r"\x1b\[[0-9;]*m", "", wide).splitlines() == re.sub(r"\x1b\[[0-9;]*m", "", dumb).splitlines()
