"""Scores are arithmetic on counts: no database is needed to say what they are."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.scoring.results import Counts, Measure, ModelResult, PredictionCounts, RuleInfo, RuleKind, RuleResult
from rulescore.scoring.score import score, violated_denials

SOME = PredictionCounts(rows=1, kept=1, distinct=1, duplicates=0, already_observed=0)


def scored(*rules: tuple[RuleInfo, Counts, Counts]) -> tuple[tuple[RuleResult, ...], ModelResult]:
    """One model over rules given with their dataset counts and the model's counts."""
    results, models = score(
        [info for info, _, _ in rules],
        [dataset for _, dataset, _ in rules],
        {"model": [found for _, _, found in rules]},
        {"model": SOME},
    )
    return results, models[0]


def rule(name: str = "r", kind: str | None = None, weight: float = 1.0, denial: bool = False) -> RuleInfo:
    return RuleInfo(name, name, kind, weight, denial)


def counts(confirmed: int, refuted: int) -> Counts:
    return Counts(confirmed, refuted, confirmed + refuted)


NONE = Counts()


@pytest.mark.parametrize(
    ("info", "dataset", "kind", "reason"),
    [
        (rule(kind="hard"), counts(1, 1), RuleKind.HARD, "declared hard"),
        (rule(kind="soft"), counts(1, 0), RuleKind.SOFT, "declared soft"),
        (rule(kind="soft"), NONE, RuleKind.SOFT, "declared soft"),
        (rule(), counts(1234, 0), RuleKind.HARD, "the data never contradict it (0 of 1,234)"),
        (rule(), counts(1000, 234), RuleKind.SOFT, "the data contradict it (234 of 1,234)"),
        (rule(), NONE, RuleKind.UNDETERMINED, "no evaluable grounding in the data"),
        (rule(denial=True), NONE, RuleKind.HARD, "a denial constraint that the data never violate"),
        (rule(denial=True), counts(0, 3), RuleKind.SOFT, "the data contradict it (3 of 3)"),
    ],
)
def test_a_kind_is_declared_or_follows_from_the_data(info: RuleInfo, dataset: Counts, kind: RuleKind, reason: str) -> None:
    (result,), _ = scored((info, dataset, NONE))
    assert (result.kind, result.kind_reason) == (kind, reason)


def test_a_hard_rule_scores_its_violations() -> None:
    (result,), model = scored((rule(), counts(10, 0), counts(5, 7)))
    assert result.models["model"].score == Measure(7.0)
    assert model.hard_score == Measure(7.0)


def test_a_soft_rule_scores_the_ratio_of_the_rates() -> None:
    (result,), model = scored((rule(), counts(9, 1), counts(8, 2)))
    assert result.models["model"].score == Measure(2.0)
    assert model.soft_score == Measure(2.0)


def test_the_mix_of_the_data_scores_one() -> None:
    (result,), _ = scored((rule(), counts(93, 7), counts(930, 70)))
    assert result.models["model"].score == Measure(1.0)


@pytest.mark.parametrize(
    ("info", "dataset", "found", "reason"),
    [
        (rule(), counts(9, 1), NONE, "no prediction takes part"),
        (rule(kind="soft"), NONE, counts(1, 1), "no evaluable grounding in the data"),
        (rule(kind="soft"), counts(5, 0), counts(1, 1), "dataset rate is 0"),
        (rule(), NONE, counts(1, 1), "neither hard nor soft"),
    ],
)
def test_an_undefined_score_has_its_reason(info: RuleInfo, dataset: Counts, found: Counts, reason: str) -> None:
    (result,), model = scored((info, dataset, found))
    measure = result.models["model"].score
    assert measure.value is None
    assert measure.reason is not None
    assert reason in measure.reason
    assert model.soft_score.value is None


def test_the_hard_score_is_a_weighted_mean_over_all_hard_rules() -> None:
    _, model = scored(
        (rule("a", weight=3), counts(5, 0), counts(0, 2)),
        (rule("b"), counts(5, 0), counts(0, 10)),
        (rule("c"), counts(5, 0), NONE),
    )
    assert model.hard_score == Measure(16 / 5)
    assert model.hard_mean == Measure(16 / 4)


def test_weights_act_on_hard_rules_only() -> None:
    light, heavy = (
        scored((rule("a", weight=weight), counts(9, 1), counts(8, 2)), (rule("b"), counts(9, 1), counts(1, 2)))[1]
        for weight in (1.0, 100.0)
    )
    assert light == heavy


def test_weights_that_sum_to_zero_leave_the_hard_score_undefined() -> None:
    _, model = scored((rule(weight=0), counts(5, 0), counts(0, 2)))
    assert model.hard_score == Measure(None, "the weights of these hard rules sum to 0")


def test_weights_as_large_as_floats_can_be_do_not_overflow() -> None:
    _, model = scored((rule("a", weight=1.7e308), counts(5, 0), counts(0, 2)), (rule("b", weight=1.7e308), counts(5, 0), NONE))
    assert model.hard_score == Measure(1.0)


def test_aggregates_without_rules_of_their_kind_are_undefined() -> None:
    _, hard_only = scored((rule(), counts(5, 0), counts(1, 1)))
    _, soft_only = scored((rule(), counts(5, 5), counts(1, 1)))
    assert hard_only.soft_score == hard_only.soft_mean == Measure(None, "there is no soft rule")
    assert soft_only.hard_score == Measure(None, "there is no hard rule")


def test_shares_run_over_hard_and_undetermined_rules_too() -> None:
    results, model = scored(
        (rule("hard"), counts(5, 0), counts(2, 0)),
        (rule("soft"), counts(1, 1), counts(0, 3)),
        (rule("undetermined"), NONE, counts(5, 0)),
    )
    assert [result.models["model"].share.value for result in results] == [0.2, 0.3, 0.5]
    assert model.soft_score == Measure(pytest.approx(0.3 * 2))
    assert model.soft_mean == Measure(2.0)


def test_shares_are_undefined_when_no_rule_has_an_evaluable_grounding() -> None:
    (result,), _ = scored((rule(), counts(5, 0), NONE))
    assert result.models["model"].share == Measure(None, "no rule has an evaluable grounding with a prediction")


def test_counts_beyond_any_machine_integer_are_exact() -> None:
    huge = 10**40
    (result,), model = scored((rule(), counts(huge, huge), counts(0, 3 * huge)))
    assert result.dataset.rate == 0.5
    assert model.soft_score == Measure(2.0)


def test_a_denial_constraint_that_the_data_violate_is_warned_about() -> None:
    infos = (rule("a", denial=True), rule("b", kind="hard", denial=True), rule("c"))
    results, _ = scored(*((replace(info, text="false <- p(X)"), counts(0, 3), counts(0, 1)) for info in infos))
    (warning,) = violated_denials(results)
    assert "`a`" in warning.message
    assert results[0].models["model"].score == Measure(1.0)


def test_models_share_nothing() -> None:
    infos, dataset = [rule("a"), rule("b")], [counts(5, 0), counts(5, 5)]
    one, other = [counts(1, 2), counts(3, 4)], [counts(50, 60), NONE]
    both = score(infos, dataset, {"one": one, "other": other}, {"one": SOME, "other": SOME})[1]
    assert both[0] == score(infos, dataset, {"one": one}, {"one": SOME})[1][0]
    assert both[1] == score(infos, dataset, {"other": other}, {"other": SOME})[1][0]


def test_without_models_there_are_rules_only() -> None:
    results, models = score([rule()], [counts(1, 1)], {}, {})
    assert (len(results), results[0].models, models) == (1, {}, ())


@st.composite
def any_counts(draw: st.DrawFn) -> Counts:
    """Counts of a rule: a grounding may be both confirmed and refuted."""
    confirmed, refuted = draw(st.integers(0, 50)), draw(st.integers(0, 50))
    return Counts(confirmed, refuted, draw(st.integers(max(confirmed, refuted), confirmed + refuted)))


@st.composite
def any_rules(draw: st.DrawFn) -> list[tuple[RuleInfo, Counts, Counts]]:
    return [
        (
            rule(
                f"r{number}",
                draw(st.sampled_from([None, None, "hard", "soft"])),
                draw(st.sampled_from([0.0, 0.1, 1.0, 2.5])),
            ),
            draw(any_counts()),
            draw(any_counts()),
        )
        for number in range(draw(st.integers(1, 6)))
    ]


@given(any_rules())
def test_every_measure_is_in_its_range_or_has_a_reason(rules: list[tuple[RuleInfo, Counts, Counts]]) -> None:
    results, model = scored(*rules)
    found = [result.models["model"] for result in results]
    measures = [model.hard_score, model.soft_score, model.hard_mean, model.soft_mean]
    for measure in [*measures, *(result.score for result in found), *(result.share for result in found)]:
        assert (measure.value is None) == (measure.reason is not None)
        assert measure.value is None or (math.isfinite(measure.value) and measure.value >= 0)
    shares = [result.share.value for result in found]
    assert all(share is None for share in shares) or sum(share or 0 for share in shares) == pytest.approx(1)


@given(any_rules())
def test_a_mean_lies_between_the_scores_it_is_made_of(rules: list[tuple[RuleInfo, Counts, Counts]]) -> None:
    results, model = scored(*rules)
    for mean, kind in ((model.hard_mean, RuleKind.HARD), (model.soft_mean, RuleKind.SOFT)):
        values = [value for result in results if result.kind is kind and (value := result.models["model"].score.value) is not None]
        if mean.value is not None:
            assert min(values) * (1 - 1e-12) <= mean.value <= max(values) * (1 + 1e-12)


@given(any_rules(), st.integers(0, 5))
def test_one_more_violation_never_lowers_a_score(rules: list[tuple[RuleInfo, Counts, Counts]], index: int) -> None:
    """A confirmed grounding becomes a refuted one: evaluable counts, and with them the shares, stay."""
    index %= len(rules)
    info, dataset, before = rules[index]
    if before.evaluable != before.confirmed + before.refuted or not before.confirmed:
        return
    after = Counts(before.confirmed - 1, before.refuted + 1, before.evaluable)
    worse = [*rules[:index], (info, dataset, after), *rules[index + 1 :]]
    (old_rules, old), (new_rules, new) = scored(*rules), scored(*worse)
    pairs = [
        (old.hard_score, new.hard_score),
        (old.soft_score, new.soft_score),
        (old.hard_mean, new.hard_mean),
        (old.soft_mean, new.soft_mean),
        (old_rules[index].models["model"].score, new_rules[index].models["model"].score),
    ]
    for lower, higher in pairs:
        assert (lower.value is None) == (higher.value is None)
        assert lower.value is None or higher.value is None or lower.value <= higher.value


@given(any_rules(), st.randoms(use_true_random=False))
def test_the_order_of_rules_changes_nothing(rules: list[tuple[RuleInfo, Counts, Counts]], order: random.Random) -> None:
    results, model = scored(*rules)
    shuffled = list(rules)
    order.shuffle(shuffled)
    other_results, other_model = scored(*shuffled)
    assert model == other_model
    assert {result.info.name: result for result in results} == {result.info.name: result for result in other_results}
