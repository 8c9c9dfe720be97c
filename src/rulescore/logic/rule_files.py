"""Checks rule files without their data: syntax, and every check of rules that needs no data."""

from __future__ import annotations

from collections.abc import Iterable

from rulescore.errors import Diagnostic, InputError, Source, are_errors
from rulescore.language.names import rule_names
from rulescore.language.reading import read_rules
from rulescore.logic.checks import structure
from rulescore.logic.vocabulary import Names

_NOTHING_KNOWN = Names(tables={}, functions=frozenset())


def check_rule_files(sources: Iterable[Source]) -> tuple[int, list[Diagnostic]]:
    """The number of rules, and warnings. Raises the errors of all files together. We check each file by itself: the files need not
    belong to one project."""
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
            problems += structure(program, rule_names(program), _NOTHING_KNOWN)
    if are_errors(problems):
        raise InputError(problems)
    return rules, problems
