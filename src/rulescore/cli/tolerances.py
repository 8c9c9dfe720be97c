"""`--tolerances`: what a user wrote, and tolerances that no rule can be given."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from rulescore.errors import Diagnostic, Severity

if TYPE_CHECKING:
    # Loading this takes longer than `--help` may.
    from rulescore.scoring.tolerances import GridRow


_TOLERANCE = re.compile(r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(?P<percent>%?)")


@dataclass(frozen=True, slots=True)
class WrittenTolerance:
    """A tolerance as it was written, and what it says."""

    text: str
    value: int | float
    relative: bool


def read_tolerances(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[WrittenTolerance, ...] | None:
    """Numbers and percentages, separated by commas; each once."""
    if value is None:
        return None
    found = [_tolerance(text.strip(), context, parameter) for text in value.split(",")]
    return tuple({(one.value, one.relative): one for one in reversed(found)}.values())[::-1]


def _tolerance(text: str, context: click.Context, parameter: click.Parameter) -> WrittenTolerance:
    found = _TOLERANCE.fullmatch(text)
    number = None if found is None else _number(found["number"])
    if found is None or number is None:
        message = f"`{text}` is not a tolerance: write numbers or percentages with commas between them, as in 100,500,5%"
        raise click.BadParameter(message, context, parameter)
    return WrittenTolerance(text, number, bool(found["percent"]))


def _number(text: str) -> int | float | None:
    """The number, None where it is too large to be one."""
    if text.isdigit():
        return int(text) if int(text) < 2**63 else None
    value = float(text)
    return value if math.isfinite(value) else None


def problems_of(written: Sequence[WrittenTolerance], rows: Sequence[GridRow]) -> Iterator[Diagnostic]:
    """An error where no rule was counted, a warning for the tolerances that concern none."""
    if not rows:
        yield Diagnostic(
            "E707",
            f"no rule limits a distance that {_listed(written)} could limit",
            notes=(
                "a rule limits a distance when it compares `abs(P - Q)` with a number, or says `within(P, Q, …)`, of two rows of "
                "one table that are read alike",
                "percentages are for rules with a tolerance in percent, `within(P, Q, 10%)`, numbers for the others",
            ),
        )
        return
    used = {row.tolerance.relative for row in rows}
    for relative, kind in ((True, "in percent"), (False, "that is a number")):
        idle = [one for one in written if one.relative is relative]
        if idle and relative not in used:
            message = f"{_listed(idle)} {'concerns' if len(idle) == 1 else 'concern'} no rule: none has a tolerance {kind}"
            yield Diagnostic("W701", message, severity=Severity.WARNING)


def _listed(written: Sequence[WrittenTolerance]) -> str:
    return ", ".join(f"`{one.text}`" for one in written)
