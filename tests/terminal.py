"""Processes on a terminal of their own."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence


def on_a_terminal(command: Sequence[str], environment: Mapping[str, str], *, stdout: int | None = None) -> tuple[int, str]:
    """The exit code, and what the terminal gets: stderr, and stdout unless that goes elsewhere."""
    main, other = pty.openpty()
    process = subprocess.Popen(command, stdout=other if stdout is None else stdout, stderr=other, env=environment)
    os.close(other)
    pieces = []
    try:
        while piece := os.read(main, 65536):
            pieces.append(piece)
    except OSError:
        pass  # On Linux the end of a terminal is an error.
    os.close(main)
    return process.wait(), b"".join(pieces).decode().replace("\r\n", "\n")
