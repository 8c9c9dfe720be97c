"""Sessions in forked processes, which have no thread of their parents and share their connections."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.session.session import Session
from targets import parameters

FACTS = {"sister": [("alice", "daniel")], "wife": [("bob", "carl")]}
PREDICTIONS = {"m": {"wife": [("alice", "daniel")]}}
RULES = "false <- sister(X, Y), wife(X, Y)."

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]


@pytest.fixture(params=parameters())
def any_engine(request: pytest.FixtureRequest, engine_of: Callable[[str], Any]) -> Any:
    return engine_of(request.param)


def ended(work: Callable[[], object]) -> tuple[int, str]:
    """How a forked process ends that does some work and then leaves as Python programs do, and what it wrote."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.write(writing, str(work()).encode())
            status = 0
        except rulescore.InputError as error:
            os.write(writing, error.problems[0].code.encode())
            status = 0
        finally:
            gc.collect()
            os._exit(status)
    os.close(writing)
    until = time.monotonic() + 30
    while (found := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1, "it hangs"
        time.sleep(0.02)
    with os.fdopen(reading) as told:
        return os.waitstatus_to_exitcode(found[1]), told.read()


def test_e546_a_forked_process_cannot_use_a_session_and_closes_nothing(any_engine: Any) -> None:
    with rulescore.open(FACTS, PREDICTIONS, RULES, engine=any_engine) as session:
        result = session.score()
        assert ended(session.score) == (0, "E541")
        assert ended(result.violations) == (0, "E541")
        assert ended(lambda: result.explain(("alice", "wife", "daniel"))) == (0, "E541")
        assert ended(session.close) == (0, "None")
        assert ended(lambda: rulescore.score(FACTS, PREDICTIONS, RULES).model_results[0].violating) == (0, "1")
        assert session.score() == result
        assert result.violations().total == 1


def test_a_forked_process_that_ends_as_usual_leaves_the_session_alone(engine: str) -> None:
    program = f"""
import os, sys
import rulescore
session = rulescore.open({FACTS!r}, {PREDICTIONS!r}, {RULES!r}, engine={engine!r})
session.score()
if not (child := os.fork()):
    session.close()
    del session
    sys.exit(7)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
folder = getattr(session.session.engine, "_own_folder", None)
print(status, folder is None or os.path.isdir(folder.name), session.score().model_results[0].violating)
session.close()
print(folder is None or not os.path.isdir(folder.name))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("7 True 1\nTrue\n", 0), done.stderr


def test_e541_a_session_of_ours_that_is_closed_says_so(any_engine: Any) -> None:
    session = Session(make_setting(FACTS, PREDICTIONS, RULES, engine=any_engine))
    session.close()
    with pytest.raises(rulescore.InputError, match="E541"):
        session.evaluate()
