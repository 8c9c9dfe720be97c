"""Changes of violations: by numbers, they are what a dictionary of rules and predictions says."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from made_results import Rows, made_result
from rulescore.comparison.changes import changes_table, violated
from rulescore.comparison.samples import Matched, Sample, matched, samples_of
from rulescore.scoring.results import Counts

HARD, RULES = Counts(9, 0, 9), 3
REFUTED = st.dictionaries(st.tuples(st.integers(0, RULES - 1), st.integers(0, 11)), st.integers(0, 2), max_size=20)

Found = dict[tuple[int, int], int]


def rows(found: Found) -> Rows:
    keys = np.array(list(found), np.int64).reshape(-1, 2)
    refuted = np.array(list(found.values()), np.int64)
    return {"rule": keys[:, 0], "prediction": keys[:, 1], "refuted": refuted, "evaluable": np.full(len(found), 2)}


def samples(before: Found, after: Found) -> tuple[list[Sample], list[Matched]]:
    results = [made_result([HARD] * RULES, {"m": rows(found)}, 12, 12) for found in (before, after)]
    sources = [(run, result, result.model_results) for run, result in zip("AB", results, strict=True)]
    rules = matched([result.rule_results for result in results])
    return samples_of(sources, rules), rules


@given(REFUTED, REFUTED)
def test_changes_are_those_of_dictionaries(before: Found, after: Found) -> None:
    expected = [
        (f"r{rule}", [prediction], before.get((rule, int(prediction)), 0), after.get((rule, int(prediction)), 0))
        for rule, prediction in sorted((rule, str(prediction)) for rule, prediction in before.keys() | after.keys())
    ]
    made, rules = samples(before, after)
    table = changes_table(made, [(0, 1)], rules)
    found = [(row["rule"], row["arguments"], row["first_refuted"], row["second_refuted"]) for row in table.to_pylist()]
    assert found == [row for row in expected if row[2] != row[3]]


@given(REFUTED, REFUTED)
def test_what_one_violates_and_the_other_does_not(before: Found, after: Found) -> None:
    broken = [{key for key, refuted in found.items() if refuted} for found in (before, after)]
    expected = [Counter(rule for rule, _ in one - two) for one, two in (broken, broken[::-1])]
    only = violated(*samples(before, after)[0]).only(RULES)
    assert [one.tolist() for one in only] == [[number[rule] for rule in range(RULES)] for number in expected]
