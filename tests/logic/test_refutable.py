"""Which rules could ever be refuted; what is told where some or all cannot."""

from __future__ import annotations

from typing import Any

import pytest

import rulescore
from rulescore.errors import Diagnostic, InputError

FACTS = {"sister": [("alice", "bob")], "father": [("bob", "carl")], "aunt": [("alice", "carl")], "q": [("a",)]}
OPEN = "aunts: aunt(X, Z) <- sister(X, Y), father(Y, Z).\n"
DENIAL = "denial: false <- sister(X, Y), father(X, Y).\n"
PREDICTIONS = {"model": {"sister": [("dora", "bob")]}}


def audited(text: str, **options: Any) -> dict[str, bool]:
    return {rule.info.name: rule.info.unrefutable for rule in rulescore.audit(FACTS, text, **options).rule_results}


def refused(text: str, **options: Any) -> Diagnostic:
    with pytest.raises(InputError) as error:
        rulescore.score(FACTS, PREDICTIONS, text, **options)
    (found,) = [problem for problem in error.value.problems if problem.code == "E265"]
    return found


@pytest.mark.parametrize(
    ("declared", "unrefutable"),
    [
        ("", True),
        ("predicate aunt/2.", True),
        ("closed aunt.", False),
        ("closed *.", False),
        ("closed father.", True),
        ("incompatible aunt, father.", False),
        ("incompatible aunt(X, Y), aunt(Y, X).", False),
        ("incompatible sister, father.", True),
        ("functional aunt(X -> Y).", False),
        ("extract incompatible.", False),
        ("refute aunt(X, Y) <- X = Y.", False),
        ('refute aunt("alice", Y) <- father(Y, _).', False),
        ("refute sister(X, Y) <- father(X, Y).", True),
    ],
)
def test_a_declaration_on_the_head_makes_a_rule_refutable(declared: str, unrefutable: bool) -> None:
    assert audited(OPEN + declared) == {"aunts": unrefutable}


def test_negative_facts_count_for_their_predicate() -> None:
    assert audited(OPEN, negatives={"aunt": [("carl", "alice")]}) == {"aunts": False}
    assert audited(OPEN, negatives={"father": [("carl", "alice")]}) == {"aunts": True}


@pytest.mark.parametrize(
    ("head", "refuted", "unrefutable"),
    [
        ('aunt(X, "b")', 'aunt(Y, "b")', False),
        ('aunt(X, "b")', 'aunt(Y, "c")', True),
        ("aunt(X, X)", 'aunt("a", "b")', True),
        ("aunt(X, X)", 'aunt("a", "a")', False),
        ('aunt("a", "b")', "aunt(X, X)", True),
        ('aunt(X, "b")', "aunt(Y, Y)", False),
        ('aunt("a", X)', 'aunt(_, "c")', False),
    ],
)
def test_a_refutation_counts_if_its_head_could_be_the_rule_s(head: str, refuted: str, unrefutable: bool) -> None:
    assert audited(f"one: {head} <- q(X).\nrefute {refuted} <- q(_).") == {"one": unrefutable}


def test_registered_predicates_and_rules_in_sql_decide_themselves() -> None:
    sql = rulescore.SqlRule("in_sql", "SELECT NULL AS prediction, TRUE AS confirmed, FALSE AS refuted")
    found = audited("known: fine(X) <- q(X).", functions={"fine": lambda name: name == "a"}, sql_rules=[sql])
    assert found == {"known": False, "in_sql": False}


def test_one_warning_counts_the_rules_and_says_what_to_declare() -> None:
    text = DENIAL + "".join(f'r{number}: aunt(X, Y) <- sister(X, Y), X != "{number}".\n' for number in range(8))
    (warning,) = [one for one in rulescore.audit(FACTS, text).warnings if one.code == "W211"]
    assert warning.message == "8 of 9 rules can never be refuted, so 0 violations say nothing"
    assert warning.notes == ("rules: `r0`, `r1`, `r2`, `r3`, `r4`, and 3 more", "nothing declared refutes `aunt`")
    assert all(word in warning.helps[0] for word in ("extract incompatible", "closed", "functional", "negative facts"))


def test_nothing_is_said_where_every_rule_can_be_refuted() -> None:
    assert "W211" not in {one.code for one in rulescore.audit(FACTS, DENIAL).warnings}


def test_scoring_is_refused_if_no_rule_can_be_refuted() -> None:
    found = refused(OPEN)
    assert "`aunts`" in found.notes[0]
    assert "`aunt`" in found.notes[1]
    assert any("--allow-unrefutable" in text for text in found.helps)


def test_scoring_is_refused_after_an_extraction_that_found_no_pair() -> None:
    facts = {name: [("a", "b")] for name in ("aunt", "sister", "father")}
    with pytest.raises(InputError, match="E265"):
        rulescore.score(facts, PREDICTIONS, OPEN + "extract incompatible.")


def test_an_option_makes_the_error_a_warning() -> None:
    result = rulescore.score(FACTS, PREDICTIONS, OPEN, allow_unrefutable=True)
    assert {"W211", "W502"} <= {one.code for one in result.warnings}
    (model,) = result.model_results
    assert (model.hard_score.value, model.hard_score.mark) == (0.0, "unmeasured")


def test_one_rule_that_can_be_refuted_is_enough() -> None:
    assert rulescore.score(FACTS, PREDICTIONS, OPEN + DENIAL).model_results[0].unmeasured is False


def test_without_predictions_and_in_an_audit_there_is_only_the_warning() -> None:
    for result in (rulescore.score(FACTS, None, OPEN), rulescore.audit(FACTS, OPEN)):
        assert "W211" in {one.code for one in result.warnings}
