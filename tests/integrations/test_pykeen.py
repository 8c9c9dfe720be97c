"""Real models, trained for a few epochs on a data set that PyKEEN brings along."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import rulescore
from rulescore.errors import InputError

pytestmark = [
    pytest.mark.slow,
    # One process imports torch, when the first of these tests runs.
    pytest.mark.xdist_group("torch"),
    # PyKEEN's own.
    pytest.mark.filterwarnings("ignore:Training instances are always shuffled:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning"),
]

RULES = """
ally: militaryalliance(X, Y) <- militaryalliance(Y, X).
@hard embassies: embassy(X, Y) <- treaties(X, Y).
war: commonbloc1(X, Y) <- timesincewar(X, Y), embassy(Y, X).
extract incompatible.
"""
K = 3


@pytest.fixture(scope="module")
def nations() -> Any:
    from pykeen.datasets import Nations

    return Nations(create_inverse_triples=True)


@pytest.fixture(scope="module", params=["TransE", "CompGCN"])
def trained(request: pytest.FixtureRequest, nations: Any) -> Any:
    return train(request.param, nations)


def train(model: str, dataset: Any, **options: Any) -> Any:
    from pykeen.pipeline import pipeline

    training = {"num_epochs": 2, "batch_size": 1024, "use_tqdm": False, **options.pop("training_kwargs", {})}
    evaluation = {"use_tqdm": False, "batch_size": 256}
    return pipeline(
        dataset=dataset, model=model, training_kwargs=training, evaluation_kwargs=evaluation, random_seed=1, device="cpu", **options
    )


def answers_one_by_one(model: Any, dataset: Any, k: int) -> Iterator[tuple[str, int, str, str, str]]:
    """Slow and literal: each candidate triple is looked at by itself."""
    import torch

    training = dataset.training
    known = {tuple(triple) for split in (training, dataset.validation, dataset.testing) for triple in split.mapped_triples.tolist()}
    entity, relation_name = training.entity_id_to_label, training.relation_id_to_label
    for column, direction in ((0, "head"), (2, "tail")):
        for row, triple in enumerate(dataset.testing.mapped_triples.tolist()):
            batch = torch.tensor([triple])
            scores = (model.predict_h(batch[:, 1:]) if column == 0 else model.predict_t(batch[:, :2]))[0].tolist()
            candidates = []
            for one in range(training.num_entities):
                candidate = list(triple)
                candidate[column] = one
                if tuple(candidate) not in known or candidate == triple:
                    candidates.append((-scores[one], one, candidate))
            for rank, (_, _, (head, relation, tail)) in enumerate(sorted(candidates)[:k], 1):
                yield f"{direction} {row}", rank, entity[head], relation_name[relation], entity[tail]


def test_the_best_answers_are_those_found_one_by_one(trained: Any, nations: Any) -> None:
    from rulescore.integrations.pykeen import predictions

    # Single queries are scored with other roundings than whole batches.
    found = predictions(trained, nations, k=K, batch_size=1)
    rows = zip(*(found[name].to_pylist() for name in ("query", "rank", "head", "relation", "tail")), strict=True)
    assert sorted(rows) == sorted(answers_one_by_one(trained.model, nations, K))
    assert found.column_names == ["head", "relation", "tail", "score", "rank", "query"]


def test_batches_of_any_size_give_the_same_answers(trained: Any, nations: Any) -> None:
    from rulescore.integrations.pykeen import predictions

    def scores(size: int) -> dict[tuple[str, int], float]:
        found = predictions(trained.model, nations, k=K, batch_size=size)
        keys = zip(found["query"].to_pylist(), found["rank"].to_pylist(), strict=True)
        return dict(zip(keys, found["score"].to_pylist(), strict=True))

    assert scores(7) == pytest.approx(scores(1000), rel=1e-4)


def test_of_equal_scores_the_first_are_best() -> None:
    import torch

    from rulescore.integrations.pykeen import best

    scores = torch.tensor([[1.0, 3.0, 3.0, math.nan, 3.0, 1.0], [0.0, math.nan, math.nan, math.nan, math.nan, math.nan]])
    places, values = best(scores, 2)
    assert places[0].tolist() == [1, 2]
    assert values.tolist() == [[3.0, 3.0], [0.0, -math.inf]]
    assert best(scores, 9)[0][0].tolist() == [1, 2, 4, 0, 5, 3]


def test_a_model_is_scored_in_one_call(trained: Any, nations: Any) -> None:
    from rulescore.integrations.pykeen import predictions, score

    result = score(trained, RULES, dataset=nations, k=K)
    facts = [tuple(row) for row in nations.training.triples.tolist()]
    same = rulescore.score(facts, {type(trained.model).__name__: predictions(trained, nations, k=K)}, RULES, top_k=K)
    assert result.model_results == same.model_results
    assert result.model_results[0].predictions.rows == predictions(trained, nations, k=K).num_rows


def test_accuracy_beside_is_that_of_pykeen(trained: Any, nations: Any) -> None:
    """Exactly, however many answers are scored, and whether the truth is named or not."""
    from rulescore.integrations.pykeen import score

    for options in ({"k": 1}, {"k": 3}, {"k": nations.num_entities, "truth": nations.testing}):
        (found,) = score(trained, RULES, dataset=nations, **options).accuracy_results
        assert found.reason is None
        for part in ("both", "head", "tail"):
            for metric in ("mrr", "hits_at_1", "hits_at_3", "hits_at_10"):
                assert found.measure(metric, part).value == pytest.approx(trained.get_metric(f"{part}.realistic.{metric}"))


def test_another_truth_has_bounds_of_the_best_answers(trained: Any, nations: Any) -> None:
    from rulescore.integrations.pykeen import score

    (found,) = score(trained, RULES, dataset=nations, k=1, truth=nations.validation).accuracy_results
    assert found.basis != "ranks of the predictions' file"


def test_a_table_of_a_trained_model_has_accuracy_beside_scores(trained: Any, nations: Any) -> None:
    from rulescore.integrations.pykeen import score

    table = score(trained, RULES, dataset=nations).to_latex("published")
    heading = next(line for line in table.splitlines() if line.startswith("model & "))
    assert heading.startswith("model & Hits@1 & Hits@3 & Hits@10 & MRR & ")
    assert heading.index("soft") < heading.index("hard")
    assert " to " not in table.partition(r"\midrule")[2]


def test_several_models_are_scored_together(nations: Any) -> None:
    from rulescore.integrations.pykeen import score

    models = {"one": train("TransE", nations), "two": train("DistMult", nations)}
    assert [one.name for one in score(models, RULES, dataset=nations).model_results] == ["one", "two"]


def test_an_evaluator_tells_both(nations: Any) -> None:
    from rulescore.integrations.pykeen import RuleViolationEvaluator, score

    options = {"rules": RULES, "training": nations.training, "k": K}
    found = train("TransE", nations, evaluator=RuleViolationEvaluator, evaluator_kwargs=options)
    plain = train("TransE", nations)
    assert found.get_metric("mrr") == plain.get_metric("mrr")
    (model,) = score(found, RULES, dataset=nations, k=K).model_results
    assert found.get_metric("rvs_hard") == model.hard_score.value
    assert found.get_metric("both.realistic.rvs_soft") == model.soft_score.value
    assert found.metric_results.to_dict()["both"]["realistic"]["violating_predictions"] == model.violating


def test_an_evaluator_is_asked_again_and_again(nations: Any) -> None:
    import torch

    from rulescore.integrations.pykeen import RuleViolationEvaluator

    evaluator = RuleViolationEvaluator(RULES, nations.training, k=K)
    model = train("TransE", nations).model
    triples = nations.validation.mapped_triples

    def asked() -> Any:
        return evaluator.evaluate(
            model, triples, additional_filter_triples=[nations.training.mapped_triples], use_tqdm=False, batch_size=64
        ).to_flat_dict()

    assert asked() == pytest.approx(asked(), nan_ok=True)
    with pytest.raises(InputError, match="E570"):
        evaluator.evaluate(
            model,
            triples,
            additional_filter_triples=[nations.training.mapped_triples],
            restrict_entities_to=torch.tensor([0, 1]),
            do_time_consuming_checks=False,
            use_tqdm=False,
        )
    with pytest.raises(InputError, match="E570"):
        RuleViolationEvaluator(RULES, nations.training, filtered=False)


def test_a_callback_records_scores_while_training(nations: Any) -> None:
    from rulescore.integrations.pykeen import RuleViolationCallback, score

    callback = RuleViolationCallback(RULES, nations, k=K, frequency=2)
    found = train("CompGCN", nations, training_kwargs={"callbacks": callback})
    assert [row["epoch"] for row in callback.history] == [2]
    (model,) = score(found, RULES, dataset=nations, of="validation", k=K).model_results
    assert callback.history[-1] == {
        "epoch": 2,
        "rvs_hard": model.hard_score.value,
        "rvs_soft": model.soft_score.value,
        "violating_predictions": model.violating,
    }
    # Watching changes nothing.
    assert found.losses == pytest.approx(train("CompGCN", nations).losses)


def test_what_is_not_trained_or_not_known_is_told(nations: Any) -> None:
    from pykeen.datasets import EagerDataset, Kinships
    from pykeen.triples import CoreTriplesFactory

    from rulescore.integrations.pykeen import predictions

    model = train("TransE", nations)
    with pytest.raises(InputError, match=r"E570.*a list is not a trained model"):
        predictions([model], nations)
    with pytest.raises(InputError, match="E570"):
        predictions(model.model)
    with pytest.raises(InputError, match=r"E570.*a TriplesFactory is not a data set"):
        predictions(model, nations.training)
    with pytest.raises(InputError, match="E570"):
        predictions(model, Kinships())
    with pytest.raises(InputError, match=r"(?s)E570.*did you mean `testing`"):
        predictions(model, nations, of="testin")
    with pytest.raises(InputError, match=r"E570.*no validation triples"):
        predictions(model, EagerDataset(nations.training, nations.testing), of="validation")
    bare = CoreTriplesFactory.create(nations.training.mapped_triples)
    with pytest.raises(InputError, match="E570"):
        predictions(model, EagerDataset(bare, bare))
    model.model.entity_representations[0]._embeddings.weight.data[:] = math.nan
    with pytest.raises(InputError, match="E570"):
        predictions(model, nations)


def test_a_pipeline_knows_its_data_set_by_name(trained: Any, nations: Any) -> None:
    from rulescore.integrations.pykeen import predictions

    assert trained.configuration["dataset"] == "nations"
    assert predictions(trained, batch_size=64) == predictions(trained, nations, batch_size=64)


@pytest.mark.parametrize("rules", ["embassy(X, Y) <- treaties(X, Y).", "false <- embasy(X, Y).", "false <- embassy(X, Y"])
def test_rules_are_checked_before_a_model_predicts(nations: Any, rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pykeen.models import TransE

    from rulescore.integrations import pykeen

    monkeypatch.setattr(pykeen, "predictions", lambda *_, **__: pytest.fail("a model predicts"))
    model = TransE(triples_factory=nations.training)
    with pytest.raises(InputError, match=r"E265|E205|E10"):
        pykeen.score({"one": model, "other": model}, rules, dataset=nations)
    with pytest.raises(InputError, match=r"E265|E205|E10"):
        pykeen.RuleViolationEvaluator(rules, nations.training)
