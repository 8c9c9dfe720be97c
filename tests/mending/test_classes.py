"""The chosen class is the best one that breaks no hard rule, by what `score` counts for each class alone."""

from __future__ import annotations

import numpy as np
import pytest

import rulescore
from rulescore.mending.classes import ClassTable, class_table

ROWS = [
    {"id": number, "brand": f"b{number % 3}", "kind": ("shoe", "hat", "coat")[number % 3], "size": 30 + number % 12}
    for number in range(24)
]
HIDDEN = [0, 1, 2, 3, 4, 5]
CLASSES = ["coat", "hat", "shoe"]
RULES = """
brands: K = L <- item(id: A, brand: B, kind: K), item(id: C, brand: B, kind: L), A != C.
sizes: K = "hat" <- item(id: A, kind: K, size: S), S < 35.
"""


@pytest.fixture(scope="module")
def classes() -> ClassTable:
    table = rulescore.Table(ROWS, key="id", target="kind", hidden=HIDDEN)
    return class_table(RULES, "item", table, HIDDEN, CLASSES)


def test_each_class_contributes_what_score_counts(classes: ClassTable) -> None:
    table = rulescore.Table(ROWS, key="id", target="kind", hidden=HIDDEN)
    for number, label in enumerate(CLASSES):
        result = rulescore.score(None, {"model": {"item": dict.fromkeys(HIDDEN, label)}}, RULES, tables={"item": table})
        expected = {
            (row["rule"], int(row["arguments"][0])): [row["confirmed"], row["refuted"], row["evaluable"]]
            for row in result.contributions.to_pylist()
        }
        own = {
            (name, key): counts[row, number].tolist()
            for name, counts in classes.counts.items()
            for row, key in enumerate(HIDDEN)
            if counts[row, number].any()
        }
        assert own == expected


def test_the_best_class_that_breaks_no_hard_rule_is_chosen(classes: ClassTable) -> None:
    assert classes.kinds == {"brands": "hard", "sizes": "soft"}
    scores = np.tile([0.5, 0.3, 0.2], (len(HIDDEN), 1))
    chosen = classes.choose(scores)
    assert chosen.classes == [ROWS[key]["kind"] for key in HIDDEN]
    assert chosen.moved.tolist() == [ROWS[key]["kind"] != "coat" for key in HIDDEN]
    assert chosen.met.all()


def test_a_row_whose_classes_all_break_rules_keeps_the_best() -> None:
    table = rulescore.Table(ROWS, key="id", target="kind", hidden=HIDDEN)
    made = class_table(RULES, "item", table, HIDDEN, ["coat", "hat"])
    chosen = made.choose([[0.4, 0.6]] * len(HIDDEN))
    assert chosen.met.tolist() == [ROWS[key]["kind"] != "shoe" for key in HIDDEN]
    assert [label for label, met in zip(chosen.classes, chosen.met, strict=True) if not met] == ["hat", "hat"]


@pytest.mark.parametrize(
    ("scores", "message"), [([[1.0, 2.0]], "do not fit"), ([[float("nan")] * 3] * len(HIDDEN), "a score is NaN")]
)
def test_scores_that_do_not_fit_are_refused(classes: ClassTable, scores: list[list[float]], message: str) -> None:
    with pytest.raises(rulescore.InputError, match=message):
        classes.choose(scores)


def test_what_allows_everything_is_refused() -> None:
    table = rulescore.Table(ROWS, key="id", target="kind", hidden=HIDDEN)
    with pytest.raises(rulescore.InputError, match="no rule is hard"):
        class_table(RULES.split("\n")[2], "item", table, HIDDEN, CLASSES).choose(np.zeros((len(HIDDEN), 3)))
    with pytest.raises(rulescore.InputError, match=f"`{HIDDEN[0]}` is asked for twice"):
        class_table(RULES, "item", table, [HIDDEN[0], *HIDDEN], CLASSES)
    with pytest.raises(rulescore.InputError, match="no rows, or no classes"):
        class_table(RULES, "item", table, [], CLASSES)
