"""The score of each rule under each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from rulescore.reporting.cells import counted, of_all
from rulescore.reporting.plots.look import (
    BESIDE,
    MOST_LABELLED,
    NAMED,
    NUMBERS,
    OURS,
    PUBLISHED,
    colours,
    dashes,
    data,
    few,
    finished,
    labels,
    legend,
    powers,
    rule_text,
    shapes,
    thinned,
    wide,
)
from rulescore.reporting.plots.published import NothingToDrawError, published_rows, refuse_unknown
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.ranking import most_telling
from rulescore.scoring.results import RuleKind, RuleResult

_WIDTH = 400
_MOST_MARKS = 320
_AXES = {
    RuleKind.HARD: "score of hard rules: violations",
    RuleKind.SOFT: "score of soft rules: violation rate over that of the data",
}

Scores = Mapping[tuple[str, str], float]
"""By rule and model."""


def rules_chart(evaluation: Evaluation, published: Any = None) -> Any:
    """Hard rules and soft rules, a row each with a mark for each model. If there are many rules: rows of those that are published,
    separate the models most or are broken most, and curves of all."""
    rows = published_rows(published, ("rule", "model", "value"))
    refuse_unknown(rows, "rule", {rule.info.name for rule in evaluation.rule_results})
    theirs = {(row["rule"], row["model"]): row["value"] for row in rows}
    ours = _scores(evaluation)
    models = list(dict.fromkeys([*(model.name for model in evaluation.model_results), *(model for _, model in theirs)]))
    scored = {rule for rule, _ in (*ours, *theirs)}
    drawn = [rule for rule in evaluation.rule_results if rule.info.name in scored]
    if not drawn:
        reason = "no rule has a score" if evaluation.model_results else "there are no models"
        raise NothingToDrawError("rules", reason)
    named = _named(evaluation, drawn, {rule for rule, _ in theirs}, len(models))
    look = labels(models)
    parts = [_rows(rules, kind, look, ours, theirs) for kind, rules in _by_kind(named).items()]
    notes = [*([BESIDE] if theirs else []), *_left_out(evaluation, len(drawn))]
    title = "Score of each rule under each model"
    if len(named) < len(drawn):
        title = f"Scores of {counted(len(drawn), 'rule')} under each model"
        which = "published, or separating the models most" if theirs else "separating the models most, or broken most"
        notes += [f"by name: {of_all(len(named), len(drawn))}, those {which}", "below: all rules, each model's worst first"]
        parts += [_curves(rules, kind, look, ours) for kind, rules in _by_kind(drawn).items()]
    return finished(alt.vconcat(*parts), title, *notes)


def _scores(evaluation: Evaluation) -> dict[tuple[str, str], float]:
    return {
        (rule.info.name, model): found.score.value
        for rule in evaluation.rule_results
        for model, found in rule.models.items()
        if found.score.value is not None and found.score.mark is None
    }


def _left_out(evaluation: Evaluation, drawn: int) -> list[str]:
    without = len(evaluation.rule_results) - drawn
    return [f"not drawn: {counted(without, 'rule')} without a score"] if without else []


def _named(evaluation: Evaluation, drawn: Sequence[RuleResult], published: set[str], models: int) -> list[RuleResult]:
    all_of = min(MOST_LABELLED, max(5, _MOST_MARKS // models))
    names = [model.name for model in evaluation.model_results]
    if len(drawn) <= all_of:
        return most_telling(drawn, names)
    most = min(all_of, max(NAMED, len(published)))
    first = [rule for rule in drawn if rule.info.name in published][:most]
    others = [rule for rule in drawn if rule.info.name not in published]
    return most_telling([*first, *most_telling(others, names, most - len(first))], names)


def _by_kind(rules: Sequence[RuleResult]) -> dict[RuleKind, list[RuleResult]]:
    """A rule that is neither, but has a published score, stands among the soft ones."""
    hard = [rule for rule in rules if rule.kind is RuleKind.HARD]
    others = [rule for rule in rules if rule.kind is not RuleKind.HARD]
    return {kind: some for kind, some in ((RuleKind.HARD, hard), (RuleKind.SOFT, others)) if some}


def _rows(rules: Sequence[RuleResult], kind: RuleKind, models: Mapping[str, str], ours: Scores, theirs: Scores) -> Any:
    label = labels(rule.info.name for rule in rules)
    text = {rule.info.name: rule_text(rule.info.text) for rule in rules}
    values: list[dict[str, Any]] = [
        {"rule": label[rule], "text": text[rule], "model": models[model], "score": scores[rule, model], "source": source}
        for source, scores in ((OURS, ours), (PUBLISHED, theirs))
        for rule in label
        for model in models
        if (rule, model) in scores
    ]
    names = list(models.values())
    axis = alt.Axis(domain=False, ticks=True, tickBand="extent", tickColor="#E4E4E4", grid=True, tickSize=0, offset=8)
    base = alt.Chart(data(values)).encode(
        y=alt.Y("rule:N", sort=list(label.values()), title=None, axis=axis),
        yOffset=alt.YOffset("model:N", sort=names, scale=alt.Scale(domain=names)),
        x=alt.X("score:Q", title=_AXES[kind], **wide(max(one["score"] for one in values), whole=kind is RuleKind.HARD)),
        color=alt.Color("model:N", scale=colours(names), legend=legend()),
        shape=alt.Shape("model:N", scale=shapes(names), legend=legend()),
        tooltip=[alt.Tooltip(one) for one in ("rule:N", "text:N", "model:N", "score:Q", "source:N")],
    )
    filled = base.mark_point(filled=True, size=30, opacity=1).transform_filter(alt.datum.source == OURS)
    hollow = base.mark_point(filled=False, size=95, strokeWidth=1.3, opacity=1).transform_filter(alt.datum.source == PUBLISHED)
    layers = [*([_even()] if kind is RuleKind.SOFT else []), filled, *([hollow] if theirs else [])]
    return alt.layer(*layers).properties(width=_WIDTH, height=len(label) * max(15, 6 + 4 * len(names)))


def _even() -> Any:
    """The score of a model that breaks a rule as often as the data do."""
    return alt.Chart(data([{"score": 1}])).mark_rule(color="#8C8C8C", strokeDash=[4, 3]).encode(x="score:Q")


def _curves(rules: Sequence[RuleResult], kind: RuleKind, models: Mapping[str, str], ours: Scores) -> Any:
    """Each model's scores, from the greatest to the least."""
    lines: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    for model, name in models.items():
        scores = sorted((ours[rule.info.name, model] for rule in rules if (rule.info.name, model) in ours), reverse=True)
        line = thinned(list(enumerate(scores, 1)))
        lines += [{"place": place, "score": score, "model": name} for place, score in line]
        marks += [{"place": place, "score": score, "model": name} for place, score in few(line, log=True)]
    names = list(models.values())
    ticks = alt.Axis(values=powers(len(rules)), format=NUMBERS)
    scale = alt.Scale(type="log", domain=[1, max(len(rules), 2)], nice=False)
    place = alt.X("place:Q", title=f"{kind} rules, from the model's worst", scale=scale, axis=ticks)
    score = alt.Y("score:Q", title="score", **wide(max([one["score"] for one in lines], default=0), whole=kind is RuleKind.HARD))
    colour = alt.Color("model:N", scale=colours(names), legend=legend())
    shape = alt.Shape("model:N", scale=shapes(names), legend=legend())
    dash = alt.StrokeDash("model:N", scale=dashes(names), legend=None)
    drawn = alt.Chart(data(lines)).mark_line(strokeWidth=1.6, interpolate="step-after")
    points = alt.Chart(data(marks)).mark_point(filled=True, size=40, opacity=1)
    return alt.layer(
        drawn.encode(x=place, y=score, color=colour, strokeDash=dash), points.encode(x=place, y=score, color=colour, shape=shape)
    ).properties(width=_WIDTH, height=170)
