"""The short answer fits on a screen, says what it leaves out, and marks the best values."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.reporting.listing import Appearance, CellKind, Column, Format, Shown, Tone, share_of
from rulescore.reporting.render import render
from rulescore.reporting.short import Beside, models_listing, rules_listing, short_listings
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo, RuleKind
from rulescore.scoring.score import most_telling, score, separation


def made(rules: list[tuple[Counts, Counts, Counts]], *, measured: tuple[bool, bool] = (True, True)) -> Evaluation:
    """Rules with their counts over the data, under a model `first` and under a model `second`."""
    infos = [RuleInfo(f"f.rules:{number}", f"head{number}(X, Y) <- body{number}(X, Y)") for number in range(len(rules))]
    models = {"first": [one for _, one, _ in rules], "second": [two for _, _, two in rules]}
    brought = dict.fromkeys(models, PredictionCounts(1000, 1000, 1000, 0, 0))
    findings = {
        "first": PredictionFindings(900, 39, 50, measured=measured[0]),
        "second": PredictionFindings(900, 4, 50, measured=measured[1]),
    }
    results = score(infos, [dataset for dataset, _, _ in rules], models, brought, findings)
    return Evaluation("definition", *results, DataSummary(5, 0, 0, 0, 5, 3))


HARD = Counts(10, 0, 10)
SOFT = Counts(50, 50, 100)


def test_five_hundred_rules_and_three_models_fit_on_a_screen() -> None:
    evaluation = made([(HARD if number % 5 else SOFT, Counts(1, number, number + 1), HARD) for number in range(509)])
    lines = render(evaluation, Format.TABLE, appearance=Appearance(100)).splitlines()
    assert len(lines) <= 47
    assert max(map(len, lines)) <= 100
    assert "20 of 509 rules" in " ".join(lines)
    assert render(evaluation, Format.TABLE, table=Shown.RULES).count("f.rules:") >= 200


def test_what_is_left_out_is_named_with_its_option() -> None:
    *_, note = short_listings(made([(HARD, HARD, HARD)] * 21))[0].notes
    assert "20 of 21 rules" in note
    assert {"`--table rules`", "`--detail`"} <= set(re.findall(r"`[^`]*`", note))


def test_a_rule_that_all_models_break_counts_like_one_that_separates_them() -> None:
    evaluation = made([(HARD, Counts(0, 9, 9), Counts(0, 9, 9)), (HARD, Counts(0, 9, 9), HARD), (HARD, HARD, HARD)])
    both, one, none = (separation(rule, ("first", "second")) for rule in evaluation.rule_results)
    assert (both, one, none) == (9, 9, 0)


def test_a_soft_rule_counts_by_what_goes_beyond_the_data() -> None:
    evaluation = made([(SOFT, Counts(50, 50, 100), Counts(40, 60, 100)), (SOFT, Counts(90, 10, 100), Counts(90, 10, 100))])
    assert [separation(rule, ("first", "second")) for rule in evaluation.rule_results] == [10, 0]


def test_half_of_the_places_are_kept_for_hard_rules() -> None:
    soft = [(SOFT, Counts(0, 1000, 1000), HARD)] * 30
    hard = [(HARD, Counts(0, 1, 1), HARD)] * 30
    chosen = most_telling(made(soft + hard).rule_results, ("first", "second"), 20)
    assert [rule.kind for rule in chosen] == [RuleKind.HARD] * 10 + [RuleKind.SOFT] * 10


def test_undetermined_rules_come_last() -> None:
    evaluation = made([(Counts(), Counts(0, 99, 99), HARD)] * 30 + [(HARD, HARD, HARD)])
    assert "f.rules:30" in [rule.info.name for rule in most_telling(evaluation.rule_results, ("first", "second"), 5)]


counts = st.integers(0, 9).flatmap(lambda refuted: st.builds(Counts, st.just(0), st.just(refuted), st.integers(refuted, 12)))


@given(st.lists(st.tuples(counts, counts, counts), max_size=30), st.integers(1, 20))
def test_no_rule_is_chosen_twice_and_none_is_forgotten_without_need(rules, most) -> None:
    evaluation = made(rules)
    chosen = [rule.info.name for rule in most_telling(evaluation.rule_results, ("first", "second"), most)]
    assert len(chosen) == len(set(chosen)) == min(most, len(rules))
    everything = most_telling(evaluation.rule_results, ("first", "second"))
    assert {rule.info.name for rule in everything} == {rule.info.name for rule in evaluation.rule_results}


def test_the_best_values_are_marked_where_models_differ() -> None:
    evaluation = made([(HARD, Counts(0, 3, 3), HARD)])
    listing = models_listing(evaluation)
    assert [column.key for column in listing.columns] == ["model", "violating", "hard_score", "soft_score"]
    assert listing.rows[0][1] == "39 of 1,000 (3.9%)"
    assert listing.best == {(1, 1), (1, 2)}
    detailed = models_listing(evaluation, detail=True)
    assert [column.key for column in detailed.columns] == [
        "model", "violating", "evaluable", "hard_score", "soft_score", "hard_mean", "soft_mean",
    ]  # fmt: skip
    assert detailed.best == {(1, 1), (1, 3), (1, 5)}
    assert models_listing(made([(HARD, HARD, HARD)])).best == {(1, 1)}


def test_a_verdict_in_words_stands_above_the_rules_and_these_above_the_models() -> None:
    rules, models, brought = short_listings(made([(HARD, Counts(0, 3, 3), HARD), (SOFT, SOFT, Counts(0, 9, 9))]))
    assert [listing.name for listing in (rules, models, brought)] == ["rules", "models", "predictions"]
    assert rules.lead == (
        "first: 39 of 1,000 predictions contradict what is known. second: 4 of 1,000.",
        "Soft rules are broken 2.00 times as often as in the data by second and 1.00 times by first.",
    )
    assert not models.lead


def test_words_are_explained_where_they_stand() -> None:
    explained = " ".join(short_listings(made([(HARD, HARD, HARD), (SOFT, SOFT, SOFT)]))[0].notes)
    assert all(f"{word}: " in explained for word in ("x of y", "judged", "hard", "soft"))
    assert "refuted" in explained
    assert "undetermined" not in explained


def test_an_unmeasured_model_is_never_best() -> None:
    evaluation = made([(HARD, Counts(0, 3, 3), HARD)], measured=(True, False))
    listing = models_listing(evaluation)
    assert listing.rows[1][1] == listing.rows[1][2] == "unmeasured"
    assert not {row for row, _ in listing.best} & {1}
    assert [column.heading for column in rules_listing(evaluation).columns] == [
        "rule", "kind", "data", "first", "second (unmeasured)", "text",
    ]  # fmt: skip


def test_accuracy_has_a_place_beside_the_scores() -> None:
    evaluation = made([(HARD, HARD, HARD)])
    beside = Beside(Column("accuracy", "accuracy", CellKind.RATE), {"first": 0.25, "second": 0.75})
    listing = models_listing(evaluation, [beside])
    column = [column.key for column in listing.columns].index("accuracy")
    assert [row[column] for row in listing.rows] == [0.25, 0.75]
    assert (1, column) in listing.best


def test_colours_say_what_the_figures_say() -> None:
    evaluation = made([(HARD, Counts(0, 3, 3), HARD), (SOFT, Counts(9, 1, 10), Counts(1, 9, 10)), (SOFT, SOFT, SOFT)])
    tones = rules_listing(evaluation).tones
    assert tones == {(0, 3): Tone.BAD, (0, 4): Tone.GOOD, (1, 3): Tone.GOOD, (1, 4): Tone.BAD}
    coloured = render(evaluation, Format.TABLE, appearance=Appearance(100, colour=True))
    assert "\x1b[31m" in coloured
    plain = render(evaluation, Format.TABLE, appearance=Appearance(100))
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()] == plain.splitlines()


def test_an_evaluation_without_models_has_the_rules_that_the_data_break(audit: Evaluation) -> None:
    (listing,) = short_listings(audit)
    assert [column.key for column in listing.columns] == ["rule", "kind", "data", "text"]
    assert "1,234,567" not in render(audit, Format.TABLE)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_the_text_of_a_rule_is_cut_or_below_its_row_but_never_folded_or_left_out(width: int) -> None:
    evaluation = made([(HARD, Counts(0, 3, 3), HARD)] * 3)
    lines = render(evaluation, Format.TABLE, table=Shown.RULES, appearance=Appearance(width)).splitlines()
    assert len([line for line in lines if line.startswith("f.rules:")]) == 3
    assert len([line for line in lines if "head" in line]) == 3
    (own,) = [line for line in lines if "head0(X, Y)" in line]
    assert own.startswith("f.rules:" if width >= 60 else "  head0")


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(254, 6580, "254 of 6,580 (3.9%)"), (3, 23_631, "3 of 23,631 (<0.1%)"), (0, 5, "0 of 5 (0.0%)"), (0, 0, "0 of 0")],
)
def test_a_part_has_its_share_beside(part: int, whole: int, text: str) -> None:
    assert share_of(part, whole) == text
