"""A literal, slow evaluator of the definitions, to compare engines with. It shares no code with the package.

Everything is a set of facts and a loop over groundings. A fact is a tuple: the predicate's name, then its arguments. An
argument is a pair of a type and a value, because in Python `True == 1` and here it is not.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

Value = str | int | float | bool | datetime.date
DEFINITION, APPENDIX = "definition", "appendix"
BODY, HEAD, REFUTER = "body", "head", "refuter"


class Constant(NamedTuple):
    """A typed constant: two are equal iff type and value are. Integers and floats are one type and compare by value."""

    type: str
    value: Any


class Double(Constant):
    """A number that is given, or computed with, as a float. It equals the integer of its value."""

    __slots__ = ()


def constant(value: Value) -> Constant:
    if isinstance(value, bool):
        return Constant("boolean", value)
    if isinstance(value, int | float):
        return Constant("number", Fraction(value))
    if isinstance(value, datetime.datetime):
        # With a zone it is an instant, which any zone may name; without one a clock's reading.
        return Constant("datetime", value) if value.tzinfo is None else Constant("instant", value.astimezone(datetime.UTC))
    if isinstance(value, datetime.date):
        return Constant("date", value)
    return Constant("string", value)


def given(value: Value) -> Constant:
    """The constant of a value, which remembers whether it is given as a float."""
    found = constant(value)
    return Double(*found) if isinstance(value, float) else found


Fact = tuple[Any, ...]
Facts = frozenset[Fact]


def fact(predicate: str, *values: Value) -> Fact:
    return (predicate, *(constant(value) for value in values))


@dataclass(frozen=True)
class Variable:
    name: str


@dataclass(frozen=True)
class Wildcard:
    pass


Term = Variable | Wildcard | Constant
Grounding = Mapping[str, Constant]


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Not:
    atom: Atom


@dataclass(frozen=True)
class Compare:
    left: Term
    right: Term
    equal: bool


Literal = Atom | Not | Compare
Body = tuple[Literal, ...]


@dataclass(frozen=True)
class Rule:
    """`head` None is ⊥, a denial constraint."""

    name: str
    head: Atom | None
    body: Body
    kind: str | None = None
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Incompatible:
    """Two atoms over the same variables that cannot both be true; each refutes the other."""

    left: Atom
    right: Atom


@dataclass(frozen=True)
class Functional:
    """Facts of the predicate that agree at the key positions agree at the value positions. Positions count from 0."""

    predicate: str
    keys: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class Auxiliary:
    """`refute head <- body`."""

    head: Atom
    body: Body


@dataclass(frozen=True)
class Setting:
    observed: Facts
    rules: tuple[Rule, ...]
    predictions: Mapping[str, Facts] = field(default_factory=dict)
    negatives: Facts = frozenset()
    closed: frozenset[str] = frozenset()
    closed_all: bool = False
    incompatible: tuple[Incompatible, ...] = ()
    functional: tuple[Functional, ...] = ()
    auxiliary: tuple[Auxiliary, ...] = ()
    extract: bool = False
    convention: str = DEFINITION
    distinct_variables: bool | None = None
    roles: frozenset[str] | None = None


class Counts(NamedTuple):
    confirmed: int
    refuted: int
    evaluable: int


# Matching and truth


def ground(atom: Atom, grounding: Grounding) -> Fact:
    return (atom.predicate, *(value_of(term, grounding) for term in atom.terms))


def value_of(term: Term, grounding: Grounding) -> Constant:
    match term:
        case Variable(name):
            return grounding[name]
        case Constant():
            return term
        case Wildcard():
            raise ValueError("a wildcard has no value of its own")


def matching(atom: Atom, one: Fact, grounding: Grounding) -> dict[str, Constant] | None:
    """The least extension of the grounding that makes the atom this fact; None if there is none."""
    predicate, *arguments = one
    if atom.predicate != predicate or len(atom.terms) != len(arguments):
        return None
    extended = dict(grounding)
    for term, argument in zip(atom.terms, arguments, strict=True):
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


def name_wildcards(body: Body) -> Body:
    """Each `_` of a positive atom is a variable of its own. Under `not` it stays: no such fact, whatever stands there."""
    named: list[Literal] = []
    for place, literal in enumerate(body):
        if isinstance(literal, Atom):
            terms = (Variable(f"_{place}.{i}") if isinstance(t, Wildcard) else t for i, t in enumerate(literal.terms))
            named.append(Atom(literal.predicate, tuple(terms)))
        else:
            named.append(literal)
    return tuple(named)


def positive(body: Body) -> tuple[Atom, ...]:
    return tuple(literal for literal in body if isinstance(literal, Atom))


def joins(atoms: tuple[Atom, ...], facts: Facts, grounding: Grounding) -> Iterator[dict[str, Constant]]:
    """All extensions of the grounding under which every atom is one of the facts."""
    if not atoms:
        yield dict(grounding)
        return
    for one in facts:
        extended = matching(atoms[0], one, grounding)
        if extended is not None:
            yield from joins(atoms[1:], facts, extended)


def abbreviations(body: Body, grounding: Grounding) -> dict[str, Constant]:
    """The grounding and the variables that only `=` binds, which abbreviate what they equal."""
    known = dict(grounding)
    for _ in body:
        for literal in body:
            if isinstance(literal, Compare) and literal.equal:
                for one, other in ((literal.left, literal.right), (literal.right, literal.left)):
                    other_known = isinstance(other, Constant) or (isinstance(other, Variable) and other.name in known)
                    if isinstance(one, Variable) and one.name not in known and other_known:
                        known[one.name] = value_of(other, known)
    return known


def holds(literal: Literal, grounding: Grounding, facts: Facts) -> bool:
    match literal:
        case Atom():
            return ground(literal, grounding) in facts
        case Not(atom):
            return all(matching(atom, one, grounding) is None for one in facts)
        case Compare(left, right, equal):
            return (value_of(left, grounding) == value_of(right, grounding)) is equal


def instances(body: Body, facts: Facts, grounding: Grounding) -> Iterator[dict[str, Constant]]:
    """Extensions of the grounding to the variables of the positive atoms under which the body holds, each once."""
    seen = {frozenset(one.items()) for one in joins(positive(body), facts, grounding)}
    for items in seen:
        one = dict(items)
        if all(holds(literal, abbreviations(body, one), facts) for literal in body):
            yield one


def groundings(setting: Setting, rule: Rule, facts: Facts) -> Iterator[dict[str, Constant]]:
    """Groundings whose body holds, as the option on distinct variables allows them."""
    for grounding in instances(name_wildcards(rule.body), facts, {}):
        if allowed_values(setting, grounding):
            yield grounding


def allowed_values(setting: Setting, grounding: Grounding) -> bool:
    return not distinct_variables(setting) or len(set(grounding.values())) == len(grounding)


def distinct_variables(setting: Setting) -> bool:
    return setting.convention == APPENDIX if setting.distinct_variables is None else setting.distinct_variables


def every_grounding(setting: Setting, rule: Rule, facts: Facts) -> Iterator[dict[str, Constant]]:
    """The same by brute force: all variables over all constants. Slow, and there to prove `groundings` right."""
    body = name_wildcards(rule.body)
    names = sorted({t.name for atom in positive(body) for t in atom.terms if isinstance(t, Variable)})
    for values in product(sorted({c for one in facts for c in one[1:]}, key=str), repeat=len(names)):
        grounding = dict(zip(names, values, strict=True))
        known = abbreviations(body, grounding)
        if all(holds(literal, known, facts) for literal in body) and allowed_values(setting, grounding):
            yield grounding


# Confirmation and refutation


def head_fact(rule: Rule, grounding: Grounding) -> Fact | None:
    return None if rule.head is None else ground(rule.head, abbreviations(rule.body, grounding))


def confirmed(head: Fact | None, facts: Facts) -> bool:
    return head is not None and head in facts


def refuted(setting: Setting, head: Fact | None, facts: Facts) -> bool:
    return head is None or any(True for _ in refutations(setting, head, facts))


def refutations(setting: Setting, head: Fact, facts: Facts) -> Iterator[Facts]:
    """One item for each refuting instance that holds: the facts it rests on (none for a missing fact or a negative one)."""
    if is_closed(setting, head[0]) and head not in facts:
        yield frozenset()
    if head in setting.negatives:
        yield frozenset()
    for one in incompatible_facts(setting, head):
        if one in facts:
            yield frozenset({one})
    for one in facts:
        if any(breaks(key, head, one) for key in setting.functional):
            yield frozenset({one})
    for auxiliary in setting.auxiliary:
        bound = matching(auxiliary.head, head, {})
        if bound is not None:
            body = name_wildcards(auxiliary.body)
            for grounding in instances(body, facts, bound):
                known = abbreviations(body, grounding)
                yield frozenset(ground(atom, known) for atom in positive(body))


def is_closed(setting: Setting, predicate: str) -> bool:
    return setting.closed_all or predicate in setting.closed


def incompatible_facts(setting: Setting, head: Fact) -> Facts:
    """The facts, observed or not, that cannot be true beside the head."""
    found = set()
    for pair in (*setting.incompatible, *(extracted(setting.observed) if setting.extract else ())):
        for mine, other in ((pair.left, pair.right), (pair.right, pair.left)):
            bound = matching(mine, head, {})
            if bound is not None:
                found.add(ground(other, bound))
    return frozenset(found)


def incompatible_group(arity: int, *predicates: str) -> tuple[Incompatible, ...]:
    terms = tuple(Variable(f"X{i}") for i in range(arity))
    return tuple(Incompatible(Atom(one, terms), Atom(other, terms)) for one, other in combinations(predicates, 2))


def extracted(observed: Facts) -> tuple[Incompatible, ...]:
    """Pairs of predicates of one arity, each with observed facts, that have no tuple in common."""
    tuples: dict[tuple[str, int], set[Fact]] = {}
    for predicate, *arguments in observed:
        tuples.setdefault((predicate, len(arguments)), set()).add(tuple(arguments))
    pairs: list[Incompatible] = []
    for (one, arity), (other, other_arity) in combinations(sorted(tuples), 2):
        if arity == other_arity and not tuples[one, arity] & tuples[other, arity]:
            pairs += incompatible_group(arity, one, other)
    return tuple(pairs)


def breaks(key: Functional, head: Fact, one: Fact) -> bool:
    """The fact has the head's key and another value."""
    if not head[0] == one[0] == key.predicate:
        return False
    same_key = all(head[1 + i] == one[1 + i] for i in key.keys)
    return same_key and any(head[1 + i] != one[1 + i] for i in key.values)


# Counts


def dataset_counts(setting: Setting, rule: Rule) -> Counts:
    c = v = e = 0
    for grounding in groundings(setting, rule, setting.observed):
        head = head_fact(rule, grounding)
        is_confirmed = confirmed(head, setting.observed)
        if setting.convention == APPENDIX:
            assert head is not None
            refuting = len(incompatible_facts(setting, head) & setting.observed)
            c, v, e = c + is_confirmed, v + refuting, e + is_confirmed + refuting
        else:
            is_refuted = refuted(setting, head, setting.observed)
            c, v, e = c + is_confirmed, v + is_refuted, e + (is_confirmed or is_refuted)
    return Counts(c, v, e)


def contribution(setting: Setting, rule: Rule, prediction: Fact) -> Counts:
    if setting.convention == APPENDIX:
        return appendix_contribution(setting, rule, prediction)
    facts = setting.observed | {prediction}
    c = v = e = 0
    for grounding in groundings(setting, rule, facts):
        if roles_played(setting, rule, grounding, prediction) & allowed_roles(setting):
            head = head_fact(rule, grounding)
            is_confirmed, is_refuted = confirmed(head, facts), refuted(setting, head, facts)
            c, v, e = c + is_confirmed, v + is_refuted, e + (is_confirmed or is_refuted)
    return Counts(c, v, e)


def allowed_roles(setting: Setting) -> frozenset[str]:
    if setting.roles is not None:
        return setting.roles
    return frozenset({BODY, HEAD} if setting.convention == DEFINITION else {BODY, HEAD, REFUTER})


def roles_played(setting: Setting, rule: Rule, grounding: Grounding, prediction: Fact) -> frozenset[str]:
    """The places of the grounding at which the prediction stands. An atom under `not` is none: the body would fail."""
    facts = setting.observed | {prediction}
    head = head_fact(rule, grounding)
    known = abbreviations(rule.body, grounding)
    roles = set()
    if prediction in {ground(atom, known) for atom in positive(name_wildcards(rule.body))}:
        roles.add(BODY)
    if prediction == head:
        roles.add(HEAD)
    if head is not None and any(prediction in instance for instance in refutations(setting, head, facts)):
        roles.add(REFUTER)
    return frozenset(roles)


class Row(NamedTuple):
    """A tuple of the appendix: a grounding, the place of the prediction in it, the fact that refutes (none: it confirms)."""

    grounding: frozenset[tuple[str, Constant]]
    role: str
    body_position: int | None
    refuter: Fact | None


def appendix_contribution(setting: Setting, rule: Rule, prediction: Fact) -> Counts:
    rows = list(appendix_rows(setting, rule, prediction))
    c = sum(1 for row in rows if row.refuter is None)
    v = sum(1 for row in rows if row.refuter is not None)
    return Counts(c, v, c + v)


def appendix_rows(setting: Setting, rule: Rule, prediction: Fact) -> Iterator[Row]:
    """One place of (head or incompatible fact, body atoms) is the prediction; all others are observed facts."""
    observed = setting.observed
    allowed = allowed_roles(setting)
    atoms = positive(name_wildcards(rule.body))
    for grounding in distinct_joins(setting, atoms, observed, {}):
        head = head_fact(rule, dict(grounding))
        assert head is not None
        if HEAD in allowed and head == prediction:
            yield Row(grounding, HEAD, None, None)
        if REFUTER in allowed and prediction in incompatible_facts(setting, head):
            yield Row(grounding, REFUTER, None, prediction)
    for position, atom in enumerate(atoms):
        bound = matching(atom, prediction, {})
        if bound is None or BODY not in allowed:
            continue
        others = (*atoms[:position], *atoms[position + 1 :])
        for grounding in distinct_joins(setting, others, observed, bound):
            head = head_fact(rule, dict(grounding))
            assert head is not None
            if head in observed:
                yield Row(grounding, BODY, position, None)
            for refuter in incompatible_facts(setting, head) & observed:
                yield Row(grounding, BODY, position, refuter)


def distinct_joins(
    setting: Setting, atoms: tuple[Atom, ...], facts: Facts, bound: Grounding
) -> set[frozenset[tuple[str, Constant]]]:
    return {frozenset(one.items()) for one in joins(atoms, facts, bound) if allowed_values(setting, one)}


def appendix_refuses(setting: Setting) -> tuple[str, ...]:
    """Names of the rules that the appendix's way of counting has no meaning for."""
    return tuple(rule.name for rule in setting.rules if not countable_by_appendix(setting, rule))


def countable_by_appendix(setting: Setting, rule: Rule) -> bool:
    if rule.head is None or not all(isinstance(literal, Atom) for literal in rule.body):
        return False
    predicate = rule.head.predicate
    return not (
        is_closed(setting, predicate)
        or any(one[0] == predicate for one in setting.negatives)
        or any(key.predicate == predicate for key in setting.functional)
        or any(auxiliary.head.predicate == predicate for auxiliary in setting.auxiliary)
    )


def violations(setting: Setting, rule: Rule, prediction: Fact) -> set[tuple[frozenset[tuple[str, Constant]], frozenset[str]]]:
    """The refuted groundings that count for a prediction, each with the roles the prediction plays in it."""
    if setting.convention == APPENDIX:
        refuting = [row for row in appendix_rows(setting, rule, prediction) if row.refuter is not None]
        return {
            (row.grounding, frozenset(other.role for other in refuting if other.grounding == row.grounding)) for row in refuting
        }
    facts = setting.observed | {prediction}
    found = set()
    for grounding in groundings(setting, rule, facts):
        roles = roles_played(setting, rule, grounding, prediction)
        if roles & allowed_roles(setting) and refuted(setting, head_fact(rule, grounding), facts):
            found.add((frozenset(grounding.items()), roles))
    return found


# Rates and scores


@dataclass(frozen=True)
class RuleScore:
    kind: str
    dataset: Counts
    dataset_rate: Fraction | None
    counts: Counts
    prediction_rate: Fraction | None
    score: Fraction | None
    share: Fraction | None


@dataclass(frozen=True)
class ModelScore:
    rules: Mapping[str, RuleScore]
    hard_score: Fraction | None
    soft_score: Fraction | None
    hard_mean: Fraction | None
    soft_mean: Fraction | None


def ratio(part: Fraction | int, whole: Fraction | int) -> Fraction | None:
    return Fraction(part) / Fraction(whole) if whole else None


def kind_of(rule: Rule, dataset: Counts) -> str:
    if rule.kind is not None:
        return rule.kind
    if dataset.evaluable == 0:
        return "hard" if rule.head is None else "undetermined"
    return "hard" if dataset.refuted == 0 else "soft"


def total(counts: list[Counts]) -> Counts:
    return Counts(sum(c.confirmed for c in counts), sum(c.refuted for c in counts), sum(c.evaluable for c in counts))


def rule_score(rule: Rule, dataset: Counts, counts: Counts, all_evaluable: int) -> RuleScore:
    kind = kind_of(rule, dataset)
    dataset_rate = ratio(dataset.refuted, dataset.evaluable)
    prediction_rate = ratio(counts.refuted, counts.evaluable)
    score: Fraction | None = None
    if kind == "hard":
        score = Fraction(counts.refuted)
    elif kind == "soft" and prediction_rate is not None and dataset_rate:
        score = prediction_rate / dataset_rate
    share = ratio(counts.evaluable, all_evaluable)
    return RuleScore(kind, dataset, dataset_rate, counts, prediction_rate, score, share)


def mean(pairs: list[tuple[Fraction, Fraction]]) -> Fraction | None:
    """The mean of (weight, value) pairs; undefined when the weights sum to 0."""
    return ratio(sum((w * x for w, x in pairs), Fraction(0)), sum((w for w, _ in pairs), Fraction(0)))


def model_score(setting: Setting, model: str) -> ModelScore:
    predictions = setting.predictions[model]
    datasets = {rule.name: dataset_counts(setting, rule) for rule in setting.rules}
    totals = {rule.name: total([contribution(setting, rule, a) for a in predictions]) for rule in setting.rules}
    return score_of_counts(setting.rules, datasets, totals)


def score_of_counts(rules: tuple[Rule, ...], datasets: Mapping[str, Counts], totals: Mapping[str, Counts]) -> ModelScore:
    evaluable = sum(counts.evaluable for counts in totals.values())
    scores = {rule.name: rule_score(rule, datasets[rule.name], totals[rule.name], evaluable) for rule in rules}
    hard = [(rule.weight, scores[rule.name]) for rule in rules if scores[rule.name].kind == "hard"]
    soft = [(s.share, s.score) for s in scores.values() if s.kind == "soft" and s.score is not None and s.share is not None]
    return ModelScore(
        rules=scores,
        hard_score=mean([(weight, s.score) for weight, s in hard if s.score is not None]),
        soft_score=sum((share * score for share, score in soft), Fraction(0)) if soft else None,
        hard_mean=mean([(weight, s.score) for weight, s in hard if s.score is not None and s.counts.evaluable]),
        soft_mean=mean(soft),
    )
