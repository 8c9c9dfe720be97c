"""What is worth reading is kept, and what is left out has a reason."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.discovery.choosing import first_places, rate_bound
from rulescore.discovery.model import DiscoveredRule, Form
from rulescore.scoring.results import Counts

Facts = list[tuple[str, str, str]]


def _family(n: int) -> Facts:
    """Couples, each written both ways, and a third predicate that never meets the two."""
    facts = [(f"h{i}", "husband", f"w{i}") for i in range(n)] + [(f"w{i}", "wife", f"h{i}") for i in range(n)]
    return facts + [(f"h{i}", "cousin", f"w{i + 1}") for i in range(n)]


def _all(facts: object, **options: object) -> dict[str, DiscoveredRule]:
    found = rulescore.discover(facts, everything=True, **options)  # type: ignore[arg-type]
    return {rule.text: rule for rule in found.listed}


def test_the_lift_is_against_the_facts_of_the_head_dealt_anew() -> None:
    rule = _all(_family(12))["husband(X, Y) <- wife(Y, X)"]
    # 12 groundings; 12 of 48 ordered pairs that carry a fact carry `husband`.
    assert (rule.expected, rule.lift, rule.coverage) == (12 * 12 / 48, 4.0, 1.0)
    assert rule.left_out is None


def test_a_rule_that_chance_confirms_as_often_is_left_out() -> None:
    facts = [(f"x{i}", "p", f"y{i}") for i in range(40)] + [(f"x{i}", "q", f"y{i}") for i in range(32, 62)]
    facts += [(f"x{i}", "r", f"y{i}") for i in range(62, 70)]
    rule = _all(facts, max_rate=1, min_support=8)["p(X, Y) <- q(X, Y)"]
    assert (rule.counts.confirmed, rule.left_out) == (8, "as often by chance")


def test_a_little_more_often_than_chance_is_chance() -> None:
    facts = [("hub", "p", f"x{i}") for i in range(400)] + [(f"x{i}", "q", f"y{i % 4}") for i in range(400)]
    rule = _all(facts)["q(X, y0) <- p(hub, X)"]
    assert 1 < rule.lift < 1.1
    assert rule.left_out == "as often by chance"


def test_a_rule_in_other_words_is_said_once() -> None:
    """`parent` is `child` turned round, so that each rule about one is a rule about the other."""
    facts = [(f"p{i}", "parent", f"c{i}") for i in range(12)] + [(f"c{i}", "child", f"p{i}") for i in range(12)]
    facts += [(f"g{i}", "parent", f"p{i}") for i in range(12)] + [(f"p{i}", "child", f"g{i}") for i in range(12)]
    facts += [(f"g{i}", "grandparent", f"c{i}") for i in range(12)]
    found = _all(facts, forms=["two_atoms"])
    rules = {text: rule for text, rule in found.items() if text.startswith("grandparent")}
    assert len(rules) == 4
    kept = [text for text, rule in rules.items() if rule.left_out is None]
    assert len(kept) == 1
    assert {rule.left_out for rule in rules.values() if rule.left_out} == {f"said by `{kept[0]}`"}


def test_a_shorter_rule_leaves_out_a_longer_one_that_is_broken_less_often() -> None:
    facts = {
        "teaches": [(f"t{i}", f"c{i}") for i in range(20)],
        "teacher": [(f"t{i}",) for i in range(19)],
        "student": [("t19",)],
        "course": [(f"c{i}",) for i in range(19)],
    }
    found = _all(facts)
    assert found["teacher(X) <- teaches(X, Y)"].left_out is None
    longer = found["teacher(X) <- teaches(X, Y), course(Y)"]
    assert longer.counts.rate < found["teacher(X) <- teaches(X, Y)"].counts.rate
    assert longer.left_out == "said by `teacher(X) <- teaches(X, Y)`"


def test_a_rule_for_all_constants_leaves_out_the_same_for_one() -> None:
    facts = [(f"x{i}", name, "a") for i in range(12) for name in ("p", "q")] + [(f"z{i}", "r", f"y{i}") for i in range(50)]
    found = _all(facts)
    assert found["p(X, Y) <- q(X, Y)"].left_out is None
    assert found["p(X, a) <- q(X, a)"].left_out == "said by `p(X, Y) <- q(X, Y)`"


def test_what_only_self_loops_confirm_is_true_of_itself() -> None:
    facts = [(f"x{i}", "p", f"x{i}") for i in range(12)] + [(f"x{i}", "q", f"y{i}") for i in range(12)]
    rule = _all(facts)["p(X, Y) <- p(Y, X)"]
    assert rule.counts.confirmed == 12
    assert str(rule.left_out).startswith("true of itself")


@pytest.mark.parametrize(
    ("options", "reason"), [({"max_rate": 0.0}, "broken too often"), ({"min_evaluable": 50}, "too few groundings")]
)
def test_the_filters_leave_out(options: dict[str, float], reason: str) -> None:
    facts = [*_family(12), ("h12", "cousin", "w12"), ("w12", "wife", "h12")]
    assert _all(facts, **options)["husband(X, Y) <- wife(Y, X)"].left_out == reason


def test_what_the_filters_leave_out_is_found_only_if_everything_is_asked_for() -> None:
    facts = [*_family(12), ("h12", "cousin", "w12"), ("w12", "wife", "h12")]
    texts = [rule.text for rule in rulescore.discover(facts, max_rate=0.0).listed]
    assert "husband(X, Y) <- wife(Y, X)" not in texts
    assert "wife(X, Y) <- husband(Y, X)" in texts


def test_places_that_never_meet_leave_out_what_follows_from_them() -> None:
    facts = [(f"x{i}", name, f"y{j}") for i in range(12) for j in range(6) for name in ("p",)]
    facts += [(f"z{i}", "q", f"y{j}") for i in range(12) for j in range(6)] + [("x1", "r", "z1"), ("y1", "r", "z1")]
    found = _all(facts, min_support=3)
    assert found["false <- p(X, _), q(X, _)"].left_out is None
    assert found["false <- p(X, Y), q(X, Y)"].left_out == "said by `false <- p(X, _), q(X, _)`"


def test_never_broken_means_little_for_few_groundings() -> None:
    assert rate_bound(Counts(10, 0, 10)) > rate_bound(Counts(1000, 10, 1010)) > rate_bound(Counts(5000, 5, 5005))


def test_people_see_some_rules_of_every_form() -> None:
    forms = [Form.TWO_ATOMS] * 40 + [Form.FUNCTIONAL] * 3 + [Form.DISJOINT] * 40
    shown = [forms[place] for place in first_places(forms, 30)]
    assert len(shown) == 30
    assert shown.count(Form.FUNCTIONAL) == 3
    assert shown.count(Form.TWO_ATOMS) > shown.count(Form.DISJOINT) > 5
    assert first_places(forms[:5], 30) == [0, 1, 2, 3, 4]
