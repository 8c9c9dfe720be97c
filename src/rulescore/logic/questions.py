"""Registered predicates in formulas: where they are asked, and about values of which types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rulescore.data.setting import ValueType
from rulescore.language.syntax import Condition, Expression, Test, Variable
from rulescore.language.trees import nodes_in, variables_in
from rulescore.logic.formula import All, Any, Disjunct, Exists, FormulaRule, Judgement, Leaf, Measure, Opposite
from rulescore.logic.types import TESTS, Typing


@dataclass(frozen=True, slots=True)
class Question:
    """A registered predicate and the types of its arguments. Where it is asked about other types, its answers are kept apart."""

    function: str
    types: tuple[ValueType | None, ...]


def question(rule: FormulaRule, test: Test) -> Question:
    typing = Typing(lambda variable: rule.types.get(variable.name), [])
    return Question(test.predicate, tuple(map(typing.expression, test.arguments)))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a registered test is asked: after which branches, and within which disjuncts of aggregates or refutations."""

    test: Test
    disjunct: Disjunct | None
    inner: tuple[Disjunct, ...]


def is_deferred(rule: FormulaRule, test: Test) -> bool:
    measures = [rule.measures[node.name] for node in variables_in(test) if node.name in rule.measures]
    return any(_measure_asks(measure, rule) for measure in measures)


def questions(rule: FormulaRule) -> tuple[Question, ...]:
    """The registered predicates that a rule uses."""
    return tuple(dict.fromkeys(question(rule, place.test) for place in test_places(rule) if place.test.predicate not in TESTS))


def asks(condition: Condition | Expression, rule: FormulaRule) -> bool:
    """Whether a condition holds a registered test, itself or in an aggregate."""
    for node in nodes_in(condition):
        if isinstance(node, Test) and node.predicate not in TESTS:
            return True
        if isinstance(node, Variable) and node.name in rule.measures and _measure_asks(rule.measures[node.name], rule):
            return True
    return False


def _measure_asks(measure: Measure, rule: FormulaRule) -> bool:
    return any(asks(one, rule) for inner in measure.disjuncts for one in _asked_in(inner))


def test_places(rule: FormulaRule) -> Iterator[Place]:
    for disjunct in rule.disjuncts:
        yield from _places_in(rule, _asked_in(disjunct), disjunct, ())
    # Whether a prediction is in an aggregate is asked also if nothing depends on the value of the aggregate.
    for name in (*rule.body_measures, *rule.head_measures):
        for one in rule.measures[name].disjuncts:
            yield from _places_in(rule, _asked_in(one), None, (one,))
    yield from _judgement_places(rule, rule.confirmed)
    yield from _judgement_places(rule, rule.refuted)


def _asked_in(disjunct: Disjunct) -> tuple[Condition | Expression, ...]:
    return (*disjunct.tests, *(value for _, value in disjunct.values))


def _places_in(
    rule: FormulaRule, tests: Sequence[Condition | Expression], disjunct: Disjunct | None, inner: tuple[Disjunct, ...]
) -> Iterator[Place]:
    for test in tests:
        for node in nodes_in(test):
            if isinstance(node, Test):
                yield Place(node, disjunct, inner)
            elif isinstance(node, Variable) and node.name in rule.measures:
                for one in rule.measures[node.name].disjuncts:
                    yield from _places_in(rule, _asked_in(one), disjunct, (*inner, one))


def _judgement_places(rule: FormulaRule, judgement: Judgement, inner: tuple[Disjunct, ...] = ()) -> Iterator[Place]:
    match judgement:
        case Leaf(condition):
            yield from _places_in(rule, (condition,), None, inner)
        case All(parts) | Any(parts):
            for part in parts:
                yield from _judgement_places(rule, part, inner)
        case Opposite(part):
            yield from _judgement_places(rule, part, inner)
        case Exists(disjuncts):
            for one in disjuncts:
                yield from _places_in(rule, _asked_in(one), None, (*inner, one))
