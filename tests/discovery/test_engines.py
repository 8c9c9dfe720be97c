"""Every engine finds the same rules with the same counts."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import rulescore
from rulescore.discovery.model import Discovery, Form

_RANDOM = random.Random(0)
_PEOPLE = [f"x{i}" for i in range(12)]
FACTS = {
    **{name: [(_RANDOM.choice(_PEOPLE), _RANDOM.choice(_PEOPLE)) for _ in range(24)] for name in ("p", "q", "r", "s")},
    "t": [(f"x{i}", f"x{i + 1}") for i in range(6)],
    "u": [(f"x{i}",) for i in range(8)],
    "w": [(f"x{i}",) for i in range(8, 12)],
    "near": [(f"x{i}", f"y{i}") for i in range(6)],
}


def _found(engine: Any, convention: str) -> Discovery:
    found = rulescore.discover(FACTS, everything=True, longer=True, min_support=2, max_rate=1, convention=convention, engine=engine)
    return found.discovery


def _sales() -> rulescore.Table:
    draw = random.Random(4)
    zips = [draw.choice([44000, 44100, 35000, 29200]) for _ in range(120)]
    prices = [draw.randrange(9000, 11000) * (zip_code - 29000) // 10_000 / 4 for zip_code in zips]
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(draw.randrange(300)) for _ in zips]
    columns = {
        "id": list(range(120)),
        "zip": zips,
        "city": [{44: "Nantes", 35: "Rennes", 29: "Brest"}[zip_code // 1000] if draw.random() > 0.02 else "?" for zip_code in zips],
        "kind": [draw.choice(["house", "flat"]) for _ in zips],
        "price": prices,
        "fee": [float(draw.randrange(100)) for _ in zips],
        "listed": days,
        "sold": [day + datetime.timedelta(draw.randrange(-1, 200)) for day in days],
    }
    columns["rooms"] = [draw.randrange(3, 9) if kind == "house" else draw.randrange(1, 5) for kind in columns["kind"]]
    columns["paid"] = [price + fee for price, fee in zip(prices, columns["fee"], strict=True)]
    return rulescore.Table(pa.table(columns), key="id")


@pytest.mark.server
@pytest.mark.parametrize("name", ["postgres", "spark"])
def test_servers_find_the_rules_of_tables_that_duckdb_finds(name: str, engine_of: Callable[[str], Any]) -> None:
    def found(engine: Any) -> Discovery:
        return rulescore.discover(None, tables={"sale": _sales()}, everything=True, hold_out=0.2, engine=engine).discovery

    expected, others = found("duckdb"), found(engine_of(name))
    assert {rule.form for rule in expected.rules} == {form for form in Form if form.is_of_tables}
    for rules, other_rules in ((expected.rules, others.rules), (expected.left_out, others.left_out)):
        assert [(rule.text, rule.counts, rule.held_out) for rule in rules] == [
            (rule.text, rule.counts, rule.held_out) for rule in other_rules
        ]
        assert [rule.lift for rule in rules] == pytest.approx([rule.lift for rule in other_rules])


@pytest.mark.server
@pytest.mark.parametrize("name", ["postgres", "spark"])
@pytest.mark.parametrize("convention", ["definition", "appendix"])
def test_servers_find_what_duckdb_finds(name: str, convention: str, engine_of: Callable[[str], Any]) -> None:
    expected = _found("duckdb", convention)
    found = _found(engine_of(name), convention)
    assert {Form.TWO_ATOMS, Form.CONSTANTS, Form.LONGER} <= {rule.form for rule in (*expected.rules, *expected.left_out)}
    assert found.rules == expected.rules
    assert found.left_out == expected.left_out
