"""What rules are evaluated over: plain facts, and tables as attribute facts with what is derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from oracle.facts import Constant, Double, Fact, Facts
from oracle.tree import AttributeName, Call, Expression, Negative, Operation, Setting, Variable, Wildcard
from oracle.values import Raw, as_double, call, is_integer, operate, raw, typed


@dataclass(frozen=True)
class World:
    """A set of facts, with what follows from the definitions of derived attributes."""

    setting: Setting
    facts: Facts
    by_predicate: Mapping[str, tuple[Fact, ...]]


def attribute_facts(setting: Setting) -> Facts:
    """What the tables say: one fact for each value that is there and not hidden."""
    found = set()
    for table in setting.tables:
        names = [name for name, _ in table.columns]
        for values in table.rows:
            row = dict(zip(names, values, strict=True))
            key = tuple(typed(row[name]) for name in table.key)
            is_hidden = table.hidden is not None and row[table.hidden] is True
            for name, value in row.items():
                if value is not None and not (is_hidden and name == table.target):
                    found.add((table.predicate(name), *key, typed(value)))
    return frozenset(found)


def derived_facts(setting: Setting, facts: Facts) -> Facts:
    found = set()
    for table in setting.tables:
        rows: dict[Fact, dict[str, Constant | None]] = {}
        for name in table.attributes:
            for predicate, *arguments in facts:
                if predicate == table.predicate(name):
                    rows.setdefault(tuple(arguments[:-1]), {})[name] = arguments[-1]
        for key, row in rows.items():
            for name, definition in table.derived:
                row[name] = typed(attribute_value(definition, row))
                if row[name] is not None:
                    found.add((table.predicate(name), *key, row[name]))
    return frozenset(found)


def defined_facts(setting: Setting, facts: Facts) -> Facts:
    """What the definitions make of each fact by itself."""
    found = set()
    for definition in setting.definitions:
        atom = definition.fact
        if definition.chained:
            continue
        for one in facts:
            if one[0] != atom.predicate or len(one) - 1 != len(atom.terms):
                continue
            pairs = list(zip(atom.terms, one[1:], strict=True))
            known = {term.name: argument for term, argument in pairs if isinstance(term, Variable)}
            fits = all(
                isinstance(term, Wildcard) or (known[term.name] if isinstance(term, Variable) else term) == argument
                for term, argument in pairs
            )
            if fits and all(known[member.value.name] in member.constants for member in definition.members):
                found.add((definition.head.predicate, *(known[term.name] for term in definition.head.terms)))
    return frozenset(found)


def chained_facts(setting: Setting) -> Facts:
    """The ends of all chains of observed facts: one fact is a chain, and so is a chain with one fact more."""
    found = set()
    for definition in setting.definitions:
        if definition.chained:
            links = {one[1:] for one in setting.observed if one[0] == definition.fact.predicate and len(one) == 3}
            chains = set(links)
            while longer := {(a, d) for a, b in chains for c, d in links if b == c} - chains:
                chains |= longer
            found |= {(definition.head.predicate, *ends) for ends in chains}
    return frozenset(found)


def attribute_value(expression: Expression, row: Mapping[str, Constant | None]) -> Raw:
    match expression:
        case AttributeName(name):
            return raw(row.get(name))
        case Constant():
            return raw(expression)
        case Operation(operator, left, right):
            return operate(operator, attribute_value(left, row), attribute_value(right, row))
        case Negative(operand):
            return operate("-", 0, attribute_value(operand, row))
        case Call(function, arguments):
            return call(function, [attribute_value(argument, row) for argument in arguments])
        case _:
            raise TypeError(f"{expression} in a derived attribute")


@lru_cache(maxsize=100)
def observed(setting: Setting) -> Facts:
    return setting.observed | attribute_facts(setting)


@lru_cache(maxsize=100)
def double_places(setting: Setting) -> set[tuple[str, int]]:
    """The places of predicates whose numbers are not all integers, whoever says so, and the columns of floats."""
    found = {
        (one[0], place)
        for one in setting.every_fact
        for place, argument in enumerate(one[1:])
        if argument.type == "number" and (isinstance(argument, Double) or not is_integer(argument.value))
    }
    return found | {
        (table.predicate(name), len(table.key)) for table in setting.tables for name, kind in table.columns if kind == "float"
    }


def computed_with(setting: Setting, facts: Facts) -> Facts:
    """Facts in which the numbers of a place are all doubles if one is."""
    places = double_places(setting)
    return frozenset(
        (one[0], *(as_double(argument) if (one[0], place) in places else argument for place, argument in enumerate(one[1:])))
        for one in facts
    )


@lru_cache(maxsize=100)
def world_of(setting: Setting, facts: Facts) -> World:
    facts = computed_with(setting, facts)
    every = facts | derived_facts(setting, facts) | defined_facts(setting, facts) | chained_facts(setting)
    index: dict[str, list[Fact]] = {}
    for one in every:
        index.setdefault(one[0], []).append(one)
    return World(setting, every, {predicate: tuple(found) for predicate, found in index.items()})
