"""The published experiments by their names."""

from __future__ import annotations

from collections.abc import Callable

from rulescore.reproduction import family
from rulescore.reproduction.comparison import Reproduction

EXPERIMENTS: dict[str, Callable[[], Reproduction]] = {"family": family.reproduce}


def run(name: str) -> list[Reproduction]:
    return [EXPERIMENTS[name]()]
