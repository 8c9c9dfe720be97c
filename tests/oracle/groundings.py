"""Truth and groundings: by joining the atoms of each disjunct, and reading the condition off one grounding after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from oracle.facts import Constant, Double, Fact
from oracle.normal import normal_body
from oracle.tree import (
    APPENDIX,
    Aggregate,
    And,
    Atom,
    AttributeName,
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
    Variable,
    Wildcard,
)
from oracle.values import Raw, aggregate, built_in_test, call, compare, finite, operate, raw, typed, within_share
from oracle.walks import conjuncts, names_in, names_of_atoms
from oracle.world import World, double_places

Known = Mapping[str, Constant | None]
"""Values of variables. One that abbreviates an expression may be missing."""


# Truth


def value_of(expression: Expression, known: Known, world: World) -> Raw:
    match expression:
        case Variable(name):
            return raw(known[name])
        case Constant():
            return raw(expression)
        case Operation(operator, left, right):
            return operate(operator, value_of(left, known, world), value_of(right, known, world))
        case Negative(operand):
            value = value_of(operand, known, world)
            return None if value is None else -value
        case Call(function, arguments):
            return call(function, [value_of(argument, known, world) for argument in arguments])
        case Aggregate(function, value, condition):
            inner = [value_of(value, extended, world) for _, extended in solutions(condition, known, world)]
            found = aggregate(function, inner)
            return float(found) if found == 0 and has_floats(expression, condition, known, world) else found
        case AttributeName():
            raise TypeError(f"{expression} in a rule")


def has_floats(expression: Expression, condition: Condition, known: Known, world: World) -> bool:
    """Whether the values of an expression are floats, by its constants and by the places of its variables in the condition: a sum
    over nothing is a number of the same type as any other sum of the expression."""
    match expression:
        case Variable(name) if name in known:
            return isinstance(raw(known[name]), float)
        case Variable():
            places = {(one.predicate, i) for one in atoms_in(condition) for i, term in enumerate(one.terms) if term == expression}
            return not places.isdisjoint(double_places(world.setting))
        case Constant():
            return isinstance(raw(expression), float)
        case Operation(operator, left, right):
            return operator == "/" or any(has_floats(one, condition, known, world) for one in (left, right))
        case Negative(operand):
            return has_floats(operand, condition, known, world)
        case Call("abs" | "min" | "max" | "round" as function, arguments):
            is_whole = function == "round" and len(arguments) == 1
            return not is_whole and any(has_floats(one, condition, known, world) for one in arguments)
        case Call(function):
            return function in ("ln", "exp", "sqrt", "power", "days", "hours", "minutes", "seconds")
        case Aggregate("sum" | "min" | "max", value, inner):
            return has_floats(value, inner, known, world)
        case Aggregate(function):
            return function == "avg"
        case AttributeName():
            raise TypeError(f"{expression} in a rule")


def atoms_in(condition: Condition) -> Iterator[Atom]:
    match condition:
        case Atom():
            yield condition
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms_in(part)


def constant_of(expression: Expression, known: Known, world: World) -> Constant | None:
    """What stands for an expression in facts. A variable stands for its own constant, whatever it is computed with as."""
    match expression:
        case Variable(name):
            return known[name]
        case Constant():
            return expression
        case _:
            return typed(value_of(expression, known, world))


def truth(condition: Condition, known: Known, world: World) -> bool | None:
    """True, false or unknown, by Kleene's tables."""
    match condition:
        case Atom():
            one = ground(condition, known)
            return None if None in one else one in world.facts
        case Some(atoms):
            return some_truth(atoms, known, world)
        case Comparison("=" | "!=" as operator, Variable() | Constant() as left, Variable() | Constant() as right):
            sides = [constant_of(one, known, world) for one in (left, right)]
            return None if None in sides else (sides[0] == sides[1]) is (operator == "=")
        case Comparison(operator, left, right):
            return compare(operator, value_of(left, known, world), value_of(right, known, world))
        case Member(value, constants):
            found = constant_of(value, known, world)
            return None if found is None else found in constants
        case Test():
            return truth_of_test(condition, known, world)
        case Let():
            return True
        case Not(inner):
            return negated(truth(inner, known, world))
        case And(parts):
            return conjunction([truth(part, known, world) for part in parts])
        case Or(parts):
            return negated(conjunction([negated(truth(part, known, world)) for part in parts]))
        case RowAtom():
            raise TypeError(f"{condition} was not brought into normal form")


def some_truth(atoms: tuple[Atom, ...], known: Known, world: World) -> bool | None:
    """Whether some values make all atoms facts. An atom with a missing argument is unknown, whatever the values."""
    asked = tuple(atom for atom in atoms if not any(isinstance(t, Variable) and known.get(t.name, t) is None for t in atom.terms))
    some = any(True for _ in joins(asked, known, world))
    return some if asked == atoms or not some else None


def negated(found: bool | None) -> bool | None:
    return None if found is None else not found


def conjunction(parts: list[bool | None]) -> bool | None:
    return False if False in parts else None if None in parts else True


def truth_of_test(test: Test, known: Known, world: World) -> bool | None:
    match test.arguments:
        case (left, right, Call("percent", (share,))) if test.predicate == "within":
            return within_share(value_of(left, known, world), value_of(right, known, world), value_of(share, known, world))
    arguments = [finite(value_of(argument, known, world)) for argument in test.arguments]
    if test.predicate in world.setting.functions:
        return None if None in arguments else world.setting.functions[test.predicate](*arguments)
    return built_in_test(test.predicate, arguments)


def ground(atom: Atom, known: Known) -> Fact:
    """The atom under the grounding. A missing argument leaves None in it, which no fact has."""
    return (atom.predicate, *(known[term.name] if isinstance(term, Variable) else term for term in atom.terms))


# Groundings


def matching(atom: Atom, one: Fact, known: Known) -> dict[str, Constant | None] | None:
    """The least extension of what is known that makes the atom this fact; None if there is none."""
    if atom.predicate != one[0] or len(atom.terms) != len(one) - 1:
        return None
    extended = dict(known)
    for term, argument in zip(atom.terms, one[1:], strict=True):
        match term:
            case Variable(name):
                if extended.setdefault(name, argument) != argument:
                    return None
            case Constant():
                if term != argument:
                    return None
            case Wildcard():
                pass
    return extended


def joins(atoms: tuple[Atom, ...], known: Known, world: World) -> Iterator[dict[str, Constant | None]]:
    """All extensions of what is known under which every atom is a fact."""
    if not atoms:
        yield dict(known)
        return
    for one in world.by_predicate.get(atoms[0].predicate, ()):
        extended = matching(atoms[0], one, known)
        if extended is not None:
            # A variable of integers here and of floats there is of floats.
            found = {term.name: a for term, a in zip(atoms[0].terms, one[1:], strict=True) if isinstance(term, Variable)}
            extended |= {name: argument for name, argument in found.items() if isinstance(argument, Double)}
            yield from joins(atoms[1:], extended, world)


def disjuncts(condition: Condition) -> list[tuple[Condition, ...]]:
    match condition:
        case And(parts):
            return [tuple(leaf for some in chosen for leaf in some) for chosen in product(*map(disjuncts, parts))]
        case Or(parts):
            return [leaves for part in parts for leaves in disjuncts(part)]
        case _:
            return [(condition,)]


@dataclass(frozen=True)
class Outline:
    """A condition whose abbreviating equations are written as `let`, the variables it grounds, and its abbreviations in the
    order in which they can be computed."""

    condition: Condition
    names: frozenset[str]
    abbreviations: tuple[Let, ...]


@lru_cache(maxsize=10_000)
def outline(condition: Condition, given: frozenset[str]) -> Outline:
    parts = list(conjuncts(condition))
    lets = {part.variable.name for part in parts if isinstance(part, Let)}
    names = set().union(*map(names_of_atoms, disjuncts(condition))) - given - lets
    defined = names | given
    could_be = defined | lets | {name for part in parts for name, _ in equations(part)}
    ordered: list[Let] = []
    for _ in range(len(parts)):
        for place, part in enumerate(parts):
            for name, value in equations(part):
                if name not in defined and names_in(value) & could_be <= defined and (name not in lets or isinstance(part, Let)):
                    parts[place] = Let(Variable(name), value)
                    ordered.append(Let(Variable(name), value))
                    defined.add(name)
    unbound = lets - defined
    for leaves in disjuncts(condition):
        unbound |= names - names_of_atoms(leaves) - {name for leaf in leaves for name, _ in equations(leaf)}
    if unbound:
        raise ValueError(f"unsafe variables: {sorted(unbound)}")
    kept = tuple(part if isinstance(part, Let) else without_lets(part) for part in parts)
    return Outline(And(kept), frozenset(names), tuple(ordered))


def without_lets(condition: Condition) -> Condition:
    """Where a variable is bound by an atom in one disjunct and by `let` in another, the `let` is an equation."""
    match condition:
        case Let(variable, value):
            return Comparison("=", variable, value)
        case And(parts):
            return And(tuple(map(without_lets, parts)))
        case Or(parts):
            return Or(tuple(map(without_lets, parts)))
        case _:
            return condition


def equations(condition: Condition) -> list[tuple[str, Expression]]:
    """What a condition can define: a variable and its value."""
    match condition:
        case Let(Variable(name), value):
            return [(name, value)]
        case Comparison("=", left, right):
            both = ((left, right), (right, left))
            return [(one.name, other) for one, other in both if isinstance(one, Variable) and one != other]
        case _:
            return []


def with_abbreviations(found: Outline, known: Known, world: World) -> dict[str, Constant | None]:
    extended = dict(known)
    for let in found.abbreviations:
        extended[let.variable.name] = constant_of(let.value, extended, world)
    return extended


def solutions(condition: Condition, known: Known, world: World) -> Iterator[tuple[dict[str, Constant], dict[str, Constant | None]]]:
    """Groundings of the variables that are not known yet under which the condition is true, each once, and with each all that
    is known then."""
    found = outline(condition, frozenset(known))
    seen = set()
    for leaves in disjuncts(condition):
        atoms = tuple(leaf for leaf in leaves if isinstance(leaf, Atom))
        for joined in joins(atoms, known, world):
            solved = solve(leaves, found, joined, world)
            if solved is not None:
                seen.add(frozenset((name, solved[name]) for name in found.names))
    for items in seen:
        extended = with_abbreviations(found, {**known, **dict(items)}, world)
        if truth(found.condition, extended, world) is True:
            yield dict(items), extended  # type: ignore[arg-type]


def solve(leaves: tuple[Condition, ...], found: Outline, known: Known, world: World) -> Known | None:
    """Values of the variables that equations bind in this disjunct, and atoms in others; None where such a value is missing.
    Such an equation may read abbreviations, and these such variables."""
    extended = dict(known)
    abbreviations = [(let.variable.name, let.value) for let in found.abbreviations]
    defining = abbreviations + [one for leaf in leaves for one in equations(leaf) if one[0] in found.names]
    unknown = found.names | {name for name, _ in abbreviations}
    for _ in defining:
        for name, value in defining:
            if name not in extended and names_in(value) & unknown <= extended.keys():
                extended[name] = constant_of(value, extended, world)
    return None if any(extended[name] is None for name in found.names) else extended


def groundings(setting: Setting, rule: Rule, world: World) -> Iterator[tuple[dict[str, Constant], Known]]:
    """Groundings under which the body holds, and with each what is known then."""
    for grounding, known in solutions(normal_body(setting, rule.body), {}, world):
        if allowed_values(setting, grounding):
            yield grounding, known


def allowed_values(setting: Setting, grounding: Known) -> bool:
    """Different variables have different values, if the setting demands it."""
    distinct = setting.convention == APPENDIX if setting.distinct_variables is None else setting.distinct_variables
    return not distinct or len(set(grounding.values())) == len(grounding)


def every_grounding(setting: Setting, rule: Rule, world: World) -> Iterator[dict[str, Constant]]:
    """The same by brute force: all variables over all constants. Slow, and there to prove `groundings` right."""
    found = outline(normal_body(setting, rule.body), frozenset())
    names = sorted(found.names)
    for values in product(sorted({c for one in world.facts for c in one[1:]}, key=str), repeat=len(names)):
        grounding = dict(zip(names, values, strict=True))
        try:
            holds = truth(found.condition, with_abbreviations(found, grounding, world), world)
        except (TypeError, AttributeError):
            # A constant of another type than the variable's: no atom holds of it.
            continue
        if holds is True and allowed_values(setting, grounding):
            yield grounding
