"""Which rules to look at first."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rulescore.scoring.results import Counts, RuleKind, RuleResult

_KIND_ORDER = tuple(RuleKind)


def excess(rule: RuleResult, counts: Counts) -> float:
    """How many more violations there are than the data's rate gives for as many groundings. All violations count for a hard rule,
    and for a rule that has no rate in the data."""
    allowed = 0.0 if rule.kind is RuleKind.HARD else rule.dataset.rate or 0.0
    return counts.refuted - allowed * counts.evaluable


def separation(rule: RuleResult, models: Collection[str]) -> float:
    """How far apart the models are, or how far the worst of them is from the data, whichever is more. Without models: the
    violations in the data."""
    if not models:
        return rule.dataset.refuted
    found = [excess(rule, rule.models[model].counts) for model in models]
    return max(max(found) - min(found), *found)


def most_telling(rules: Iterable[RuleResult], models: Collection[str], most: int | None = None) -> list[RuleResult]:
    """The rules that separate the models most or are broken most; then hard rules first, and the worst of each kind first. Half of
    the places are kept for hard rules, of which every violation counts; undetermined rules, which no score counts, come last."""
    worst = sorted(
        rules,
        key=lambda rule: (
            rule.kind is RuleKind.UNDETERMINED,
            -separation(rule, models),
            rule.info.unrefutable,
            -sum(rule.models[model].counts.refuted for model in models),
        ),
    )
    if most is not None:
        hard = [rule for rule in worst if rule.kind is RuleKind.HARD and separation(rule, models) > 0][: most // 2]
        kept = {id(rule) for rule in hard}
        worst = [*hard, *(rule for rule in worst if id(rule) not in kept)][:most]
        worst.sort(key=lambda rule: -separation(rule, models))
    return sorted(worst, key=lambda rule: _KIND_ORDER.index(rule.kind))
