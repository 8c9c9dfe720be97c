"""PyKEEN: filtered predictions and scores of trained models; scores with rank metrics, and during training.

PyKEEN's own evaluation scores and filters every batch: we take predictions from the scores that it hands to an evaluator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.truth import Truth
from rulescore.errors import Diagnostic, InputError, MissingExtraError, meant, ticked
from rulescore.integrations.early import refuse_rules
from rulescore.integrations.measures import MEASURES, model_measures, the_model
from rulescore.readers.sources import FactsLike
from rulescore.session.api import score as score_predictions
from rulescore.session.result import Result

try:
    import torch
    from pykeen.datasets import Dataset, dataset_resolver, get_dataset
    from pykeen.evaluation import Evaluator, MetricResults, RankBasedEvaluator, RankBasedMetricResults
    from pykeen.evaluation.rank_based_evaluator import RankBasedMetricKey
    from pykeen.models import Model
    from pykeen.pipeline import PipelineResult
    from pykeen.training import TrainingCallback
    from pykeen.triples import TriplesFactory
except ImportError as error:
    raise MissingExtraError("`rulescore.integrations.pykeen`", "pykeen") from error


__all__ = ["RuleViolationCallback", "RuleViolationEvaluator", "predictions", "score"]

_SPLITS = ("testing", "validation", "training")
_COLUMNS = {"head": 0, "tail": 2}
_QUERY = ("query_direction", "test_row", "rank_of_truth")
"""What we know of the query of each prediction, for its accuracy."""
_GIVE = 'give it: `dataset="nations"`, or `dataset=pykeen.datasets.EagerDataset(training, testing, validation)`'


def predictions(trained: Any, dataset: Any = None, *, of: str = "testing", k: int = 1, batch_size: int | None = None) -> pa.Table:
    """The `k` best predictions for both queries of every triple, `(head, relation, ?)` and `(?, relation, tail)`.

    We leave out known triples of the data set, but not the triple of the query itself. Of equal scores, the entity with the smaller
    id comes first.

    Args:
        trained: a model, or the result of `pipeline`.
        dataset: a data set of PyKEEN or its name. The result of a pipeline knows its data set, unless you gave the pipeline triples
            instead: then give `EagerDataset(training, testing, validation)`.
        of: the triples to predict: `testing`, `validation` or `training`.
        k: how many predictions for each query.
        batch_size: the batch size of the evaluation; PyKEEN chooses one unless given.

    Returns:
        An Arrow table with `head`, `relation`, `tail`, `score`, `rank` and `query`.

    Raises:
        InputError: the model is no trained model, the data set is not the model's, or scores are not finite.
    """
    return _with_ranks(trained, dataset, of, k, batch_size).drop_columns(list(_QUERY))


def _with_ranks(trained: Any, dataset: Any, of: str, k: int, batch_size: int | None) -> pa.Table:
    """The predictions, each with the direction and the triple of its query, and the rank of the truth among all entities."""
    model, source = _model_and_dataset(trained, dataset)
    queries = _split(source, of)
    labels = _labels(source.training)
    collector = _TripleCollector(k)
    others = [part.mapped_triples for split in _SPLITS if (part := getattr(source, split)) is not None and part is not queries]
    collector.evaluate(
        model, queries.mapped_triples, batch_size=batch_size, additional_filter_triples=others or None, use_tqdm=False
    )
    return collector.collected.table(labels)


def score(
    trained: Any,
    rules: RulesLike,
    *,
    dataset: Any = None,
    of: str = "testing",
    k: int = 1,
    batch_size: int | None = None,
    observed: FactsLike | None = None,
    **options: Any,
) -> Result:
    """Scores a trained model, or several, by the `k` best predictions for every query. The result also has MRR and Hits@k by
    PyKEEN's own ranks, for any `k`.

    Args:
        trained: a model, the result of `pipeline`, or a mapping from names to several of them.
        rules: as `rulescore.score` takes them.
        dataset: as `predictions` takes it.
        of: the triples to predict: `testing`, `validation` or `training`.
        k: how many predictions for each query.
        batch_size: the batch size of the evaluation; PyKEEN chooses one unless given.
        observed: observed facts, instead of the triples that the model was trained on.
        **options: further options of `rulescore.score`. With another `truth` than the triples of `of`, accuracy counts the `k` best
            predictions.

    Returns:
        The result, as `rulescore.score` returns it.

    Raises:
        InputError: something is wrong with the rules, or `predictions` raises it.
    """
    models = trained if isinstance(trained, Mapping) else {_name(trained): trained}
    source = _model_and_dataset(next(iter(models.values())), dataset)[1]
    facts = _facts(source.training) if observed is None else observed
    _refuse_rules(rules, source.training, facts, options)
    tables = {name: _with_ranks(model, dataset, of, k, batch_size) for name, model in models.items()}
    asked = _split(source, of)
    if options.get("truth") is None or _is(options["truth"], asked):
        known = [_facts(part) for name in _SPLITS if (part := getattr(source, name)) is not None and part is not asked]
        options["truth"] = Truth(_facts(asked), known=known)
    else:
        # The ranks that PyKEEN keeps belong to other queries.
        tables = {name: table.drop_columns(list(_QUERY)) for name, table in tables.items()}
    return score_predictions(facts, tables, rules, top_k=k, **options)


def _is(truth: Any, asked: Any) -> bool:
    return isinstance(truth, TriplesFactory) and torch.equal(truth.mapped_triples, asked.mapped_triples)


def _refuse_rules(rules: RulesLike, training: Any, observed: FactsLike, options: Mapping[str, Any]) -> None:
    refuse_rules(observed, rules, options, relations=_labels(training)[1].to_pylist())


class RuleViolationMetricResults(RankBasedMetricResults):
    """Rank metrics, together with `rvs_hard`, `rvs_soft` and `violating_predictions`; NaN if one is undefined."""

    @classmethod
    def key_from_string(cls, s: str | None) -> RankBasedMetricKey:
        """Knows PyKEEN's own keys, and the names of the scores, with or without `both.realistic.` before them."""
        name = None if s is None else s.rpartition(".")[2]
        return _key(name) if name in MEASURES else super().key_from_string(s)


class RuleViolationEvaluator(RankBasedEvaluator):
    """PyKEEN's rank-based evaluator that also scores the `k` best predictions: `metric_results.get_metric("rvs_hard")`.

    The attribute `result` is the last result.

    Args:
        rules: as `rulescore.score` takes them.
        training: the triples that the model is trained on.
        k: how many predictions for each query.
        observed: observed facts, instead of these triples.
        options: further options of `rulescore.score`, by name.
        **rank_options: the options of `RankBasedEvaluator`.

    Raises:
        InputError: the evaluation is not filtered, or something is wrong with the rules.
    """

    metric_result_cls = RuleViolationMetricResults

    def __init__(
        self,
        rules: RulesLike,
        training: TriplesFactory,
        *,
        k: int = 1,
        observed: FactsLike | None = None,
        options: Mapping[str, Any] | None = None,
        **rank_options: Any,
    ) -> None:
        super().__init__(**rank_options)
        if not self.filtered:
            helps = ("leave out `filtered=False`: unfiltered answers include known triples, which are not predictions",)
            raise InputError(Diagnostic("E570", "the evaluation is not filtered", helps=helps))
        self.rules, self.k, self.options = rules, k, dict(options or {})
        self.labels = _labels(training)
        self.observed = _facts(training) if observed is None else observed
        _refuse_rules(rules, training, self.observed, self.options)
        self.collected = _Predictions(k)
        self.result: Result | None = None

    def process_scores_(
        self, hrt_batch: Any, target: str, scores: Any, true_scores: Any = None, dense_positive_mask: Any = None
    ) -> None:
        if scores.shape[1] != len(self.labels[0]):
            helps = ("leave out `restrict_entities_to`",)
            raise InputError(Diagnostic("E570", "the evaluation is restricted to some entities", helps=helps))
        super().process_scores_(hrt_batch, target, scores, true_scores, dense_positive_mask)
        self.collected.add(hrt_batch, target, scores, true_scores)

    def clear(self) -> None:
        super().clear()
        self.collected = _Predictions(self.k)

    def finalize(self) -> RankBasedMetricResults:
        # PyKEEN's `finalize` clears our predictions together with its ranks: read them first.
        table = self.collected.table(self.labels)
        ranked = super().finalize()
        self.result = score_predictions(self.observed, {"model": table}, self.rules, top_k=self.k, **self.options)
        measures = {
            _key(name): math.nan if value is None else float(value)
            for name, value in model_measures(the_model(self.result)).items()
        }
        return self.metric_result_cls({**ranked.data, **measures})


class RuleViolationCallback(TrainingCallback):
    """Scores the model during training. `history` gets a row each time, with `epoch`, `rvs_hard`, `rvs_soft` and
    `violating_predictions`; PyKEEN's result tracker gets them as well.

    Args:
        rules: as `rulescore.score` takes them.
        dataset: a data set of PyKEEN or its name.
        of: the triples to predict; `validation` by default, so the test triples stay unseen.
        k: how many predictions for each query.
        frequency: we score after every so many epochs.
        batch_size: the batch size of the evaluation; PyKEEN chooses one unless given.
        options: further options of `score`, by name.
    """

    def __init__(
        self,
        rules: RulesLike,
        dataset: Any,
        *,
        of: str = "validation",
        k: int = 1,
        frequency: int = 1,
        batch_size: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.rules, self.dataset, self.of, self.k = rules, dataset, of, k
        self.frequency, self.batch_size, self.options = frequency, batch_size, dict(options or {})
        self.history: list[dict[str, float | None]] = []

    def post_epoch(self, epoch: int, epoch_loss: float, **kwargs: Any) -> None:
        if epoch % self.frequency:
            return
        result = score(
            self.model, self.rules, dataset=self.dataset, of=self.of, k=self.k, batch_size=self.batch_size, **self.options
        )
        # During evaluation the model caches representations. They would be out of date after the next training step.
        self.model._free_graph_and_cache()
        measures = model_measures(the_model(result))
        self.history.append({"epoch": epoch, **measures})
        defined = {name: value for name, value in measures.items() if value is not None}
        self.result_tracker.log_metrics(defined, step=epoch, prefix=self.of)


class _TripleCollector(Evaluator):
    """An evaluator that collects the best predictions and computes no metric."""

    def __init__(self, k: int) -> None:
        super().__init__(filtered=True)
        self.k = k
        self.clear()

    def process_scores_(
        self, hrt_batch: Any, target: str, scores: Any, true_scores: Any = None, dense_positive_mask: Any = None
    ) -> None:
        self.collected.add(hrt_batch, target, scores, true_scores)

    def clear(self) -> None:
        self.collected = _Predictions(self.k)

    def finalize(self) -> MetricResults:
        return RankBasedMetricResults({})


class _Predictions:
    """Collects the best predictions for batches of queries, as columns of ids."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._rows = {target: count() for target in _COLUMNS}
        self._batches: list[tuple[Any, ...]] = []

    def add(self, triples: Any, target: str, scores: Any, true_scores: Any) -> None:
        """`scores`: of all entities, NaN if the filter leaves one out. `true_scores`: of the entities that the queries ask for."""
        if not bool(torch.isfinite(true_scores).all()) or bool(torch.isposinf(scores).any()):
            helps = ("training has diverged: try a smaller learning rate",)
            raise InputError(Diagnostic("E570", "the model's scores are not finite numbers", helps=helps))
        places, values = best(scores, self._k)
        column = _COLUMNS[target]
        numbers = np.array([next(self._rows[target]) for _ in triples])
        rows, ranks = torch.isfinite(values).nonzero(as_tuple=True)
        predicted = triples[rows].clone()
        predicted[:, column] = places[rows, ranks]
        of_query = _array(rows)
        truths = _array(ranks_of_truths(scores, true_scores))[of_query]
        directions = np.full(len(of_query), target)
        batch = (numbers[of_query], _array(predicted), _array(values[rows, ranks]), _array(ranks) + 1, directions, truths)
        self._batches.append(batch)

    def table(self, labels: tuple[pa.Array, pa.Array]) -> pa.Table:
        entities, relations = labels
        parts = (np.concatenate([batch[number] for batch in self._batches], axis=0) for number in range(6))
        queries, triples, scores, ranks, directions, truths = parts
        return pa.table(
            {
                "head": entities.take(pa.array(triples[:, 0])),
                "relation": relations.take(pa.array(triples[:, 1])),
                "tail": entities.take(pa.array(triples[:, 2])),
                "score": pa.array(scores, pa.float64()),
                "rank": pa.array(ranks, pa.int64()),
                "query": pa.array(
                    [f"{direction} {query}" for direction, query in zip(directions, queries, strict=True)], pa.string()
                ),
                "query_direction": pa.array(directions, pa.string()),
                "test_row": pa.array(queries, pa.int64()),
                "rank_of_truth": pa.array(truths, pa.float64()),
            }
        )


def ranks_of_truths(scores: Any, true_scores: Any) -> Any:
    """The realistic rank of the true answer to each query, as PyKEEN defines it: the mean of its best and its worst rank among
    equal scores."""
    better, level = (scores > true_scores).sum(dim=1), (scores == true_scores).sum(dim=1)
    return better + (level.double() + 1) / 2


def best(scores: Any, k: int) -> tuple[Any, Any]:
    """The columns of the `k` greatest scores of each row, and these scores. NaN counts as the least score. Of equal scores we take
    the first columns, in their order. Sorting whole rows would take many times as long."""
    k = min(k, scores.shape[1])
    known = torch.where(torch.isnan(scores), -math.inf, scores)
    least = known.topk(k, dim=1).values[:, -1:]
    above, level = known > least, known == least
    kept = above | (level & (level.cumsum(dim=1) <= k - above.sum(dim=1, keepdim=True)))
    places = kept.nonzero()[:, 1].view(-1, k)
    ordered = known.gather(1, places).sort(dim=1, descending=True, stable=True)
    return places.gather(1, ordered.indices), ordered.values


def _array(tensor: Any) -> Any:
    return tensor.detach().cpu().numpy()


def _key(name: str) -> RankBasedMetricKey:
    return RankBasedMetricKey("both", "realistic", name)


def _name(trained: Any) -> str:
    return type(trained.model if isinstance(trained, PipelineResult) else trained).__name__


def _model_and_dataset(trained: Any, dataset: Any) -> tuple[Model, Dataset]:
    if isinstance(trained, PipelineResult):
        source = _pipeline_dataset(trained) if dataset is None else _dataset(dataset)
        model, training = trained.model, trained.training
    elif isinstance(trained, Model):
        if dataset is None:
            raise InputError(Diagnostic("E570", "we cannot learn from a model which data set it was trained on", helps=(_GIVE,)))
        source = _dataset(dataset)
        model, training = trained, source.training
    else:
        notes = ("give a model of PyKEEN, or the result of `pipeline`",)
        raise InputError(Diagnostic("E570", f"a {type(trained).__name__} is not a trained model of PyKEEN", notes=notes))
    if model.num_entities != source.training.num_entities or _labels(training) != _labels(source.training):
        notes = (f"the model knows {model.num_entities:,} entities, the data set has {source.training.num_entities:,}",)
        raise InputError(Diagnostic("E570", "this is not the data set that the model was trained on", notes=notes))
    return model, source


def _dataset(dataset: Any) -> Dataset:
    if not isinstance(dataset, str | Path | Dataset):
        raise InputError(Diagnostic("E570", f"a {type(dataset).__name__} is not a data set of PyKEEN", helps=(_GIVE,)))
    return get_dataset(dataset=dataset)


def _pipeline_dataset(trained: PipelineResult) -> Dataset:
    name = trained.configuration.get("dataset")
    if name not in dataset_resolver.lookup_dict:
        raise InputError(Diagnostic("E570", "we cannot learn from the pipeline which data set it was trained on", helps=(_GIVE,)))
    return get_dataset(dataset=name, dataset_kwargs=trained.configuration.get("dataset_kwargs"))


def _split(dataset: Dataset, of: str) -> Any:
    if of not in _SPLITS:
        helps = meant(of, _SPLITS)
        notes = (f"its triples are {ticked(_SPLITS)}",)
        raise InputError(Diagnostic("E570", f"a data set has no triples called `{of}`", notes=notes, helps=helps))
    split = getattr(dataset, of)
    if split is None:
        raise InputError(Diagnostic("E570", f"this data set has no {of} triples"))
    return split


def _labels(training: Any) -> tuple[pa.Array, pa.Array]:
    """The labels of entities and of relations, by their ids."""
    if not isinstance(training, TriplesFactory):
        helps = ("make a `TriplesFactory`, such as with `TriplesFactory.from_path`",)
        raise InputError(Diagnostic("E570", "the triples have no labels, but rules name labels", helps=helps))
    return tuple(
        pa.array([names[number] for number in range(len(names))], pa.string())
        for names in (training.entity_id_to_label, training.relation_id_to_label)
    )


def _facts(training: Any) -> pa.Table:
    entities, relations = _labels(training)
    triples = _array(training.mapped_triples)
    labels = {"head": entities, "relation": relations, "tail": entities}
    return pa.table({name: labels[name].take(pa.array(triples[:, place])) for place, name in enumerate(labels)})
