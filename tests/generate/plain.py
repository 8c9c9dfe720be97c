"""Settings of plain rules: few constants, so that facts collide; rules safe by construction."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations, product

from hypothesis import strategies as st

from generate.drawing import Generated, chance, kinds, some, weights
from oracle.facts import Constant, Fact, Facts, Value, constant, given
from oracle.refutation import incompatible_group
from oracle.tree import (
    APPENDIX,
    BODY,
    DEFINITION,
    HEAD,
    REFUTER,
    And,
    Atom,
    Comparison,
    Condition,
    Functional,
    Incompatible,
    Not,
    Refutation,
    Rule,
    Setting,
    Term,
    Variable,
    Wildcard,
)

PREDICATES = ("p", "q", "r", "s", "t")
VARIABLES = tuple(map(Variable, ("X", "Y", "Z", "W")))
ABBREVIATION = Variable("V")

DAY = datetime.date(2020, 1, 31)
MIDNIGHT = datetime.datetime(2020, 1, 31)

# Equality is typed and exact: several types in one pool, floats that equal integers, integers that no float equals.
STRINGS: tuple[tuple[Value, ...], ...] = (("a", "b", "c"), ("a", "b"), ("a", "b", "c", "d"))
POOLS: tuple[tuple[Value, ...], ...] = (
    *STRINGS,
    *STRINGS,
    (1, 2.5, -3),
    (DAY, datetime.date(1999, 12, 1)),
    ("1", 1, True, "true"),
    (1, 1.0, 2.5, 0.1),
    (2**53, 2.0**53, 2**53 + 1),
    (2**63 - 1, 2.0**63, -(2**63)),
    (1, 1.0, True, "1.0"),
    (2**53 + 1, 2.0**53, "9007199254740993", False),
    (DAY, "2020-01-31", 2020, -0.5),
    (MIDNIGHT, MIDNIGHT.replace(tzinfo=datetime.UTC), DAY, "2020-01-31T00:00:00"),
    (MIDNIGHT, datetime.datetime(2020, 1, 31, 0, 0, 0, 1)),
)


@dataclass(frozen=True)
class Vocabulary:
    """Constants and predicates of one setting. `literals` are the constants that rules may name anywhere: a literal has to be of
    its position's type, so a pool of several types has none. `places`: those that they may name at a position."""

    constants: tuple[Constant, ...]
    literals: tuple[Constant, ...]
    arities: dict[str, int]
    places: Mapping[tuple[str, int], tuple[Constant, ...]] = field(default_factory=dict)


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    pool = tuple(map(given, draw(st.sampled_from(POOLS))))
    arities = draw(st.tuples(*[st.sampled_from((2, 2, 2, 2, 1, 1, 2, 3, 4)) for _ in PREDICATES]))
    literals = pool if len({one.type for one in pool}) == 1 else ()
    return Vocabulary(pool, literals, dict(zip(PREDICATES, arities, strict=True)))


def with_places(vocabulary: Vocabulary, observed: Facts) -> Vocabulary:
    """A vocabulary that knows which literals stand at which position: those of a type that some fact has there."""
    types: dict[tuple[str, int], set[str]] = {}
    for name, *arguments in observed:
        for position, one in enumerate(arguments):
            types.setdefault((name, position), set()).add(one.type)
    places = {place: tuple(one for one in vocabulary.constants if one.type in found) for place, found in types.items()}
    return replace(vocabulary, places=places)


def facts(vocabulary: Vocabulary, *, least: int = 0, most: int, predicates: Sequence[str] = PREDICATES) -> st.SearchStrategy[Facts]:
    every = [
        (name, *arguments) for name in predicates for arguments in product(vocabulary.constants, repeat=vocabulary.arities[name])
    ]
    return st.frozensets(st.sampled_from(every), min_size=min(least, len(every)), max_size=most)


@st.composite
def observed_facts(draw: st.DrawFn, vocabulary: Vocabulary) -> Facts:
    """Mostly many: a rule says something only where its body holds."""
    return draw(facts(vocabulary, least=draw(st.sampled_from((1, 6, 12, 12, 16))), most=24))


@st.composite
def predictions(draw: st.DrawFn, vocabulary: Vocabulary, observed: Facts) -> Facts:
    """New facts and observed ones."""
    new = draw(facts(vocabulary, least=3, most=7))
    again = draw(st.frozensets(st.sampled_from(sorted(observed, key=str)), max_size=2))
    return new | again


# Rules


@st.composite
def terms(
    draw: st.DrawFn,
    variables: Sequence[Variable],
    vocabulary: Vocabulary,
    *,
    wildcards: bool,
    place: tuple[str, int] | None = None,
) -> Term:
    literals = vocabulary.literals or (vocabulary.places.get(place, ()) if place is not None else ())
    if literals and (not variables or chance(draw, 12)):
        literal: Term = draw(st.sampled_from(literals))
        return literal
    if wildcards and chance(draw, 10):
        return Wildcard()
    return draw(st.sampled_from(variables))


@st.composite
def atoms(
    draw: st.DrawFn,
    variables: Sequence[Variable],
    vocabulary: Vocabulary,
    *,
    wildcards: bool = False,
    predicate: str | None = None,
) -> Atom:
    name = predicate if predicate is not None else draw(st.sampled_from(PREDICATES))
    arity = vocabulary.arities[name]
    return Atom(name, tuple(draw(terms(variables, vocabulary, wildcards=wildcards, place=(name, i))) for i in range(arity)))


def variables_of(body: Sequence[Condition]) -> list[Variable]:
    """Those of its positive atoms, each once."""
    found = [term for one in body if isinstance(one, Atom) for term in one.terms if isinstance(term, Variable)]
    return list(dict.fromkeys(found))


@st.composite
def comparisons(draw: st.DrawFn, bound: Sequence[Variable], vocabulary: Vocabulary) -> Comparison:
    left = draw(st.sampled_from(bound))
    right = draw(terms(bound, vocabulary, wildcards=False))
    operator = "=" if draw(st.booleans()) else "!="
    return Comparison(operator, left, right) if draw(st.booleans()) else Comparison(operator, right, left)


@st.composite
def conditions(draw: st.DrawFn, bound: list[Variable], vocabulary: Vocabulary) -> list[Condition]:
    """What a body has besides its positive atoms; may bind one more variable as an abbreviation."""
    extra: list[Condition] = []
    if (bound or vocabulary.literals) and chance(draw, 15):
        extra.append(Comparison("=", ABBREVIATION, draw(terms(bound, vocabulary, wildcards=False))))
        bound.append(ABBREVIATION)
    if chance(draw, 25):
        named = bound or vocabulary.literals
        term = terms(bound, vocabulary, wildcards=True) if named else st.just(Wildcard())
        name = draw(st.sampled_from(PREDICATES))
        extra.append(Not(Atom(name, tuple(draw(term) for _ in range(vocabulary.arities[name])))))
    if bound and chance(draw, 20):
        extra.append(draw(comparisons(bound, vocabulary)))
    return extra


@st.composite
def rules(draw: st.DrawFn, vocabulary: Vocabulary, name: str, *, appendix: bool) -> Rule:
    size = draw(st.sampled_from((1, 1, 2, 2, 2, 3, 4)))
    # Half of the time the atoms share one or two predicates, so that one prediction fills several of them.
    pool = st.sampled_from(draw(st.sampled_from((PREDICATES, PREDICATES, PREDICATES[:1], PREDICATES[1:3]))))
    body: list[Condition] = [
        draw(atoms(VARIABLES[: size + 1], vocabulary, wildcards=True, predicate=draw(pool))) for _ in range(size)
    ]
    if not variables_of(body) and not vocabulary.literals:
        # A head needs something to be made of.
        body.append(Atom("p", VARIABLES[:1] * vocabulary.arities["p"]))
    bound = variables_of(body)
    if not appendix:
        body += draw(conditions(bound, vocabulary))
        body = list(draw(st.permutations(body)))
    return Rule(name, draw(heads(bound, vocabulary, appendix=appendix)), And(tuple(body)), draw(kinds()), draw(weights()))


@st.composite
def heads(draw: st.DrawFn, bound: Sequence[Variable], vocabulary: Vocabulary, *, appendix: bool) -> Atom | None:
    if not appendix and chance(draw, 15):
        return None
    return draw(atoms(bound, vocabulary, predicate=draw(st.sampled_from(PREDICATES[:4]))))


# Refutations


@st.composite
def groups(draw: st.DrawFn, vocabulary: Vocabulary) -> tuple[str, ...] | None:
    """Predicates of one arity in any order; None where there is only one."""
    arity = vocabulary.arities[draw(st.sampled_from(PREDICATES))]
    names = [name for name in PREDICATES if vocabulary.arities[name] == arity]
    if len(names) == 1:
        return None
    return tuple(draw(st.permutations(names)))[: draw(st.integers(2, len(names)))]


@st.composite
def pairs(draw: st.DrawFn, vocabulary: Vocabulary) -> Incompatible | None:
    """Two predicates of one arity, their arguments in any order; None where that would say nothing."""
    left, right = draw(st.sampled_from(PREDICATES)), draw(st.sampled_from(PREDICATES))
    arity = vocabulary.arities[left]
    order = draw(st.sampled_from(list(permutations(range(arity)))))
    if vocabulary.arities[right] != arity or (left == right and order == tuple(range(arity))):
        return None
    names = tuple(Variable(f"X{i}") for i in range(arity))
    return Incompatible(Atom(left, names), Atom(right, tuple(names[i] for i in order)))


@st.composite
def functionals(draw: st.DrawFn, vocabulary: Vocabulary) -> Functional | None:
    name = draw(st.sampled_from(PREDICATES))
    columns = draw(st.permutations(range(vocabulary.arities[name])))
    if len(columns) == 1:
        return None
    keys = draw(st.integers(1, len(columns) - 1))
    values = draw(st.integers(1, len(columns) - keys))
    return Functional(name, tuple(columns[:keys]), tuple(columns[keys : keys + values]))


@st.composite
def auxiliaries(draw: st.DrawFn, vocabulary: Vocabulary) -> Refutation:
    head = draw(atoms(VARIABLES[:2], vocabulary))
    body: list[Condition] = [
        draw(atoms(VARIABLES[:3], vocabulary, wildcards=True)) for _ in range(draw(st.sampled_from((0, 1, 1, 2))))
    ]
    bound = list(dict.fromkeys([*variables_of([head]), *variables_of(body)]))
    body += draw(conditions(bound, vocabulary))
    if not body:
        body = [draw(comparisons(bound, vocabulary))] if bound else [Not(Atom(head.predicate, (Wildcard(),) * len(head.terms)))]
    return Refutation(head, And(tuple(body)))


@st.composite
def settings(draw: st.DrawFn, *, appendix: bool = False, most_rules: int = 5, models: int = 2) -> Generated:
    """A setting that the convention can count, with all that it allows."""
    vocabulary = draw(vocabularies())
    observed = draw(observed_facts(vocabulary))
    vocabulary = with_places(vocabulary, observed)
    number = min(most_rules, draw(st.sampled_from((1, 3, 4, 5, 5))))
    group_list = some(draw(st.lists(groups(vocabulary), min_size=appendix, max_size=2)))
    incompatible = some(
        [
            *(pair for group in group_list for pair in incompatible_group(vocabulary.arities[group[0]], *group)),
            *draw(st.lists(pairs(vocabulary), max_size=3)),
        ]
    )
    general = {} if appendix else draw(general_refutations(vocabulary))
    setting = Setting(
        observed=observed,
        rules=tuple(draw(rules(vocabulary, f"rule{i}", appendix=appendix)) for i in range(number)),
        predictions={f"model{i}": draw(predictions(vocabulary, observed)) for i in range(draw(st.integers(1, models)))},
        incompatible=incompatible,
        extract=chance(draw, 10),
        convention=APPENDIX if appendix else DEFINITION,
        distinct_variables=draw(st.sampled_from((None, None, True, False))),
        roles=draw(st.none() | st.none() | role_sets()),
        hard_needs=draw(st.sampled_from((1, 1, 1, 3))),
        **general,
    )
    return Generated(setting, vocabulary.arities, group_list)


@st.composite
def chain_rules(draw: st.DrawFn, name: str) -> Rule:
    """A body that goes from X to Y over two to eight atoms, each in some direction, in some order."""
    length = draw(st.sampled_from((2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8)))
    names = st.sampled_from(draw(st.sampled_from((PREDICATES[:1], PREDICATES[:2], PREDICATES[:3], PREDICATES[:4]))))
    variables = [Variable("X"), *(Variable(f"Z{i}") for i in range(1, length)), Variable("Y")]
    atoms = [Atom(draw(names), tuple(draw(st.permutations(pair)))) for pair in pairwise(variables)]
    head = Atom(draw(names), tuple(draw(st.permutations((Variable("X"), Variable("Y"))))))
    return Rule(name, head, And(tuple(draw(st.permutations(atoms)))), draw(kinds()), draw(weights()))


@st.composite
def chains(draw: st.DrawFn, *, appendix: bool = False) -> Generated:
    """Rules that are chains of binary atoms, heads that other facts refute."""
    pool = tuple(map(given, draw(st.sampled_from(STRINGS))))
    vocabulary = Vocabulary(pool, (), dict.fromkeys(PREDICATES, 2))
    observed = draw(observed_facts(vocabulary))
    setting = Setting(
        observed=observed,
        rules=tuple(draw(chain_rules(f"rule{i}")) for i in range(draw(st.integers(1, 4)))),
        predictions={f"model{i}": draw(predictions(vocabulary, observed)) for i in range(draw(st.integers(1, 2)))},
        incompatible=some([Incompatible(*_turned_pair("p", "q")), *draw(st.lists(pairs(vocabulary), max_size=3))]),
        extract=chance(draw, 30),
        convention=APPENDIX if appendix else DEFINITION,
        distinct_variables=draw(st.sampled_from((None, None, True, False))),
        roles=draw(st.none() | st.none() | role_sets()),
    )
    return Generated(setting, vocabulary.arities)


def _turned_pair(left: str, right: str) -> tuple[Atom, Atom]:
    x, y = VARIABLES[:2]
    return Atom(left, (x, y)), Atom(right, (y, x))


def role_sets() -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from((BODY, HEAD, REFUTER)), min_size=1)


@st.composite
def general_refutations(draw: st.DrawFn, vocabulary: Vocabulary) -> dict:  # type: ignore[type-arg]
    """The ways to refute that only the definition knows; each setting has some of them."""
    found: dict[str, object] = {}
    if chance(draw, 40):
        found["negatives"] = draw(facts(vocabulary, most=5))
    if chance(draw, 40):
        found["closed"] = draw(st.frozensets(st.sampled_from(PREDICATES), max_size=2))
        found["closed_all"] = chance(draw, 10)
    if chance(draw, 40):
        found["functional"] = some(draw(st.lists(functionals(vocabulary), max_size=2)))
    if chance(draw, 40):
        found["complete"] = some(draw(st.lists(functionals(vocabulary), max_size=2)))
        found["complete_all"] = chance(draw, 20)
    if chance(draw, 50):
        found["auxiliary"] = some(draw(st.lists(auxiliaries(vocabulary), max_size=3)))
    return found


# Settings in which predictions repeat the data's mix of groundings


def copied(one: Fact) -> Fact:
    return (one[0], *(Constant(c.type, f"{c.value}'") for c in one[1:]))


@st.composite
def mirrored(draw: st.DrawFn) -> Generated:
    """Rules with exactly one body atom of `u`. The data hold everything twice, the second time with other names and without
    `u`; the missing facts of `u` are the predictions. Rules name no constant, so the copy behaves as the original does."""
    pool = tuple(map(constant, ("a", "b", "c")))
    arities = {**{name: draw(st.sampled_from((1, 2, 2))) for name in PREDICATES}, "u": 2}
    vocabulary = Vocabulary(pool, (), arities)
    facts_of_u = draw(facts(vocabulary, least=1, most=6, predicates=("u",)))
    rest = draw(facts(vocabulary, least=1, most=10))
    made = tuple(draw(rules_with_one(vocabulary, f"rule{i}")) for i in range(draw(st.integers(1, 4))))
    setting = Setting(
        observed=facts_of_u | rest | frozenset(map(copied, rest)),
        rules=made,
        predictions={"model": frozenset(map(copied, facts_of_u))},
        closed=draw(st.frozensets(st.sampled_from(PREDICATES), max_size=3)),
        incompatible=some(draw(st.lists(pairs(vocabulary), max_size=3))),
        functional=some(draw(st.lists(functionals(vocabulary), max_size=2))),
        complete=some(draw(st.lists(functionals(vocabulary), max_size=2))),
    )
    return Generated(setting, arities)


@st.composite
def rules_with_one(draw: st.DrawFn, vocabulary: Vocabulary, name: str) -> Rule:
    body: list[Condition] = [draw(atoms(VARIABLES[:3], vocabulary, predicate="u"))]
    body += [draw(atoms(VARIABLES[:3], vocabulary, wildcards=True)) for _ in range(draw(st.integers(0, 2)))]
    bound = variables_of(body)
    return Rule(name, draw(heads(bound, vocabulary, appendix=True)), And(tuple(draw(st.permutations(body)))))
