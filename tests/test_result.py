"""What `score` and `audit` give, and sessions that stay open."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import rulescore
from rulescore.scoring.results import Counts

FACTS = {"sister": [("alice", "daniel"), ("eve", "adam")], "wife": [("mary", "john")]}
RULES = "never: false <- wife(X, Y), sister(X, Y).\n"
PREDICTIONS = {"m": {"wife": [("alice", "daniel")]}}


def test_a_session_is_asked_several_times() -> None:
    with rulescore.open(FACTS, PREDICTIONS, RULES) as session:
        first, second, audited = session.score(), session.score(), session.audit()
    assert first == second
    assert first.rule_results[0].models["m"].counts == Counts(0, 1, 1)
    assert audited.rule_results[0].dataset == Counts(0, 0, 0)


def test_a_project_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("alice\tsister\tdaniel\n")
    (tmp_path / "m.tsv").write_text("alice\twife\tdaniel\n")
    (tmp_path / "kin.rules").write_text(RULES)
    project = tmp_path / "rulescore.toml"
    project.write_text('facts = "facts.tsv"\nrules = "kin.rules"\n[predictions]\nm = "m.tsv"\n')
    for given in (project, str(project)):
        with rulescore.open(given) as session:
            assert session.score().model_results[0].violating == 1


def test_a_project_file_has_no_further_arguments(tmp_path: Path) -> None:
    with pytest.raises(rulescore.InputError, match="E542"):
        rulescore.open(tmp_path / "rulescore.toml", rules=RULES)


def test_a_session_that_is_closed_says_so() -> None:
    session = rulescore.open(FACTS, PREDICTIONS, RULES)
    session.close()
    session.close()
    with pytest.raises(rulescore.InputError, match="E541"):
        session.score()


def test_a_result_opens_its_setting_again_once_the_session_is_closed() -> None:
    result = rulescore.score({"sister": [("alice", "daniel")]}, PREDICTIONS, RULES)
    with result.session() as session:
        assert session.summary == result.summary


def test_facts_that_can_be_read_only_once_are_there_when_a_result_is_asked_again() -> None:
    result = rulescore.audit((one for one in [("alice", "sister", "daniel")]), RULES)
    with result.session() as session:
        assert session.summary.facts == 1


def test_warnings_are_python_s_at_the_line_that_asks() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = rulescore.audit(FACTS, "a: wife(X, Y) <- sister(X, Y).\n")
        with rulescore.open(FACTS, None, "a: wife(X, Y) <- sister(X, Y).\n") as session:
            session.audit()
    assert [one.category for one in caught] == [rulescore.RulescoreWarning] * 2
    assert {one.filename for one in caught} == {__file__}
    assert str(caught[0].message) == str(result.warnings[0])
