"""The oracle for every rule of the language: a literal, slow evaluator, with the functions of `oracle` under the same names.

A table is a set of attribute facts. For every prediction A the facts D ∪ {A} are built as a set, groundings are found by
joining the atoms of each disjunct, and body, head and participation are read off one grounding after the other. Nothing is
kept from one prediction to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import oracle
from formula_facts import World, observed, world_of
from formula_normal import is_test, normal_body, normal_head
from formula_tree import (
    Aggregate,
    And,
    AttributeName,
    Call,
    Comparison,
    Condition,
    Expression,
    FormulaRule,
    FormulaSetting,
    Let,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    RowAtom,
    Some,
    Test,
    names_in,
)
from formula_values import Double, Raw, aggregate, built_in_test, call, compare, finite, operate, raw, typed, within_share
from oracle import BODY, HEAD, REFUTER, Atom, Constant, Counts, Fact, Variable

Known = Mapping[str, Constant | None]
"""Values of variables. One that abbreviates an expression may be missing."""

kind_of = oracle.kind_of


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
            return aggregate(function, inner)
        case AttributeName():
            raise TypeError(f"{expression} in a rule")


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


def joins(atoms: tuple[Atom, ...], known: Known, world: World) -> Iterator[dict[str, Constant | None]]:
    """All extensions of what is known under which every atom is a fact."""
    if not atoms:
        yield dict(known)
        return
    for one in world.by_predicate.get(atoms[0].predicate, ()):
        extended = oracle.matching(atoms[0], one, known)  # type: ignore[arg-type]
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


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    if isinstance(condition, And):
        return tuple(leaf for part in condition.parts for leaf in conjuncts(part))
    return (condition,)


def variables_of_atoms(leaves: tuple[Condition, ...]) -> set[str]:
    return {t.name for leaf in leaves if isinstance(leaf, Atom) for t in leaf.terms if isinstance(t, Variable)}


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
    names = set().union(*map(variables_of_atoms, disjuncts(condition))) - given - lets
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
        unbound |= names - variables_of_atoms(leaves) - {name for leaf in leaves for name, _ in equations(leaf)}
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


def groundings(setting: FormulaSetting, rule: FormulaRule, world: World) -> Iterator[tuple[dict[str, Constant], Known]]:
    for grounding, known in solutions(normal_body(setting, rule.body), {}, world):
        if oracle.allowed_values(setting, grounding):
            yield grounding, known


def every_grounding(setting: FormulaSetting, rule: FormulaRule, world: World) -> Iterator[dict[str, Constant]]:
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
        if holds is True and oracle.allowed_values(setting, grounding):
            yield grounding


# Confirmation and refutation


def answers(head: Condition | None, known: Known, world: World) -> tuple[bool, bool]:
    """Confirmed and refuted, independently of each other."""
    match head:
        case None:
            return False, True
        case Atom():
            one = ground(head, known)
            return one in world.facts, refuted(one, world)
        case Not(inner):
            confirmed, is_refuted = answers(inner, known, world)
            return is_refuted, confirmed
        case And(parts):
            found = [answers(part, known, world) for part in parts]
            return all(c for c, _ in found), any(v for _, v in found)
        case Or(parts):
            found = [answers(part, known, world) for part in parts]
            return any(c for c, _ in found), all(v for _, v in found)
        case _:
            held = truth(head, known, world)
            return held is True, held is False


def refuted(head: Fact, world: World) -> bool:
    """An atom with a missing argument is refuted by nothing."""
    setting = world.setting
    return None not in head and (
        (oracle.is_closed(setting, head[0]) and head not in world.facts)
        or head in setting.negatives
        or bool(oracle.incompatible_facts(setting, head) & world.facts)
        or any(oracle.breaks(key, head, one) for key in setting.functional for one in world.facts)
        or any(refutes(auxiliary, head, world) for auxiliary in setting.auxiliary)
    )


def refutes(auxiliary: object, head: Fact, world: World) -> bool:
    bound = oracle.matching(auxiliary.head, head, {})  # type: ignore[attr-defined]
    if bound is None:
        return False
    body = normal_body(world.setting, auxiliary.body)  # type: ignore[attr-defined]
    return any(True for _ in solutions(body, bound, world))


def refuting_facts(head: Condition | None, known: Known, world: World) -> set[Fact]:
    """The facts of all instances that refute the head; none if it is not refuted."""
    if head is None or not answers(head, known, world)[1]:
        return set()
    match head:
        case Atom():
            return atom_refuting_facts(ground(head, known), world)
        case Not(inner):
            return confirming_facts(inner, known, world)
        case And(parts) | Or(parts):
            return set().union(*(refuting_facts(part, known, world) for part in parts))
        case _:
            return set()


def confirming_facts(head: Condition, known: Known, world: World) -> set[Fact]:
    """The facts by which the head is confirmed; none if it is not."""
    if not answers(head, known, world)[0]:
        return set()
    match head:
        case Atom():
            return {ground(head, known)}
        case Not(inner):
            return refuting_facts(inner, known, world)
        case And(parts) | Or(parts):
            return set().union(*(confirming_facts(part, known, world) for part in parts))
        case _:
            return set()


def atom_refuting_facts(head: Fact, world: World) -> set[Fact]:
    setting = world.setting
    found = set(oracle.incompatible_facts(setting, head) & world.facts)
    found |= {one for one in world.facts if any(oracle.breaks(key, head, one) for key in setting.functional)}
    for auxiliary in setting.auxiliary:
        bound = oracle.matching(auxiliary.head, head, {})
        if bound is not None:
            body = normal_body(setting, auxiliary.body)
            for _, extended in solutions(body, bound, world):
                for leaves in disjuncts(body):
                    if all(truth(leaf, extended, world) is True for leaf in leaves):
                        found |= {ground(leaf, extended) for leaf in leaves if isinstance(leaf, Atom)}
    return found


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
    if variables_of_atoms(atoms) <= given.known_after.keys():
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
            derived = map(table.predicate, table.from_target() - {table.target})
            if one[0] in derived and one[:-1] == (one[0], *prediction[1:-1]):
                return one in given.after.facts
    return one == prediction


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


def dataset_counts(setting: FormulaSetting, rule: FormulaRule) -> Counts:
    world = world_of(setting, observed(setting))
    head = normal_head(setting, rule.head)
    return counted([answers(head, known, world) for _, known in groundings(setting, rule, world)])


def counted(found: list[tuple[bool, bool]]) -> Counts:
    return Counts(sum(c for c, _ in found), sum(v for _, v in found), sum(c or v for c, v in found))


@dataclass(frozen=True)
class Outcome:
    """A grounding in which a prediction participates, and what becomes of its head."""

    grounding: frozenset[tuple[str, Constant]]
    roles: frozenset[str]
    confirmed: bool
    refuted: bool


def outcomes(setting: FormulaSetting, rule: FormulaRule, prediction: Fact) -> Iterator[Outcome]:
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
        if roles & oracle.allowed_roles(setting):
            yield Outcome(frozenset(grounding.items()), roles, *answers(head, known, after))


def contribution(setting: FormulaSetting, rule: FormulaRule, prediction: Fact) -> Counts:
    return counted([(one.confirmed, one.refuted) for one in outcomes(setting, rule, prediction)])


def violations(
    setting: FormulaSetting, rule: FormulaRule, prediction: Fact
) -> set[tuple[frozenset[tuple[str, Constant]], frozenset[str]]]:
    return {(one.grounding, one.roles) for one in outcomes(setting, rule, prediction) if one.refuted}


def model_score(setting: FormulaSetting, model: str) -> oracle.ModelScore:
    datasets = {rule.name: dataset_counts(setting, rule) for rule in setting.rules}  # type: ignore[arg-type]
    totals = {
        rule.name: oracle.total([contribution(setting, rule, a) for a in setting.predictions[model]])  # type: ignore[arg-type]
        for rule in setting.rules
    }
    return oracle.score_of_counts(setting.rules, datasets, totals)


def appendix_refuses(setting: FormulaSetting) -> tuple[str, ...]:
    """Names of the rules that the appendix's way of counting has no meaning for."""
    return tuple(rule.name for rule in setting.rules if not countable_by_appendix(setting, rule))  # type: ignore[arg-type]


def countable_by_appendix(setting: FormulaSetting, rule: FormulaRule) -> bool:
    atoms = (rule.head, *conjuncts(rule.body))
    attributes = {table.predicate(name) for table in setting.tables for name in table.attributes}
    if not all(isinstance(one, Atom) and one.predicate not in attributes and not is_test(setting, one.predicate) for one in atoms):
        return False
    return oracle.countable_by_appendix(setting, oracle.Rule(rule.name, atoms[0], atoms[1:]))  # type: ignore[arg-type]
