"""What one prediction does to the rules, for people and programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rulescore.reporting.cells import counted
from rulescore.reporting.violations import ViolationTable, confirmation_table, violation_table
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.scoring.violation import Explained

_MOST_SENTENCES = 10


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """`breaks`: the rules of which it violates some grounding; `meets`: those with evaluable groundings of it and no violation;
    `never_touches`: all others. `violations` and `confirmations`: the rows behind the first and the second, at most 1,000 of each;
    their `total` counts all. `table`: every rule with its counts."""

    prediction: str
    models: tuple[str, ...]
    breaks: tuple[str, ...]
    meets: tuple[str, ...]
    never_touches: tuple[str, ...]
    violations: ViolationTable
    confirmations: ViolationTable
    table: Any

    def to_pandas(self) -> Any:
        """Every rule with its counts, as a pandas frame."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        return polars_frame(self.table)

    def __repr__(self) -> str:
        parts = {"breaks": self.breaks, "meets": self.meets, "never touches": self.never_touches}
        return f"<{self.prediction}: {', '.join(f'{what} {len(rules):,}' for what, rules in parts.items())} rules>"

    def __str__(self) -> str:
        lines = [f"{self.prediction}, predicted by {', '.join(self.models)}"]
        lines += [f"breaks {', '.join(self.breaks)}", *_shown(self.violations)] if self.breaks else ["breaks no rule"]
        lines += [f"meets {', '.join(self.meets)}", *_shown(self.confirmations)] if self.meets else []
        return "\n".join([*lines, f"never touches {counted(len(self.never_touches), 'rule')}"])


def _shown(found: ViolationTable) -> list[str]:
    """The first sentences, each once, and how many groundings have others."""
    sentences = Counter(found.table["sentence"].to_pylist())
    first = list(sentences)[:_MOST_SENTENCES]
    more = found.total - sum(sentences[one] for one in first)
    return [f"  {one}" for one in first] + ([f"  … and {more:,} more"] if more else [])


def explanation(found: Explained, rules: list[str]) -> Explanation:
    """`rules`: the names of all, in their order."""
    counts = [found.counts.get(rule, (0, 0, 0)) for rule in rules]
    effects = ["breaks" if v else "meets" if e else "never touches" for _, v, e in counts]
    table = {"rule": pa.array(rules, pa.string()), "effect": pa.array(effects, pa.string())}
    for index, name in enumerate(("confirmed", "refuted", "evaluable")):
        table[name] = pa.array([one[index] for one in counts], pa.int64())

    def those(effect: str) -> tuple[str, ...]:
        return tuple(rule for rule, one in zip(rules, effects, strict=True) if one == effect)

    return Explanation(
        prediction=str(found.prediction),
        models=found.models,
        breaks=those("breaks"),
        meets=those("meets"),
        never_touches=those("never touches"),
        violations=violation_table(found.violations),
        confirmations=confirmation_table(found.confirmations),
        table=pa.table(table),
    )
