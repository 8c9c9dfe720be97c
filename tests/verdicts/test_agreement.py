"""Verdicts are the oracle's counts, row by row, and agree with what `score` says of the same predictions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import engine_side
import rulescore
from generate import plain as strategies
from generate.drawing import Generated
from generate.few import FEW
from oracle.findings import concerns, linked
from oracle.scores import counts_of, kind_of
from rulescore.verdicts.judging import Verdict

pytestmark = pytest.mark.slow


@FEW
@given(strategies.settings(most_rules=3) | strategies.settings(appendix=True, most_rules=3), st.randoms(use_true_random=False))
def test_every_row_has_the_oracle_s_verdict(engine: str, generated: Generated, random: Random) -> None:
    note(generated.text)
    setting = generated.setting
    rows = {
        model: [*facts, *random.sample(sorted(facts, key=str), len(facts) // 2)] for model, facts in setting.predictions.items()
    }
    for facts in rows.values():
        random.shuffle(facts)
    counts = counts_of(setting)
    kinds = {rule.name: kind_of(setting, rule, counts.dataset[rule.name]) for rule in setting.rules}
    # A list of one-predicate mappings keeps the order of rows, whatever their arities.
    given_rows = {
        model: [{fact[0]: [tuple(map(engine_side.python_value, fact[1:]))]} for fact in facts] for model, facts in rows.items()
    }
    result = rulescore.score(
        engine_side.tables(setting.observed), given_rows, generated.text, **engine_side.options(setting, engine)
    )
    verdicts = result.verdicts(all_rules=True)
    expected = [(model, fact) for model, facts in rows.items() for fact in facts]
    given_verdicts = [verdict for _, of_rows in verdicts.judged.sources for verdict in of_rows]
    for (_, fact), verdict in zip(expected, given_verdicts, strict=True):
        broken = {rule.name for rule in setting.rules if counts.contributions[rule.name, fact].refuted}
        met = {rule.name for rule in setting.rules if counts.contributions[rule.name, fact].confirmed}
        assert set(verdict.rules) == broken
        assert len(verdict.reasons) == len(broken)
        if broken:
            assert verdict.verdict is Verdict.CONTRADICTED
            assert (verdict.kind == "hard") == any(kinds[rule] == "hard" for rule in broken)
        elif fact in setting.observed:
            assert verdict.verdict is Verdict.ALREADY_KNOWN
        elif not linked(setting, fact):
            assert verdict.verdict is Verdict.NOT_LINKED
        elif verdict.verdict is Verdict.SUPPORTED:
            assert verdict.rule in met
        else:
            assert verdict.verdict is Verdict.NOT_JUDGED
            unmentioned = not any(concerns(setting, rule, fact[0]) for rule in setting.rules)
            assert verdict.because.startswith("no rule mentions") == unmentioned
    for model in result.model_results:
        wrong = {
            fact for (name, fact), verdict in zip(expected, given_verdicts, strict=True) if name == model.name and verdict.rules
        }
        assert model.violating_any == len(wrong)
