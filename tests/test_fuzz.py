"""Damaged rules, data and project files, the same ones every time; tests/fuzz.py makes as many as one likes."""

from __future__ import annotations

import pytest
from hypothesis import settings

from fuzz import failures

pytestmark = pytest.mark.slow

# A hundredth of what the thorough profile makes.
MANY = settings().max_examples


@pytest.mark.parametrize(("kind", "number"), [("texts", 100 * MANY), ("rules", 4 * MANY), ("data", 4 * MANY), ("projects", MANY)])
def test_every_input_ends_with_a_result_or_an_error_of_ours(kind: str, number: int) -> None:
    assert list(failures(kind, number, 0)) == []
