"""The property that matters: for every setting, rule and convention, the engine's counts are the oracle's. And others."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import engine_side
from generate import plain as strategies
from generate.checked import with_checks
from generate.drawing import Generated
from generate.few import FEW
from oracle.counts import total
from oracle.facts import Constant, Fact, Facts, fact
from oracle.scores import contribution
from oracle.tree import (
    BODY,
    HEAD,
    REFUTER,
    And,
    Atom,
    Comparison,
    Condition,
    Not,
    Refutation,
    Rule,
    Setting,
    Term,
    Variable,
    Wildcard,
)
from oracle.walks import conjuncts
from together import Member, batches, gathered, require_the_oracle_s_numbers

# Settings that are evaluated together, and their options: whether variables stand for different constants, and roles that count.
AT_ONCE = 8
OPTIONS = [
    (None, None),
    (None, (BODY,)),
    (True, None),
    (None, (HEAD,)),
    (False, None),
    (None, (REFUTER,)),
    (True, (BODY, REFUTER)),
    (None, (HEAD, REFUTER)),
    (False, (BODY, HEAD)),
    (None, None),
]


def run(generated: Generated) -> engine_side.Outcome:
    note(generated.text)
    return engine_side.run(generated.setting, generated.text)


# Every engine and the oracle. These two get most of the time: every bug of an engine is a difference here.
MANY = 8 * settings().max_examples
TOGETHER = pytest.mark.xdist_group("generated plain rules")


@TOGETHER
@pytest.mark.parametrize("appendix", [False, True], ids=["definition", "appendix"])
def test_engine_equals_oracle(engine: str, appendix: bool) -> None:
    for batch in batches(members_of(appendix), size=AT_ONCE):
        require_the_oracle_s_numbers(batch, engine)


@TOGETHER
def test_horn_rules_counted_as_formulas_have_the_same_numbers() -> None:
    for batch in batches(members_of(appendix=False), size=AT_ONCE):
        require_the_oracle_s_numbers(batch, "duckdb", horn=False)


@TOGETHER
def test_declarations_that_are_checked_are_rules_on_every_engine(engine: str) -> None:
    for batch in batches(checked_members(), size=AT_ONCE):
        require_the_oracle_s_numbers(batch, engine)


@TOGETHER
def test_what_is_linked_and_judged_is_the_same_on_every_engine(engine: str) -> None:
    """Each setting by itself: beside others, their constants would link its predictions."""
    members = [one for one in members_of(False) if one.setting.predictions]
    for member in members[:: len(members) // 6]:
        require_the_oracle_s_numbers([replace(member, prefix="")], engine)


@cache
def checked_members() -> list[Member]:
    members = [with_checks(one) for one in gathered(strategies.settings(), MANY // 2)]
    found = [one for one in members if "@check" in one.text]
    assert len(found) > MANY // 8
    return found


@cache
def members_of(appendix: bool) -> list[Member]:
    """Generated once for all engines, which takes longer than evaluating them."""
    return alike(gathered(strategies.settings(appendix=appendix), MANY))


def alike(members: list[Member]) -> list[Member]:
    """Settings that can be evaluated at once: as many of them one after another have the same options, the next have others."""
    found = []
    for place, member in enumerate(members):
        distinct_variables, roles = OPTIONS[place // AT_ONCE % len(OPTIONS)]
        setting = replace(member.setting, distinct_variables=distinct_variables, roles=roles and frozenset(roles))
        found.append(replace(member, setting=setting))
    return found


@FEW
@given(strategies.settings(most_rules=2, models=1))
def test_listed_violations_are_the_counted_ones_by_the_definition(engine: str, generated: Generated) -> None:
    """Their number is the count, and each names its grounding and the roles of the prediction."""
    note(generated.text)
    setting = generated.setting
    assert engine_side.violations(setting, generated.text, engine=engine) == engine_side.expected_violations(setting)


@FEW
@given(strategies.settings(most_rules=2, models=1))
def test_listed_violations_of_horn_rules_as_formulas_are_the_same(generated: Generated) -> None:
    note(generated.text)
    setting = generated.setting
    assert engine_side.violations(setting, generated.text, horn=False) == engine_side.expected_violations(setting)


@FEW
@given(strategies.settings(appendix=True, most_rules=2, models=1))
def test_listed_violations_are_the_counted_ones_by_the_appendix(engine: str, generated: Generated) -> None:
    """Number and groundings. The appendix lists a grounding once for each refuting fact, so roles are a row's own there."""
    note(generated.text)
    setting = generated.setting
    listed = without_roles(engine_side.violations(setting, generated.text, engine=engine))
    assert listed == without_roles(engine_side.expected_violations(setting))


def without_roles(found: dict[tuple[str, Fact], tuple[int, engine_side.Violations]]) -> dict[tuple[str, Fact], object]:
    return {key: (total, {binding for binding, _ in rows}) for key, (total, rows) in found.items()}


# What changes nothing. The numbers before the change are the oracle's, so that the engine runs once.


def in_terms(atom: Atom, names: dict[str, str], constants: dict[Constant, Constant]) -> Atom:
    def changed(term: Term) -> Term:
        match term:
            case Variable(name):
                return Variable(names.get(name, name))
            case Constant():
                changed_term: Term = constants.get(term, term)
                return changed_term
            case Wildcard():
                return term

    return Atom(atom.predicate, tuple(map(changed, atom.terms)))


def in_condition(condition: Condition, names: dict[str, str], constants: dict[Constant, Constant]) -> Condition:
    match condition:
        case Atom():
            return in_terms(condition, names, constants)
        case Not(inner):
            return Not(in_condition(inner, names, constants))
        case Comparison(operator, left, right):
            left, right = in_terms(Atom("", (left, right)), names, constants).terms
            return Comparison(operator, left, right)
        case And(parts):
            return And(tuple(in_condition(part, names, constants) for part in parts))
        case _:
            raise TypeError(f"{condition} in a plain rule")


def in_rule(rule: Rule, names: dict[str, str], constants: dict[Constant, Constant]) -> Rule:
    head = None if rule.head is None else in_condition(rule.head, names, constants)
    return replace(rule, head=head, body=in_condition(rule.body, names, constants))


def in_refutation(one: Refutation, constants: dict[Constant, Constant]) -> Refutation:
    return Refutation(in_terms(one.head, {}, constants), in_condition(one.body, {}, constants))


NAMES = ("X", "Y", "Z", "W", "V", "Other", "_under", "_1")


@FEW
@given(strategies.settings(), st.permutations(NAMES))
def test_names_of_variables_change_nothing(generated: Generated, names: list[str]) -> None:
    renamed = tuple(in_rule(rule, dict(zip(NAMES, names, strict=True)), {}) for rule in generated.setting.rules)
    changed = replace(generated, setting=replace(generated.setting, rules=renamed))
    assert run(changed) == engine_side.expected(generated.setting)


@FEW
@given(strategies.settings() | strategies.settings(appendix=True), st.randoms(use_true_random=False))
def test_the_order_of_body_atoms_and_rules_changes_nothing(generated: Generated, random: Random) -> None:
    bodies = [conjuncts(rule.body) for rule in generated.setting.rules]
    shuffled = [And(tuple(random.sample(parts, len(parts)))) for parts in bodies]
    rules = [replace(rule, body=body) for rule, body in zip(generated.setting.rules, shuffled, strict=True)]
    random.shuffle(rules)
    changed = replace(generated, setting=replace(generated.setting, rules=tuple(rules)))
    assert run(changed) == engine_side.expected(generated.setting)


@FEW
@given(strategies.settings() | strategies.settings(appendix=True), st.randoms(use_true_random=False))
def test_permuting_constants_changes_only_their_names(generated: Generated, random: Random) -> None:
    """Within a type: a literal has to be of its position's type."""
    setting = generated.setting
    constants = renaming(setting, random)
    changed = with_constants(setting, constants)
    first, second = engine_side.expected(setting), run(replace(generated, setting=changed))
    shown = {engine_side.shown(one): engine_side.shown(other) for one, other in constants.items()}
    if len(shown) == len(constants):
        moved = {
            (model, rule, (one[0], *(shown[argument] for argument in one[1:]))): counts
            for (model, rule, one), counts in first.contributions.items()
        }
        assert moved == second.contributions
    assert replace(first, contributions={}) == replace(second, contributions={})


def renaming(setting: Setting, random: Random) -> dict[Constant, Constant]:
    found: dict[str, list[Constant]] = {}
    for one in sorted({c for stated in setting.every_fact for c in stated[1:]}, key=str):
        found.setdefault(one.type, []).append(one)
    return {one: other for same in found.values() for one, other in zip(same, random.sample(same, len(same)), strict=True)}


def with_constants(setting: Setting, constants: dict[Constant, Constant]) -> Setting:
    def moved(facts: Facts) -> Facts:
        return frozenset((one[0], *(constants[c] for c in one[1:])) for one in facts)

    return replace(
        setting,
        observed=moved(setting.observed),
        negatives=moved(setting.negatives),
        predictions={model: moved(facts) for model, facts in setting.predictions.items()},
        rules=tuple(in_rule(rule, {}, constants) for rule in setting.rules),
        auxiliary=tuple(in_refutation(one, constants) for one in setting.auxiliary),
    )


# What holds of the numbers


@FEW
@given(strategies.settings() | strategies.settings(appendix=True))
def test_contributions_sum_to_the_totals_and_every_number_is_in_its_range(generated: Generated) -> None:
    outcome = run(generated)
    for (model, rule), counts_of_all in outcome.totals.items():
        parts = [counts for (m, r, _), counts in outcome.contributions.items() if (m, r) == (model, rule)]
        assert total(parts) == counts_of_all
    for c, v, e in [*outcome.dataset.values(), *outcome.contributions.values(), *outcome.totals.values()]:
        assert 0 <= max(c, v) <= e <= c + v
    for value in [*outcome.scores.values(), *outcome.aggregates.values()]:
        assert value is None or value >= 0
    for model in generated.setting.predictions:
        shares = [share for (m, _), share in outcome.shares.items() if m == model]
        assert all(share is None for share in shares) or engine_side.Number(sum(s for s in shares if s is not None)) == 1.0


@FEW
@given(strategies.settings() | strategies.settings(appendix=True))
def test_a_further_prediction_moves_scores_in_their_direction(generated: Generated) -> None:
    """More violations never lower a hard rule's score; a soft rule's score follows the rate of its predictions."""
    setting = generated.setting
    predictions = setting.predictions["model0"]
    for left_out in sorted(predictions, key=str)[:1]:
        models = {"fewer": predictions - {left_out}, "all": predictions}
        if not models["fewer"]:
            continue
        outcome = run(replace(generated, setting=replace(setting, predictions=models)))
        for rule, kind in outcome.kinds.items():
            fewer, more = outcome.scores["fewer", rule], outcome.scores["all", rule]
            added = contribution(setting, next(r for r in setting.rules if r.name == rule), left_out)
            if kind == "hard":
                assert fewer is not None
                assert more == fewer + added.refuted
            elif fewer is not None and more is not None:
                before, after = outcome.totals["fewer", rule], outcome.totals["all", rule]
                rises = after.refuted * before.evaluable > before.refuted * after.evaluable
                assert rises == (more > fewer)


@FEW
@given(strategies.mirrored())
def test_predictions_with_the_data_s_mix_of_groundings_score_1(generated: Generated) -> None:
    outcome = run(generated)
    for rule, dataset in outcome.dataset.items():
        assert outcome.totals["model", rule] == dataset
        if outcome.kinds[rule] == "soft":
            assert outcome.scores["model", rule] == 1.0


def test_permuting_test_labels_changes_no_score(tmp_path: Path) -> None:
    """Held-out facts are no input: whatever stands in the file beside the others, every number stays."""
    import rulescore

    (tmp_path / "train.tsv").write_text("a\tq\tb\na\tp\tb\nb\tq\tc\nc\ts\tb\n", encoding="utf-8")
    (tmp_path / "model.tsv").write_text("c\tq\td\nb\tp\tc\n", encoding="utf-8")
    found = []
    for labels in ("b\tp\tc\nc\tq\td\n", "c\tp\tb\nd\tq\tc\n", ""):
        (tmp_path / "test.tsv").write_text(labels, encoding="utf-8")
        evaluation = rulescore.score(
            tmp_path / "train.tsv", {"model": tmp_path / "model.tsv"}, "one: p(X, Y) <- q(X, Y). closed p."
        )
        found.append((evaluation.rule_results, evaluation.model_results))
    assert found[0] == found[1] == found[2]
    assert found[0][0][0].models["model"].counts.refuted == 1


def test_a_fact_that_several_models_predict_is_counted_for_each() -> None:
    prediction = fact("q", "b", "c")
    rule = Rule("one", None, Atom("q", (Variable("X"), Variable("Y"))))
    models = {f"model{i}": frozenset({prediction}) for i in range(3)}
    generated = Generated(Setting(frozenset({fact("p", "a")}), (rule,), models), {"p": 1, "q": 2})
    assert [total.refuted for total in engine_side.run(generated.setting, generated.text).totals.values()] == [1, 1, 1]
