"""The command line, `rulescore` or `python -m rulescore`: Ctrl-C is heard while it is being imported, too."""

import gc
import sys


def main() -> None:
    # A hundred thousand rules are millions of objects that stay, and looking through them for garbage took a tenth of the time.
    gc.set_threshold(200_000, 50, 100)
    try:
        from rulescore.cli.main import main as run
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
