"""Every case file, first against the oracle, then each alone against DuckDB; other engines are asked for many at once in
test_cases_together.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine_side
from case_files import FOLDER, Case, CaseError, Expectation, Run, all_cases, counts, number, read_case
from oracle import appendix, scores
from oracle.findings import Findings, findings
from oracle.tree import Setting
from oracle.unrefutable import unrefutable

CASES = all_cases()
RUNS = [(case, run) for case in CASES for run in case.runs]
LISTED = [(case, run) for case, run in RUNS if any(e.keyword == "violation" for e in run.expectations)]


def name_of(value: object) -> str:
    return value.name if isinstance(value, Case) else f"line {value.line}" if isinstance(value, Run) else str(value)


def refused(run: Run) -> set[str] | None:
    found = [expectation for expectation in run.expectations if expectation.keyword == "refuses"]
    return set(found[0].values) if found else None


def by_oracle(setting: Setting, case: Case, expectation: Expectation) -> object:
    """What the oracle says where the case states an expectation."""
    rules = {rule.name: rule for rule in setting.rules}
    subject = expectation.subject
    match expectation.keyword:
        case "dataset":
            return scores.dataset_counts(setting, rules[subject[0]])
        case "given":
            assert expectation.fact is not None
            return scores.contribution(setting, rules[subject[0]], expectation.fact)
        case "total":
            return scores.model_score(setting, subject[0]).rules[subject[1]].counts
        case "kind":
            return scores.kind_of(setting, rules[subject[0]], scores.dataset_counts(setting, rules[subject[0]]))
        case "rate":
            dataset = scores.dataset_counts(setting, rules[subject[0]])
            return scores.ratio(dataset.refuted, dataset.evaluable)
        case "score" | "share" as which:
            return getattr(scores.model_score(setting, subject[0]).rules[subject[1]], which)
        case "hard_score" | "soft_score" | "hard_mean" | "soft_mean" as which:
            return getattr(scores.model_score(setting, subject[0]), which)
        case "duplicates":
            return len(case.predictions[subject[0]]) - len(setting.predictions[subject[0]])
        case "already_observed":
            return len(setting.predictions[subject[0]] & setting.observed)
        case which if which in Findings._fields:
            return getattr(findings(setting, subject[0]), which)
        case "unrefutable":
            return unrefutable(setting, rules[subject[0]])
        case "violation":
            assert expectation.fact is not None
            return engine_side.shown_violations(scores.violations(setting, rules[subject[0]], expectation.fact))
        case _:
            raise AssertionError(expectation.keyword)


def stated(expectation: Expectation) -> object:
    """What the case says, in the oracle's types."""
    match expectation.keyword:
        case "dataset" | "given" | "total":
            return counts(expectation.values)
        case "kind":
            return expectation.values[0]
        case "unmeasured" | "none_judged" | "unrefutable":
            return {"yes": True, "no": False}[expectation.values[0]]
        case keyword if keyword in {"duplicates", "already_observed", *Findings._fields}:
            return int(expectation.values[0])
        case "violation":
            binding = frozenset(word for word in expectation.values if "=" in word)
            return (binding, frozenset(expectation.values) - binding)
        case _:
            return number(expectation.values[0])


@pytest.mark.parametrize(("case", "run"), RUNS, ids=name_of)
def test_oracle_gives_the_expected_numbers(case: Case, run: Run) -> None:
    setting = case.setting(run)
    if (names := refused(run)) is not None:
        assert set(appendix.refuses(setting)) == names
        return
    for expectation in run.expectations:
        found, expected = by_oracle(setting, case, expectation), stated(expectation)
        if expectation.keyword == "violation":
            assert expected in found, f"{case.path}:{expectation.line}: {found}"  # type: ignore[operator]
        else:
            assert found == expected, f"{case.path}:{expectation.line}: {found}"


# In each of its runs, and in the first if there is little time.
@pytest.mark.parametrize(
    ("case", "run"),
    [pytest.param(case, run, marks=pytest.mark.slow if run is not case.runs[0] else ()) for case, run in RUNS],
    ids=name_of,
)
def test_duckdb_gives_the_oracle_s_numbers(case: Case, run: Run) -> None:
    """All numbers of the case, stated or not: the oracle has been checked against the stated ones."""
    setting = case.setting(run)
    if (names := refused(run)) is not None:
        message = engine_side.refusal(setting, case.rule_text)
        assert all(f"`{name}`" in message for name in names)
        assert all(f"`{rule.name}`" not in message for rule in setting.rules if rule.name not in names)
        return
    outcome = engine_side.run(setting, case.rule_text, rows=case.predictions)
    assert outcome == engine_side.expected(setting, rows=case.predictions)


@pytest.mark.parametrize(("case", "run"), [one for one in LISTED if one[0].is_plain(one[1])], ids=name_of)
def test_violations_of_horn_rules_as_formulas_are_the_same(case: Case, run: Run) -> None:
    setting = case.setting(run)
    assert engine_side.violations(setting, case.rule_text, horn=False) == engine_side.expected_violations(setting)


@pytest.mark.parametrize(("case", "run"), LISTED, ids=name_of)
def test_engine_lists_the_oracle_s_violations(case: Case, run: Run, engine: str) -> None:
    setting = case.setting(run)
    assert engine_side.violations(setting, case.rule_text, engine=engine) == engine_side.expected_violations(setting)


def test_there_are_at_least_sixty_cases() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fact\n  p(a)\n", ":1:"),
        ("facts\n  p(a\n", ":2:"),
        ("facts\n  p(a)\nrules\n  one: p(X) <- q(X)\n", ":4:"),
        ("rules\n  one: p(X) <- q(X).\nexpect definition\n  dataset one 1 2\n", "line 4"),
        ("rules\n  one: p(X) <- q(X).\nexpect definition\n  dataset two 1 0 1\n", ":4:"),
        ("rules\n  one: p(X) <- q(X).\nexpect definition\n  surprise one 1\n", "line 4"),
        ("rules\n  one: p(X) <- q(X).\nexpect definition sometimes=true\n", ":3:"),
        ("rules\n  one: p(X) <- q(X).\nexpect otherwise\n", ":3:"),
        ("rules\n  one: p(X) <- q(X).\nexpect definition\n  given q(a) one 0 0 0\n", ":4:"),
        ("rules\n  one: p(X) <- q(X), r(X) or s(X).\nexpect definition\n", ":2:"),
        ("table t\n  id integer\n", ":1:"),
        ("table t key id\n", ":1:"),
        ("table t key id\n  number integer\n", ":1:"),
        ("table t key id colour red\n  id integer\n", ":1:"),
        ("table t key id\n  id whole\n", ":1:"),
        ("table t key id\n  id integer\n  1.5\n", ":1:"),
        ("table t key id\n  id integer\n  1, 2\n", ":1:"),
        ("functions unheard_of\n", ":1:"),
    ],
)
def test_a_case_that_is_not_understood_is_rejected_with_its_line(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "wrong.case"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CaseError, match=place):
        read_case(path)


def test_no_file_in_the_folder_is_left_out() -> None:
    assert sorted(path for path in FOLDER.rglob("*") if path.is_file()) == sorted(case.path for case in CASES)
