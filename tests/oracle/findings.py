"""What stands beside the scores, by the definitions and literally: predictions that violate, those that no rule concerns, models
that are unmeasured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from oracle.facts import Fact, Facts
from oracle.normal import normal_body, normal_head
from oracle.refutation import incompatible_pairs
from oracle.scores import Counted, counts_of, kind_of
from oracle.tree import REFUTER, Atom, Condition, RowAtom, Rule, Setting, Some
from oracle.unrefutable import unrefutable
from oracle.values import typed
from oracle.walks import aggregates_of, conditions_of, expressions_of, from_target
from oracle.world import derived_facts, observed


class Findings(NamedTuple):
    """Of one model: numbers of distinct predictions, the sum of evaluable groundings, and whether its hard score says nothing. From
    `violating_new` to `judged`, only new predictions count. `none_judged`: measured, but no hard rule judges anything."""

    violating: int
    violating_any: int
    unconcerned: int
    without_partner: int
    evaluable: int
    unmeasured: bool
    new: int
    violating_new: int
    linked: int
    concerned: int
    judged: int
    none_judged: bool


def findings(setting: Setting, model: str, counts: Counted | None = None) -> Findings:
    counted = counts_of(setting) if counts is None else counts
    predictions = setting.predictions[model]
    given = {(rule, one): found for (rule, one), found in counted.contributions.items() if one in predictions}
    refutable = [rule for rule in setting.rules if not unrefutable(setting, rule)]
    violating = violating_predictions(setting, model, counted)
    new = {one for one in predictions if one not in setting.observed}
    unmeasured = not any(concerns(setting, rule, one[0]) for rule in refutable for one in predictions)
    judging = [rule for rule in hard_rules(setting, counted) if rule in refutable]
    return Findings(
        violating=len(violating),
        violating_any=len({one for (_, one), counts in given.items() if counts.refuted}),
        unconcerned=sum(not any(concerns(setting, rule, one[0]) for rule in setting.rules) for one in predictions),
        without_partner=len(predictions) - len({one for (_, one), counts in given.items() if counts.evaluable}),
        evaluable=sum(counts.evaluable for counts in given.values()),
        unmeasured=unmeasured,
        new=len(new),
        violating_new=len(violating & new),
        linked=sum(linked(setting, one) for one in new),
        concerned=sum(any(concerns(setting, rule, one[0]) for rule in setting.rules) for one in new),
        judged=sum(
            any(given[rule.name, one].evaluable or (rule in judging and denies(setting, rule, one)) for rule in setting.rules)
            for one in new
        ),
        none_judged=bool(judging)
        and not unmeasured
        and not any(given[rule.name, one].evaluable or denies(setting, rule, one) for rule in judging for one in predictions),
    )


def violating_predictions(setting: Setting, model: str, counted: Counted) -> set[Fact]:
    """The predictions that violate a hard rule."""
    hard = hard_rules(setting, counted)
    return {one for one in setting.predictions[model] for rule in hard if counted.contributions[rule.name, one].refuted}


def hard_rules(setting: Setting, counted: Counted) -> list[Rule]:
    return [rule for rule in setting.rules if kind_of(setting, rule, counted.dataset[rule.name]) == "hard"]


# Linked


def linked(setting: Setting, prediction: Fact) -> bool:
    """Every constant occurs in the data; of the target of a table, every part of the key in that table."""
    _, *constants = prediction
    for table in setting.tables:
        if table.target is not None and prediction[0] == table.predicate(table.target):
            names = [name for name, _ in table.columns]
            keys = {tuple(typed(row[names.index(name)]) for name in table.key) for row in table.rows}
            return tuple(constants[:-1]) in keys
    named = named_attributes(setting)
    facts = {one for one in computed(setting) if one in setting.observed or one[0] in named}
    return set(constants) <= {constant for one in facts for constant in one[1:]}


def computed(setting: Setting) -> Facts:
    """The observed facts, with those of derived attributes."""
    facts = observed(setting)
    return facts | derived_facts(setting, facts)


def named_attributes(setting: Setting) -> set[str]:
    """The attributes that are loaded: keys, targets, and those that rules and declarations name."""
    conditions = [one for rule in (*setting.rules, *setting.auxiliary) for one in (rule.body, rule.head) if one is not None]
    found = {name for one in conditions for name in named_in(one)} | setting.closed
    found |= {one.predicate for one in (*setting.functional, *setting.complete)}
    found |= {atom.predicate for pair in setting.incompatible for atom in (pair.left, pair.right)}
    for table in setting.tables:
        found |= {table.predicate(name) for name in (*table.key, *([table.target] if table.target else []))}
    return found


def named_in(condition: Condition) -> Iterator[str]:
    match condition:
        case Atom(predicate):
            yield predicate
        case RowAtom(table, arguments):
            yield from (f"{table}.{name}" for name, _ in arguments)
    for part in conditions_of(condition):
        yield from named_in(part)
    for expression in expressions_of(condition):
        for aggregate in aggregates_of(expression):
            yield from named_in(aggregate.condition)


def denies(setting: Setting, rule: Rule, prediction: Fact) -> bool:
    """The rule is a denial constraint that concerns the prediction, which is linked."""
    return rule.head is None and linked(setting, prediction) and concerns(setting, rule, prediction[0])


# Concerned


def concerns(setting: Setting, rule: Rule, predicate: str) -> bool:
    """The predicate stands in the rule. Where predictions count as refuters, what refutes its head belongs to the rule."""
    if predicate in standing_in(setting, rule):
        return True
    if REFUTER not in setting.counted_roles or unrefutable(setting, rule):
        return False
    found = {one for head in head_predicates(setting, rule) for one in refuting_predicates(setting, head)}
    return predicate in with_targets(setting, found)


def head_predicates(setting: Setting, rule: Rule) -> set[str]:
    """The predicates of the atoms of a head, those of aggregates in it left out."""
    head = normal_head(setting, rule.head)
    waiting = [] if head is None else [head]
    found = set()
    while waiting:
        part = waiting.pop()
        found |= {part.predicate} if isinstance(part, Atom) else set()
        waiting += conditions_of(part)
    return found


def with_targets(setting: Setting, found: set[str]) -> set[str]:
    """Attributes that change with the target of their table speak of the target, what is defined of the facts it is made of."""
    picked = (one for one in setting.definitions if not one.chained)
    found = found | {definition.fact.predicate for definition in picked if definition.head.predicate in found}
    for table in setting.tables:
        if table.target is not None and found & set(map(table.predicate, from_target(table))):
            found = found | {table.predicate(table.target)}
    return found


def standing_in(setting: Setting, rule: Rule) -> set[str]:
    conditions = (normal_body(setting, rule.body), normal_head(setting, rule.head))
    found = {atom.predicate for condition in conditions if condition is not None for atom in every_atom(condition)}
    return with_targets(setting, found)


def every_atom(condition: Condition) -> Iterator[Atom]:
    match condition:
        case Atom():
            yield condition
        case Some(atoms):
            yield from atoms
        case _:
            for part in conditions_of(condition):
                yield from every_atom(part)
            for expression in expressions_of(condition):
                for aggregate in aggregates_of(expression):
                    yield from every_atom(aggregate.condition)


def refuting_predicates(setting: Setting, head: str) -> Iterator[str]:
    for pair in incompatible_pairs(setting):
        if head in (pair.left.predicate, pair.right.predicate):
            yield from (pair.left.predicate, pair.right.predicate)
    for auxiliary in setting.auxiliary:
        if auxiliary.head.predicate == head:
            yield from (atom.predicate for atom in every_atom(normal_body(setting, auxiliary.body)))
