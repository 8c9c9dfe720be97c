"""Makes the files of the demo: a kinship graph and three models. Everything comes from one seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from random import Random


class Sex(StrEnum):
    FEMALE = "female"
    MALE = "male"


_SEED = 1
_FOUNDING_COUPLES = 22
_GENERATIONS = 4
_SECOND_MARRIAGES = 0.6
_HELD_OUT = 0.15
_SHARED_MISTAKES = 0.3
_RECKLESS_MISTAKES = 0.6

_PAIRS = ("mother father", "daughter son", "wife husband", "sister brother", "aunt uncle", "niece nephew")
_OTHER_SEX = {word: opposite for pair in _PAIRS for word, opposite in permutations(pair.split())}

_FIRST_NAMES = {
    Sex.FEMALE: "ada alice anna clara diana edith emma flora grace ida julia laura mary nora olive paula rose ruth sara vera",
    Sex.MALE: "adam arthur bruno carl daniel emil felix george henry hugo jacob leo max noel otto paul peter simon theo victor",
}


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    sex: Sex
    generation: int
    parents: tuple[str, ...] = ()


Triple = tuple[str, str, str]
"""Head, relation, tail."""

Couple = tuple[Person, Person]
"""Husband and wife."""


@dataclass(frozen=True, slots=True)
class Kinship:
    """A graph, with a part of it held out. Each held-out fact is a query: who is the relation of its tail?"""

    people: tuple[Person, ...]
    observed: tuple[Triple, ...]
    held_out: tuple[Triple, ...]


def made_tables() -> dict[str, str]:
    """The tables of the demo, by their names."""
    random = Random(_SEED)
    kinship = make_kinship(random)
    predictions = make_predictions(kinship, random)
    tables = {"facts": kinship.observed, "held-out": kinship.held_out, **predictions}
    return {f"{name}.tsv": _table(triples) for name, triples in tables.items()}


def make_kinship(random: Random) -> Kinship:
    people, couples = _make_people(random)
    facts = sorted(_facts(people, couples))
    chosen = set(random.sample(range(len(facts)), round(len(facts) * _HELD_OUT)))
    return Kinship(
        tuple(people),
        tuple(fact for number, fact in enumerate(facts) if number not in chosen),
        tuple(fact for number, fact in enumerate(facts) if number in chosen),
    )


def make_predictions(kinship: Kinship, random: Random) -> dict[str, list[Triple]]:
    """One prediction for each query from each model.

    `careful` and `gender-blind` fail at the same queries. For these, `careful` names a stranger of the right sex and age, and
    `gender-blind` somebody of the other sex: the uncle for the aunt. `reckless` fails more often, and then names anybody."""
    queries = kinship.held_out
    confused = _counterparts(kinship)
    able = [number for number, query in enumerate(queries) if query in confused]
    mistakes = set(random.sample(able, round(len(queries) * _SHARED_MISTAKES)))
    guesses = set(random.sample(range(len(queries)), round(len(queries) * _RECKLESS_MISTAKES)))

    def careful(query: Triple) -> str:
        return random.choice(_strangers(kinship, query))

    def gender_blind(query: Triple) -> str:
        return random.choice(confused[query])

    def reckless(query: Triple) -> str:
        return random.choice([person.name for person in kinship.people if person.name not in query])

    return {
        "careful": _predicted(queries, mistakes, careful),
        "gender-blind": _predicted(queries, mistakes, gender_blind),
        "reckless": _predicted(queries, guesses, reckless),
    }


def _make_people(random: Random) -> tuple[list[Person], list[Couple]]:
    """Founders and three generations of descendants, and every marriage among them."""
    namer = _Namer(random)
    couples = [(namer.name(Sex.MALE, 0), namer.name(Sex.FEMALE, 0)) for _ in range(_FOUNDING_COUPLES)]
    people = [person for couple in couples for person in couple]
    married = list(couples)
    for generation in range(1, _GENERATIONS):
        children = [
            namer.name(random.choice(list(Sex)), generation, (husband.name, wife.name))
            for husband, wife in couples
            for _ in range(random.randint(1, 4))
        ]
        people += children
        couples = list(_marry(children, random)) if generation < _GENERATIONS - 1 else []
        married += couples
    return people, married


class _Namer:
    """Gives every person a different name."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._named = 0

    def name(self, sex: Sex, generation: int, parents: tuple[str, ...] = ()) -> Person:
        self._named += 1
        first = self._random.choice(_FIRST_NAMES[sex].split())
        return Person(f"{first}_{self._named}", sex, generation, parents)


def _marry(children: Sequence[Person], random: Random) -> Iterator[Couple]:
    """Marries four in five people. Then some unmarried brothers of husbands and sisters of wives marry the bereaved: these second
    marriages are the exceptions to the rules about parents."""
    single = [person for person in children if random.random() < 0.8]
    random.shuffle(single)
    first: list[Couple] = []
    while single:
        person = single.pop()
        match = next((other for other in single if other.sex != person.sex and not _siblings(person, other)), None)
        if match is not None:
            single.remove(match)
            first.append((person, match) if person.sex is Sex.MALE else (match, person))
    yield from first
    free = [person for person in children if person not in {spouse for couple in first for spouse in couple}]
    bereaved = [couple for couple in first if random.random() < _SECOND_MARRIAGES]
    for husband, wife in bereaved:
        for other in free:
            if _siblings(other, husband) and other.sex is Sex.MALE:
                yield other, wife
            elif _siblings(other, wife) and other.sex is Sex.FEMALE:
                yield husband, other
            else:
                continue
            free.remove(other)
            break


def _siblings(person: Person, other: Person) -> bool:
    return person != other and not set(person.parents).isdisjoint(other.parents)


def _facts(people: Sequence[Person], couples: Iterable[Couple]) -> set[Triple]:
    by_name = {person.name: person for person in people}
    siblings = {pair for pair in permutations(people, 2) if _siblings(*pair)}
    parents = {(by_name[name], child) for child in people for name in child.parents}
    children: defaultdict[Person, list[Person]] = defaultdict(list)
    for parent, child in parents:
        children[parent].append(child)
    elders = {(elder, child) for elder, sibling in siblings for child in children[sibling]}
    facts = {(husband.name, "husband", wife.name) for husband, wife in couples}
    facts |= {(wife, "wife", husband) for husband, _, wife in facts}
    for pairs, (female, male) in (
        (siblings, ("sister", "brother")),
        (parents, ("mother", "father")),
        (_turned(parents), ("daughter", "son")),
        (elders, ("aunt", "uncle")),
        (_turned(elders), ("niece", "nephew")),
    ):
        facts |= {(first.name, female if first.sex is Sex.FEMALE else male, second.name) for first, second in pairs}
    return facts


def _turned(pairs: Iterable[tuple[Person, Person]]) -> set[tuple[Person, Person]]:
    return {(second, first) for first, second in pairs}


def _predicted(queries: Sequence[Triple], mistakes: set[int], wrong: Callable[[Triple], str]) -> list[Triple]:
    """The right predictions, except for the queries in `mistakes`: for them, `wrong` chooses the head."""
    return [(wrong(query), query[1], query[2]) if number in mistakes else query for number, query in enumerate(queries)]


def _counterparts(kinship: Kinship) -> dict[Triple, list[str]]:
    """For each query, the people whose observed relation to its tail is the query's relation for the other sex: uncle for aunt."""
    known: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for head, relation, tail in kinship.observed:
        known[relation, tail].append(head)
    people_by_query = {query: known[_OTHER_SEX[query[1]], query[2]] for query in kinship.held_out}
    return {query: people for query, people in people_by_query.items() if people}


def _strangers(kinship: Kinship, query: Triple) -> list[str]:
    """People of the right person's sex and generation that no observed fact relates to the query's tail."""
    head, _, tail = query
    right = next(person for person in kinship.people if person.name == head)
    related = {person for fact in (*kinship.observed, query) if tail in fact for person in fact}
    return [
        person.name
        for person in kinship.people
        if person.name not in related and (person.sex, person.generation) == (right.sex, right.generation)
    ]


def _table(triples: Iterable[Triple]) -> str:
    return "".join("\t".join(row) + "\n" for row in (("head", "relation", "tail"), *triples))
