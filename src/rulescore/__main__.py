"""The command line, `rulescore` or `python -m rulescore`: Ctrl-C is heard while it is being imported, too."""

import sys


def main() -> None:
    try:
        from rulescore.cli.main import main as run
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
