"""Shades of a heat map: how much more often than the data a model breaks a rule."""

from __future__ import annotations

from collections.abc import Sequence

from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.score import excess

_LIMITS = (0.0, 0.01, 0.05, 0.25, 0.5)
# Each shade is darker than the one before, also when printed in grey.
SHADES = (
    ("#dde6ef", "not"),
    ("#f6c4a8", "by up to 1"),
    ("#ee9a70", "by up to 5"),
    ("#d9622f", "by up to 25"),
    ("#9c2a08", "by up to 50"),
    ("#4a1102", "by more"),
)
"""Colours, and words for how much more often, in percentage points."""


def shade_of(rules: Sequence[RuleResult], model: str) -> int | None:
    """The number of the shade for the worst of these rules; None if no case of them can be judged."""
    excesses = [excess(rule, counts) / counts.evaluable for rule in rules if (counts := rule.models[model].counts).evaluable]
    return None if not excesses else sum(max(excesses) > limit for limit in _LIMITS)


def in_columns(rules: Sequence[RuleResult], most: int) -> list[list[RuleResult]]:
    """The rules that count in scores, hard ones first. If they are more than `most`, several of one kind share a column."""
    judged = [rule for rule in rules if rule.kind is not RuleKind.UNDETERMINED and not rule.info.unrefutable]
    each = -(-len(judged) // most) or 1
    columns = []
    for kind in (RuleKind.HARD, RuleKind.SOFT):
        alike = [rule for rule in judged if rule.kind is kind]
        columns += [alike[place : place + each] for place in range(0, len(alike), each)]
    return columns
