"""Rates on facts that rules were not picked by."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.discovery.held_out import split
from rulescore.setting.model import FactStream, Setting

FACTS = [(f"h{i}", "husband", f"w{i}") for i in range(40)] + [(f"w{i}", "wife", f"h{i}") for i in range(40)]
FACTS += [(f"h{i}", "cousin", f"w{i + 1}") for i in range(40)]


def _rows(sources: object) -> set[tuple[str, ...]]:
    found = set()
    for source in sources:  # type: ignore[attr-defined]
        assert isinstance(source, FactStream)
        for batch in source.open():
            columns = ["predicate", "a0", "a1"]
            found |= {tuple(row[column] for column in columns) for row in batch.rows.to_pylist()}
    return found


def test_a_split_gives_every_fact_to_one_side_and_the_seed_decides() -> None:
    def parts(seed: int, facts: list[tuple[str, str, str]]) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
        picked, held = split(make_setting(facts, None, ()).observed, 0.25, seed)
        return _rows(picked), _rows(held)

    picked, held = parts(0, FACTS)
    assert picked | held == {(relation, head, tail) for head, relation, tail in FACTS}
    assert not picked & held
    assert 15 <= len(held) <= 45
    assert parts(0, list(reversed(FACTS))) == (picked, held)
    assert parts(1, FACTS)[1] != held


def test_the_rate_on_held_out_facts_is_what_a_score_of_them_gives() -> None:
    valid = [("w50", "wife", "h50"), ("h51", "cousin", "w51"), ("w51", "wife", "h51"), ("h0", "cousin", "w0"), ("w3", "wife", "h2")]
    found = rulescore.discover(FACTS, valid=valid)
    scored = rulescore.score(FACTS, {"valid": valid}, found.rules)
    by_text = {rule.info.text: rule.models["valid"].counts for rule in scored.rule_results}
    assert {rule.text: rule.held_out for rule in found.listed} == by_text
    assert any(counts.refuted for counts in by_text.values())
    assert "held out: 5 facts that no rule was picked by" in found.to_text()


def test_held_out_facts_pick_no_rule() -> None:
    """They would break every rule about `husband`, and do not."""
    valid = [(f"h{i}", "cousin", f"w{i}") for i in range(40)]
    without, given = rulescore.discover(FACTS), rulescore.discover(FACTS, valid=valid)
    assert [rule.text for rule in given.listed] == [rule.text for rule in without.listed]
    assert [rule.counts for rule in given.listed] == [rule.counts for rule in without.listed]


def test_the_split_inside_is_said() -> None:
    found = rulescore.discover(FACTS, hold_out=0.2, seed=3, min_support=5)
    assert found.discovery.facts + found.discovery.held_out_facts == len(FACTS)
    assert "20% of the facts, drawn with seed 3" in found.to_text(width=200)
    assert "hold_out 0.2 drawn with seed 3" in found.rules


def test_facts_that_are_observed_too_are_said() -> None:
    found = rulescore.discover(FACTS, valid=FACTS[:7])
    assert "7 of 7 held-out facts are observed, too: rules were picked by them" in found.to_text(width=200)


def test_facts_of_a_database_cannot_be_divided() -> None:
    from rulescore.setting.model import FactFile, FactTable, Request

    table = FactTable("kg.facts", Request("kg.facts", FactFile("kg.facts"), predictions=False))
    with pytest.raises(rulescore.InputError, match="E716"):
        split(Setting((table,), ()).observed, 0.1, 0)
