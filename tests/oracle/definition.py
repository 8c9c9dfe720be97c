"""The meaning of every number by the definition: a literal, slow evaluator of every rule of the language.

A table is a set of attribute facts. For every prediction A the facts D ∪ {A} are built as a set, groundings are found by
joining the atoms of each disjunct, and body, head and participation are read off one grounding after the other. Nothing is
concluded from one prediction for the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from oracle.counts import Counts, counted
from oracle.facts import Constant, Fact
from oracle.groundings import Known, Outline, ground, groundings, joins, outline, solutions, truth, with_abbreviations
from oracle.normal import normal_body, normal_head
from oracle.refutation import answers, refuting_facts
from oracle.tree import (
    BODY,
    HEAD,
    REFUTER,
    Aggregate,
    And,
    Atom,
    Call,
    Comparison,
    Condition,
    Expression,
    Let,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    RowAtom,
    Rule,
    Setting,
    Some,
    Test,
)
from oracle.walks import from_target, names_of_atoms
from oracle.world import World, defined_facts, observed, world_of

# Participation


@dataclass(frozen=True)
class Given:
    """A grounding given a prediction: what is known over D_A and over D, which differ where an abbreviation has an aggregate; and
    whether it is judged otherwise over D_A than over D."""

    prediction: Fact
    after: World
    before: World
    known_after: Known
    known_before: Known
    changed: bool


def participates(condition: Condition | None, given: Given) -> bool:
    """The prediction is one of the ground atoms of the condition, whether that matters for its truth or not."""
    match condition:
        case None:
            return False
        case Atom():
            return stands_for(condition, given)
        case Some(atoms):
            return is_among(atoms, given)
        case Not(inner):
            return participates(inner, given)
        case And(parts) | Or(parts):
            return any(participates(part, given) for part in parts)
        case Comparison(_, left, right):
            return is_within(left, given) or is_within(right, given)
        case Member(value, _) | Let(_, value):
            return is_within(value, given)
        case Test(_, arguments):
            return any(is_within(argument, given) for argument in arguments)
        case RowAtom():
            raise TypeError(f"{condition} was not brought into normal form")


def is_among(atoms: tuple[Atom, ...], given: Given) -> bool:
    """Among atoms that are ground, as for any; otherwise among those of some instance that holds."""
    if names_of_atoms(atoms) <= given.known_after.keys():
        return any(stands_for(atom, given) for atom in atoms)
    instances = (replace(given, known_after=one) for one in joins(atoms, given.known_after, given.after))
    return any(stands_for(atom, instance) for instance in instances for atom in atoms)


def stands_for(atom: Atom, given: Given) -> bool:
    """The ground atom is the prediction; or it is an attribute derived from the predicted one, of that row and with its value:
    an instance of the definition that holds has the prediction in it."""
    return is_predicted(ground(atom, given.known_after), given)


def is_predicted(one: Fact, given: Given) -> bool:
    prediction = given.prediction
    for table in given.after.setting.tables:
        if table.target is not None and prediction[0] == table.predicate(table.target):
            derived = map(table.predicate, from_target(table) - {table.target})
            if one[0] in derived and one[:-1] == (one[0], *prediction[1:-1]):
                return one in given.after.facts
    return one == prediction or one in defined_facts(given.after.setting, frozenset({prediction}))


def judged_otherwise(outline_of_body: Outline, head: Condition | None, grounding: Known, after: World, before: World) -> bool:
    """The body holds over one set of facts and not over the other, or the head's two answers differ."""
    judged = []
    for world in (after, before):
        known = with_abbreviations(outline_of_body, grounding, world)
        holds = truth(outline_of_body.condition, known, world) is True
        judged.append((holds, answers(head, known, world) if holds else None))
    return judged[0] != judged[1]


def is_within(expression: Expression, given: Given) -> bool:
    """The prediction participates in an aggregate of the expression: it is in it, and the grounding is judged otherwise for it."""
    if not given.changed:
        return False
    match expression:
        case Aggregate(_, value, condition):
            return is_within_aggregate(condition, given) or is_within(value, given)
        case Operation(_, left, right):
            return is_within(left, given) or is_within(right, given)
        case Negative(operand):
            return is_within(operand, given)
        case Call(_, arguments):
            return any(is_within(argument, given) for argument in arguments)
        case _:
            return False


def is_within_aggregate(condition: Condition, given: Given) -> bool:
    """For some inner grounding it is an atom of the condition, and the condition holds in D_A or held in D."""
    inner = [binding for binding, _ in solutions(condition, given.known_after, given.after)]
    inner += [binding for binding, _ in solutions(condition, given.known_before, given.before)]
    found = outline(condition, frozenset(given.known_after))
    for binding in inner:
        after = with_abbreviations(found, {**given.known_after, **binding}, given.after)
        before = with_abbreviations(found, {**given.known_before, **binding}, given.before)
        if participates(found.condition, replace(given, known_after=after, known_before=before)):
            return True
    return False


# Counts


def dataset_counts(setting: Setting, rule: Rule) -> Counts:
    world = world_of(setting, observed(setting))
    head = normal_head(setting, rule.head)
    return counted(answers(head, known, world) for _, known in groundings(setting, rule, world))


@dataclass(frozen=True)
class Outcome:
    """A grounding in which a prediction participates, and what becomes of its head."""

    grounding: frozenset[tuple[str, Constant]]
    roles: frozenset[str]
    confirmed: bool
    refuted: bool


def outcomes(setting: Setting, rule: Rule, prediction: Fact) -> Iterator[Outcome]:
    before = world_of(setting, observed(setting))
    after = world_of(setting, observed(setting) | {prediction})
    body, head = normal_body(setting, rule.body), normal_head(setting, rule.head)
    found = outline(body, frozenset())
    for grounding, known in groundings(setting, rule, after):
        changed = judged_otherwise(found, head, grounding, after, before)
        given = Given(prediction, after, before, known, with_abbreviations(found, grounding, before), changed)
        places = ((BODY, found.condition), (HEAD, head))
        roles = frozenset(role for role, condition in places if participates(condition, given))
        if any(is_predicted(one, given) for one in refuting_facts(head, known, after)):
            roles |= {REFUTER}
        if roles & setting.counted_roles:
            yield Outcome(frozenset(grounding.items()), roles, *answers(head, known, after))


def contribution(setting: Setting, rule: Rule, prediction: Fact) -> Counts:
    return counted((one.confirmed, one.refuted) for one in outcomes(setting, rule, prediction))


def violations(setting: Setting, rule: Rule, prediction: Fact) -> set[tuple[frozenset[tuple[str, Constant]], frozenset[str]]]:
    """The refuted groundings that count for a prediction, each with the roles the prediction plays in it."""
    return {(one.grounding, one.roles) for one in outcomes(setting, rule, prediction) if one.refuted}
