"""The rules of an audit that a user wants to see, and their order. Loads nothing heavy: the command line offers these choices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulescore.scoring.results import RuleResult

_FEW_GROUNDINGS = 5

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?"
_RANGE = re.compile(rf"\s*(?P<low>{_NUMBER})?\s*\.\.\s*(?P<high>{_NUMBER})?\s*")
_BOUND = re.compile(rf"\s*(?P<operator><=|>=|<|>|=)?\s*(?P<number>{_NUMBER})\s*")


class Flag(StrEnum):
    """The properties that make a rule's dataset rate a poor yardstick."""

    UNREFUTABLE = "unrefutable"
    TAUTOLOGY = "tautology"
    VACUOUS = "vacuous"
    NEAR_ONE = "near-1"
    NEAR_HALF = "near-0.5"
    FEW = "fewer-than-5"


MEANINGS = {
    Flag.UNREFUTABLE: "nothing declared can refute it",
    Flag.TAUTOLOGY: "its conclusion is one of its conditions",
    Flag.VACUOUS: "no grounding could be judged",
    Flag.NEAR_ONE: "the data nearly always break it",
    Flag.NEAR_HALF: "the data break it about as often as not",
    Flag.FEW: f"fewer than {_FEW_GROUNDINGS} groundings could be judged",
}
UNFLAGGED = "none"
"""Asked for in place of a flag: rules without any."""


class Order(StrEnum):
    """The orders of an audit. Numbers go from the highest, with undefined ones last; names go from A; `file` keeps the order of the
    files."""

    RATE = "rate"
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    EVALUABLE = "evaluable"
    CONFIDENCE = "confidence"
    SUPPORT = "support"
    NAME = "name"
    FILE = "file"


_NUMBERS: dict[Order, Callable[[RuleResult], float | None]] = {
    Order.RATE: lambda rule: rule.dataset.rate,
    Order.CONFIRMED: lambda rule: rule.dataset.confirmed,
    Order.REFUTED: lambda rule: rule.dataset.refuted,
    Order.EVALUABLE: lambda rule: rule.dataset.evaluable,
    Order.CONFIDENCE: lambda rule: rule.info.confidence,
    Order.SUPPORT: lambda rule: rule.info.support,
}


def flags(rule: RuleResult) -> tuple[Flag, ...]:
    """The flags of a rule. A denial constraint that the data never break is not vacuous: it is a good yardstick."""
    counts = rule.dataset
    rate = counts.rate
    evaluable = counts.evaluable
    rule_flags = (
        (Flag.UNREFUTABLE, rule.info.unrefutable),
        (Flag.TAUTOLOGY, rule.info.tautology),
        (Flag.VACUOUS, rate is None and not rule.info.denial),
        (Flag.NEAR_ONE, rate is not None and rate >= 0.95),
        (Flag.NEAR_HALF, rate is not None and 0.45 <= rate <= 0.55),
        (Flag.FEW, 0 < evaluable < _FEW_GROUNDINGS),
    )
    return tuple([flag for flag, holds in rule_flags if holds])


@dataclass(frozen=True, slots=True)
class RateRange:
    """Rates between two bounds, which belong to the range unless they are left out."""

    low: float = 0.0
    high: float = 1.0
    without_low: bool = False
    without_high: bool = False

    def __contains__(self, rate: float) -> bool:
        above = rate > self.low if self.without_low else rate >= self.low
        return above and (rate < self.high if self.without_high else rate <= self.high)


def read_rate(text: str) -> RateRange | None:
    """`0..0.1`, `..10%`, `<=0.05`, `>0` or `0`; None for anything else."""
    if match := _RANGE.fullmatch(text):
        low, high = (None if limit is None else _rate(limit) for limit in (match["low"], match["high"]))
        return None if low is None and high is None else RateRange(0.0 if low is None else low, 1.0 if high is None else high)
    if not (bound := _BOUND.fullmatch(text)):
        return None
    number = _rate(bound["number"])
    match bound["operator"]:
        case "<" | "<=" as operator:
            return RateRange(high=number, without_high=operator == "<")
        case ">" | ">=" as operator:
            return RateRange(low=number, without_low=operator == ">")
        case _:
            return RateRange(number, number)


def _rate(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Every condition given must hold. `flags`: at least one of these, or `none`; `without`: none of these."""

    flags: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    min_evaluable: int = 0
    rate: RateRange | None = None

    def passes(self, rule: RuleResult) -> bool:
        rule_flags = flags(rule) if self.flags or self.without else ()
        rate = rule.dataset.rate
        return (
            (not self.flags or not self.flags.isdisjoint(rule_flags or {UNFLAGGED}))
            and self.without.isdisjoint(rule_flags)
            and rule.dataset.evaluable >= self.min_evaluable
            and (self.rate is None or (rate is not None and rate in self.rate))
        )


EVERY_RULE = AuditFilter()


def in_order(rules: Iterable[RuleResult], order: Order, *, reverse: bool = False) -> list[RuleResult]:
    """Rules with equal numbers keep the order in which they are written. Undefined numbers come last in either direction."""
    if order is Order.FILE:
        return list(rules)[::-1] if reverse else list(rules)
    if order is Order.NAME:
        return sorted(rules, key=lambda rule: rule.info.name, reverse=reverse)
    number = _NUMBERS[order]
    numbered: Sequence[tuple[float | None, RuleResult]] = [(number(rule), rule) for rule in rules]
    known = sorted(((value, rule) for value, rule in numbered if value is not None), key=lambda pair: pair[0], reverse=not reverse)
    return [*(rule for _, rule in known), *(rule for value, rule in numbered if value is None)]
