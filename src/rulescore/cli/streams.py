"""Standard output that lacks characters, or that can no longer be written to."""

from __future__ import annotations

import codecs
import io
import os
import sys

_PLAIN = {"─": "-", "–": "-", "…": "...", "“": '"', "”": '"'}


def prepare_stdout() -> None:
    """Makes stdout replace characters that its encoding lacks by ASCII: lines and dashes by hyphens, others by escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("rulescore", _in_ascii)
        sys.stdout.reconfigure(errors="rulescore")


def abandon_stdout() -> None:
    """Discards output that could not be written: Python would try to write it again at exit, and fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode("ascii") for c in unknown), error.end
