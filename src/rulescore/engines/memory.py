"""Amounts of memory, what this process takes, and the share of an engine inside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from re import fullmatch

MEBIBYTE = 1 << 20
_UNITS = {"": 1, **{letter: 1000**power for power, letter in enumerate("KMGT", 1)}}
_BINARY_UNITS = {f"{letter}I": 1024**power for power, letter in enumerate("KMGT", 1)}

# The least share, enough for some thousand facts; what loading adds beside the engine; and a change so small that we leave the
# share as it is.
_LEAST = 32 * MEBIBYTE
_LOADING = 80 * MEBIBYTE
_NOTABLE = 4 * MEBIBYTE

# A tenth of the limit stays free: for memory that the engine has freed but not returned when a statement ends, and for its result.
_FREE = 10

# What a run with few rules takes beside its engine, for systems that do not tell.
_USUAL = 200 * MEBIBYTE

_STATM = Path("/proc/self/statm")


def amount(text: str) -> int | None:
    """An amount such as `2GB` or `500MiB`, in bytes; None for any other text."""
    found = fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?", text.strip().upper())
    return None if found is None else int(float(found[1]) * (_UNITS | _BINARY_UNITS)[found[2]])


def resident() -> int | None:
    """The bytes of memory that this process takes now, its libraries included; None if the system does not tell."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


class Share:
    """What an engine inside this process may take of a limit of the whole process: what Python, libraries, rules and what is being
    read leave. They take more and more, so the engine fits its share again before every statement."""

    def __init__(self, limit: int, used: Callable[[], int], take: Callable[[int], None]) -> None:
        """`used` tells what the engine takes now. `take` gives it another share, and makes it return memory that it has freed."""
        self._limit, self._used, self._take = limit, used, take
        self._beside = 0
        self.bytes = limit

    @property
    def least_limit(self) -> int:
        """The least limit with which a run can begin."""
        return self._measured() + _LOADING + _LEAST

    def fit(self) -> None:
        if abs(self._measured() - self._beside) < _NOTABLE:
            return
        # What the engine has freed but not yet returned is not beside it.
        self._take(self.bytes)
        self._beside = self._measured()
        self.bytes = max(self._limit - self._limit // _FREE - self._beside, _LEAST)
        self._take(self.bytes)

    def _measured(self) -> int:
        """What the process takes beside the engine."""
        found = resident()
        return _USUAL if found is None else found - self._used()
