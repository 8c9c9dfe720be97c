"""Pairs of predicates as a rule file that a person can edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rulescore.language.printer import print_statement
from rulescore.language.syntax import IncompatibleGroup
from rulescore.reporting.cells import counted

if TYPE_CHECKING:
    from rulescore.evaluate import PairCount


def incompatibilities_text(pairs: Sequence[PairCount], *, with_meeting: bool) -> str:
    """A rule file that declares the pairs that never meet; `with_meeting` adds the others as comments, to be uncommented."""
    never = [pair for pair in pairs if not pair.together]
    meeting = [pair for pair in pairs if pair.together]
    lines = [
        "# Pairs of predicates that no tuple of the observed facts has in common.",
        "# That is a heuristic: remove the pairs that could well meet.",
        f"# Pairs that never meet: {len(never):,}; pairs that do: {len(meeting):,}.",
        "",
        *(f"{_statement(pair)}  # together 0 times; {_facts(pair)}" for pair in never),
    ]
    if with_meeting and meeting:
        lines += ["", "# Pairs that do meet:"]
        lines += [f"# {_statement(pair)}  # together {counted(pair.together, 'time')}; {_facts(pair)}" for pair in meeting]
    return "\n".join(lines) + "\n"


def _statement(pair: PairCount) -> str:
    return print_statement(IncompatibleGroup((pair.left, pair.right)))


def _facts(pair: PairCount) -> str:
    return f"{pair.left_facts:,} and {counted(pair.right_facts, 'fact')}"
