"""How many cases a hard rule rests on, and what is said of those that rest on few, or that the data break."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.reporting.tables import violating_cell
from rulescore.scoring.results import Counts, Measure, PredictionCounts, PredictionFindings, RuleInfo, RuleKind, RuleResult
from rulescore.scoring.score import broken_hard_rules, few_cases, score

SOME = PredictionCounts(rows=9, kept=9, distinct=9, duplicates=0, already_observed=0)


def results(*rules: tuple[RuleInfo, Counts, Counts], hard_needs: int = 1) -> tuple[RuleResult, ...]:
    infos, dataset, counts = zip(*rules, strict=True)
    return score(infos, dataset, {"model": counts}, {"model": SOME}, hard_needs=hard_needs)[0]


def never(number: int) -> Counts:
    return Counts(number, 0, number)


BROKEN = Counts(0, 5, 5)


@pytest.mark.parametrize(
    ("info", "dataset", "kind"),
    [
        (RuleInfo("r", "r"), never(10), RuleKind.HARD),
        (RuleInfo("r", "r"), never(9), RuleKind.UNDETERMINED),
        (RuleInfo("r", "r", "hard"), never(9), RuleKind.HARD),
        (RuleInfo("r", "r", denial=True), Counts(), RuleKind.HARD),
        (RuleInfo("r", "r", unrefutable=True), never(9), RuleKind.HARD),
        (RuleInfo("r", "r"), Counts(4, 1, 5), RuleKind.SOFT),
    ],
)
def test_a_rule_that_the_data_never_break_needs_cases_to_be_hard(info: RuleInfo, dataset: Counts, kind: RuleKind) -> None:
    (result,) = results((info, dataset, BROKEN), hard_needs=10)
    assert result.kind is kind


def test_a_rule_with_too_few_cases_says_so() -> None:
    (result,) = results((RuleInfo("r", "r"), never(4), BROKEN), hard_needs=10)
    assert result.kind_reason == "the data never contradict it (0 of 4), but a hard rule needs 10"
    reason = "the rule is neither hard nor soft: it has fewer evaluable groundings in the data than `hard_needs`"
    assert result.models["model"].score == Measure(None, reason)


@pytest.mark.parametrize(("cases", "bound"), [(1, 0.95), (4, 0.5271), (100, 0.0295), (4000, 0.00075)])
def test_cases_bound_the_rate_of_a_hard_rule(cases: int, bound: float) -> None:
    (result,) = results((RuleInfo("r", "r"), never(cases), BROKEN))
    assert result.rate_bound.value == pytest.approx(bound, rel=0.01)
    assert (1 - (result.rate_bound.value or 0)) ** cases == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("info", "dataset", "reason"),
    [
        (RuleInfo("r", "r"), Counts(4, 1, 5), "the data break the rule"),
        (RuleInfo("r", "r", "soft"), never(5), "the rule is soft"),
        (RuleInfo("r", "r", denial=True), Counts(), "no evaluable grounding in the data"),
        (RuleInfo("r", "r", unrefutable=True), never(5), "nothing declared could refute it"),
    ],
)
def test_a_bound_that_says_nothing_is_undefined(info: RuleInfo, dataset: Counts, reason: str) -> None:
    (result,) = results((info, dataset, BROKEN))
    assert result.rate_bound == Measure(None, reason)


def test_a_hard_rule_that_the_data_break_is_told_with_its_counts() -> None:
    (told,) = broken_hard_rules(results((RuleInfo("mothers", "r", "hard"), Counts(60, 40, 100), BROKEN)))
    broken = "the data break the hard rule `mothers` in 40 of 100 groundings"
    assert (told.code, told.message) == ("W503", f"{broken}; violations of models may be the data's own")


def test_a_broken_denial_constraint_has_a_command_that_can_be_pasted() -> None:
    (told,) = broken_hard_rules(results((RuleInfo("ssn maxCount 1", "r", "hard", denial=True), Counts(0, 1, 1), BROKEN)))
    assert told.message.startswith("the data break the hard rule `ssn maxCount 1` in 1 grounding;")
    assert told.helps[0] == "`rulescore violations --dataset --rule 'ssn maxCount 1'` lists them"


def test_a_hard_rule_that_the_data_keep_is_not_told() -> None:
    assert not list(broken_hard_rules(results((RuleInfo("r", "r", "hard"), never(3), BROKEN))))


@pytest.mark.parametrize(
    ("weak", "strong", "told"),
    [
        (RuleInfo("weak", "r"), never(1000), True),
        (RuleInfo("weak", "r", "hard"), never(1000), False),
    ],
)
def test_violations_that_rest_on_few_cases_are_told(weak: RuleInfo, strong: Counts, told: bool) -> None:
    found = results((weak, never(9), Counts(0, 6, 6)), (RuleInfo("strong", "r"), strong, BROKEN))
    assert [problem.code for problem in few_cases(found)] == ["W504"] * told


def test_a_few_of_many_violations_may_rest_on_few_cases() -> None:
    found = results((RuleInfo("weak", "r"), never(9), BROKEN), (RuleInfo("strong", "r"), never(10), BROKEN))
    assert not list(few_cases(found))


def test_without_a_hard_rule_predictions_that_violate_any_rule_are_shown() -> None:
    findings = {"model": PredictionFindings(5, 0, 4, measured=True)}
    counts = Counts(4, 1, 5)
    _, (model,) = score([RuleInfo("r", "r")], [counts], {"model": [counts]}, {"model": SOME}, findings)
    assert violating_cell(model) == "4 of 9 break a rule"


def test_too_few_cases_are_asked_for_in_python() -> None:
    facts = {"q": [("a", "b")], "p": [("a", "b")]}
    rules = "one: p(X, Y) <- q(X, Y). functional p(X -> Y)."
    found = rulescore.score(facts, {"model": {"q": [("a", "c")]}}, rules, hard_needs=2)
    assert found.rules.to_pylist()[0]["kind"] == "undetermined"
    assert rulescore.audit(facts, rules).rules.to_pylist()[0]["rate_bound"] == pytest.approx(0.95)
    with pytest.raises(rulescore.InputError, match="hard_needs"):
        rulescore.audit(facts, rules, hard_needs=0)
