"""Counts the patterns of violations: a relation that should hold, and the known relation that refutes it. Also counts self-answers,
`r(x, x)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors.texts import visible
from rulescore.reporting.wording import listed, of, percent
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import RuleKind
from rulescore.scoring.violation import CountedViolations, Pattern

_MOST = 15
_MANY, _FEWEST = 0.25, 10
"""We mention self-answers if they make up this share of violating predictions or more, and are no fewer than this."""


@dataclass(frozen=True, slots=True)
class PatternTable:
    """The most frequent patterns: what should hold, what speaks against it, and the violations of each model, or of the data.

    `further`: how many patterns we do not show.
    """

    rows: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    further: int = 0


def pattern_table(counts: Sequence[CountedViolations], models: Sequence[str], labels: Labels) -> PatternTable:
    violations: Counter[Pattern] = Counter()
    cells: dict[tuple[Pattern, str | None], int] = {}
    for count in counts:
        assert count.pattern is not None
        violations[count.pattern] += count.violations
        cells[count.pattern, count.model] = count.violations
    order = sorted(violations, key=lambda pattern: (-violations[pattern], pattern.should, pattern.against))
    columns: Sequence[str | None] = models or [None]
    rows = [
        (
            _shown(pattern.should, labels),
            _shown(pattern.against, labels),
            tuple(f"{cells.get((pattern, column), 0):,}" for column in columns),
        )
        for pattern in order[:_MOST]
    ]
    return PatternTable(tuple(rows), len(order) - len(rows))


def _shown(name: str, labels: Labels) -> str:
    for prefix in ("negative ", "closed "):
        if name.startswith(prefix):
            return f"{'not' if prefix == 'negative ' else 'no'} {labels.of_predicate(name.removeprefix(prefix))}"
    return labels.of_predicate(name)


def self_answers(evaluation: Evaluation) -> str | None:
    """A sentence about violating predictions that relate an entity to itself, `r(x, x)`; None if no model has many."""
    table = evaluation.contributions_table
    if table is None:
        return None
    hard = [rule.info.name for rule in evaluation.rule_results if rule.kind is RuleKind.HARD]
    models = []
    for model in evaluation.model_results:
        if not model.violating or model.violating_reason is not None:
            continue
        chosen = pc.and_(pc.equal(table["model"], model.name), pc.greater(table["refuted"], 0))
        rows = table.filter(pc.and_(chosen, pc.is_in(table["rule"].cast(pa.string()), pa.array(hard, pa.string()))))
        arguments, predicates = rows["arguments"].to_pylist(), rows["predicate"].to_pylist()
        facts = {(predicate, *values) for predicate, values in zip(predicates, arguments, strict=True)}
        itself = sum(len(fact) == 3 and fact[1] == fact[2] for fact in facts)
        if itself >= max(_FEWEST, _MANY * model.violating):
            of_model = f"{of(itself, model.violating)} by {visible(model.name)} ({percent(itself, model.violating)})"
            models.append(of_model)
    return f"Many violating predictions relate an entity to itself, r(x, x): {listed(models)}." if models else None
