"""A violation as a sentence that a person can read."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from rulescore.reporting.cells import shown
from rulescore.reporting.listing import CellKind
from rulescore.scoring.violation import ComparedValues, Fact, Refuter, Violation
from rulescore.values.moments import spell_duration

_MOST_ABSENT = 3

# Readers of a sentence do not miss the quotes of rules, except around text that looks like a number, a date or a truth value.
_QUOTED = re.compile(r'"(?![+-]?\.?[0-9][0-9.eE+-]*"|(?i:true|false)")([\w.-]+)"')


def sentence(violation: Violation) -> str:
    """Which model predicts what, what follows, and what speaks against it; or that it holds."""
    return _QUOTED.sub(r"\1", _sentence(violation))


def _sentence(violation: Violation) -> str:
    own = None if violation.prediction is None else str(violation.prediction)
    given = _given(_others(violation.facts, own), violation.absent)
    said = (given or "the data") if own is None else f"{violation.model} predicts {own}"
    with_facts = f"{said}, and {given}" if own is not None and given else said
    if violation.confirmed:
        return _met(violation, said, with_facts, own)
    if violation.head == "false":
        return _forbidden(violation, said, given if own is not None else "")
    if not violation.body:
        return f"{said}: {violation.head}"
    if violation.roles == ("refuter",):
        return f"{said}, but {violation.head} follows from {_listed(violation.body)}"
    if violation.head == own:
        return f"{said}, but {_why(violation, own)}"
    # A fact that refutes the head, or that is not there, tells enough. Why a comparison fails one sees by all that it compares.
    known = said if any(one.facts or one.absent for one in violation.refuters[:1]) else with_facts
    return f"{known}, so that {violation.head} should hold, but {_why(violation, own)}"


def _given(facts: Sequence[str], absent: Sequence[Fact]) -> str:
    """What holds beside the prediction, and what is not there."""
    parts = [_observed(facts)] if facts else []
    missing = list(dict.fromkeys(map(str, absent)))
    if len(missing) > _MOST_ABSENT:
        missing = [*missing[:2], f"one of {len(missing) - 2} others"]
    if missing:
        neither = f"neither {', '.join(missing[:-1])} nor" if len(missing) > 1 else "no"
        parts.append(f"there is {neither} {missing[-1]}")
    return " and ".join(parts)


def _met(violation: Violation, said: str, with_facts: str, own: str | None) -> str:
    if not violation.body:
        return f"{said}: {violation.head}"
    if violation.head == own:
        return f"{said}, which follows from {_listed(violation.body)}"
    return f"{with_facts}, so that {violation.head} should hold, and it does"


def _forbidden(violation: Violation, said: str, against: str) -> str:
    compared = "".join(f", and {one.text}" for one in violation.compared)
    return f"{said}, but {against}{compared}" if against else f"{said}{compared}, which the rule forbids"


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
