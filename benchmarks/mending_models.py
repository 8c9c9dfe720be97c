"""The models of `mending.py`: ComplEx and TransE with one softmax over all entities, and their answers to test queries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from mending_graphs import Graph
from rulescore.integrations.training import ExpectedViolations


@dataclass(frozen=True)
class Training:
    """How a model is trained. `tried`: the weights of hard rules to choose from."""

    epochs: int
    batch: int
    rate: float
    penalty: float
    tried: tuple[float, ...]
    soft: float = 0.003
    size: int = 64


class Model(torch.nn.Module):
    """Scores of all tails of (head, relation), and of all heads of (relation, tail)."""

    def __init__(self, kind: str, entities: int, relations: int, size: int) -> None:
        super().__init__()
        self.kind = kind
        self.entity = torch.nn.Parameter(torch.randn(entities, size) * 0.1)
        self.relation = torch.nn.Parameter(torch.randn(relations, size) * 0.1)

    def forward(self, given: Any, relations: Any, *, tails: bool) -> Any:
        one, link = self.entity[given], self.relation[relations]
        if self.kind == "transe":
            wanted = one + link if tails else one - link
            # By matrix products while training, in full float32. Answers near distance 0 are reflexive: there rounding decides.
            mode = "use_mm_for_euclid_dist" if self.training else "donot_use_mm_for_euclid_dist"
            return 6.0 - torch.cdist(wanted, self.entity, compute_mode=mode)
        a, b = one.chunk(2, dim=1)
        c, d = link.chunk(2, dim=1)
        d = d if tails else -d
        return torch.cat([a * c - b * d, a * d + b * c], dim=1) @ self.entity.T

    def penalty(self, triples: Any) -> Any:
        used = (self.entity[triples[:, 0]], self.relation[triples[:, 1]], self.entity[triples[:, 2]])
        return sum(values.abs().pow(3 if self.kind == "complex" else 2).sum() for values in used) / len(triples)


def trained(graph: Graph, kind: str, term: ExpectedViolations | None, seed: int, training: Training) -> tuple[Model, float]:
    """A model, and the seconds of processor time of an epoch. A seed has the same first values and batches with every term."""
    torch.manual_seed(seed)
    model = Model(kind, len(graph.entities), len(graph.relations), training.size)
    optimizer = torch.optim.Adam(model.parameters(), lr=training.rate)
    started = time.process_time()
    for _ in range(training.epochs):
        for batch in graph.train[torch.randperm(len(graph.train))].split(training.batch):
            h, r, t = batch.T
            optimizer.zero_grad()
            tails, heads = model(h, r, tails=True), model(t, r, tails=False)
            loss = torch.nn.functional.cross_entropy(tails, t) + torch.nn.functional.cross_entropy(heads, h)
            loss = loss + training.penalty * model.penalty(batch)
            if term is not None:
                loss = loss + term(tails, heads=h, relations=r) + term(heads, tails=t, relations=r)
            loss.backward()
            optimizer.step()
    return model.eval(), (time.process_time() - started) / training.epochs


Known = Sequence[tuple[Any, Any]]


def known_answers(asked: Any, *known_parts: Any) -> Known:
    """For both directions, the answers to each asked triple's query that are known to be true, other than its own."""
    known: dict[tuple[bool, int, int], list[int]] = {}
    for h, r, t in torch.cat([asked, *known_parts]).tolist():
        known.setdefault((True, h, r), []).append(t)
        known.setdefault((False, t, r), []).append(h)
    by_direction = []
    for tails in (True, False):
        pairs = [
            (query, other)
            for query, (h, r, t) in enumerate(asked.tolist())
            for other in known[(tails, h if tails else t, r)]
            if other != (t if tails else h)
        ]
        by_direction.append(tuple(torch.tensor(pairs).reshape(-1, 2).T))
    return by_direction


def scored(model: Model, asked: Any) -> list[Any]:
    """The scores of all answers to the queries of triples, of both directions."""
    h, r, t = asked.T
    with torch.no_grad():
        return [model(given, r, tails=tails) for given, tails in ((h, True), (t, False))]


def answers(scores: Sequence[Any], asked: Any, known: Known, forbidden: Sequence[Any] | None = None) -> tuple[Any, Any]:
    """The filtered ranks of both directions, and the first answers as triples. Forbidden answers come after all others."""
    h, r, t = asked.T
    ranks, first = [], []
    for place, (truth, (queries, others)) in enumerate(zip((t, h), known, strict=True)):
        own_scores = scores[place].clone() if forbidden is None else scores[place] - 1e4 * forbidden[place]
        own_scores[queries, others] = -torch.inf
        own = own_scores.gather(1, truth[:, None])
        ranks.append(1 + (own_scores > own).sum(dim=1) + ((own_scores == own).sum(dim=1) - 1) / 2)
        best = own_scores.argmax(dim=1)
        first.append(torch.stack([h, r, best] if place == 0 else [best, r, t], dim=1))
    return torch.cat(ranks).double(), torch.cat(first)
