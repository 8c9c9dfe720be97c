"""`python launch.py OUTPUT ARGUMENT…`: run the command line and print what it used as JSON; its standard output goes to a file.

A process of its own, and a small one: on Linux a process begins with the peak of memory of the one that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

PAUSE = 0.25
"""Seconds between two looks at the temporary files."""


def main(output: str, arguments: list[str]) -> None:
    load, ended = os.getloadavg()[0], Event()
    with Path(output).open("wb") as out, tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor() as pool:
        disk = pool.submit(_most_kept, Path(temporary), ended)
        started = time.perf_counter()
        environment = {**os.environ, "TMPDIR": temporary}
        process = subprocess.Popen([sys.executable, "-m", "rulescore", *arguments], stdout=out, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        ended.set()
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(f"rulescore {' '.join(arguments)} exited with {code}")
    memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    processor = used.ru_utime + used.ru_stime
    print(json.dumps({"wall": wall, "processor": processor, "memory": memory, "disk": disk.result(), "load": load}))


def _most_kept(folder: Path, ended: Event) -> int:
    """The most bytes that were ever in the folder."""
    most = 0
    while not ended.wait(PAUSE):
        most = max(most, sum(_size(path) for path in folder.rglob("*")))
    return most


def _size(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except FileNotFoundError:
        return 0


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
