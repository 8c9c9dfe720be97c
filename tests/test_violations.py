"""Violations in Python: rows that join with the user's own, counts, samples, and what one prediction does to the rules."""

from __future__ import annotations

import datetime
import json
from typing import Any

import polars
import pyarrow as pa
import pytest

import rulescore
from rulescore.reporting.violations import render_violations_csv, render_violations_json

pytestmark = pytest.mark.slow

OBSERVED = [("5", "sister", "76"), ("7", "brother", "8"), ("7", "husband", "9"), ("1", "mother", "2"), ("1", "sister", "3")]
PREDICTED = pa.table(
    {
        "head": ["5", "1", "9", "4"],
        "relation": ["wife", "wife", "wife", "wife"],
        "tail": ["76", "3", "7", "6"],
        "score": [0.9, 0.8, 0.7, 0.1],
        "rank": [1, 2, 3, 4],
    }
)
RULES = """
no: false <- sister(X, Y), wife(X, Y).
back: husband(Y, X) <- wife(X, Y).
order: X != "5" or wife(Y, X) <- wife(X, Y).
incompatible husband, brother, sister.
"""


def result() -> rulescore.Result:
    return rulescore.score(OBSERVED, {"m": PREDICTED}, RULES, threads=1, top_k=4)


def sales(price: dict[str, Any] | None = None) -> rulescore.Result:
    rows = {
        "id": [1, 2, 3],
        "zip": ["a", "a", "a"],
        "price": [100, 110, None],
        "test": [False, False, True],
    }
    table = rulescore.Table(rows, key="id", target="price", hidden={"column": "test", "values": [True]})
    rules = "near: abs(P - Q) <= 50 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B."
    predictions = price or {"m": {3: 400}}
    return rulescore.score(None, predictions, rules, tables={"sale": table}, threads=1)


def test_rows_join_with_predictions_by_head_relation_and_tail() -> None:
    found = result().violations(rule="no")
    assert (found.total, len(found)) == (2, 2)
    joined = PREDICTED.join(
        found.table.select(["head", "relation", "tail", "X", "rule"]), ["head", "relation", "tail"], join_type="inner"
    )
    assert sorted(joined["X"].to_pylist()) == ["1", "5"]
    row = next(one for one in found.to_pylist() if one["head"] == "5")
    assert (row["score"], row["rank"], row["model"], row["roles"]) == (0.9, 1, "m", ["body"])
    assert row["sentence"] == 'm predicts wife("5", "76"), but sister("5", "76") is observed'


def test_rows_of_a_table_join_by_its_key() -> None:
    rows = sales().violations().to_pylist()
    assert {(row["id"], row["relation"], row["value"]) for row in rows} == {(3, "sale.price", 400)}
    assert {(row["A"], row["B"], row["left"], row["right"], row["margin"]) for row in rows} == {
        (1, 3, 300, 50, 250),
        (3, 1, 300, 50, 250),
        (2, 3, 290, 50, 240),
        (3, 2, 290, 50, 240),
    }
    assert "is missed by 250" in rows[0]["sentence"]


def test_frames() -> None:
    found = result().violations()
    assert found.to_pandas().shape == (found.total, len(found.table.column_names))
    assert isinstance(found.to_polars(), polars.DataFrame)
    assert polars.from_arrow(found.table).height == found.total  # type: ignore[union-attr]
    assert repr(found) == f"<{found.total} rows of {found.total} violations>"


@pytest.mark.parametrize("by", ["rule", "predicate", "refuter", "entity", "prediction", "pattern"])
def test_counts_are_exact_whatever_is_listed(by: str) -> None:
    whole = result().violations(by=by)
    assert whole.total == sum(one.models["m"].counts.refuted for one in result().rule_results)
    if by in {"rule", "predicate", "prediction"}:
        assert sum(whole.table["violations"].to_pylist()) == whole.total
    assert len(result().violations(by=by, limit=1)) == 1
    assert result().violations(limit=1).total == whole.total


def test_counts_by_prediction_join_too() -> None:
    first = result().violations(by="prediction").to_pylist()[0]
    assert (first["head"], first["relation"], first["tail"], first["score"], first["rank"]) == ("1", "wife", "3", 0.8, 2)


def test_what_they_are_not_counted_by_is_refused() -> None:
    with pytest.raises(rulescore.InputError, match="E402"):
        result().violations(by="colour")
    with pytest.raises(rulescore.InputError, match="E262"):
        result().violations(by="prediction", dataset=True)


def test_a_sample_is_that_of_its_seed_and_each_violation_is_in_some() -> None:
    facts = {"q": [(f"a{i}", f"b{i}") for i in range(20)], "s": [(f"a{i}", f"b{i}") for i in range(20)]}
    rules = "one: p(X, Y) <- q(X, Y). two: p(X, Y) and X != Y <- q(X, Y). incompatible p, s."
    with rulescore.open(facts, None, rules, threads=1) as session:
        whole = {(row["rule"], row["X"]) for row in session.violations().to_pylist()}
        samples = [[(row["rule"], row["X"]) for row in session.violations(sample=8, seed=seed).to_pylist()] for seed in range(30)]
        again = [(row["rule"], row["X"]) for row in session.violations(sample=8, seed=4).to_pylist()]
        assert session.violations(sample=8).total == 40
    assert len(whole) == 40
    assert samples[4] == again
    assert all(len(set(one)) == 8 for one in samples)
    assert {one for sample in samples for one in sample} == whole


def test_a_prediction_is_explained() -> None:
    found = result().explain(("5", "wife", "76"))
    assert (found.breaks, found.meets, found.never_touches) == (("no",), (), ("back", "order"))
    assert found.violations.total == 1
    assert found.to_pandas()["effect"].tolist() == ["breaks", "never touches", "never touches"]
    assert 'm predicts wife("5", "76"), but sister("5", "76") is observed' in str(found)
    assert result().explain('wife("5", "76")').breaks == ("no",)


def test_the_facts_of_rules_that_a_prediction_meets_are_shown() -> None:
    found = result().explain(("9", "wife", "7"), model="m")
    assert found.meets == ("back", "order")
    assert (found.confirmations.total, repr(found.confirmations)) == (2, "<2 rows of 2 confirmations>")
    assert [(row["rule"], row["X"], row["Y"], row["body"], row["rule_head"]) for row in found.confirmations.to_pylist()] == [
        ("back", "9", "7", ['wife("9", "7")'], 'husband("7", "9")'),
        ("order", "9", "7", ['wife("9", "7")'], '"9" != "5" or wife("7", "9")'),
    ]
    assert "refuted_by" not in found.confirmations.table.column_names
    assert str(found).splitlines() == [
        'wife("9", "7"), predicted by m',
        "breaks no rule",
        "meets back, order",
        '  m predicts wife("9", "7"), so husband("7", "9") should hold, and it does',
        '  m predicts wife("9", "7"), so "9" != "5" or wife("7", "9") should hold, and it does',
        "never touches 1 rule",
    ]


def test_a_prediction_that_a_rule_leads_to_shows_from_what() -> None:
    facts = {"sister": [("a", "b")], "father": [("b", "c")], "mother": [("x", "y")]}
    rules = "aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother."
    scored = rulescore.score(facts, {"m": {"aunt": [("a", "c")]}, "n": {"sister": [("x", "b")]}}, rules, threads=1)
    assert "  m predicts aunt(a, c), which follows from sister(a, b) and father(b, c)" in str(scored.explain("aunt(a, c)"))
    facts["aunt"] = [("x", "c")]
    scored = rulescore.score(facts, {"n": {"sister": [("x", "b")]}}, rules, threads=1)
    wanted = "  n predicts sister(x, b), and father(b, c) is observed, so aunt(x, c) should hold, and it does"
    assert wanted in str(scored.explain("sister(x, b)"))


def test_of_many_groundings_some_are_shown_and_all_are_counted() -> None:
    facts = {"q": [("b", f"c{i}") for i in range(1500)], "r": [("a", f"c{i}") for i in range(1500)], "s": [("z", "z")]}
    rules = "one: r(X, Z) <- p(X, Y), q(Y, Z). incompatible r, s."
    found = rulescore.score(facts, {"m": {"p": [("a", "b")]}}, rules, threads=1).explain("p(a, b)")
    assert (found.confirmations.total, len(found.confirmations)) == (1500, 1000)
    assert "  … and 1,490 more" in str(found).splitlines()


def test_a_prediction_of_a_table_is_explained_by_its_key() -> None:
    found = sales().explain(3)
    assert (found.prediction, found.breaks, found.violations.total) == ("sale.price(3, 400)", ("near",), 4)
    several = sales({"m": {3: 400}, "n": {3: 90}})
    with pytest.raises(rulescore.InputError, match="E262"):
        several.explain(3)
    assert several.explain(3, model="n").breaks == ()
    assert several.explain(3, model="n").meets == ("near",)
    with pytest.raises(rulescore.InputError, match="E262"):
        several.explain(4)


def test_a_row_of_violations_is_explained() -> None:
    found = sales()
    for row in (found.violations().to_pylist()[0], {"id": 3}, found.violations().to_pandas()["id"][0]):
        assert found.explain(row).prediction == "sale.price(3, 400)"
    (row, *_) = result().violations(rule="no").to_pylist()
    assert result().explain(row).breaks[0] == "no"
    for neither in ({"zip": "a"}, None, [3]):
        with pytest.raises(rulescore.InputError, match="E262"):
            found.explain(neither)


def test_the_predicted_row_of_a_table_is_not_called_observed() -> None:
    rules = """
    cap: false <- sale(price: P), P > 300.
    pair: false <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), P > Q + 295.
    zip: false <- sale(id: A, price: P), sale(id: A, zip: Z), P > 300.
    fine: P < 1000 <- sale(price: P).
    """
    table = rulescore.Table({"id": [1, 2, 3], "zip": ["a"] * 3, "price": [100, 110, None]}, key="id", target="price", hidden=[3])
    scored = rulescore.score(None, {"m": {3: 400}}, rules, tables={"sale": table}, threads=1)
    said = {row["rule"]: row["sentence"] for row in scored.violations().to_pylist()}
    assert said == {
        "cap": "m predicts sale.price(3, 400), and 400 > 300, which the rule forbids",
        "pair": "m predicts sale.price(3, 400), but sale(id: 1, zip: a, price: 100) is observed, and 400 > 100 + 295",
        "zip": "m predicts sale.price(3, 400), but sale(id: 3, zip: a) is observed, and 400 > 300",
    }
    assert "  m predicts sale.price(3, 400), so 400 < 1000 should hold, and it does" in str(scored.explain(3))


def test_a_prediction_that_is_written_otherwise_is_told() -> None:
    with pytest.raises(rulescore.InputError, match=r'write `wife\("5", "76"\)`, which is predicted'):
        result().violations(prediction="wife(5, 76)")
    with pytest.raises(rulescore.InputError, match=r'constants of the data are written `wife\("76", "5"\)`'):
        result().violations(prediction="wife(76, 5)")
    with pytest.raises(rulescore.InputError, match="E262"):
        result().explain(("5", "76"))


def test_violations_without_a_result() -> None:
    assert rulescore.violations(OBSERVED, {"m": PREDICTED}, RULES, threads=1, top_k=4, rule="no").total == 2
    assert rulescore.violations(OBSERVED, None, RULES, threads=1, dataset=True).total == 0


def test_values_of_several_types_in_one_column_are_texts() -> None:
    facts = {"q": [("a", 1), ("b", "x")], "s": [("a", 1), ("b", "x")]}
    found = rulescore.violations(facts, None, "p(X, Y) <- q(X, Y). incompatible p, s.", threads=1)
    assert found.table["Y"].type == pa.string()
    assert sorted(found.table["Y"].to_pylist()) == ["1", "x"]


def test_a_rule_in_sql_shows_the_rows_that_it_confirms() -> None:
    statement = "SELECT prediction, a1 = 'b' AS confirmed, a1 <> 'b' AS refuted, a0 AS who FROM predicted_p"
    rules = [rulescore.SqlRule("one", statement)]
    predictions = {"m": {"p": [("a", "b"), ("a", "c")]}}
    scored = rulescore.score({"p": [("x", "y")]}, predictions, (), sql_rules=rules, threads=1)
    found = scored.explain("p(a, b)")
    assert (found.meets, found.confirmations.to_pylist()[0]["who"]) == (("one",), "a")
    assert scored.explain("p(a, c)").breaks == ("one",)


def test_a_tolerance_in_percent_is_shown_in_percent() -> None:
    sale = rulescore.Table({"id": [1, 2], "price": [100, 125]}, key="id")
    rules = "near: within(P, Q, 10%) <- sale(id: A, price: P), sale(id: B, price: Q), A < B."
    found = rulescore.violations(None, None, rules, tables={"sale": sale}, threads=1)
    (row,) = found.to_pylist()
    assert (row["comparison"], row["right"], row["margin_unit"]) == ("within(100, 125, 10%)", 10.0, "percentage points")
    assert (row["left"], row["margin"]) == (pytest.approx(25), pytest.approx(15))
    assert row["sentence"].endswith("so within(100, 125, 10%) should hold, but it is missed by 15 percentage points")


def test_a_margin_of_dates_is_in_days() -> None:
    rows = {"id": [1], "sold": [datetime.date(2020, 3, 1)], "built": [datetime.date(2020, 3, 30)]}
    house = rulescore.Table(rows, key="id")
    found = rulescore.violations(None, None, "late: S >= B <- house(sold: S, built: B).", tables={"house": house}, threads=1)
    (row,) = found.to_pylist()
    assert (row["margin"], row["margin_unit"]) == (29, "days")
    assert row["sentence"].endswith("but it is missed by 29 days")


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": -1}, {"sample": 0}, {"by": "rule", "limit": 0}])
def test_a_limit_or_sample_of_less_than_one_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(rulescore.InputError, match="E402"):
        result().violations(**asked)


FLIGHTS = {
    "departed": [("a", datetime.datetime(2020, 3, 1, 10)), ("b", datetime.datetime(2020, 3, 1, 10))],
    "arrived": [("a", datetime.datetime(2020, 3, 1, 15))],
    "seen": [("a", datetime.datetime(2020, 3, 1, 10, tzinfo=datetime.UTC))],
}
LATER = {
    "arrived": [("b", datetime.datetime(2020, 3, 1, 18, 5))],
    "seen": [("b", datetime.datetime(2020, 3, 1, 12, 0, 0, 5, datetime.UTC))],
}


def times(rule: str) -> Any:
    return rulescore.score(FLIGHTS, {"m": LATER}, rule, threads=1).violations()


def test_date_times_and_durations_are_typed_columns_and_margins_are_spelled_out() -> None:
    found = times("T2 - T1 <= 6 hours <- departed(X, T1), arrived(X, T2).")
    (row,) = found.to_pylist()
    assert (row["T2"], row["left"], row["right"]) == (
        datetime.datetime(2020, 3, 1, 18, 5),
        datetime.timedelta(hours=8, minutes=5),
        datetime.timedelta(hours=6),
    )
    assert found.table.schema.field("T2").type == pa.timestamp("us")
    assert row["margin"] == 125 / (24 * 60)
    assert row["sentence"].endswith("should hold, but it is missed by 2 h 5 min")
    assert found.to_pandas()["left"].dt.total_seconds().tolist() == [29_100.0]
    (saved,) = json.loads(render_violations_json(found))["rows"]
    assert (saved["T2"], saved["left"], saved["tail"]) == ("2020-03-01T18:05:00", "485 minutes", "2020-03-01T18:05:00")
    assert ",485 minutes,6 hours," in render_violations_csv(found)


def test_instants_are_in_utc() -> None:
    found = times("T < 2020-03-01T13:30:00+02:00 <- seen(X, T).")
    (row,) = found.to_pylist()
    assert found.table.schema.field("T").type == found.table.schema.field("left").type == pa.timestamp("us", "UTC")
    assert row["prediction"] == "seen(b, 2020-03-01T12:00:00.000005Z)"
    assert row["sentence"].endswith(
        "so 2020-03-01T12:00:00.000005Z < 2020-03-01T11:30:00Z should hold, but it is missed by 30 min 0.000005 s"
    )
    assert ",2020-03-01T12:00:00.000005Z,2020-03-01T11:30:00Z," in render_violations_csv(found)


def test_an_aggregate_of_date_times_is_shown_as_one() -> None:
    rows = times("max(T : arrived(_, T)) <= 2020-03-01T15:00 <- departed(X, _).").to_pylist()
    shown = {(row["aggregate_value"], row["aggregate_before"]) for row in rows}
    assert shown == {(datetime.datetime(2020, 3, 1, 18, 5), datetime.datetime(2020, 3, 1, 15))}


def test_a_notebook_shows_the_first_rows_and_says_how_many_are_left() -> None:
    facts = [(f"{number}", relation, "x") for number in range(30) for relation in ("sister",)]
    wives = [(f"{number}", "wife", "x") for number in range(30)]
    found = rulescore.score(facts, {"m": wives}, "no: false <- sister(X, Y), wife(X, Y).").violations()
    html = found._repr_html_()
    assert html.count("<tr>") == 21
    assert "30 rows of 30 violations</caption>" in html
    assert "10 more: `.to_pandas()` has all 30 rows and all columns" in html
    nothing = rulescore.score(facts, {"m": wives[:1]}, "no: false <- sister(X, Y), wife(Y, X).").violations()
    assert "0 rows of 0 violations</caption>" in nothing._repr_html_()
    assert "more" not in nothing._repr_html_()
