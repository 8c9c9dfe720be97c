"""scikit-learn: a scorer for cross-validation and searches. It needs nothing of scikit-learn's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rulescore.api import score
from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import Table
from rulescore.errors import Diagnostic, InputError, meant
from rulescore.integrations.measures import MEASURES, model_measures, the_model

_ROW = "row"
"""What rules call the key of rows that are named by an index."""


@dataclass(frozen=True)
class RuleViolationScorer:
    """`scorer(estimator, X, y)`: minus a measure of what the estimator predicts for the rows of `X`, so that greater is better; NaN
    where it is undefined. `y` is never looked at. `name`: what to call it among other scorers."""

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

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:  # noqa: N803  # as scikit-learn calls it
        ids = _index(X, "X") if self.key is None else list(X[self.key])
        predicted = dict(zip(ids, estimator.predict(X), strict=True))
        rows = _with_index(self.data) if self.key is None else self.data
        described = Table(rows, key=self.key or _ROW, target=self.target, hidden=ids)
        result = score(None, {"estimator": predicted}, self.rules, tables={self.table: described}, **self.options)
        found = model_measures(the_model(result))[self.measure]
        # A difference, since minus 0 is another float than 0.
        return math.nan if found is None else 0 - found


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
    """A scorer, as `make_scorer` makes them, of how far predictions of `target` respect rules over `table`.

    `data`: all rows with their targets; those that the estimator predicts are hidden, the others observed. Rows of `X` are found in
    it by the column `key` or, without one, by the pandas index, which rules call `row`. `measure`: `rvs_hard`, `rvs_soft` or
    `violating_predictions`. `options`: those of `rulescore.score`."""
    if measure not in MEASURES:
        helps = meant(measure, MEASURES)
        notes = (f"the measures are {', '.join(f'`{one}`' for one in MEASURES)}",)
        raise InputError(Diagnostic("E576", f"there is no measure `{measure}`", notes=notes, helps=helps))
    return RuleViolationScorer(rules, data, target, table, key, measure, options)


def _with_index(data: Any) -> Any:
    index = _index(data, "data")
    if _ROW in data.columns:
        helps = (f'give `key="{_ROW}"` if that column names the rows, or rename it',)
        raise InputError(Diagnostic("E577", f"`data` has a column `{_ROW}`, as rules call its index", helps=helps))
    return data.assign(**{_ROW: index})


def _index(rows: Any, what: str) -> list[Any]:
    if not hasattr(rows, "index") or not hasattr(rows, "assign"):
        helps = ("give pandas frames, whose index names the rows, or the column `key` that names them",)
        raise InputError(Diagnostic("E577", f"the rows of `{what}`, a {type(rows).__name__}, have no keys", helps=helps))
    return list(rows.index)
