"""Accumulators in the manner of torchmetrics: `update` takes the predictions of a batch, `compute` scores all of them, `reset`
starts again.

Batches are tensors, arrays or lists; torch need not be installed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import Table
from rulescore.errors import Diagnostic, InputError
from rulescore.integrations.early import refuse_rules
from rulescore.integrations.measures import model_measures, the_model
from rulescore.readers.layout import PREDICTION
from rulescore.readers.sources import FactsLike
from rulescore.session.api import score
from rulescore.session.result import Result

__all__ = ["TableRuleViolation", "TripleRuleViolation"]

_TYPES = {"head": None, "relation": pa.string(), "tail": None, "score": pa.float64(), "rank": pa.int64(), "query": pa.string()}


class _Accumulator(ABC):
    """Collects columns of predictions, batch by batch."""

    def __init__(self, rules: RulesLike, model: str, options: Mapping[str, Any]) -> None:
        self._rules, self._model, self._options = rules, model, dict(options)
        self.reset()

    def reset(self) -> None:
        """Forgets all predictions."""
        self._columns: dict[str, list[Any]] = {}

    def compute(self) -> dict[str, float]:
        """Scores all predictions since the last reset.

        Returns:
            `rvs_hard`, `rvs_soft` and `violating_predictions`, by name; NaN if undefined.

        Raises:
            InputError: there are no predictions yet, or `rulescore.score` raises it.
        """
        measures = model_measures(the_model(self.result()))
        return {name: math.nan if value is None else float(value) for name, value in measures.items()}

    @abstractmethod
    def result(self) -> Result:
        """The whole result, as `rulescore.score` returns it."""

    def _add(self, **columns: list[Any]) -> None:
        if len({len(values) for values in columns.values()}) > 1:
            lengths = ", ".join(f"{len(values):,} of `{name}`" for name, values in columns.items())
            raise InputError(Diagnostic("E570", f"a batch has {lengths}", helps=("give one value for each prediction",)))
        for name, values in columns.items():
            self._columns.setdefault(name, []).extend(values)

    def _gathered(self) -> dict[str, list[Any]]:
        if not self._columns:
            raise InputError(Diagnostic("E570", "there are no predictions yet", helps=("call `update` with predictions first",)))
        return self._columns


class TripleRuleViolation(_Accumulator):
    """Scores predicted triples.

    Args:
        rules: as `rulescore.score` takes them.
        observed: the facts that the model was trained on.
        entities: the labels of entities, by id. Without them, triples hold labels.
        relations: the labels of relations, by id. Without them, triples hold labels.
        model: the name of the model in the result.
        **options: further options of `rulescore.score`, such as `top_k`.

    Raises:
        InputError: something is wrong with the rules, if we know the relations.
    """

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
        """Adds a batch of predicted triples.

        Args:
            triples: rows of head, relation and tail.
            scores: the score of each triple, if known.
            ranks: the rank of each triple in the ranking of its query, if known.
            queries: a name of the query of each triple, if known.

        Raises:
            InputError: triples have other than three columns, an id has no label, or there is not one value for each triple.
        """
        rows = [tuple(row) for row in _values(triples)]
        if any(len(row) != 3 for row in rows):
            raise InputError(Diagnostic("E570", "triples have three columns: head, relation and tail"))
        unknown = [None] * len(rows)
        self._add(
            head=_labelled([row[0] for row in rows], self._entities, "entities"),
            relation=_labelled([row[1] for row in rows], self._relations, "relations"),
            tail=_labelled([row[2] for row in rows], self._entities, "entities"),
            score=unknown if scores is None else _column(scores),
            rank=unknown if ranks is None else _column(ranks),
            query=unknown if queries is None else [str(query) for query in _column(queries)],
        )

    def result(self) -> Result:
        """The whole result, as `rulescore.score` returns it."""
        predicted = pa.table({name: pa.array(values, _TYPES[name]) for name, values in self._gathered().items()})
        return score(self._observed, {self._model: predicted}, self._rules, **self._options)


class TableRuleViolation(_Accumulator):
    """Scores predicted values of a table's target.

    Args:
        rules: as `rulescore.score` takes them.
        name: the name of the table in rules.
        table: the table, with its key and target.
        classes: the labels of predicted classes, by id. Without them, values are taken as they are.
        model: the name of the model in the result.
        tables: further tables, by name.
        observed: observed facts, if rules speak of facts as well.
        **options: further options of `rulescore.score`.

    Raises:
        InputError: something is wrong with the rules or a table.
    """

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
        """Adds a batch of predicted values.

        Args:
            ids: the keys of rows, as tuples if the key has several columns.
            values: the predicted value of each row.

        Raises:
            InputError: a class has no label, or there is not one value for each row.
        """
        self._add(ids=_values(ids), values=_labelled(_column(values), self._classes, "classes"))

    def result(self) -> Result:
        """The whole result, as `rulescore.score` returns it."""
        gathered = self._gathered()
        key = (self._table.key,) if isinstance(self._table.key, str) else tuple(self._table.key)
        ids = [(id_,) for id_ in gathered["ids"]] if len(key) == 1 else gathered["ids"]
        columns = {name: pa.array([id_[place] for id_ in ids]) for place, name in enumerate(key)}
        predicted = pa.table({**columns, PREDICTION: pa.array(gathered["values"])})
        return score(self._observed, {self._model: {self._name: predicted}}, self._rules, tables=self._tables, **self._options)


def _values(batch: Any) -> list[Any]:
    """The Python values of a tensor, an array or a list."""
    return list(batch.tolist() if hasattr(batch, "tolist") else batch)


def _column(batch: Any) -> list[Any]:
    """One value for each row; a batch of rows of width 1 has one, too."""
    return [value[0] if isinstance(value, list) and len(value) == 1 else value for value in _values(batch)]


def _labelled(ids: list[Any], labels: Sequence[Any] | Mapping[int, Any] | None, what: str) -> list[Any]:
    if labels is None:
        return ids
    known = labels if isinstance(labels, Mapping) else dict(enumerate(labels))
    if missing := [id_ for id_ in ids if id_ not in known]:
        notes = (f"`{what}` has {len(known):,} labels, by ids that count from 0",)
        raise InputError(Diagnostic("E570", f"`{missing[0]}` has no label among `{what}`", notes=notes))
    return [known[id_] for id_ in ids]
