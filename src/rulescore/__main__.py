"""The command line, `rulescore` or `python -m rulescore`: Ctrl-C is heard while it is being imported, too."""

import atexit
import gc
import os
import sys
import threading


def main() -> None:
    # A hundred thousand rules are millions of objects that stay, and looking through them for garbage took a tenth of the time.
    gc.set_threshold(200_000, 50, 100)
    try:
        from rulescore.cli.main import main as run
        from rulescore.hidden_pandas import hide_pandas
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except (ImportError, MemoryError) as error:
        # Libraries that find no room for themselves say so in many ways.
        print(f"error: the program cannot be loaded, for want of memory or of a library: {str(error).strip()}", file=sys.stderr)
        sys.exit(3)
    hide_pandas()
    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int) and _is_all_done():
            os._exit(end.code)
        raise


def _is_all_done() -> bool:
    """Whether nothing is left to do but to take down every object of the process, which takes longer than to end it."""
    if sys.getprofile() is not None or any(not one.daemon for one in threading.enumerate() if one is not threading.main_thread()):
        return False
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
