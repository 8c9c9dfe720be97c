"""`--tolerances`: reads the user's list, and reports tolerances that fit no rule."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from rulescore.errors import Diagnostic, Severity, ticked

if TYPE_CHECKING:
    # Loading this takes longer than `--help` may.
    from rulescore.scoring.results import GridRow


_TOLERANCE = re.compile(r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(?P<percent>%?)")


@dataclass(frozen=True, slots=True)
class WrittenTolerance:
    """A tolerance: the user's text and its value. `relative`: a percentage, with its number as the value."""

    text: str
    value: int | float
    relative: bool


def read_tolerances(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[WrittenTolerance, ...] | None:
    """Reads numbers and percentages separated by commas. A repeated tolerance counts once."""
    if value is None:
        return None
    tolerances = [_tolerance(text.strip(), context, parameter) for text in value.split(",")]
    return tuple({(tolerance.value, tolerance.relative): tolerance for tolerance in reversed(tolerances)}.values())[::-1]


def _tolerance(text: str, context: click.Context, parameter: click.Parameter) -> WrittenTolerance:
    match = _TOLERANCE.fullmatch(text)
    number = None if match is None else _finite(match["number"])
    if match is None or number is None:
        message = f"`{text}` is not a tolerance: write numbers or percentages separated by commas, as in 100,500,5%"
        raise click.BadParameter(message, context, parameter)
    return WrittenTolerance(text, number, bool(match["percent"]))


def _finite(text: str) -> int | float | None:
    """The number as a value; None if it is too large for 64 bits or for a double."""
    if text.isdigit():
        return int(text) if int(text) < 2**63 else None
    value = float(text)
    return value if math.isfinite(value) else None


def problems_of(written: Sequence[WrittenTolerance], rows: Sequence[GridRow]) -> Iterator[Diagnostic]:
    """An error if no rule was counted, otherwise a warning for the tolerances that fit no rule."""
    if not rows:
        yield Diagnostic(
            "E264",
            f"no rule has a limit on a distance that {_listed(written)} could replace",
            notes=(
                "a rule limits a distance if it compares `abs(P - Q)` with a number or says `within(P, Q, …)`, and its body has "
                "two atoms of one table with the same attributes and the same conditions",
                "percentages fit rules with a tolerance in percent, `within(P, Q, 10%)`; numbers fit the others",
            ),
        )
        return
    used = {row.tolerance.relative for row in rows}
    for relative, kind in ((True, "in percent"), (False, "that is a number")):
        idle = [tolerance for tolerance in written if tolerance.relative is relative]
        if idle and relative not in used:
            message = f"{_listed(idle)} {'fits' if len(idle) == 1 else 'fit'} no rule: none has a tolerance {kind}"
            yield Diagnostic("W281", message, severity=Severity.WARNING)


def _listed(written: Sequence[WrittenTolerance]) -> str:
    return ticked(tolerance.text for tolerance in written)
