"""What rules are called."""

from __future__ import annotations

from collections import Counter

from rulescore.language.printer import print_rule
from rulescore.language.syntax import Program


def rule_names(program: Program) -> list[str]:
    """Names as given; the canonical text of rules without one, numbered where it repeats."""
    names: list[str] = []
    seen: Counter[str] = Counter()
    for rule in program.rules:
        if rule.name is not None:
            names.append(rule.name)
            continue
        text = print_rule(rule)
        seen[text] += 1
        names.append(text if seen[text] == 1 else f"{text} #{seen[text]}")
    return names
