"""Rules of other tools, read from text."""

from __future__ import annotations

from pathlib import Path

import pytest

from rulescore.errors import Diagnostic, InputError, Source
from rulescore.language.printer import print_rule
from rulescore.language.reading import Reading, RuleSource, read_rules
from rulescore.language.rule_formats import TableName


def reading(text: str, form: str | None = None, *, tables: tuple[TableName, ...] = (), folder: Path | None = None) -> Reading:
    if form is None:
        return read_rules([Source("f.txt", text, folder)], tables)
    return read_rules([RuleSource("f.txt", text, folder, format=form)], tables)


def rules(text: str, form: str | None = None, **options: object) -> list[str]:
    """The rules of a text, as our own language writes them."""
    return [print_rule(rule) for rule in reading(text, form, **options).program.rules]  # type: ignore[arg-type]


def note(text: str, form: str | None = None) -> str:
    return reading(text, form).told[0].message


def problem(text: str, form: str | None = None, **options: object) -> Diagnostic:
    with pytest.raises(InputError) as raised:
        reading(text, form, **options)  # type: ignore[arg-type]
    return raised.value.problems[0]
