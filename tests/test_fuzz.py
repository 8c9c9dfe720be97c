"""Damaged rules, data and project files, the same ones every time; tests/fuzz.py makes as many as one likes."""

from __future__ import annotations

import pytest

from fuzz import failures

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("kind", "number"), [("texts", 4000), ("rules", 120), ("data", 120), ("projects", 20)])
def test_every_input_ends_with_a_result_or_an_error_of_ours(kind: str, number: int) -> None:
    assert list(failures(kind, number, 0)) == []
