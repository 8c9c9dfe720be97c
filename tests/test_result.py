"""What `score` and `audit` give, and sessions that stay open."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rulescore
from rulescore.counting import counted
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
    with pytest.raises(rulescore.InputError, match="E327"):
        rulescore.open(tmp_path / "rulescore.toml", rules=RULES)


def test_a_session_that_is_closed_says_so() -> None:
    session = rulescore.open(FACTS, PREDICTIONS, RULES)
    session.close()
    session.close()
    with pytest.raises(rulescore.InputError, match="E541"):
        session.score()


def test_a_session_answers_only_the_thread_that_opened_it() -> None:
    with rulescore.open(FACTS, PREDICTIONS, RULES) as session, ThreadPoolExecutor(1) as other:
        with pytest.raises(rulescore.InputError, match="E541"):
            other.submit(session.score).result()
        assert session.score().model_results[0].violating == 1


def test_contributions_that_cannot_be_written_are_refused_before_the_work(tmp_path: Path) -> None:
    with rulescore.open(FACTS, PREDICTIONS, RULES) as session:
        with pytest.raises(rulescore.InputError, match="E601") as refused:
            session.score(contributions=tmp_path / "missing" / "c.parquet")
        assert "there is no folder" in str(refused.value)
        with pytest.raises(rulescore.InputError, match="E601"):
            session.score(contributions=tmp_path)


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


def test_what_is_no_result_is_not_compared(tmp_path: Path) -> None:
    result = rulescore.score([("a", "p", "b")], {"ridge": [("b", "p", "a")]}, "false <- p(X, X).")
    for ask, code, words in (
        (lambda: result.compare(5), "E512", "`other` is an int"),  # type: ignore[arg-type]
        (lambda: result.compare(["ridge"]), "E512", 'models=["ridge"]'),  # type: ignore[arg-type]
        (lambda: result.compare("ridge"), "E512", 'models=["ridge"]'),
        (lambda: result.compare(tmp_path / "none.json"), "E504", "no such file"),
        (lambda: result.compare(models=5), "E512", "`models` is an int"),  # type: ignore[arg-type]
        (lambda: result.compare(models=[5]), "E261", "no model is named `5`"),  # type: ignore[list-item]
        (lambda: result.compare(seed=-1), "E402", "the seed is -1"),
        (lambda: result.compare(seed="x"), "E402", "the seed is 'x'"),  # type: ignore[arg-type]
        (lambda: result.compare(draws="many"), "E402", "draws is 'many'"),  # type: ignore[arg-type]
        (lambda: result.compare(draws=1000.5), "E402", "draws is 1000.5"),  # type: ignore[arg-type]
        (lambda: result.compare(level="95%"), "E402", "the level is '95%'"),  # type: ignore[arg-type]
        (lambda: rulescore.load_result(5), "E512", "`path` is an int"),  # type: ignore[arg-type]
    ):
        with pytest.raises(rulescore.InputError) as caught:
            ask()
        assert caught.value.problems[0].code == code
        assert words in str(caught.value)
    assert "<ModelComparison of ridge alone" in repr(result.compare(models="ridge"))


def test_rules_with_very_many_groundings_are_named_before_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product has a grounding for each pair of facts; those of the other rule are as many, and never walked."""
    monkeypatch.setattr(counted, "MANY_GROUNDINGS", 1_000)
    many = [(f"x{i}", "b") for i in range(40)]
    facts = {"p": many, "q": many, "r": [("a", "b")]}
    rules = "product: false <- p(X, Y), q(Z, V).\nmet: r(X, Y) <- p(X, Z), q(Y, Z).\nincompatible r, p."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = rulescore.audit(facts, rules)
    assert result.rule_results[0].dataset == Counts(0, 1_600, 1_600)
    (warned,) = [str(one.message) for one in caught if "W213" in str(one.message)]
    assert "`product`: about 1,600" in warned
    assert "`met`" not in warned
    assert caught[0].filename == __file__
