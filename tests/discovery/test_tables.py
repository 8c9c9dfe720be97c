"""Rules of tables: each has the counts of its text, what is planted is found, and what says nothing is not."""

from __future__ import annotations

import datetime
import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import rulescore
from generate.few import FEW
from oracle.definition import dataset_counts
from oracle.reading import read_program
from oracle.tree import Setting as OracleSetting
from oracle.tree import Table as OracleTable
from rulescore.arguments.python import make_setting
from rulescore.cli.main import program
from rulescore.discovery import table_search, tables
from rulescore.discovery.model import DiscoveredRule, DiscoverOptions, Discovery, Form
from rulescore.discovery.table_dependencies import agreements
from rulescore.discovery.table_rows import rows_of_tables, split
from rulescore.discovery.table_search import searched, shuffled
from rulescore.discovery.tables import discover_tables
from rulescore.engines.base import connect
from rulescore.errors import InputError
from rulescore.scoring.results import Counts, Tolerance
from rulescore.session.session import Session
from rulescore.setting.options import EngineOptions
from shared_data import shared

_TYPES = {str: "string", int: "integer", float: "float", bool: "boolean", datetime.date: "date"}


def found(
    columns: Mapping[str, list[Any]], key: str | list[str] = "id", *, table: dict[str, Any] | None = None, **options: Any
) -> Discovery:
    described = rulescore.Table(pa.table(columns), key=key, **(table or {}))
    return discover_tables(make_setting(None, tables={"t": described}), DiscoverOptions(**options))


def texts(discovery: Discovery, form: Form) -> list[str]:
    return [rule.text for rule in discovery.rules if rule.form is form]


def counts_of(columns: Mapping[str, list[Any]], text: str) -> Counts:
    """The counts by the slow evaluator."""
    kinds = tuple((name, _TYPES[type(next(value for value in values if value is not None))]) for name, values in columns.items())
    table = OracleTable("t", ("id",), kinds, tuple(zip(*columns.values(), strict=True)))
    program = read_program(f"{text}.")
    counts = dataset_counts(OracleSetting(frozenset(), tuple(program.rules), tables=(table,)), program.rules[0])
    return Counts(counts.confirmed, counts.refuted, counts.evaluable)


@st.composite
def planted(draw: st.DrawFn) -> dict[str, list[Any]]:
    """A small table whose columns have much to do with each other, and some rows that break it."""
    generator = random.Random(draw(st.integers(0, 10**6)))
    count = draw(st.integers(12, 18))
    noise = draw(st.sampled_from([0.0, 0.05]))

    def broken() -> bool:
        return generator.random() < noise

    zips = [generator.choice([44000, 44100, 44200]) for _ in range(count)]
    prices = [round((zip_code - 43900) * generator.uniform(0.9, 1.1), 2) for zip_code in zips]
    fees = [generator.randrange(400) / 4 for _ in range(count)]
    taxes = [None if broken() else generator.randrange(50) for _ in range(count)]
    kinds = ["house" if zip_code == 44000 or broken() else "flat" for zip_code in zips]
    days = [generator.randrange(300) for _ in range(count)]
    first = datetime.date(2020, 1, 1)
    return {
        "id": list(range(count)),
        "zip": zips,
        "city": ["Nowhere" if broken() else f"City {zip_code % 1000}" for zip_code in zips],
        "price": prices,
        "fee": fees,
        "tax": taxes,
        "sum": [fee + (tax or 0) + (1 if broken() else 0) for fee, tax in zip(fees, taxes, strict=True)],
        "kind": kinds,
        "rooms": [generator.randrange(3, 9) if kind == "house" else generator.randrange(4) for kind in kinds],
        "begun": [first + datetime.timedelta(day) for day in days],
        "ended": [None if broken() else first + datetime.timedelta(day + generator.randrange(200)) for day in days],
        "is_new": [generator.random() < 0.5 for _ in range(count)],
    }


@FEW
@given(columns=planted(), share=st.sampled_from([0.0, 0.25]))
def test_each_rule_has_the_counts_of_its_text(columns: dict[str, list[Any]], share: float) -> None:
    discovery = found(columns, min_support=3, hold_out=share, seed=7, everything=True)
    rows = rows_of_tables(make_setting(None, tables={"t": rulescore.Table(pa.table(columns), key="id")}))[0]
    picked, held_out = (part.columns.to_pydict() for part in split(rows, share, 7))
    assert (discovery.facts, discovery.held_out_facts) == (len(picked["id"]), len(held_out["id"]))
    for rule in (*discovery.rules, *discovery.left_out):
        assert rule.counts == counts_of(picked, rule.text), rule.text
        if share:
            assert rule.held_out == counts_of(held_out, rule.text), rule.text
        else:
            assert rule.held_out is None


@FEW
@given(columns=planted())
def test_cheap_statements_find_the_rates_of_an_audit(columns: dict[str, list[Any]]) -> None:
    """What candidates are chosen by is what their rules count."""
    setting = make_setting(None, tables={"t": rulescore.Table(pa.table(columns), key="id")})
    rows = rows_of_tables(setting)[0]
    engine = connect(EngineOptions())
    search = searched(engine, rows, shuffled(rows, 0), DiscoverOptions(min_support=3))
    candidates = list(tables._candidates(search))
    engine.close()
    assert candidates
    audits = tables.audited(setting, rows, [tables.print_rule(candidate.rule) for candidate in candidates])
    for candidate, audit in zip(candidates, audits, strict=True):
        assert audit.evaluable * candidate.rate == pytest.approx(audit.refuted), candidate.rule


@FEW
@given(columns=planted())
def test_agreement_of_every_pair_of_columns_is_that_of_pairs_of_rows(columns: dict[str, list[Any]]) -> None:
    rows = rows_of_tables(make_setting(None, tables={"t": rulescore.Table(pa.table(columns), key="id")}))[0]
    engine = connect(EngineOptions())
    search = searched(engine, rows, shuffled(rows, 0), DiscoverOptions())
    tried = [((first,), other) for first in search.columns for other in search.columns if other is not first]
    tried += [((search.columns[0], first), other) for (first,), other in tried if search.columns[0] not in (first, other)]
    for (deciding, decided), agreement in agreements(search, tried).items():
        names = [column.attribute for column in deciding]
        known = [
            (tuple(columns[name][row] for name in names), columns[decided.attribute][row])
            for row in range(len(columns["id"]))
            if all(columns[name][row] is not None for name in (*names, decided.attribute))
        ]
        groups = Counter(key for key, _ in known)
        assert agreement.pairs == sum(size * (size - 1) for size in groups.values())
        assert agreement.agreeing == sum(size * (size - 1) for size in Counter(known).values())
        assert agreement.trials == len(known) - len(groups)
    engine.close()


def test_finds_what_is_planted() -> None:
    generator = random.Random(3)
    zips = [generator.choice(["a", "b", "c", "d"]) for _ in range(200)]
    kinds = [generator.choice(["house", "flat"]) for _ in zips]
    fees = [generator.randrange(1, 1000) / 100 for _ in zips]
    prices = [generator.randrange(100, 9000) / 100 for _ in zips]
    begun = [datetime.date(2020, 1, 1) + datetime.timedelta(generator.randrange(300)) for _ in zips]
    columns = {
        "id": list(range(200)),
        "zip": zips,
        "city": [{"a": "Nantes", "b": "Nantes", "c": "Rennes", "d": "Brest"}[zip_code] for zip_code in zips],
        "kind": kinds,
        "rooms": [generator.randrange(2, 9) if kind == "house" else generator.randrange(5) for kind in kinds],
        "price": prices,
        "fee": fees,
        "paid": [round(price + fee, 2) for price, fee in zip(prices, fees, strict=True)],
        "begun": begun,
        "ended": [day + datetime.timedelta(generator.randrange(200)) for day in begun],
        "rent": [1000.0 * "abcd".index(zip_code) + generator.randrange(90, 110) for zip_code in zips],
    }
    discovery = found(columns)
    assert texts(discovery, Form.DEPENDENCY) == [
        "City = OtherCity <- t(id: A, zip: Zip, city: City), t(id: B, zip: Zip, city: OtherCity), A != B"
    ]
    assert "Rooms >= 2 <- t(kind: house, rooms: Rooms)" in texts(discovery, Form.CONDITIONAL_VALUES)
    assert texts(discovery, Form.SUM) == ["abs(Paid - (Price + Fee)) < 0.005 <- t(paid: Paid, price: Price, fee: Fee)"]
    assert "Begun <= Ended <- t(begun: Begun, ended: Ended)" in texts(discovery, Form.COMPARISON)
    assert 'City in {"Brest", "Nantes", "Rennes"} <- t(city: City)' in texts(discovery, Form.ALLOWED_VALUES)
    assert "Fee > 0 <- t(fee: Fee)" in texts(discovery, Form.BOUND)
    assert "abs(Rent - OtherRent) <= 20 <- t(id: A, zip: Zip, rent: Rent), t(id: B, zip: Zip, rent: OtherRent), A != B" in texts(
        discovery, Form.TOLERANCE
    )
    assert "Rent <= 1.5 * avg(OtherRent : t(zip: Zip, rent: OtherRent)) <- t(zip: Zip, rent: Rent)" in texts(
        discovery, Form.RELATIVE_BOUND
    )


@pytest.mark.parametrize("measure", ["distance", "percent"])
def test_all_lists_a_grid_of_tolerances_for_each_key_with_the_counts_of_an_audit(measure: str) -> None:
    generator = random.Random(3)
    zips = [generator.choice("abcd") for _ in range(200)]
    usual = {"distance": (1000, 2000, 3000, 4000), "percent": (500, 2000, 8000, 32000)}[measure]
    spread = {"distance": lambda rent: rent + generator.randrange(90), "percent": lambda rent: rent * generator.randrange(100, 115)}
    rents = [spread[measure](usual["abcd".index(zip_code)]) for zip_code in zips]
    columns = {"id": list(range(200)), "zip": zips, "rent": rents}
    chosen = found(columns, forms=frozenset({Form.TOLERANCE}))
    every = found(columns, forms=frozenset({Form.TOLERANCE}), everything=True)
    assert chosen.left_out == ()
    assert every.rules == chosen.rules
    (rule,) = every.rules
    assert rule.text.startswith({"distance": "abs(Rent", "percent": "within(Rent"}[measure])
    grid = [rule, *every.left_out]
    assert len(grid) > 3
    assert {other.left_out for other in every.left_out} == {"another tolerance of a rule that is kept"}
    rates = [other.counts.rate or 0.0 for other in every.left_out]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > every.options.max_rate >= (rule.counts.rate or 0.0)
    table = rulescore.Table(pa.table(columns), key="id")
    _audited(table, "t", tuple(grid))
    tolerances = [re.search(r"(?:<= |, )([0-9]+)(?=%?\)? <-)", other.text) for other in grid]
    limits = [Tolerance(int(match[1]), measure == "percent") for match in tolerances if match]
    with Session(make_setting(None, None, f"{rule.text}.\n", tables={"t": table})) as session:
        assert [row.counts for row in session.tolerance_grid(limits)] == [other.counts for other in grid]


def test_a_soft_dependency_has_its_rate_and_what_chance_would_give() -> None:
    generator = random.Random(1)
    zips = [generator.choice("abcdefgh") for _ in range(300)]
    cities = [f"city of {zip_code}" for zip_code in zips]
    cities[0] = "a slip of the keyboard"
    (rule,) = [one for one in found({"id": list(range(300)), "zip": zips, "city": cities}).rules if one.text.startswith("City = ")]
    same = zips.count(zips[0]) - 1
    assert rule.counts.refuted == 2 * same
    shares = Counter(cities)
    agreeing = sum(count * (count - 1) for count in shares.values()) / (300 * 299)
    assert rule.expected == pytest.approx(rule.counts.evaluable * agreeing)
    assert rule.lift is not None
    assert rule.lift > 5


def test_columns_that_have_nothing_to_do_with_each_other_give_no_rule_of_two_columns() -> None:
    generator = random.Random(0)
    columns: dict[str, list[Any]] = {"id": list(range(400))}
    for number in range(6):
        columns[f"class_{number}"] = [generator.choice("abcd") for _ in range(400)]
        columns[f"amount_{number}"] = [generator.gauss(50, 20) for _ in range(400)]
    discovery = found(columns)
    one_column = {Form.BOUND, Form.ALLOWED_VALUES}
    assert {rule.form for rule in discovery.rules} <= one_column


def test_what_follows_from_kept_dependencies_is_left_out_with_its_reason() -> None:
    generator = random.Random(2)
    streets = [generator.randrange(60) for _ in range(600)]
    columns = {
        "id": list(range(600)),
        "street": [f"street {street}" for street in streets],
        "city": [f"city {street % 12}" for street in streets],
        "state": [f"state {street % 12 % 4}" for street in streets],
    }
    discovery = found(columns, everything=True)
    assert {text.split(" <- ")[0] for text in texts(discovery, Form.DEPENDENCY)} == {"City = OtherCity", "State = OtherState"}
    (left,) = discovery.left_out
    assert left.text.startswith("State = OtherState <- t(id: A, street: Street")
    assert left.left_out == "follows from dependencies that are kept"


def test_keys_and_unique_and_constant_columns_say_nothing() -> None:
    columns = {
        "id": list(range(100)),
        "name": [f"name {number}" for number in range(100)],
        "country": ["France"] * 100,
        "half": [number % 2 == 0 for number in range(100)],
    }
    discovery = found(columns)
    assert not discovery.rules
    assert discovery.reasons == (
        "no rule of table `t` has 10 confirmed groundings, a rate of 0.1 at most, and less than chance would give",
    )


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"id": [], "price": []}, "table `t` has no rows, and a rule needs 10 confirmed groundings"),
        ({"id": [1], "price": [3]}, "table `t` has 1 row, and a rule needs 10 confirmed groundings"),
        ({"id": list(range(50)), "price": [3] * 50}, "every column of table `t` but its key has one value at most"),
        ({"id": list(range(50))}, "table `t` has no column but its key"),
    ],
)
def test_nothing_is_found_for_a_reason(columns: dict[str, list[int]], reason: str) -> None:
    typed = pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
    setting = make_setting(None, tables={"t": rulescore.Table(typed, key="id")})
    discovery = discover_tables(setting, DiscoverOptions())
    assert (discovery.rules, discovery.reasons) == ((), (reason,))


def test_a_table_without_a_key_gets_a_clear_message() -> None:
    with pytest.raises(InputError, match="no table has a key: `t`") as raised:
        found({"price": [1, 2]}, key=[])
    assert 'key="index"' in str(raised.value)


def test_a_wide_table_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_search, "_EFFORT", 20_000_000)  # a fifth, so that the test is over sooner
    generator = random.Random(5)
    columns: dict[str, list[Any]] = {"id": list(range(200))}
    for number in range(500):
        kind = number % 3
        columns[f"c{number}"] = [
            generator.choice("abc") if kind == 0 else generator.random() if kind == 1 else generator.randrange(9)
            for _ in range(200)
        ]
    columns["begun"] = [generator.random() for _ in range(200)]
    columns["ended"] = [value + 1 for value in columns["begun"]]
    discovery = found(columns)
    assert any("sums were looked for among the first" in note for note in discovery.notes)
    assert all(rule.counts.evaluable for rule in discovery.rules)


def test_hidden_targets_are_never_read() -> None:
    generator = random.Random(8)
    columns = {
        "id": list(range(100)),
        "price": [float(generator.randrange(1, 500)) for _ in range(100)],
        "split": ["test" if number < 20 else "train" for number in range(100)],
    }
    hidden = {"target": "price", "hidden": {"column": "split", "values": ["test"]}}
    before = found(columns, table=hidden)
    columns["price"] = [-1e6 if number < 20 else price for number, price in enumerate(columns["price"])]
    after = found(columns, table=hidden)
    assert before.rules == after.rules
    assert "Price > 0 <- t(price: Price)" in texts(after, Form.BOUND)
    assert [rule.counts.evaluable for rule in after.rules if rule.text.startswith("Price > 0")] == [80]


def test_rules_about_the_column_that_models_predict_come_first() -> None:
    generator = random.Random(8)
    columns = {
        "id": list(range(100)),
        "fee": [float(generator.randrange(1, 500)) for _ in range(100)],
        "price": [float(generator.randrange(1, 500)) for _ in range(100)],
    }
    assert texts(found(columns), Form.BOUND)[0] == "Fee > 0 <- t(fee: Fee)"
    assert texts(found(columns, table={"target": "price"}), Form.BOUND)[0] == "Price > 0 <- t(price: Price)"


def test_a_column_that_numbers_the_rows_has_no_bounds() -> None:
    names, numbers = [f"r{number}" for number in range(100)], list(range(100))
    discovery = found({"id": names, "number": numbers, "amount": [7 * number for number in numbers]})
    assert texts(discovery, Form.BOUND) == ["Amount >= 0 <- t(amount: Amount)", "Amount > 0 <- t(amount: Amount)"]


def test_many_rules_of_a_form_are_bounded_and_all_of_them_listed_by_all() -> None:
    generator = random.Random(2)
    columns: dict[str, list[Any]] = {"id": [f"r{number}" for number in range(60)]}
    columns |= {f"c{number}": [5 + 10 * generator.random() for _ in range(60)] for number in range(120)}
    few, every = (found(columns, forms=frozenset({Form.BOUND}), everything=everything) for everything in (False, True))
    assert (len(few.rules), len(every.rules), every.notes) == (100, 120, ())
    assert few.notes == ("of 120 rules of the form “Bounds” of `t` 100 are looked at: `--all` lists all",)


def test_rows_of_a_key_of_two_columns_differ_in_one_of_them() -> None:
    generator = random.Random(4)
    columns = {
        "driver": [number // 5 for number in range(300)],
        "race": [number % 5 for number in range(300)],
        "team": [f"team {number // 5 % 6}" for number in range(300)],
        "colour": [("red", "blue", "green")[number // 5 % 6 % 3] for number in range(300)],
        "position": [generator.randrange(1, 20) for _ in range(300)],
    }
    discovery = found(columns, key=["driver", "race"])
    text = (
        "Colour = OtherColour <- t(driver: A1, race: A2, team: Team, colour: Colour), "
        "t(driver: B1, race: B2, team: Team, colour: OtherColour), (A1 != B1 or A2 != B2)"
    )
    (rule,) = [rule for rule in discovery.rules if rule.text == text]
    assert rule.counts == Counts(300 * 49, 0, 300 * 49)


def test_names_of_columns_become_variables_of_their_own() -> None:
    generator = random.Random(6)
    ones = [generator.randrange(100) for _ in range(100)]
    columns = {
        "id": list(range(100)),
        "a": ones,
        "A": [value + generator.randrange(50) for value in ones],
        "price (€)": [value + generator.randrange(1, 50) for value in ones],
        "数": [value + 100 for value in ones],
    }
    discovery = found(columns)
    comparisons = texts(discovery, Form.COMPARISON)
    assert "A_2 <= A_3 <- t(a: A_2, A: A_3)" in comparisons
    assert "A_2 < Price____ <- t(a: A_2, `price (€)`: Price____)" in comparisons
    _audited(rulescore.Table(pa.table(columns), key="id"), "t", discovery.rules)


def _audited(table: rulescore.Table, name: str, rules: tuple[DiscoveredRule, ...]) -> None:
    result = rulescore.audit(None, "".join(f"{rule.text}.\n" for rule in rules), tables={name: table})
    assert [rule.dataset for rule in result.rule_results] == [rule.counts for rule in rules]


def test_real_rides_have_the_rules_that_people_know() -> None:
    rides = pandas.read_csv(shared("tables/taxis.csv.gz"), parse_dates=["pickup", "dropoff"])
    table = rulescore.Table(rides, key="index")
    discovery = discover_tables(make_setting(None, tables={"ride": table}), DiscoverOptions(everything=True))
    known = [rule.text for rule in discovery.rules]
    assert "Pickup <= Dropoff <- ride(pickup: Pickup, dropoff: Dropoff)" in known
    assert "Tip = 0 <- ride(payment: cash, tip: Tip)" in known
    assert any(text.startswith("Pickup_borough = ") and "pickup_zone" in text for text in known)
    _audited(table, "ride", (*discovery.rules, *discovery.left_out))


def test_real_dependencies_of_dirty_data_are_those_that_experts_wrote() -> None:
    """The denial constraints of one column that come with the data, and hold for nine pairs of ten."""
    table = rulescore.Table(pandas.read_csv(shared("hospital/dirty.csv.gz"), dtype=str), key="index")
    discovery = discover_tables(make_setting(None, tables={"hospital": table}), DiscoverOptions(everything=True))
    rules = (*discovery.rules, *discovery.left_out)
    every = "\n".join(rule.text for rule in rules)
    for deciding, decided in (
        ("HospitalName", "ZipCode"),
        ("HospitalName", "PhoneNumber"),
        ("MeasureCode", "MeasureName"),
        ("MeasureCode", "Stateavg"),
        ("ProviderNumber", "HospitalName"),
        ("MeasureCode", "Condition"),
        ("HospitalName", "Address1"),
        ("HospitalName", "HospitalOwner"),
        ("HospitalName", "ProviderNumber"),
        ("City", "CountyName"),
        ("ZipCode", "EmergencyService"),
        ("HospitalName", "City"),
        ("MeasureName", "MeasureCode"),
    ):
        assert f"hospital(index: A, {deciding}: {deciding}, {decided}: {decided})" in every
    _audited(table, "hospital", rules)


def test_real_sales_split_by_a_seed_keep_their_rules() -> None:
    table = rulescore.Table(shared("dvf-nantes/sales.parquet"), key="id", target="price")
    setting = make_setting(None, tables={"sale": table})
    discovery = discover_tables(setting, DiscoverOptions(hold_out=0.2, seed=1))
    assert (discovery.facts, discovery.held_out_facts) == (28_083, 7_020)
    (dated,) = [rule for rule in discovery.rules if rule.form is Form.DEPENDENCY]
    assert dated.text.startswith("Year = OtherYear <- sale(id: A, date: Date")
    assert dated.counts.refuted == 0
    assert dated.held_out is not None
    assert dated.held_out.refuted == 0
    assert dated.held_out.evaluable > 0


def test_the_command_finds_rules_of_a_project_s_tables_that_score_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{number},{'ab'[number % 2]},{10 + number},{12 + number + number % 7}" for number in range(60)]
    Path("t.csv").write_text("\n".join(["id,kind,low,high", *lines]) + "\n", encoding="utf-8")
    Path("rulescore.toml").write_text('[tables.t]\npath = "t.csv"\nkey = "id"\n', encoding="utf-8")
    result = CliRunner().invoke(program, ["discover", "--output", "found.rules", "--all"])
    assert result.exit_code == 0, result.output
    assert "Low < High <- t(low: Low, high: High)" in result.stdout
    written = Path("found.rules").read_text(encoding="utf-8")
    assert "# Data: sha256 " in written
    audit = CliRunner().invoke(program, ["audit", "--rules", "found.rules", "--format", "json"])
    assert audit.exit_code == 0, audit.output
    found = json.loads(CliRunner().invoke(program, ["discover", "--format", "json"]).stdout)["rows"]
    audited = json.loads(audit.stdout)["rows"]
    assert {(one["text"], one["confirmed"], one["refuted"]) for one in found} == {
        (one["text"], one["confirmed"], one["refuted"]) for one in audited
    }


def test_a_graph_and_a_table_are_searched_together() -> None:
    facts = [(f"p{n}", relation, f"q{n % 7}") for n in range(60) for relation in ("likes", "knows") if n % 9 or relation == "likes"]
    facts += [(f"q{n % 7}", "hates", f"p{n}") for n in range(60)]
    table = rulescore.Table({"id": list(range(50)), "low": list(range(50)), "high": [n + 1 + n % 5 for n in range(50)]}, key="id")
    discovery = rulescore.discover(facts, tables={"t": table}, everything=True).discovery
    forms = {rule.form.is_of_tables for rule in discovery.rules}
    assert forms == {False, True}
    assert discovery.facts == len(set(facts)) + 50


def test_facts_that_no_rule_is_picked_by_do_not_fit_tables() -> None:
    table = rulescore.Table({"id": [1, 2], "price": [3, 4]}, key="id")
    with pytest.raises(rulescore.InputError, match="`--valid` names facts, and only tables are searched"):
        rulescore.discover(None, tables={"sale": table}, valid=[("a", "p", "b")])
