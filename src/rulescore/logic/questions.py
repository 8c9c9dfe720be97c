"""Registered predicates in formulas: the places that call them, and the types of their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from rulescore.language.syntax import Expression, Test, Variable
from rulescore.logic.formula import All, AnyOf, Disjunct, Exists, FormulaRule, Judgement, Leaf, Opposite
from rulescore.logic.resolved_trees import Resolved, asked_in, nodes_of, parts_of, variables_of
from rulescore.logic.types import TESTS, Typing
from rulescore.values.types import ValueType


@dataclass(frozen=True, slots=True)
class Question:
    """A registered predicate and the types of its arguments. Calls with other types are another question, with its own answers."""

    function: str
    types: tuple[ValueType | None, ...]


def question(rule: FormulaRule, test: Test) -> Question:
    typing = Typing(lambda variable: rule.types.get(variable.name), [])
    return Question(test.predicate, tuple(map(typing.expression, test.arguments)))


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """A place that asks a test. `disjunct`: the disjunct of the body whose bindings it uses; None: any of them. `inner`: the
    disjuncts of aggregates or refutations around it."""

    test: Test
    disjunct: Disjunct | None
    inner: tuple[Disjunct, ...]


def rounds_before(rule: FormulaRule, place: QuestionPlace) -> int:
    """How many rounds of answers we need before we know all arguments of a test: 0, unless they depend on aggregates that contain
    registered tests."""
    disjuncts = (place.disjunct,) if place.disjunct is not None else rule.disjuncts
    asked = (Leaf(place.test), *_parts_of(place.inner))
    return max((_rounds(rule, asked, _values_of((one, *place.inner))) for one in disjuncts), default=0)


def _rounds(rule: FormulaRule, parts: Iterable[Resolved], values: Mapping[str, Expression]) -> int:
    names = {variable.name for part in parts for variable in variables_of(part)}
    return max((_rounds_of(rule, name, values) for name in names), default=0)


def _rounds_of(rule: FormulaRule, name: str, values: Mapping[str, Expression]) -> int:
    if name in values:
        return _rounds(rule, (values[name],), values)
    if name not in rule.measures:
        return 0
    found = 0
    for inner in rule.measures[name].disjuncts:
        asked = any(map(_is_asked, asked_in(inner)))
        found = max(found, asked + _rounds(rule, _parts_of((inner,)), {**values, **_values_of((inner,))}))
    return found


def is_registered(node: object) -> TypeGuard[Test]:
    """Whether a node is a test that the user has registered."""
    return isinstance(node, Test) and node.predicate not in TESTS


def _is_asked(part: Resolved) -> bool:
    """Whether a part contains a registered test."""
    return any(map(is_registered, nodes_of(part)))


def _parts_of(disjuncts: Iterable[Disjunct]) -> tuple[Resolved, ...]:
    return tuple(part for one in disjuncts for part in parts_of(one))


def _values_of(disjuncts: Iterable[Disjunct]) -> dict[str, Expression]:
    """The expressions that equations bind variables to."""
    return {name: value for one in disjuncts for name, value in one.values}


def questions(rule: FormulaRule) -> tuple[Question, ...]:
    """The registered predicates that a rule uses."""
    return tuple(dict.fromkeys(question(rule, place.test) for place in test_places(rule) if place.test.predicate not in TESTS))


def asks(test: Judgement, rule: FormulaRule, disjunct: Disjunct) -> bool:
    """Whether a test of a disjunct contains a registered test, itself or in an aggregate."""
    return _is_asked(test) or _rounds(rule, (test,), _values_of((disjunct,))) > 0


def test_places(rule: FormulaRule) -> Iterator[QuestionPlace]:
    for disjunct in rule.disjuncts:
        yield from _places_in(rule, asked_in(disjunct), disjunct, ())
    # We also need to know whether a prediction is in an aggregate if nothing depends on the aggregate's value.
    for name in (*rule.body_measures, *rule.head_measures):
        for one in rule.measures[name].disjuncts:
            yield from _places_in(rule, asked_in(one), None, (one,))
    yield from _judgement_places(rule, rule.confirmed)
    yield from _judgement_places(rule, rule.refuted)


def _places_in(
    rule: FormulaRule, tests: Sequence[Judgement | Expression], disjunct: Disjunct | None, inner: tuple[Disjunct, ...]
) -> Iterator[QuestionPlace]:
    for test in tests:
        for node in nodes_of(test):
            if isinstance(node, Test):
                yield QuestionPlace(node, disjunct, inner)
            elif isinstance(node, Variable) and node.name in rule.measures:
                for one in rule.measures[node.name].disjuncts:
                    yield from _places_in(rule, asked_in(one), disjunct, (*inner, one))


def _judgement_places(rule: FormulaRule, judgement: Judgement, inner: tuple[Disjunct, ...] = ()) -> Iterator[QuestionPlace]:
    match judgement:
        case Leaf():
            yield from _places_in(rule, (judgement,), None, inner)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _judgement_places(rule, part, inner)
        case Opposite(part):
            yield from _judgement_places(rule, part, inner)
        case Exists(disjuncts):
            for one in disjuncts:
                yield from _places_in(rule, asked_in(one), None, (*inner, one))
