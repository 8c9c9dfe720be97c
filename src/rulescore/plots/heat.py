"""A heat map: how much more often than the data each model breaks each rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from rulescore.plots.look import MOST_LABELLED, NothingToDrawError, data, finished, labels, legend, rule_labels
from rulescore.reporting.listing import of_all
from rulescore.reporting.shades import SHADES, in_columns, shade_of
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.score import most_telling

_MOST_COLUMNS = 400
_WIDTH, _CELL = 640, 16


def heat_map_chart(evaluation: Evaluation) -> Any:
    """A cell for each rule and model; no cell if nothing can be judged. Up to 40 rules are rows with their names. If there are
    more, each rule is a column; if there are very many, a column shows the worst of several rules."""
    models = [model.name for model in evaluation.model_results if not model.unmeasured]
    rules = most_telling(evaluation.rule_results, models)
    columns = in_columns(rules, _MOST_COLUMNS)
    if not models or not columns:
        raise NothingToDrawError("heat_map", "there are no models" if not models else "no rule counts in a score")
    named = len(columns) <= MOST_LABELLED
    rows = _rows(evaluation, columns, models)
    if not rows:
        raise NothingToDrawError("heat_map", "no case of any rule can be judged")
    each = max(map(len, columns))
    several = [f"a column is {each} rules, by the worst"] if each > 1 else []
    notes = ["how much more often than the data, in percentage points; empty: no case to judge", *several]
    first, *others = _kinds(rows)
    parts = [_part(rows, kind, labels(models), len(columns), named=named, labelled=kind is first) for kind in (first, *others)]
    return finished((alt.vconcat if named else alt.hconcat)(*parts), "How often models break each rule", *notes)


def _kinds(rows: Sequence[dict[str, Any]]) -> list[RuleKind]:
    return [kind for kind in (RuleKind.HARD, RuleKind.SOFT) if any(row["kind"] == kind for row in rows)]


def _rows(evaluation: Evaluation, columns: Sequence[Sequence[RuleResult]], models: Sequence[str]) -> list[dict[str, Any]]:
    names, shown = rule_labels([rule for column in columns for rule in column], evaluation.labels), labels(models)
    return [
        {
            "place": place,
            "kind": column[0].kind.value,
            "rule": names[column[0].info.name],
            "model": shown[model],
            "counts": of_all(counts.refuted, counts.evaluable) if len(column) == 1 else f"the worst of {len(column)} rules",
            "shade": SHADES[shade][1],
        }
        for place, column in enumerate(columns)
        for model in models
        for counts, shade in [(column[0].models[model].counts, shade_of(column, model))]
        if shade is not None
    ]


def _part(
    rows: Sequence[dict[str, Any]], kind: RuleKind, models: dict[str, str], columns: int, *, named: bool, labelled: bool
) -> Any:
    rows = [row for row in rows if row["kind"] == kind]
    words = [word for _, word in SHADES]
    colour = alt.Color(
        "shade:N",
        scale=alt.Scale(domain=words, range=[colour for colour, _ in SHADES]),
        legend=legend(symbolType="square", columns=len(words)),
    )
    tips = [alt.Tooltip("rule:N"), alt.Tooltip("model:N"), alt.Tooltip("counts:N")]
    domain = alt.Scale(domain=list(models.values()))
    number = len({row["place"] for row in rows})
    chart = alt.Chart(data(rows)).mark_rect(stroke="white", strokeWidth=0.6 if number <= MOST_LABELLED else 0)
    if named:
        across = alt.X("model:N", scale=domain, title=f"{kind} rules", axis=alt.Axis(labelAngle=0, orient="top", domain=False))
        order = [row["rule"] for row in rows]
        up = alt.Y("rule:N", sort=list(dict.fromkeys(order)), title=None, axis=alt.Axis(domain=False, ticks=False))
        return chart.encode(x=across, y=up, color=colour, tooltip=tips).properties(width=70 * len(models), height=_CELL * number)
    across = alt.X("place:O", title=f"{kind} rules", axis=alt.Axis(labels=False, ticks=False, domain=False))
    up = alt.Y("model:N", scale=domain, title=None, axis=alt.Axis(domain=False, ticks=False, labels=labelled))
    wide = max(40, round(_WIDTH * number / columns))
    return chart.encode(x=across, y=up, color=colour, tooltip=tips).properties(width=wide, height=_CELL * len(models) + 8)
