"""Compares gates with a result: the number that a gate reads, the bound, and whether the gate passes. Pure arithmetic.

A number that says nothing passes no gate. Such numbers are the scores of an unmeasured model, the numbers of a rule that nothing
could refute, undefined numbers and, unless the gate allows it, a 0 because nothing was judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.gates import (
    COUNTED,
    Gate,
    GateOperator,
    Limit,
    Measured,
    OfModel,
    OfRule,
    Quantity,
    RuleQuantity,
    Threshold,
    Worse,
)
from rulescore.scoring.results import Counts, Measure, ModelResult, RuleKind, RuleResult
from rulescore.scoring.score import NO_HARD_RULE, NONE_JUDGED, WHY_NONE_JUDGED, WHY_UNMEASURED, WHY_UNREFUTABLE
from rulescore.setting.choices import GateSeverity

_COMPARED = (OfModel(Quantity.HARD), OfModel(Quantity.SOFT), OfModel(Quantity.VIOLATING))

ANY_NUMBER = "any number"
"""What a gate reads that names no number."""


@dataclass(frozen=True, slots=True)
class GateReading:
    """One number that a gate read. `share`: it is a share, shown to people in percent. `bound`: the number it was compared with,
    None if there was none. `saved`: the number in the saved result. `reason`: why there is nothing to compare; then the gate is not
    met."""

    measure: str
    value: int | float | None
    met: bool
    share: bool = False
    bound: int | float | None = None
    saved: int | float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A gate held against one model, or against the data; `model` is None if there is none. `notes`: what a passed gate does not
    guarantee."""

    gate: Gate
    model: str | None
    readings: tuple[GateReading, ...]
    notes: tuple[str, ...] = ()
    of_data: bool = False

    @property
    def met(self) -> bool:
        return all(reading.met for reading in self.readings)

    @property
    def fails(self) -> bool:
        """Whether the build must fail because of this outcome."""
        return not self.met and self.gate.severity is GateSeverity.ERROR


def judge(gates: Iterable[Gate], evaluation: Evaluation, baselines: Mapping[str, Evaluation] | None = None) -> tuple[Outcome, ...]:
    """One outcome for each gate and model, gate by gate. `baselines`: saved results by the names that gates give them."""
    return tuple(outcome for gate in gates for outcome in _outcomes(gate, evaluation, baselines or {}))


def judge_data(gates: Iterable[Gate], evaluation: Evaluation) -> tuple[Outcome, ...]:
    """One outcome for each gate on an audit."""
    return tuple(_outcome_of_data(gate, evaluation) for gate in gates)


def _outcome_of_data(gate: Gate, evaluation: Evaluation) -> Outcome:
    limit = gate.condition
    assert isinstance(limit, Limit)
    named = isinstance(limit.what, OfRule)
    rules = [rule for rule in evaluation.rule_results if not isinstance(limit.what, OfRule) or rule.info.name == limit.what.rule]
    measure = _of_rules(limit.what.quantity, [(rule, rule.dataset) for rule in rules])
    exempt = [rule for rule in rules if rule.info.unrefutable]
    notes = (f"{len(exempt):,} of {len(rules):,} rules looked at cannot be refuted",) if exempt and not named else ()
    if limit.what == OfModel(Quantity.RATE) and measure.value:
        highest = next(rule.info.name for rule in rules if rule.dataset.rate == measure.value)
        notes = (f"that of `{highest}`", *notes)
    return Outcome(gate, None, (_held(limit, measure),), notes, of_data=True)


def _no_rate(rules: Sequence[RuleResult]) -> str:
    """Denial constraints have evaluable groundings only if the data break them."""
    if all(rule.info.denial for rule in rules if not rule.info.unrefutable):
        return "denial constraints that nothing breaks have no rate; `refuted > 0` says whether anything breaks them"
    return "no rule has an evaluable grounding"


def _of_rules(quantity: Quantity | RuleQuantity, counts: Sequence[tuple[RuleResult, Counts]]) -> Measure:
    """The highest rate of the rules that can be refuted, or their groundings together."""
    refutable = [counted for rule, counted in counts if not rule.info.unrefutable]
    if not refutable:
        return Measure(None, WHY_UNREFUTABLE)
    match quantity:
        case Quantity.RATE | RuleQuantity.RATE:
            rates = [counted.rate for counted in refutable if counted.rate is not None]
            return Measure(max(rates)) if rates else Measure(None, _no_rate([rule for rule, _ in counts]))
        case Quantity.REFUTED | RuleQuantity.REFUTED:
            return Measure(sum(counted.refuted for counted in refutable))
        case _:
            return Measure(sum(counted.evaluable for counted in refutable))


def counts_behind(rule: RuleResult, outcome: Outcome) -> Counts:
    """The counts of a rule for an outcome: under the outcome's model, or over the data."""
    return rule.dataset if outcome.model is None else rule.models[outcome.model].counts


_MOST_WORST = 3


def worst_rules(evaluation: Evaluation, outcome: Outcome) -> tuple[RuleResult, ...]:
    """The rules behind an outcome whose violations exceed the data's rate most; all violations of hard rules count. If no rule
    exceeds it, the rules with the highest rates. Only rules of the kind that the gate reads, or the one rule that it names."""
    if outcome.of_data:
        return _worst_over_data(evaluation, outcome)
    if outcome.model is None:
        return ()
    named = {quantity.rule for quantity in _looked_at(outcome.gate) if isinstance(quantity, OfRule)}
    kinds = {kind for quantity in _looked_at(outcome.gate) for kind in _kinds(quantity)}
    behind = [
        (rule, _excess(rule, outcome.model), rule.models[outcome.model].counts)
        for rule in evaluation.rule_results
        if rule.info.name in named or (not named and rule.kind in kinds)
    ]
    above = [(more, rule) for rule, more, _ in behind if more > 0]
    worst = above or [(counts.rate or 0, rule) for rule, _, counts in behind if counts.refuted or named]
    return tuple(rule for _, rule in sorted(worst, key=lambda ranked: ranked[0], reverse=True)[:_MOST_WORST])


def _worst_over_data(evaluation: Evaluation, outcome: Outcome) -> tuple[RuleResult, ...]:
    """The rules with the highest rates, or the rule that the gate names."""
    named = {quantity.rule for quantity in _looked_at(outcome.gate) if isinstance(quantity, OfRule)}
    rules = [rule for rule in evaluation.rule_results if rule.info.name in named or (not named and rule.dataset.refuted)]
    return tuple(sorted(rules, key=lambda rule: rule.dataset.rate or 0, reverse=True)[:_MOST_WORST])


def _looked_at(gate: Gate) -> Sequence[Measured]:
    return _COMPARED if gate.condition.what is None else (gate.condition.what,)


def _kinds(what: Measured) -> tuple[RuleKind, ...]:
    match what.quantity:
        case Quantity.HARD | Quantity.HARD_MEAN | Quantity.VIOLATING | Quantity.VIOLATING_NEW:
            return (RuleKind.HARD,)
        case Quantity.SOFT | Quantity.SOFT_MEAN:
            return (RuleKind.SOFT,)
        case Quantity.VIOLATING_ANY:
            return (RuleKind.HARD, RuleKind.SOFT, RuleKind.UNDETERMINED)
        case _:
            return ()


def _excess(result: RuleResult, model: str) -> float:
    counts = result.models[model].counts
    if result.kind is not RuleKind.SOFT or result.dataset.rate is None:
        return counts.refuted
    return counts.refuted - counts.evaluable * result.dataset.rate if counts.refuted else 0


def _outcomes(gate: Gate, evaluation: Evaluation, baselines: Mapping[str, Evaluation]) -> Iterator[Outcome]:
    chosen = [model for model in evaluation.model_results if gate.models is None or model.name in gate.models]
    if not chosen:
        label = ANY_NUMBER if gate.condition.what is None else str(gate.condition.what)
        yield Outcome(gate, None, (GateReading(label, None, met=False, reason="there is no model"),))
    for model in chosen:
        match gate.condition:
            case Limit() as limit:
                readings: tuple[GateReading, ...] = (_limited(limit, gate, evaluation, model),)
            case Worse() as worse:
                readings = tuple(_compared(worse, gate, evaluation, model, baselines[worse.baseline]))
        yield Outcome(gate, model.name, readings, tuple(_notes(gate, evaluation, model)))


def _notes(gate: Gate, evaluation: Evaluation, model: ModelResult) -> Iterator[str]:
    kinds = {kind for quantity in _looked_at(gate) if isinstance(quantity, OfModel) for kind in _kinds(quantity)}
    rules = [rule for rule in evaluation.rule_results if rule.kind in kinds]
    exempt = sum(rule.info.unrefutable for rule in rules)
    if exempt:
        yield f"{exempt:,} of {len(rules):,} rules looked at cannot be refuted"


def _limited(limit: Limit, gate: Gate, evaluation: Evaluation, model: ModelResult) -> GateReading:
    return _held(limit, _measure(limit.what, gate, evaluation, model, share=limit.bound.percent))


def _held(limit: Limit, measure: Measure) -> GateReading:
    bound, share = limit.bound.value, limit.bound.percent
    if measure.value is None or measure.reason is not None:
        return GateReading(str(limit.what), measure.value, False, share, bound, reason=measure.reason)
    return GateReading(str(limit.what), measure.value, not _holds(measure.value, limit.operator, bound), share, bound)


def _holds(value: float, operator: GateOperator, bound: float) -> bool:
    match operator:
        case GateOperator.ABOVE:
            return value > bound
        case GateOperator.AT_LEAST:
            return value >= bound
        case GateOperator.BELOW:
            return value < bound
        case GateOperator.AT_MOST:
            return value <= bound


def _compared(worse: Worse, gate: Gate, evaluation: Evaluation, model: ModelResult, baseline: Evaluation) -> Iterator[GateReading]:
    """Reads the numbers that both results have. If only one of them has a number, it is not as good as before: the gate is not
    met."""
    label = ANY_NUMBER if worse.what is None else str(worse.what)
    before = next((earlier for earlier in baseline.model_results if earlier.name == model.name), None)
    if evaluation.convention != baseline.convention:
        reason = f"`{worse.baseline}` was counted by the convention `{baseline.convention}`, this by `{evaluation.convention}`"
        yield GateReading(label, None, met=False, reason=reason)
    elif before is None:
        yield GateReading(label, None, met=False, reason=f"`{worse.baseline}` has no model `{model.name}`")
    else:
        compared = [_COMPARED, (worse.what,)][worse.what is not None]
        readings = [_against(worse, gate, what, (evaluation, model), (baseline, before)) for what in compared if what is not None]
        known = [reading for reading in readings if reading is not None]
        yield from known or [GateReading(label, None, met=False, reason="neither result has a number to compare")]


def _against(
    worse: Worse, gate: Gate, what: Measured, now_in: tuple[Evaluation, ModelResult], then_in: tuple[Evaluation, ModelResult]
) -> GateReading | None:
    """None if neither result has such a number."""
    share = what.quantity in COUNTED and worse.by.percent
    now = _measure(what, gate, *now_in, share=share)
    then = _measure(what, gate, *then_in, share=share)
    neither = (now.value is None and then.value is None) or now.reason == then.reason == NO_HARD_RULE
    if neither and worse.what is None:
        return None
    reason = now.reason or (None if then.reason is None else f"in `{worse.baseline}`: {then.reason}")
    if now.value is None or then.value is None or reason is not None:
        return GateReading(str(what), now.value, False, share, saved=then.value, reason=reason)
    bound = _allowed(then.value, worse.by)
    return GateReading(str(what), now.value, now.value <= bound, share, bound, then.value)


def _allowed(before: float, by: Threshold) -> int | float:
    """The greatest number that is not worse. Computed exactly and rounded once, so 1.05 is 5% more than 1."""
    exact = Fraction(before) * (1 + by.number / 100) if by.percent else Fraction(before) + by.number
    return exact.numerator if exact.denominator == 1 else float(exact)


def _measure(what: Measured, gate: Gate, evaluation: Evaluation, model: ModelResult, *, share: bool) -> Measure:
    """A number, with a reason if it is undefined or says nothing. `share`: of the predictions, instead of their number."""
    if isinstance(what, OfRule):
        measure = _of_rule(what, evaluation, model)
    elif what.quantity in {Quantity.RATE, Quantity.REFUTED}:
        measure = _of_rules(what.quantity, [(rule, rule.models[model.name].counts) for rule in evaluation.rule_results])
        measure = Measure(measure.value, measure.reason or (None if model.evaluable else WHY_NONE_JUDGED))
    elif what.quantity in COUNTED:
        measure = _counts_of_kind(what.quantity, model, share=share)
    else:
        measure = _of_model(what.quantity, model)
    if model.unmeasured:
        return Measure(measure.value, WHY_UNMEASURED)
    allowed = gate.if_judged and measure.value is not None and (measure.reason or "").startswith(NONE_JUDGED)
    return Measure(measure.value) if allowed else measure


def _of_model(quantity: Quantity, model: ModelResult) -> Measure:
    match quantity:
        case Quantity.HARD:
            return model.hard_score
        case Quantity.SOFT:
            return model.soft_score
        case Quantity.HARD_MEAN:
            return model.hard_mean
        case Quantity.SOFT_MEAN:
            return model.soft_mean
        case _:
            return Measure(model.evaluable)


def _counts_of_kind(quantity: Quantity, model: ModelResult, *, share: bool) -> Measure:
    """A number of predictions, or their share: of the new ones, if only those are counted, else of all."""
    number: int | None = getattr(model, quantity)
    if number is None:
        return Measure(None, "single predictions were not counted")
    of_all = quantity in {Quantity.VIOLATING, Quantity.VIOLATING_ANY, Quantity.NEW}
    whole = model.predictions.distinct if of_all else model.new
    value = number / whole if share and whole else number
    match quantity:
        case Quantity.VIOLATING | Quantity.VIOLATING_NEW:
            return Measure(value, model.violating_reason)
        case Quantity.VIOLATING_ANY if model.violating_reason is not None and not model.evaluable:
            return Measure(value, WHY_NONE_JUDGED)
        case _:
            return Measure(value)


def _of_rule(what: OfRule, evaluation: Evaluation, model: ModelResult) -> Measure:
    rule = next((result for result in evaluation.rule_results if result.info.name == what.rule), None)
    if rule is None:
        return Measure(None, f"there is no rule `{what.rule}`")
    result = rule.models[model.name]
    match what.quantity:
        case RuleQuantity.SCORE:
            measure = result.score
        case RuleQuantity.RATE if result.counts.rate is None:
            measure = Measure(None, "no prediction takes part in an evaluable grounding")
        case RuleQuantity.RATE:
            measure = Measure(result.counts.rate)
        case RuleQuantity.REFUTED:
            measure = Measure(result.counts.refuted, result.score.reason if result.score.mark == NONE_JUDGED else None)
        case RuleQuantity.EVALUABLE:
            measure = Measure(result.counts.evaluable)
        case RuleQuantity.SHARE:
            measure = result.share
    return Measure(measure.value, WHY_UNREFUTABLE) if rule.info.unrefutable else measure
