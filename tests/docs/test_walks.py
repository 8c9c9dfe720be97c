"""The two walks of the architecture page name files that are entered, in that order; the first walk grows no longer."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType

import pytest

import rulescore

SOURCE = Path(rulescore.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
FACTS = [("alice", "sister", "daniel"), ("daniel", "father", "emma"), ("alice", "aunt", "emma"), ("fiona", "mother", "emma")]


def score_horn_rule() -> None:
    rules = "aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother."
    rulescore.score(FACTS, {"model": [("fiona", "sister", "daniel")]}, rules).to_text()


def score_aggregate() -> None:
    rules = "P <= 2 * avg(Q : sale(zip: Z, price: Q)) <- sale(id: A, zip: Z, price: P), listed(A)."
    table = rulescore.Table({"id": [1, 2, 3], "zip": ["a", "a", "a"], "price": [100.0, 300.0, None]}, key="id", target="price")
    models = {"model": {"sale": {"id": [3], "prediction": [900.0]}}}
    rulescore.score({"listed": [(1,), (2,), (3,)]}, models, rules, tables={"sale": table}).to_text()


def steps(run: Callable[[], None]) -> list[str]:
    """The file of each function that a run calls, in the order of the first calls."""
    found: dict[CodeType, str] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and frame.f_code.co_name != "<module>" and file.startswith(str(SOURCE)):
            found.setdefault(frame.f_code, Path(file).relative_to(SOURCE).as_posix())

    run()  # so that everything is imported, and no import is taken for a step
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(found.values())


def walks() -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").split("## Two walks, hop by hop")[1].split("\n## ")[0]
    tables = re.findall(r"\|---\|---\|\n((?:\|.*\n)+)", section)
    return [re.findall(r"`([\w/]+\.py)`", "\n".join(row.split(" | ")[0] for row in table.splitlines())) for table in tables]


@pytest.mark.parametrize(("number", "run"), [(0, score_horn_rule), (1, score_aggregate)])
def test_a_walk_names_files_in_the_order_in_which_they_are_entered(number: int, run: Callable[[], None]) -> None:
    walk = walks()[number]
    assert len(walk) > 20
    assert [file for file in dict.fromkeys(steps(run)) if file in walk] == walk


# How far a reader of one Horn rule has to go, from the call to the text. These may only fall.
MOST_FILES = 83
MOST_CHANGES_OF_ROOM = 168


def test_the_walk_of_a_horn_rule_grows_no_longer() -> None:
    """A room is a folder of the package or a module beside these; only first calls of functions count."""
    files = steps(score_horn_rule)
    rooms = [file.partition("/")[0] for file in files]
    changes = sum(left != right for left, right in pairwise(rooms))
    assert len(set(files)) <= MOST_FILES
    assert changes <= MOST_CHANGES_OF_ROOM
