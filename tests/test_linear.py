"""Twice as many rules, declarations or problems take twice the work: no function is called four times as often."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from dataclasses import dataclass, field
from pstats import Stats
from random import Random
from typing import Any

import pytest

from rulescore.arguments.python import make_setting
from rulescore.errors import InputError, Severity
from rulescore.reporting.listing import Format
from rulescore.reporting.render import render
from rulescore.session.session import Session
from rulescore.setting.model import SqlRule

pytestmark = pytest.mark.slow

PREDICATES = [f"{first}_{second}" for first in ("old", "young", "near") for second in ("friend", "cousin", "boss", "pupil")]
FACTS = [(f"e{i % 17}", PREDICATES[i % 12], f"e{(7 * i) % 23}") for i in range(200)]
NUMBER = 60
"""Of rules. Of rules that are counted by a statement each there are a third as many."""
# Waiting for threads of the database is nobody's work.
NOT_COUNTED = {"<method 'acquire' of '_thread.lock' objects>"}

Function = tuple[str, int, str]


@dataclass(frozen=True)
class Rules:
    """So many rules of one kind, what they are given with, and the errors that they have."""

    text: str
    options: dict[str, Any] = field(default_factory=dict)
    errors: tuple[str, ...] = ()


def lines(text: list[str], **given: Any) -> Rules:
    return Rules("\n".join(text), **given)


def words(number: int) -> list[str]:
    random = Random(11)
    return ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=24)) for _ in range(number)]


def horn(number: int) -> list[str]:
    """Rules of several shapes, with and without names, with constants, negations and equations."""
    found = []
    for i in range(number):
        p, q, r = PREDICATES[i % 12], PREDICATES[5 * i % 12], PREDICATES[7 * i % 12 - 1]
        rules = (
            f"{r}(X, Y) <- {p}(X, Z), {q}(Z, Y).",
            f"{r}(X, Y) <- {p}(Y, X), X != Y.",
            f'false <- {p}(X, Y), {q}(Y, "e{i}").',
            f'{r}(X, "e{i}") <- {p}(X, Y), not {q}(Y, X).',
        )
        found.append(("", f"rule_{i}: ", "@weight(2) @tags(mined) ")[i % 3] + rules[i % 4])
    return found


def rules_on_lines(number: int) -> Rules:
    return lines([*horn(number), "incompatible old_friend, young_friend.", "extract incompatible."])


def rules_on_one_line(number: int) -> Rules:
    return Rules(" ".join(horn(number)))


def rules_by_the_appendix(number: int) -> Rules:
    rules = [f'old_boss(X, Y) <- old_boss(X, Z), old_friend(Z, "e{i}"), old_pupil(Z, Y).' for i in range(number)]
    return lines([*rules, "incompatible old_boss(X, Y), old_pupil(Y, X)."], options={"convention": "appendix"})


def declarations(number: int) -> Rules:
    """A predicate of its own for each rule, with something of every kind declared about it."""
    names = words(number)
    found = [f"incompatible {', '.join(names)}."]
    for i, name in enumerate(names):
        found += [
            f"{name}(X, Y) <- old_friend(X, Y).",
            f"predicate {name}/2.",
            (f"closed {name}.", f"functional {name}(X -> Y).", f'refute {name}(X, "e{i}") <- old_boss(X, _).')[i % 3],
            f"incompatible {name}(X, Y), {names[i - 1]}(Y, X).",
        ]
    return lines(found)


def templates(number: int) -> Rules:
    values = ", ".join(f'({name}, "e{i}")' for i, name in enumerate(words(number)))
    return Rules(f"for $p, $n in {{{values}}}: named: $p(X, $n) <- old_friend(X, _).")


def formulas(number: int) -> Rules:
    names = words(number // 3)
    rules = [f"{name}(X, Y) or X = Y <- old_friend(X, Y)." for name in names]
    return lines(rules + [f"predicate {name}/2. incompatible {name}, old_boss. functional {name}(X -> Y)." for name in names])


def rules_in_sql(number: int) -> Rules:
    statement = "SELECT NULL::INT AS prediction, true AS confirmed, false AS refuted FROM observed_old_boss"
    return Rules("", {"sql_rules": [SqlRule(f"rule {i}", statement) for i in range(number // 3)]})


def weights(number: int) -> Rules:
    rules = [f'rule_{i}: old_boss(X, "e{i}") <- old_friend(X, "e{i}").' for i in range(number)]
    return lines(rules, options={"weights": {f"rule_{i}": 2.5 for i in range(number)}})


def a_functional_predicate_of_many_arguments(number: int) -> Rules:
    names = [f"X{i}" for i in range(10 * number)]
    return lines(["old_boss(X, Y) <- old_friend(X, Y).", f"functional wide({', '.join(names)}) on X0 -> {', '.join(names[1:])}."])


def a_large_set(number: int) -> Rules:
    values = ", ".join(f"e{i}" for i in range(10 * number))
    return Rules(f"old_boss(X, Y) <- old_friend(X, Y), X in {{{values}}}.")


def unknown_predicates(number: int) -> Rules:
    return lines([f"{name}(X, Y) <- old_boss(X, Y)." for name in words(number)])


def repeated_rules(number: int) -> Rules:
    return lines(["old_boss(X, Y) <- old_friend(X, Y)."] * number)


def misspelt_predicates(number: int) -> Rules:
    rules = [f"predicate {name}/2. {name[1:]}(X, Y) <- {name}(X, Y)." for name in words(number)]
    return lines(rules, errors=("E205",))


def unknown_weights(number: int) -> Rules:
    return Rules(weights(number).text, {"weights": {f"other_{i}": 1.0 for i in range(number)}}, ("E261",))


def unsafe_rules(number: int) -> Rules:
    return Rules(" ".join(f"old_boss(X, Z{i}) <- old_friend(X, Y)." for i in range(number)), errors=("E201",))


def unsafe_formulas(number: int) -> Rules:
    return Rules(" ".join(f"X > Z{i} <- old_friend(X, Y)." for i in range(number)), errors=("E201",))


def without_full_stops(number: int) -> Rules:
    return lines([f"old_boss(X, {i}) <- old_friend(X, Y)" for i in range(number)], errors=("E101",))


def without_bodies(number: int) -> Rules:
    good = "old_boss(X, Y) <- old_friend(X, Y)."
    return lines([good, *(f"old_boss(e1, {i})" for i in range(number))], errors=("E101",))


def repeated_names(number: int) -> Rules:
    return lines([f'one: old_boss(X, "e{i}") <- old_friend(X, Y).' for i in range(number)], errors=("E204",))


def do_everything(rules: Rules) -> None:
    predictions = {"m": FACTS[:30:3], "n": [("e1", "old_boss", "e2")]}
    options = {"allow_unrefutable": True, **rules.options}
    with Session(make_setting(observed=FACTS, predictions=predictions, rules=rules.text, **options)) as session:
        session.audit()
        evaluation = session.evaluate()
        session.explain()
        session.incompatibilities()
    for form in Format:
        render(evaluation, form)
    for warning in evaluation.warnings:
        str(warning)


def fail(rules: Rules) -> None:
    with pytest.raises(InputError) as caught:
        Session(make_setting(observed=FACTS, rules=rules.text, **rules.options))
    assert {one.code for one in caught.value.problems if one.severity is Severity.ERROR} == set(rules.errors)


def calls(work: Callable[[Rules], None], rules: Rules) -> dict[Function, int]:
    """How often each function is called."""
    with Profile() as profile:
        work(rules)
    found: dict[Function, tuple[int, int, float, float, object]] = Stats(profile).stats  # type: ignore[attr-defined]
    return {function: number for function, (_, number, *_) in found.items() if function[2] not in NOT_COUNTED}


def grown(work: Callable[[Rules], None], make: Callable[[int], Rules]) -> dict[Function, tuple[int, int]]:
    """Functions that are called more than 2.3 times as often for twice the rules."""
    work(make(2 * NUMBER))  # what is kept once found, as expressions are, is not found again
    once, twice = calls(work, make(NUMBER)), calls(work, make(2 * NUMBER))
    both = {function: (once.get(function, 0), number) for function, number in twice.items()}
    return {function: (before, after) for function, (before, after) in both.items() if after > 2.3 * before + 3 * NUMBER}


@pytest.mark.parametrize(
    "make",
    [
        rules_on_lines,
        rules_on_one_line,
        rules_by_the_appendix,
        declarations,
        templates,
        formulas,
        rules_in_sql,
        weights,
        a_functional_predicate_of_many_arguments,
        a_large_set,
        unknown_predicates,
        repeated_rules,
    ],
)
def test_twice_the_rules_take_twice_the_work(make: Callable[[int], Rules]):
    assert grown(do_everything, make) == {}


@pytest.mark.parametrize(
    "make",
    [misspelt_predicates, unknown_weights, unsafe_rules, unsafe_formulas, without_full_stops, without_bodies, repeated_names],
)
def test_twice_the_problems_take_twice_the_work(make: Callable[[int], Rules]):
    assert grown(fail, make) == {}
