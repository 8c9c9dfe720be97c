"""Standard output that cannot take everything."""

from __future__ import annotations

import codecs
import io
import os
import sys

_PLAIN = {"─": "-", "–": "-", "…": "...", "“": '"', "”": '"'}


def prepare_stdout() -> None:
    """What the encoding of stdout lacks is written in ASCII: lines and dashes as hyphens, any other character by its number."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("rulescore", _in_ascii)
        sys.stdout.reconfigure(errors="rulescore")


def abandon_stdout() -> None:
    """Lets go of what could not be written: Python would try again at exit, and fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode("ascii") for c in unknown), error.end
