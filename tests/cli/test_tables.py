"""Commands over a table with a key: formulas, templates, a registered predicate, a rule in SQL."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import Result

from rulescore.reporting.json import listing_schema, schema

Run = Callable[..., Result]

SALES = """\
id,zip,price,surface,split
1,44000,200000,100,train
2,44000,210000,100,train
3,44000,150000,100,train
4,44100,80000,50,train
5,44100,84000,50,train
6,44000,190000,95,test
7,44200,90000,60,test
8,44100,90000,60,test
"""
RULES = """\
near: abs(P - Q) <= 20000 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
wide: within(P, Q, quantile(0.5)) <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
close: within(P, Q, 10%) <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
for $zip in {"44000", "44100"}: "dear-$zip": P > 1000 * S or not S > 10 <- sale(zip: $zip, price: P, surface: S).
usual: plausible(P, S) <- sale(zip: "44100", price: P, surface: S).
"""
PROJECT = """\
rules = "sales.rules"

[tables.sale]
path = "sales.csv"
key = "id"
target = "price"
types = { id = "integer", price = "integer", surface = "integer" }
hidden = { column = "split", values = ["test"] }

[predictions]
ridge = "ridge.csv"

[functions]
plausible = "cli_tables_checks:plausible"

[[sql_rules]]
name = "cheap"
statement = '''
select prediction, price > 100000 as confirmed, price <= 50000 as refuted, id from predicted_sale where zip <> '44200'
union all
select null, price > 100000, price <= 90000, id from observed_sale
'''
"""


@pytest.fixture
def sales(family: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULESCORE_TRUST", "1")
    files = {
        "sales.csv": SALES,
        "sales.rules": RULES,
        "sales.toml": PROJECT,
        "ridge.csv": "id,prediction\n6,201000\n7,90000\n",
        "cli_tables_checks.py": "def plausible(price, surface):\n    return price / surface < 5000\n",
    }
    for name, text in files.items():
        (family / name).write_text(text, encoding="utf-8")
    return family


def document(result: Result) -> dict:  # type: ignore[type-arg]
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.slow
@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
@pytest.mark.parametrize(
    "command",
    ["score", "audit", "check", "rules", "violations", ("violations", "--dataset"), ("audit", "--tolerances", "500,5%")],
)
def test_every_command_works_in_every_format(run: Run, command: str | tuple[str, ...], form: str) -> None:
    words = (command,) if isinstance(command, str) else command
    result = run(*words, "sales.toml", "--format", form)
    assert result.exit_code == 0, result.stderr
    assert result.stdout
    if form == "json":
        jsonschema.validate(json.loads(result.stdout), schema() if command == "score" else listing_schema())


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize("rule", ["near", "wide", "dear-44000", "usual", "cheap"])
def test_every_kind_of_rule_has_a_statement(run: Run, rule: str) -> None:
    result = run("sql", rule, "sales.toml")
    assert result.exit_code == 0, result.stderr
    assert "select" in result.stdout.lower()


@pytest.mark.usefixtures("sales")
def test_coverage_partners_groups_and_tolerances_are_scored(run: Run) -> None:
    found = document(run("score", "sales.toml", "--format", "json"))
    ridge = found["models"]["ridge"]
    assert (ridge["hidden"], ridge["covered"], ridge["coverage"]) == (3, 2, 2 / 3)
    # Nothing is known about 44200: no sale of it is observed, and no rule names it.
    assert (ridge["predictions"], ridge["without_partner"]) == (2, 1)
    rules = {rule["name"]: rule for rule in found["rules"]}
    assert (rules["near"]["dataset"]["evaluable"], rules["near"]["dataset"]["largest_group"]) == (8, 6)
    assert rules["near"]["dataset"]["largest_group_share"] == 0.75
    # The distances are 4,000, 10,000, 50,000 and 60,000, each twice.
    assert rules["wide"]["tolerance"] == 10_000
    assert rules["near"]["tolerance"] is None
    assert rules["cheap"]["dataset"]["largest_group"] is None


@pytest.mark.usefixtures("sales")
def test_a_row_that_is_neither_confirmed_nor_refuted_is_no_partner(run: Run) -> None:
    Path("sales.rules").write_text('never: P > 0 <- sale(zip: "0", price: P).\n')
    assert document(run("score", "sales.toml", "--format", "json"))["models"]["ridge"]["without_partner"] == 1
    Path("sales.toml").write_text(PROJECT.replace("price > 100000 as confirmed", "null as confirmed"))
    assert document(run("score", "sales.toml", "--format", "json"))["models"]["ridge"]["without_partner"] == 2


def test_predictions_of_facts_may_have_no_partner_either(run: Run) -> None:
    Path("good.tsv").write_text("alice\twife\tchristopher\nzoe\twife\tzack\n")
    models = document(run("score", "family.toml", "--format", "json"))["models"]
    assert (models["good"]["without_partner"], models["good"]["coverage"]) == (1, None)


@pytest.mark.usefixtures("sales")
def test_the_grid_agrees_with_the_rules_own_counts(run: Run) -> None:
    rows = document(run("audit", "sales.toml", "--tolerances", "20000,0,10%", "--format", "json"))["rows"]
    audited = {row["rule"]: row for row in document(run("audit", "sales.toml", "--format", "json"))["rows"]}
    by_key = {(row["rule"], row["tolerance"], row["unit"]): row for row in rows}
    assert set(by_key) == {
        *((rule, limit, "absolute") for rule in ("near", "wide") for limit in (20_000, 0)),
        ("close", 10, "percent"),
    }
    for name, row in (("near", by_key["near", 20_000, "absolute"]), ("close", by_key["close", 10, "percent"])):
        counts = ("confirmed", "refuted", "evaluable", "rate")
        assert [row[key] for key in counts] == [audited[name][key] for key in counts]


@pytest.mark.usefixtures("sales")
def test_denial_constraints_are_counted_with_other_tolerances_of_their_kind(run: Run) -> None:
    body = "sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B"
    rules = f"far: false <- {body}, abs(P - Q) > 20000.\nfarther: false <- {body}, not within(P, Q, 10%).\n"
    Path("sales.rules").write_text(rules)
    rows = document(run("audit", "sales.toml", "--tolerances", "0,10000,10%", "--format", "json"))["rows"]
    assert [(row["rule"], row["tolerance"], row["refuted"]) for row in rows] == [
        ("far", 0, 8),
        ("far", 10_000, 4),
        ("farther", 10, 4),
    ]


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize("value", ["500,x", "500,,5", "", "-5", "5%%", "1e999", "nan", "5 %5", "99999999999999999999"])
def test_a_malformed_tolerance_is_named(run: Run, value: str) -> None:
    result = run("audit", "sales.toml", f"--tolerances={value}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is not a tolerance: write numbers or percentages separated by commas" in result.stderr


@pytest.mark.usefixtures("sales")
def test_tolerances_are_numbers_and_percentages_each_once(run: Run) -> None:
    text = run("audit", "sales.toml", "--tolerances", " 5 %, 1e3,1000,.5", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    near = [row["tolerance"] for row in rows if row["rule"] == "near"]
    assert near == ["1000.0", "0.5"]
    assert [row["tolerance"] for row in rows if row["rule"] == "close"] == ["5"]


@pytest.mark.usefixtures("sales")
def test_tolerances_of_a_kind_that_no_rule_has_are_a_warning(run: Run) -> None:
    Path("sales.rules").write_text(RULES.splitlines()[0])
    result = run("audit", "sales.toml", "--tolerances", "5,10%")
    assert result.exit_code == 0
    assert "warning[W281]: `10%` fits no rule: none has a tolerance in percent" in result.stderr
    assert run("audit", "sales.toml", "--tolerances", "10%").exit_code == 2


@pytest.mark.usefixtures("sales")
def test_tolerances_where_variables_must_differ_are_refused(run: Run) -> None:
    result = run("audit", "sales.toml", "--tolerances", "5", "--distinct-variables")
    assert result.exit_code == 2
    assert "error[E264]" in result.stderr


@pytest.mark.usefixtures("sales")
def test_the_grid_is_written_as_files(run: Run) -> None:
    assert run("audit", "sales.toml", "--tolerances", "5", "--output", "results").exit_code == 0
    assert {path.name for path in Path("results").iterdir()} == {"tolerances.json", "tolerances.csv"}


@pytest.mark.usefixtures("sales")
def test_explain_shows_rules_in_sql_and_refuses_tolerances(run: Run) -> None:
    assert "cheap, in SQL" in run("score", "sales.toml", "--explain").stdout
    result = run("audit", "sales.toml", "--explain", "--tolerances", "5")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot be combined with `--tolerances`" in result.stderr


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("predicates", "expected"),
    [
        (("sale",), ["near", "wide", "close", "dear-44000", "dear-44100", "usual", "cheap"]),
        (("sale.surface",), ["dear-44000", "dear-44100", "usual"]),
        (("plausible",), ["usual"]),
        (("sale", "plausible"), ["usual"]),
    ],
)
def test_rules_are_found_by_what_they_mention(run: Run, predicates: tuple[str, ...], expected: list[str]) -> None:
    options = [word for predicate in predicates for word in ("--predicate", predicate)]
    rows = document(run("rules", "sales.toml", *options, "--format", "json"))["rows"]
    assert [row["rule"] for row in rows] == expected


@pytest.mark.usefixtures("sales")
def test_rules_under_not_and_in_aggregates_are_found(run: Run) -> None:
    Path("more.rules").write_text("a: p(X) <- q(X), not (r(X) or sale(id: X)).\nb: count(Y : s(X, Y)) < 3 <- sale.zip(X, Z).\n")

    def found(predicate: str) -> list[str]:
        rows = document(run("rules", "--rules", "more.rules", "--predicate", predicate, "--format", "json"))["rows"]
        return [row["rule"] for row in rows]

    assert {name: found(name) for name in ("r", "sale", "s", "sale.zip")} == {
        "r": ["a"],
        "sale": ["a", "b"],
        "s": ["b"],
        "sale.zip": ["b"],
    }


@pytest.mark.usefixtures("sales")
def test_check_tells_rows_and_coverage(run: Run) -> None:
    rows = {row["what"]: row["number"] for row in document(run("check", "sales.toml", "--format", "json"))["rows"]}
    assert (rows["sale: rows"], rows["sale: hidden targets"]) == (8, 3)
    assert (rows["ridge: hidden targets"], rows["ridge: hidden targets covered"]) == (3, 2)


@pytest.mark.usefixtures("sales")
def test_a_violation_shows_the_tolerance_that_was_taken(run: Run) -> None:
    found = document(run("violations", "sales.toml", "--rule", "wide", "--dataset", "--limit", "1", "--format", "json"))
    assert found["total"] == 4
    assert found["rows"][0]["rule_head"].endswith(", 10000)")


@pytest.mark.usefixtures("sales")
def test_attributes_of_tables_are_not_paired(run: Run) -> None:
    result = run("incompatibilities", "sales.toml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there are only tables" in result.stderr
