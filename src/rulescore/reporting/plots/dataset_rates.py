"""How often the data violate each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from rulescore.reporting.cells import counted, of_all
from rulescore.reporting.plots.look import (
    BESIDE,
    COLOURS,
    GREY,
    MOST_LABELLED,
    NAMED,
    NUMBERS,
    data,
    finished,
    labels,
    rule_text,
    thinned,
)
from rulescore.reporting.plots.published import NothingToDrawError, published_rows, refuse_unknown
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import RuleResult

_ROW = 15
_WIDTH = 380
_TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1)


def dataset_rates_chart(evaluation: Evaluation, published: Any = None) -> Any:
    """A row a rule, from the one that is violated most. If there are many rules: a curve of all, and rows of those that are
    published or are violated most."""
    rows = published_rows(published, ("rule", "value"))
    refuse_unknown(rows, "rule", {rule.info.name for rule in evaluation.rule_results})
    known = {row["rule"]: row["value"] for row in rows}
    ordered = _ordered(evaluation.rule_results, known)
    if not ordered:
        raise NothingToDrawError("dataset_rates", "no rule has an evaluable grounding in the data")
    notes = [*([BESIDE] if known else []), *_left_out(evaluation, known), "right: refuted of evaluable groundings"]
    if len(ordered) <= MOST_LABELLED:
        return finished(_rows(ordered, known), "Violation rate of each rule over the data", *notes)
    most = min(MOST_LABELLED, max(NAMED, len(known)))
    first = {rule.info.name for rule in sorted(ordered, key=lambda rule: rule.info.name not in known)[:most]}
    named = [rule for rule in ordered if rule.info.name in first]
    which = "those published and those violated most" if known else "those violated most"
    chart = alt.vconcat(_curve(ordered, known), _rows(named, known))
    title = f"Violation rates of {counted(len(ordered), 'rule')} over the data"
    return finished(chart, title, *notes, f"below: {of_all(len(named), len(ordered))}, {which}")


def _left_out(evaluation: Evaluation, known: Mapping[str, float]) -> list[str]:
    without = sum(rule.dataset.rate is None and rule.info.name not in known for rule in evaluation.rule_results)
    return [f"not drawn: {counted(without, 'rule')} without evaluable groundings"] if without else []


def _ordered(rules: Sequence[RuleResult], known: Mapping[str, float]) -> list[RuleResult]:
    drawn = [rule for rule in rules if rule.dataset.rate is not None or rule.info.name in known]
    return sorted(drawn, key=lambda rule: (-(rule.dataset.rate or 0), -known.get(rule.info.name, 0), -rule.dataset.evaluable))


def _rows(rules: Sequence[RuleResult], known: Mapping[str, float]) -> Any:
    label = labels(rule.info.name for rule in rules)
    values: list[dict[str, Any]] = [
        {
            "rule": label[rule.info.name],
            "text": rule_text(rule.info.text),
            "rate": rule.dataset.rate,
            "published": known.get(rule.info.name),
            "counts": of_all(rule.dataset.refuted, rule.dataset.evaluable),
        }
        for rule in rules
    ]
    greatest = max([one[key] or 0 for one in values for key in ("rate", "published")])
    base = alt.Chart(data(values)).encode(
        y=alt.Y("rule:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, offset=8)),
    )
    rate = alt.X("rate:Q", title="refuted share of the evaluable groundings (square roots)", **_roots(greatest))
    tips = [
        alt.Tooltip("rule:N"),
        alt.Tooltip("text:N"),
        alt.Tooltip("rate:Q"),
        alt.Tooltip("counts:N"),
        alt.Tooltip("published:Q"),
    ]
    stems = base.mark_bar(height=3, color=COLOURS[3]).encode(x=rate)
    ours = base.mark_point(filled=True, size=45, opacity=1, color=COLOURS[0], clip=False).encode(x=rate, tooltip=tips)
    theirs = base.mark_point(filled=False, size=110, strokeWidth=1.5, opacity=1, color="black").encode(x=alt.X("published:Q"))
    counts = base.mark_text(align="left", dx=8, fontSize=10, color=GREY).encode(x=alt.value(_WIDTH), text="counts:N")
    layers = [stems, ours, *([theirs] if known else []), counts]
    return alt.layer(*layers).properties(width=_WIDTH, height=_ROW * len(values))


def _roots(greatest: float) -> dict[str, Any]:
    """A scale on which a rate of 0.005 can be told from 0, beside one of 0.5."""
    ticks = [tick for tick in _TICKS if tick <= greatest * 1.1]
    scale = alt.Scale(type="sqrt", domain=[0, min(1.05, greatest * 1.1) or 1], nice=False)
    return {"scale": scale, "axis": alt.Axis(format=NUMBERS, **({"values": ticks} if len(ticks) > 3 else {"tickCount": 5}))}


def _curve(rules: Sequence[RuleResult], known: Mapping[str, float]) -> Any:
    """Ours of all rules, from the greatest rate to the least; published ones at the place that their rule has."""
    rates = [rule.dataset.rate or 0.0 for rule in rules]
    line = [{"place": place, "rate": rate} for place, rate in thinned(list(enumerate(rates, 1)))]
    points = [{"place": place, "rate": known[rule.info.name]} for place, rule in enumerate(rules, 1) if rule.info.name in known]
    place = alt.X("place:Q", title="rules, from the one violated most", scale=alt.Scale(domain=[1, len(rates)], nice=False))
    greatest = max(rates + [one["rate"] for one in points])
    rate = alt.Y("rate:Q", title="violation rate", scale=alt.Scale(domain=[0, greatest * 1.05 or 1], nice=False))
    ours = alt.Chart(data(line)).mark_line(color=COLOURS[0], strokeWidth=2, interpolate="step-after").encode(x=place, y=rate)
    some = points[:: len(points) // 200 + 1]
    theirs = alt.Chart(data(some)).mark_point(color="black", size=40, strokeWidth=1.2, opacity=1).encode(x=place, y=rate)
    return alt.layer(ours, *([theirs] if points else [])).properties(width=_WIDTH, height=160)
