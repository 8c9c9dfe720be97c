"""Calls leave nothing behind in the process: tests/soak.py makes a thousand of them, here are some."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak import grown, soak

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")]


def test_calls_leave_no_memory_threads_descriptors_or_files_behind() -> None:
    """Eight of the forty fail; the first four are the warm-up."""
    assert grown(*soak(40)) == []
