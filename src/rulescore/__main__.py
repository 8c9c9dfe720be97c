"""`python -m rulescore`: the command line."""

from rulescore.cli.main import main

main()
