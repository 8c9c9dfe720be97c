"""What one prediction does to the rules, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rulescore.data.violation import Explained
from rulescore.reporting.cells import counted
from rulescore.reporting.sentences import sentence
from rulescore.reporting.violations import ViolationTable, violation_table
from rulescore.scoring.frames import pandas_frame, polars_frame

_MOST_SENTENCES = 10


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """`breaks`: the rules of which it violates some grounding; `meets`: those with evaluable groundings of it and no violation;
    `never_touches`: all others. `violations`: the rows behind the first. `table`: every rule with its counts."""

    prediction: str
    models: tuple[str, ...]
    breaks: tuple[str, ...]
    meets: tuple[str, ...]
    never_touches: tuple[str, ...]
    violations: ViolationTable
    table: Any
    sentences: tuple[str, ...]

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
        lines += [f"breaks {', '.join(self.breaks)}"] if self.breaks else ["breaks no rule"]
        lines += [f"  {one}" for one in self.sentences[:_MOST_SENTENCES]]
        more = len(self.sentences) - _MOST_SENTENCES
        lines += [f"  … and {more:,} more"] if more > 0 else []
        lines += [f"meets {', '.join(self.meets)}"] if self.meets else []
        return "\n".join([*lines, f"never touches {counted(len(self.never_touches), 'rule')}"])


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
        table=pa.table(table),
        sentences=tuple(dict.fromkeys(map(sentence, found.violations.rows))),
    )
