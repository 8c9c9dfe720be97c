"""How the times grow with the number of rules and of facts, and AnyBURL's own rules with constants."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from horn import Atom, Rule, Term, is_chain
from measure import Report, measure, require_equal
from published import sample, write_sample
from workload import Material, Row, write, write_beside

RULES = (390, 5_000, 20_000)
COPIES = (1, 4, 16)


class Mixture(StrEnum):
    """How rules beyond the real ones are made: a head and a whole body of two real rules, or three atoms of three."""

    BODIES = "bodies"
    ATOMS = "atoms"


class Size(NamedTuple):
    rules: int
    copies: int
    mixture: Mixture = Mixture.BODIES


@dataclass(frozen=True, slots=True)
class Measurement:
    """One contender's runs on so many chain rules, with so many different bodies, and so many copies of the facts."""

    size: Size
    bodies: int
    contender: str
    reports: tuple[Report, ...]


_X, _Y, _Z = Term("X"), Term("Y"), Term("Z")


def chains(graph: Material, count: int, mixture: Mixture = Mixture.BODIES, seed: int = 0) -> list[Rule]:
    """`count` distinct chain rules: the learned ones (for a made graph, its own), then recombinations of them with atoms turned
    round here and there. A smaller count gives a prefix of a larger one."""
    real = [_renamed(rule) for rule in graph.learned or graph.rules if is_chain(rule)]
    made = dict.fromkeys(real)
    chooser = random.Random(seed)
    while len(made) < count:
        made[_recombined(chooser, real, mixture)] = None
    return list(made)[:count]


def _renamed(rule: Rule) -> Rule:
    """The rule as h(X, Y) <- b1(X, Z), b2(Z, Y), so that rules that differ in names and order only are equal."""
    x, y = rule.head.terms
    from_x, to_y = rule.body if x in rule.body[0].terms else rule.body[::-1]
    (z,) = {*from_x.terms} & {*to_y.terms}
    name = {x: _X, y: _Y, z: _Z}
    head, *body = (Atom(a.predicate, name[a.first], name[a.second]) for a in (rule.head, from_x, to_y))
    return Rule(head, tuple(body))


def _recombined(chooser: random.Random, real: Sequence[Rule], mixture: Mixture) -> Rule:
    head, first, second = (chooser.choice(real) for _ in range(3))
    if mixture is Mixture.BODIES:
        second = first
    return Rule(_perhaps_turned(chooser, head.head), tuple(_perhaps_turned(chooser, a) for a in (first.body[0], second.body[1])))


def _perhaps_turned(chooser: random.Random, atom: Atom) -> Atom:
    return Atom(atom.predicate, atom.second, atom.first) if chooser.random() < 0.25 else atom


def measure_growth(graph: Material, folder: Path, contenders: Sequence[str], rounds: int) -> list[Measurement]:
    """Every number of rules with every number of copies, interleaved; counts grow exactly as the copies do."""
    rules = {mixture: chains(graph, max(RULES), mixture) for mixture in Mixture}
    folders = _lay_out(graph, rules, folder)
    expected = {mixture: measure("kernel", folders[Size(max(RULES), 1, mixture)]).rows for mixture in Mixture}
    runs: dict[tuple[Size, str], list[Report]] = {(size, contender): [] for size in folders for contender in contenders}
    for turn in range(rounds):
        for (size, contender), reports in runs.items():
            # The largest graph is there to show that it can be done; it is measured once.
            if turn == 0 or size.copies < max(COPIES):
                reports.append(_checked(contender, folders[size], size, expected[size.mixture]))
    return [
        Measurement(size, len({rule.body for rule in rules[size.mixture][: size.rules]}), contender, tuple(reports))
        for (size, contender), reports in runs.items()
    ]


def _checked(contender: str, folder: Path, size: Size, expected: dict[int, Row]) -> Report:
    report = measure(contender, folder)
    if contender == "ours, dataset":
        expected = {position: Row(*counts[:3], 0, 0, 0) for position, counts in expected.items()}
    require_equal(f"{contender}, {size}", report.rows, expected, times=size.copies)
    return report


def _lay_out(graph: Material, rules: dict[Mixture, list[Rule]], folder: Path) -> dict[Size, Path]:
    """The workloads of all sizes; those with equally many copies share their facts."""
    sizes = [Size(count, copies) for copies in COPIES for count in RULES] + [Size(max(RULES), 1, Mixture.ATOMS)]
    facts = {copies: write(folder / f"{copies}-copies", graph, [], copies=copies) for copies in COPIES}
    return {
        size: write_beside(folder / "-".join(map(str, size)), facts[size.copies], graph, rules[size.mixture][: size.rules])
        for size in sizes
    }


def measure_learned(graph: Material, folder: Path, rounds: int) -> tuple[Report, ...]:
    """The package on AnyBURL's rules, constants and all; a few of each kind are counted by the published queries too."""
    place = write(folder / "learned", graph, graph.learned)
    reports = tuple(measure("ours", place) for _ in range(rounds))
    rows = [reports[0].rows[i] for i in range(len(graph.learned))]
    write_sample(place / "sample.json", sample(graph.learned, rows, size=2))
    published = measure("published", place).rows
    for report in reports:
        require_equal("published, AnyBURL's rules", published, report.rows)
    return reports
