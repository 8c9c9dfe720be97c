"""The oracle of every rule against the oracle of plain rules, and against brute force. Case files give it numbers by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given

import formula_strategies
import formulas
import oracle
import strategies
from case_files import all_cases
from formula_normal import normal_body
from formula_text import read_formulas
from formula_tree import And, Comparison, Condition, FormulaRule, FormulaSetting, Not, Refutation
from formula_writing import write_formulas, write_rule
from oracle import BODY, DEFINITION, HEAD, Atom, Compare, Literal, Setting
from rule_text import Program, RuleTextError

pytestmark = pytest.mark.slow

PLAIN = [
    (case, run)
    for case in all_cases()
    for run in case.runs
    if isinstance(case.program, Program) and run.convention == DEFINITION and (run.roles or set()) <= {BODY, HEAD}
]


def as_formula(setting: Setting) -> FormulaSetting:
    """The same setting for the other oracle. Its roles are those of body and head."""
    rules = tuple(FormulaRule(one.name, one.head, as_condition(one.body), one.kind, one.weight) for one in setting.rules)
    kept = {one.name: getattr(setting, one.name) for one in fields(setting)}
    auxiliary = tuple(Refutation(one.head, as_condition(one.body)) for one in setting.auxiliary)
    return FormulaSetting(**{**kept, "rules": rules, "auxiliary": auxiliary})


def as_condition(body: oracle.Body) -> Condition:
    return And(tuple(map(as_part, body)))


def as_part(literal: Literal) -> Condition:
    match literal:
        case Atom():
            return literal
        case oracle.Not(atom):
            return Not(atom)
        case Compare(left, right, equal):
            return Comparison("=" if equal else "!=", left, right)  # type: ignore[arg-type]


def counts(meaning: object, setting: Setting) -> list[object]:
    return [
        (
            rule.name,
            meaning.dataset_counts(setting, rule),  # type: ignore[attr-defined]
            [meaning.contribution(setting, rule, one) for one in sorted(facts, key=str)],  # type: ignore[attr-defined]
        )
        for rule in setting.rules
        for facts in setting.predictions.values()
    ]


@pytest.mark.parametrize(("case", "run"), PLAIN, ids=lambda value: getattr(value, "name", "") or f"line {value.line}")
def test_both_oracles_agree_on_plain_cases(case: object, run: object) -> None:
    setting = case.setting(run)  # type: ignore[attr-defined]
    other = as_formula(setting)
    read = read_formulas(case.rule_text)  # type: ignore[attr-defined]
    assert [(rule.name, rule.head, rule.body) for rule in read.rules] == [(r.name, r.head, r.body) for r in other.rules]
    assert counts(formulas, other) == counts(oracle, setting)


@given(strategies.settings())
def test_both_oracles_agree_on_plain_rules(generated: strategies.Generated) -> None:
    setting = replace(generated.setting, roles=None)
    assert counts(formulas, as_formula(setting)) == counts(oracle, setting)


@given(formula_strategies.settings())
def test_groundings_are_those_that_all_assignments_give(generated: formula_strategies.GeneratedFormulas) -> None:
    """Only rules of few variables: brute force tries every constant for every variable."""
    setting = generated.setting
    world = formulas.world_of(setting, formulas.observed(setting))
    for rule in setting.rules:
        names = formulas.outline(normal_body(setting, rule.body), frozenset()).names  # type: ignore[arg-type]
        if len(names) <= 2:
            found = [frozenset(one.items()) for one, _ in formulas.groundings(setting, rule, world)]  # type: ignore[arg-type]
            brute = [frozenset(one.items()) for one in formulas.every_grounding(setting, rule, world)]  # type: ignore[arg-type]
            assert len(found) == len(set(found))
            assert set(found) == set(brute)


@given(formula_strategies.settings())
def test_what_is_written_is_read_again(generated: formula_strategies.GeneratedFormulas) -> None:
    setting = generated.setting
    read = read_formulas(write_formulas(setting, generated.arities))
    assert [write_rule(rule) for rule in read.rules] == [write_rule(rule) for rule in setting.rules]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "p(X) <- q(X), r(X) or s(X).",
        "p(X), r(X) <- q(X).",
        "p(X) <- sale(id: X, id: Y).",
        "p(X) <- sale(X, price: Y).",
        "p(X) <- X < .",
        "p(X) <- frobnicate(X) < 3.",
        "p(X) <- count(X) < 3.",
        "p(X) <- X in {}.",
        "p(X) <- q(X)",
    ],
)
def test_a_rule_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(RuleTextError):
        read_formulas(text)


def test_a_variable_that_one_disjunct_leaves_open_is_refused() -> None:
    (rule,) = read_formulas("p(X) <- q(X, Y) or s(X).").rules
    setting = FormulaSetting(frozenset({oracle.fact("q", "a", "b")}), (rule,))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unsafe"):
        formulas.dataset_counts(setting, rule)
