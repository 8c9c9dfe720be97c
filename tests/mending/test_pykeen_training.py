"""PyKEEN trains with the term, and without it if its weights are 0; negatives are forbidden facts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import pytest
import torch

import rulescore
from rulescore.mending.making import candidates

pytestmark = pytest.mark.slow

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pykeen.datasets import Nations
    from pykeen.pipeline import pipeline
    from pykeen.triples import TriplesFactory

    from rulescore.integrations.pykeen_training import ExpectedViolationsCallback, ForbiddenNegativeSampler

RULES = """
hard: false <- treaties(X, X).
embassy: embassy(X, Y) <- embassy(Y, X).
refute embassy(X, Y) <- accusation(X, Y).
incompatible negativecomm, treaties.
"""


@pytest.fixture(scope="module")
def training() -> TriplesFactory:
    return Nations().training


def table_of(training: TriplesFactory) -> rulescore.CandidateTable:
    return candidates(training.label_triples(training.mapped_triples).tolist(), RULES)


def trained(
    training: TriplesFactory, loop: str, held_out: Mapping[str, TriplesFactory] | None = None, **weights: float
) -> tuple[torch.nn.Module, ExpectedViolationsCallback | None]:
    callback = ExpectedViolationsCallback(table_of(training), training, **weights) if weights else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = pipeline(
            training=training,
            **{"testing": training, **(held_out or {})},
            model="ComplEx",
            model_kwargs={"embedding_dim": 8},
            training_loop=loop,
            loss="softplus",
            training_kwargs={
                "num_epochs": 4,
                "batch_size": 256,
                "use_tqdm": False,
                **({} if callback is None else {"callbacks": callback}),
            },
            evaluation_kwargs={"use_tqdm": False},
            random_seed=3,
            device="cpu",
        )
    return result.model, callback


@pytest.mark.parametrize("loop", ["slcwa", "lcwa"])
def test_the_term_changes_training_and_weights_of_zero_do_not(training: TriplesFactory, loop: str) -> None:
    plain, _ = trained(training, loop)
    zero, _ = trained(training, loop, hard=0.0, soft=0.0)
    mended, callback = trained(training, loop, hard=10.0)

    def same(left: torch.nn.Module, right: torch.nn.Module) -> bool:
        return all(torch.equal(a, b) for a, b in zip(left.parameters(), right.parameters(), strict=True))

    assert same(plain, zero)
    assert not same(plain, mended)
    assert callback is not None
    assert 0 < callback.last["hard"] < 1

    def expected(model: torch.nn.Module) -> float:
        term = callback.term
        heads = torch.arange(training.num_entities)
        relations = torch.full_like(heads, training.relation_to_id["treaties"])
        with torch.no_grad():
            term(model.score_t(torch.stack([heads, relations], dim=1)), heads=heads, relations=relations)
        return term.last["hard"]

    assert expected(mended) < expected(plain)


@pytest.mark.parametrize("part", ["testing", "validation"])
def test_labels_of_held_out_facts_change_nothing(training: TriplesFactory, part: str) -> None:
    held_out: TriplesFactory = getattr(Nations(), part)
    mixed = held_out.mapped_triples.clone()
    mixed[:, 2] = mixed[torch.randperm(len(mixed), generator=torch.Generator().manual_seed(0)), 2]
    assert not torch.equal(mixed, held_out.mapped_triples)
    permuted = TriplesFactory(mixed, training.entity_to_id, training.relation_to_id)
    (first, one), (second, other) = (trained(training, "lcwa", {part: facts}, hard=1.0) for facts in (held_out, permuted))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert one is not None
    assert other is not None
    assert one.last == other.last


def test_inverse_triples_are_refused(training: TriplesFactory) -> None:
    inverse = TriplesFactory(training.mapped_triples, training.entity_to_id, training.relation_to_id, create_inverse_triples=True)
    with pytest.raises(rulescore.InputError, match="inverse triples"):
        ExpectedViolationsCallback(table_of(training), inverse)


def test_negatives_are_forbidden_facts_where_there_are_any(training: TriplesFactory) -> None:
    table = table_of(training)
    sampler = ForbiddenNegativeSampler(
        table=table,
        training=training,
        share=1.0,
        reasons=["breaks a rule"],
        mapped_triples=training.mapped_triples,
        num_negs_per_pos=4,
    )
    treaties = training.mapped_triples[training.mapped_triples[:, 1] == training.relation_to_id["treaties"]]
    torch.manual_seed(0)
    negatives = sampler.corrupt_batch(treaties)
    assert negatives.shape == (len(treaties), 4, 3)
    # The only treaties that break the rule are those of a country with itself.
    assert bool((negatives[:, :, 0] == negatives[:, :, 2]).all())
    with pytest.raises(rulescore.InputError, match="share of negatives is 2"):
        ForbiddenNegativeSampler(table=table, training=training, share=2, mapped_triples=training.mapped_triples)
