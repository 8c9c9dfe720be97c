"""PyTorch: the expected violations of a model's answers as a term of its loss.

Every prediction is judged alone, so the expectation under a distribution over answers is a sum of products: exact, and with an
exact gradient. The counts come from a table of candidates and do not change while the model trains.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.errors import Diagnostic, InputError, MissingExtraError
from rulescore.mending.numbered import EVERY, Entries, Labels, NumberedTable
from rulescore.mending.numeric import NumericSteps, RuleSteps, refuse_bounds
from rulescore.mending.table import CandidateTable

try:
    import torch
except ImportError as error:
    raise MissingExtraError("`rulescore.torch`", "pykeen") from error

__all__ = ["ExpectedViolations", "NumericViolations"]


class ExpectedViolations(torch.nn.Module):
    """A term of a loss: `loss + term(scores, heads=h, relations=r)`.

    The term is the expected violations of hard rules by the answer to a query. With `soft`, it adds how far answers break soft
    rules more often than the data do. Observed answers are left out of the distribution, because a filtered evaluation leaves them
    out. With both weights 0 the term is 0 and touches nothing.

    Attributes:
        last: The parts of the last call, for logging. `hard`: the expected violations of a query, each times its rule's weight.
            `hard_sum`: the same of the whole batch. `soft`: the term of soft rules. `ratios`: each soft rule's expected rate,
            divided by its rate in the data.
    """

    def __init__(
        self,
        table: CandidateTable,
        *,
        entities: Labels,
        relations: Labels,
        hard: float = 1.0,
        soft: float = 0.0,
        momentum: float = 0.9,
    ) -> None:
        """Prepare a term.

        Args:
            table: The contributions of all candidates, or of all answers to the queries of the batches. Make it from training
                facts alone.
            entities: The labels of entities by id, or their ids by label; ids are the columns of scores.
            relations: The labels of relations by id, or their ids by label.
            hard: The weight of hard rules.
            soft: The weight of soft rules.
            momentum: How much of the counts of earlier batches stays in the rates of soft rules: one batch alone has few.

        Raises:
            InputError: A weight is wrong, no rule or candidate is concerned by it, or the table knows none of the entities.
        """
        super().__init__()
        self._refuted: Any
        self._evaluable: Any
        for name, value in (("hard", hard), ("soft", soft)):
            if not (np.isfinite(value) and value >= 0):
                raise InputError(Diagnostic("E813", f"the weight `{name}` is {value}", helps=("give a number from 0",)))
        self.hard, self.soft, self.momentum = hard, soft, momentum
        self.table = table
        self.numbered = NumberedTable(table, entities, relations)
        self.last: dict[str, Any] = {}
        self._refuse_empty(table)
        self._hard_weights = np.zeros(len(table.rules))
        for rule in table.hard:
            self._hard_weights[rule] = table.rules[rule].weight
        self._soft = np.array(table.soft, np.int64)
        self._soft_place = np.full(len(table.rules), -1, np.int64)
        self._soft_place[self._soft] = np.arange(len(self._soft))
        rates = [float(table.rules[rule].dataset.rate or 0) for rule in table.soft]
        self.register_buffer("_rates", torch.tensor(rates, dtype=torch.float64))
        self.register_buffer("_refuted", torch.zeros(len(rates), dtype=torch.float64))
        self.register_buffer("_evaluable", torch.zeros(len(rates), dtype=torch.float64))

    def _refuse_empty(self, table: CandidateTable) -> None:
        rules = {
            "hard": ("no rule is hard", list(table.hard)) if self.hard else None,
            "soft": ("no rule is soft", list(table.soft)) if self.soft else None,
        }
        for weight, problem in rules.items():
            if problem is not None and not problem[1]:
                kinds = tuple(
                    f"`{rule.name}` is {rule.kind}, {rule.dataset.refuted:,} of {rule.dataset.evaluable:,}"
                    for rule in table.rules[:5]
                )
                needed = "never contradict" if weight == "hard" else "contradict now and then"
                helps = (f"set `{weight}=0`, or give rules that the data {needed}",)
                raise InputError(
                    Diagnostic("E813", f"{problem[0]}, so a weight of {weight} rules does nothing", notes=kinds, helps=helps)
                )
        if self.hard and not table.forbids:
            helps = ("the term has nothing to teach: leave it out",)
            raise InputError(Diagnostic("E813", "no candidate would break a hard rule", helps=helps))

    def forward(self, scores: Any, *, relations: Any, heads: Any = None, tails: Any = None) -> Any:
        """The term of a batch.

        Args:
            scores: The model's scores, queries by entities, before a softmax.
            relations: The relation of each query, by id.
            heads: The head of each query, if tails are asked for.
            tails: The tail of each query, if heads are asked for.

        Returns:
            The weighted sum of the hard and the soft part, differentiable in the scores.

        Raises:
            InputError: The batch is empty, a score is NaN, shapes do not fit, or the table does not have the candidates.
        """
        if self.hard == 0 and self.soft == 0:
            return scores.new_zeros(())
        numbers, names = self._ids(scores, relations, heads, tails)
        asks_tail = heads is not None
        probability = self._probabilities(scores, names, numbers, asks_tail=asks_tail)
        entries = self.numbered.entries(names, numbers, heads=asks_tail)
        hard = self._expected_hard(probability, entries)
        soft = self._soft_excess(probability, entries)
        self.last["hard_sum"] = float(hard.detach())
        self.last["hard"] = float(hard.detach()) / len(names)
        self.last["soft"] = float(soft.detach())
        return self.hard * hard / len(names) + self.soft * soft

    def _ids(self, scores: Any, relations: Any, heads: Any, tails: Any) -> tuple[Any, Any]:
        """The given entities and the relations of a batch that fits its scores."""
        if (heads is None) == (tails is None):
            raise InputError(
                Diagnostic("E813", "a batch of queries needs either heads or tails", helps=("give the ones that are known",))
            )
        given = heads if heads is not None else tails
        numbers, names = (torch.as_tensor(ids).detach().cpu().numpy() for ids in (given, relations))
        if not len(names):
            raise InputError(Diagnostic("E813", "the batch is empty", helps=("skip batches without queries",)))
        if tuple(scores.shape) != (len(names), self.numbered.entities) or len(numbers) != len(names):
            wanted = f"{len(names):,} queries and {self.numbered.entities:,} entities"
            message = f"scores of shape {tuple(scores.shape)} do not fit {wanted}"
            raise InputError(Diagnostic("E813", message, helps=("give a score for every entity: queries by entities",)))
        for what, ids, most in (("entity", numbers, self.numbered.entities), ("relation", names, self.numbered.relations)):
            if ids.min() < 0 or ids.max() >= most:
                wrong = ids[(ids < 0) | (ids >= most)][0]
                message = f"`{wrong}` is no id of one of {most:,}: {what}"
                raise InputError(Diagnostic("E813", message, helps=("ids count from 0, as the labels that the term was given",)))
        self._refuse_scores(scores.detach())
        return numbers, names

    @staticmethod
    def _refuse_scores(scores: Any) -> None:
        if bool(torch.isnan(scores).any()):
            helps = ("the model has diverged: lower the learning rate or a weight",)
            raise InputError(Diagnostic("E813", "a score is NaN", helps=helps))
        if bool(torch.isinf(scores.amax(dim=1)).any()):
            helps = ("give each query a finite best score; answers that are left out may have `-inf`",)
            raise InputError(Diagnostic("E813", "the best score of a query is infinite, so it has no distribution", helps=helps))

    def _probabilities(self, scores: Any, relations: Any, known_ends: Any, *, asks_tail: bool) -> Any:
        """The distribution over answers that are not observed; zero if all answers of a query are."""
        queries, answers = self.numbered.known(relations, known_ends, heads=asks_tail)
        known = torch.zeros(scores.shape, dtype=torch.bool, device=scores.device)
        known[torch.from_numpy(queries), torch.from_numpy(answers)] = True
        complete = known.all(dim=1, keepdim=True)
        masked = scores.masked_fill(known & ~complete, -torch.inf)
        return torch.softmax(masked, dim=1) * ~complete

    def _taken(self, probability: Any, entries: Entries) -> Any:
        """The probability of each entry's answer; for the answer `EVERY`, the sum over all answers."""
        queries = torch.from_numpy(entries.query).to(probability.device)
        answers = torch.from_numpy(entries.answer).to(probability.device)
        single = probability[queries, answers.clamp(min=0)]
        return torch.where(answers == EVERY, probability.sum(dim=1)[queries], single)

    def _expected_hard(self, probability: Any, entries: Entries) -> Any:
        weights = self._hard_weights[entries.rule] * entries.counts[:, 1]
        used = np.flatnonzero(weights)
        chosen = Entries(entries.query[used], entries.answer[used], entries.rule[used], entries.counts[used])
        values = torch.from_numpy(weights[used]).to(probability)
        return (self._taken(probability, chosen) * values).sum()

    def _soft_excess(self, probability: Any, entries: Entries) -> Any:
        if self.soft == 0 or not len(self._soft):
            return probability.new_zeros(())
        used = np.flatnonzero(self._soft_place[entries.rule] >= 0)
        chosen = Entries(entries.query[used], entries.answer[used], entries.rule[used], entries.counts[used])
        place = torch.from_numpy(self._soft_place[chosen.rule]).to(probability.device)
        taken = self._taken(probability, chosen)
        zeros = probability.new_zeros(len(self._soft))
        parts = [zeros.index_add(0, place, taken * torch.from_numpy(chosen.counts[:, column]).to(probability)) for column in (1, 2)]
        refuted = self.momentum * self._refuted.to(probability) + parts[0]
        evaluable = self.momentum * self._evaluable.to(probability) + parts[1]
        self._refuted, self._evaluable = refuted.detach().double(), evaluable.detach().double()
        judged = evaluable > 0
        ratio = torch.where(judged, refuted / evaluable.clamp(min=1e-12), zeros) / self._rates.to(probability)
        share = evaluable.detach() / evaluable.detach().sum().clamp(min=1e-12)
        soft_names = [self.table.rules[rule].name for rule in self.table.soft]
        self.last["ratios"] = {
            name: float(value) for name, value, is_judged in zip(soft_names, ratio.detach(), judged, strict=True) if is_judged
        }
        return (share * torch.relu(ratio - 1)).sum()


class NumericViolations(torch.nn.Module):
    """A term of a loss: `loss + term(predicted)`.

    The term is the mean distance of predicted values beyond the limits of rules, over the rows of their groups, as a multiple of
    the limit. Hard rules always count. Soft rules count while predictions break them more often than the data do.

    Attributes:
        last: Each rule's rate at the last predictions, divided by its rate in the data, for logging.
    """

    def __init__(self, steps: NumericSteps, *, weight: float = 1.0, gate: bool = True) -> None:
        """Prepare a term.

        Args:
            steps: From `rulescore.mending.numeric.numeric_steps`.
            weight: The weight of the term.
            gate: Whether soft rules count only while they are broken more often than in the data.

        Raises:
            InputError: A rule limits no distance.
        """
        super().__init__()
        refuse_bounds(steps)
        self.steps, self.weight, self.gate = steps, weight, gate
        self.last: dict[str, float | None] = {}

    def forward(self, predicted: Any) -> Any:
        """The term of all predictions.

        Args:
            predicted: A value for each row of `steps.ids`, in that order.

        Returns:
            A number, differentiable in the values.
        """
        if self.weight == 0:
            return predicted.new_zeros(())
        values = predicted.detach().cpu().double().numpy()
        counts = self.steps.contributions(values)
        total = predicted.new_zeros(())
        for rule in self.steps.rules:
            _, refuted, evaluable = counts[rule.name].sum(axis=0)
            rate = refuted / evaluable if evaluable else 0.0
            self.last[rule.name] = rate / rule.rate if rule.rate else None
            if not (self.gate and rule.rate and rate <= rule.rate):
                total = total + _Excess.apply(predicted, self.steps, rule)
        return self.weight * total


class _Excess(torch.autograd.Function):
    """The mean excess of a rule, and its derivative, which the step functions give."""

    @staticmethod
    def forward(context: Any, predicted: Any, steps: NumericSteps, rule: RuleSteps) -> Any:
        loss, slope = steps.excess(rule, predicted.detach().cpu().double().numpy())
        context.save_for_backward(torch.from_numpy(slope).to(predicted) / len(slope))
        return torch.tensor(loss.mean()).to(predicted)

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        (slope,) = context.saved_tensors
        return gradient * slope, None, None
