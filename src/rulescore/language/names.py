"""The names of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import PurePath

from rulescore.errors import Source
from rulescore.language.syntax import Program

TEXT_NAME = "<rules>"
"""The name of a source that the user gave as text."""


def rule_names(program: Program) -> list[str]:
    """Names as given, and places for rules without one: `family.rules:12`, and `family.rules:12.2` for the second of that line."""
    labels = _labels(rule.span.source for rule in program.rules if rule.span is not None)
    taken = {rule.name for rule in program.rules if rule.name is not None}
    names: list[str] = []
    last: Counter[str] = Counter()
    for rule in program.rules:
        if rule.name is not None:
            names.append(rule.name)
            continue
        assert rule.span is not None, "rules without a name are read from a source"
        source = rule.span.source
        start = f"{labels[source]}:{source.position(rule.span.start)[0]}"
        last[start], name = next((number, one) for number, one in _numbered(start, last[start]) if one not in taken)
        names.append(name)
    return names


def _numbered(start: str, last: int) -> Iterator[tuple[int, str]]:
    return ((number, start if number == 1 else f"{start}.{number}") for number in count(last + 1))


def _labels(sources: Iterable[Source]) -> dict[Source, str]:
    """What stands before the line number: the name of the file, with as many folders as set it apart from others of that name.
    Several texts, or a file that we read twice, get numbers."""
    distinct = tuple(dict.fromkeys(sources))
    paths = list(dict.fromkeys(source.name for source in distinct))
    short = {path: _shortest(path, paths) for path in paths}
    seen: Counter[str] = Counter()
    labels = {}
    for source in distinct:
        seen[source.name] += 1
        times = seen[source.name]
        labels[source] = short[source.name] if times == 1 else f"{short[source.name]}-{times}"
    return labels


def _shortest(path: str, paths: Sequence[str]) -> str:
    """The fewest last parts of a path that no other path ends with."""
    if path == TEXT_NAME:
        return "rules"
    parts = PurePath(path).parts
    others = [PurePath(other).parts for other in paths if other != path]
    for length in range(1, len(parts)):
        if all(other[-length:] != parts[-length:] for other in others):
            return "/".join(parts[-length:])
    return PurePath(path).as_posix()
