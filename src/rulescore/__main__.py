"""The command line, `rulescore` or `python -m rulescore`. Ctrl-C works while it is being imported, too."""

import sys

if __name__ == "__main__" and __spec__ is not None and not sys.flags.safe_path:
    # `python -m` puts the current folder on the path. It may be somebody else's, and have a `click.py` that we must not run.
    del sys.path[0]

import gc
import os
import signal
from typing import NoReturn


def main() -> None:
    # Until everything is imported, Ctrl-C ends the process at once. There is nothing to clean up, and within an import Python may
    # wrap an error that a handler raises.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda number, frame: _end_interrupted())
    # A hundred thousand rules are millions of objects that stay, and looking through them for garbage took a tenth of the time.
    gc.set_threshold(200_000, 50, 100)
    # numpy's algebra, which we do not use, takes memory for each of its threads, and ends the process if there is too little.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from rulescore.cli.main import main as run
    except (ImportError, MemoryError) as error:
        _end_unloaded(error)
    try:
        run()
    except ImportError as error:
        _end_unloaded(error)


def _end_interrupted() -> NoReturn:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


def _end_unloaded(error: BaseException) -> NoReturn:
    """Ends the process with one line. If memory is short, libraries fail with many kinds of errors, some of them long. We print one
    line instead."""
    while error.__cause__ is not None:
        error = error.__cause__
    reason = str(error).strip().partition("\n")[0]
    print(f"error: the program cannot be loaded, because memory or a library is missing: {reason}", file=sys.stderr)
    sys.exit(3)


if __name__ == "__main__":
    main()
