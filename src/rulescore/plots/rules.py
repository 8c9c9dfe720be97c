"""The score of each rule under each model, and how often the data violate it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from rulescore.plots import look
from rulescore.reporting.listing import counted, of_all
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.score import most_telling

_WIDTH = 400
_MOST_MARKS = 320
_AXES = {
    RuleKind.HARD: "score of hard rules: violations",
    RuleKind.SOFT: "score of soft rules: violation rate over the data's",
}

Scores = Mapping[tuple[str, str], float]
"""By rule and model."""
Intervals = Mapping[tuple[str, str], tuple[float, float]]


def rules_chart(evaluation: Evaluation, published: Any = None) -> Any:
    """Hard rules and soft rules, a row each with a mark for each model. If there are many rules: rows of the rules that are
    published, separate the models most or are broken most, and curves of all."""
    rows = look.published_rows(published, ("rule", "model", "value"))
    look.refuse_unknown(rows, "rule", {rule.info.name for rule in evaluation.rule_results})
    theirs = {(row["rule"], row["model"]): row["value"] for row in rows}
    ours = _scores(evaluation)
    models = list(dict.fromkeys([*(model.name for model in evaluation.model_results), *(model for _, model in theirs)]))
    scored = {rule for rule, _ in (*ours, *theirs)}
    drawn = [rule for rule in evaluation.rule_results if rule.info.name in scored]
    if not drawn:
        reason = "no rule has a score" if evaluation.model_results else "there are no models"
        raise look.NothingToDrawError("rules", reason)
    named = _named(evaluation, drawn, {rule for rule, _ in theirs}, len(models))
    seen, intervals = look.labels(models), _intervals(evaluation)
    parts = [_score_rows(rules, kind, seen, ours, theirs, intervals, evaluation.labels) for kind, rules in _by_kind(named).items()]
    notes = [*([look.BESIDE] if theirs else []), *([look.EVEN] if any(rule.kind is not RuleKind.HARD for rule in named) else [])]
    notes += [*([look.INTERVALS] if intervals else []), *_left_out(evaluation, len(drawn))]
    title = "Score of each rule under each model"
    if len(named) < len(drawn):
        title = f"Scores of {counted(len(drawn), 'rule')} under each model"
        which = "published, or separating the models most" if theirs else "separating the models most, or broken most"
        notes += [f"by name: {of_all(len(named), len(drawn))}, those {which}", "below: all rules, each model's worst first"]
        parts += [_curves(rules, kind, seen, ours) for kind, rules in _by_kind(drawn).items()]
    return look.finished(alt.vconcat(*parts), title, *notes)


def _scores(evaluation: Evaluation) -> dict[tuple[str, str], float]:
    return {
        (rule.info.name, model): result.score.value
        for rule in evaluation.rule_results
        for model, result in rule.models.items()
        if result.score.value is not None and result.score.mark is None
    }


def _intervals(evaluation: Evaluation) -> Intervals:
    compared = look.intervals_of(evaluation)
    if compared is None:
        return {}
    columns = [compared.rules[name].to_pylist() for name in ("rule", "model", "score_low", "score_high")]
    return {(rule, model): (low, high) for rule, model, low, high in zip(*columns, strict=True) if low is not None}


def _left_out(evaluation: Evaluation, drawn: int) -> list[str]:
    without = len(evaluation.rule_results) - drawn
    return [f"not drawn: {counted(without, 'rule')} without a score"] if without else []


def _named(evaluation: Evaluation, drawn: Sequence[RuleResult], published: set[str], models: int) -> list[RuleResult]:
    all_of = min(look.MOST_LABELLED, max(5, _MOST_MARKS // models))
    names = [model.name for model in evaluation.model_results]
    if len(drawn) <= all_of:
        return most_telling(drawn, names)
    most = min(all_of, max(look.NAMED, len(published)))
    first = [rule for rule in drawn if rule.info.name in published][:most]
    others = [rule for rule in drawn if rule.info.name not in published]
    return most_telling([*first, *most_telling(others, names, most - len(first))], names)


def _by_kind(rules: Sequence[RuleResult]) -> dict[RuleKind, list[RuleResult]]:
    """A rule that is neither hard nor soft, but has a published score, stands among the soft rules."""
    hard = [rule for rule in rules if rule.kind is RuleKind.HARD]
    others = [rule for rule in rules if rule.kind is not RuleKind.HARD]
    return {kind: some for kind, some in ((RuleKind.HARD, hard), (RuleKind.SOFT, others)) if some}


def _score_rows(
    rules: Sequence[RuleResult],
    kind: RuleKind,
    models: Mapping[str, str],
    ours: Scores,
    theirs: Scores,
    intervals: Intervals,
    ids: Labels,
) -> Any:
    label = look.rule_labels(rules, ids)
    text = {rule.info.name: look.rule_text(rule.info.text) for rule in rules}
    values: list[dict[str, Any]] = [
        {"rule": label[rule], "text": text[rule], "model": models[model], "score": scores[rule, model], "source": source}
        for source, scores in ((look.OURS, ours), (look.PUBLISHED, theirs))
        for rule in label
        for model in models
        if (rule, model) in scores
    ]
    lines = [
        {"rule": label[rule], "model": models[model], "score": intervals[rule, model][0], "high": intervals[rule, model][1]}
        for rule in label
        for model in models
        if (rule, model) in intervals and (rule, model) in ours
    ]
    greatest = max([row["score"] for row in values] + [row["high"] for row in lines])
    names = list(models.values())
    axis = alt.Axis(domain=False, ticks=True, tickBand="extent", tickColor="#E4E4E4", grid=True, tickSize=0, offset=8)
    base = alt.Chart().encode(
        y=alt.Y("rule:N", sort=list(label.values()), title=None, axis=axis),
        yOffset=alt.YOffset("model:N", sort=names, scale=alt.Scale(domain=names)),
        x=alt.X("score:Q", title=_AXES[kind] + look.log_words(greatest), **look.wide(greatest, whole=kind is RuleKind.HARD)),
        color=alt.Color("model:N", scale=look.colours(names), legend=look.legend()),
    )
    points = base.encode(
        shape=alt.Shape("model:N", scale=look.shapes(names), legend=look.legend()),
        tooltip=[alt.Tooltip(field) for field in ("rule:N", "text:N", "model:N", "score:Q", "source:N")],
    )
    heavy, ring = (alt.Size("model:N", scale=look.sizes(names, size), legend=None) for size in (30, 95))
    filled = points.encode(size=heavy).mark_point(filled=True, opacity=1).transform_filter(alt.datum.source == look.OURS)
    hollow = points.encode(size=ring).mark_point(filled=False, strokeWidth=1.3, opacity=1)
    hollow = hollow.transform_filter(alt.datum.source == look.PUBLISHED)
    within = base.mark_rule(strokeWidth=0.8).encode(x2="high:Q").properties(data=look.data(lines))
    layers = [
        *([look.even("x", "score")] if kind is RuleKind.SOFT else []),
        *([within] if lines else []),
        filled,
        *([hollow] if theirs else []),
    ]
    height = len(label) * max(15, 6 + 4 * len(names))
    return alt.layer(*layers, data=look.data(values)).resolve_scale(size="independent").properties(width=_WIDTH, height=height)


def _curves(rules: Sequence[RuleResult], kind: RuleKind, models: Mapping[str, str], ours: Scores) -> Any:
    """Each model's scores, from the greatest to the least."""
    lines: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    for model, name in models.items():
        scores = sorted((ours[rule.info.name, model] for rule in rules if (rule.info.name, model) in ours), reverse=True)
        line = look.thinned(list(enumerate(scores, 1)))
        lines += [{"place": place, "score": score, "model": name} for place, score in line]
        marks += [{"place": place, "score": score, "model": name} for place, score in look.few(line, log=True)]
    names = list(models.values())
    ticks = alt.Axis(values=look.powers(len(rules)), format=look.NUMBERS)
    scale = alt.Scale(type="log", domain=[1, max(len(rules), 2)], nice=False)
    place = alt.X("place:Q", title=f"{kind} rules, the model's worst first (log scale)", scale=scale, axis=ticks)
    greatest = max([row["score"] for row in lines], default=0)
    score = alt.Y("score:Q", title=f"score{look.log_words(greatest)}", **look.wide(greatest, whole=kind is RuleKind.HARD))
    colour = alt.Color("model:N", scale=look.colours(names), legend=look.legend())
    shape = alt.Shape("model:N", scale=look.shapes(names), legend=look.legend())
    dash = alt.StrokeDash("model:N", scale=look.dashes(names), legend=None)
    drawn = alt.Chart(look.data(lines)).mark_line(strokeWidth=1.6, interpolate="step-after")
    heavy = alt.Size("model:N", scale=look.sizes(names, 40), legend=None)
    points = alt.Chart(look.data(marks)).mark_point(filled=True, opacity=1)
    return alt.layer(
        drawn.encode(x=place, y=score, color=colour, strokeDash=dash),
        points.encode(x=place, y=score, color=colour, shape=shape, size=heavy),
    ).properties(width=_WIDTH, height=170)


_ROW = 15
_RATES_WIDTH = 380


def dataset_rates_chart(evaluation: Evaluation, published: Any = None) -> Any:
    """A row for each rule; the rule that is violated most comes first. If there are many rules: a curve of all, and rows of the
    rules that are published or are violated most."""
    rows = look.published_rows(published, ("rule", "value"))
    look.refuse_unknown(rows, "rule", {rule.info.name for rule in evaluation.rule_results})
    known = {row["rule"]: row["value"] for row in rows}
    ordered = _ordered(evaluation.rule_results, known)
    if not ordered:
        raise look.NothingToDrawError("dataset_rates", "no rule has an evaluable grounding in the data")
    notes = [*([look.BESIDE] if known else []), *_rates_left_out(evaluation, known), "right: refuted of evaluable groundings"]
    if len(ordered) <= look.MOST_LABELLED:
        return look.finished(_rate_rows(ordered, known, evaluation.labels), "Violation rate of each rule over the data", *notes)
    most = min(look.MOST_LABELLED, max(look.NAMED, len(known)))
    first = {rule.info.name for rule in sorted(ordered, key=lambda rule: rule.info.name not in known)[:most]}
    named = [rule for rule in ordered if rule.info.name in first]
    which = "those published and those violated most" if known else "those violated most"
    chart = alt.vconcat(_curve(ordered, known), _rate_rows(named, known, evaluation.labels))
    title = f"Violation rates of {counted(len(ordered), 'rule')} over the data"
    return look.finished(chart, title, *notes, f"below: {of_all(len(named), len(ordered))}, {which}")


def _rates_left_out(evaluation: Evaluation, known: Mapping[str, float]) -> list[str]:
    without = sum(rule.dataset.rate is None and rule.info.name not in known for rule in evaluation.rule_results)
    return [f"not drawn: {counted(without, 'rule')} without evaluable groundings"] if without else []


def _ordered(rules: Sequence[RuleResult], known: Mapping[str, float]) -> list[RuleResult]:
    drawn = [rule for rule in rules if rule.dataset.rate is not None or rule.info.name in known]
    return sorted(drawn, key=lambda rule: (-(rule.dataset.rate or 0), -known.get(rule.info.name, 0), -rule.dataset.evaluable))


def _rate_rows(rules: Sequence[RuleResult], known: Mapping[str, float], ids: Labels) -> Any:
    label = look.rule_labels(rules, ids)
    values: list[dict[str, Any]] = [
        {
            "rule": label[rule.info.name],
            "text": look.rule_text(rule.info.text),
            "rate": rule.dataset.rate,
            "published": known.get(rule.info.name),
            "counts": of_all(rule.dataset.refuted, rule.dataset.evaluable),
        }
        for rule in rules
    ]
    greatest = max([row[key] or 0 for row in values for key in ("rate", "published")])
    base = alt.Chart(look.data(values)).encode(
        y=alt.Y("rule:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, offset=8)),
    )
    scale = alt.Scale(domain=[0, min(1.0, greatest * 1.1) or 1], nice=False)
    rate = alt.X(
        "rate:Q", title="refuted share of the evaluable groundings", scale=scale, axis=alt.Axis(format=look.NUMBERS, tickCount=6)
    )
    tips = [
        alt.Tooltip("rule:N"),
        alt.Tooltip("text:N"),
        alt.Tooltip("rate:Q"),
        alt.Tooltip("counts:N"),
        alt.Tooltip("published:Q"),
    ]
    stems = base.mark_bar(height=3, color=look.COLOURS[3]).encode(x=rate)
    ours = base.mark_point(filled=True, size=45, opacity=1, color=look.COLOURS[0], clip=False).encode(x=rate, tooltip=tips)
    theirs = base.mark_point(filled=False, size=110, strokeWidth=1.5, opacity=1, color="black").encode(x=alt.X("published:Q"))
    counts = base.mark_text(align="left", dx=8, fontSize=10, color=look.GREY).encode(x=alt.value(_RATES_WIDTH), text="counts:N")
    layers = [stems, ours, *([theirs] if known else []), counts]
    return alt.layer(*layers).properties(width=_RATES_WIDTH, height=_ROW * len(values))


def _curve(rules: Sequence[RuleResult], known: Mapping[str, float]) -> Any:
    """Our rates of all rules, from the greatest to the least. Published rates stand at the place of their rule."""
    rates = [rule.dataset.rate or 0.0 for rule in rules]
    line = [{"place": place, "rate": rate} for place, rate in look.thinned(list(enumerate(rates, 1)))]
    points = [{"place": place, "rate": known[rule.info.name]} for place, rule in enumerate(rules, 1) if rule.info.name in known]
    place = alt.X("place:Q", title="rules, most violated first", scale=alt.Scale(domain=[1, len(rates)], nice=False))
    greatest = max(rates + [point["rate"] for point in points])
    rate = alt.Y("rate:Q", title="violation rate", scale=alt.Scale(domain=[0, greatest * 1.05 or 1], nice=False))
    ours = (
        alt.Chart(look.data(line)).mark_line(color=look.COLOURS[0], strokeWidth=2, interpolate="step-after").encode(x=place, y=rate)
    )
    some = points[:: len(points) // 200 + 1]
    theirs = alt.Chart(look.data(some)).mark_point(color="black", size=40, strokeWidth=1.2, opacity=1).encode(x=place, y=rate)
    return alt.layer(ours, *([theirs] if points else [])).properties(width=_RATES_WIDTH, height=160)
