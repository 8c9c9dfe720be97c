"""Takes a violation apart: what is predicted, what is known, what should hold, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from rulescore.errors import InputError, Source
from rulescore.errors.texts import visible
from rulescore.language.parser import parse
from rulescore.language.syntax import Atom, Condition, Constant, Not, Rule, Variable
from rulescore.report.drawing import Arrow, Drawing, Part, Sides
from rulescore.reporting.violations import sentence, shown_margin, unquoted
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.score import FEW_CASES
from rulescore.scoring.violation import ComparedValues, Fact, Violation
from rulescore.values import Value


@dataclass(frozen=True, slots=True)
class RuleShape:
    """What we can draw of a rule: its head, the plain atoms of its body, and its variables in the order of the text."""

    head: Atom | None
    body: tuple[Atom, ...]
    variables: tuple[str, ...]


def shape_of(text: str) -> RuleShape:
    """The shape of a rule; an empty shape for a rule in SQL."""
    try:
        rules = parse(Source("rule", f"{text}.")).rules
    except InputError:
        return RuleShape(None, (), ())
    return _shape(rules[0]) if len(rules) == 1 else RuleShape(None, (), ())


def _shape(rule: Rule) -> RuleShape:
    head = rule.head if isinstance(rule.head, Atom) else None
    body = tuple(condition for condition in rule.body.conditions if isinstance(condition, Atom))
    terms = chain.from_iterable(_terms(condition) for condition in (*([head] if head else []), *rule.body.conditions))
    return RuleShape(head, body, tuple(dict.fromkeys(term.name for term in terms if isinstance(term, Variable))))


def _terms(condition: Condition) -> Iterable[object]:
    match condition:
        case Atom(_, terms):
            return terms
        case Not(Atom(_, terms)):
            return terms
        case _:
            return ()


class Written(NamedTuple):  # we make several of these, and of `Told`, for each of many rows: a tuple is quicker than a dataclass
    """A fact and its text. We compare facts by their texts: to Python, 1 and true are equal."""

    fact: Fact
    text: str


class Told(NamedTuple):
    """A violation in parts.

    `known`: facts other than the prediction. `should`: the head; None if it is no single fact. `against`: facts other than the
    prediction that refute the head. `missing`: facts whose absence refutes the head. `atoms`: all facts that the sentence may name,
    in the order of the parts.
    """

    violation: Violation
    predicted: Written | None
    known: tuple[Written, ...]
    absent: tuple[Written, ...]
    should: Written | None
    against: tuple[Written, ...]
    missing: tuple[Written, ...]
    atoms: tuple[Written, ...]


def told(violation: Violation, shape: RuleShape) -> Told:
    own = None if violation.prediction is None else _written(violation.prediction)
    refuters = violation.refuters[:1]
    against = _others(own, (fact for refuter in refuters for fact in refuter.facts))
    speaking = {fact.text for fact in against}
    head = _head(violation, shape)
    should = head if head is not None and (own is None or head.text != own.text) else None
    known = tuple(fact for fact in _others(own, violation.facts) if fact.text not in speaking)
    absent = _once(map(_written, violation.absent))
    missing = _once(_written(fact) for refuter in refuters for fact in refuter.absent)
    single = [fact for fact in (own, should) if fact is not None]
    atoms = _once((*single[: own is not None], *known, *absent, *single[own is not None :], *against, *missing))
    return Told(violation, own, known, absent, should, against, missing, atoms)


def _written(fact: Fact) -> Written:
    return Written(fact, str(fact))


def _head(violation: Violation, shape: RuleShape) -> Written | None:
    """The head as a fact."""
    if shape.head is None:
        return None
    values: list[Value] = []
    for term in shape.head.terms:
        match term:
            case Constant(value):
                values.append(value)
            case Variable(name) if name in violation.binding:
                values.append(violation.binding[name])
            case _:
                return None
    head = _written(Fact(shape.head.predicate, tuple(values)))
    return head if head.text == violation.head else None


def _others(own: Written | None, facts: Iterable[Fact]) -> tuple[Written, ...]:
    """The facts that are not the prediction."""
    return _once(
        written for written in map(_written, facts) if not written.fact.predicted and (own is None or written.text != own.text)
    )


def _once(facts: Iterable[Written]) -> tuple[Written, ...]:
    return tuple({fact.text: fact for fact in facts}.values())


def drawing_of(violation: Told, shape: RuleShape, labels: Labels) -> Drawing:
    """The drawing of a violation. Each value stands at the place of its variable; other values stand below."""
    places: dict[tuple[type, Value], int] = {}
    nodes: list[str | None] = []
    for name in shape.variables:
        value = violation.violation.binding.get(name)
        is_new = value is not None and _key(value) not in places
        if value is not None and is_new:
            places[_key(value)] = len(nodes)
        nodes.append(labels.of_value(value) if is_new else None)
    arrows = []
    for part, fact in ((part, written.fact) for part, written in _parts(violation)):
        if fact.names or fact.negative or len(fact.values) not in (1, 2):
            continue
        for value in fact.values:
            if value is not None and _key(value) not in places:
                places[_key(value)] = len(nodes)
                nodes.append(labels.of_value(value))
        if None not in fact.values:
            ends = tuple(places[_key(value)] for value in fact.values if value is not None)
            arrows.append(Arrow(part, labels.of_predicate(fact.predicate), ends))
    return Drawing(tuple(nodes), len(shape.variables), tuple(arrows))


def _key(value: Value) -> tuple[type, Value]:
    return type(value), value


def _parts(violation: Told) -> Iterator[tuple[Part, Written]]:
    if violation.predicted is not None:
        yield Part.PREDICTED, violation.predicted
    yield from ((Part.KNOWN, fact) for fact in violation.known)
    if violation.should is not None:
        yield Part.SHOULD, violation.should
    yield from ((Part.AGAINST, fact) for fact in violation.against)


def sides_of(violation: Violation) -> Sides | None:
    """The sides of the first comparison of numbers, to be drawn on a line."""
    return next((sides for compared in violation.compared if (sides := _sides(compared)) is not None), None)


def _sides(compared: ComparedValues) -> Sides | None:
    match compared.left, compared.right:
        case (bool(), _) | (_, bool()):
            return None
        case (int() | float() as left, int() | float() as right) if not compared.named:
            missed = "" if compared.holds or not compared.margin else f"missed by {shown_margin(compared)}"
            return Sides(left, right, visible(compared.text), _operator(compared), missed)
        case _:
            return None


def _operator(compared: ComparedValues) -> str | None:
    """The operator, if the comparison should hold and does not."""
    words = compared.text.split()
    return next((word for word in ("<=", ">=", "<", ">") if not compared.holds and words.count(word) == 1), None)


def chosen(rows: Sequence[Violation], rules: Mapping[str, RuleResult], worst: Mapping[str, float]) -> Violation | None:
    """The violation to show first. We prefer, in this order: a hard rule, two entities or more, a rule of ten cases or more, a
    known fact that refutes the head, the worst model, the rule that is broken most, and the highest score. `worst`: how bad each
    model is."""

    def worth(row: Violation) -> tuple[bool, bool, bool, float, int, float, str]:
        rule = rules[row.rule]
        values = () if row.prediction is None else row.prediction.values
        own = None if row.prediction is None else _written(row.prediction)
        against = bool(_others(own, (fact for refuter in row.refuters[:1] for fact in refuter.facts)))
        broken = sum(result.counts.refuted for result in rule.models.values())
        bad = worst.get(row.model or "", 0.0)
        score = -1e308 if row.score is None else row.score
        of_entities, known_well = len(set(map(str, values))) > 1, rule.dataset.evaluable >= FEW_CASES
        return (of_entities, known_well, against, bad, broken, score, row.head)

    hard = [row for row in rows if rules[row.rule].kind is RuleKind.HARD]
    return max(hard or rows, key=worth, default=None)


MODEL = -1
"""Stands for the model's name among the pieces of a sentence."""


def pieces(violation: Told) -> tuple[str | int, ...]:
    """The sentence of a violation, with numbers instead of its atoms and its model's name."""
    text = sentence(violation.violation)
    parts: list[str | int] = []
    if (name := violation.violation.model) is not None and text.startswith(f"{name} predicts "):
        parts.append(MODEL)
        text = text.removeprefix(name)
    written = {unquoted(atom.text): number for number, atom in enumerate(violation.atoms)}
    longest = sorted(written, key=len, reverse=True)
    while text:
        # If several atoms begin at the same place, we take the longest: its text may contain the others.
        start, atom = min(((place, name) for name in longest if (place := text.find(name)) >= 0), default=(0, None), key=_first)
        if atom is None:
            return (*parts, text)
        if start:
            parts.append(text[:start])
        parts.append(written[atom])
        text = text[start + len(atom) :]
    return tuple(parts)


def form_of(violation: Told) -> tuple[object, ...] | None:
    """Everything that the pieces of a violation's sentence depend on. So violations of one form have the same pieces. None if the
    form says too little: the sentence mentions other things than facts, or a quote in an atom may seem to end outside it."""
    row, atoms = violation.violation, violation.atoms
    if row.compared or row.aggregated or row.result or any(text.count('"') % 2 or "\\" in text for _, text in atoms):
        return None
    numbers: dict[str, int] = {atom.text: number for number, atom in enumerate(atoms)}

    def facts(several: Iterable[Fact]) -> tuple[object, ...]:
        return tuple((numbers.get(text := str(fact), text), fact.negative, fact.predicted) for fact in several)

    own = None if violation.predicted is None else numbers[violation.predicted.text]
    against = tuple((facts(refuter.facts), facts(refuter.absent), refuter.declared) for refuter in row.refuters[:1])
    # A text that is no atom stands for itself.
    texts = tuple(numbers.get(text, text) for text in (row.head, *row.body))
    return (row.model, own, row.confirmed, row.roles, texts, facts(row.facts), facts(row.absent), against)


def _first(place: tuple[int, str | None]) -> int:
    return place[0]


def shown_fact(fact: Fact, labels: Labels) -> str:
    """A fact with labels, and without quotes."""
    values = [labels.of_value(value) for value in fact.values]
    arguments = [f"{name}: {value}" for name, value in zip(fact.names, values, strict=True)] if fact.names else values
    return f"{'not ' if fact.negative else ''}{labels.of_predicate(fact.predicate)}({', '.join(arguments)})"
