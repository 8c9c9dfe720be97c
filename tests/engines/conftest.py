"""Databases for the tests of engines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from own_database import Database, own_database


@pytest.fixture
def database() -> Iterator[Database]:
    with own_database() as found:
        yield found
