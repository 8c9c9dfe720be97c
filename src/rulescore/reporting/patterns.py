"""Counts the patterns of violations: a relation that should hold, and the known relation that refutes it. Also counts self-answers,
`r(x, x)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors.texts import visible
from rulescore.reporting.listing import Cell, CellKind, Column, Listing, counted, of_all
from rulescore.reporting.wording import listed, percent
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import RuleKind
from rulescore.scoring.violation import A_COMPARISON, CountedViolations, Pattern

_MANY, _FEWEST = 0.25, 10
"""We mention self-answers if they make up this share of violating predictions or more, and are no fewer than this."""


@dataclass(frozen=True, slots=True)
class PatternRow:
    """What should hold, what speaks against it, and the violations of each model, or of the data."""

    should: str
    against: str
    numbers: tuple[int, ...]


def pattern_rows(
    counts: Sequence[CountedViolations], models: Sequence[str], labels: Labels, titles: Mapping[str, str]
) -> list[PatternRow]:
    """The patterns as people see them, the most frequent first. `titles`: of rules, by their names."""
    violations: Counter[Pattern] = Counter()
    numbers: dict[tuple[Pattern, str | None], int] = {}
    for count in counts:
        assert count.pattern is not None
        violations[count.pattern] += count.violations
        numbers[count.pattern, count.model] = count.violations
    order = sorted(violations, key=lambda pattern: (-violations[pattern], pattern.should, pattern.against))
    columns: Sequence[str | None] = models or [None]
    return [
        PatternRow(*_words(pattern, labels, titles), tuple(numbers.get((pattern, column), 0) for column in columns))
        for pattern in order
    ]


def _words(pattern: Pattern, labels: Labels, titles: Mapping[str, str]) -> tuple[str, str]:
    if not pattern.should:
        return "never", titles[pattern.against]
    return labels.of_text(labels.of_predicate(pattern.should)), _against(pattern.against, labels)


def _against(name: str, labels: Labels) -> str:
    for prefix, word in (("negative ", "not"), ("closed ", "no")):
        if name.startswith(prefix):
            return f"{word} {labels.of_predicate(name.removeprefix(prefix))}"
    return "missed" if name == A_COMPARISON else labels.of_predicate(name)


def patterns_listing(rows: Sequence[PatternRow], models: Sequence[str], total: int, most: int | None) -> Listing:
    """At most `most` patterns, with a column for each model."""
    names = models or ["the data"]
    columns = [Column("should", "should be"), Column("against", "is"), *(Column(name, name, CellKind.COUNT) for name in names)]
    cells: tuple[tuple[Cell, ...], ...] = tuple((row.should, row.against, *row.numbers) for row in rows[:most])
    left_out = len(rows) - len(cells)
    notes = [counted(total, "violation")]
    notes += [f"{left_out:,} more rows are not shown; `--limit N` shows more"] if left_out else []
    return Listing("violations", "Violations by pattern", tuple(columns), cells, notes=tuple(notes))


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
            of_model = f"{of_all(itself, model.violating)} by {visible(model.name)} ({percent(itself, model.violating)})"
            models.append(of_model)
    return f"Many violating predictions relate an entity to itself, r(x, x): {listed(models)}." if models else None
