"""The experiments, each run once for all tests of a process."""

from __future__ import annotations

import os
from functools import cache

import pytest

from rulescore.reproduction.comparison import Reproduction
from rulescore.reproduction.experiments import EXPERIMENTS
from shared_data import SHARED, shared


@cache
def _run(name: str) -> Reproduction:
    before = os.environ.get("RULESCORE_DATA")
    os.environ["RULESCORE_DATA"] = str(SHARED)
    try:
        return EXPERIMENTS[name]()
    finally:
        os.environ.pop("RULESCORE_DATA") if before is None else os.environ.update(RULESCORE_DATA=before)


@pytest.fixture
def family() -> Reproduction:
    shared("family/train.txt")
    return _run("family")


@pytest.fixture
def fb15k_237() -> Reproduction:
    shared("fb15k-237/train.txt.gz")
    return _run("fb15k-237")


@pytest.fixture
def real_estate() -> Reproduction:
    shared("dvf-nantes/sales.parquet")
    return _run("real-estate")
