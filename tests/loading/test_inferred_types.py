"""Types that columns of text files get from their values, and when these give way to text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rulescore.arguments.python import make_setting
from rulescore.arguments.tables import Table
from rulescore.errors import InputError
from rulescore.reporting.violations import sentence
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import FactFile

pytestmark = pytest.mark.slow

SALES = "id,zip,year,price,city\n1,44000,2019,100,Nantes\n2,44000,2020,250.5,Nantes\n3,44100,2020,,Rezé\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sale.csv").write_text(SALES)


def sale(**options: Any) -> dict[str, Table]:
    return {"sale": Table("sale.csv", key="id", **options)}


def inferred(rules: str, tables: dict[str, Table] | None = None, facts: Any = None, predictions: Any = None) -> dict[str, str]:
    """The types of columns that nobody declares."""
    with Session(make_setting(facts, predictions, rules, tables=tables or sale())) as session:
        loaded = session.data.tables
        return {f"{name}.{column}": str(kind) for name, table in loaded.items() for column, kind in table.inferred.items()}


def counts(rules: str, tables: dict[str, Table], facts: Any = None) -> Counts:
    with Session(make_setting(facts, None, rules, tables=tables)) as session:
        return session.audit().rule_results[0].dataset


def test_columns_in_use_get_the_types_of_their_values() -> None:
    assert inferred("r: P > 0 <- sale(price: P, year: Y, zip: Z, city: C).") == {
        "sale.id": "integer",
        "sale.city": "string",
        "sale.price": "float",
        "sale.year": "integer",
        "sale.zip": "integer",
    }


def test_a_declared_type_wins() -> None:
    tables = sale(types={"zip": "string", "price": "float"})
    assert inferred("r: P > 0 <- sale(price: P, zip: Z).", tables) == {"sale.id": "integer"}
    assert counts('r: P > 0 <- sale(price: P, zip: "44000").', tables).evaluable == 2


@pytest.mark.parametrize(
    "rule",
    [
        'r: P > 0 <- sale(price: P, zip: "44000").',
        'r: P > 0 <- sale(price: P, zip: Z), Z = "44000".',
        'r: Z = "44000" <- sale(price: P, zip: Z).',
        'r: P > 0 <- sale(price: P, zip: Z), Z in {"44000"}.',
        'r: P > 0 <- sale(price: P, zip: Z), starts_with(Z, "44000").',
        'r: P > 0 <- sale(price: P, zip: Z), not sale(id: A, zip: "44100"), sale(id: A, zip: Z).',
        'r: P > 0 <- sale(price: P, zip: Z), let Y = Z, Y != "44100".',
        'r: P > 0 <- sale(price: P), sale.zip(A, "44000").',
        'r: count(A : sale(id: A, zip: "44000")) > 0 <- sale(price: P).',
        "r: P > 0 <- sale(price: P, zip: Z), code(Z).",
        "r: code(Z) <- sale(price: P, zip: Z).",
        "r: P > 0 <- sale(price: P, zip: Z), city(zip: Z, name: N).",
    ],
)
def test_an_inferred_type_gives_way_to_text_that_a_rule_equates_with_it(rule: str) -> None:
    Path("city.csv").write_text("zip,name\n44000,Nantes\nF-44100,Rezé\n")
    tables = {**sale(), "city": Table("city.csv", key="zip")}
    found = inferred(rule, tables, {"code": [("44000",)]})
    assert found["sale.zip"] == "string"
    assert found["sale.price" if "price" in rule else "sale.id"] in ("float", "integer")


def test_numbers_in_facts_and_in_another_table_leave_a_type_as_it_is() -> None:
    Path("city.csv").write_text("zip,name\n44000,Nantes\n44100,Rezé\n")
    tables = {**sale(), "city": Table("city.csv", key="zip")}
    rule = "r: code(Z) <- sale(zip: Z), city(zip: Z, name: N). predicate code/1. closed code."
    assert inferred(rule, tables, {"code": [(44000,)]})["sale.zip"] == "integer"
    assert counts(rule, tables, {"code": [(44000,)]}) == Counts(2, 1, 3)
    assert counts(rule, tables, {"code": [("44000",)]}) == Counts(2, 1, 3)


def test_text_spreads_along_joins() -> None:
    Path("city.csv").write_text("zip,region\n44000,1\n44100,2\n")
    Path("region.csv").write_text("id,name\n1,west\n2x,north\n")
    tables = {
        **sale(reached={"area": "zip = city.zip, region"}),
        "city": Table("city.csv", key="zip", reached={"name": "region = region.id, name"}),
        "region": Table("region.csv", key="id"),
    }
    found = inferred("r: P > 0 <- sale(price: P, area: A), region(id: A), city(name: N).", tables)
    assert found["region.id"] == found["city.region"] == "string"
    assert found["sale.zip"] == found["city.zip"] == "integer"


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ({"column": "zip", "values": ["44100"]}, "string"),
        ({"column": "zip", "values": [44100]}, "integer"),
        ('zip = "44100"', "string"),
        ("zip > 44000", "integer"),
    ],
)
def test_hidden_rows_may_be_told_by_text_or_by_number(hidden: Any, expected: str) -> None:
    tables = sale(target="price", hidden=hidden)
    setting = make_setting(None, {"m": {3: 1.5}}, "r: P > 0 <- sale(price: P).", tables=tables)
    with Session(setting) as session:
        assert session.data.tables["sale"].hidden == 1
    assert inferred("r: P > 0 <- sale(price: P).", tables)["sale.zip"] == expected


@pytest.mark.parametrize("ids", [[3], ["3"]])
def test_ids_in_python_may_be_texts_or_numbers(ids: list[Any]) -> None:
    tables = sale(target="price", hidden=ids)
    for predictions in ({3: 1.5}, {"3": 1.5}):
        if type(ids[0]) is type(next(iter(predictions))):
            kinds = inferred("r: P > 0 <- sale(price: P).", tables, predictions={"m": predictions})
            assert kinds["sale.id"] == ("integer" if ids == [3] else "string")


def test_predictions_in_a_file_are_read_in_the_types_of_the_table() -> None:
    Path("m.csv").write_text("id,prediction\n3,1e2\n")
    setting = make_setting(None, {"m": "m.csv"}, "r: P >= 100 <- sale(price: P).", tables=sale(target="price"))
    with Session(setting) as session:
        assert session.evaluate().rule_results[0].models["m"].counts == Counts(1, 0, 1)


def test_predicted_labels_in_python_make_their_target_text() -> None:
    Path("sale.csv").write_text("id,class\n1,0\n2,1\n3,\n")
    labels = pa.table({"id": [3], "prediction": ["1"]})
    found = inferred('r: C in {"0", "1"} <- sale(class: C).', sale(target="class"), predictions={"m": labels})
    assert found == {"sale.id": "integer", "sale.class": "string"}
    assert (
        inferred("r: C = C2 <- sale(class: C), sale(class: C2).", sale(target="class"), predictions={"m": labels})["sale.class"]
        == "string"
    )


def test_a_late_value_of_another_type_counts_like_an_early_one() -> None:
    rows = "".join(f"{n},{n},7\n" for n in range(200_000))
    Path("t.csv").write_text(f"id,a,b\n{rows}200000,x,7.5\n")
    tables = {"t": Table("t.csv", key="id")}
    found = inferred("r: B > 0 <- t(a: A, b: B).", tables)
    assert found == {"t.id": "integer", "t.a": "string", "t.b": "float"}
    assert counts("r: B >= 7 <- t(a: A, b: B).", tables) == Counts(200_001, 0, 200_001)


def test_a_column_whose_first_rows_are_empty_has_the_type_of_later_ones() -> None:
    rows = "".join(f"{n},\n" for n in range(400_000))
    Path("t.csv").write_text(f"id,a\n{rows}400000,7\n400001,10\n")
    assert counts("r: A >= 7 <- t(a: A).", {"t": Table("t.csv", key="id")}) == Counts(2, 0, 2)


LIFE = "life: D >= B <- born(X, B), died(X, D)."


@pytest.mark.parametrize(
    ("born", "died", "line"),
    [
        ("1990", "980", 'a1 = "integer"'),
        ("1990.5", "980", 'a1 = "float"'),
        ("1990-01-31", "1990-02-01", 'a1 = "date"'),
        ("1990-01-31 10:00", "1990-01-31 11:00", 'a1 = "datetime"'),
        ("1990-01-31T10:00Z", "1990-01-31T11:00Z", 'a1 = "instant"'),
    ],
)
def test_facts_that_look_like_numbers_or_dates_are_not_ordered_as_text(born: str, died: str, line: str) -> None:
    Path("f.csv").write_text(f"a,born,{born}\na,died,{died}\nb,born,{born}\n")
    with pytest.raises(InputError) as raised:
        counts(LIFE, {}, "f.csv")
    assert {problem.code for problem in raised.value.problems} == {"E271"}
    assert f"types = {{ {line} }}" in str(raised.value)


def test_the_offered_line_is_the_one_to_write() -> None:
    Path("f.csv").write_text("a,born,1990\na,died,980\nb,born,900\nb,died,1000\n")
    assert counts(LIFE, {}, FactFile("f.csv", types={"a1": "integer"})) == Counts(1, 1, 2)
    assert counts(LIFE, {}, FactFile("f.csv", types={"tail": "string"})) == Counts(1, 1, 2)


@pytest.mark.parametrize(
    "rule",
    [
        "r: X >= Y <- born(X, _), born(Y, _).",
        "r: B = C <- born(X, B), died(X, C).",
        "r: B >= C <- born(X, B), note(X, C).",
    ],
)
def test_words_may_be_ordered_and_numbers_equated(rule: str) -> None:
    Path("f.csv").write_text("a,born,x1\na,died,980\na,note,y2\n")
    counts(rule, {}, "f.csv")


def test_the_least_text_that_looks_like_a_number_is_an_error_in_refutations_and_aggregates_too() -> None:
    Path("f.csv").write_text("a,born,1990\na,died,980\n")
    for rules in (
        "r: max(B : born(X, B)) = D <- died(X, D).",
        "r: born(X, B) <- died(X, B). refute born(X, B) <- died(X, D), D < B.",
    ):
        with pytest.raises(InputError, match="E271"):
            counts(rules, {}, "f.csv")


def test_numbers_beside_a_word_for_a_missing_one_are_a_warning() -> None:
    Path("t.csv").write_text("id,a,b\n1,10,9\n2,9,NA\n3,11,7\n4,NA,3\n")
    with Session(make_setting(None, None, "r: A >= B <- t(a: A, b: B).", tables={"t": Table("t.csv", key="id")})) as session:
        found = [problem for problem in session.warnings if problem.code == "W282"]
    assert [problem.message for problem in found] == [
        f"`>=` orders texts: most values of `t.{column}` look like numbers or dates, but not `NA`" for column in "ab"
    ]


def test_a_column_that_gave_way_to_text_is_not_ordered_either() -> None:
    with pytest.raises(InputError, match=r'(?s)E271.*`sale\.zip`.*zip = "integer"'):
        counts('r: Z >= Y <- sale(id: A, zip: Z), sale(zip: Y), Z != "44100".', sale())
    declared = sale(types={"zip": "string"})
    assert counts('r: Z >= Y <- sale(id: A, zip: Z), sale(zip: Y), Z != "44100".', declared).evaluable == 6


def test_a_sentence_shows_that_a_number_is_text() -> None:
    Path("t.csv").write_text("id,a,b,c\n1,01,1,yes\n")
    setting = make_setting(None, None, "r: A = B <- t(a: A, b: B, c: C).", tables={"t": Table("t.csv", key="id")})
    with Session(setting) as session:
        (violation,) = session.violations(model=None).rows
    assert sentence(violation).startswith('t(id: 1, a: "01", b: "1", c: yes) is observed, so "01" = "1" should hold')
