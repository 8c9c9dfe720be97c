"""Pairs within a distance: sorting counts what comparing every two rows counts, to the last bit of a double."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.counting import proximity
from rulescore.counting.proximity import PairCounts, Values, close_pairs, contributed, ordered
from rulescore.language.syntax import Operator, Variable
from rulescore.logic.formula import ResolvedAtom
from rulescore.logic.proximity import Proximity
from rulescore.session.session import Session
from rulescore.setting.model import Setting

pytestmark = pytest.mark.slow

COMPARED: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


# The searches alone, against a loop over pairs


@dataclass(frozen=True)
class Kind:
    """Values to draw from, so few that ties are common, and limits that some of their distances meet exactly or just miss."""

    values: Sequence[float]
    limits: Sequence[float]

    @property
    def array_type(self) -> str:
        return "int64" if isinstance(self.values[0], int) else "float64"


KINDS = {
    "tenths": Kind([n / 10 for n in range(-5, 12)], [0.1, 0.2, 0.30000000000000004, 0.3, 0.7, 1, 0, 0.0, -0.1]),
    "cents": Kind([100.01, 100.02, 100.03, 100.1, 99.99, 0.07, 0.14], [0.01, 0.02, 0.07, 100, 99.9]),
    "integers": Kind([-3, -1, 0, 1, 2, 3, 5, 8, 13], [0, 1, 2, 5, 2.5, 3.0, -1, 1e300]),
    "large integers": Kind([-(2**61), 2**53, 2**53 + 1, 2**53 + 2, 2**61, 2**61 - 1, 0], [1, 2, 2**53, 2.0**53, 2**62 - 1, 2**80]),
    "huge": Kind([-9e306, -1e306, 1e16, 1e16 + 2, 1e306, 9e306, 0.5], [1e306, 1.8e307, 2, 2e306, 1.7e308, 10**30]),
    "tiny": Kind(
        [5e-324, 1e-323, 2.2250738585072014e-308, 1e-300, 0.0, -0.0, -5e-324], [5e-324, 1e-323, 0, 2.2250738585072014e-308, 1e-320]
    ),
    "zeros": Kind([0.0, -0.0], [0, 0.0, -0.0, 5e-324]),
}


def brute_force(distances: Iterator[Any], form: Proximity) -> tuple[int, int]:
    """Confirmed and evaluable pairs, by comparing values: Python, too, has an integer and a double equal only if they are."""
    found = [COMPARED[form.operator](one, form.limit) for one in distances]
    return sum(found), len(found)


def form(operator_: Operator, limit: float, *, distinct: bool) -> Proximity:
    return Proximity(ResolvedAtom("sale", ()), (), (), Variable("P"), operator_, limit, distinct)


def rows(random: np.random.Generator, kind: Kind, size: int, groups: int) -> list[tuple[int, Any]]:
    """Rows of some of the groups 0, 2, 4, …; their values come in the order in which a database would give them."""
    drawn = [(2 * int(random.integers(groups)), kind.values[int(random.integers(len(kind.values)))]) for _ in range(size)]
    return sorted(drawn)


def as_values(drawn: list[tuple[int, Any]], kind: Kind) -> Values:
    groups, values = pa.array([g for g, _ in drawn], pa.int64()), pa.array([v for _, v in drawn], kind.array_type)
    return ordered(pa.table({"id": groups, "value": values}))


def forms(kind: Kind) -> Iterator[Proximity]:
    for operator_, limit, distinct in product(COMPARED, kind.limits, (False, True)):
        yield form(operator_, limit, distinct=distinct)


@pytest.mark.parametrize("name", KINDS)
def test_pairs_of_the_data_are_those_of_a_loop_over_pairs(name: str) -> None:
    kind, random = KINDS[name], np.random.default_rng(1)
    for size, groups in [(0, 1), (1, 1), (1, 3), *((int(random.integers(2, 16)), int(random.integers(1, 4))) for _ in range(12))]:
        drawn = rows(random, kind, size, groups)
        values = as_values(drawn, kind)
        for one in forms(kind):
            assert close_pairs(values, one) == brute_force_pairs(drawn, one), (drawn, one)


def brute_force_pairs(drawn: list[tuple[int, Any]], one: Proximity) -> PairCounts:
    members = [[value for group, value in drawn if group == wanted] for wanted in sorted({group for group, _ in drawn})]
    found = [
        brute_force((abs(x - y) for i, x in enumerate(own) for j, y in enumerate(own) if i != j or not one.distinct), one)
        for own in members
    ]
    confirmed, evaluable = sum(c for c, _ in found), sum(e for _, e in found)
    return PairCounts(confirmed, evaluable - confirmed, evaluable, max((e for _, e in found), default=0))


@pytest.mark.parametrize("name", KINDS)
def test_pairs_of_a_prediction_are_those_of_a_loop_over_its_group(name: str) -> None:
    """Groups may have no row, and predictions may stand in groups that have none, below, between and above those that do."""
    kind, random = KINDS[name], np.random.default_rng(2)
    for size in (0, 1, *random.integers(2, 16, 12)):
        drawn = rows(random, kind, int(size), 3)
        asked = [(int(random.integers(-1, 6)), value) for value in kind.values]
        groups, points = np.array([g for g, _ in asked]), np.array([v for _, v in asked], kind.array_type)
        for one in forms(kind):
            confirmed, evaluable = contributed(as_values(drawn, kind), groups, points, one)
            found = list(zip(confirmed.tolist(), evaluable.tolist(), strict=True))
            assert found == [brute_force_point(drawn, group, value, one) for group, value in asked], (drawn, asked, one)


def brute_force_point(drawn: list[tuple[int, Any]], group: int, point: Any, one: Proximity) -> tuple[int, int]:
    both_orders = [abs(one - point) for other, one in drawn if other == group for _ in range(2)]
    return brute_force(iter(both_orders if one.distinct else [*both_orders, point - point]), one)


def test_a_gap_that_looks_like_the_limit_is_computed_in_doubles() -> None:
    """0.4 - 0.3 is above 0.1 and 0.3 - 0.2 below it."""
    tenth = form(Operator.AT_MOST, 0.1, distinct=True)
    assert close_pairs(as_values([(0, 0.3), (0, 0.4)], KINDS["tenths"]), tenth).confirmed == 0
    assert close_pairs(as_values([(0, 0.2), (0, 0.3)], KINDS["tenths"]), tenth).confirmed == 2


def test_nothing_depends_on_how_many_searches_run_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, random = KINDS["tenths"], np.random.default_rng(3)
    drawn = rows(random, kind, 200, 40)
    asked = np.arange(-1, 90), random.choice(kind.values, 91)
    one = form(Operator.AT_MOST, 0.3, distinct=True)
    whole = close_pairs(as_values(drawn, kind), one), [part.tolist() for part in contributed(as_values(drawn, kind), *asked, one)]
    monkeypatch.setattr(proximity, "_BLOCK", 7)
    blocks = close_pairs(as_values(drawn, kind), one), [part.tolist() for part in contributed(as_values(drawn, kind), *asked, one)]
    assert blocks == whole


def test_equal_values_are_kept_once_with_the_number_of_their_rows() -> None:
    found = as_values([(1, 0.1), (1, 0.1), (1, 0.2), (3, 0.2), (3, -0.0), (3, 0.0)], KINDS["tenths"])
    assert (found.groups.tolist(), found.values.tolist(), found.rows.tolist()) == ([1, 1, 3, 3], [0.1, 0.2, 0.2, 0.0], [2, 1, 1, 2])


@pytest.mark.parametrize(("value", "fits"), [(9e306, True), (-9e306, True), (1e308, False), (-1e308, False)])
def test_doubles_fit_where_no_difference_is_infinite(value: float, fits: bool) -> None:
    assert Values(np.zeros(1, np.int64), np.array([value]), np.ones(1, np.int64)).fits is fits


@pytest.mark.parametrize(("value", "fits"), [(2**61, True), (-(2**61), True), (2**62, False), (-(2**63), False)])
def test_integers_fit_where_no_difference_needs_more_than_64_bits(value: int, fits: bool) -> None:
    assert Values(np.zeros(1, np.int64), np.array([value]), np.ones(1, np.int64)).fits is fits


def test_pairs_beyond_a_million_values_are_all_counted() -> None:
    """Every row is 1 from the next: in a row of n there are n - 1 neighbours, each pair in two orders."""
    size = 2_500_000
    values = Values(np.zeros(size, np.int64), np.arange(size), np.full(size, 1000))
    found = close_pairs(values, form(Operator.AT_MOST, 1, distinct=True))
    assert found.confirmed == size * 1000 * 999 + 2 * (size - 1) * 1_000_000
    assert found.evaluable == size * 1000 * (size * 1000 - 1)


# Both plans, through a session

BODY = "sale(id: A, {group}price: P), sale(id: B, {group}price: Q)"
GROUPS = ("", "zip: Z, ", "zip: Z, kind: K, ", 'kind: "house", zip: Z, ')
START = datetime.date(2020, 2, 27)


@dataclass(frozen=True)
class Target:
    """A type of target, values that tie and meet the tolerances, and tolerances as a rule says them."""

    type: pa.DataType
    values: Sequence[Any]
    tolerances: Sequence[str]
    numeric: bool = True


TARGETS = {
    "float": Target(pa.float64(), [n / 10 for n in range(-2, 12)], ["0.1", "0.2", "1", "0", "0.30000000000000004"]),
    "large float": Target(
        pa.float64(), [1e15, 1e15 + 0.125, 1e300, 3e300, -1e306, 5e-324, 0.0, -0.0], ["0.125", "0", "2e300", "1e306"]
    ),
    "float32": Target(pa.float32(), [float(np.float32(n / 10)) for n in range(8)], ["0.1", "0.2", "1"]),
    "integer": Target(pa.int64(), [-4, -2, -1, 0, 1, 2, 3, 5, 2**53 + 1], ["0", "1", "2", "2.5", "2.0", "9007199254740992.0"]),
    "decimal": Target(pa.decimal128(10, 2), [Decimal(n) / 10 for n in range(-2, 12)], ["0.1", "0.2", "1", "0.7"]),
    "date": Target(
        pa.date32(),
        [START + datetime.timedelta(n) for n in (0, 1, 2, 30, 31, 366, -20_000)],
        ["1 day", "30 days", "0 days"],
        numeric=False,
    ),
}


def sorted_rules(target: Target) -> Iterator[str]:
    """Rules whose pairs are counted by sorting."""
    for (sign, tolerance), group in product(product(("<", "<=", ">", ">="), target.tolerances), GROUPS[:2]):
        yield f"abs(P - Q) {sign} {tolerance} <- {BODY.format(group=group)}, A != B."
    for tolerance, group in product(target.tolerances[:2], GROUPS):
        yield f"{tolerance} >= abs(Q - P) <- {BODY.format(group=group)}."
        yield f"within(P, Q, {tolerance}) <- {BODY.format(group=group)}, B != A."
        yield f'abs(P - Q) < {tolerance} <- {BODY.format(group="zip: Z, ")}, Z != "35", starts_with(Z, "4").'
        yield f"abs(P - Q) < {tolerance} <- sale(zip: Z, price: P), sale(zip: Z, price: Q)."
        yield f"abs(P - Q) < {tolerance} <- sale(id: A, level: L, price: P), sale(id: B, level: L, price: Q), A != B."
    rooms = "sale(id: A, rooms: R, zip: Z, price: P), sale(id: B, rooms: S, zip: Z, price: Q)"
    yield f"abs(R - S) <= 1 <- {rooms}, A != B."
    yield f"abs(P - Q) <= {target.tolerances[0]} <- {rooms}, R > 1, S > 1, A != B."
    if target.numeric:
        for body in (BODY.format(group=group) for group in GROUPS):
            yield f"within(P, Q, 10%) <- {body}, A != B."
            yield f"abs(P * 3 - Q * 3) < 1 <- {body}, P > 0, Q > 0."
        yield "abs(U - V) <= 0.1 <- sale(id: A, zip: Z, unit: U), sale(id: B, zip: Z, unit: V), A != B."


def other_forms(target: Target) -> Iterator[str]:
    """Other ways to say that two rows of a group are close."""
    apart = "sale(id: A, zip: Z, kind: K, price: P), sale(id: B, zip: W, kind: L, price: Q)"
    for sign, tolerance in product(("<", "<=", ">", ">="), target.tolerances[:2]):
        yield f"false <- {BODY.format(group='zip: Z, ')}, A != B, abs(P - Q) {sign} {tolerance}."
        yield f"false <- {apart}, Z = W, L = K, not {tolerance} {sign} abs(Q - P)."
        yield f"not abs(P - Q) {sign} {tolerance} <- {apart}, W = Z, K = L, not A = B."
    yield f"not within(P, Q, {target.tolerances[0]}) <- {BODY.format(group='')}."
    if target.numeric:
        yield f"abs(P - Q) < 2 * {target.tolerances[0]} <- {BODY.format(group='')}, A != B."
        yield f"abs(P - Q) >= 1 / 5 <- {BODY.format(group='')}, A != B."
        yield f"false <- {BODY.format(group='zip: Z, ')}, not within(P, Q, 10%)."


def joined_rules(target: Target) -> Iterator[str]:
    """Rules that only look like those."""
    first, zero = target.tolerances[0], "2020-02-28" if not target.numeric else "0"
    body = BODY.format(group="zip: Z, ")
    yield f"abs(P - Q) = {first} <- {body}."
    yield f"abs(P - Q) < {first} <- {body}, A < B."
    yield f"abs(P - Q) < {first} <- {body}, P > {zero}."
    yield f"abs(P - Q) < {first} <- {body}, P > {zero}, Q >= {zero}, A != B."
    yield f"abs(P - Q) < {first} <- {body}, P != Q, A != B."
    yield f'abs(P - Q) < {first} <- {BODY.format(group="")}, sale(id: A, kind: "house").'
    yield f"abs(P - Q) < {first} <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, kind: _, price: Q), A != B."
    yield f'abs(P - Q) < {first} <- sale(id: A, kind: "house", price: P), sale(id: B, kind: "flat", price: Q).'
    if target.numeric:
        yield f"P - Q < {first} <- {body}, A != B."
        yield f"abs(P - 2 * Q) < {first} <- {body}, A != B."
        yield f"abs(P - Q) < 1e308 * 10 <- {body}, A != B."


def random_setting(random: np.random.Generator, target: Target, rules: list[str]) -> Setting:
    """A table with missing values everywhere but in its key, and two models' predictions for some of its hidden rows."""
    size = int(random.integers(1, 40))

    def drawn(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[int(i)] for i in random.integers(0, len(values), size)], kind)

    columns = {
        "id": pa.array(random.permutation(size)),
        "zip": drawn(["44", "44", "44", "35", "49", None], pa.string()),
        "kind": drawn(["house", "house", "flat", None], pa.string()),
        "level": drawn([0.0, -0.0, 1.5, None], pa.float64()),
        "rooms": drawn([1, 2, 3, 5, None], pa.int64()),
        "price": drawn([*target.values, *target.values, None], target.type),
        "split": pa.array(["test", *random.choice(["test", "train", "train"], size - 1)]),
    }
    derived = {"unit": "price / (rooms - 1)"} if target.numeric else {}
    hidden = {"column": "split", "values": ["test"]}
    table = rulescore.Table(pa.table(columns), key="id", target="price", hidden=hidden, derived=derived)
    held = [key for key, split in zip(columns["id"].to_pylist(), columns["split"].to_pylist(), strict=True) if split == "test"]
    models = {name: predictions(random, target, held) for name in ("one", "other")}
    return make_setting(None, models, "\n".join(rules), tables={"sale": table}, threads=1)


def predictions(random: np.random.Generator, target: Target, held: list[int]) -> pa.Table:
    answered = held[: int(random.integers(1, len(held) + 1))]
    values = [target.values[int(i)] for i in random.integers(0, len(target.values), len(answered))]
    return pa.table({"id": pa.array(answered, pa.int64()), "prediction": pa.array(values, target.type)})


def require_equal_plans(setting: Setting, *, sorts: bool) -> None:
    """Both plans give the same counts and contributions, and every rule is, or is not, one that is counted by sorting."""
    with Session(setting) as session:
        assert [session.formulas.sorted_form(i) is not None for i in range(len(session.rules))] == [sorts] * len(session.rules)
        found = session.evaluate()
    with Session(setting, sorted_plans=False) as session:
        expected = session.evaluate()
    # Groups are counted by sorting alone.
    assert [replace(one, largest_group=None) for one in found.rule_results] == list(expected.rule_results)
    assert sorted_rows(found.contributions) == sorted_rows(expected.contributions)


def sorted_rows(contributions: pa.Table) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.values())) for row in contributions.to_pylist())


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("seed", range(2))
def test_sorting_gives_the_counts_of_the_join(name: str, seed: int) -> None:
    random = np.random.default_rng([seed, *name.encode()])
    target = TARGETS[name]
    rules = random.permutation(sorted(set(sorted_rules(target))))[:8]
    require_equal_plans(random_setting(random, target, rules.tolist()), sorts=True)


@pytest.mark.parametrize("name", TARGETS)
def test_other_ways_to_limit_a_distance_are_sorted_too(name: str) -> None:
    random = np.random.default_rng([5, *name.encode()])
    target = TARGETS[name]
    rules = random.permutation(sorted(set(other_forms(target))))[:10]
    require_equal_plans(random_setting(random, target, rules.tolist()), sorts=True)


@pytest.mark.parametrize("name", TARGETS)
def test_rules_of_another_form_are_joined(name: str) -> None:
    random = np.random.default_rng([4, *name.encode()])
    target = TARGETS[name]
    require_equal_plans(random_setting(random, target, list(joined_rules(target))), sorts=False)


RULES = (
    f"abs(P - Q) < 10 <- {BODY.format(group='')}, A != B.",
    f"abs(P - Q) >= 1e307 <- {BODY.format(group='zip: Z, ')}.",
    f"abs(P - Q) <= 99999999999999999999.0 <- {BODY.format(group='zip: Z, ')}.",
)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([1.7e308, -1.7e308, 1e308, 9e307, 0.0, 0.0, 1.0], id="doubles whose difference is infinite"),
        pytest.param([2**62, 2**62 + 5, 2**62 + 10, 2**63 - 1, 2**62], id="integers near the largest"),
        pytest.param([-(2**62), -(2**63), -(2**62) - 10], id="integers near the smallest"),
    ],
)
def test_values_too_large_to_be_subtracted_are_joined(values: list[float]) -> None:
    require_equal_plans(small_setting(values, predicted=values[-1]), sorts=True)


@pytest.mark.parametrize("predicted", [1.7e308, -1e308])
def test_a_prediction_too_large_to_be_subtracted_is_joined(predicted: float) -> None:
    require_equal_plans(small_setting([0.0, 0.0, 5.0, 30.0], predicted=predicted), sorts=True)


@pytest.mark.parametrize("values", [[], [7.0], [7.0, None], [None, None]])
def test_a_prediction_without_partners_is_compared_with_itself_alone(values: list[float | None]) -> None:
    require_equal_plans(small_setting(values, predicted=3.0), sorts=True)


def small_setting(values: list[Any], predicted: float) -> Setting:
    """Rows of one group, and one more whose value is predicted."""
    price = pa.array([*values, predicted])
    columns = {"id": pa.array(range(len(price))), "zip": pa.array(["44"] * len(price)), "price": price}
    table = rulescore.Table(pa.table(columns), key="id", target="price", hidden=[len(values)])
    models = {"model": pa.table({"id": [len(values)], "prediction": [predicted]})}
    return make_setting(None, models, "\n".join(RULES), tables={"sale": table}, threads=1)


def test_the_predicted_attribute_may_make_the_group() -> None:
    """Predictions stand in groups of the data and in one that only they have."""
    columns = {"id": range(7), "zip": ["44", "44", "35", "35", "44", "44", "35"], "price": [1.0, 2.0, 1.0, 1.5, 1.2, 1.3, None]}
    table = rulescore.Table(columns, key="id", target="zip", hidden=[4, 5, 6])
    models = {"model": pa.table({"id": [4, 5, 6], "prediction": ["35", "99", "35"]})}
    rules = [f"abs(P - Q) <= 0.5 <- {BODY.format(group='zip: Z, ')}{end}." for end in ("", ", A != B")]
    require_equal_plans(make_setting(None, models, "\n".join(rules), tables={"sale": table}, threads=1), sorts=True)


@pytest.mark.parametrize(("end", "sorts"), [("", True), (", A != B", False), (", Y != X", False)])
def test_rows_of_a_composite_key_differ_when_any_part_does(end: str, sorts: bool) -> None:
    """A rule that says so of one part alone is joined."""
    columns = {"year": [1, 1, 2, 2, 3], "number": [1, 2, 1, 2, 1], "price": [1.0, 1.5, 1.4, 3.0, 1.0]}
    table = rulescore.Table(columns, key=["year", "number"], target="price", hidden="year = 3")
    models = {"model": pa.table({"year": [3], "number": [1], "prediction": [1.6]})}
    rule = f"abs(P - Q) <= 0.5 <- sale(year: X, number: A, price: P), sale(year: Y, number: B, price: Q){end}."
    require_equal_plans(make_setting(None, models, rule, tables={"sale": table}, threads=1), sorts=sorts)
