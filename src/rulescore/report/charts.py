"""Draws the figures of a report as SVG: rules by models, scores by rank, accuracy against violations.

Axes are linear and begin at 0. We do not draw what nobody measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rulescore.errors.texts import visible
from rulescore.report.drawing import Element, Svg, short
from rulescore.reporting.accuracy import accuracy_columns
from rulescore.reporting.listing import CellKind, counted, shown
from rulescore.reporting.shades import SHADES, in_columns, shade_of
from rulescore.scoring.curve import CurveOver, CurvePoint, curve_points
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import RuleKind
from rulescore.setting.choices import EVERY_ANSWER

_INK = "#57606a"
_MOST_COLUMNS = 400
_CANVAS, _LEFT, _WIDE, _ROW = 960, 150.0, 800.0, 24
_FEWEST_MODELS = 6
_APART = 15.0
_MOST_TICKS = 12
_PARTS = (0.0, 0.5, 1.0)
_WORDS = 80.0
_DASHES = ("", "8 4", "2 3", "12 3 2 3", "5 2", "1 5")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the report. `says`: its content in words, for readers who cannot see it."""

    name: str
    title: str
    note: str
    says: str
    svg: Svg
    shades: tuple[tuple[str, str], ...] = ()


def figures(evaluation: Evaluation) -> tuple[Figure, ...]:
    made = (_heat_map(evaluation), _curve(evaluation), _against_accuracy(evaluation))
    return tuple(figure for figure in made if figure is not None)


def _heat_map(evaluation: Evaluation) -> Figure | None:
    """A row for each model and a column for each rule. With many rules, a column shows the worst of several."""
    models = [model.name for model in evaluation.model_results if not model.unmeasured]
    rules = [rule for rule in evaluation.rule_results if rule.kind is not RuleKind.UNDETERMINED and not rule.info.unrefutable]
    if not models or len(rules) < 2:
        return None
    columns = in_columns(rules, _MOST_COLUMNS)
    each = max(map(len, columns))
    wide = _WIDE / len(columns)
    plate = {"x": f"{_LEFT - 2:.1f}", "y": "20", "width": f"{_WIDE + 10:.1f}", "height": str(_ROW * len(models)), "fill": "#ffffff"}
    hard = sum(column[0].kind is RuleKind.HARD for column in columns)
    elements = [_text(_LEFT, 14, "hard rules", "start")] if hard else []
    # With few hard rules, the words of the soft ones stand beside those of the hard ones.
    soft_left = max(_LEFT + hard * wide + 6, _LEFT + _WORDS * bool(hard))
    elements += [_text(soft_left, 14, "soft rules", "start")] if hard < len(columns) else []
    # In dark mode the darkest shade would look like the background, so like a cell without a case.
    elements.append(Element("rect", {"class": "plate", **plate}))
    for row, model in enumerate(models):
        top = 22 + row * _ROW
        elements.append(_text(_LEFT - 8, top + 15, short(visible(model)), "end"))
        for place, column in enumerate(columns):
            shade = shade_of(column, model)
            if shade is not None:
                left = _LEFT + place * wide + (6 if place >= hard else 0)
                box = {"x": f"{left:.1f}", "y": str(top), "width": f"{max(wide - 0.6, 0.8):.1f}", "height": str(_ROW - 4)}
                elements.append(Element("rect", {"class": "cell", "fill": SHADES[shade][0], **box}))
    several = f" A column stands for {each} rules, by the worst." if each > 1 else ""
    note = (
        f"Each column is a rule. The darker, the more often a model breaks it than the data do; empty: no case to judge.{several}"
    )
    says = f"{counted(len(models), 'model')} by {counted(len(rules), 'rule')}; the table of rules has the numbers"
    return Figure("heat-map", "All rules at a glance", note, says, Svg(26 + _ROW * len(models), tuple(elements), _CANVAS), SHADES)


def _curve(evaluation: Evaluation) -> Figure | None:
    """RVS hard if the best k answers to each query count, for every k."""
    last_ranks = _last_ranks(evaluation)
    models = tuple(model for model in evaluation.model_results if model.name in last_ranks and model.violating_reason is None)
    if not models:
        return None
    points = [point for point in curve_points(replace(evaluation, model_results=models), CurveOver.RANK) if point.hard is not None]
    lines = {
        model.name: [point for point in points if point.model == model.name and point.at <= last_ranks[model.name]]
        for model in models
    }
    lines = {name: line for name, line in lines.items() if line}
    top = max((point.hard or 0.0 for some in lines.values() for point in some), default=0.0)
    if not top:
        return None
    last = max(point.at for some in lines.values() for point in some)
    places = range(1, int(last) + 1) if last <= _MOST_TICKS else (1, int(last))
    across = {(place - 1) / max(last - 1, 1): f"{place:,}" for place in places}
    upwards = {part: shown(top * part, CellKind.SCORE) for part in _PARTS}
    elements = list(_axes(across, upwards, "answers to each query that count", "RVS hard"))
    for number, some in enumerate(lines.values()):
        elements += _line(some, last, top, number)
    elements += _beside({name: (_x(1), _y((some[-1].hard or 0.0) / top)) for name, some in lines.items()})
    note = "RVS hard with the best k answers of each query, at every k."
    ends = "; ".join(f"{visible(name)} {shown(some[-1].hard, CellKind.SCORE)} at {some[-1].at}" for name, some in lines.items())
    return Figure("curve", "By the number of answers that count", note, ends, Svg(300, tuple(elements), _CANVAS))


def _last_ranks(evaluation: Evaluation) -> dict[str, int]:
    """For each model whose predictions all have a rank, and some have a rank above 1: the last rank. Nothing is measured beyond
    it."""
    table = evaluation.contributions_table
    if table is None or not table.num_rows:
        return {}
    limits = {} if evaluation.run is None else evaluation.run.options["top_k"]
    groups = table.group_by("model").aggregate([("rank", "max"), ("rank", "count"), ([], "count_all")]).to_pylist()
    last = {row["model"]: row["rank_max"] for row in groups if row["rank_count"] == row["count_all"] and row["rank_max"] > 1}
    return {
        name: max(rank, limits.get(name) or 0) if (limits.get(name) or 0) < EVERY_ANSWER else rank for name, rank in last.items()
    }


def _line(points: Sequence[CurvePoint], last: float, top: float, number: int) -> Iterator[Element]:
    places = [(_x((point.at - 1) / max(last - 1, 1)), _y((point.hard or 0.0) / top)) for point in points]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dashes = {"stroke-dasharray": _DASHES[number % len(_DASHES)]} if number % len(_DASHES) else {}
    yield Element("path", {"class": "line", "d": path, "fill": "none", "stroke": _INK, "stroke-width": "2", **dashes})
    yield from (
        Element("circle", {"class": "dot", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "2.5", "fill": _INK}) for x, y in places
    )


def _beside(places: Mapping[str, tuple[float, float]]) -> Iterator[Element]:
    """The names of models beside their places, from the top; a name moves down if it would cover another."""
    taken: list[tuple[float, float, float]] = []
    for name, (x, y) in sorted(places.items(), key=lambda place: place[1][1]):
        text = short(visible(name))
        left, right = x + 8, x + 8 + 8 * len(text)
        for start, end, height in sorted(taken, key=lambda place: place[2]):
            if left < end and right > start and abs(y - height) < _APART:
                y = height + _APART
        taken.append((left, right, y))
        yield _text(left, y + 4, text, "start")


def _against_accuracy(evaluation: Evaluation) -> Figure | None:
    """A dot for each model: its accuracy, and the share of its predictions that violate a hard rule."""
    columns = accuracy_columns(evaluation)
    if not columns:
        return None
    column, cells, _ = max(columns, key=lambda column: sum(isinstance(cell, int | float) for cell in column[1].values()))
    points = {
        model.name: (float(accuracy), model.violating / model.predictions.distinct)
        for model in evaluation.model_results
        if model.violating is not None and model.violating_reason is None and model.predictions.distinct
        for accuracy in [cells.get(model.name)]
        if isinstance(accuracy, int | float)
    }
    if len(points) < _FEWEST_MODELS:
        return None
    most, top = (max(point[axis] for point in points.values()) or 1.0 for axis in (0, 1))
    across = {part: shown(most * part, column.kind) for part in _PARTS}
    elements = list(_axes(across, {part: f"{top * part:.1%}" for part in _PARTS}, column.heading, "violating predictions"))
    places = {name: (_x(accuracy / most), _y(share / top)) for name, (accuracy, share) in points.items()}
    for x, y in places.values():
        elements.append(Element("circle", {"class": "dot", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "4", "fill": _INK}))
    elements += _beside(places)
    note = f"Right and below is best: {column.heading} across, the share of predictions that violate a hard rule upwards."
    says = "; ".join(f"{visible(name)}: {shown(x, column.kind)}, {y:.1%}" for name, (x, y) in points.items())
    return Figure("accuracy", "Accuracy and violations", note, says, Svg(300, tuple(elements), _CANVAS))


def _x(share: float) -> float:
    return 90 + 700 * share


def _y(share: float) -> float:
    return 250 - 225 * share


def _axes(across: Mapping[float, str], upwards: Mapping[float, str], below: str, above: str) -> Iterator[Element]:
    """Two lines with their ticks: words by the part of the line at which they stand."""
    for d in (f"M{_x(0)} {_y(0)} L{_x(1)} {_y(0)}", f"M{_x(0)} {_y(0)} L{_x(0)} {_y(1)}"):
        yield Element("path", {"class": "line", "d": d, "fill": "none", "stroke": _INK, "stroke-width": "1"})
    yield from (_text(_x(part), _y(0) + 18, word, "middle") for part, word in across.items())
    yield from (_text(_x(0) - 8, _y(part) + 4, word, "end") for part, word in upwards.items())
    yield _text(_x(0.5), _y(0) + 36, below, "middle")
    yield _text(8, 10, above, "start")


def _text(x: float, y: float, text: str, anchor: str) -> Element:
    return Element(
        "text", {"class": "word", "x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": _INK, "font-size": "13"}, text
    )
