"""Where published graphs and predictions lie, for tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared(name: str) -> Path:
    """A file of the shared data. Where there are none the test is skipped; in CI they have to be there."""
    path = SHARED / name
    if not path.exists():
        message = f"needs {name} of the shared data, expected beside the repository in shared/data"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path
