"""A cache of the test's own, no folder of the user's, and nothing between a test and the server on its own machine."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("RULESCORE_DATA", raising=False)
    return tmp_path / "cache" / "rulescore" / "datasets"
