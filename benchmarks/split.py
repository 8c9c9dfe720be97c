"""`python split.py OUTPUT ARGUMENT…`: run the command line as a user does, its output to a file, and print the processor seconds of
each part of the run as JSON. `whole.py --split` shows them.

A part is what named functions of the package take, without the parts within them. What no name covers belongs to the part around
it, and in the end to `other`."""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

STARTED = time.process_time()
"""What the interpreter itself took."""

PARTS = {
    "reading rules": ("rulescore.session.opening:read",),
    "reading and numbering data": ("rulescore.session.opening:load_data", "rulescore.session.opening:connect"),
    "checking": (
        "rulescore.session.opening:check",
        "rulescore.session.opening:check_scoring",
        "rulescore.session.opening:resolve_rules",
    ),
    "planning": (
        "rulescore.session.opening:plan_program",
        "rulescore.session.opening:refutations",
    ),
    "counting": (
        "rulescore.session.session:Session.evaluate",
        "rulescore.session.session:Session.audit",
        "rulescore.counting.evidence:Evidence.never_together",
    ),
    "scoring": ("rulescore.session.session:Session._evaluation",),
    "writing": ("rulescore.cli.score:show", "rulescore.cli.audit:show"),
}
NAMES = ("interpreter", "imports", *PARTS, "other")

seconds = dict.fromkeys(NAMES, 0.0)
_within: list[list[float]] = []


def measured(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        _within.append([0.0])
        began = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            took = time.process_time() - began
            (inner,) = _within.pop()
            seconds[part] += took - inner
            if _within:
                _within[-1][0] += took

    return wrapper


def watch() -> None:
    for part, places in PARTS.items():
        for place in places:
            module, _, path = place.partition(":")
            *owners, name = path.split(".")
            owner: Any = functools.reduce(getattr, owners, importlib.import_module(module))
            setattr(owner, name, measured(part, getattr(owner, name)))


def main(output: str, arguments: list[str]) -> None:
    seconds["interpreter"] = STARTED
    shown = os.dup(1)
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    from rulescore.cli.main import main as run

    watch()
    seconds["imports"] = time.process_time() - STARTED
    sys.argv = ["rulescore", *arguments]
    try:
        run()
    except SystemExit as ended:
        if ended.code:
            raise
    sys.stdout.flush()
    seconds["other"] = time.process_time() - sum(seconds.values())
    os.write(shown, json.dumps(seconds).encode())


if __name__ == "__main__":
    gc.set_threshold(200_000, 50, 100)  # as `rulescore` does
    main(sys.argv[1], sys.argv[2:])
