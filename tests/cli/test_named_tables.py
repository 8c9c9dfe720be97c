"""Tables that the command line names: files, folders, patterns and SQLite, with a key or with the number of the row."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore
from command_line import Run

SALES = "name,zip,price\na,1,10\nb,1,12\nc,2,\nd,2,7\n"
RULES = "near: P = Q <- sales(row: A, zip: Z, price: P), sales(row: B, zip: Z, price: Q), A != B.\n"


@pytest.fixture
def sales(family: Path) -> Path:
    (family / "sales.csv").write_text(SALES, encoding="utf-8")
    (family / "near.rules").write_text(RULES, encoding="utf-8")
    return family


def counts(run: Run, *arguments: str) -> tuple[int, int]:
    result = run("audit", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)["rows"]
    return row["refuted"], row["evaluable"]


@pytest.mark.parametrize("table", ["sales=sales.csv", "sales.csv"])
def test_a_table_without_a_key_has_the_number_of_its_row(run: Run, sales: Path, table: str) -> None:
    assert counts(run, "--table", table, "--rules", "near.rules") == (2, 2)
    result = run("check", "--table", table, "--rules", "near.rules")
    assert result.exit_code == 0
    assert "note[W345]: the key of table `sales` is `row`, the number of a row, counted from 0" in result.stderr


def test_rows_are_counted_from_0_in_the_order_of_the_file(run: Run, sales: Path) -> None:
    result = run("violations", "--dataset", "--table", "sales.csv", "--rules", "near.rules", "--format", "json")
    rows = json.loads(result.stdout)["rows"]
    assert sorted((row["A"], row["P"], row["B"], row["Q"]) for row in rows) == [(0, 10, 1, 12), (1, 12, 0, 10)]


def test_a_column_named_row_is_the_key_itself(sales: Path) -> None:
    (sales / "own.csv").write_text("row,zip,price\nx,1,1\ny,1,2\n", encoding="utf-8")
    table = rulescore.Table("own.csv", key="row")
    violations = rulescore.violations(
        None, None, rulescore.RuleText(RULES.replace("sales", "own")), tables={"own": table}, dataset=True
    )
    assert set(violations.table["A"].to_pylist()) == {"x", "y"}


@pytest.mark.parametrize("target", ["price", "sales=price"])
def test_values_of_a_target_are_scored_and_judged_without_a_project_file(run: Run, sales: Path, target: str) -> None:
    (sales / "answers.csv").write_text("row,prediction,score\n2,9,0.5\n", encoding="utf-8")
    asked = ("--table", "sales.csv", "--target", target, "--rules", "near.rules", "--predictions", "forest=answers.csv")
    (row,) = json.loads(run("score", *asked, "--table", "models", "--format", "json").stdout)["rows"]
    assert (row["model"], row["violating_any"], row["predictions"]) == ("forest", 1, 1)
    judged = json.loads(run("judge", *asked, "--format", "json").stdout)
    assert (judged["row"], judged["score"], judged["verdict"]) == ("2", "0.5", "contradicted")
    assert "sales(row: 3, zip: 2, price: 7) is observed" in judged["because"]


def test_a_target_is_a_column_of_a_named_table(run: Run, sales: Path) -> None:
    asked = ("audit", "--rules", "near.rules")
    assert "table `sales` has no column `prize` for its target" in run(*asked, "--table", "sales.csv", "--target", "prize").stderr
    assert "`--target` names no table `sale`" in run(*asked, "--table", "sales.csv", "--target", "sale=price").stderr
    assert "`--target` is for the tables of `--table`" in run(*asked, "--facts", "f.csv", "--target", "price").stderr


def test_a_key_is_named_on_the_command_line(run: Run, sales: Path) -> None:
    (sales / "named.rules").write_text(RULES.replace("row:", "name:"), encoding="utf-8")
    for key in ("name", "sales=name"):
        assert counts(run, "--table", "sales.csv", "--key", key, "--rules", "named.rules") == (2, 2)
    result = run("check", "--table", "sales.csv", "--key", "sale=name", "--rules", "named.rules")
    assert result.exit_code == 2
    assert "error[E333]: `--key` names no table `sale`" in result.stderr
    assert "did you mean `sales`?" in result.stderr


def test_a_project_file_asks_for_the_number_of_the_row(run: Run, sales: Path) -> None:
    (sales / "sales.toml").write_text('rules = "near.rules"\n[tables.sales]\npath = "sales.csv"\nkey = "row"\n', encoding="utf-8")
    assert counts(run, "sales.toml") == (2, 2)


@pytest.mark.parametrize("path", ["parts", "parts/*.csv"])
def test_files_of_a_folder_are_one_table(run: Run, sales: Path, path: str) -> None:
    (sales / "parts").mkdir()
    (sales / "parts" / "b.csv").write_text("zip,price,name\n1,12.5,b\n", encoding="utf-8")
    (sales / "parts" / "a.csv").write_text("name,zip,price\na,1,10\nc,2,7\n", encoding="utf-8")
    (sales / "parts" / "_SUCCESS").write_text("", encoding="utf-8")
    arguments = ("--table", f"sales={path}", "--rules", "near.rules")
    assert counts(run, *arguments) == (2, 2)
    rows = json.loads(run("violations", "--dataset", *arguments, "--format", "json").stdout)["rows"]
    assert {(row["A"], row["P"]) for row in rows} == {(0, 10.0), (2, 12.5)}


def test_integers_that_no_float_equals_leave_a_folder_with_text(run: Run, sales: Path) -> None:
    (sales / "parts").mkdir()
    (sales / "parts" / "a.csv").write_text(f"zip,price\n1,{2**53 + 1}\n", encoding="utf-8")
    (sales / "parts" / "b.csv").write_text(f"zip,price\n1,{2**53}\n1,0.5\n", encoding="utf-8")
    result = run("audit", "--table", "sales=parts", "--rules", "near.rules")
    assert "types by their values: sales (zip integer)" in result.stdout
    assert counts(run, "--table", "sales=parts", "--rules", "near.rules") == (6, 6)


def test_parquet_files_of_a_folder_keep_their_types(run: Run, sales: Path) -> None:
    (sales / "parts").mkdir()
    parquet.write_table(pa.table({"zip": [1, 2], "price": [10, 7]}), sales / "parts" / "0.parquet")
    parquet.write_table(pa.table({"zip": [1], "price": [12.0]}), sales / "parts" / "1.parquet")
    assert counts(run, "--table", "sales=parts", "--rules", "near.rules") == (2, 2)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("zip,cost\n1,2\n", "error[E320]: `parts/b.csv` has other columns than `parts/a.csv`"),
        (None, "error[E302]: `parts/a.csv` and `parts/b.parquet` are not of one kind"),
    ],
)
def test_files_that_do_not_fit_each_other_are_refused(run: Run, sales: Path, second: str | None, message: str) -> None:
    (sales / "parts").mkdir()
    (sales / "parts" / "a.csv").write_text("zip,price\n1,2\n", encoding="utf-8")
    if second is None:
        parquet.write_table(pa.table({"zip": [1], "price": [12]}), sales / "parts" / "b.parquet")
    else:
        (sales / "parts" / "b.csv").write_text(second, encoding="utf-8")
    result = run("audit", "--table", "sales=parts", "--rules", "near.rules")
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("path", ["none/*.csv", "empty"])
def test_a_pattern_or_folder_without_files_is_refused(run: Run, sales: Path, path: str) -> None:
    (sales / "empty").mkdir()
    result = run("audit", "--table", f"sales={path}", "--rules", "near.rules")
    assert result.exit_code == 2
    assert result.stderr.startswith("error[E301]")


@pytest.fixture
def shop(sales: Path) -> Path:
    with sqlite3.connect(sales / "shop.sqlite") as database:
        database.executescript("""
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, born DATE);
            CREATE TABLE invoice (customer INTEGER, total REAL, paid TEXT, odd);
            CREATE INDEX by_total ON invoice (total);
            INSERT INTO customer VALUES (1, 'ann', '1990-05-01'), (2, 'bob', NULL);
            INSERT INTO invoice VALUES (1, 5, '2024-01-01', 'x'), (3, 2.5, 'never', 1), (2, NULL, NULL, NULL);
            CREATE VIEW dear AS SELECT customer, total FROM invoice WHERE total > 3;
        """)
    database.close()
    return sales


def test_all_tables_of_a_sqlite_file_have_their_primary_keys_and_types(run: Run, shop: Path) -> None:
    (shop / "shop.rules").write_text(
        "born: B < 2000-01-01 <- customer(id: C, born: B).\n"
        "known: count(N : customer(id: C, name: N)) >= 1 <- invoice(row: A, customer: C).\n"
        "small: T < 4 <- invoice(row: A, total: T).\n",
        encoding="utf-8",
    )
    result = run("audit", "--table", "shop.sqlite", "--rules", "shop.rules", "--format", "json")
    assert result.exit_code == 0, result.stderr
    found = {row["rule"]: (row["refuted"], row["evaluable"]) for row in json.loads(result.stdout)["rows"]}
    assert found == {"born": (0, 1), "known": (1, 3), "small": (1, 2)}


def test_rows_of_sqlite_are_counted_as_they_are_stored_whatever_index_there_is(run: Run, shop: Path) -> None:
    (shop / "small.rules").write_text("small: T < 4 <- invoice(row: A, total: T).\n", encoding="utf-8")
    result = run("violations", "--dataset", "--table", "shop.sqlite", "--rules", "small.rules", "--format", "json")
    (row,) = json.loads(result.stdout)["rows"]
    assert (row["A"], row["T"]) == (0, 5.0)


def test_a_project_file_names_a_view_of_a_sqlite_file(run: Run, shop: Path) -> None:
    (shop / "small.rules").write_text("small: T < 4 <- dear(row: A, total: T).\n", encoding="utf-8")
    text = 'rules = "small.rules"\n[tables.dear]\ndatabase = "shop.sqlite"\ntable = "dear"\nkey = "row"\n'
    (shop / "shop.toml").write_text(text, encoding="utf-8")
    assert counts(run, "shop.toml", "--trust") == (1, 1)


@pytest.mark.parametrize(
    ("table", "rule", "message"),
    [
        ("invoices=shop.sqlite", "T < 4 <- invoices(total: T).", "error[E337]: `shop.sqlite` has no table `invoices`"),
        (
            "shop.sqlite",
            "O = 1 <- invoice(odd: O).",
            "error[E314]: `odd` has values of several types, or bytes: in row 0 it is `x`",
        ),
    ],
)
def test_problems_of_sqlite_files_are_told(run: Run, shop: Path, table: str, rule: str, message: str) -> None:
    (shop / "one.rules").write_text(rule, encoding="utf-8")
    result = run("audit", "--table", table, "--rules", "one.rules")
    assert result.exit_code == 2
    assert message in result.stderr


def test_score_tells_tables_of_data_from_tables_of_the_result(run: Run, sales: Path) -> None:
    result = run("score", "family.toml", "--table", "models", "--format", "csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("model,")
    (sales / "family.rules").write_text("near: P <= 10 <- sales(row: A, price: P), sister(X, Y).\n", encoding="utf-8")
    predictions = ("--predictions", "bad.tsv")
    result = run(
        "score", "--facts", "train.tsv", "--rules", "family.rules", *predictions, "--table", "sales.csv", "--table", "rules"
    )
    assert result.exit_code == 0, result.stderr
    assert "near" in result.stdout
    assert run("score", "family.toml", "--table", "modles").exit_code == 2
