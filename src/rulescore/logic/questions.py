"""Registered predicates in formulas: where they are asked, and about values of which types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rulescore.data.setting import ValueType
from rulescore.language.syntax import Condition, Expression, Test, Variable
from rulescore.language.trees import nodes_in, variables_in
from rulescore.logic.formula import All, Any, Disjunct, Exists, FormulaRule, Judgement, Leaf, Opposite
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


def rounds_before(rule: FormulaRule, place: Place) -> int:
    """How many rounds of answers have to be known before all is known that a test is asked about: 0, unless aggregates that ask
    themselves take part."""
    disjuncts = (place.disjunct,) if place.disjunct is not None else rule.disjuncts
    return max(
        (_rounds(rule, (place.test, *_parts_of(place.inner)), _values_of((one, *place.inner))) for one in disjuncts), default=0
    )


def _rounds(rule: FormulaRule, parts: Iterable[Condition | Expression], values: Mapping[str, Expression]) -> int:
    names = {variable.name for part in parts for variable in variables_in(part)}
    return max((_rounds_of(rule, name, values) for name in names), default=0)


def _rounds_of(rule: FormulaRule, name: str, values: Mapping[str, Expression]) -> int:
    if name in values:
        return _rounds(rule, (values[name],), values)
    if name not in rule.measures:
        return 0
    found = 0
    for inner in rule.measures[name].disjuncts:
        asked = any(isinstance(node, Test) and node.predicate not in TESTS for one in _asked_in(inner) for node in nodes_in(one))
        found = max(found, asked + _rounds(rule, _parts_of((inner,)), {**values, **_values_of((inner,))}))
    return found


def _parts_of(disjuncts: Iterable[Disjunct]) -> tuple[Condition | Expression, ...]:
    return tuple(part for one in disjuncts for part in (*one.atoms, *_asked_in(one)))


def _values_of(disjuncts: Iterable[Disjunct]) -> dict[str, Expression]:
    """What variables are bound to by equations."""
    return {name: value for one in disjuncts for name, value in one.values}


def questions(rule: FormulaRule) -> tuple[Question, ...]:
    """The registered predicates that a rule uses."""
    return tuple(dict.fromkeys(question(rule, place.test) for place in test_places(rule) if place.test.predicate not in TESTS))


def asks(condition: Condition, rule: FormulaRule, disjunct: Disjunct) -> bool:
    """Whether a condition of a disjunct holds a registered test, itself or in an aggregate."""
    if any(isinstance(node, Test) and node.predicate not in TESTS for node in nodes_in(condition)):
        return True
    return _rounds(rule, (condition,), _values_of((disjunct,))) > 0


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
