"""Pairs of predicates as a rule file that a person can edit."""

from __future__ import annotations

from collections.abc import Sequence

from rulescore.language.declarations.incompatible import IncompatibleGroup
from rulescore.language.printer import print_statement
from rulescore.reporting.cells import counted, shown
from rulescore.reporting.listing import CellKind
from rulescore.scoring.pairs import PairCount

_EXPLAINED = (
    "# `expected`: how often the two would meet if neither cared about the other, among tuples whose constants stand in one fact.",
    "# `probability`: how likely it is that they would then meet so seldom. The most surprising pairs come first.",
)


def incompatibilities_text(pairs: Sequence[PairCount], others: Sequence[PairCount], *, at_most: int) -> str:
    """A rule file that declares the pairs; the others are comments, for the user to uncomment."""
    often = "never meet" if at_most == 0 else f"meet at most {counted(at_most, 'time')}"
    rare = sum(1 for pair in pairs if pair.expected < 1)
    lines = [
        f"# {counted(len(pairs), 'pair')} of predicates that {often}: two meet at a tuple if there is a fact of each.",
        "# That is a heuristic: remove the pairs that could well meet.",
        *_EXPLAINED,
        *([f"# {rare:,} of them would be expected to meet less than once: `--min-expected 1` leaves those out."] if rare else []),
        "",
        *(_statement(pair) for pair in pairs),
    ]
    if others:
        lines += ["", "# Other pairs:", *(f"# {_statement(pair)}" for pair in others)]
    return "\n".join(lines) + "\n"


def shown_probability(pair: PairCount) -> str:
    """Two digits, or the power of ten that a float no longer holds."""
    return f"{pair.probability:.2g}" if pair.surprise < 300 else f"1e-{pair.surprise:.0f}"


def _statement(pair: PairCount) -> str:
    expected = shown(pair.expected, CellKind.SCORE)
    facts = f"{pair.left_facts:,} and {counted(pair.right_facts, 'fact')}"
    how_often = f"together {counted(pair.together, 'time')}, expected {expected}, probability {shown_probability(pair)}"
    return f"{print_statement(IncompatibleGroup((pair.left, pair.right)))}  # {how_often}; {facts}"
