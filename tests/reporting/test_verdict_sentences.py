"""Every sentence of the first screen is true: over random results, each is read back and checked against the numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_results import Rows, made_result
from rulescore.comparison.comparing import ComparedResults, compare
from rulescore.reporting.sentences import Order, answer, details, matters, verdict, wilson
from rulescore.reporting.wording import frequency, percent
from rulescore.scoring.evaluation import Evaluation, RightPredictions
from rulescore.scoring.results import Counts, ModelResult, RuleInfo, RuleKind

PREDICTIONS = 120
DATASETS = (Counts(40, 0, 40), Counts(3, 0, 3), Counts(30, 10, 40), Counts(90, 1, 91), Counts())
RATES = (0.0, 0.0, 0.01, 0.05, 0.3, 0.5, 0.98, 1.0)


@dataclass(frozen=True)
class Case:
    evaluation: Evaluation
    compared: ComparedResults | None


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dataset = draw(st.lists(st.sampled_from(DATASETS), min_size=1, max_size=4))
    rules = [
        RuleInfo(f"r{number}", f"p{number}(X) <- q(X)", unrefutable=draw(st.booleans()) and not counts.refuted)
        for number, counts in enumerate(dataset)
    ]
    names = [f"m{number}" for number in range(draw(st.integers(1, 4)))]
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    made = {name: rows(random, [draw(st.sampled_from(RATES)) for _ in dataset], rules) for name in names}
    evaluation = made_result(dataset, made, PREDICTIONS, PREDICTIONS, rules)
    right = tuple(some_right(random, model) for model in evaluation.model_results) if draw(st.booleans()) else ()
    evaluation = replace(evaluation, right_results=right, model_results=tuple(map(with_judged, evaluation.model_results)))
    return Case(evaluation, compare(evaluation, draws=100) if draw(st.integers(0, 4)) else None)


def rows(random: np.random.Generator, rates: Sequence[float], rules: Sequence[RuleInfo]) -> Rows:
    """Each prediction takes part in some cases of each rule, and breaks it with the rule's rate."""
    taking = [random.random(PREDICTIONS) < 0.7 for _ in rates]
    rule = np.concatenate([np.full(part.sum(), number) for number, part in enumerate(taking)])
    prediction = np.concatenate([np.flatnonzero(part) for part in taking])
    broken = [
        (random.random(part.sum()) < rate) & (not info.unrefutable) for rate, part, info in zip(rates, taking, rules, strict=True)
    ]
    return {
        "rule": rule.astype(np.int64),
        "prediction": prediction,
        "refuted": np.concatenate(broken).astype(np.int64),
        "evaluable": np.ones(len(rule), np.int64),
        "query": prediction,
    }


def with_judged(model: ModelResult) -> ModelResult:
    assert model.findings is not None
    return replace(model, findings=replace(model.findings, new=PREDICTIONS, judged=model.findings.with_partner))


def some_right(random: np.random.Generator, model: ModelResult) -> RightPredictions:
    violating = model.violating or 0
    others = PREDICTIONS - violating
    return RightPredictions(
        model.name, violating, int(random.integers(0, violating + 1)), others, int(random.integers(0, others + 1))
    )


# An oracle that reads sentences.


def is_frequency(text: str, part: int, whole: int) -> bool:
    share = part / whole
    match text.lower().split():
        case ["none" | "0"]:
            return part == 0
        case ["all"]:
            return part == whole
        case ["more", "than", "9", "in", "10"]:
            return 0.9 < share < 1
        case [many, "in", times]:
            said = int(many) / int(times.replace(",", ""))
            return abs(share - said) <= max(0.05, 0.0) and abs(share / said - 1) <= 0.5
        case _:
            return False


def differs(case: Case, measure: str, better: str, worse: str) -> bool:
    """Whether the interval of the difference lies on the right side of 0."""
    assert case.compared is not None
    for row in case.compared.differences.to_pylist():
        if row["measure"] == measure and {row["first"], row["second"]} == {better, worse} and row["difference_low"] is not None:
            return row["difference_high"] < 0 if row["first"] == better else row["difference_low"] > 0
    return False


def counts_of(case: Case) -> dict[str, tuple[int, int]]:
    judged = [model for model in case.evaluation.model_results if model.violating_reason is None]
    return {model.name: (model.violating or 0, model.predictions.distinct) for model in judged}


def has_extreme(case: Case) -> bool:
    """Whether the intervals show a model that is worse, or better, than every other."""
    told = counts_of(case)
    return len(told) > 1 and any(
        all(differs(case, "violating", *(pair if is_best else pair[::-1])) for pair in pairs)
        for one in told
        for pairs in [[(one, other) for other in told if other != one]]
        for is_best in (True, False)
    )


def most_often(case: Case, found: re.Match[str]) -> None:
    told = counts_of(case)
    worst, often, best, seldom = found["worst"], found["often"], found["best"], found["seldom"]
    assert all(differs(case, "violating", other, worst) for other in told if other != worst)
    assert told[worst][0] == max(violating for violating, _ in told.values())
    assert is_frequency(often, *told[worst])
    if best is not None:
        assert all(differs(case, "violating", best, other) for other in told if other != best)
        assert is_frequency(seldom, *told[best])


def least_often(case: Case, found: re.Match[str]) -> None:
    told = counts_of(case)
    best = found["best"]
    assert all(differs(case, "violating", best, other) for other in told if other != best)
    assert is_frequency(found["seldom"], *told[best])
    if found["others"]:
        words = found["others"].split(" and ")
        for name in told.keys() - {best}:
            assert any(is_frequency(word, *told[name]) for word in words)


def not_told_apart(case: Case, found: re.Match[str]) -> None:
    told = counts_of(case)
    if case.compared is not None:
        assert not any(differs(case, "violating", one, other) for one in told for other in told)
    range_of(case, found)


def range_of(case: Case, found: re.Match[str]) -> None:
    told = counts_of(case)
    for group, choose in (("low", min), ("high", max)):
        share = choose(violating / whole for violating, whole in told.values())
        violating, whole = (0, 1) if found[group] == "0" else map(int, found[group].split(" of "))
        assert violating / whole == share


def no_order(case: Case, found: re.Match[str]) -> None:
    told = counts_of(case)
    assert any(differs(case, "violating", one, other) for one in told for other in told)
    assert not has_extreme(case)
    for group, choose in (("low", min), ("high", max)):
        share = choose(violating / whole for violating, whole in told.values())
        assert any(is_frequency(found[group], *numbers) for numbers in told.values() if numbers[0] / numbers[1] == share)


def every_figure(case: Case, found: re.Match[str]) -> None:
    """Each model with its figures, and the greatest share first."""
    said = re.findall(r"(m\d): (none|\d+) of (\d+)", found[0])
    told = counts_of(case)
    assert {name: (0 if part == "none" else int(part), int(whole)) for name, part, whole in said} == told
    shares = [told[name][0] / told[name][1] for name, _, _ in said]
    assert shares == sorted(shares, reverse=True)


def soft_times(case: Case, found: re.Match[str]) -> None:
    means = {model.name: model.soft_mean.value for model in case.evaluation.model_results if not model.unmeasured}
    said = {name: float(times) for times, name in re.findall(r"(\S+) times (?:as often as in the data )?by (m\d)", found[0])}
    assert said == {name: pytest.approx(value, rel=0.01) for name, value in means.items() if value is not None}


def no_soft_violation(case: Case, found: re.Match[str]) -> None:
    soft = [rule for rule in case.evaluation.rule_results if rule.kind is RuleKind.SOFT]
    measured = [model.name for model in case.evaluation.model_results if not model.unmeasured]
    assert soft
    assert not any(rule.models[name].counts.refuted for rule in soft for name in measured)


def same_figure(case: Case, found: re.Match[str]) -> None:
    violating, whole = map(int, found["low"].split(" of "))
    assert set(counts_of(case).values()) == {(violating, whole)}


def none_violates(case: Case, found: re.Match[str]) -> None:
    assert {violating for violating, _ in counts_of(case).values()} == {0}


def only_one(case: Case, found: re.Match[str]) -> None:
    ((name, numbers),) = counts_of(case).items()
    assert found["model"] == name
    assert is_frequency(found["often"], *numbers)


def nothing_judged(case: Case, found: re.Match[str]) -> None:
    assert counts_of(case) == {}


def no_hard_rule(case: Case, found: re.Match[str]) -> None:
    assert not any(rule.kind is RuleKind.HARD for rule in case.evaluation.rule_results)


def differences_counted(case: Case, found: re.Match[str]) -> None:
    told = list(counts_of(case))
    pairs = [(one, other) for place, one in enumerate(told) for other in told[place + 1 :]]
    apart = sum(differs(case, "violating", *pair) or differs(case, "violating", *reversed(pair)) for pair in pairs)
    text = found[0]
    if text.startswith("The difference"):
        assert len(pairs) == 1
        assert ("is not larger" in text) == (apart == 0)
    elif text.startswith("None"):
        assert (apart, len(pairs)) == (0, int(found["none"]))
    elif text.startswith("All"):
        assert apart == len(pairs) == int(found["apart"])
    else:
        assert (int(found["apart"]), int(found["pairs"])) == (apart, len(pairs))


def no_intervals(case: Case, found: re.Match[str]) -> None:
    assert case.compared is None


def right_counted(case: Case, found: re.Match[str]) -> None:
    one = next(one for one in case.evaluation.right_results if one.model == found["model"])
    assert int(found["violating"]) == one.violating > 0
    assert (0 if found["right"] == "none" else int(found["right"])) == one.violating_right
    assert found["share"] == (percent(one.violating_right, one.violating) if one.violating_right else None)
    assert found["others"] == percent(one.others_right, one.others)
    low, high = wilson(one.violating_right, one.violating)
    others_low, others_high = wilson(one.others_right, one.others)
    if found[0].startswith("It matters"):
        assert one.violating_right / one.violating < one.others_right / one.others
        assert high < others_low
    elif found[0].startswith("Careful"):
        assert one.violating_right > one.violating / 2 or one.violating_right / one.violating > one.others_right / one.others
    else:
        assert max(low, others_low) <= min(high, others_high)


def soft_told(case: Case, found: re.Match[str]) -> None:
    scores = {model.name: model.soft_score.value for model in case.evaluation.model_results if model.soft_score.value is not None}
    if best := found["best"]:
        assert all(differs(case, "soft_score", best, other) for other in scores if other != best)
        assert scores[best] == min(scores.values())
    if worst := found["worst"]:
        assert all(differs(case, "soft_score", other, worst) for other in scores if other != worst)
        assert scores[worst] == max(scores.values())
    assert not has_extreme(case)
    if alone := found["alone"]:
        assert all(differs(case, "soft_score", other, alone) for other in scores if other != alone)
    if "cannot be told apart" in found[0]:
        assert not any(differs(case, "soft_score", one, other) for one in scores for other in scores)


def silent_models(case: Case, found: re.Match[str]) -> None:
    assert set(re.split(", | and ", found["models"])).isdisjoint(counts_of(case))


def coverage_told(case: Case, found: re.Match[str]) -> None:
    shares = sorted(
        percent(model.judged, model.new) for model in case.evaluation.model_results if model.new and model.judged is not None
    )
    assert not has_extreme(case)
    assert {found["least"] or found["most"], found["most"]} <= set(shares)
    assert len(set(shares)) == 1 or found["least"] is not None


def kinds_counted(case: Case, found: re.Match[str]) -> None:
    kinds = [rule.kind for rule in case.evaluation.rule_results]
    assert (int(found["hard"]), int(found["soft"])) == (kinds.count(RuleKind.HARD), kinds.count(RuleKind.SOFT))
    if found["silent"]:
        assert int(found["silent"]) == sum(not rule.dataset.evaluable for rule in case.evaluation.rule_results)
    if found["unrefutable"]:
        assert int(found["unrefutable"]) == sum(rule.info.unrefutable for rule in case.evaluation.rule_results)


def few_counted(case: Case, found: re.Match[str]) -> None:
    broken = [
        rule
        for rule in case.evaluation.rule_results
        if rule.kind is RuleKind.HARD and any(one.counts.refuted for one in rule.models.values())
    ]
    assert int(found["broken"]) == len(broken)
    assert int(found["few"]) == sum(0 < rule.dataset.evaluable < 10 for rule in broken)


DOES = r"(contradicts?|breaks?) (what is known|a hard rule)"
FIGURE = r"(0|\d+ of \d+)"
MATTERS = (
    r"(It matters|Careful|Whether it matters cannot be told): of the (?P<violating>\d+) violating predictions? of (?P<model>m\d) "
    r"(?P<right>none|\d+) (is|are) right( \((?P<share>.+?)\))?, against (?P<others>\S+) of the others.*\."
)
DIFFERENCES = (
    r"(The difference|All (?P<all>\d+) differences|None of the (?P<none>\d+) differences|"
    r"(?P<apart>\d+) of (?P<pairs>\d+) differences) between models (is|are) (not )?"
    r"larger than chance explains \(95% intervals\)\."
)
SOFT = (
    r"By soft rules ((?P<best>m\d) is better than all others: RVS soft \S+?(; (?P<worst>m\d) is the worst: \S+)?|"
    r"(?P<alone>m\d) is worse than all others: RVS soft \S+|.*: RVS soft from \S+ to \S+)\."
)
KINDS = (
    r"(?P<hard>\d+) hard and (?P<soft>\d+) soft rules(; (?P<silent>\d+) of \d+ rules? have no case in the data that can be judged)?"
    r"(; (?P<unrefutable>\d+) can never be broken, whatever is predicted)?\."
)
MOST = (
    rf"(?P<worst>m\d) breaks hard rules (most often|more often than m\d): (?P<often>.+) of its predictions {DOES}\."
    r"( (?P<best>m\d): (?P<seldom>.+)\.)?"
)
LEAST = rf"(?P<best>m\d) breaks hard rules least often: (?P<seldom>.+) of its predictions {DOES}\.( The others: (?P<others>.+)\.)?"
BETWEEN = rf"between (?P<low>{FIGURE}) and (?P<high>{FIGURE}) of their predictions {DOES}\."
NO_ORDER = rf"Hard rules tell some of these models apart, but show no best and no worst: {BETWEEN.replace(FIGURE, '.+')}"
SAME = rf"By hard rules these models cannot be told apart: (?P<low>{FIGURE}) predictions of each model {DOES}\."
READ: tuple[tuple[str, Callable[[Case, re.Match[str]], None]], ...] = (
    (MOST, most_often),
    (LEAST, least_often),
    (SAME, same_figure),
    (rf"By hard rules these models cannot be told apart: {BETWEEN}", not_told_apart),
    (NO_ORDER, no_order),
    (rf"m\d: {FIGURE} predictions? {DOES}\.( m\d: (none of \d+|\d+ of \d+)\.)+", every_figure),
    (r"No prediction breaks a soft rule\.", no_soft_violation),
    (r"Soft rules are broken .+ times as often as in the data by m\d.*\.", soft_times),
    (rf"Between (?P<low>{FIGURE}) \(m\d\) and (?P<high>{FIGURE}) \(m\d\) of their predictions {DOES}\.", range_of),
    (r"No prediction of .+ breaks a hard rule\.", none_violates),
    (r"None of the \d+ predictions of m\d breaks a hard rule\.", none_violates),
    (rf"(?P<often>.+) of the predictions of (?P<model>m\d) {DOES}\.", only_one),
    (r"There is no hard rule, so no prediction is wrong by the rules alone\.", no_hard_rule),
    (r"Hard rules say nothing of (m\d|these models): none of their predictions could be judged\.", nothing_judged),
    (DIFFERENCES, differences_counted),
    (r"Without the contributions of single predictions there are no intervals, and no order of the models\.", no_intervals),
    (MATTERS, right_counted),
    (SOFT, soft_told),
    (r"Hard rules say nothing of (?P<models>.+) \((unmeasured|0, none judged)\)\.", silent_models),
    (r"Rules could judge (between (?P<least>\S+%) and )?(?P<most>\S+%) of the models' new predictions\.", coverage_told),
    (KINDS, kinds_counted),
    (r"(?P<few>\d+) of (?P<broken>\d+) broken hard rules rest on fewer than 10 cases in the data\.", few_counted),
)


@settings(max_examples=150)
@given(cases())
def test_every_sentence_is_true(case: Case):
    order = None if case.compared is None else Order.of(case.compared.differences, case.compared.level)
    for sentence in (answer(case.evaluation, order), *details(case.evaluation, order), *verdict(case.evaluation)):
        read = [(check, found) for pattern, check in READ if (found := re.fullmatch(pattern, sentence.text))]
        assert read, sentence.text
        for check, found in read:
            if check is differences_counted and found["all"]:
                found = re.fullmatch(r"All (?P<apart>\d+) differences .*", sentence.text) or found
            check(case, found)


def test_an_order_that_the_comparison_does_not_bear_out_is_not_told():
    random = np.random.default_rng(0)
    rules = [RuleInfo("r0", "p0(X) <- q(X)")]
    made = {name: rows(random, [rate], rules) for name, rate in (("few", 0.02), ("more", 0.04))}
    evaluation = made_result([Counts(40, 0, 40)], made, PREDICTIONS, PREDICTIONS, rules)
    compared = compare(evaluation)
    text = answer(evaluation, Order.of(compared.differences, 0.95)).text
    assert text.startswith("By hard rules these models cannot be told apart: between ")


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 9, "none"),
        (9, 9, "all"),
        (46, 5_878, "1 in 128"),
        (1_923, 7_335, "1 in 4"),
        (1, 3, "1 in 3"),
        (3, 10, "3 in 10"),
        (42, 100, "4 in 10"),
        (1, 2, "1 in 2"),
        (96, 100, "more than 9 in 10"),
        (3, 23_631, "1 in 7,877"),
    ],
)
def test_a_share_is_told_as_people_count(part: int, whole: int, words: str):
    assert frequency(part, whole) == words


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_frequency_is_near_its_share(part: int, more: int):
    text = frequency(part, part + more - 1)
    assert is_frequency(text, part, part + more - 1)


@pytest.mark.parametrize(
    ("violating", "predictions", "words"),
    [
        (2, 3, "2 of the 3 predictions of m contradict what is known."),
        (1, 2, "1 of the 2 predictions of m contradicts what is known."),
        (3, 3, "All of the predictions of m contradict what is known."),
        (14, 21, "7 in 10 of the predictions of m contradict what is known."),
    ],
)
def test_of_few_predictions_the_number_is_told(violating: int, predictions: int, words: str):
    rule = np.zeros(violating, np.int64)
    made = {"m": {"rule": rule, "prediction": np.arange(violating), "refuted": rule + 1, "evaluable": rule + 1}}
    evaluation = made_result([Counts(40, 0, 40)], made, predictions, predictions, [RuleInfo("r", "p(X) <- q(X)")])
    assert answer(evaluation, None).text == words


def test_violations_that_are_mostly_right_are_a_warning():
    sentence = matters([RightPredictions("model", violating=100, violating_right=90, others=100, others_right=95)])
    assert sentence is not None
    assert sentence.text.startswith(
        "Careful: of the 100 violating predictions of model 90 are right (90.0%), against 95.0% of the others."
    )


def test_wilson_holds_the_share():
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-12)
    assert math.isclose(wilson(5, 10)[0], 0.2366, abs_tol=1e-4)
