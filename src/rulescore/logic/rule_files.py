"""Rule files by themselves, without the data they are for: syntax, and whatever of the rules needs no data."""

from __future__ import annotations

from collections.abc import Iterable

from rulescore.errors import Diagnostic, InputError, Source, are_errors
from rulescore.language.names import rule_names
from rulescore.language.reading import read_rules
from rulescore.logic.checks import structure
from rulescore.logic.families import Names
from rulescore.logic.horn import horn_program

_NOTHING_KNOWN = Names(tables=(), functions=frozenset())


def check_rule_files(sources: Iterable[Source]) -> tuple[int, list[Diagnostic]]:
    """How many rules there are, and warnings; errors of all files are raised together. Each file stands for itself: they need not
    be of one project."""
    rules = 0
    problems: list[Diagnostic] = []
    for source in sources:
        try:
            reading = read_rules([source])
        except InputError as error:
            problems += error.problems
        else:
            program = reading.program
            problems += reading.told
            rules += len(program.rules)
            fast, _ = horn_program(program, _NOTHING_KNOWN.is_predicate)
            problems += structure(program, rule_names(program), fast)
    if are_errors(problems):
        raise InputError(problems)
    return rules, problems
