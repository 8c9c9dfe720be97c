"""The timeout ends planning, too."""

from __future__ import annotations

import time

import pytest

from rulescore.arguments.python import make_setting
from rulescore.errors import EngineError
from rulescore.session.session import Session
from rulescore.waiting import look_at_the_clock, planning_within

FACTS = [("a", "p", "b"), ("b", "q", "c")]
HORN = "p(X, Y) <- q(X, Y)."
FORMULA = "p(X, Y) <- q(X, Y) or q(Y, X)."


def test_without_a_limit_nobody_is_stopped():
    look_at_the_clock()
    with planning_within(None):
        look_at_the_clock()


def test_waiting_is_no_planning():
    with planning_within(0.2):
        time.sleep(0.3)
        look_at_the_clock()


@pytest.mark.parametrize("stage", ["language.parser", "logic.checks", "logic.planner", "counting.formulas"])
def test_every_stage_looks_at_the_clock(stage: str, monkeypatch: pytest.MonkeyPatch):
    """Before each rule."""
    looked: list[None] = []
    monkeypatch.setattr(f"rulescore.{stage}.look_at_the_clock", lambda: looked.append(None))
    with Session(make_setting(FACTS, {"m": FACTS}, (HORN + FORMULA) * 5)):
        assert len(looked) >= 5


def test_planning_is_stopped_at_the_timeout():
    with pytest.raises(EngineError, match=r"planning was stopped after 1e-06 seconds, the `timeout` of the engine"):
        Session(make_setting(FACTS, {"m": FACTS}, HORN * 100, timeout=1e-6))
