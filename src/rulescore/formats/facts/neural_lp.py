"""Predictions of Neural-LP and DRUM: a line for each query, `query,head,tail,c1,c2,…,head`.

The predictions are what the model ranks above the truth, then the truth; the file lacks the rest of the ranking. They are
heads, given the tail; the query of an inverse, `inv_aunt`, asks for the tails of `aunt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rulescore.readers.foreign import Fault, Found, Rankings

TITLE = "a prediction file of Neural-LP"
LAYOUT = "a line for each query: `query,head,tail,` and the candidates, best first, of which the head is the last"
PREDICTIONS, FACTS, ONE_PREDICATE = True, False, False

_INVERSE = "inv_"


def looks_like(lines: Sequence[str]) -> bool:
    """Whether the first lines all end with their own second field."""
    rows = [line.split(",") for line in lines]
    return bool(rows) and all(len(row) >= 4 and all(row) and row[-1] == row[1] for row in rows)


def read(lines: Iterable[str], *, predictions: bool = True) -> Found:
    """Predictions with their rank and query: its direction and the number of its triple, by its first line in the file, from 0."""
    rankings = Rankings()
    rows: dict[tuple[str, str, str], int] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split(",")
        if fault := _fault(number, line, fields):
            yield fault
            continue
        name, head, tail, *entities = fields
        inverse = name.startswith(_INVERSE)
        triple = (tail, name.removeprefix(_INVERSE), head) if inverse else (head, name, tail)
        row = rows.setdefault(triple, len(rows))
        rankings.add(triple, "tail" if inverse else "head", row, entities, [])
        yield from rankings.taken()
    yield from rankings.taken(least=1)


def reordered(lines: Iterable[str], orders: Iterator[Sequence[int]]) -> Iterator[str]:
    """The lines, each with its candidates in a new order: their old places, from 0. A line ends with its head, so we leave out
    candidates behind the head."""
    for line in lines:
        name, head, tail, *entities = line.split(",")
        moved = [entities[place] for place in next(orders)]
        yield ",".join((name, head, tail, *moved[: moved.index(head) + 1]))


def _fault(number: int, line: str, fields: Sequence[str]) -> Fault | None:
    if len(fields) < 4:
        return Fault(number, line, 1, f"expected four fields or more, found {len(fields)}", max(1, len(line)))
    if "" in fields:
        column = sum(len(field) + 1 for field in fields[: fields.index("")]) + 1
        return Fault(number, line, column, "a name is empty", code="E312")
    if fields[-1] != fields[1]:
        column = len(line) - len(fields[-1]) + 1
        helps = ("names with commas in them cannot be told apart",)
        return Fault(number, line, column, f"expected the head, `{fields[1]}`, as the last candidate", len(fields[-1]), helps)
    return None
