"""`python launch.py OUTPUT ARGUMENT…`: run the command line and print what it used as JSON; its standard output goes to a file.

A process of its own, and a small one: on Linux a process begins with the peak of memory of the one that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main(output: str, arguments: list[str]) -> None:
    started = time.perf_counter()
    with Path(output).open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "rulescore", *arguments], stdout=out)
        _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(f"rulescore {' '.join(arguments)} exited with {code}")
    memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps({"wall": wall, "processor": used.ru_utime + used.ru_stime, "memory": memory}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
