"""Rows that are the same for every value add up to the contribution of each candidate."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given as generated
from hypothesis import strategies as st

import rulescore
from case_files import Case, Run
from oracle.facts import Fact, given
from oracle.reading import read_program
from oracle.scores import contribution
from oracle.tree import DEFINITION
from rulescore.mending.making import candidates
from rulescore.mending.open_seats import Difference, Holds, differences

VALUES = range(4)


@st.composite
def ways(draw: st.DrawFn, width: int) -> list[Holds]:
    """Ways that hold everywhere, on a line, where both classes are alike, or at a point; with values left out."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        alike = width == 2 and draw(st.integers(0, 4)) == 0
        cell = (None,) * width if alike else tuple(draw(st.none() | st.sampled_from(VALUES)) for _ in range(width))
        open_places = [place for place, value in enumerate(cell) if value is None]
        excluded = (
            draw(st.frozensets(st.tuples(st.sampled_from(open_places), st.sampled_from(VALUES)), max_size=2)) if open_places else ()
        )
        unlike = width == 2 and len(open_places) == 2 and not alike and draw(st.booleans())
        confirmed = draw(st.booleans())
        unless = not confirmed and draw(st.booleans())
        refutation = None if confirmed else draw(st.none() | st.integers(0, 1))
        vetoes = refutation is not None and draw(st.booleans())
        found.append(Holds(cell, confirmed, frozenset(excluded), unlike, alike, unless, refutation, vetoes))
    return found


def has(difference: Difference, point: tuple[int, ...]) -> bool:
    fits = all(mine is None or mine == theirs for mine, theirs in zip(difference.cell, point, strict=True))
    return fits and (not difference.alike or len(set(point)) == 1)


@pytest.mark.parametrize("width", [1, 2])
@generated(st.data())
def test_differences_add_up_at_every_point(width: int, data: st.DataObject) -> None:
    for _ in range(10):
        held = data.draw(ways(width))
        found = differences(held, width)
        for point in product((*VALUES, 98, 99), repeat=width):
            holding = [way for way in held if way.at(point)]
            confirmed = any(way.confirmed for way in holding)
            vetoed = [way.refutation for way in holding if way.vetoes]
            refuting = [way for way in holding if not way.confirmed and (way.refutation is None or way.refutation not in vetoed)]
            refuted = any(not (way.unless and confirmed) for way in refuting)
            expected = (int(confirmed), int(refuted), int(confirmed or refuted))
            sums = tuple(sum(one.counts[place] for one in found if has(one, point)) for place in range(3))
            assert sums == expected, (held, point)


BODIES = ["q(X, Y)", "p(X, Y)", "q(Y, X)", "p(Y, X)", "p(X, X), q(X, Y)", "p(X, Y), p(Y, X)", "q(X, Y), X != Y", "p(X, Y), p(Y, Z)"]
HEADS = ["p(X, Y)", "p(Y, X)", "q(X, Y)", "p(X, X)", "p(X, a)", "p(Y, Y)", "false"]
WAYS = [
    "incompatible p, q.",
    "incompatible p(X, Y), p(Y, X).",
    "incompatible p(X, Y), q(Y, X).",
    "functional p(X -> Y).",
    "functional p(X, Y) on Y -> X.",
    "functional q(X -> Y).",
    "refute p(X, Y) <- u(X).",
    "refute p(X, Y) <- u(Y), u(X).",
    "refute p(X, Y) <- u(Y).",
    "refute p(X, Y) <- p(Y, X), X != Y.",
    "refute p(X, Y) <- X = Y.",
    "refute p(X, Y) <- q(X, Z), Z != Y.",
    "refute p(X, a) <- q(X, X).",
    "refute p(X, Y) <- not u(X).",
    "refute p(X, Y) <- not q(Y, X), not u(Y).",
    "refute p(X, Y) <- u(Y), not p(Y, X).",
    "refute q(X, Y) <- not p(X, _), not q(X, Y).",
    "closed p.",
    "closed *.",
    "pca p.",
    "pca q(X, Y) on Y -> X.",
]


def drawn(random: Random) -> tuple[dict[str, list[tuple[str, ...]]], str]:
    facts = {
        name: random.sample([*product("abc", repeat=arity)], random.randint(1, 3))
        for name, arity in {"p": 2, "q": 2, "u": 1}.items()
    }
    rules = [f"r{number}: {random.choice(HEADS)} <- {random.choice(BODIES)}." for number in range(4)]
    return facts, "\n".join([*rules, *random.sample(WAYS, random.randint(1, 4))])


def by_the_oracle(
    facts: dict[str, list[tuple[str, ...]]], rules: str, every: dict[str, list[tuple[str, ...]]]
) -> dict[tuple[str, ...], tuple[int, int, int]]:
    def told(rows: dict[str, list[tuple[str, ...]]]) -> list[Fact]:
        return [(name, *map(given, arguments)) for name, some in rows.items() for arguments in some]

    setting = Case(Path("drawn"), rules, read_program(rules), told(facts)).setting(Run(0, DEFINITION))
    counts = {
        (rule.name, fact[0], *(str(value.value) for value in fact[1:])): tuple(contribution(setting, rule, fact))
        for fact in told(every)
        for rule in setting.rules
    }
    return {key: numbers for key, numbers in counts.items() if any(numbers)}


def test_absent_facts_that_facts_choose_are_for_lists_alone() -> None:
    rules = "r: p(X, Y) <- q(X, Y). refute p(X, Y) <- q(X, Z), not u(Z)."
    with pytest.raises(rulescore.InputError, match="which absent facts refute `p` depends on facts that are there"):
        candidates({"q": [("a", "b")], "u": [("a",)]}, rules)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_candidates_whose_arguments_may_be_anything_have_their_contributions(seed: int) -> None:
    facts, rules = drawn(Random(seed))
    rules = rules.replace("a)", '"a")')
    table = candidates(facts, rules)
    every = {name: [t for t in product("abcz", repeat=2) if t not in facts[name]] for name in "pq"}
    result = rulescore.score(facts, {"model": every}, rules, allow_unrefutable=True)
    expected = {
        (row["rule"], row["predicate"], *row["arguments"]): (row["confirmed"], row["refuted"], row["evaluable"])
        for row in result.contributions.to_pylist()
    }
    found = {
        (rule, name, *arguments): (counts.confirmed, counts.refuted, counts.evaluable)
        for name, some in every.items()
        for arguments in some
        for rule, counts in table.contribution(name, *arguments).items()
    }
    assert found == expected
    assert found == by_the_oracle(facts, rules, every)
    own = table.contributions({"p": every["p"], "q": every["q"]})
    rows = {
        (row["rule"], row["predicate"], *row["arguments"]): (row["confirmed"], row["refuted"], row["evaluable"])
        for row in own.to_pylist()
    }
    assert rows == expected
    assert own.schema == result.contributions.schema
