"""What gates say, where they are not understood, and what meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import Diagnostic, InputError, Source, Span, render
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.gate_outcomes import GateReading, Outcome, judge, worst_rules
from rulescore.scoring.gates import (
    Gate,
    GateOperator,
    Limit,
    OfModel,
    OfRule,
    Quantity,
    RuleQuantity,
    Threshold,
    Worse,
    gate_problems,
    parse_gate,
    read_gate,
    read_gates,
)
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo
from rulescore.scoring.score import score
from rulescore.setting.choices import GateSeverity
from rulescore.setting.model import GateText


def number(text: str, percent: bool = False) -> Threshold:
    return Threshold(Fraction(text), percent)


SCORE = OfRule("aunts", RuleQuantity.SCORE)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("hard > 0", Limit(OfModel(Quantity.HARD), GateOperator.ABOVE, number("0"))),
        (" soft>=1.2 ", Limit(OfModel(Quantity.SOFT), GateOperator.AT_LEAST, number("1.2"))),
        ("soft ≥ 1.2", Limit(OfModel(Quantity.SOFT), GateOperator.AT_LEAST, number("1.2"))),
        ("violating > 1%", Limit(OfModel(Quantity.VIOLATING), GateOperator.ABOVE, number("1", True))),
        ("violating_any > 1", Limit(OfModel(Quantity.VIOLATING_ANY), GateOperator.ABOVE, number("1"))),
        ("evaluable < 1e2", Limit(OfModel(Quantity.EVALUABLE), GateOperator.BELOW, number("100"))),
        ("hard_mean <= .5", Limit(OfModel(Quantity.HARD_MEAN), GateOperator.AT_MOST, number("0.5"))),
        ("rule(aunts).score > 3", Limit(SCORE, GateOperator.ABOVE, number("3"))),
        ("rule( aunts ) . score > 3", Limit(SCORE, GateOperator.ABOVE, number("3"))),
        ("rule('aunts').score > 3", Limit(SCORE, GateOperator.ABOVE, number("3"))),
        (
            "rule(family.rules:12).rate > 5 %",
            Limit(OfRule("family.rules:12", RuleQuantity.RATE), GateOperator.ABOVE, number("5", True)),
        ),
        ("rule(p(X) <- q(X)).share > 0.5", Limit(OfRule("p(X) <- q(X)", RuleQuantity.SHARE), GateOperator.ABOVE, number("0.5"))),
        (r'rule("a\") b").refuted > 0', Limit(OfRule('a") b', RuleQuantity.REFUTED), GateOperator.ABOVE, number("0"))),
        ("worse than baseline.json by 5%", Worse("baseline.json", number("5", True))),
        ("worse than baseline.json", Worse("baseline.json", number("0", True))),
        ("worse than saved by me/b.json by 5%", Worse("saved by me/b.json", number("5", True))),
        ('worse than "by 5%" by 5%', Worse("by 5%", number("5", True))),
        ("soft worse than b.json by 0.1", Worse("b.json", number("0.1"), OfModel(Quantity.SOFT))),
        ("rule(aunts).score worse than b.json", Worse("b.json", number("0", True), SCORE)),
    ],
)
def test_a_gate_is_read_as_it_is_meant(text: str, read: Limit | Worse) -> None:
    gate = parse_gate(text)
    assert gate == Gate(text.strip(), read)


@pytest.mark.parametrize(
    ("text", "code", "message", "marked"),
    [
        ("", "E520", "expected a measure, found the end of the gate", " "),
        ("hrad > 0", "E520", "expected a measure, found `hrad`", "hrad"),
        ("> 0", "E520", "expected a measure, found `>`", ">"),
        ("hard", "E520", "expected a comparison, found the end of the gate", " "),
        ("hard = 0", "E520", "expected a comparison, found `=`", "="),
        ("hard > many", "E520", "expected a number, found `many`", "many"),
        ("hard > -1", "E520", "expected a number, found `-1`", "-1"),
        ("hard > 0 and soft > 1", "E520", "expected the end of the gate, found `and`", "and"),
        ("evaluable < 1,000", "E520", "expected the end of the gate, found `,000`", ",000"),
        ("hard > 1%", "E520", "`hard` is not a share, so it cannot be compared with a percentage", "1%"),
        ("rule > 3", "E520", "expected the name of a rule in parentheses, found `>`", ">"),
        ("rule(aunts.score > 3", "E520", "a parenthesis is not closed", "("),
        ("rule().score > 3", "E520", "the name of the rule is missing", ")"),
        ("rule('aunts).score > 3", "E520", "a quotation is not closed", "'aunts).score > 3"),
        ("rule(aunts) > 3", "E520", "expected one of `.score`, `.rate`, `.refuted`, `.evaluable`, `.share`, found `>`", ">"),
        (
            "rule(aunts).scor > 3",
            "E520",
            "expected one of `.score`, `.rate`, `.refuted`, `.evaluable`, `.share`, found `scor`",
            "scor",
        ),
        ("worse", "E520", "expected `than` and a saved result, found the end of the gate", " "),
        ("worse than", "E520", "the saved result is missing", " "),
        ("worse than by 5%", "E520", "the saved result is missing", "b"),
        ("worse than b.json by", "E520", "expected a number, found the end of the gate", " "),
        ("worse than b.json by 0.1", "E520", "an amount needs a measure", "0.1"),
        ("evaluable worse than b.json", "E520", "more of `evaluable` is neither better nor worse", "evaluable worse"),
    ],
)
def test_what_is_not_understood_is_pointed_at(text: str, code: str, message: str, marked: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_gate(text)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == (code, message)
    assert problem.place is not None
    assert problem.place.column is not None
    start = problem.place.column - 1
    assert f"{text} "[start : start + problem.place.length] == marked


def test_a_misspelt_word_is_recognised() -> None:
    with pytest.raises(InputError, match=r"did you mean `violating`\?"):
        parse_gate("violatng > 0")
    with pytest.raises(InputError, match=r"did you mean `refuted`\?"):
        parse_gate("rule(a).refutd > 0")


def test_the_caret_stands_in_the_file_that_has_the_gate() -> None:
    source = Source("rulescore.toml", '[gates.one]\nfail_if = "hard >> 0"\n')
    with pytest.raises(InputError) as caught:
        read_gate(GateText("hard >> 0", Span(source, 23, 32)))
    shown = render(caught.value.problems[0])
    assert " --> rulescore.toml:2:17\n" in shown
    assert '2 | fail_if = "hard >> 0"\n  |                 ^^\n' in shown


def problems_of(text: str) -> tuple[Diagnostic, ...]:
    try:
        parse_gate(text)
    except InputError as error:
        return error.problems
    return ()


@given(st.text(max_size=30) | st.from_regex(r"(rule\(\w*\)\.score|hard|worse than \w*) ?[<>]?=? ?[0-9.]*%?( by 5%)?"))
def test_any_text_is_a_gate_or_is_pointed_at(text: str) -> None:
    assert all(problem.place is not None and problem.place.column is not None for problem in problems_of(text))


def test_rules_and_models_that_are_not_there_are_told_with_their_places() -> None:
    gates = [parse_gate("rule(aunt).score > 3"), parse_gate("hard > 0", models=("godo", "bad"))]
    problems = gate_problems(gates, ["aunts"], ["good", "bad"])
    assert [problem.message for problem in problems] == ["no rule is named `aunt`", "no model is named `godo`"]
    assert problems[0].place is not None
    assert problems[0].place.column == 6
    assert problems[0].helps == ("did you mean `aunts`?",)
    assert gate_problems([parse_gate("hard > 0", models=("bad",)), parse_gate("worse than b")], [], ["bad"]) == []


RULES = (
    (RuleInfo("aunts", "aunts"), Counts(8, 0, 8)),
    (RuleInfo("denial", "denial", denial=True), Counts()),
    (RuleInfo("wives", "wives"), Counts(1, 1, 2)),
    (RuleInfo("idle", "idle", unrefutable=True), Counts(3, 0, 3)),
    (RuleInfo("open", "open"), Counts()),
)


def evaluation(
    found: dict[str, list[Counts]],
    *,
    measured: bool = True,
    violating: int = 2,
    distinct: int = 200,
    rules: Sequence[tuple[RuleInfo, Counts]] = RULES,
    **further: Any,
) -> Evaluation:
    results = score(
        [info for info, _ in rules],
        [dataset for _, dataset in rules],
        found,
        dict.fromkeys(found, PredictionCounts(distinct, distinct, distinct, 0, 0)),
        {model: PredictionFindings(9, violating, violating + 1, measured=measured, **further) for model in found},
    )
    return Evaluation("definition", *results, DataSummary(0, 0, 0, 0, 0, 0))


COUNTS = [Counts(1, 3, 4), Counts(0, 1, 1), Counts(0, 2, 2), Counts(5, 0, 5), Counts(1, 0, 1)]
MODEL = evaluation({"model": COUNTS})


def outcome(text: str, of: Evaluation = MODEL, before: Evaluation | None = None) -> Outcome:
    (found,) = judge([parse_gate(text)], of, {} if before is None else {"before.json": before})
    return found


@pytest.mark.parametrize(
    ("text", "met", "value"),
    [
        # Three hard rules with 3, 1 and 0 violations; a soft rule, violated twice as often as in the data, in 2 of 13 groundings.
        ("hard > 1", False, 4 / 3),
        ("hard > 2", True, 4 / 3),
        ("soft > 0.3", False, 4 / 13),
        ("soft_mean > 2", True, 2.0),
        ("soft_mean >= 2", False, 2.0),
        ("violating > 1%", True, 0.01),
        ("violating >= 1%", False, 0.01),
        ("violating > 1", False, 2),
        ("violating > 2", True, 2),
        ("violating_any > 1.4%", False, 0.015),
        ("evaluable < 14", False, 13),
        ("evaluable < 13", True, 13),
        ("rule(aunts).score > 2", False, 3.0),
        ("rule(aunts).rate > 75%", True, 0.75),
        ("rule(aunts).rate >= 0.75", False, 0.75),
        ("rule(denial).refuted > 0", False, 1),
        ("rule(wives).score > 2", True, 2.0),
        ("rule(open).evaluable < 2", False, 1),
        ("rule(aunts).share > 30%", False, 4 / 13),
    ],
)
def test_a_gate_is_met_unless_its_comparison_holds(text: str, met: bool, value: float) -> None:
    (reading,) = outcome(text).readings
    assert (reading.met, reading.value, reading.reason) == (met, value, None)


def test_what_says_nothing_meets_no_gate() -> None:
    unmeasured = evaluation({"model": [Counts()] * 5}, measured=False, violating=0)
    for text in ("hard > 0", "soft > 9", "violating > 50%", "evaluable < 0", "rule(aunts).score > 9"):
        found = outcome(text, unmeasured)
        assert not found.met
        assert found.fails
        assert (found.readings[0].reason or "").startswith("unmeasured: ")
    for text in ("rule(idle).score > 9", "rule(idle).refuted > 9", "rule(idle).evaluable < 1"):
        assert outcome(text).readings[0].reason == "unrefutable: nothing declared could refute it"
        assert not outcome(text).met
    found = outcome("rule(open).score > 9")
    assert (found.met, found.readings[0].value) == (False, None)
    assert "neither hard nor soft" in (found.readings[0].reason or "")
    silent = evaluation({"model": [Counts()] * 5}, violating=0)
    for text in ("hard > 0", "violating > 1%", "violating_any > 1%", "rule(aunts).score > 0", "rule(aunts).refuted > 0"):
        assert not outcome(text, silent).met
        assert (outcome(text, silent).readings[0].reason or "").startswith("0, none judged: ")
        assert outcome(f"{text} if judged", silent).met
    assert not outcome("rule(aunts).rate > 0.5 if judged", silent).met
    assert not outcome("soft > 1", silent).met


def test_without_hard_rules_nobody_is_praised_for_violating_none() -> None:
    soft = evaluation({"model": COUNTS[2:3]}, rules=RULES[2:3])
    assert outcome("violating > 50%", soft).readings[0].reason == "there is no hard rule"
    idle = evaluation({"model": COUNTS[3:4]}, rules=RULES[3:4])
    assert (outcome("violating > 50%", idle).readings[0].reason or "").startswith("unrefutable: ")
    assert outcome("violating_any > 50%", soft).met


def test_soft_rules_alone_are_compared_with_a_baseline() -> None:
    soft = evaluation({"model": COUNTS[2:3]}, rules=RULES[2:3])
    assert outcome("worse than before.json by 5%", soft, soft).met


def test_a_denial_constraint_judges_the_linked_predictions_that_keep_it() -> None:
    kept = evaluation({"model": [Counts()] * 5}, violating=0, denials=frozenset({1}))
    assert outcome("hard > 0", kept).met
    assert not outcome("rule(aunts).score > 0", kept).met


def test_a_share_of_new_predictions() -> None:
    counts = {"new": 50, "violating_new": 2, "linked": 40, "concerned": 45, "judged": 30}
    some = evaluation({"model": COUNTS}, **counts)
    for text, value in {"violating_new > 4%": 0.04, "linked < 80%": 0.8, "judged < 30": 30, "new < 25%": 0.25}.items():
        found = outcome(text, some)
        assert (found.met, found.readings[0].value) == (True, value)
    assert not outcome("judged < 61%", some).met


def test_unrefutable_rules_among_others_are_mentioned() -> None:
    assert outcome("hard > 2").notes == ("1 of 3 rules looked at cannot be refuted",)
    assert outcome("soft > 2").notes == ()


def test_a_warning_does_not_fail_and_without_models_nothing_is_met() -> None:
    warn = parse_gate("hard > 0", severity=GateSeverity.WARN)
    (found,) = judge([warn], MODEL)
    assert not found.met
    assert not found.fails
    (found,) = judge([parse_gate("hard > 0")], evaluation({}))
    assert found.model is None
    assert found.fails


def test_a_gate_is_held_against_the_models_it_names() -> None:
    both = evaluation({"a": COUNTS, "b": COUNTS})
    assert [one.model for one in judge([parse_gate("hard > 0")], both)] == ["a", "b"]
    assert [one.model for one in judge([parse_gate("hard > 0", models=("b",))], both)] == ["b"]


def test_worse_than_a_saved_result_compares_what_both_have() -> None:
    same = outcome("worse than before.json", MODEL, MODEL)
    assert same.met
    assert [reading.measure for reading in same.readings] == ["hard", "soft", "violating"]
    better = evaluation({"model": [Counts(1, 2, 3), *COUNTS[1:]]}, violating=1)
    found = outcome("worse than before.json by 20%", MODEL, better)
    assert [(reading.measure, reading.met) for reading in found.readings] == [("hard", False), ("soft", True), ("violating", False)]
    hard = found.readings[0]
    assert (hard.value, hard.saved, hard.bound) == (4 / 3, 1.0, 1.2)
    assert outcome("hard worse than before.json by 34%", MODEL, better).met
    assert not outcome("hard worse than before.json by 0.3", MODEL, better).met
    assert outcome("hard worse than before.json by 0.34", MODEL, better).met
    assert outcome("violating worse than before.json by 1", MODEL, better).met
    assert not outcome("rule(aunts).score worse than before.json", MODEL, better).met


def test_five_percent_more_than_one_is_five_percent_more() -> None:
    before, now = (
        replace(
            MODEL, model_results=(replace(MODEL.model_results[0], hard_score=replace(MODEL.model_results[0].hard_score, value=v)),)
        )
        for v in (1.0, 1.05)
    )
    assert outcome("hard worse than before.json by 5%", now, before).met
    assert not outcome("hard worse than before.json by 4.999%", now, before).met


def test_zero_before_is_a_bound_for_any_percentage() -> None:
    clean = evaluation({"model": [Counts(4, 0, 4), Counts(), *COUNTS[2:]]}, violating=0)
    assert not outcome("hard worse than before.json by 500%", MODEL, clean).met


def test_what_cannot_be_compared_is_not_as_good_as_before() -> None:
    def reason(now: Evaluation, before: Evaluation, text: str = "worse than before.json by 5%") -> str:
        found = outcome(text, now, before)
        assert not found.met
        return "; ".join(reading.reason for reading in found.readings if reading.reason)

    other = evaluation({"other": COUNTS})
    assert reason(MODEL, other) == "`before.json` has no model `model`"
    assert "convention `appendix`" in reason(MODEL, replace(MODEL, convention="appendix"))
    unmeasured = evaluation({"model": [Counts()] * 5}, measured=False, violating=0)
    assert "in `before.json`: unmeasured" in reason(MODEL, unmeasured)
    assert "unmeasured" in reason(unmeasured, MODEL)
    hard = replace(MODEL, rule_results=MODEL.rule_results[:1])
    assert "there is no rule `wives`" in reason(hard, MODEL, "rule(wives).score worse than before.json")
    assert "in `before.json`: there is no rule `wives`" in reason(MODEL, hard, "rule(wives).score worse than before.json")


def test_numbers_that_neither_result_has_are_passed_over() -> None:
    rules = RULES[:1]
    results = score(
        [info for info, _ in rules],
        [dataset for _, dataset in rules],
        {"model": COUNTS[:1]},
        {"model": PredictionCounts(9, 9, 9, 0, 0)},
        {"model": PredictionFindings(9, 1, 1, measured=True)},
    )
    hard = Evaluation("definition", *results, DataSummary(0, 0, 0, 0, 0, 0))
    found = outcome("worse than before.json", hard, hard)
    assert found.met
    assert [reading.measure for reading in found.readings] == ["hard", "violating"]
    assert not outcome("soft worse than before.json", hard, hard).met


def test_the_worst_rules_are_those_of_the_kind_that_was_looked_at() -> None:
    def worst(text: str) -> list[str]:
        return [rule.info.name for rule in worst_rules(MODEL, outcome(text, MODEL, MODEL))]

    assert worst("hard > 0") == ["aunts", "denial"]
    assert worst("soft > 0") == ["wives"]
    assert worst("worse than before.json") == ["aunts", "denial", "wives"]
    assert worst("rule(open).score > 0") == ["open"]
    assert worst("evaluable < 9") == []
    assert worst_rules(MODEL, Outcome(parse_gate("hard > 0"), None, (GateReading("hard", None, met=False),))) == ()


def test_without_a_rule_above_the_datas_rate_the_worst_are_those_by_rate() -> None:
    infos = [RuleInfo(f"r{number}", f"p{number}(X) <- q(X)") for number in range(4)]
    dataset = [Counts(5, 5, 10)] * 3 + [Counts(10, 0, 10)]
    counts = [Counts(8, 2, 10), Counts(3, 1, 4), Counts(9, 0, 9), Counts(9, 0, 9)]
    read = {"model": PredictionCounts(9, 9, 9, 0, 0)}
    found = score(infos, dataset, {"model": counts}, read, {"model": PredictionFindings(9, 0, 3, measured=True)})
    result = Evaluation("definition", *found, DataSummary(0, 0, 0, 0, 0, 0))
    for text in ("soft > 0.1", "violating_any > 0"):
        missed = outcome(text, result, result)
        assert not missed.met
        assert [rule.info.name for rule in worst_rules(result, missed)] == ["r1", "r0"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("HARD > 0", "hard"),
        ("Violating > 1%", "violating"),
        ("RULE(aunts).score > 3", "rule"),
        ("rule(aunts).Score > 3", "score"),
        ("Worse than b.json", "worse"),
    ],
)
def test_another_case_is_asked_about(text: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean `{meant}`") as caught:
        parse_gate(text)
    assert caught.value.problems[0].code == "E520"
    assert "did you mean `aunts`?" in gate_problems([parse_gate("rule(AUNTS).score > 3")], ["aunts"], ["m"])[0].helps


def test_a_saved_result_lies_where_the_gate_was_given() -> None:
    text = "worse than old/b.json by 5%"
    given = GateText(text, Span(Source("rulescore.toml", text), 0, len(text)), folder=Path("project"))
    assert read_gate(given).condition == Worse("project/old/b.json", number("5", True))


def test_all_gates_that_are_not_understood_are_told_together() -> None:
    given = [GateText(text, Span(Source("--fail-if", text), 0, len(text))) for text in ("hard >", "hard > 0", "sotf > 1")]
    with pytest.raises(InputError) as caught:
        read_gates(given)
    assert [problem.code for problem in caught.value.problems] == ["E520", "E520"]
