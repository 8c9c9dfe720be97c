"""Rankings of AnyBURL and PyClause: three lines a test triple.

    5 aunt 76
    Heads: 5⇥0.74⇥12⇥0.31⇥
    Tails: 76⇥0.74⇥

The two lists may stand in either order, and may be empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rulescore.readers.foreign import Fault, Found, Rankings, finite

TITLE = "an AnyBURL ranking"
LAYOUT = "three lines a test triple: the triple, `Heads: entity⇥score⇥…` and `Tails: entity⇥score⇥…`"
PREDICTIONS, FACTS, ONE_PREDICATE = True, False, False

_MARKS = {"Heads:": "head", "Tails:": "tail"}


def looks_like(lines: Sequence[str]) -> bool:
    """Whether the first lines of a file are a triple and its two lists."""
    return len(lines) >= 3 and _mark(lines[0]) is None and None not in (_mark(lines[1]), _mark(lines[2]))


def read(lines: Iterable[str], *, predictions: bool = True) -> Found:
    """Predictions with their rank, score and query: its direction and the number of its test triple in the file, from 0."""
    numbered = enumerate(lines, 1)
    rankings = Rankings()
    row = 0
    while block := list(islice(numbered, 3)):
        if fault := _misshapen(block):
            yield fault
            return
        query = _triple(block[0][1])
        if query is None:
            yield _no_triple(*block[0])
        for number, line in block[1:]:
            direction, entities, scores, fault = _ranked(number, line)
            if fault is not None:
                yield fault
            elif query is not None:
                rankings.add(query, direction, row, entities, scores)
        row += 1
        yield from rankings.taken()
    yield from rankings.taken(least=1)


def reordered(lines: Iterable[str], orders: Iterator[Sequence[int]]) -> Iterator[str]:
    """The lines, with the entities of each list in a new order. `orders` has their old places, from 0."""
    for number, line in enumerate(lines):
        start, fields = _fields(line) if number % 3 else (0, [])
        if not fields:
            yield line
            continue
        pairs = list(zip(fields[::2], fields[1::2], strict=True))
        moved = [text for place in next(orders) for text in pairs[place]]
        yield line[:start] + "\t".join(moved) + ("\t" if line.endswith("\t") else "")


def _fields(line: str) -> tuple[int, list[str]]:
    """Where a list begins in its line, and its entities and scores in turn."""
    start = len("Heads:")
    start += line[start:].startswith(" ")
    return start, line[start:].removesuffix("\t").split("\t") if line[start:].strip() else []


def _mark(line: str) -> str | None:
    return next((mark for mark in _MARKS if line.startswith(mark)), None)


def _misshapen(block: Sequence[tuple[int, str]]) -> Fault | None:
    """The fault of a line that another line should precede. We cannot understand the lines after it either."""
    number, line = block[0]
    if _mark(line) is not None or not line:
        return Fault(number, line, 1, f"expected a triple, found {_quoted(line)}", max(1, len(line.partition(":")[0])))
    seen: list[str] = []
    for number, line in block[1:]:
        mark = _mark(line)
        if mark is None or mark in seen:
            wanted = " or ".join(f"`{mark}`" for mark in _MARKS if mark not in seen)
            return Fault(number, line, 1, f"expected {wanted}, found {_quoted(line)}", max(1, len(line)))
        seen.append(mark)
    if len(block) < 3:
        return Fault(number, line, len(line) + 1, "the file ends within the lists of its last triple", helps=("is it complete?",))
    return None


def _quoted(line: str) -> str:
    return f"`{line[:20]}{'…' if len(line) > 20 else ''}`" if line else "an empty line"


def _triple(line: str) -> tuple[str, str, str] | None:
    parts = line.split("\t") if "\t" in line else line.split(" ")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and all(parts) else None


def _no_triple(number: int, line: str) -> Fault:
    helps = (
        ("names with blanks in them cannot be told apart: replace the blanks before the ranking is made",) if " " in line else ()
    )
    return Fault(number, line, 1, "expected head, relation and tail", max(1, len(line)), helps)


def _ranked(number: int, line: str) -> tuple[str, list[str], list[float], Fault | None]:
    """The direction of a list, its entities and their scores."""
    start, fields = _fields(line)
    entities, texts = fields[::2], fields[1::2]
    direction = _MARKS[line[: len("Heads:")]]
    wrong = next((place for place, text in enumerate(texts) if finite(text) is None), None)

    def fault(place: int, message: str, code: str) -> Fault:
        column = start + sum(len(field) + 1 for field in fields[:place]) + 1
        return Fault(number, line, column, message, max(1, len(fields[place])), code=code)

    if len(entities) > len(texts):
        return direction, [], [], fault(len(fields) - 1, f"`{entities[-1]}` has no score", "E152")
    if wrong is not None:
        return direction, [], [], fault(2 * wrong + 1, f"the score is `{texts[wrong]}`, not a finite number", "E314")
    if "" in entities:
        return direction, [], [], fault(2 * entities.index(""), "an entity has no name", "E312")
    return direction, entities, [float(text) for text in texts], None
