"""Accumulators in the manner of torchmetrics: `update` takes predictions batch by batch, `compute` scores them, `reset` starts
again.

Batches are tensors, arrays or lists; torch need not be installed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rulescore.api import score
from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import PREDICTION, Table
from rulescore.errors import Diagnostic, InputError
from rulescore.integrations.early import refuse_rules
from rulescore.integrations.measures import model_measures, the_model
from rulescore.readers.sources import FactsLike
from rulescore.result import Result

__all__ = ["TableRuleViolation", "TripleRuleViolation"]

_TYPES = {"head": None, "relation": pa.string(), "tail": None, "score": pa.float64(), "rank": pa.int64(), "query": pa.string()}


class _Accumulator(ABC):
    """Collects columns of predictions, batch by batch."""

    def __init__(self, rules: RulesLike, model: str, options: Mapping[str, Any]) -> None:
        self._rules, self._model, self._options = rules, model, dict(options)
        self.reset()

    def reset(self) -> None:
        self._columns: dict[str, list[Any]] = {}

    def compute(self) -> dict[str, float]:
        """`rvs_hard`, `rvs_soft` and `violating_predictions` of all predictions since the last reset; NaN if undefined."""
        found = model_measures(the_model(self.result()))
        return {name: math.nan if value is None else float(value) for name, value in found.items()}

    @abstractmethod
    def result(self) -> Result:
        """The whole result, as `rulescore.score` returns it."""

    def _add(self, **columns: list[Any]) -> None:
        if len({len(values) for values in columns.values()}) > 1:
            lengths = ", ".join(f"{len(values):,} of `{name}`" for name, values in columns.items())
            raise InputError(Diagnostic("E579", f"a batch has {lengths}", helps=("give one value for each prediction",)))
        for name, values in columns.items():
            self._columns.setdefault(name, []).extend(values)

    def _gathered(self) -> dict[str, list[Any]]:
        if not self._columns:
            raise InputError(Diagnostic("E579", "there are no predictions yet", helps=("call `update` with predictions first",)))
        return self._columns


class TripleRuleViolation(_Accumulator):
    """Scores predicted triples.

    `rules`: as `rulescore.score` takes them. `observed`: the facts that the model was trained on. `entities`, `relations`: the
    labels of ids, by id; without them, triples hold labels. `model`: its name in the result. `options`: those of `rulescore.score`,
    such as `top_k`."""

    def __init__(
        self,
        rules: RulesLike,
        observed: FactsLike,
        *,
        entities: Sequence[str] | Mapping[int, str] | None = None,
        relations: Sequence[str] | Mapping[int, str] | None = None,
        model: str = "model",
        **options: Any,
    ) -> None:
        super().__init__(rules, model, options)
        self._observed, self._entities, self._relations = observed, entities, relations
        if relations is not None:
            labels = relations.values() if isinstance(relations, Mapping) else relations
            refuse_rules(observed, rules, options, relations=labels)

    def update(self, triples: Any, scores: Any = None, *, ranks: Any = None, queries: Any = None) -> None:
        """Adds a batch of predicted triples: `n` rows of head, relation and tail, and for each a score, a rank and a query if
        known."""
        rows = [tuple(row) for row in _values(triples)]
        if any(len(row) != 3 for row in rows):
            raise InputError(Diagnostic("E579", "triples have three columns: head, relation and tail"))
        unknown = [None] * len(rows)
        self._add(
            head=_labelled([row[0] for row in rows], self._entities, "entities"),
            relation=_labelled([row[1] for row in rows], self._relations, "relations"),
            tail=_labelled([row[2] for row in rows], self._entities, "entities"),
            score=unknown if scores is None else _column(scores),
            rank=unknown if ranks is None else _column(ranks),
            query=unknown if queries is None else [str(one) for one in _column(queries)],
        )

    def result(self) -> Result:
        predicted = pa.table({name: pa.array(values, _TYPES[name]) for name, values in self._gathered().items()})
        return score(self._observed, {self._model: predicted}, self._rules, **self._options)


class TableRuleViolation(_Accumulator):
    """Scores predicted values of a table's target.

    `rules`: as `rulescore.score` takes them. `name`: the name of the table in rules. `classes`, for classification: the labels of
    values, by id. `model`: its name in the result. `tables`: further tables, by name. `observed`: facts beside the tables.
    `options`: those of `rulescore.score`."""

    def __init__(
        self,
        rules: RulesLike,
        name: str,
        table: Table,
        *,
        classes: Sequence[Any] | None = None,
        model: str = "model",
        tables: Mapping[str, Table] | None = None,
        observed: FactsLike | None = None,
        **options: Any,
    ) -> None:
        super().__init__(rules, model, options)
        self._name, self._table, self._classes = name, table, classes
        self._tables, self._observed = {**(tables or {}), name: table}, observed
        refuse_rules(observed, rules, {**options, "tables": self._tables})

    def update(self, ids: Any, values: Any) -> None:
        """Adds a batch: the keys of rows, as tuples if the key has several columns, and the predicted value of each row."""
        self._add(ids=_values(ids), values=_labelled(_column(values), self._classes, "classes"))

    def result(self) -> Result:
        gathered = self._gathered()
        key = (self._table.key,) if isinstance(self._table.key, str) else tuple(self._table.key)
        ids = [(one,) for one in gathered["ids"]] if len(key) == 1 else gathered["ids"]
        columns = {name: pa.array([one[place] for one in ids]) for place, name in enumerate(key)}
        predicted = pa.table({**columns, PREDICTION: pa.array(gathered["values"])})
        return score(self._observed, {self._model: {self._name: predicted}}, self._rules, tables=self._tables, **self._options)


def _values(batch: Any) -> list[Any]:
    """The Python values of a tensor, an array or a list."""
    return list(batch.tolist() if hasattr(batch, "tolist") else batch)


def _column(batch: Any) -> list[Any]:
    """One value for each row; a batch of rows of width 1 has one, too."""
    return [one[0] if isinstance(one, list) and len(one) == 1 else one for one in _values(batch)]


def _labelled(ids: list[Any], labels: Sequence[Any] | Mapping[int, Any] | None, what: str) -> list[Any]:
    if labels is None:
        return ids
    known = labels if isinstance(labels, Mapping) else dict(enumerate(labels))
    if missing := [one for one in ids if one not in known]:
        notes = (f"`{what}` has {len(known):,} labels, by ids that count from 0",)
        raise InputError(Diagnostic("E579", f"`{missing[0]}` has no label among `{what}`", notes=notes))
    return [known[one] for one in ids]
