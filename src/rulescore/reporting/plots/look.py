"""What all figures look like. Models differ in colours that the colour-blind can distinguish and, in grey, in shapes and dashes;
values of this result are filled, published ones hollow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from rulescore.characters import visible

# Of Okabe and Ito, without the yellow that is hard to see on white; neighbours differ in lightness. As many colours as shapes would
# repeat their pairs too soon.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#CC79A7", "#009E73")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 4), (1, 4), (12, 4), (5, 2, 1, 2, 1, 2))
OURS, PUBLISHED = "this result", "published"
BESIDE = "● this result, ○ published"
GREY = "#595959"

MOST_LABELLED, NAMED = 40, 24
"""If there are more rules than the first number, we draw all as a curve, and as many as the second number by name; more if more
are published, but never more than the first number."""

NUMBERS = ",.6~r"
"""How numbers stand at axes: 0.05, 1,000."""

_LONGEST_NAME, _LONGEST_TEXT = 48, 300
_MOST_POINTS = 150
_MOST_MARKS = 8
# The first is in the wheel of vl-convert; the others are what other machines have in its place. None is ever loaded.
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


def labels(names: Iterable[str]) -> dict[str, str]:
    """A label for each name: hidden characters are spelt out, the middle of a long name is left out, and no two labels are the
    same."""
    found: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for name in dict.fromkeys(names):
        label = _shortened(visible(name)) or "(no name)"
        taken[label] += 1
        found[name] = label if taken[label] == 1 else f"{label} ({taken[label]})"
    return found


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


def dashes(models: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(models), range=[list(one) for one in _cycle(DASHES, len(models))])


def legend(**options: Any) -> alt.Legend:
    return alt.Legend(title=None, orient="top", columns=5, labelLimit=320, symbolLimit=60, symbolStrokeWidth=0, **options)


def _cycle(given: Sequence[Any], number: int) -> list[Any]:
    return [given[one % len(given)] for one in range(number)]


def wide(greatest: float, *, whole: bool = False) -> dict[str, Any]:
    """The scale and axis of scores from 0 on: linear if they are small, else logarithmic, so that both small and large ones can be
    read. `whole`: they are counts."""
    if greatest <= 5:
        return {
            "scale": alt.Scale(domain=[0, max(greatest * 1.08, 0.1)], nice=False),
            "axis": alt.Axis(tickCount=6, format=NUMBERS, **({"tickMinStep": 1} if whole else {})),
        }
    return {
        "scale": alt.Scale(type="symlog", constant=1, domain=[0, greatest * 1.3], nice=False),
        "axis": alt.Axis(values=[0, *powers(greatest * 1.3)], format=NUMBERS if greatest < 1e6 else ".3~s"),
    }


def powers(greatest: float) -> list[int]:
    """Ticks from 1 on: 1, 2, 5, 10, and so on; of large numbers the powers of ten alone."""
    steps = (1,) if greatest > 1000 else (1, 2, 5)
    return [lead * 10**power for power in range(20) for lead in steps if lead * 10**power <= greatest]


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Enough of the points of a line to draw it: the first, the last, and those that are a step away, in either direction, from
    the one before."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    across, up = (_step([point[axis] for point in points]) for axis in (0, 1))
    kept = [points[0]]
    for before, point in pairwise(points):
        if abs(point[0] - kept[-1][0]) >= across or abs(point[1] - kept[-1][1]) >= up:
            if before != kept[-1] and abs(point[1] - before[1]) >= up:
                kept.append(before)  # a jump is drawn where it is
            kept.append(point)
    kept = kept[:: len(kept) // (4 * _MOST_POINTS) + 1]  # of a line that goes up and down all the time
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def few(line: Sequence[tuple[float, float]], *, log: bool) -> list[tuple[float, float]]:
    """Some points of a line, at even distances, to carry its shape."""
    if len(line) <= _MOST_MARKS:
        return list(line)
    first, last = line[0][0], line[-1][0]
    parts = [part / (_MOST_MARKS - 1) for part in range(_MOST_MARKS)]
    places = [first * (last / first) ** part if log else first + (last - first) * part for part in parts]
    return list(dict.fromkeys(_nearest(line, place) for place in places))


def _nearest(line: Sequence[tuple[float, float]], place: float) -> tuple[float, float]:
    return min(line, key=lambda point: abs(point[0] - place))


def _step(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / _MOST_POINTS or float("inf")


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
