"""Says in words what a result shows, first on a terminal and in a report. Each function returns a sentence, or None if the numbers
and the comparison do not support it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from rulescore.reporting.listing import CellKind, counted, of_all, shown
from rulescore.reporting.wording import Sentence, frequency, listed, percent, said, strong
from rulescore.scoring.evaluation import Evaluation, RightPredictions
from rulescore.scoring.labels import is_of_facts
from rulescore.scoring.results import ModelResult, RuleKind, RuleResult
from rulescore.scoring.score import FEW_CASES, NO_HARD_RULE, UNMEASURED

_MOST_NAMED = 4
_FEW = 20
"""Of so few predictions we give the number: `7 in 10` of three is a riddle."""
_Z = 1.959963984540054
"""The normal quantile of 95% intervals."""


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the models by a measure, as far as a comparison of all models supports it. `level`: the level of the
    intervals."""

    better: frozenset[tuple[str, str, str]] = frozenset()
    level: float = 0.95

    @classmethod
    def of(cls, differences: Any, level: float) -> Order:
        rows = [row for row in differences.to_pylist() if row["better"] is not None]
        pairs = ((row["measure"], *_turned(row["first"], row["second"], row["better"])) for row in rows)
        return cls(frozenset(pairs), level)

    def is_better(self, measure: str, first: str, second: str) -> bool:
        return (measure, first, second) in self.better

    def worst(self, measure: str, models: Sequence[str]) -> str | None:
        """The model that is worse than every other."""
        return next(
            (model for model in models if all(self.is_better(measure, other, model) for other in models if other != model)), None
        )

    def best(self, measure: str, models: Sequence[str]) -> str | None:
        return next(
            (model for model in models if all(self.is_better(measure, model, other) for other in models if other != model)), None
        )

    def told_apart(self, measure: str, models: Sequence[str]) -> int:
        """How many pairs of models differ by more than chance."""
        pairs = combinations(models, 2)
        return sum(self.is_better(measure, *pair) or self.is_better(measure, *reversed(pair)) for pair in pairs)


def _turned(first: str, second: str, better: str) -> tuple[str, str]:
    return (first, second) if better == "first" else (second, first)


def answer(evaluation: Evaluation, order: Order | None) -> Sentence:
    """The headline. `order`: None if we cannot compare the models."""
    if not evaluation.model_results:
        return of_the_data(evaluation.rule_results)
    told = judged(evaluation.model_results)
    made = (
        _nothing_judged(evaluation.model_results)
        or _only(evaluation, told)
        or _none_violates(told)
        or (_extremes(evaluation, told, order) if order is not None else None)
        or _apart(evaluation, told, order)
    )
    assert made is not None
    return made


def verdict(evaluation: Evaluation) -> list[Sentence]:
    """The sentences above the tables. They do not order the models, because only intervals could support an order. They answer for
    hard rules, then for soft rules, say whether it matters, and name models of which nothing can be said."""
    models = evaluation.model_results
    made = (
        answer(evaluation, None),
        soft_times(models),
        matters(evaluation.right_results),
        unjudged_models(models),
    )
    return [sentence for sentence in made if sentence is not None]


def judged(models: Iterable[ModelResult]) -> list[ModelResult]:
    """The models whose number of violating predictions says something."""
    return [model for model in models if _share(model) is not None]


def _share(model: ModelResult) -> float | None:
    if model.violating is None or model.violating_reason is not None or not model.predictions.distinct:
        return None
    return model.violating / model.predictions.distinct


def _often(model: ModelResult) -> str:
    return frequency(model.violating or 0, model.predictions.distinct)


def _does(evaluation: Evaluation, often: str) -> str:
    """The verb for violating predictions."""
    is_one = often.startswith("1 in ")
    if contradicts(evaluation):
        return "contradicts what is known" if is_one else "contradict what is known"
    return "breaks a hard rule" if is_one else "break a hard rule"


def contradicts(evaluation: Evaluation) -> bool:
    """Whether each prediction that breaks a hard rule contradicts what is known: not if the data break the rule as well, and not if
    the rule compares values, of which one prediction may break it alone."""
    hard = [rule for rule in evaluation.rule_results if rule.kind is RuleKind.HARD]
    return all(not rule.dataset.refuted and is_of_facts(rule.info.text) for rule in hard)


def _nothing_judged(models: Sequence[ModelResult]) -> Sentence | None:
    if judged(models):
        return None
    which = f"{models[0].name}" if len(models) == 1 else "these models"
    if any(model.violating_reason == NO_HARD_RULE for model in models):
        return said("There is no hard rule, so no prediction is wrong by the rules alone.")
    return said("Hard rules say nothing of ", which, ": ", strong("none of their predictions could be judged"), ".")


def _only(evaluation: Evaluation, told: Sequence[ModelResult]) -> Sentence | None:
    if len(told) != 1:
        return None
    (model,) = told
    if not model.violating:
        return said("None of the ", strong(f"{model.predictions.distinct:,}"), f" predictions of {model.name} breaks a hard rule.")
    often, whole = _often(model), model.predictions.distinct
    if model.violating < whole <= _FEW:
        does = _does(evaluation, "1 in " if model.violating == 1 else "")
        return said(strong(_figure(model).replace(" of ", " of the ")), f" predictions of {model.name} {does}.")
    return said(strong(often[0].upper() + often[1:]), f" of the predictions of {model.name} {_does(evaluation, often)}.")


def _none_violates(told: Sequence[ModelResult]) -> Sentence | None:
    if any(model.violating for model in told):
        return None
    names = listed([model.name for model in told]) if len(told) < 4 else f"{len(told)} models"
    return said(strong("No prediction"), f" of {names} breaks a hard rule.")


def _extremes(evaluation: Evaluation, told: Sequence[ModelResult], order: Order) -> Sentence | None:
    """The model that breaks hard rules most often, and the model that breaks them least often; each only if the comparison is
    sure."""
    names = [model.name for model in told]
    by_name = {model.name: model for model in told}
    worst, best = order.worst("violating", names), order.best("violating", names)
    if worst is not None:
        often = _often(by_name[worst])
        does = f" of its predictions {_does(evaluation, often)}."
        least = () if best is None else (f" {best}: ", strong(_often(by_name[best])), ".")
        how = "most often" if len(told) > 2 else f"more often than {best}"
        return said(f"{worst} breaks hard rules {how}: ", strong(often), does, *least)
    if best is not None:
        often = _often(by_name[best])
        others = sorted((model for model in told if model.name != best), key=lambda model: _share(model) or 0)
        against = f" The others: {' and '.join(dict.fromkeys((_often(others[0]), _often(others[-1]))))}."
        does = f" of its predictions {_does(evaluation, often)}." + ("" if len(others) > 2 else against)
        return said(f"{best} breaks hard rules least often: ", strong(often), does)
    return None


def _apart(evaluation: Evaluation, told: Sequence[ModelResult], order: Order | None) -> Sentence:
    """The least and the greatest number, without an order of the models."""
    ordered = sorted(told, key=lambda model: _share(model) or 0)
    least, most = ordered[0], ordered[-1]
    low, high = strong(_figure(least)), strong(_figure(most))
    does = f" of their predictions {_does(evaluation, '')}."
    names = [model.name for model in told]
    if low == high:
        each = f" predictions of each model {_does(evaluation, '')}."
        return said("By hard rules these models cannot be told apart: ", low, each)
    if order is None and len(told) <= _MOST_NAMED:
        return _each(evaluation, ordered[::-1])
    if order is None:
        return said("Between ", low, f" ({least.name}) and ", high, f" ({most.name})", does)
    if not order.told_apart("violating", names):
        return said("By hard rules these models cannot be told apart: between ", low, " and ", high, does)
    seldom, often = (strong(_often(model) if model.violating else "0") for model in (least, most))
    return said("Hard rules tell some of these models apart, but show no best and no worst: between ", seldom, " and ", often, does)


def _each(evaluation: Evaluation, told: Sequence[ModelResult]) -> Sentence:
    """The number of every model, the greatest first."""
    first, *others = told
    does = _does(evaluation, "1 in " if first.violating == 1 else "")
    noun = "prediction" if first.predictions.distinct == 1 else "predictions"
    figures = [part for model in others for part in (f" {model.name}: ", strong(_figure_of_all(model)), ".")]
    return said(f"{first.name}: ", strong(_figure(first)), f" {noun} {does}.", *figures)


def _figure_of_all(model: ModelResult) -> str:
    return _figure(model) if model.violating else f"none of {model.predictions.distinct:,}"


def _figure(model: ModelResult) -> str:
    return of_all(model.violating, model.predictions.distinct) if model.violating else "0"


def of_the_data(rules: Sequence[RuleResult]) -> Sentence:
    """How many rules the data break, of those that they can judge: a denial constraint needs no case to be kept."""
    refutable = [rule for rule in rules if not rule.info.unrefutable]
    judged = [rule for rule in refutable if rule.dataset.evaluable or rule.info.denial]
    broken = [rule for rule in judged if rule.dataset.refuted]
    if not refutable:
        which, them = ("the only rule", "it") if len(rules) == 1 else ("these rules", "them")
        return said("Nothing declared can refute ", strong(which), f", so the data cannot break {them}.")
    if not judged:
        return said("The data say nothing of these rules: ", strong("none has a case that can be judged"), ".")
    if len(judged) == 1:
        return said("The data ", strong("break" if broken else "do not break"), " the only rule that they can judge.")
    if not broken:
        return said("The data break ", strong("none"), f" of the {counted(len(judged), 'rule')} that they can judge.")
    often = of_all(len(broken), len(judged))
    return said("The data themselves break ", strong(often), " rules that they can judge.")


# Below the headline.


def details(evaluation: Evaluation, order: Order | None) -> list[Sentence]:
    made = (
        matters(evaluation.right_results),
        differences(evaluation, order),
        soft_order(evaluation, order),
        unjudged_models(evaluation.model_results),
        coverage(evaluation, order),
        kinds(evaluation.rule_results),
        few_cases(evaluation),
    )
    return [sentence for sentence in made if sentence is not None]


def matters(right: Sequence[RightPredictions]) -> Sentence | None:
    """Whether violating predictions are wrong more often than others, for the model with most of them."""
    counted_models = [result for result in right if result.violating and result.others]
    if not counted_models:
        return None
    most = max(counted_models, key=lambda result: result.violating)
    share = f" ({percent(most.violating_right, most.violating)})" if most.violating_right else ""
    comparison = said(
        f"of the {counted(most.violating, 'violating prediction')} of {most.model} ",
        strong(f"{most.violating_right:,}" if most.violating_right else "none"),
        f" {'is' if most.violating_right < 2 else 'are'} right{share}, against ",
        strong(percent(most.others_right, most.others)),
        " of the others",
    )
    low, high = wilson(most.violating_right, most.violating)
    others_low, others_high = wilson(most.others_right, most.others)
    if low > others_high or low > 0.5:
        return said("Careful: ", *comparison.parts, ". Rules that the data have few cases of may be wrong themselves.")
    if high >= others_low:
        return said("Whether it matters cannot be told: ", *comparison.parts, ", which may be chance.")
    caught = f"; hard rules find {of_all(most.wrong_violating, most.wrong)} of its wrong answers" if most.wrong else ""
    return said("It matters: ", *comparison.parts, caught, ".")


def wilson(part: int, whole: int) -> tuple[float, float]:
    """A 95% interval for a share."""
    share, square = part / whole, _Z * _Z
    centre = (share + square / (2 * whole)) / (1 + square / whole)
    half = _Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole * whole)) / (1 + square / whole)
    return centre - half, centre + half


def differences(evaluation: Evaluation, order: Order | None) -> Sentence | None:
    names = [model.name for model in judged(evaluation.model_results)]
    if len(names) < 2:
        return None
    if order is None:
        return said("Without the contributions of single predictions there are no intervals, and no order of the models.")
    pairs = math.comb(len(names), 2)
    apart = order.told_apart("violating", names)
    which = "The difference" if pairs == 1 else f"All {pairs} differences" if apart == pairs else f"{apart} of {pairs} differences"
    which = which if apart or pairs == 1 else f"None of the {pairs} differences"
    what = f"is {'' if apart else 'not '}" if pairs == 1 else f"{'is' if apart < 2 else 'are'} "
    return said(f"{which} between models {what}larger than chance explains ({order.level:.0%} intervals).")


def soft_order(evaluation: Evaluation, order: Order | None) -> Sentence | None:
    """What soft rules say, if hard rules show no best and no worst model."""
    models = [model for model in evaluation.model_results if model.soft_score.value is not None and not model.unmeasured]
    names = [model.name for model in models]
    if order is None or len(models) < 2 or _has_extreme(evaluation, order):
        return None
    by_name = {model.name: model for model in models}
    worst, best = order.worst("soft_score", names), order.best("soft_score", names)
    score = {name: shown(model.soft_score.value, CellKind.SCORE) for name, model in by_name.items()}
    if best is not None:
        against = f"; {worst} is the worst: {score[worst]}" if worst is not None else ""
        return said(f"By soft rules {best} is better than all others: RVS soft ", strong(score[best]), f"{against}.")
    if worst is not None:
        return said(f"By soft rules {worst} is worse than all others: RVS soft ", strong(score[worst]), ".")
    least, most = (choose(names, key=lambda name: by_name[name].soft_score.value or 0) for choose in (min, max))
    apart = order.told_apart("soft_score", names)
    how = f"{apart} of {math.comb(len(names), 2)} differences are beyond chance" if apart else "they cannot be told apart"
    return said(f"By soft rules {how}: RVS soft from ", strong(score[least]), " to ", strong(score[most]), ".")


def _has_extreme(evaluation: Evaluation, order: Order) -> bool:
    """Whether one model breaks hard rules more often, or less often, than all others."""
    told = [model.name for model in judged(evaluation.model_results)]
    return len(told) > 1 and (order.worst("violating", told) or order.best("violating", told)) is not None


def soft_times(models: Sequence[ModelResult]) -> Sentence | None:
    """How many times as often as the data models break soft rules."""
    means = [(model.name, model.soft_mean) for model in models if not model.unmeasured]
    times = [(name, mean.value) for name, mean in means if mean.value is not None and mean.mark is None]
    if not times:
        return None
    if not any(value for _, value in times):
        return said("No prediction breaks a soft rule.")
    often = "times as often as in the data"
    if len(times) > _MOST_NAMED:
        low, high = (shown(choose(value for _, value in times), CellKind.SCORE) for choose in (min, max))
        return said(f"Soft rules are broken from {low} to {high} {often}.")
    figures = sorted(times, key=lambda pair: -pair[1])
    worded = [
        f"{shown(value, CellKind.SCORE)} {often if not place else 'times'} by {name}" for place, (name, value) in enumerate(figures)
    ]
    return said(f"Soft rules are broken {listed(worded)}.")


def unjudged_models(models: Sequence[ModelResult]) -> Sentence | None:
    """The models with 0 violations of hard rules, because no hard rule judged any of their predictions."""
    silent = [model for model in models if model.violating_reason not in (None, NO_HARD_RULE)]
    if not silent or len(silent) == len(models):
        return None
    unmeasured = all(model.unmeasured for model in silent)
    why = f"{UNMEASURED}" if unmeasured else "0, none judged"
    return said(f"Hard rules say nothing of {listed([model.name for model in silent])} ({why}).")


def coverage(evaluation: Evaluation, order: Order | None) -> Sentence | None:
    """How many predictions rules could judge, if hard rules show no best and no worst model."""
    shares = [(model.judged, model.new) for model in evaluation.model_results if model.judged is not None and model.new]
    if order is None or not shares or len(judged(evaluation.model_results)) < 2 or _has_extreme(evaluation, order):
        return None
    fewest, greatest = (choose(shares, key=lambda share: share[0] / share[1]) for choose in (min, max))
    if fewest[0] == fewest[1]:
        return None
    least, most = percent(*fewest), percent(*greatest)
    share = f"between {least} and {most}" if least != most else least
    return said("Rules could judge ", strong(share), " of the models' new predictions.")


def kinds(rules: Sequence[RuleResult]) -> Sentence | None:
    hard, soft = (sum(rule.kind is kind for rule in rules) for kind in (RuleKind.HARD, RuleKind.SOFT))
    words = [f"{hard:,} hard", f"{soft:,} soft"]
    silent = sum(not rule.dataset.evaluable and not rule.info.denial for rule in rules)
    unrefutable = sum(rule.info.unrefutable for rule in rules)
    notes = [f"{silent:,} of {counted(len(rules), 'rule')} have no case in the data that can be judged" if silent else ""]
    notes += [f"{unrefutable:,} can never be broken, whatever is predicted" if unrefutable else ""]
    further = "; ".join(note for note in notes if note)
    return said(f"{listed(words)} rules{f'; {further}' if further else ''}.")


def few_cases(evaluation: Evaluation) -> Sentence | None:
    """Hard rules that models break, although the data have only a handful of cases of them."""
    broken = [rule for rule in evaluation.rule_results if _is_broken(rule)]
    few = [rule for rule in broken if rule.info.declared_kind is None and 0 < rule.dataset.evaluable < FEW_CASES]
    if not few:
        return None
    return said(f"{of_all(len(few), len(broken))} broken hard rules rest on fewer than {FEW_CASES} cases in the data.")


def _is_broken(rule: RuleResult) -> bool:
    return rule.kind is RuleKind.HARD and any(result.counts.refuted for result in rule.models.values())
