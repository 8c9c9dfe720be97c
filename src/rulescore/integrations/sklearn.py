"""scikit-learn: a scorer for cross-validation and searches. It does not import scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import Table
from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.integrations.early import refuse_rules
from rulescore.integrations.measures import MEASURES, model_measures, the_model
from rulescore.session.api import score

_ROW = "row"
"""The name of the key in rules, if an index names the rows."""


@dataclass(frozen=True)
class RuleViolationScorer:
    """`scorer(estimator, X, y)`: minus a measure of the estimator's predictions for the rows of `X`, so greater is better; NaN if
    the measure is undefined. The scorer never reads `y`. `name`: its name among other scorers."""

    rules: RulesLike
    data: Any
    target: str
    table: str
    key: str | None
    measure: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"neg_{self.measure}"

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:  # noqa: N803 # scikit-learn's name
        ids = _index(X, "X") if self.key is None else list(X[self.key])
        predicted = dict(zip(ids, estimator.predict(X), strict=True))
        result = score(None, {"estimator": predicted}, self.rules, tables={self.table: self.described(ids)}, **self.options)
        value = model_measures(the_model(result))[self.measure]
        # We subtract from 0, because the negated score would print as -0.0.
        return math.nan if value is None else 0 - value

    def described(self, hidden: list[Any]) -> Table:
        """The table, without the targets of some rows."""
        rows = _with_index(self.data) if self.key is None else self.data
        return Table(rows, key=self.key or _ROW, target=self.target, hidden=hidden)


def rule_violation_scorer(
    rules: RulesLike,
    *,
    data: Any,
    target: str,
    table: str,
    key: str | None = None,
    measure: str = "rvs_hard",
    **options: Any,
) -> RuleViolationScorer:
    """Makes a scorer, as `make_scorer` does, that measures how far predictions of `target` respect `rules` over `table`.

    Args:
        rules: as `rulescore.score` takes them.
        data: all rows with their targets. Targets of rows that the estimator predicts are hidden, the others observed.
        target: the column that the estimator predicts.
        table: the name of the table in rules.
        key: the column by which we find the rows of `X` in `data`. Without it we use the pandas index, which rules call `row`.
        measure: `rvs_hard`, `rvs_soft` or `violating_predictions`.
        **options: further options of `rulescore.score`.

    Returns:
        The scorer, which calls `rulescore.score` for each split.

    Raises:
        InputError: there is no such measure, rows have no keys, or something is wrong with the rules.
    """
    if measure not in MEASURES:
        helps = meant(measure, MEASURES)
        notes = (f"the measures are {ticked(MEASURES)}",)
        raise InputError(Diagnostic("E570", f"there is no measure `{measure}`", notes=notes, helps=helps))
    scorer = RuleViolationScorer(rules, data, target, table, key, measure, options)
    refuse_rules(None, rules, {**options, "tables": {table: scorer.described([])}})
    return scorer


def _with_index(data: Any) -> Any:
    index = _index(data, "data")
    if _ROW in data.columns:
        helps = (f'give `key="{_ROW}"` if that column names the rows, or rename it',)
        message = f"rules refer to the index as `{_ROW}`, but `data` already has a column of that name"
        raise InputError(Diagnostic("E570", message, helps=helps))
    return data.assign(**{_ROW: index})


def _index(rows: Any, what: str) -> list[Any]:
    if not hasattr(rows, "index") or not hasattr(rows, "assign"):
        helps = ("give pandas frames, whose index names the rows, or the column `key` that names them",)
        raise InputError(Diagnostic("E570", f"the rows of `{what}`, a {type(rows).__name__}, have no keys", helps=helps))
    return list(rows.index)
