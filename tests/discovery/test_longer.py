"""Rules with one further atom: their counts, that none is missing, and which are worth it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.discovery.discovering import discover_graph, shown
from rulescore.discovery.enumerating import Enumeration
from rulescore.discovery.extending import extensions
from rulescore.discovery.graph import load_graph
from rulescore.discovery.model import DiscoverOptions, Form
from rulescore.session.session import Session
from rulescore.setting.choices import Convention
from rulescore.waiting import Told, listening

Facts = list[tuple[str, str, str]]

_facts = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["p", "q", "r"]), st.sampled_from("abc")), min_size=4, max_size=14
)


def _extended(text: str, predicates: set[str]) -> list[str]:
    """A rule with every atom that its form may get, except those that stand there already."""
    head, _, body = text.partition(" <- ")
    sides = [("X", "Z"), ("Z", "Y"), ("X", "Y")] if "Z" in body else [("X", "Y")]
    atoms = [f"{name}({first}, {second})" for name in predicates for one in sides for first, second in (one, one[::-1])]
    return [f"{text}, {atom}" for atom in atoms if atom != head and atom not in body.split("), ") and f"{atom}" not in body]


@pytest.mark.parametrize(("convention", "distinct"), [(Convention.DEFINITION, False), (Convention.APPENDIX, True)])
@given(facts=_facts)
def test_longer_rules_are_those_of_an_audit_and_none_is_missing(convention: Convention, distinct: bool, facts: Facts) -> None:
    options = DiscoverOptions(
        min_support=1, everything=True, longer=True, max_rate=0.9, convention=convention, distinct_variables=distinct
    )
    found = discover_graph(make_setting(facts, None, ()), options)
    longer = {rule.text: rule.counts for rule in shown(found) if rule.form is Form.LONGER}
    forms = (Form.IMPLICATION, Form.INVERSION, Form.TWO_ATOMS)
    parents = [rule.text for rule in found.rules if rule.form in forms and rule.counts.refuted]
    predicates = {predicate for _, predicate, _ in facts}
    texts = [text for parent in parents for text in _extended(parent, predicates)]
    rules = "extract incompatible.\n" + "".join(f"{text}.\n" for text in texts)
    audited = rulescore.audit(facts, rules, convention=convention.value, distinct_variables=distinct).rule_results if texts else []
    wanted = {rule.info.text: rule.dataset for rule in audited if rule.dataset.confirmed}
    assert longer == wanted


def _shops() -> Facts:
    """A rule that is broken for half of the shops, and never for those that are open."""
    facts = [(f"s{i}", "sells", f"g{i}") for i in range(40)] + [(f"s{i}", "offers", f"g{i}") for i in range(20)]
    facts += [(f"s{i}", "lacks", f"g{i}") for i in range(20, 40)]
    return facts + [(f"s{i}", "stocks", f"g{i}") for i in range(15)]


def test_an_atom_that_lowers_the_rate_is_worth_it() -> None:
    facts = [*_shops(), *((f"t{i}", name, f"g{i}") for i in range(60) for name in ("stocks", "lacks"))]
    found = rulescore.discover(facts, longer=True, max_rate=0.6)
    rules = {rule.text: rule for rule in found.listed}
    assert rules["offers(X, Y) <- sells(X, Y), stocks(X, Y)"].counts.confirmed == 15
    assert rules["offers(X, Y) <- sells(X, Y), stocks(X, Y)"].counts.refuted == 0
    assert "offers(X, Y) <- stocks(X, Y)" not in rules


def test_what_the_added_atom_says_alone_is_said_shorter() -> None:
    found = rulescore.discover(_shops(), longer=True, max_rate=0.6, forms=["implication"], everything=True)
    rules = {rule.text: rule for rule in found.listed}
    assert rules["offers(X, Y) <- sells(X, Y)"].counts.refuted == 20
    assert rules["offers(X, Y) <- sells(X, Y), stocks(X, Y)"].left_out == "said by `offers(X, Y) <- stocks(X, Y)`"


def test_an_atom_that_changes_nothing_is_not() -> None:
    facts = [*_shops(), *((f"s{i}", "near", f"g{i}") for i in range(40))]
    found = rulescore.discover(facts, longer=True, max_rate=0.6, forms=["implication"], everything=True)
    rules = {rule.text: rule.left_out for rule in found.listed if rule.form is Form.LONGER}
    assert rules["offers(X, Y) <- near(X, Y), sells(X, Y)"].startswith(("hardly better", "said by"))


def test_too_many_groundings_are_said_before_any_is_looked_at() -> None:
    facts = [(f"x{i}", name, f"x{(i * k) % 13}") for i in range(13) for k, name in ((2, "p"), (3, "q"), (6, "r"), (5, "s"))]
    facts += [("x1", "t", "x6"), ("x2", "t", "x12"), ("a", "v", "b")]
    with Session(make_setting(facts, None, ())) as session:
        graph = load_graph(session, DiscoverOptions(max_rate=1, min_support=2))
        rules = list(Enumeration(graph).rules([Form.TWO_ATOMS]))
        bounded = replace(graph, options=replace(graph.options, max_groundings=10))
        reasons: list[str] = []
        told: list[Told] = []
        with listening(told.append):
            assert list(extensions(bounded, rules, reasons)) == []
        assert told[-1].what.startswith("extending ")
        assert (told[-1].groundings or 0) > 10
        assert "kinds of groundings, and the limit is 10" in reasons[0]
        assert list(extensions(graph, rules, reasons)) != []
