"""Arithmetic at the ends of its ranges, booleans and letters: the same on every engine."""

from __future__ import annotations

import datetime
import unicodedata
from typing import Any

import duckdb
import pytest
from sqlglot import exp

import rulescore
from rulescore import Table
from rulescore.errors import EngineError, InputError
from rulescore.postgres.dialect import POSTGRES, POSTGRES_BEFORE_17
from rulescore.postgres.engine import PostgresEngine
from rulescore.setting.options import EngineOptions
from rulescore.sql.dialect import capitals, small_letters
from servers.postgres import Server

LEAST, GREATEST = -(2**63), 2**63 - 1


def counts(engine: str, facts: Any, rules: str, **options: Any) -> list[tuple[int, int, int]]:
    evaluation = rulescore.score(facts, {}, rules, engine=engine, **options)
    return [(one.dataset.confirmed, one.dataset.refuted, one.dataset.evaluable) for one in evaluation.rule_results]


# Leaving 64 bits

LEAVES_64_BITS = {
    "X + 1": GREATEST,
    "1 + X": GREATEST,
    "X - 1": LEAST,
    "0 - X": LEAST,
    "X * 2": 2**62,
    "X * X": 2**40,
    "-X": LEAST,
    "abs(X)": LEAST,
    "X - (-9223372036854775808)": 0,
    "9223372036854775807 + 1 + X": 0,
    "-(-9223372036854775808) + X": 0,
    "sum(Y + X : q(Y))": 2**62,
    "(X + 1) mod 2": GREATEST,
    "min(X + 1, 2)": GREATEST,
    "round(X + 1)": GREATEST,
    "(X + 1) / 2": GREATEST,
}


@pytest.mark.parametrize("expression", LEAVES_64_BITS)
def test_an_integer_beyond_64_bits_is_an_error_that_names_the_rule(engine: str, expression: str) -> None:
    facts = {"p": [(LEAVES_64_BITS[expression],)], "q": [(1,), (2,)], "r": [(0,)]}
    with pytest.raises(EngineError, match=r"while counting rule `one` \(<rules>:1:1\)"):
        counts(engine, facts, f"one: {expression} < Z <- p(X), r(Z).")


@pytest.mark.parametrize("expression", LEAVES_64_BITS)
def test_a_comparison_that_needs_no_computing_is_exact_if_it_is_no_error(engine: str, expression: str) -> None:
    """DuckDB asks whether X < -1 instead of X + 1 < 0."""
    facts = {"p": [(LEAVES_64_BITS[expression],)], "q": [(1,), (2,)]}
    found = None
    try:
        found = counts(engine, facts, f"one: {expression} > -9000000000000000000 <- p(X).")
    except EngineError as error:
        assert "while counting rule `one` (<rules>:1:1)" in str(error)  # noqa: PT017  # there need be none
    assert found in (None, [(0, 1, 1)] if expression == "X - 1" else [(1, 0, 1)])


FITS_64_BITS = {
    "X - 1 < X": (GREATEST, True),
    "X + (-9223372036854775808) = 0 - 1": (GREATEST, True),
    "-X < 0": (GREATEST, True),
    "abs(X + 1) = 9223372036854775807": (LEAST, True),
    "2000000000 * 2 = X": (4_000_000_000, True),
    "-(2000000000) * 2 = X": (-4_000_000_000, True),
    "abs(-2000000000) * 2 = X": (4_000_000_000, True),
    "sum(X : p(X), q(_)) = -9223372036854775808": (-(2**62), True),
    "sum(X * Y : q(Y)) = 0": (GREATEST, True),
    "avg(X : p(X), q(_)) < 0": (LEAST, True),
}


@pytest.mark.parametrize("condition", FITS_64_BITS)
def test_what_fits_64_bits_is_exact(engine: str, condition: str) -> None:
    value, expected = FITS_64_BITS[condition]
    facts = {"p": [(value,)], "q": [(1,), (-1,)]}
    assert counts(engine, facts, f"{condition} <- p(X).") == [(1, 0, 1) if expected else (0, 1, 1)]


def test_durations_have_64_bits_and_dates_say_what_is_beyond_them(engine: str) -> None:
    first, last = datetime.date(1000, 1, 1), datetime.date(2020, 1, 1)
    days = Table({"id": [1], "first": [first], "last": [last]}, key="id")
    options = {"tables": {"t": days}}
    rule = "one: (E - D) * 100000 > 999999999 days * 30 <- t(first: D, last: E)."
    assert counts(engine, None, rule, **options) == [(1, 0, 1)]
    far, edge = "999999999 days * 3", "(999999999 days * 2 + 147483000 days)"
    for expression in ("D + (E - D) * 100000", "D + (E - D) * 10000000000000000", f"D + {far}", f"{far} + D", f"E + {edge}"):
        with pytest.raises(EngineError, match="rule `one`"):
            counts(engine, None, f"one: {expression} > E <- t(first: D, last: E).", **options)


def test_days_between_dates_at_the_ends_of_their_range_are_exact_or_an_error(engine: str) -> None:
    days = Table({"id": [1], "first": [datetime.date(2020, 1, 1)]}, key="id")
    found = None
    try:
        rule = "one: (D + 999999999 days * 2) - (D - 999999999 days * 2) = 999999999 days * 4 <- t(first: D)."
        found = counts(engine, None, rule, tables={"t": days})
    except EngineError as error:
        assert "rule `one`" in str(error)  # noqa: PT017  # there need be none
    assert found in (None, [(1, 0, 1)])


def test_a_derived_attribute_beyond_64_bits_is_named_with_its_table(engine: str) -> None:
    described = {"t": Table({"id": [1, 2], "size": [1, 2**62]}, key="id", derived={"twice": "size * 2"})}
    with pytest.raises(EngineError, match="while computing `twice` of table `t`"):
        counts(engine, None, "T > 0 <- t(twice: T).", tables=described)


def test_a_derived_attribute_of_predictions_beyond_64_bits_is_named_with_its_table(engine: str) -> None:
    described = {"t": Table({"id": [1, 2], "size": [1, 2]}, key="id", target="size", hidden=[2], derived={"twice": "size * 2"})}
    with pytest.raises(EngineError, match="while computing `twice` of table `t`"):
        rulescore.score(None, {"model": {2: 2**62}}, "T > 0 <- t(twice: T).", tables=described, engine=engine)


def test_a_condition_on_hidden_rows_beyond_64_bits_is_named_with_its_table(engine: str) -> None:
    described = {
        "t": Table({"id": [1, 2], "size": [1, 2**62], "a": [1, 2]}, key="id", target="a", hidden={"where": "size * 2 > id"})
    }
    with pytest.raises(EngineError, match="while reading the rows of table `t`"):
        counts(engine, None, "A > 0 <- t(a: A).", tables=described)


# Booleans


def test_a_boolean_target_is_predicted_and_measured(engine: str) -> None:
    rows = {"id": [1, 2, 3], "a": [True, None, False], "s": ["train", "test", "test"]}
    described = {"t": Table(rows, key="id", target="a", hidden={"column": "s", "values": ["test"]})}
    evaluation = rulescore.score(None, {"m": {2: False, 3: False}}, "V = true <- t(a: V).", tables=described, engine=engine)
    (result,) = evaluation.rule_results
    assert (result.dataset.confirmed, result.dataset.refuted) == (1, 0)
    assert (result.models["m"].counts.confirmed, result.models["m"].counts.refuted) == (0, 2)


def test_different_booleans_predicted_for_one_id_are_an_error(engine: str) -> None:
    described = {"t": Table({"id": [1, 2], "a": [True, False]}, key="id", target="a", hidden=[2])}
    predictions = {"m": {"id": [2, 2], "prediction": [True, False]}}
    with pytest.raises(InputError, match="`m` predicts different values for 1 id: `2`"):
        rulescore.score(None, predictions, "V = true <- t(a: V).", tables=described, engine=engine)


def test_a_boolean_is_reached(engine: str) -> None:
    described = {
        "t": Table({"id": [1, 2, 3], "of": [1, 2, 4]}, key="id", reached={"open": "of = shop.id, open"}),
        "shop": Table({"id": [1, 2], "open": [True, False]}, key="id"),
    }
    assert counts(engine, None, "V = true <- t(open: V).", tables=described) == [(1, 1, 2)]


# Letters


def test_letters_are_those_of_duckdb_to_the_last() -> None:
    """But for those that are newer than the tables of Python, or of DuckDB."""
    with duckdb.connect() as connection:
        query = (
            "SELECT chr(i::INT) AS one, lower(one), upper(one) FROM range(1, 1114112) AS r(i) WHERE i NOT BETWEEN 55296 AND 57343"
        )
        rows = connection.execute(query).fetchall()
    known = [row for row in rows if unicodedata.category(row[0]) != "Cn"]
    small, large = dict(small_letters()), dict(capitals())
    assert [one for one, lower, upper in known if (small.get(one, one), large.get(one, one)) != (lower, upper)] == []


def test_letters_are_the_same_on_a_server_without_a_collation_for_them(postgres: Server) -> None:
    engine = PostgresEngine(EngineOptions(url=postgres.url()))
    texts = ["ß", "ﬁŉ", "ὀδός", "ᾳ", "É𐐀", "ABC", "İ", "ΣΑΣ", "", "名前 x"]
    query = exp.select(
        *(
            exp.alias_(kind(this=exp.Literal.string(one)), f"{kind.key}{i}")
            for i, one in enumerate(texts)
            for kind in (exp.Lower, exp.Upper)
        )
    )
    try:
        found = []
        for spoken in (POSTGRES, POSTGRES_BEFORE_17):
            engine._spoken = spoken
            (row,) = engine.query(query.copy()).to_pylist()
            found.append(list(row.values()))
    finally:
        engine.close()
    assert found[0] == found[1]
