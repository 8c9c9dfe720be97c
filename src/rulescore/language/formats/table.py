"""The formats there are, and how a text tells which it is."""

from __future__ import annotations

import re
from itertools import islice

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.language.formats import (
    amie,
    anyburl,
    desbordante,
    holoclean,
    mln,
    ncrl,
    neural_lp,
    prolog,
    psl,
    rnnlogic,
    uniker,
)
from rulescore.language.formats.base import RuleFormat
from rulescore.language.formats.names import FormatName

FORMATS: dict[FormatName, RuleFormat] = {
    one.name: one
    for one in (
        # The first format that recognises a text wins: those with the most special lines come first.
        anyburl.FORMAT,
        neural_lp.FORMAT,
        ncrl.FORMAT,
        holoclean.FORMAT,
        desbordante.FORMAT,
        uniker.FORMAT,
        rnnlogic.FORMAT,
        mln.FORMAT,
        amie.FORMAT,
        psl.FORMAT,
        prolog.FORMAT,
    )
}
_MOST_LINES = 50
_LINES = re.compile(r"[^\n]+")
_COMMENT = re.compile(r"\s*(?:#|//|%|$)")


def recognise(text: str) -> RuleFormat | None:
    """The format of another tool that a text is in, by its first lines; None for our own language and for unknown formats."""
    found = (line[0].rstrip() for line in _LINES.finditer(text) if not _COMMENT.match(line[0]))
    lines = list(islice(found, _MOST_LINES))
    return next((one for one in FORMATS.values() if lines and one.recognises(lines)), None)


def named_format(name: str) -> FormatName:
    if name in list(FormatName):
        return FormatName(name)
    helps = meant(name, list(FormatName))
    notes = (f"the formats are {', '.join(f'`{one}`' for one in FormatName)}",)
    raise InputError(Diagnostic("E153", f"there is no format of rules `{name}`", notes=notes, helps=helps))
