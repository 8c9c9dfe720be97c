"""A pytest plugin. Every run of pytest loads it, so it imports the package only if a test uses the fixture. It is no part of the
package: tests in a folder that has a `rulescore.py` must run, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def rulescore_complies() -> Callable[..., None]:
    """`rulescore_complies(result, "hard > 0", …)` fails the test with a summary if a model does not meet a gate: see
    `rulescore.testing.assert_complies`."""
    from rulescore.testing import assert_complies

    return assert_complies
