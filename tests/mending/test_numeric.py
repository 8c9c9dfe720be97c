"""A predicted number contributes what `score` counts, and its derivative is that of the excess."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import rulescore
from rulescore.integrations.boosting import objective
from rulescore.integrations.training import NumericViolations
from rulescore.mending.numeric import NumericSteps, numeric_steps

RULES = """
near: abs(P - Q) <= 50 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
unit: abs(P / S - Q / T) < 3 <- sale(id: A, kind: K, price: P, area: S), sale(id: B, kind: K, price: Q, area: T).
"""
HIDDEN = list(range(0, 40, 4))


def rows() -> list[dict[str, object]]:
    random = np.random.default_rng(0)
    found = []
    for number in range(40):
        area = int(random.integers(10, 30))
        price = float(area * 10 + random.integers(-40, 40))
        found.append({"id": number, "zip": f"z{number % 3}", "kind": f"k{number % 2}", "area": area, "price": price})
    return found


def table() -> rulescore.Table:
    return rulescore.Table(rows(), key="id", target="price", hidden=HIDDEN)


@pytest.fixture(scope="module")
def steps() -> NumericSteps:
    return numeric_steps(RULES, "sale", table(), HIDDEN)


def by_score(rules: str, values: np.ndarray) -> dict[tuple[str, int], list[int]]:
    predicted = {"model": {"sale": dict(zip(HIDDEN, values.tolist(), strict=True))}}
    result = rulescore.score(None, predicted, rules, tables={"sale": table()}, allow_unrefutable=True)
    return {
        (row["rule"], int(row["arguments"][0])): [row["confirmed"], row["refuted"], row["evaluable"]]
        for row in result.contributions.to_pylist()
    }


def contributed(steps: NumericSteps, values: np.ndarray) -> dict[tuple[str, int], list[int]]:
    return {
        (name, key): counts.tolist()
        for name, every in steps.contributions(values).items()
        for key, counts in zip(HIDDEN, every, strict=True)
        if counts.any()
    }


def test_contributions_are_those_of_score(steps: NumericSteps) -> None:
    for seed in range(3):
        values = np.random.default_rng(seed).integers(80, 400, len(HIDDEN)).astype(float)
        counts = contributed(steps, values)
        assert counts == by_score(RULES, values)
        assert any(refuted for _, refuted, _ in counts.values())


def test_the_excess_is_the_mean_over_the_group_and_its_derivative_is_exact(steps: NumericSteps) -> None:
    values = np.linspace(60.37, 420.11, len(HIDDEN))
    own = rows()
    for rule in steps.rules:
        loss, slope = steps.excess(rule, values)
        for place, key in enumerate(HIDDEN):
            mine = own[key]
            group = "zip" if rule.name == "near" else "kind"
            others = [row for row in own if row["id"] not in HIDDEN and row[group] == mine[group]]
            unit = (lambda row: row["area"]) if rule.name == "unit" else (lambda _: 1)
            point = values[place] / unit(mine)
            limit = {"near": 50, "unit": 3}[rule.name]
            expected = np.mean([max(0.0, abs(point - row["price"] / unit(row)) / limit - 1) for row in others])
            assert loss[place] == pytest.approx(expected)
        step = 1e-6
        difference = (steps.excess(rule, values + step)[0] - steps.excess(rule, values - step)[0]) / (2 * step)
        assert slope == pytest.approx(difference, abs=1e-6)


def test_the_term_has_an_exact_gradient_and_a_gate(steps: NumericSteps) -> None:
    values = torch.linspace(60.3, 420.1, len(HIDDEN), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(NumericViolations(steps, gate=False), (values,))
    truth = torch.tensor([float(rows()[key]["price"]) for key in HIDDEN], dtype=torch.float64)
    term = NumericViolations(steps)
    assert float(term(values.detach())) > 0
    assert set(term.last) == {"near", "unit"}
    calm = torch.full_like(truth, float(truth.mean()))
    assert float(NumericViolations(steps)(calm)) <= float(NumericViolations(steps, gate=False)(calm))
    assert float(NumericViolations(steps, weight=0.0)(values)) == 0.0


@pytest.mark.parametrize("base", ["squared", "absolute"])
def test_an_objective_has_the_gradient_of_its_loss(steps: NumericSteps, base: str) -> None:
    labels = np.array([float(rows()[key]["price"]) for key in HIDDEN])
    values = labels + np.linspace(-150, 160, len(HIDDEN))
    data = SimpleNamespace(get_label=lambda: labels)
    limits = {"near": 50, "unit": 3 * np.array([float(rows()[key]["area"]) for key in HIDDEN])}
    spread = np.abs(labels - np.median(labels)).mean()
    gradient, hessian = objective(steps, weight=7.0, base=base, gate=False)(values, data)

    def loss(at: np.ndarray) -> np.ndarray:
        own = ((at - labels) / spread) ** 2 / 2 if base == "squared" else np.abs(at - labels) / spread
        return spread**2 * own + 7.0 * spread * sum(steps.excess(rule, at)[0] * limits[rule.name] for rule in steps.rules)

    step = 1e-5
    assert gradient == pytest.approx((loss(values + step) - loss(values - step)) / (2 * step), rel=1e-5, abs=1e-3)
    assert (hessian > 0).all()
    plain, _ = objective(steps, weight=0.0, base=base)(values, data)
    assert np.array_equal(plain, values - labels if base == "squared" else spread * np.sign(values - labels))


BOUNDS = """
most: P <= 14 * S <- sale(id: A, price: P, area: S).
least: P > 3 * S <- sale(id: A, price: P, area: S, kind: k1).
order: P <= Q + 160 <- sale(id: A, zip: Z, area: S, price: P), sale(id: B, zip: Z, area: T, price: Q), S <= T, A != B.
far: false <- sale(id: A, zip: Z, price: P, area: S), sale(id: B, zip: Z, price: Q, area: S), A != B, abs(P - Q) > 500.
same: abs(P - 200) <= 300 <- sale(id: A, price: P).
"""


def test_other_comparisons_contribute_what_score_counts() -> None:
    made = numeric_steps(BOUNDS, "sale", table(), HIDDEN)
    assert {rule.name for rule in made.bounds} == {"most", "least", "order", "far", "same"}
    for seed in range(3):
        values = np.random.default_rng(seed).integers(10, 800, len(HIDDEN)).astype(float)
        assert contributed(made, values) == by_score(BOUNDS, values)


def test_a_value_is_moved_to_the_nearest_that_breaks_no_hard_rule() -> None:
    rules = BOUNDS + RULES.replace("50", "250")
    made = numeric_steps(rules, "sale", table(), HIDDEN)
    hard = {rule.name for rule in (*made.rules, *made.bounds) if rule.kind == "hard"}
    assert hard > {"most", "least", "near"}
    for seed in range(3):
        values = np.random.default_rng(seed).uniform(-50, 900, len(HIDDEN))
        nearest = made.nearest(values)
        assert nearest.met.all()
        assert nearest.distances == pytest.approx(np.abs(nearest.values - values))
        assert not any(counts[1] for (name, _), counts in by_score(rules, nearest.values).items() if name in hard)
        # A thousandth less far, and a hard rule is broken.
        before = by_score(rules, values + (nearest.values - values) * 0.999)
        broken = {key for (name, key), counts in before.items() if name in hard and counts[1]}
        assert broken == {key for key, distance in zip(HIDDEN, nearest.distances, strict=True) if distance}
        assert broken


def test_rows_whose_rules_allow_nothing_in_common_stay() -> None:
    rules = "low: P < 1000 <- sale(id: A, price: P). @hard high: P > 2000 <- sale(id: 4, price: P)."
    made = numeric_steps(rules, "sale", table(), HIDDEN)
    nearest = made.nearest([1500.0] * len(HIDDEN))
    assert nearest.met.tolist() == [key != 4 for key in HIDDEN]
    assert nearest.values == pytest.approx([1500.0 if key == 4 else 1000.0 for key in HIDDEN])
    assert (nearest.values[nearest.met] < 1000).all()
    with pytest.raises(rulescore.InputError, match="every value is allowed"):
        numeric_steps("r: P < 150 <- sale(id: A, price: P).", "sale", table(), HIDDEN).nearest([1.0] * len(HIDDEN))
    with pytest.raises(rulescore.InputError, match="do not limit a distance within groups"):
        NumericViolations(made)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("r: Q <= 100 <- sale(id: A, area: Q).", "do not compare something linear in the target"),
        ("r: S <= 100 <- sale(id: A, price: P, area: S), P > 20.", "do not compare something linear in the target"),
        ("r: abs(P - Q) >= 5 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q).", "do not compare something linear"),
        (
            "r: abs(P * P - Q * Q) <= 5 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q).",
            "is not linear in the target",
        ),
        ("r: P * P <= 5 <- sale(id: A, price: P).", "is not linear in the target"),
    ],
)
def test_rules_of_other_forms_are_refused(rules: str, message: str) -> None:
    with pytest.raises(rulescore.InputError, match=message):
        numeric_steps(rules, "sale", table(), HIDDEN)


def test_values_that_do_not_fit_are_refused(steps: NumericSteps) -> None:
    with pytest.raises(rulescore.InputError, match="10 rows"):
        steps.contributions([1.0])
    with pytest.raises(rulescore.InputError, match="not finite"):
        steps.contributions([float("nan")] * len(HIDDEN))
    with pytest.raises(rulescore.InputError, match="no rows to predict"):
        numeric_steps(RULES, "sale", table(), [])
    with pytest.raises(rulescore.InputError, match=f"`{HIDDEN[0]}` is asked for twice"):
        numeric_steps(RULES, "sale", table(), [HIDDEN[0], *HIDDEN])
    with pytest.raises(rulescore.InputError, match="table `sale` has no target"):
        numeric_steps(RULES, "sale", rulescore.Table(rows(), key="id"), HIDDEN)
    with pytest.raises(rulescore.InputError, match="no base loss `l3`"):
        objective(steps, base="l3")
