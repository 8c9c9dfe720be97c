"""Which rules of two results are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rulescore.scoring.results import RuleResult

Matched = tuple[RuleResult | None, ...]
"""A rule as it is in each result, None in one that does not have it."""

_KEYS: tuple[Callable[[RuleResult], object], ...] = (
    lambda rule: (rule.info.name, rule.info.text),
    # A rule that nobody has named is called by its line, and lines move.
    lambda rule: rule.info.text,
    lambda rule: rule.info.name,
)


def matched(results: Sequence[Sequence[RuleResult]]) -> list[Matched]:
    """The rules of one result, or of two: by name and text, else by text, else by name."""
    if len(results) == 1:
        return [(rule,) for rule in results[0]]
    first, second = results
    found: dict[int, int] = {}
    for key in _KEYS:
        taken = set(found.values())
        free = {key(rule): place for place, rule in reversed(list(enumerate(second))) if place not in taken}
        for place, rule in enumerate(first):
            if place not in found and (other := free.pop(key(rule), None)) is not None:
                found[place] = other
    pairs: list[Matched] = [(rule, second[found[place]] if place in found else None) for place, rule in enumerate(first)]
    taken = set(found.values())
    return pairs + [(None, rule) for place, rule in enumerate(second) if place not in taken]


def name_of(rule: Matched) -> str:
    """Its name in the last result that has it."""
    return [one.info.name for one in rule if one is not None][-1]


def is_changed(rule: Matched) -> bool:
    """Whether it has another text in one result than in the other."""
    return len({one.info.text for one in rule if one is not None}) > 1


def is_in_all(rule: Matched) -> bool:
    return None not in rule
