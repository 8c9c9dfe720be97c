"""Compares models, with intervals: their numbers, the difference of two, and the changes from one run to the next.

Everything comes from results and their contributions. We count nothing again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from rulescore.comparison.changes import Change, change_of, changes_table, violated
from rulescore.comparison.estimates import MEASURES, Estimated, data_rates, estimate, few
from rulescore.comparison.intervals import FEWEST_QUERIES, Estimate, Floats, percentiles
from rulescore.comparison.samples import Matched, Sample, draw, is_changed, matched, name_of, samples_of
from rulescore.errors import Diagnostic, InputError, Severity, meant, ticked
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import ModelResult, RuleResult
from rulescore.waiting import tell

RUNS = ("A", "B")
FEWEST_DRAWS = 100
DRAWS, DRAWS_OF_MANY, MANY = 1000, 200, 10_000
"""How many draws the models of one result rest on, and how many if rules times models are many (decision 0012)."""
MOST_MODELS = 5
"""If more models are compared, people see the differences from one of them, and no rules or changes of single pairs."""
_MOST_NAMED = 3

_Name = TypeVar("_Name", int, str)


@dataclass(frozen=True, slots=True)
class ComparedResults:
    """Tidy Arrow tables. Every number has `low` and `high`, null with a reason if it has no interval."""

    method: str
    level: float
    draws: int
    seed: int
    two_runs: bool
    models: Any
    rules: Any
    differences: Any
    rule_differences: Any
    changes: Any
    warnings: tuple[Diagnostic, ...] = ()


def compare(
    first: Evaluation,
    second: Evaluation | None = None,
    *,
    models: Sequence[str] = (),
    against: str | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
    by_rule: bool = True,
    brief: bool = False,
) -> ComparedResults:
    """Compares the models of one result with each other or, given two results, each model of the first with the model of the same
    name in the second. `models`: only these. A model alone has intervals and no difference. `against`: compare all others with this
    one only. `by_rule`: differences of rules, and changes, too. `brief`: of many models, only what people see."""
    _refuse_numbers(level, draws, seed)
    results = [first] if second is None else [first, second]
    _refuse_against(against, len(results))
    chosen = [_chosen(result, models, against) for result in results]
    _refuse(results, chosen)
    rules = matched([result.rule_results for result in results])
    runs = ("",) if second is None else RUNS
    samples = samples_of(list(zip(runs, results, chosen, strict=True)), rules)
    pairs = list(_pairs([[model.name for model in some] for some in chosen], against))
    if brief and are_many(sample.model.name for sample in samples):
        pairs, by_rule = with_first(pairs, len(samples)), False
    random = np.random.default_rng(seed)
    drawn = draw(samples, len(rules), draws, random)
    data = data_rates(samples, draws, random)
    estimates = []
    for number, (sample, sums) in enumerate(zip(samples, drawn, strict=True)):
        tell(f"estimating {sample.name}", number, len(samples))
        estimated = estimate(sample, sums, data, level, random)
        # For fifty models and 500 rules, the draws of rules take 200 MB.
        estimates.append(estimated if by_rule else replace(estimated, score_draws=np.empty((draws, 0))))
    return ComparedResults(
        method=_method(level, draws, seed),
        level=level,
        draws=draws,
        seed=seed,
        two_runs=second is not None,
        models=_models_table(samples, estimates),
        rules=_rules_table(samples, estimates),
        differences=_differences_table(samples, estimates, pairs, level),
        rule_differences=_rule_differences(samples, estimates, pairs if by_rule else [], rules, level),
        changes=changes_table(samples, pairs if second is not None and by_rule else [], rules),
        warnings=_changed_rules(rules),
    )


def compared_models(evaluation: Evaluation) -> ComparedResults | None:
    """The models of a result with intervals; None if there are no models, or no contributions of single predictions."""
    if not evaluation.model_results or evaluation.contributions_table is None:
        return None
    if not evaluation.contributions_table.num_rows and any(model.evaluable for model in evaluation.model_results):
        return None
    many = len(evaluation.rule_results) * len(evaluation.model_results) > MANY
    return compare(evaluation, draws=DRAWS_OF_MANY if many else DRAWS, by_rule=False)


def _method(level: float, draws: int, seed: int) -> str:
    return (
        f"{level:.0%} intervals: bootstrap over queries, percentiles of {draws:,} draws (of sums, corrected for skewness), seed "
        f"{seed}; Clopper and Pearson's exact bound if no violation is seen, or nothing else; the data's rates drawn by their "
        "counts (Jeffreys)"
    )


def _refuse_numbers(level: object, draws: object, seed: object) -> None:
    problems = []
    if not isinstance(level, int | float) or not 0 < level < 1:
        problems.append(_out_of_range(f"the level is {level!r}", "a level lies between 0 and 1: `level=0.95`"))
    if not isinstance(draws, int) or draws < FEWEST_DRAWS:
        problems.append(_out_of_range(f"the number of draws is {draws!r}", f"at least {FEWEST_DRAWS} are needed: `draws=1000`"))
    if not isinstance(seed, int) or seed < 0:
        problems.append(_out_of_range(f"the seed is {seed!r}", "a seed is a whole number and not negative: `seed=0`"))
    if problems:
        raise InputError(problems)


def _out_of_range(message: str, note: str) -> Diagnostic:
    return Diagnostic("E402", message, notes=(note,))


def _refuse(results: Sequence[Evaluation], chosen: Sequence[Sequence[ModelResult]]) -> None:
    if not any(chosen):
        raise InputError(Diagnostic("E507", "the results to compare have no models", helps=("score predictions first",)))
    if len({result.convention for result in results}) > 1:
        message = f"one result counts by `{results[0].convention}`, the other by `{results[1].convention}`"
        raise InputError(Diagnostic("E507", message, helps=("score both with the same `--convention`",)))


def _chosen(evaluation: Evaluation, names: Sequence[str], against: str | None) -> list[ModelResult]:
    known = {model.name: model for model in evaluation.model_results}
    problems, asked = [], (*names, *([] if against is None else [against]))
    for name in asked:
        if name not in known:
            helps = meant(str(name), known)
            notes = (f"the models are {ticked(known) or 'none'}",)
            problems.append(Diagnostic("E261", f"no model is named `{name}`", notes=notes, helps=helps))
    if problems:
        raise InputError(problems)
    return [known[name] for name in dict.fromkeys(asked)] if names else list(known.values())


def _refuse_against(against: str | None, results: int) -> None:
    if against is not None and results > 1:
        message = f"all models are to be compared with `{against}`, but there are two results"
        raise InputError(Diagnostic("E507", message, notes=("of two results, we compare models of the same name",)))


def are_many(models: Iterable[str]) -> bool:
    return len(set(models)) > MOST_MODELS


def with_first(pairs: list[tuple[_Name, _Name]], samples: int) -> list[tuple[_Name, _Name]]:
    """If there are more pairs than samples: those with the sample that comes first."""
    return [pair for pair in pairs if pair[0] == pairs[0][0]] if len(pairs) > samples else pairs


def _pairs(models: Sequence[Sequence[str]], against: str | None) -> Iterator[tuple[int, int]]:
    """The numbers of the samples to compare. For two results: the models that have the same name or, if no names agree, each with
    each."""
    if against is not None:
        place = models[0].index(against)
        yield from ((place, other) for other in range(len(models[0])) if other != place)
        return
    if len(models) == 1:
        yield from combinations(range(len(models[0])), 2)
        return
    first, second = models
    same = [(i, len(first) + second.index(name)) for i, name in enumerate(first) if name in second]
    yield from same or product(range(len(first)), range(len(first), len(first) + len(second)))


def _changed_rules(rules: Sequence[Matched]) -> tuple[Diagnostic, ...]:
    changed = [name_of(rule) for rule in rules if is_changed(rule)]
    if not changed:
        return ()
    shown = ticked(changed[:_MOST_NAMED]) + (f" and {len(changed) - _MOST_NAMED:,} more" if changed[_MOST_NAMED:] else "")
    notes = ("such a rule is not compared with itself; the aggregates hold it as it is in each result",)
    helps = ("give a changed rule a new name, or score the earlier predictions again with the new rules",)
    message = f"rules of one name have different texts in the two results: {shown}"
    return (Diagnostic("W506", message, notes=notes, helps=helps, severity=Severity.WARNING),)


def _models_table(samples: Sequence[Sample], estimates: Sequence[Estimated]) -> Any:
    rows = [
        {
            "run": sample.run or None,
            "model": sample.model.name,
            "measure": measure,
            "violating": sample.model.violating,
            "predictions": sample.model.predictions.distinct,
            "queries": sample.queries,
            **_columns("", estimate),
        }
        for sample, estimated in zip(samples, estimates, strict=True)
        for measure, estimate in zip(MEASURES, estimated.measures, strict=True)
    ]
    texts = ("run", "model", "measure")
    return _table(
        rows,
        {
            **dict.fromkeys(texts, pa.string()),
            "violating": pa.int64(),
            "predictions": pa.int64(),
            "queries": pa.int64(),
            **_types(""),
        },
    )


def _rules_table(samples: Sequence[Sample], estimates: Sequence[Estimated]) -> Any:
    rows = []
    for sample, estimated in zip(samples, estimates, strict=True):
        for place, rule in enumerate(sample.rules):
            if rule is None:
                continue
            counts = rule.models[sample.model.name].counts
            rows.append(
                {
                    "run": sample.run or None,
                    "model": sample.model.name,
                    "rule": rule.info.name,
                    "text": rule.info.text,
                    "kind": rule.kind.value,
                    "refuted": counts.refuted,
                    "evaluable": counts.evaluable,
                    **_columns("rate", estimated.rates[place]),
                    **_columns("score", estimated.scores[place]),
                }
            )
    types = dict.fromkeys(("run", "model", "rule", "text", "kind"), pa.string())
    return _table(rows, {**types, "refuted": pa.int64(), "evaluable": pa.int64(), **_types("rate"), **_types("score")})


def _differences_table(
    samples: Sequence[Sample], estimates: Sequence[Estimated], pairs: Iterable[tuple[int, int]], level: float
) -> Any:
    rows = []
    for left, right in pairs:
        ours, others = estimates[left], estimates[right]
        made = _differences(ours.measures, others.measures, ours.measure_draws - others.measure_draws, level)
        fewest = min(samples[left].queries, samples[right].queries)
        if fewest < FEWEST_QUERIES:
            made = [Estimate(difference.value, reason=difference.reason or few(fewest)) for difference in made]
        rows += [
            {
                "first": samples[left].name,
                "second": samples[right].name,
                "measure": measure,
                **_columns("difference", difference),
                **_verdict(difference),
            }
            for measure, difference in zip(MEASURES, made, strict=True)
        ]
    types = dict.fromkeys(("first", "second", "measure"), pa.string())
    return _table(rows, {**types, **_types("difference"), "better": pa.string()})


def _rule_differences(
    samples: Sequence[Sample], estimates: Sequence[Estimated], pairs: list[tuple[int, int]], rules: Sequence[Matched], level: float
) -> Any:
    """Puts the rules first that separate two models most: first those whose interval excludes 0, then by refuted groundings."""
    # Fifty models make 1,225 pairs. If all their rows were Python objects at the same time, they would take gigabytes.
    parts = [_table((), _RULE_DIFFERENCE)]
    for number, (left, right) in enumerate(pairs):
        first, second = samples[left], samples[right]
        tell(f"comparing {first.name} with {second.name}", number, len(pairs))
        ours, others = estimates[left], estimates[right]
        made = _differences(ours.scores, others.scores, ours.score_draws - others.score_draws, level)
        only = [counts.tolist() for counts in violated(first, second).only(len(rules))]
        of_pair = [
            {
                "first": first.name,
                "second": second.name,
                **_rule_difference(rule, (first.rules[place], second.rules[place]), (first, second), made[place]),
                "only_first": None if is_changed(rule) else only[0][place],
                "only_second": None if is_changed(rule) else only[1][place],
            }
            for place, rule in enumerate(rules)
        ]
        of_pair.sort(key=lambda row: (row["better"] is None, -abs((row["first_refuted"] or 0) - (row["second_refuted"] or 0))))
        parts.append(_table(of_pair, _RULE_DIFFERENCE))
    return pa.concat_tables(parts)


def _rule_difference(
    rule: Matched, rules: Sequence[RuleResult | None], samples: Sequence[Sample], difference: Estimate
) -> dict[str, Any]:
    refuted = [
        None if rule is None else rule.models[sample.model.name].counts.refuted for rule, sample in zip(rules, samples, strict=True)
    ]
    kinds = [rule.kind.value for rule in rules if rule is not None]
    change = None if None in refuted else change_of(refuted[0] or 0, refuted[1] or 0)
    if is_changed(rule):
        change, difference = Change.CHANGED, Estimate(None, reason="the rule's text is not the same in the two results")
    elif len(set(kinds)) > 1:
        difference = Estimate(None, reason=f"the rule is {kinds[0]} in one result and {kinds[1]} in the other")
    texts = [None if rule is None else rule.info.text for rule in rules]
    return {
        "rule": name_of(rule),
        "kind": kinds[0],
        "first_refuted": refuted[0],
        "second_refuted": refuted[1],
        "change": None if change is None else change.value,
        **_columns("difference", difference),
        **_verdict(difference),
        "first_text": texts[0],
        "second_text": texts[1],
    }


def _differences(first: Sequence[Estimate], second: Sequence[Estimate], draws: Floats, level: float) -> list[Estimate]:
    low, high = percentiles(draws, level)
    return [_difference(*figures) for figures in zip(first, second, low.tolist(), high.tolist(), strict=True)]


def _difference(first: Estimate, second: Estimate, low: float, high: float) -> Estimate:
    reason = next(
        (f"{place}: {side.reason}" for place, side in (("first", first), ("second", second)) if side.reason is not None), None
    )
    if first.value is None or second.value is None:
        return Estimate(None, reason=reason)
    value = first.value - second.value
    if reason is not None:
        return Estimate(value, reason=reason)
    # If no violation was seen, all draws lie on one side of the measured number, and the interval must include it.
    return Estimate(value, min(low, value), max(high, value))


def _verdict(difference: Estimate) -> dict[str, str | None]:
    """Which of two is better: the lower number. None if the interval contains 0, or if there is no interval."""
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return {"better": None}
    return {"better": "second" if difference.low > 0 else "first"}


def _columns(name: str, point: Estimate) -> dict[str, Any]:
    prefix = f"{name}_" if name else ""
    return {name or "value": point.value, f"{prefix}low": point.low, f"{prefix}high": point.high, f"{prefix}reason": point.reason}


def _types(name: str) -> dict[str, Any]:
    prefix = f"{name}_" if name else ""
    return {
        name or "value": pa.float64(),
        f"{prefix}low": pa.float64(),
        f"{prefix}high": pa.float64(),
        f"{prefix}reason": pa.string(),
    }


_RULE_DIFFERENCE = {
    **dict.fromkeys(("first", "second", "rule", "kind"), pa.string()),
    **dict.fromkeys(("first_refuted", "second_refuted", "only_first", "only_second"), pa.int64()),
    "change": pa.string(),
    **_types("difference"),
    "better": pa.string(),
    **dict.fromkeys(("first_text", "second_text"), pa.string()),
}


def _table(rows: Sequence[dict[str, Any]], types: dict[str, Any]) -> Any:
    return pa.Table.from_pylist(list(rows), schema=pa.schema(list(types.items())))
