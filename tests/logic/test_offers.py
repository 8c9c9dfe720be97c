"""Rules of other tools come without declarations: what fits the data is offered as text, and nothing is applied."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.errors import Diagnostic, InputError, Source
from rulescore.language.parser import parse
from rulescore.logic.refutable import ArgumentCounts, offers

FACTS = [
    ("ann", "wife", "bob"),
    ("cara", "wife", "dan"),
    ("ann", "sister", "eve"),
    ("ann", "sister", "dan"),
    ("eve", "sister", "dan"),
    ("eve", "aunt", "bob"),
]
RULES = "1.0\twife\thusband_v\n1.0\tsister\tsister\tsister\n"


def helps(code: str, problems: tuple[Diagnostic, ...]) -> tuple[str, ...]:
    (found,) = [one for one in problems if one.code == code]
    return found.helps


def test_what_fits_the_data_is_offered(engine: str) -> None:
    """`wife` is functional both ways, `sister` is not; no two predicates meet, so that three pairs have a head's predicate."""
    with pytest.warns(rulescore.RulescoreWarning, match="W211"):
        result = rulescore.audit(FACTS, RULES, engine=engine)
    told = helps("W211", result.warnings)
    assert told[1] == "as rule miners do, assume that the facts of a first argument are complete; the heads have 4 of them: pca *."
    assert told[2] == "3 pairs of a head's predicate and another never hold of the same arguments: extract incompatible."
    assert told[3] == "all facts in the data agree with these (2, 2): functional wife(X -> Y). functional wife(X, Y) on Y -> X."
    assert told[4] == "if every fact that the data do not have is false: closed wife. closed sister."
    assert all(one.info.unrefutable for one in result.rule_results)


def test_what_is_offered_can_be_pasted_and_refutes() -> None:
    with pytest.raises(InputError) as raised:
        rulescore.score(FACTS, {"m": [("bob", "husband", "ann")]}, RULES)
    for one in helps("E265", raised.value.problems)[1:-1]:
        pasted = one.partition(": ")[2]
        assert parse(Source("pasted", pasted)).declarations
        result = rulescore.audit(FACTS, [RULES, pasted])
        assert not all(rule.info.unrefutable for rule in result.rule_results)


def test_our_own_rules_are_told_in_general() -> None:
    with pytest.warns(rulescore.RulescoreWarning, match="say what makes a conclusion"):
        rulescore.audit(FACTS, "wife(X, Y) <- husband(Y, X).")


def test_nothing_is_offered_that_does_not_fit() -> None:
    assert offers(["p"], [("q", "r")], {}, set()) == ()
    for counts in (ArgumentCounts(3, 2, 2), ArgumentCounts(1, 1, 1)):
        assert [one[-6:] for one in offers(["p"], [], {"p": counts}, set())[1:]] == ["pca *."]


def test_many_are_counted() -> None:
    heads = [f"p{number}" for number in range(8)]
    counts = {head: ArgumentCounts(number + 2, number + 2, 1) for number, head in enumerate(heads)}
    _, _, functional, closed = offers(heads, [], counts, heads)
    assert "): functional p7(X -> Y). functional p6(X -> Y)." in functional
    assert "and 3 more" in functional
    assert "(9, 8, 7, 6, 5, …)" in functional
    assert "and 3 more" in closed
