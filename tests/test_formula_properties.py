"""For every setting of formula rules and tables, the engine's counts are the oracle's. And what holds of such rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import engine_side
from generate import formulas as formula_strategies
from generate import proximity as proximity_strategies
from generate.drawing import Generated
from generate.few import FEW
from oracle.counts import total
from oracle.tree import And, Not, Or, Rule, Table
from rulescore.errors import InputError
from together import Member, batches, gathered, require_the_oracle_s_numbers


def run(generated: Generated) -> engine_side.Outcome:
    note(generated.text)
    return engine_side.run(generated.setting, generated.text)


STRATEGIES = {
    "every rule": formula_strategies.settings(large_integers=True),
    "pairs within a distance": proximity_strategies.settings(),
}


@cache
def members_of(what: str) -> list[Member]:
    """Generated once for all engines."""
    return gathered(STRATEGIES[what], 4 * settings().max_examples)


@pytest.mark.xdist_group("generated formulas")
@pytest.mark.parametrize("what", STRATEGIES)
def test_engine_equals_oracle(engine: str, what: str) -> None:
    for batch in batches(members_of(what), size=8):
        require_the_oracle_s_numbers(batch, engine)


@FEW
@given(formula_strategies.settings(most_rules=2, models=1))
def test_listed_violations_are_the_counted_ones(engine: str, generated: Generated) -> None:
    note(generated.text)
    assert engine_side.violations(generated.setting, generated.text, engine=engine) == engine_side.expected_violations(
        generated.setting
    )


@FEW
@given(formula_strategies.settings(most_rules=2, models=1))
def test_listed_confirmations_are_the_confirmed_counts_of_rules_that_are_met(generated: Generated) -> None:
    note(generated.text)
    for found in engine_side.explained(generated.setting, generated.text):
        met = {rule: confirmed for rule, (confirmed, refuted, _) in found.counts.items() if confirmed and not refuted}
        assert Counter(row.rule for row in found.confirmations.rows) == met
        assert all(row.confirmed and not row.refuters and not row.compared for row in found.confirmations.rows)


# What changes nothing. The numbers before the change are the oracle's, so that the engine runs once.


@FEW
@given(formula_strategies.settings(), st.randoms(use_true_random=False))
def test_the_order_of_the_parts_of_a_condition_changes_nothing(generated: Generated, random: Random) -> None:
    rules = tuple(replace(rule, body=shuffled(rule.body, random)) for rule in generated.setting.rules)
    changed = replace(generated, setting=replace(generated.setting, rules=rules))
    assert run(changed) == engine_side.expected(generated.setting)


def shuffled(condition: Any, random: Random) -> Any:
    match condition:
        case And(parts) | Or(parts):
            return replace(condition, parts=tuple(random.sample([shuffled(part, random) for part in parts], len(parts))))
        case Not(inner):
            return Not(shuffled(inner, random))
        case _:
            return condition


@FEW
@given(formula_strategies.settings())
def test_two_negations_of_a_head_change_nothing(generated: Generated) -> None:
    def twice(rule: Rule) -> Rule:
        return rule if rule.head is None else replace(rule, head=Not(Not(rule.head)))

    rules = tuple(map(twice, generated.setting.rules))
    changed = replace(generated, setting=replace(generated.setting, rules=rules))
    assert run(changed) == engine_side.expected(generated.setting)


@FEW
@given(formula_strategies.settings(), st.randoms(use_true_random=False))
def test_hidden_values_are_never_read(generated: Generated, random: Random) -> None:
    tables = tuple(with_other_hidden_values(table, random) for table in generated.setting.tables)
    changed = replace(generated, setting=replace(generated.setting, tables=tables))
    assert run(changed) == engine_side.expected(generated.setting)


@FEW
@given(formula_strategies.settings())
def test_columns_of_text_files_have_the_types_of_their_values(generated: Generated) -> None:
    setting = generated.setting
    with TemporaryDirectory() as folder:
        tables = {table.name: engine_side.in_text(table, Path(folder)) for table in setting.tables}
        assume(tables and None not in tables.values())
        note(generated.text)
        try:
            found = engine_side.run(setting, generated.text, tables=tables)
        except InputError as error:
            # A column that a rule equates with text is text, and another rule may compute with it.
            assume("a rule cannot compute with text" not in str(error))
            raise
        assert found == engine_side.expected(setting)


def with_other_hidden_values(table: Table, random: Random) -> Table:
    names = [name for name, _ in table.columns]
    target, hidden = names.index(str(table.target)), names.index(str(table.hidden))
    values = [row[target] for row in table.rows if row[hidden]]
    random.shuffle(values)
    rows = tuple((*row[:target], values.pop() if row[hidden] else row[target], *row[target + 1 :]) for row in table.rows)
    return replace(table, rows=rows)


# What holds of the numbers


@FEW
@given(formula_strategies.settings())
def test_contributions_sum_to_the_totals_and_stay_in_their_range(generated: Generated) -> None:
    outcome = run(generated)
    for (model, rule), counts_of_all in outcome.totals.items():
        parts = [counts for (m, r, _), counts in outcome.contributions.items() if (m, r) == (model, rule)]
        assert total(parts) == counts_of_all
    for c, v, e in [*outcome.dataset.values(), *outcome.contributions.values(), *outcome.totals.values()]:
        assert 0 <= max(c, v) <= e <= c + v
