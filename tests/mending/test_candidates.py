"""The table of candidates has what `score` and the oracle give for each candidate alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import engine_side
import rulescore
from generate import plain
from generate.drawing import Generated
from generate.few import FEW
from oracle.facts import Constant, Fact
from oracle.scores import contribution
from oracle.tree import DEFINITION, And, Not
from rulescore.mending.making import candidates
from rulescore.mending.table import CandidateTable
from rulescore.values import key_of

OPTIONS = ("negatives", "distinct_variables", "hard_needs", "kinds", "weights")


def positive(generated: Generated) -> Generated:
    """The setting without rules that ask for absent facts, other than the head by `closed` and `pca`: all candidates of the others
    are counted at once."""
    given = generated.setting

    def keeps(body: object) -> bool:
        return isinstance(body, And) and not any(isinstance(part, Not) for part in body.parts)

    rules = tuple(rule for rule in given.rules if keeps(rule.body))
    auxiliary = tuple(one for one in given.auxiliary if keeps(one.body))
    setting = replace(
        given,
        rules=rules,
        auxiliary=auxiliary,
        convention=DEFINITION,
        roles=None,
    )
    return Generated(setting, generated.arities, generated.groups)


def every_candidate(generated: Generated) -> list[Fact]:
    """Every fact over the constants that occur, and one that occurs nowhere, that is not observed."""
    setting = generated.setting
    mentioned = {one for facts in (setting.every_fact,) for fact in facts for one in fact[1:]}
    strange = Constant("string", "elsewhere")
    constants = [*sorted(mentioned, key=str), strange]
    found = [
        (name, *arguments)
        for name, arity in generated.arities.items()
        if arity < 4  # there are too many of more
        for arguments in product(constants, repeat=arity)
    ]
    return [fact for fact in found if fact not in setting.observed]


def own(table: CandidateTable, fact: Fact) -> dict[str, tuple[int, int, int]]:
    name, *arguments = fact
    found = table.contribution(name, *map(engine_side.python_value, arguments))
    return {rule: (counts.confirmed, counts.refuted, counts.evaluable) for rule, counts in found.items()}


def require_equal(generated: Generated, seed: int) -> None:
    setting, text = generated.setting, generated.text
    if not setting.rules:
        return
    options = engine_side.options(setting)
    options = {name: options[name] for name in OPTIONS}
    facts = every_candidate(generated)
    observed = engine_side.observed_of(setting)
    try:
        table = candidates(observed, text, **options)
    except rulescore.InputError as error:
        if "more than two arguments" in str(error) or "depends on facts that are there" in str(error):
            return
        raise
    result = rulescore.score(
        observed, {"model": engine_side.tables(facts)}, text, contributions=True, allow_unrefutable=True, **options
    )
    expected: dict[Fact, dict[str, tuple[int, int, int]]] = {}
    shown = {engine_side.shown_fact(fact): fact for fact in facts}
    if len(shown) == len(facts):
        for row in result.contributions.to_pylist():
            fact = shown[(row["predicate"], *row["arguments"])]
            expected.setdefault(fact, {})[row["rule"]] = (row["confirmed"], row["refuted"], row["evaluable"])
        for fact in facts:
            assert own(table, fact) == expected.get(fact, {}), fact
    for fact in Random(seed).sample(facts, min(10, len(facts))):
        counts = {rule.name: contribution(setting, rule, fact) for rule in setting.rules}
        assert own(table, fact) == {name: tuple(one) for name, one in counts.items() if any(one)}, fact
    with_arguments = [fact for fact in facts if len(fact) > 1]
    if with_arguments:
        query = Random(seed).choice(with_arguments)
        asked = candidates(observed, text, queries=engine_side.tables([query]), **options)
        for fact in facts:
            shared = (
                [mine for mine, theirs in zip(fact[1:], query[1:], strict=True) if mine == theirs] if fact[0] == query[0] else []
            )
            if any(key_of(engine_side.python_value(constant)) in table.numbers for constant in shared):
                assert own(asked, fact) == own(table, fact), (query, fact)


@FEW
@given((plain.settings() | plain.chains()).map(positive), st.integers(0, 99))
@pytest.mark.slow
def test_every_candidate_has_its_contribution(generated: Generated, seed: int) -> None:
    note(generated.text)
    note(str(sorted(generated.setting.observed, key=str)))
    require_equal(generated, seed)
