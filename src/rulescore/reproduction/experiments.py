"""The published experiments by their names."""

from __future__ import annotations

from collections.abc import Callable

from rulescore.reproduction import family, fb15k_237, real_estate
from rulescore.reproduction.comparison import Reproduction

EXPERIMENTS: dict[str, Callable[[], Reproduction]] = {
    "family": family.reproduce,
    "fb15k-237": fb15k_237.reproduce,
    "real-estate": real_estate.reproduce,
}


def run(name: str) -> list[Reproduction]:
    return [EXPERIMENTS[name]()]
