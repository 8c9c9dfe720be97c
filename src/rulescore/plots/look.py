"""The common look of all figures. Models differ in colours that the colour-blind can distinguish and, in grey, in shape. Published
values stand next to ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import altair as alt
import pyarrow as pa

from rulescore.comparison.comparing import ComparedResults, compared_models
from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.errors.texts import visible
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels, predicates_in, rule_title
from rulescore.scoring.results import RuleResult


class NothingToDrawError(InputError):
    """The result lacks what a figure shows."""

    def __init__(self, figure: str, reason: str, *helps: str) -> None:
        self.figure, self.reason, self._made_of = figure, reason, (figure, reason, *helps)
        super().__init__(Diagnostic("E791", f"there is nothing to draw as `{figure}`: {reason}", helps=helps))

    def __reduce__(self) -> Any:
        return type(self), self._made_of, self.__dict__


def published_rows(table: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a table that have a value. NaN counts as missing, as in a frame of pandas."""
    if table is None:
        return []
    needed = ticked(columns)
    if not isinstance(table, pa.Table):
        helps = (f"give an Arrow table with the columns {needed}",)
        raise InputError(
            Diagnostic("E791", f"`published` is not an Arrow table, but of type `{type(table).__name__}`", helps=helps)
        )
    if missing := [name for name in columns if name not in table.column_names]:
        message = f"`published` has no column {ticked(missing)}"
        raise InputError(Diagnostic("E791", message, notes=(f"its columns are to be {needed}",)))
    numbers = {"at", "value"}
    try:
        typed = pa.table({name: table[name].cast(pa.float64() if name in numbers else pa.string()) for name in columns})
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        message = "`published` has a value that is not a number, or a name that is not a text"
        raise InputError(Diagnostic("E791", message, notes=(str(error),))) from error
    rows = [row for row in typed.to_pylist() if None not in row.values()]
    return [row for row in rows if all(isfinite(row[name]) for name in numbers.intersection(columns))]


def refuse_unknown(rows: Sequence[dict[str, Any]], column: str, known: Collection[str]) -> None:
    """Refuses published values of a rule or a measure that the result does not have."""
    for name in dict.fromkeys(row[column] for row in rows):
        if name not in known:
            helps = meant(name, list(known))
            message = f"`published` has a value of the {column} `{name}`, which the result does not have"
            raise InputError(Diagnostic("E791", message, helps=helps))


# The colours of Okabe and Ito, without the yellow, which is hard to see on white. Neighbours differ in lightness. There are more
# shapes than colours, so pairs of both repeat later.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#CC79A7", "#009E73")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
WEIGHTS = (1.0, 0.9, 1.8, 1.7, 1.5, 1.8, 1.8, 1.8)
"""By how much each shape is drawn larger."""
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 4), (1, 4), (12, 4), (5, 2, 1, 2, 1, 2))
OURS, PUBLISHED = "this result", "published"
BESIDE = "● this result, ○ published"
GREY = "#595959"

MOST_LABELLED, NAMED = 40, 24
"""If there are more rules than the first number, we draw all as a curve, and as many as the second number by name; more if more
are published, but never more than the first number."""

NUMBERS = ",.6~r"
"""How numbers stand at axes: 0.05, 1,000."""

_LONGEST_NAME, _LONGEST_RULE, _LONGEST_TEXT = 48, 60, 300
_MOST_POINTS = 150
_MOST_MARKS = 8
_ALL_MARKED = 60
"""Every position of a line has a mark, if there are no more than this."""
_MOST_LINEAR = 5
# The first font comes with vl-convert. The other fonts replace it on other machines. We never download a font.
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


def labels(names: Iterable[str]) -> dict[str, str]:
    """A label for each name: hidden characters are spelt out, the middle of a long name is left out, and no two labels are the
    same."""
    labels: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for name in dict.fromkeys(names):
        label = _shortened(visible(name)) or "(no name)"
        taken[label] += 1
        labels[name] = label if taken[label] == 1 else f"{label} ({taken[label]})"
    return labels


def rule_labels(rules: Sequence[RuleResult], names: Labels) -> dict[str, str]:
    """A label for each rule, by name. The label is the name that the user gave it or, without one, its text."""
    names = names.of_predicates(predicate for rule in rules for predicate in predicates_in(rule.info.text))
    titles = {rule.info.name: _shortened(rule_title(rule.info, names), _LONGEST_RULE) for rule in rules}
    taken: Counter[str] = Counter()
    unique: dict[str, str] = {}
    for name, title in titles.items():
        taken[title] += 1
        unique[name] = title if taken[title] == 1 else f"{title} ({taken[title]})"
    return unique


def rule_text(text: str) -> str:
    """The text of a rule, for the tooltip of a mark."""
    return _shortened(visible(text), _LONGEST_TEXT)


def _shortened(text: str, longest: int = _LONGEST_NAME) -> str:
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def data(rows: Sequence[Mapping[str, Any]]) -> Any:
    return alt.Data(values=list(rows))


def colours(models: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(models), range=_cycle(COLOURS, len(models)))


def shapes(models: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(models), range=_cycle(SHAPES, len(models)))


def sizes(models: Sequence[str], size: float) -> alt.Scale:
    """Sizes with which all shapes look equally heavy: Vega's triangles have less than half the area of its squares."""
    return alt.Scale(domain=list(models), range=[size * factor for factor in _cycle(WEIGHTS, len(models))])


def dashes(models: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(models), range=[list(dash) for dash in _cycle(DASHES, len(models))])


def legend(**options: Any) -> alt.Legend:
    look = {"title": None, "orient": "top", "columns": 5, "labelLimit": 320, "symbolLimit": 60, "symbolStrokeWidth": 0}
    return alt.Legend(**(look | options))


def _cycle(marks: Sequence[Any], number: int) -> list[Any]:
    return [marks[place % len(marks)] for place in range(number)]


def wide(greatest: float, *, whole: bool = False) -> dict[str, Any]:
    """The scale and axis of scores from 0 on: linear if they are small, else logarithmic, so both small and large ones can be
    read. `whole`: they are counts. The title of a logarithmic axis says that the axis is logarithmic: `log_words`."""
    if greatest <= _MOST_LINEAR:
        return {
            "scale": alt.Scale(domain=[0, max(greatest * 1.08, 0.1)], nice=False),
            "axis": alt.Axis(tickCount=6, format=NUMBERS, **({"tickMinStep": 1} if whole else {})),
        }
    return {
        "scale": alt.Scale(type="symlog", constant=1, domain=[0, greatest * 1.3], nice=False),
        "axis": alt.Axis(values=[0, *powers(greatest * 1.3)], format=NUMBERS if greatest < 1e6 else ".3~s"),
    }


def log_words(greatest: float) -> str:
    """What the title of an axis adds if `wide` makes it logarithmic."""
    return "" if greatest <= _MOST_LINEAR else " (log scale from 1 on)"


def powers(greatest: float) -> list[int]:
    """Ticks from 1 on: 1, 2, 5, 10, and so on; of large numbers the powers of ten alone."""
    steps = (1,) if greatest > 1000 else (1, 2, 5)
    return [lead * 10**power for power in range(20) for lead in steps if lead * 10**power <= greatest]


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Enough points to draw a line: the first, the last, and every point that is a step away, in either direction, from the kept
    point before it."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    across, up = (_step([point[axis] for point in points]) for axis in (0, 1))
    kept = [points[0]]
    for before, point in pairwise(points):
        if abs(point[0] - kept[-1][0]) >= across or abs(point[1] - kept[-1][1]) >= up:
            if before != kept[-1] and abs(point[1] - before[1]) >= up:
                kept.append(before)  # a step is drawn at the value where it happens
            kept.append(point)
    # A line that goes up and down often still has too many points, so we keep every n-th.
    kept = kept[:: len(kept) // (4 * _MOST_POINTS) + 1]
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def few(line: Sequence[tuple[float, float]], *, log: bool) -> list[tuple[float, float]]:
    """The points of a line that get a mark: all or, if there are many, some at even distances."""
    if len(line) <= _ALL_MARKED:
        return list(line)
    first, last = line[0][0], line[-1][0]
    parts = [part / (_MOST_MARKS - 1) for part in range(_MOST_MARKS)]
    places = [first * (last / first) ** part if log else first + (last - first) * part for part in parts]
    return list(dict.fromkeys(_nearest(line, place) for place in places))


def _nearest(line: Sequence[tuple[float, float]], place: float) -> tuple[float, float]:
    return min(line, key=lambda point: abs(point[0] - place))


def _step(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / _MOST_POINTS or float("inf")


def even(axis: str, field: str = "") -> Any:
    """The score of a model that breaks rules as often as the data do."""
    name = field or {"x": "value", "y": "score"}[axis]
    return alt.Chart(data([{name: 1}])).mark_rule(color="#8C8C8C", strokeDash=[4, 3]).encode(**{axis: f"{name}:Q"})


INTERVALS = "thin lines: 95% intervals"
EVEN = "dashed: as often as the data"


def intervals_of(evaluation: Evaluation) -> ComparedResults | None:
    """The models with intervals. None if this result has no contributions, or if they belong to other rules than the figure
    draws."""
    table = evaluation.contributions_table
    if table is None or not table.num_rows:
        return None
    names = {rule.info.name for rule in evaluation.rule_results}
    return compared_models(evaluation) if names.issuperset(table["rule"].unique().to_pylist()) else None


def finished(chart: Any, title: str, *notes: str) -> Any:
    """A chart with its title, and the fonts and lines of all figures."""
    below = {"subtitle": list(notes)} if notes else {}
    heading = alt.TitleParams(title, anchor="start", frame="group", **below)
    return (
        chart.properties(title=heading, background="white", description=title)
        .configure(font=_FONT)
        .configure_view(stroke="#BBBBBB")
        .configure_axis(gridColor="#E4E4E4", labelFontSize=11, titleFontSize=11, titleFontWeight="normal", labelLimit=0)
        .configure_title(fontSize=14, subtitleFontSize=11, subtitleColor=GREY, offset=10)
        .configure_legend(labelFontSize=11, symbolSize=80)
        .configure_header(labelFontSize=11, titleFontSize=11)
    )
