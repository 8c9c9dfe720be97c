"""One walk finds what all walks over a program would."""

import datetime

from rulescore.errors import Source
from rulescore.language.parser import parse
from rulescore.language.trees import constant_keys, used_arities, uses
from rulescore.values import MARKER

PROGRAM = parse(
    Source(
        "some.rules",
        """
        predicate far/3.
        near(X, Y) <- far(X, a), far(b, Y), far(X, Y, 1).
        near(X, a) <- far(a, X), far(X, a).
        false <- far(X, 1.0), near(true, X).
        false <- near(X, late), X > 2020-01-31, not gone(X).
        incompatible near, apart.
        near(X, Y) <- far(X, Y, 3 days).
        """,
    )
)


def test_rules_of_atoms_alone_are_plain():
    assert PROGRAM.occurrences.plain == (True, True, True, False, False)
    assert len(PROGRAM.occurrences.others) == len(PROGRAM.statements) - 3


def test_predicates_are_those_of_a_walk_over_every_use():
    first = {}
    for predicate, arity, span in uses(PROGRAM):
        first.setdefault((predicate, arity), span)
    assert PROGRAM.occurrences.first == first
    assert used_arities(PROGRAM) == {"far": 3, "near": 2, "gone": 1}


def test_a_constant_stands_where_it_first_does():
    constants = {place: term.span.start for place, term in PROGRAM.occurrences.constants.items()}
    text = PROGRAM.rules[0].span.source.text
    assert constants[("far", 2, 1), "a"] == text.index("a)")
    assert constants[("far", 2, 0), "a"] == text.index("a, X")
    assert constants[("far", 3, 2), f"{MARKER}n1"] == text.index("1)")
    assert constants[("far", 2, 1), f"{MARKER}n1"] == text.index("1.0")
    assert (("near", 2, 1), "late") not in constants


def test_the_keys_are_those_of_all_statements():
    date = f"{MARKER}d{datetime.date(2020, 1, 31)}"
    assert constant_keys(PROGRAM) == {"a", "b", "late", f"{MARKER}n1", f"{MARKER}btrue", date}
