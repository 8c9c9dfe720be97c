"""A violation as a sentence that a person can read."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from rulescore.reporting.cells import shown
from rulescore.reporting.listing import CellKind
from rulescore.scoring.violation import ComparedValues, Fact, Refuter, Violation
from rulescore.values.moments import spell_duration

# Text of digits is written with quotes in rules, which readers of a sentence do not miss.
_QUOTED = re.compile(r'"([\w.-]+)"')


def sentence(violation: Violation) -> str:
    """Which model predicts what, what follows, and what speaks against it; or that it holds."""
    return _QUOTED.sub(r"\1", _sentence(violation))


def _sentence(violation: Violation) -> str:
    own = None if violation.prediction is None else str(violation.prediction)
    others = _others(violation.facts, own)
    data = _observed(others) if others else "the data"
    said = data if own is None else f"{violation.model} predicts {own}"
    if violation.confirmed:
        return _met(violation, said, others, own)
    if violation.head == "false":
        return _forbidden(violation, said, others, data=own is None)
    if not violation.body:
        return f"{said}: {violation.head}"
    if violation.roles == ("refuter",):
        return f"{said}, but {violation.head} follows from {_listed(violation.body)}"
    if violation.head == own:
        return f"{said}, but {_why(violation, own)}"
    return f"{said}, so that {violation.head} should hold, but {_why(violation, own)}"


def _met(violation: Violation, said: str, others: Sequence[str], own: str | None) -> str:
    if not violation.body:
        return f"{said}: {violation.head}"
    if violation.head == own:
        return f"{said}, which follows from {_listed(violation.body)}"
    with_facts = f"{said} and {_observed(others)}" if own is not None and others else said
    return f"{with_facts}, so that {violation.head} should hold, and it does"


def _forbidden(violation: Violation, said: str, others: Sequence[str], *, data: bool) -> str:
    compared = "".join(f", and {one.text}" for one in violation.compared)
    if data:
        return f"{said}{compared}, which the rule forbids"
    if others:
        return f"{said}, but {_observed(others)}{compared}"
    return f"{said}{compared}, which the rule forbids"


def _why(violation: Violation, own: str | None) -> str:
    found = [_against(one, own) for one in violation.refuters[:1]] or [_missed(one, violation.head) for one in violation.compared]
    return _listed(found) if found else "it does not"


def _against(refuter: Refuter, own: str | None) -> str:
    if refuter.declared is not None:
        is_clause = refuter.declared == "closed" or refuter.declared.endswith(("is true", "is false"))
        return str(refuter) if is_clause else f"`{refuter}` refutes it"
    if any(one.negative for one in refuter.facts):
        return f"{_listed([str(one).removeprefix('negative ') for one in refuter.facts])} is known to be false"
    facts = _others(refuter.facts, own)
    absent = [f"not {one}" for one in refuter.absent]
    if not facts and not absent:
        return "it is refuted by the prediction itself" if refuter.facts else f"{refuter} refute it"
    return _observed(facts) if not absent else f"{_listed([*facts, *absent])} refutes it"


def _others(facts: Sequence[Fact], own: str | None) -> list[str]:
    """The facts beside the prediction."""
    return [text for text in dict.fromkeys(str(one) for one in facts if not one.predicted) if text != own]


def _missed(compared: ComparedValues, head: str) -> str:
    """By how much a comparison is missed; its text is not repeated if it is the head."""
    what = "it" if compared.text == head else compared.text
    if compared.margin is None:
        return f"{what} holds" if compared.holds else f"{what} does not"
    margin = shown_margin(compared)
    return f"{what} holds by {margin}" if compared.holds else f"{what} is missed by {margin}"


def shown_margin(compared: ComparedValues) -> str:
    """By how much, with its unit; date-times and durations as people say it: 2 h 5 min."""
    if compared.distance is not None and type(compared.left) is not datetime.date:
        return spell_duration(compared.distance)
    number = shown(compared.margin, CellKind.VALUE)
    unit = compared.unit
    return number if unit is None else f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def _observed(facts: Sequence[str]) -> str:
    return f"{_listed(facts)} {'is' if len(facts) == 1 else 'are'} observed"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
