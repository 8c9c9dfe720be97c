"""PyKEEN: expected violations while a model trains, and negatives that rules forbid."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from rulescore.errors import Diagnostic, InputError, MissingExtraError
from rulescore.mending.reasons import AGAINST
from rulescore.mending.table import CandidateTable

try:
    import torch
    from pykeen.sampling import BasicNegativeSampler
    from pykeen.training import TrainingCallback
except ImportError as error:
    raise MissingExtraError("`rulescore.integrations.pykeen_training`", "pykeen") from error

from rulescore.integrations.training import ExpectedViolations

__all__ = ["ExpectedViolationsCallback", "ForbiddenNegativeSampler"]


class ExpectedViolationsCallback(TrainingCallback):
    """Adds the gradient of expected violations to every batch.

    Pass it as `training_kwargs={"callbacks": ExpectedViolationsCallback(table, factory)}`. The model scores the queries of
    the batch once more: tails, and with sLCWA heads as well.

    Attributes:
        last: The parts of the last batch's term, as `ExpectedViolations.last`.
    """

    def __init__(
        self, table: CandidateTable, training: Any, *, hard: float = 1.0, soft: float = 0.0, momentum: float = 0.9
    ) -> None:
        """Prepare a callback.

        Args:
            table: The contributions of candidates, from training facts alone.
            training: The triples factory that the model is trained on, without inverse triples.
            hard: The weight of hard rules.
            soft: The weight of soft rules.
            momentum: How much of the counts of earlier batches stays in the rates of soft rules.

        Raises:
            InputError: The triples have inverse relations, or the table has nothing to teach.
        """
        super().__init__()
        if training.create_inverse_triples:
            helps = ("make the triples with `create_inverse_triples=False`",)
            raise InputError(Diagnostic("E570", "a model of inverse triples has no scores for heads", helps=helps))
        self.term = ExpectedViolations(
            table,
            entities=training.entity_id_to_label,
            relations=training.relation_id_to_label,
            hard=hard,
            soft=soft,
            momentum=momentum,
        )

    @property
    def last(self) -> dict[str, Any]:
        return self.term.last

    def on_batch(self, epoch: int, batch: Any, batch_loss: float, **kwargs: Any) -> None:
        """Add the gradient of the term."""
        if self.term.hard == 0 and self.term.soft == 0:
            return
        term = sum(self._terms(batch))
        term.backward()
        # PyKEEN regularises with every scoring. We scored once more, and that regularisation belongs to no loss.
        self.model.collect_regularization_term()

    def _terms(self, batch: Any) -> Any:
        device = next(self.model.parameters()).device
        if "positives" in batch:
            triples = batch["positives"].to(device)
            yield self.term(self.model.score_t(triples[:, :2]), heads=triples[:, 0], relations=triples[:, 1])
            yield self.term(self.model.score_h(triples[:, 1:]), tails=triples[:, 2], relations=triples[:, 1])
            return
        pairs = batch["pairs"].to(device)
        if self.training_loop.target == 2:
            yield self.term(self.model.score_t(pairs), heads=pairs[:, 0], relations=pairs[:, 1])
        elif self.training_loop.target == 0:
            yield self.term(self.model.score_h(pairs), tails=pairs[:, 1], relations=pairs[:, 0])
        else:
            helps = ('train on heads or tails: `training_loop_kwargs={"target": "tail"}`',)
            raise InputError(Diagnostic("E570", "the model is trained to predict relations", helps=helps))


class ForbiddenNegativeSampler(BasicNegativeSampler):
    """PyKEEN's basic negative sampler, with a share of negatives drawn from forbidden answers."""

    def __init__(
        self,
        *,
        table: CandidateTable,
        training: Any,
        share: float = 0.5,
        reasons: Collection[str] = AGAINST,
        **basic: Any,
    ) -> None:
        """Prepare a sampler.

        Args:
            table: All candidates, from training facts alone.
            training: The triples factory that the model is trained on.
            share: The share of negatives that are drawn from forbidden answers, if a query has any.
            reasons: What forbids an answer.
            basic: The arguments of `BasicNegativeSampler`.

        Raises:
            InputError: The share is not from 0 to 1, or the table knows none of the entities.
        """
        super().__init__(**basic)
        if not 0 <= share <= 1:
            raise InputError(Diagnostic("E813", f"the share of negatives is {share}", helps=("give a number from 0 to 1",)))
        self.share, self.reasons = share, tuple(reasons)
        self.numbered = table.numbered(training.entity_id_to_label, training.relation_id_to_label)

    def corrupt_batch(self, positive_batch: Any) -> Any:
        """The negatives of the basic sampler, with a share of them replaced.

        Args:
            positive_batch: The positive triples, by id.

        Returns:
            The negatives of each positive.
        """
        negatives = super().corrupt_batch(positive_batch)
        flat = negatives.view(-1, 3)
        for place, heads in ((0, False), (2, True)):
            known_place = 2 - place
            triples = positive_batch.view(-1, 3)
            positives = triples.repeat_interleave(self.num_negs_per_pos, dim=0)
            corrupted = (flat[:, place] != positives[:, place]) & (torch.rand(len(flat), device=flat.device) < self.share)
            rows = corrupted.nonzero().view(-1)
            if not len(rows):
                continue
            asked = positives[rows]
            relations, known = asked[:, 1].cpu().numpy(), asked[:, known_place].cpu().numpy()
            forbidden = self.numbered.forbidden(np.asarray(relations), np.asarray(known), heads=heads, reasons=self.reasons)
            mask = torch.from_numpy(forbidden).to(flat.device)
            has_forbidden = mask.any(dim=1)
            if bool(has_forbidden.any()):
                flat[rows[has_forbidden], place] = torch.multinomial(mask[has_forbidden].float(), 1).view(-1)
        return negatives
