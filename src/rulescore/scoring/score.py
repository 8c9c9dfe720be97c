"""Turns counts into kinds, rates, scores, shares and the two aggregates, with warnings about numbers that say little. Pure
arithmetic, no database.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rulescore.errors import Diagnostic, Place, Severity, Source
from rulescore.language.parser import parse
from rulescore.language.printer import print_rule
from rulescore.language.syntax import RowAtom
from rulescore.language.trees import dependency
from rulescore.scoring.results import (
    Counts,
    Measure,
    ModelResult,
    ModelRuleResult,
    PredictionCounts,
    PredictionFindings,
    RuleInfo,
    RuleKind,
    RuleResult,
)

_KIND_ORDER = tuple(RuleKind)


def excess(rule: RuleResult, counts: Counts) -> float:
    """How many more violations there are than expected from the data's rate. All violations count for a hard rule, and for a rule
    that has no rate in the data."""
    allowed = 0.0 if rule.kind is RuleKind.HARD else rule.dataset.rate or 0.0
    return counts.refuted - allowed * counts.evaluable


def separation(rule: RuleResult, models: Collection[str]) -> float:
    """The greater of two distances: between the models, and between the worst model and the data. Without models: the violations in
    the data."""
    if not models:
        return rule.dataset.refuted
    excesses = [excess(rule, rule.models[model].counts) for model in models]
    return max(max(excesses) - min(excesses), *excesses)


def most_telling(rules: Iterable[RuleResult], models: Collection[str], most: int | None = None) -> list[RuleResult]:
    """The rules that separate the models most or are broken most; then hard rules first, and the worst of each kind first. Half of
    the places are kept for hard rules, because every violation of them counts. Undetermined rules come last, because no score
    counts them. Without models, only the violations of the data count."""
    worst = sorted(
        rules,
        key=lambda rule: (
            rule.kind is RuleKind.UNDETERMINED,
            -separation(rule, models),
            rule.info.unrefutable,
            -sum(rule.models[model].counts.refuted for model in models),
        ),
    )
    if most is not None:
        hard = [rule for rule in worst if rule.kind is RuleKind.HARD and separation(rule, models) > 0][: most // 2]
        kept = {id(rule) for rule in hard}
        worst = [*hard, *(rule for rule in worst if id(rule) not in kept)][:most]
        worst.sort(key=lambda rule: -separation(rule, models))
    return sorted(worst, key=lambda rule: _KIND_ORDER.index(rule.kind)) if models else worst


FEW_CASES = 10
_MOST_EXAMPLES = 3


def broken_hard_rules(results: Iterable[RuleResult]) -> Iterator[Diagnostic]:
    """A warning for each rule that is declared hard, and that the data break."""
    for result in results:
        if result.kind is RuleKind.HARD and result.dataset.refuted:
            name, counts = result.info.name, result.dataset
            # All evaluable groundings of a denial constraint are violations, so we print no `of …`.
            times = f"{counts.refuted:,}" if result.info.denial else f"{counts.refuted:,} of {counts.evaluable:,}"
            noun = "grounding" if times == "1" else "groundings"
            yield Diagnostic(
                "W503",
                f"the data break the hard rule `{name}` in {times} {noun}; violations of models may be the data's own",
                place=None if result.info.place is None else Place(result.info.place),
                helps=(
                    f"`rulescore violations --dataset --rule {shlex.quote(name)}` lists them",
                    "without `@hard` the rule is soft: models are compared with the rate of the data",
                ),
                severity=Severity.WARNING,
            )


def few_cases(results: Sequence[RuleResult]) -> Iterator[Diagnostic]:
    """A warning if most violations of hard rules break rules that are hard only because too few cases could have broken them."""
    hard = [(_violations(result), result) for result in results if result.kind is RuleKind.HARD]
    weak = [(number, result) for number, result in hard if number and _rests_on_few(result)]
    total, few = sum(number for number, _ in hard), sum(number for number, _ in weak)
    if 2 * few <= total:
        return
    most = [result for _, result in sorted(weak, key=lambda pair: -pair[0])]
    yield Diagnostic(
        "W504",
        f"most violations of hard rules ({few:,} of {total:,}) break rules with fewer than {FEW_CASES} cases in the data",
        notes=(
            *(_example(result) for result in most[:_MOST_EXAMPLES]),
            *([f"and {len(most) - _MOST_EXAMPLES:,} more"] if len(most) > _MOST_EXAMPLES else []),
        ),
        helps=(
            f"`--hard-needs {FEW_CASES}`, or `hard_needs={FEW_CASES}`: rules with fewer cases are undetermined",
            "declare rules `@hard` that hold whatever the data say",
        ),
        severity=Severity.WARNING,
    )


def _violations(result: RuleResult) -> int:
    return sum(result_of_model.counts.refuted for result_of_model in result.models.values())


def _rests_on_few(result: RuleResult) -> bool:
    return result.info.declared_kind is None and 0 < result.dataset.evaluable < FEW_CASES


def _example(result: RuleResult) -> str:
    bound = result.rate_bound.value
    assert bound is not None
    return f"`{result.info.name}`: broken in 0 of {result.dataset.evaluable:,}, so its rate is at most {bound:.0%} (95% confidence)"


UNMEASURED = "unmeasured"
UNREFUTABLE = "unrefutable"
NONE_JUDGED = "0, none judged"
WHY_UNMEASURED = f"{UNMEASURED}: none of the predictions is of a predicate that stands in a rule which can be refuted"
WHY_NONE_JUDGED = (
    f"{NONE_JUDGED}: no hard rule that can be refuted has an evaluable grounding with a prediction, and no hard denial constraint "
    "concerns a prediction whose constants all occur in the data"
)
WHY_RULE_JUDGED_NONE = f"{NONE_JUDGED}: the rule has no evaluable grounding with a prediction"
WHY_UNREFUTABLE = f"{UNREFUTABLE}: nothing declared could refute it"
NO_HARD_RULE = "there is no hard rule"
WHY_NONE_REFUTABLE = f"{UNREFUTABLE}: nothing declared could refute any of these hard rules"


@dataclass(frozen=True, slots=True)
class _Judged:
    """A rule with its dataset counts and its kind, before any model is looked at."""

    info: RuleInfo
    dataset: Counts
    kind: RuleKind
    reason: str


def score(
    rules: Sequence[RuleInfo],
    dataset: Sequence[Counts],
    models: Mapping[str, Sequence[Counts]],
    predictions: Mapping[str, PredictionCounts],
    findings: Mapping[str, PredictionFindings] | None = None,
    hard_needs: int = 1,
) -> tuple[tuple[RuleResult, ...], tuple[ModelResult, ...]]:
    """One result per rule, in the order given, and one per model, in the order of `models`.

    `dataset` and each of `models` hold one entry per rule, in the order of `rules`. `findings`: by model.
    `hard_needs`: how many evaluable groundings over the data make a rule hard that none of them breaks.
    """
    findings = findings or {}
    judged = [_Judged(info, counts, *kind_of(info, counts, hard_needs)) for info, counts in zip(rules, dataset, strict=True)]
    by_model = {model: _model_rules(judged, counts, findings.get(model)) for model, counts in models.items()}
    rule_results = tuple(
        RuleResult(rule.info, rule.kind, rule.reason, rule.dataset, {model: by_model[model][index] for model in models})
        for index, rule in enumerate(judged)
    )
    model_results = tuple(_model(name, predictions[name], judged, by_model[name], findings.get(name)) for name in models)
    return rule_results, model_results


def violated_denials(results: Iterable[RuleResult]) -> tuple[Diagnostic, ...]:
    """A warning for each denial constraint that is soft only because the data violate it: its score says nothing."""
    return tuple(
        Diagnostic(
            "W501",
            f"the data violate the denial constraint `{result.info.name}`, so it is soft and always scores 1",
            place=None if result.info.place is None else Place(result.info.place),
            notes=(f"{result.dataset.refuted:,} groundings of its body hold in the observed facts",),
            helps=("declare it hard with `@hard` to count the violations that predictions add", *_with_a_rate(result.info)),
            severity=Severity.WARNING,
        )
        for result in results
        if result.info.denial and result.info.declared_kind is None and result.kind is RuleKind.SOFT
    )


def _with_a_rate(info: RuleInfo) -> Iterator[str]:
    """A denial constraint of one `!=` as the equality that it asks for."""
    for rule in parse(Source(info.name, f"{info.text}.")).rules:
        if (dependent := dependency(rule)) is not None:
            yield f"or write `{print_rule(dependent)}`, which has the same violations, and a rate"
            if any(isinstance(condition, RowAtom) for condition in dependent.body.conditions):
                yield "name the keys of two rows of one table and let them differ, `A != B`: a row with itself says nothing"


def unmeasured_models(models: Iterable[ModelResult]) -> tuple[Diagnostic, ...]:
    """A warning for each model whose scores are 0 whatever it predicts."""
    return tuple(_unmeasured(model, model.findings) for model in models if model.findings is not None and model.unmeasured)


def _unmeasured(model: ModelResult, findings: PredictionFindings) -> Diagnostic:
    number = model.predictions.distinct
    stands = "of a predicate that stands in a rule which can be refuted"
    notes = ["its violations are 0 by arithmetic, which says nothing about it"]
    helps = ["say what refutes the heads of rules that have its predicates, or add rules"]
    if not number:
        why = "it has no predictions"
        helps = ["give its predictions, or leave it out"]
    else:
        why = f"none of its {number:,} predictions is {stands}" if number > 1 else f"its only prediction is not {stands}"
    if findings.unconcerned:
        unconcerned = f"{model.unconcerned:,} of {number:,}, {findings.unconcerned_text}"
        notes.append(f"predictions of predicates that no rule mentions: {unconcerned}")
        helps.append("check the names of its predicates, and how its predictions were read")
    return Diagnostic(
        "W502", f"model `{model.name}` is unmeasured: {why}", notes=tuple(notes), helps=tuple(helps), severity=Severity.WARNING
    )


def kind_of(info: RuleInfo, dataset: Counts, hard_needs: int = 1) -> tuple[RuleKind, str]:
    """The kind of a rule, and why."""
    if info.declared_kind is not None:
        return RuleKind(info.declared_kind), f"declared {info.declared_kind}"
    if not dataset.evaluable and info.denial:
        return RuleKind.HARD, "a denial constraint that the data never violate"
    if not dataset.evaluable:
        return RuleKind.UNDETERMINED, "no evaluable grounding in the data"
    if not dataset.refuted and info.unrefutable:
        return RuleKind.HARD, f"nothing declared could refute it (0 of {dataset.evaluable:,})"
    if not dataset.refuted and dataset.evaluable < hard_needs:
        never = f"the data never contradict it (0 of {dataset.evaluable:,})"
        return RuleKind.UNDETERMINED, f"{never}, but a hard rule needs {hard_needs:,}"
    if not dataset.refuted:
        return RuleKind.HARD, f"the data never contradict it (0 of {dataset.evaluable:,})"
    return RuleKind.SOFT, f"the data contradict it ({dataset.refuted:,} of {dataset.evaluable:,})"


def _model_rules(rules: Sequence[_Judged], counts: Sequence[Counts], findings: PredictionFindings | None) -> list[ModelRuleResult]:
    total = sum(count.evaluable for count in counts)
    denials = frozenset[int]() if findings is None else findings.denials
    return [
        ModelRuleResult(count, _rule_score(rule, count, findings, judges=number in denials), _share(count, total))
        for number, (rule, count) in enumerate(zip(rules, counts, strict=True))
    ]


def _rule_score(rule: _Judged, counts: Counts, findings: PredictionFindings | None, *, judges: bool) -> Measure:
    """`judges`: the rule is a denial constraint that concerns a linked prediction, and so judges it without a grounding."""
    match rule.kind:
        case RuleKind.HARD if rule.info.unrefutable:
            return Measure(float(counts.refuted), WHY_UNREFUTABLE, UNREFUTABLE)
        case RuleKind.HARD:
            nothing = counts.evaluable == 0 and not judges
            return _marked(Measure(float(counts.refuted)), findings, WHY_RULE_JUDGED_NONE if nothing else None)
        case RuleKind.UNDETERMINED:
            few = "fewer evaluable groundings in the data than `hard_needs`"
            has = few if rule.dataset.evaluable else "no evaluable grounding in the data"
            return Measure(None, f"the rule is neither hard nor soft: it has {has}")
        case RuleKind.SOFT:
            return _soft_rule_score(rule.dataset, counts)


def _marked(measure: Measure, findings: PredictionFindings | None, why_none_judged: str | None = None) -> Measure:
    """The measure. It gets a mark if it is 0 only because the model is unmeasured, or because nothing was judged. Without findings
    we cannot tell."""
    if measure.value is None or findings is None:
        return measure
    if not findings.measured:
        return Measure(measure.value, WHY_UNMEASURED, UNMEASURED)
    if why_none_judged is None or measure.mark is not None:
        return measure
    return Measure(measure.value, why_none_judged, NONE_JUDGED)


def _soft_rule_score(dataset: Counts, counts: Counts) -> Measure:
    if not dataset.evaluable:
        return Measure(None, "declared soft, but it has no evaluable grounding in the data to compare with")
    if not dataset.refuted:
        return Measure(None, "declared soft, but the data never contradict it: its dataset rate is 0")
    if not counts.evaluable:
        return Measure(None, "no prediction takes part in an evaluable grounding")
    # One division of integers is correctly rounded, even if the counts are large.
    return Measure((counts.refuted * dataset.evaluable) / (counts.evaluable * dataset.refuted))


def _share(counts: Counts, total: int) -> Measure:
    if not total:
        return Measure(None, "no rule has an evaluable grounding with a prediction")
    return Measure(counts.evaluable / total)


def _model(
    name: str,
    predictions: PredictionCounts,
    rules: Sequence[_Judged],
    results: Sequence[ModelRuleResult],
    findings: PredictionFindings | None,
) -> ModelResult:
    hard = [(rule, result) for rule, result in zip(rules, results, strict=True) if rule.kind is RuleKind.HARD]
    soft = [(rule, result) for rule, result in zip(rules, results, strict=True) if rule.kind is RuleKind.SOFT]
    grounded = [(rule, result) for rule, result in hard if result.counts.evaluable]
    total = sum(result.counts.evaluable for result in results)
    scored = [(rule, result) for rule, result in soft if result.score.value is not None]
    none_judged = None if any(result.score.mark is None for _, result in hard) else WHY_NONE_JUDGED
    return ModelResult(
        name,
        predictions,
        hard_score=_marked(_weighted_mean(hard, NO_HARD_RULE), findings, none_judged),
        soft_score=_soft_sum(scored, total, bool(soft)),
        hard_mean=_marked(_weighted_mean(grounded, "no hard rule has an evaluable grounding with a prediction"), findings),
        soft_mean=_soft_sum(scored, sum(result.counts.evaluable for _, result in scored), bool(soft)),
        evaluable=total,
        findings=findings,
        violating_reason=_why_none_violates([rule.info for rule, _ in hard], findings, none_judged),
    )


def _why_none_violates(hard: Sequence[RuleInfo], findings: PredictionFindings | None, none_judged: str | None) -> str | None:
    if findings is not None and not findings.measured:
        return WHY_UNMEASURED
    if not hard:
        return NO_HARD_RULE
    return WHY_NONE_REFUTABLE if all(rule.unrefutable for rule in hard) else none_judged


def _weighted_mean(hard: Sequence[tuple[_Judged, ModelRuleResult]], reason_if_none: str) -> Measure:
    """Exact: weights are summed as fractions, and there are few different ones."""
    refuted: Counter[float] = Counter()
    number: Counter[float] = Counter()
    for rule, result in hard:
        refuted[rule.info.weight] += result.counts.refuted
        number[rule.info.weight] += 1
    if not number:
        return Measure(None, reason_if_none)
    weights = sum(Fraction(weight) * times for weight, times in number.items())
    if not weights:
        return Measure(None, "the weights of these hard rules sum to 0")
    mean = float(sum(Fraction(weight) * times for weight, times in refuted.items()) / weights)
    if all(rule.info.unrefutable for rule, _ in hard):
        return Measure(mean, WHY_NONE_REFUTABLE, UNREFUTABLE)
    return Measure(mean)


def _soft_sum(scored: Sequence[tuple[_Judged, ModelRuleResult]], total: int, any_soft: bool) -> Measure:
    """Σ W·RVS with W = evaluable / total; a rule's evaluable count cancels against the one in its score."""
    if not any_soft:
        return Measure(None, "there is no soft rule")
    if not scored:
        return Measure(None, "no soft rule has a defined score")
    terms = (result.counts.refuted * rule.dataset.evaluable / rule.dataset.refuted for rule, result in scored)
    return Measure(math.fsum(terms) / total)
