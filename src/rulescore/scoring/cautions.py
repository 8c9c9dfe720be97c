"""Warnings about what makes a rule hard: data that break it, or too few cases that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rulescore.errors import Diagnostic, Place, Severity
from rulescore.scoring.results import RuleKind, RuleResult

FEW_CASES = 10
_MOST_EXAMPLES = 3


def broken_hard_rules(results: Iterable[RuleResult]) -> Iterator[Diagnostic]:
    """A warning for each rule that is declared hard, and that the data break."""
    for result in results:
        if result.kind is RuleKind.HARD and result.dataset.refuted:
            name, counts = result.info.name, result.dataset
            # Of a denial constraint only violations are evaluable: the whole says nothing.
            times = f"{counts.refuted:,}" if result.info.denial else f"{counts.refuted:,} of {counts.evaluable:,}"
            yield Diagnostic(
                "W503",
                f"the data break the hard rule `{name}` in {times} groundings; violations of models may be those of the data",
                place=None if result.info.place is None else Place(result.info.place),
                helps=(
                    f"`rulescore violations --dataset --rule {name}` lists them",
                    "without `@hard` the rule is soft: models are compared with the rate of the data",
                ),
                severity=Severity.WARNING,
            )


def few_cases(results: Sequence[RuleResult]) -> Iterator[Diagnostic]:
    """A warning if most violations of hard rules are of rules that are hard for want of cases that could have broken them."""
    hard = [(_violations(result), result) for result in results if result.kind is RuleKind.HARD]
    weak = [(number, result) for number, result in hard if number and _rests_on_few(result)]
    total, few = sum(number for number, _ in hard), sum(number for number, _ in weak)
    if 2 * few <= total:
        return
    most = [result for _, result in sorted(weak, key=lambda pair: -pair[0])]
    yield Diagnostic(
        "W504",
        f"most violations of hard rules ({few:,} of {total:,}) are of rules with under {FEW_CASES} cases in the data",
        notes=(
            *(_example(result) for result in most[:_MOST_EXAMPLES]),
            *([f"and {len(most) - _MOST_EXAMPLES:,} more"] if len(most) > _MOST_EXAMPLES else []),
        ),
        helps=(
            f"`--hard-needs {FEW_CASES}`, or `hard_needs={FEW_CASES}`: rules with fewer cases are undetermined",
            "declare rules `@hard` that hold whatever the data say",
        ),
        severity=Severity.WARNING,
    )


def _violations(result: RuleResult) -> int:
    return sum(found.counts.refuted for found in result.models.values())


def _rests_on_few(result: RuleResult) -> bool:
    return result.info.declared_kind is None and 0 < result.dataset.evaluable < FEW_CASES


def _example(result: RuleResult) -> str:
    bound = result.rate_bound.value
    assert bound is not None
    return f"`{result.info.name}`: broken in 0 of {result.dataset.evaluable:,}, so its rate is at most {bound:.0%} (95% confidence)"
