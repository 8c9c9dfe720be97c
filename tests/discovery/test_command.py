"""The command, the file it writes, and the function of the package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import jsonschema
import pandas
import polars
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import rulescore
from rulescore.cli.main import program
from rulescore.discovery.command import discover
from rulescore.discovery.model import Form
from rulescore.errors import Source
from rulescore.language.parser import parse_all
from rulescore.mending.reasons import AGAINST
from rulescore.mending.rerank_command import rerank
from rulescore.reporting.json import listing_schema

Run = Callable[..., Result]

FACTS = [(f"h{i}", "husband", f"w{i}") for i in range(20)] + [(f"w{i}", "wife", f"h{i}") for i in range(19)]
FACTS += [(f"h{i}", "cousin", f"w{i + 1}") for i in range(20)]
FACTS += [(f"h{i}", "father", f"c{i}") for i in range(20)] + [(f"w{i}", "mother", f"c{i}") for i in range(20)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    lines = ["head,relation,tail", *map(",".join, FACTS)]
    (tmp_path / "facts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(program, list(arguments), prog_name="rulescore", env={"COLUMNS": "200"})

    return invoke


def test_the_counts_of_every_rule_in_the_file_are_those_of_an_audit(run: Run) -> None:
    found = run("discover", "--facts", "facts.csv", "--output", "found.rules", "--format", "json")
    assert found.exit_code == 0, found.output
    jsonschema.validate(json.loads(found.stdout), listing_schema())
    rows = {row["rule"]: row for row in json.loads(found.stdout)["rows"]}
    audited = json.loads(run("audit", "--facts", "facts.csv", "--rules", "found.rules", "--format", "json").stdout)["rows"]
    assert len(audited) == len(rows) > 5
    for rule in audited:
        same = ("text", "confirmed", "refuted", "evaluable", "rate")
        assert [rule[key] for key in same] == [rows[rule["rule"]][key] for key in same]
        assert rule["support"] == (None if rule["text"].startswith("false") else rows[rule["rule"]]["support"])
        assert "unrefutable" not in rule["flagged"]


def test_score_just_works_on_the_file(run: Run) -> None:
    assert run("discover", "--facts", "facts.csv", "-o", "found.rules").exit_code == 0
    Path("model.csv").write_text("head,relation,tail\nw19,wife,h3\nw3,mother,c5\n", encoding="utf-8")
    scored = run("score", "--facts", "facts.csv", "--rules", "found.rules", "--predictions", "model.csv", "--format", "json")
    assert scored.exit_code == 0, scored.output
    assert not any(rule["unrefutable"] for rule in json.loads(scored.stdout)["rules"])


def test_the_file_says_how_it_was_made(run: Run) -> None:
    run("discover", "--facts", "facts.csv", "--min-support", "5", "--max-rate", "0.05", "-o", "found.rules")
    text = Path("found.rules").read_text(encoding="utf-8")
    assert "# Command: rulescore discover --facts facts.csv --min-support 5 --max-rate 0.05 --output found.rules\n" in text
    assert "# Options: min_support 5, max_rate 0.05, min_evaluable 1\n" in text
    assert "# Data: sha256 " in text
    program_of_file = parse_all([Source("found.rules", text)])
    assert all(rule.tags[0] == "discovered" for rule in program_of_file.rules)
    assert {rule.kind is not None for rule in program_of_file.rules if "false" in str(rule.head).lower()} <= {True}


def test_the_predicates_that_never_meet_are_those_of_the_command_for_them(run: Run) -> None:
    given = ("--facts", "facts.csv", "--format", "json")
    found = json.loads(run("discover", *given, "--form", "incompatible", "--all", "--min-support", "2").stdout)["rows"]
    pairs = json.loads(run("incompatibilities", *given, "--min-expected", "2").stdout)["rows"]
    expected = {f"false <- {pair['left']}(X, Y), {pair['right']}(X, Y)": pair["expected"] for pair in pairs}
    assert len(expected) == 10
    assert {rule["text"]: rule["expected"] for rule in found} == pytest.approx(expected)


def test_an_existing_file_is_kept(run: Run) -> None:
    Path("found.rules").write_text("mine", encoding="utf-8")
    refused = run("discover", "--facts", "facts.csv", "-o", "found.rules")
    assert (refused.exit_code, Path("found.rules").read_text(encoding="utf-8")) == (2, "mine")
    assert run("discover", "--facts", "facts.csv", "-o", "found.rules", "--force").exit_code == 0
    assert Path("found.rules").read_text(encoding="utf-8") != "mine"


def test_nothing_found_writes_nothing_and_says_why(run: Run) -> None:
    Path("one.csv").write_text("head,relation,tail\na,p,b\n", encoding="utf-8")
    found = run("discover", "--facts", "one.csv", "-o", "found.rules")
    assert found.exit_code == 0
    assert "nothing found, because no predicate has 10 facts" in found.stdout
    assert "nothing was found, so found.rules is not written" in found.stderr
    assert not Path("found.rules").exists()


@pytest.mark.parametrize("command", ["discover", "incompatibilities"])
def test_a_rule_file_of_the_project_need_not_exist_yet(run: Run, command: str) -> None:
    Path("rulescore.toml").write_text('facts = "facts.csv"\nrules = "found.rules"\n', encoding="utf-8")
    assert "there is no rule file `found.rules`" in run("audit").stderr
    found, expected = (run(command, *data) for data in ((), ("--facts", "facts.csv")))
    assert (found.exit_code, found.output) == (0, expected.output)


def test_two_ways_to_hold_out_are_refused(run: Run) -> None:
    refused = run("discover", "--facts", "facts.csv", "--valid", "facts.csv", "--hold-out", "0.1")
    assert (refused.exit_code, "cannot be combined" in refused.stderr) == (2, True)


def test_both_rates_are_shown_and_written(run: Run) -> None:
    Path("valid.csv").write_text("head,relation,tail\nw19,wife,h19\nh25,cousin,w19\n", encoding="utf-8")
    found = run("discover", "--facts", "facts.csv", "--valid", "valid.csv", "-o", "found.rules", "--form", "inversion")
    assert "broken   held out  covers" in found.stdout
    assert '@tags(discovered, "held out 0 of 1, rate 0.0000")' in Path("found.rules").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex", "table"])
def test_every_format_has_the_rules(run: Run, form: str) -> None:
    found = run("discover", "--facts", "facts.csv", "--form", "inversion", "--format", form)
    assert found.exit_code == 0
    assert "husband" in found.stdout


def test_a_project_of_ones_own_facts(run: Run) -> None:
    made = run("init", "--facts", "facts.csv", "mine")
    assert made.exit_code == 0, made.output
    assert Path("mine/found.rules").read_text(encoding="utf-8").count("<-") > 5
    assert run("audit", "mine/rulescore.toml").exit_code == 0


@pytest.mark.parametrize("more", [(), ("--hold-out", "0.2"), ("--refine", "wife(X, Y) <- cousin(Y, X)", "--min-support", "1")])
def test_the_facts_to_test_models_by_are_never_read(run: Run, more: tuple[str, ...]) -> None:
    """A command that read them would fail."""
    Path("test.csv").write_bytes(b"\xff\xfe these are no facts")
    Path("rulescore.toml").write_text('facts = "facts.csv"\n[truth]\npath = "test.csv"\n', encoding="utf-8")
    Path("one.rules").write_text("closed wife. wife(X, Y) <- husband(Y, X).", encoding="utf-8")
    assert "test.csv" in run("score", "--rules", "one.rules", "--predictions", "facts.csv").stderr
    found, expected = (run("discover", *data, *more) for data in ((), ("--facts", "facts.csv")))
    assert found.output == expected.output
    assert "wife" in found.output


def test_what_python_gives(tmp_path: Path) -> None:
    found = rulescore.discover(FACTS, forms=["inversion"])
    assert repr(found) == "<Discovered 2 rules>"
    assert found.save(tmp_path / "found.rules").read_text(encoding="utf-8") == found.rules
    assert [rule["text"] for rule in json.loads(found.to_json())["rows"]] == [rule.text for rule in found.listed]
    assert "<code>wife(X, Y)" in found._repr_html_()
    assert "wife" in found.to_markdown()


def test_the_rules_as_frames() -> None:
    found = rulescore.discover(FACTS, valid=[("w19", "wife", "h19")], everything=True)
    rules = found.listed
    frame = found.to_pandas()
    assert frame["text"].tolist() == found.to_polars()["text"].to_list() == pa.table(found)["text"].to_pylist()
    assert frame["text"].tolist() == [rule.text for rule in rules]
    assert frame["confirmed"].tolist() == [rule.counts.confirmed for rule in rules]
    assert frame["lift"].notna().tolist() == [bool(rule.lift) and not rule.form.is_denial for rule in rules]
    assert {"held_out_rate", "coverage", "left_out"} <= set(frame.columns)
    assert {str(kind) for kind in frame.dtypes} == {"string", "Int64", "Float64"}
    nothing = rulescore.discover([("a", "p", "b")])
    assert nothing.table.schema == found.table.schema
    assert nothing.table.num_rows == 0


@pytest.mark.parametrize("made", [pa.table, pandas.DataFrame, polars.DataFrame])
def test_facts_and_tables_may_be_frames(made: Callable[[object], object]) -> None:
    columns = dict(zip(("head", "relation", "tail"), map(list, zip(*FACTS, strict=True)), strict=True))
    assert rulescore.discover(made(columns)).listed == rulescore.discover(FACTS).listed
    rows = {"id": list(range(40)), "low": list(range(40)), "high": [n + 1 + n % 5 for n in range(40)]}
    found = rulescore.discover(None, tables={"t": rulescore.Table(made(rows), key="id")})
    assert "Low < High <- t(low: Low, high: High)" in found.table["text"].to_pylist()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_rate": 2}, "`max_rate` is `2`"),
        ({"forms": ["x"]}, "`forms` cannot be `x`"),
        ({"forms": ["longer"]}, "`forms` cannot be `longer`"),
        ({"valid": FACTS, "hold_out": 0.1}, "cannot be combined with `hold_out`"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], told: str) -> None:
    with pytest.raises(rulescore.InputError, match=told):
        rulescore.discover(FACTS, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "option", "words"),
    [(discover, "forms", {*Form} - {Form.LONGER}), (rerank, "reasons", {*AGAINST})],
)
def test_commands_offer_every_word_that_python_has(command: click.Command, option: str, words: set[str]) -> None:
    (offered,) = (parameter.type for parameter in command.params if parameter.name == option)
    assert isinstance(offered, click.Choice)
    assert {*offered.choices} == words
