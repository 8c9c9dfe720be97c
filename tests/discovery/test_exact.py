"""What is found, and its counts: those of an audit, and nothing of a form is missed."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulescore
from generate.few import FEW
from rulescore.arguments.python import make_setting
from rulescore.discovery.discovering import discover_graph, shown
from rulescore.discovery.model import DiscoverOptions, Discovery
from rulescore.language.parser import parse_all
from rulescore.language.syntax import Atom, Variable
from rulescore.setting.choices import Convention
from rulescore.setting.model import FactStream, Setting

_PAIRS, _SINGLES, _CONSTANTS = ("p", "q", "r"), ("u", "w"), ("a", "b", "c")
_fact = st.one_of(
    st.tuples(st.sampled_from(_PAIRS), st.sampled_from(_CONSTANTS), st.sampled_from(_CONSTANTS)),
    st.tuples(st.sampled_from(_SINGLES), st.sampled_from(_CONSTANTS)),
)
_graphs = st.lists(_fact, min_size=1, max_size=16)

_WAYS = [
    (Convention.DEFINITION, False),
    (Convention.DEFINITION, True),
    (Convention.APPENDIX, True),
    (Convention.APPENDIX, False),
]


def _observed(facts: list[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for predicate, *terms in facts:
        found.setdefault(predicate, []).append(tuple(terms))
    return found


def _explained_by(text: str, facts: list[tuple[str, ...]], *, distinct: bool) -> int:
    """How many facts of its head a rule explains, by trying all constants for its variables."""
    known = set(facts)
    rule = parse_all(list(make_setting([], None, f"{text}.").rules)).rules[0]
    head, body = rule.head, rule.body.conditions
    assert isinstance(head, Atom)
    atoms = [atom for atom in body if isinstance(atom, Atom)]
    names = sorted({term.name for atom in (head, *atoms) for term in atom.terms if isinstance(term, Variable)})
    constants = sorted({constant for fact in facts for constant in fact[1:]})
    explained = set()
    for values in product(constants, repeat=len(names)):
        binding = dict(zip(names, values, strict=True))
        ground = [
            (atom.predicate, *(binding[term.name] if isinstance(term, Variable) else str(term.value) for term in atom.terms))
            for atom in (head, *atoms)
        ]
        if known.issuperset(ground) and not (distinct and len(set(values)) < len(values)):
            explained.add(ground[0])
    return len(explained)


def _everything(facts: list[tuple[str, ...]], convention: Convention, *, distinct: bool, least: int = 1) -> Discovery:
    options = DiscoverOptions(
        min_support=least, everything=True, convention=convention, distinct_variables=distinct, max_rate=0.5, min_evaluable=2
    )
    return discover_graph(make_setting(_observed(facts), None, ()), options)


def _audited(facts: list[tuple[str, ...]], texts: list[str], convention: Convention, *, distinct: bool) -> dict[str, object]:
    if not texts:
        return {}
    rules = "extract incompatible.\n" + "\n".join(f"{text}." for text in texts)
    result = rulescore.audit(_observed(facts), rules, convention=convention.value, distinct_variables=distinct)
    return {rule.info.text: rule.dataset for rule in result.rule_results}


def _texts_of_the_forms(facts: list[tuple[str, ...]]) -> list[str]:
    """Every rule with a head of every form, tautologies left out."""
    known = {predicate for predicate, *_ in facts}
    pairs, singles = [one for one in _PAIRS if one in known], [one for one in _SINGLES if one in known]
    constants = sorted({constant for fact in facts for constant in fact[1:]})

    def ways(left: str, right: str) -> list[str]:
        return [f"{name}({first}, {second})" for name in pairs for first, second in ((left, right), (right, left))]

    heads = [f"{name}(X, Y)" for name in pairs]
    found = [f"{head} <- {body}" for head, body in product(heads, ways("X", "Y")) if head != body]
    found += [f"{head} <- {x}, {y}" for head, x, y in product(heads, ways("X", "Z"), ways("Z", "Y"))]
    one = [f"{name}(X)" for name in singles]
    found += [f"{head} <- {body}" for head, body in product(one, one) if head != body]
    found += [f"{head} <- {body}" for head, body in product(one, ways("X", "Y"))]
    found += [f"{head} <- {body}, {name}(Y)" for head, body, name in product(one, ways("X", "Y"), singles)]
    with_one = [atom for constant in constants for atom in ways("X", constant)]
    found += [f"{head} <- {body}" for head, body in product([*with_one, *one], with_one) if head != body]
    found += [f"{head} <- {body}" for head, body in product(with_one, one)]
    return found


def _refutable(facts: list[tuple[str, ...]]) -> set[str]:
    """Predicates that share no tuple with some other of as many places."""
    tuples: dict[str, set[tuple[str, ...]]] = {}
    for predicate, *terms in facts:
        tuples.setdefault(predicate, set()).add(tuple(terms))
    arity = {predicate: len(next(iter(rows))) for predicate, rows in tuples.items()}
    return {
        one
        for one in tuples
        if any(other != one and arity[other] == arity[one] and tuples[one].isdisjoint(tuples[other]) for other in tuples)
    }


@pytest.mark.parametrize(("convention", "distinct"), _WAYS)
@FEW
@given(facts=_graphs)
def test_counts_are_those_of_an_audit_and_no_rule_of_a_form_is_missing(
    convention: Convention, distinct: bool, facts: list[tuple[str, ...]]
) -> None:
    found = {rule.text: rule for rule in shown(_everything(facts, convention, distinct=distinct)) if not rule.form.is_denial}
    refutable = _refutable(facts)
    texts = _texts_of_the_forms(facts)
    audited = _audited(facts, texts, convention, distinct=distinct)
    wanted = {text for text in texts if audited[text].confirmed >= 1 and text.split("(")[0] in refutable}
    assert set(found) == wanted
    assert {text: rule.counts for text, rule in found.items()} == {text: audited[text] for text in wanted}


@FEW
@given(facts=_graphs, distinct=st.booleans())
def test_denial_constraints_are_never_broken(facts: list[tuple[str, ...]], distinct: bool) -> None:
    found = [rule for rule in shown(_everything(facts, Convention.DEFINITION, distinct=distinct)) if rule.form.is_denial]
    audited = _audited(facts, [rule.text for rule in found], Convention.DEFINITION, distinct=distinct) if found else {}
    assert all(rule.counts == audited[rule.text] for rule in found)
    assert all(rule.counts.evaluable == 0 and rule.expected >= 1 for rule in found)


def _denials(facts: list[tuple[str, ...]], least: int) -> set[frozenset[str]]:
    """The conditions of every denial constraint of every form that the facts never break and chance breaks `least` times."""
    rows = {name: {fact[1:] for fact in facts if fact[0] == name} for name, *_ in facts}
    pairs = {name: {(a, b) for a, b in rows[name]} for name in rows if name in _PAIRS}
    everywhere = {constant for held in pairs.values() for pair in held for constant in pair}
    tuples = {1: len({constant for fact in facts for constant in fact[1:]})}
    tuples[2] = len({pair for held in pairs.values() for a, b in held for pair in ((a, b), (b, a))})
    found: set[frozenset[str]] = set()

    def add(expected: float, *conditions: str, broken: bool) -> None:
        if not broken and expected >= least:
            found.add(frozenset(conditions))

    places: dict[str, set[str]] = {}
    for name, held in pairs.items():
        starts, ends = Counter(a for a, _ in held), Counter(b for _, b in held)
        places |= {f"{name}(X, _)": set(starts), f"{name}(_, X)": set(ends)}
        by_chance = len(held) * (len(held) - 1) / len(everywhere)
        add(by_chance, f"{name}(X, Y)", f"{name}(X, Z)", "Y != Z", broken=len(starts) < len(held))
        add(by_chance, f"{name}(Y, X)", f"{name}(Z, X)", "Y != Z", broken=len(ends) < len(held))
        both = sum(starts[b] * ends[a] for a, b in held) / len(held)
        add(both, f"{name}(X, Y)", f"{name}(Y, X)", broken=any((b, a) in held for a, b in held))
        itself = sum(starts[constant] * ends[constant] for constant in everywhere) / len(held)
        add(itself, f"{name}(X, X)", broken=any(a == b for a, b in held))
    for (left, standing), (right, others) in combinations(places.items(), 2):
        if min(len(standing), len(others)) >= least:
            add(len(standing) * len(others) / len(everywhere), left, right, broken=not standing.isdisjoint(others))
    for arity, variables in ((1, "(X)"), (2, "(X, Y)")):
        names = [name for name in rows if (name in _PAIRS) == (arity == 2)]
        for left, right in combinations(names, 2):
            expected = len(rows[left]) * len(rows[right]) / tuples[arity]
            add(expected, left + variables, right + variables, broken=not rows[left].isdisjoint(rows[right]))
    return found


@FEW
@given(facts=st.lists(_fact, min_size=1, max_size=24), least=st.integers(1, 3))
def test_no_denial_constraint_of_a_form_is_missing(facts: list[tuple[str, ...]], least: int) -> None:
    discovery = _everything(facts, Convention.DEFINITION, distinct=False, least=least)
    found = [rule.text for rule in shown(discovery) if rule.form.is_denial]
    assert {frozenset(_conditions(text)) for text in found} == _denials(facts, least)


def _conditions(text: str) -> list[str]:
    return text.removeprefix("false <- ").replace("), ", "); ").split("; ")


@FEW
@given(facts=_graphs, distinct=st.booleans())
def test_a_rule_explains_the_facts_of_its_head_that_some_grounding_confirms(facts: list[tuple[str, ...]], distinct: bool) -> None:
    options = DiscoverOptions(min_support=1, distinct_variables=distinct, max_rate=1)
    found = discover_graph(make_setting(_observed(facts), None, ()), options)
    for rule in (one for one in found.rules if not one.form.is_denial):
        assert rule.explained == _explained_by(rule.text, facts, distinct=distinct), rule.text


def test_every_text_can_be_read_again() -> None:
    facts = [("has part", "A b", "1"), ("has part", "A b", "x.y"), ("Q", "A b", "z"), ("Q", "1", "z")] * 2
    for rule in shown(_everything(facts, Convention.DEFINITION, distinct=False)):
        (statement,) = parse_all([*make_setting(facts, None, f"{rule.text}.").rules]).statements
        assert statement.head is not None


def test_constants_of_any_type_and_facts_of_any_arity_are_written_as_they_are_read() -> None:
    values = [1, 2.5, True, "1", "x y", datetime.date(2020, 1, 31), 1.0, "X", 'a"b']
    facts = {
        "p": [(f"k{i}", value) for i, value in enumerate(values)] + [("k0", "both"), ("k1", "both")],
        "q": [(f"k{i}", value) for i, value in enumerate(values)] + [("k2", "both")],
        "r": [("k0", "k1")],
        "three": [("k0", 1, True)],
    }
    found = rulescore.discover(facts, everything=True, min_support=1, max_rate=1)
    rules = {rule.text: rule.counts for rule in found.listed}
    assert any('"1"' in text for text in rules)
    result = rulescore.audit(facts, "extract incompatible.\n" + "\n".join(f"{text}." for text in rules))
    assert {rule.info.text: rule.dataset for rule in result.rule_results} == rules


def test_facts_known_to_be_false_are_refused() -> None:
    stream = make_setting([("a", "p", "b"), ("b", "p", "c")], None, ()).observed[0]
    assert isinstance(stream, FactStream)
    denied = replace(stream, open=lambda: (replace(batch, negative=True) for batch in stream.open()))
    with pytest.raises(rulescore.InputError, match="E363"):
        discover_graph(Setting((stream, denied), ()), DiscoverOptions())
