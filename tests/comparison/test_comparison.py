"""Comparisons: the numbers are those of the results, intervals hold them, and what has no interval says why."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

import rulescore
from made_results import Rows, made_result
from rulescore.comparison.comparing import ComparedResults, compare
from rulescore.errors import InputError
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, RuleInfo

HARD, SOFT = Counts(9, 0, 9), Counts(90, 10, 100)


def rows(*found: tuple[int, int, int, int], query: list[int] | None = None) -> Rows:
    """Of (rule, prediction, refuted, evaluable)."""
    table = np.array(found, np.int64).reshape(-1, 4)
    made = dict(zip(("rule", "prediction", "refuted", "evaluable"), table.T, strict=True))
    return made if query is None else {**made, "query": np.array(query, np.int64)}


def many(seed: int, *, rate: float = 0.2, each: int = 1) -> Rows:
    random = np.random.default_rng(seed)
    prediction = np.tile(np.arange(200), 2)
    broken = np.repeat(random.random(200 // each) < rate, each)
    refuted = np.tile(broken, 2).astype(np.int64)
    made = {"rule": np.repeat([0, 1], 200), "prediction": prediction, "refuted": refuted, "evaluable": np.ones(400, np.int64)}
    return {**made, "query": prediction // each}


def found(table: Any, **wanted: object) -> dict[str, Any]:
    (row,) = [row for row in table.to_pylist() if all(row[key] == value for key, value in wanted.items())]
    return row


def two() -> Evaluation:
    return made_result([HARD, SOFT], {"a": many(1), "b": many(2, rate=0.6)}, 200, 200)


def test_the_numbers_are_those_of_the_result() -> None:
    result = two()
    comparison = compare(result)
    for model in result.model_results:
        assert found(comparison.models, model=model.name, measure="hard_score")["value"] == model.hard_score.value
        assert found(comparison.models, model=model.name, measure="soft_score")["value"] == model.soft_score.value
        assert found(comparison.models, model=model.name, measure="violating")["value"] == (model.violating or 0) / 200
    for rule in result.rule_results:
        for name, one in rule.models.items():
            row = found(comparison.rules, model=name, rule=rule.info.name)
            assert (row["rate"], row["score"]) == (one.counts.rate, one.score.value)
            assert row["rate_low"] < row["rate"] < row["rate_high"]
            assert row["score_low"] < row["score"] < row["score_high"]


def test_models_that_differ_are_told_apart_and_models_that_do_not_are_not() -> None:
    comparison = compare(two())
    for measure in ("violating", "hard_score", "soft_score"):
        row = found(comparison.differences, measure=measure)
        assert (row["first"], row["second"], row["better"]) == ("a", "b", "first")
        assert row["difference_low"] <= row["difference"] <= row["difference_high"] < 0
    alike = compare(made_result([HARD, SOFT], {"a": many(1), "b": many(3)}, 200, 200))
    assert {row["better"] for row in alike.differences.to_pylist()} == {None}


def test_a_model_does_not_differ_from_itself() -> None:
    rows = compare(made_result([HARD, SOFT], {"a": many(1), "b": many(1)}, 200, 200)).differences.to_pylist()
    assert {(row["difference"], row["difference_low"], row["difference_high"]) for row in rows} == {(0.0, 0.0, 0.0)}


def test_what_is_drawn_together_is_less_certain() -> None:
    def width(comparison: ComparedResults) -> float:
        row = found(comparison.models, model="a", measure="violating")
        return float(row["high"] - row["low"])

    alone = {name: dict(many(seed, each=10), query=np.tile(np.arange(200), 2)) for seed, name in ((1, "a"), (2, "b"))}
    together = {name: many(seed, each=10) for seed, name in ((1, "a"), (2, "b"))}
    assert width(compare(made_result([HARD, SOFT], together, 200, 20))) > 2 * width(
        compare(made_result([HARD, SOFT], alone, 200, 200))
    )


def test_the_uncertainty_of_the_data_is_in_a_soft_score() -> None:
    def width(dataset: Counts) -> float:
        row = found(compare(made_result([HARD, dataset], {"a": many(1), "b": many(2)}, 200, 200)).rules, model="a", rule="r1")
        return float(row["score_high"] / row["score_low"])

    assert width(Counts(9, 1, 10)) > 2 * width(Counts(9000, 1000, 10_000))


def test_d_r_of_three_groundings_leaves_much_possible() -> None:
    row = found(compare(made_result([HARD, Counts(2, 1, 3)], {"a": many(1), "b": many(2)}, 200, 200)).rules, model="a", rule="r1")
    assert row["score_low"] < row["score"] / 2
    assert row["score_high"] > row["score"] * 3


def test_no_violation_has_an_exact_bound() -> None:
    """None of 100 predictions: Clopper and Pearson's bound is 0.0362, of the sum 3.62, of the mean over two rules half of it."""
    none = rows(*((rule, number, 0, 1) for rule in (0, 1, 2) for number in range(100)))
    comparison = compare(made_result([HARD, HARD, SOFT], {"a": none, "b": none}, 100, 100))
    assert found(comparison.models, model="a", measure="violating")["high"] == pytest.approx(0.036217, abs=1e-6)
    assert found(comparison.models, model="a", measure="hard_score")["high"] == pytest.approx(3.6217 / 2, abs=1e-4)
    soft = found(comparison.models, model="a", measure="soft_score")
    assert (soft["value"], soft["low"]) == (0.0, 0.0)
    assert 0 < soft["high"] < 1
    rule = found(comparison.rules, model="a", rule="r0")
    assert (rule["rate_low"], rule["score_low"]) == (0.0, 0.0)
    assert rule["rate_high"] == pytest.approx(0.036217, abs=1e-6)
    assert rule["score_high"] == pytest.approx(3.6217, abs=1e-4)
    for row in comparison.differences.to_pylist():
        assert row["difference_low"] < 0 < row["difference_high"]


def test_every_grounding_refuted_has_an_exact_bound_too() -> None:
    always = rows(*((1, number, 1, 1) for number in range(100)))
    row = found(compare(made_result([HARD, SOFT], {"a": always, "b": always}, 100, 100)).rules, model="a", rule="r1")
    assert (row["rate"], row["rate_high"]) == (1.0, 1.0)
    assert row["rate_low"] == pytest.approx(1 - 0.036217, abs=1e-6)


def test_a_sum_that_every_query_adds_to_alike_has_an_exact_bound() -> None:
    """Each of five queries breaks the rule twice: 1 - 0.025^(1/5) of all queries may do otherwise."""
    twice = rows(*((0, number, 2, 2) for number in range(5)))
    comparison = compare(made_result([HARD, HARD], {"a": twice}, 5, 5))
    rule = found(comparison.rules, model="a", rule="r0")
    assert (rule["score"], rule["score_low"], rule["score_high"]) == (10.0, pytest.approx(4.78176, abs=1e-5), 10.0)
    mean = found(comparison.models, model="a", measure="hard_score")
    assert (mean["value"], mean["low"], mean["high"]) == (5.0, pytest.approx(2.39088, abs=1e-5), 5.0)


def test_a_share_that_every_query_has_is_bounded_on_both_sides() -> None:
    """Of two answers to each of ten queries one violates: 1 - 0.025^(1/10) of all queries, 0.3085, may have none, or two."""
    half = rows(*((0, number, number % 2, 1) for number in range(20)), query=[number // 2 for number in range(20)])
    comparison = compare(made_result([HARD, SOFT], {"a": half}, 20, 10))
    rule = found(comparison.rules, model="a", rule="r0")
    share = found(comparison.models, model="a", measure="violating")
    for value, low, high in ((share["value"], share["low"], share["high"]), (rule["rate"], rule["rate_low"], rule["rate_high"])):
        assert (value, low, high) == (0.5, pytest.approx(0.5 - 0.15425, abs=1e-5), pytest.approx(0.5 + 0.15425, abs=1e-5))


@pytest.mark.parametrize("queries", [1, 2, 3, 6, 50])
def test_an_interval_holds_its_number_if_all_is_refuted(queries: int) -> None:
    always = rows(*((rule, number, 1, 1) for rule in (0, 1) for number in range(queries)))
    for dataset in ((Counts(1000, 1000, 2000), Counts(90, 10, 100)), (Counts(0, 3, 3), Counts(1, 9, 10))):
        comparison = compare(made_result(dataset, {"a": always}, queries, queries))
        found_rows = [row for row in comparison.rules.to_pylist() if row["score_low"] is not None]
        assert all(row["score_low"] <= row["score"] <= row["score_high"] for row in found_rows)
        soft = found(comparison.models, model="a", measure="soft_score")
        assert soft["low"] is None or soft["low"] < soft["value"] <= soft["high"]


@pytest.mark.parametrize("refuted", [0, 3, 6])
def test_the_score_of_the_only_rule_and_the_aggregate_have_one_interval(refuted: int) -> None:
    some = rows(*((0, number, int(number < refuted), 1) for number in range(6)))
    for dataset, measure in ((HARD, "hard_score"), (SOFT, "soft_score")):
        comparison = compare(made_result([dataset], {"a": some, "b": rows((0, 0, 0, 1))}, 6, 6))
        rule, whole = found(comparison.rules, model="a", rule="r0"), found(comparison.models, model="a", measure=measure)
        assert [rule[f"score{end}"] for end in ("", "_low", "_high")] == [whole[one] for one in ("value", "low", "high")]
        ends = ("difference", "difference_low", "difference_high")
        apart = found(comparison.differences, measure=measure), found(comparison.rule_differences, rule="r0")
        assert [apart[0][end] for end in ends] == [apart[1][end] for end in ends]


def test_one_prediction_is_bounded_or_refused() -> None:
    kept, broken = rows((0, 0, 0, 1), (1, 0, 1, 2)), rows((0, 0, 1, 1), (1, 0, 1, 2))
    comparison = compare(made_result([HARD, SOFT], {"a": kept, "b": broken}, 1, 1))
    share = found(comparison.models, model="a", measure="violating")
    assert (share["value"], share["low"], share["high"]) == (0.0, 0.0, pytest.approx(0.975))
    hard = found(comparison.models, model="b", measure="hard_score")
    assert (hard["value"], hard["low"]) == (1.0, None)
    assert hard["reason"] == "one query only: there is nothing to draw from"
    assert found(comparison.rules, model="a", rule="r1")["score_reason"] == "one query only: there is nothing to draw from"


def test_a_model_of_one_prediction_is_not_called_better() -> None:
    one = made_result([HARD, SOFT], {"a": rows((0, 0, 0, 1))}, 1, 1)
    other = made_result([HARD, SOFT], {"a": many(2, rate=0.6)}, 200, 200)
    comparison = compare(one, other)
    for row in comparison.differences.to_pylist():
        assert row["better"] is None
    assert "one query only" in found(comparison.differences, measure="hard_score")["difference_reason"]


def test_no_evaluable_grounding_is_a_reason() -> None:
    comparison = compare(made_result([HARD, SOFT], {"a": rows((0, 0, 0, 1)), "b": many(1)}, 200, 200))
    row = found(comparison.rules, model="a", rule="r1")
    assert (row["rate"], row["rate_reason"]) == (None, "no prediction takes part in an evaluable grounding")
    assert (row["score"], row["score_reason"]) == (None, "no prediction takes part in an evaluable grounding")
    soft = found(comparison.differences, measure="soft_score")
    assert (soft["difference"], soft["difference_reason"]) == (None, "first: no soft rule has a defined score")


def test_no_contribution_at_all() -> None:
    comparison = compare(made_result([HARD, SOFT], {"a": rows(), "b": rows()}, 200, 200))
    row = found(comparison.models, model="a", measure="violating")
    assert (row["value"], row["high"]) == (0, None)
    assert row["reason"].startswith("0, none judged: ")


def test_rules_that_say_nothing_have_no_interval() -> None:
    infos = [RuleInfo("r0", "p(X) <- q(X)", unrefutable=True), RuleInfo("r1", "false <- q(X)", denial=True)]
    comparison = compare(made_result([HARD, Counts(0, 10, 10)], {"a": many(1), "b": many(2)}, 200, 200, infos))
    row = found(comparison.rules, model="a", rule="r0")
    assert row["score_low"] is None
    assert row["score_reason"].startswith("unrefutable")
    assert found(comparison.rules, model="a", rule="r1")["score_reason"] == "a denial constraint that is soft always scores 1"


def test_a_comparison_is_the_same_every_time() -> None:
    result = two()
    assert compare(result).rules == compare(result).rules
    assert compare(result, seed=1).models != compare(result).models
    assert "seed 1" in compare(result, seed=1).method


def test_rules_that_separate_models_come_first() -> None:
    infos = [RuleInfo(f"r{number}", f"p{number}(X) <- q(X)") for number in range(3)]
    a = rows(*((rule, number, int(rule == 2), 1) for rule in range(3) for number in range(50)))
    b = rows(*((rule, number, int(rule == 1 and number == 0), 1) for rule in range(3) for number in range(50)))
    first, *_ = compare(made_result([HARD] * 3, {"a": a, "b": b}, 50, 50, infos)).rule_differences.to_pylist()
    assert (first["rule"], first["first_refuted"], first["second_refuted"], first["better"]) == ("r2", 50, 0, "second")
    assert (first["only_first"], first["only_second"]) == (50, 0)


def test_two_runs_tell_what_changed() -> None:
    before = rows((0, 0, 1, 1), (0, 1, 2, 2), (0, 2, 1, 3), (1, 3, 1, 1))
    after = rows((0, 1, 1, 2), (0, 2, 2, 3), (0, 4, 1, 1), (1, 3, 1, 1))
    comparison = compare(made_result([HARD, SOFT], {"m": before}, 9, 9), made_result([HARD, SOFT], {"m": after}, 9, 9))
    changes = {
        (row["arguments"][0], row["change"], row["first_refuted"], row["second_refuted"]) for row in comparison.changes.to_pylist()
    }
    assert changes == {("0", "fixed", 1, 0), ("1", "better", 2, 1), ("2", "worse", 1, 2), ("4", "new", 0, 1)}
    rule = found(comparison.rule_differences, rule="r0")
    assert (rule["first"], rule["second"], rule["change"]) == ("A: m", "B: m", "same")
    assert (rule["only_first"], rule["only_second"]) == (1, 1)


def test_rules_of_one_run_alone_are_said_to_be() -> None:
    one, other = [RuleInfo("old", "p(X) <- q(X)")], [RuleInfo("new", "s(X) <- q(X)")]
    found_rows = rows(*((0, number, number % 2, 1) for number in range(50)))
    comparison = compare(made_result([HARD], {"m": found_rows}, 50, 50, one), made_result([HARD], {"m": found_rows}, 50, 50, other))
    row = found(comparison.rule_differences, rule="old")
    assert (row["second_refuted"], row["difference"], row["change"]) == (None, None, None)
    assert row["difference_reason"] == "second: the rule is not in this result"


def test_a_rule_that_was_changed_is_not_called_fixed() -> None:
    texts = [[RuleInfo("r", text), RuleInfo("kept", "s(X) <- q(X)")] for text in ("p(X) <- q(X)", "p(X) <- s(X)")]
    contributions = rows((0, 0, 1, 1), (1, 1, 1, 1)), rows((0, 0, 0, 1), (1, 1, 0, 1))
    results = [made_result([HARD, HARD], {"m": one}, 9, 9, infos) for one, infos in zip(contributions, texts, strict=True)]
    comparison = compare(*results)
    (warning,) = comparison.warnings
    assert (warning.code, "`r`" in warning.message) == ("W506", True)
    row = found(comparison.rule_differences, rule="r")
    assert (row["change"], row["first_text"], row["second_text"]) == ("changed", "p(X) <- q(X)", "p(X) <- s(X)")
    assert (row["first_refuted"], row["second_refuted"], row["only_first"], row["difference"]) == (1, 0, None, None)
    assert row["difference_reason"] == "the rule's text is not the same in the two results"
    assert found(comparison.rule_differences, rule="kept")["change"] == "fixed"
    assert [row["rule"] for row in comparison.changes.to_pylist()] == ["kept"]


def test_a_rule_that_one_run_does_not_have_has_no_changes() -> None:
    infos = [RuleInfo("r", "p(X) <- q(X)"), RuleInfo("s", "s(X) <- q(X)")]
    both = made_result([HARD, HARD], {"m": rows((0, 0, 1, 1), (1, 0, 1, 1))}, 9, 9, infos)
    alone = made_result([HARD], {"m": rows((0, 0, 0, 1))}, 9, 9, infos[:1])
    assert [(row["rule"], row["change"]) for row in compare(both, alone).changes.to_pylist()] == [("r", "fixed")]


def test_a_rule_that_moved_to_another_line_is_the_same() -> None:
    before = [RuleInfo("f.rules:1", "p(X) <- q(X)"), RuleInfo("f.rules:2", "s(X) <- q(X)")]
    after = [RuleInfo("f.rules:1", "t(X) <- q(X)"), RuleInfo("f.rules:2", "p(X) <- q(X)"), RuleInfo("f.rules:3", "s(X) <- q(X)")]
    first = made_result([HARD] * 2, {"m": rows((0, 0, 1, 1), (1, 1, 1, 1))}, 9, 9, before)
    second = made_result([HARD] * 3, {"m": rows((1, 0, 0, 1), (2, 1, 1, 1))}, 9, 9, after)
    comparison = compare(first, second)
    assert comparison.warnings == ()
    differences = {row["rule"]: (row["first_refuted"], row["second_refuted"]) for row in comparison.rule_differences.to_pylist()}
    assert differences == {"f.rules:1": (None, 0), "f.rules:2": (1, 0), "f.rules:3": (1, 1)}
    assert [row["rule"] for row in comparison.changes.to_pylist()] == ["f.rules:2"]


def test_what_cannot_be_compared_is_refused() -> None:
    from dataclasses import replace

    result = two()
    for code, ask in {
        "E507": lambda: compare(result, replace(result, convention="appendix")),
        "E261": lambda: compare(result, models=["a", "c"]),
        "E402": lambda: compare(result, level=95),
        "E502": lambda: compare(replace(result, contributions_table=None)),
    }.items():
        with pytest.raises(InputError) as caught:
            ask()
        assert caught.value.problems[0].code == code
    with pytest.raises(InputError, match="E402"):
        compare(result, draws=10)
    with pytest.raises(InputError, match="E507"):
        compare(replace(result, model_results=()))
    with pytest.raises(InputError, match="E507"):
        compare(result, result, against="a")
    with pytest.raises(InputError, match="E261"):
        compare(result, against="c")


def test_all_models_are_compared_with_one() -> None:
    result = two()
    turned, straight = compare(result, against="b"), compare(result)
    assert turned.models == straight.models
    for table in ("differences", "rule_differences"):
        rows, others = (getattr(comparison, table).to_pylist() for comparison in (turned, straight))
        assert {(row["first"], row["second"]) for row in rows} == {("b", "a")}
        assert sorted(row["difference"] for row in rows) == sorted(-row["difference"] for row in others)
    assert compare(result, models=["a"], against="b").differences == turned.differences


def test_one_model_has_intervals_and_no_difference() -> None:
    both, alone = compare(two()), compare(two(), models=["b"])
    assert alone.models.column("model").unique().to_pylist() == ["b"]
    assert (len(alone.rules), len(alone.differences), len(alone.rule_differences), len(alone.changes)) == (2, 0, 0, 0)
    for measure in ("violating", "hard_score", "soft_score"):
        row, beside = (found(one.models, model="b", measure=measure) for one in (alone, both))
        assert row["value"] == beside["value"]
        assert row["low"] < row["value"] < row["high"]
    for row in alone.rules.to_pylist():
        assert row["rate_low"] < row["rate"] < row["rate_high"]
        assert row["score_low"] < row["score"] < row["score_high"]


def test_predictions_of_different_types_are_different() -> None:
    """So are those whose arguments only look alike when they are joined."""
    models = {
        "number": {"p": [(1, "a\x1fb", "c")]},
        "text": {"p": [("1", "a\x1fb", "c")]},
        "parted": {"p": [("1", "a", "b\x1fc")]},
        "escaped": {"p": [("1", "a\x1e1b", "c")]},
    }
    result = rulescore.score({"q": [("a",)]}, models, "false <- p(X, Y, Z). predicate p/3.")
    only = [(row["only_first"], row["only_second"]) for row in result.compare().rule_differences.to_pylist()]
    assert only == [(1, 1)] * 6
    six = {"m": {"p": [(1,), ("1",), (2,), ("2",), (True,), ("true",)]}}
    rule = rulescore.score({"q": [("a",)]}, six, "false <- p(X). predicate p/1.").compare().rules.to_pylist()[0]
    assert rule["rate_low"] == pytest.approx(0.025 ** (1 / 6))


def test_types_are_saved_and_a_result_of_an_earlier_version_is_read_without(tmp_path: Path) -> None:
    def scored(value: object) -> rulescore.Result:
        return rulescore.score({"q": [("a",)]}, {"m": {"p": [(value,)]}}, "false <- p(X). predicate p/1.")

    def changes(first: rulescore.Result, second: rulescore.Result) -> list[str]:
        return [row["change"] for row in first.compare(second).changes.to_pylist()]

    scored(1).save(tmp_path / "number.json")
    number = rulescore.load_result(tmp_path / "number.json")
    assert (changes(number, scored(1)), changes(number, scored("1"))) == ([], ["fixed", "new"])
    file, result = tmp_path / "number.contributions.parquet", tmp_path / "number.json"
    was = hashlib.sha256(file.read_bytes()).hexdigest()
    parquet.write_table(parquet.read_table(file).drop_columns(["types"]), file)
    result.write_text(result.read_text().replace(was, hashlib.sha256(file.read_bytes()).hexdigest()))
    assert changes(rulescore.load_result(result), scored("1")) == []


def test_a_prediction_of_two_queries_is_drawn_once(tmp_path: Path) -> None:
    """Ten triples, each the best answer to both of its queries: 20 queries, and ten things that could have been otherwise."""
    answers = "".join(f"h{i} p t{i}\nHeads: h{i}\t0.9\t\nTails: t{i}\t0.8\t\n" for i in range(10))
    (tmp_path / "ranks.txt").write_text(answers)
    source = rulescore.FactFile(tmp_path / "ranks.txt", format="anyburl")
    result = rulescore.score({"q": [("a",)]}, {"m": source}, "false <- p(X, Y). predicate p/2.")
    (model,) = result.model_results
    assert (model.predictions.rows, model.predictions.distinct, model.predictions.queries) == (20, 10, 20)
    row = found(result.compare().models, measure="violating")
    assert (row["queries"], row["low"]) == (10, pytest.approx(0.025 ** (1 / 10)))


def test_a_model_without_predictions_has_no_intervals_and_raises_no_warning() -> None:
    rules = "p(X, Y) <- q(X, Y). incompatible p, s."
    scored = rulescore.score({"q": [("a", "b")], "s": [("b", "c")]}, {"none": {"q": []}, "m": {"q": [("b", "c")]}}, rules)
    assert found(scored.compare().models, model="none", measure="violating")["value"] is None
