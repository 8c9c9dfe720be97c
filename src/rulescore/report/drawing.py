"""Draws a rule or a violation: nodes at fixed places, and facts as arrows between them.

`report.js` draws all other violations with the same numbers; a test compares the two.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rulescore.reporting.listing import CellKind, shown

WIDTH = 440
_HALF_HEIGHT = 15
_LONGEST, _LONGEST_LABEL = 18, 24
_LETTER = 7.4
_APART = 34
_LOOP = 34
_MARGIN = 8

Point = tuple[float, float]


class Part(StrEnum):
    """The part that a fact plays in a violation."""

    PREDICTED = "predicted"
    KNOWN = "known"
    SHOULD = "should"
    AGAINST = "against"


_LOOKS: Mapping[Part, Mapping[str, str]] = {
    Part.PREDICTED: {"stroke": "#b3320b", "stroke-width": "2.4", "stroke-dasharray": "7 5"},
    Part.KNOWN: {"stroke": "#1b1f24", "stroke-width": "1.5"},
    Part.SHOULD: {"stroke": "#0a53a8", "stroke-width": "2", "stroke-dasharray": "2 4"},
    Part.AGAINST: {"stroke": "#1b1f24", "stroke-width": "3.4"},
}
_SIGNS = {Part.PREDICTED: "{} ?", Part.KNOWN: "{}", Part.SHOULD: "⇒ {}", Part.AGAINST: "{}"}


@dataclass(frozen=True, slots=True)
class Arrow:
    """A fact of one or two arguments, by the numbers of its nodes."""

    part: Part
    label: str
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and arrows. `nodes`: the text at each place, None for an empty place. The rule's variables have the first `placed`
    places; other nodes stand below."""

    nodes: tuple[str | None, ...]
    placed: int
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """An element of SVG."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Svg:
    """`left` and `top`: the coordinates of its corner."""

    height: int
    elements: tuple[Element, ...]
    width: int = WIDTH
    left: int = 0
    top: int = 0


def drawn(drawing: Drawing) -> Svg | None:
    """The drawing as SVG; None if no fact can be drawn."""
    if not any(len(arrow.ends) == 2 for arrow in drawing.arrows):
        return None
    places = _places(drawing)
    return _fitted((*_arrows(drawing, places), *_nodes(drawing, places)))


def _fitted(elements: tuple[Element, ...]) -> Svg:
    """The drawing is as high as its texts and nodes need, and wider than usual if they need it. Otherwise a loop at the top or a
    long word at a side would be cut."""
    boxes = [box for element in elements if (box := _box(element)) is not None]
    left, top = min(0, *(box[0] for box in boxes)), min(box[1] for box in boxes) - _MARGIN
    right, bottom = max(WIDTH, *(box[2] for box in boxes)), max(box[3] for box in boxes) + _MARGIN
    left, top = math.floor(left), math.floor(top)
    return Svg(math.ceil(bottom) - top, elements, math.ceil(right) - left, left, top)


def _box(element: Element) -> tuple[float, float, float, float] | None:
    """Left, top, right and bottom of a text or a node; arrows end at nodes and pass through their labels."""
    found = element.attributes
    match element.tag:
        case "text":
            x, y, half = float(found["x"]), float(found["y"]), _LETTER * len(element.text) / 2
            return x - half, y - 13, x + half, y + 5
        case "rect":
            x, y = float(found["x"]), float(found["y"])
            return x, y, x + float(found["width"]), y + float(found["height"])
        case _:
            return None


def _places(drawing: Drawing) -> list[Point]:
    number = drawing.placed
    fixed: list[Point] = {
        1: [(220.0, 150.0)],
        2: [(80.0, 130.0), (360.0, 130.0)],
        3: [(220.0, 45.0), (80.0, 215.0), (360.0, 215.0)],
    }.get(number) or [
        (220 + 150 * math.sin(2 * math.pi * place / number), 150 - 105 * math.cos(2 * math.pi * place / number))
        for place in range(number)
    ]
    further = len(drawing.nodes) - number
    below = max((y for _, y in fixed), default=15.0) + 100
    return fixed + [(WIDTH * (place + 1) / (further + 1), below) for place in range(further)]


def _nodes(drawing: Drawing, places: Sequence[Point]) -> Iterator[Element]:
    for name, (x, y) in zip(drawing.nodes, places, strict=True):
        if name is None:
            continue
        half = _half_width(name)
        box = {"x": _n(x - half), "y": _n(y - _HALF_HEIGHT), "width": _n(2 * half), "height": _n(2 * _HALF_HEIGHT), "rx": "14"}
        yield Element("rect", {"class": "node", "fill": "#ffffff", "stroke": "#1b1f24", "stroke-width": "1.4", **box})
        yield Element("text", {"class": "name", "x": _n(x), "y": _n(y + 4.5), "text-anchor": "middle"}, short(name))
    tags: Counter[int] = Counter()
    for arrow in drawing.arrows:
        if len(arrow.ends) == 1:
            (end,) = arrow.ends
            x, y = places[end]
            tags[end] += 1
            yield _label(arrow, (x, y + _HALF_HEIGHT + 16 * tags[end]))


def _arrows(drawing: Drawing, places: Sequence[Point]) -> Iterator[Element]:
    pairs = [arrow for arrow in drawing.arrows if len(arrow.ends) == 2]
    number = Counter(tuple(sorted(arrow.ends)) for arrow in pairs)
    seen: Counter[tuple[int, ...]] = Counter()
    labels = []
    for arrow in pairs:
        low, high = pair = tuple(sorted(arrow.ends))
        seen[pair] += 1
        halves = [_half_width(drawing.nodes[end] or "") for end in arrow.ends]
        if low == high:
            elements, at = _loop(arrow, places[low], seen[pair])
        else:
            bend = (seen[pair] - 1 - (number[pair] - 1) / 2) * _APART
            elements, at = _curve(arrow, [places[end] for end in arrow.ends], halves, bend if arrow.ends[0] == low else -bend)
        yield from elements
        labels.append(_label(arrow, at))
    yield from labels


def _curve(arrow: Arrow, ends: Sequence[Point], halves: Sequence[float], bend: float) -> tuple[list[Element], Point]:
    (x, y), (to_x, to_y) = ends
    length = math.sqrt((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y))
    control = ((x + to_x) / 2 - 2 * bend * (to_y - y) / length, (y + to_y) / 2 + 2 * bend * (to_x - x) / length)
    start = _clipped((x, y), control, halves[0], 2)
    tip = _clipped((to_x, to_y), control, halves[1], 4)
    path = f"M{_n(start[0])} {_n(start[1])} Q{_n(control[0])} {_n(control[1])} {_n(tip[0])} {_n(tip[1])}"
    at = (start[0] / 4 + control[0] / 2 + tip[0] / 4, start[1] / 4 + control[1] / 2 + tip[1] / 4)
    return [_path(arrow, path), _head(arrow, control, tip)], at


def _loop(arrow: Arrow, place: Point, number: int) -> tuple[list[Element], Point]:
    """An arrow from a node to itself, above the node; further arrows go around the first."""
    x, y = place
    top, wide = y - _HALF_HEIGHT - 2, 14.0 + 8 * number
    high = top - _LOOP * number
    path = f"M{_n(x - 10)} {_n(top)} C{_n(x - wide - 14)} {_n(high)} {_n(x + wide + 14)} {_n(high)} {_n(x + 10)} {_n(top - 2)}"
    return [_path(arrow, path), _head(arrow, (x + wide + 14, high), (x + 10, top - 2))], (x, top / 4 + high * 3 / 4 - 9)


def _clipped(centre: Point, toward: Point, half: float, gap: float) -> Point:
    """The point at which a line from a node's middle leaves its box."""
    across, down = toward[0] - centre[0], toward[1] - centre[1]
    share = min((half + gap) / abs(across) if across else math.inf, (_HALF_HEIGHT + gap) / abs(down) if down else math.inf, 1.0)
    return centre[0] + share * across, centre[1] + share * down


def _path(arrow: Arrow, path: str) -> Element:
    return Element("path", {"class": arrow.part.value, "d": path, "fill": "none", **_LOOKS[arrow.part]})


def _head(arrow: Arrow, come_from: Point, tip: Point) -> Element:
    across, down = tip[0] - come_from[0], tip[1] - come_from[1]
    length = math.sqrt(across * across + down * down) or 1.0
    across, down = 10 * across / length, 10 * down / length
    left = (tip[0] - across - down / 2.4, tip[1] - down + across / 2.4)
    right = (tip[0] - across + down / 2.4, tip[1] - down - across / 2.4)
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in (tip, left, right))
    return Element("polygon", {"class": f"head {arrow.part}", "points": points, "fill": _LOOKS[arrow.part]["stroke"]})


def _label(arrow: Arrow, at: Point) -> Element:
    attributes = {"class": f"label {arrow.part}", "x": _n(at[0]), "y": _n(at[1] + 4), "text-anchor": "middle"}
    look = {"fill": _LOOKS[arrow.part]["stroke"], "stroke": "#ffffff", "stroke-width": "5", "paint-order": "stroke"}
    return Element("text", attributes | look, _SIGNS[arrow.part].format(short(arrow.label, _LONGEST_LABEL)))


def short(name: str, longest: int = _LONGEST) -> str:
    """A name that fits into a node or at an arrow: a long name loses its middle."""
    if len(name) <= longest:
        return name
    return f"{name[: longest // 2]}…{name[-(longest // 2 - 1) :]}"


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides of a comparison of numbers. `operator`: if the comparison should hold and does not. `missed`: by how much, in
    words."""

    left: float
    right: float
    text: str
    operator: str | None
    missed: str


def number_line(sides: Sides) -> Svg:
    """Both sides on a line: the band that the rule allows, and the margin by which it is missed."""
    near, far = min(sides.left, sides.right), max(sides.left, sides.right)
    low = 0.0 if 0 <= near < far - near else near - (far - near) / 3
    high = far + (far - low) / 8
    span = high - low or 1.0

    def at(value: float) -> float:
        return 30 + 380 * (value - low) / span

    def stretch(kind: str, start: float, end: float, fill: str, y: int, tall: int) -> Element:
        box = {"x": _n(at(start)), "y": str(y), "width": _n(at(end) - at(start)), "height": str(tall), "fill": fill}
        return Element("rect", {"class": kind, **box})

    def word(value: float, y: int, text: str) -> Element:
        place = min(max(at(value), 70.0), 370.0)
        return Element("text", {"class": "name", "x": _n(place), "y": str(y), "text-anchor": "middle"}, text)

    allowed = {"<": (low, sides.right), "<=": (low, sides.right), ">": (sides.right, high), ">=": (sides.right, high)}
    band = allowed.get(sides.operator or "")
    parts = [stretch("track", low, high, "#d9dee4", 48, 4)]
    parts += [] if band is None else [stretch("allowed", *band, "#0a53a8", 45, 10)]
    parts.append(stretch("share", near, far, "#b3320b", 47, 6))
    for value in (sides.left, sides.right):
        mark = {"x": _n(at(value) - 1.5), "y": "36", "width": "3", "height": "28", "fill": "#1b1f24"}
        parts.append(Element("rect", {"class": "mark", **mark}))
    left, right = (shown(float(value), CellKind.SCORE) for value in (sides.left, sides.right))
    parts += [word(sides.left, 28, f"is {left}")]
    parts += [word(sides.right, 84, f"{f'allowed {sides.operator}' if sides.operator else 'against'} {right}")]
    parts += [word((sides.left + sides.right) / 2, 104, sides.missed)] if sides.missed else []
    return Svg(112 if sides.missed else 92, tuple(parts))


def _half_width(name: str) -> float:
    return max(18.0, _LETTER * len(short(name)) / 2 + 11)


def _n(number: float) -> str:
    """A coordinate with one digit, the same here and in JavaScript."""
    return f"{math.floor(number * 10 + 0.5) / 10:g}"
