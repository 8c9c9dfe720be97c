"""The published experiments by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rulescore.reproduction import family, fb15k_237, real_estate
from rulescore.reproduction.checks import Check, run_checks
from rulescore.reproduction.comparison import Reproduction

EXPERIMENTS: dict[str, Callable[[], Reproduction]] = {
    "family": family.reproduce,
    "fb15k-237": fb15k_237.reproduce,
    "real-estate": real_estate.reproduce,
}
CHECKS, ALL = "checks", "all"


@dataclass(frozen=True, slots=True)
class ExperimentOutcome:
    """The experiments to show, and the checks."""

    reproductions: tuple[Reproduction, ...]
    checks: tuple[Check, ...] = ()


def run(name: str) -> ExperimentOutcome:
    """Runs one experiment, the checks, or everything."""
    if name in EXPERIMENTS:
        return ExperimentOutcome((EXPERIMENTS[name](),))
    found = {one: reproduce() for one, reproduce in EXPERIMENTS.items()}
    return ExperimentOutcome(tuple(found.values()) if name == ALL else (), tuple(run_checks(found)))
