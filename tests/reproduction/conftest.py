"""The experiments, each run once for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from rulescore.reproduction.comparison import Reproduction
from rulescore.reproduction.experiments import EXPERIMENTS
from shared_data import SHARED, shared


@pytest.fixture
def shared_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shared("predictions")
    with monkeypatch.context() as patched:
        patched.setenv("RULESCORE_DATA", str(SHARED))
        yield


@cache
def _run(name: str) -> Reproduction:
    return EXPERIMENTS[name]()


@pytest.fixture
def family(shared_folder: None) -> Reproduction:
    return _run("family")


@pytest.fixture
def fb15k_237(shared_folder: None) -> Reproduction:
    return _run("fb15k-237")


@pytest.fixture
def real_estate(shared_folder: None) -> Reproduction:
    return _run("real-estate")
