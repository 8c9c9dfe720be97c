"""Where the keys of a TOML text stand; the standard parser does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from rulescore.errors import Place

Path = tuple[str | int, ...]


# The last line of a statement of several lines: it ends a list, a table or a text, and a comment may follow.
_ENDS = re.compile(r"[]}\"'][ \t]*(?:#.*)?\Z")


class TomlPlaces:
    """Places of keys, found statement by statement, and only when there is something to report."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = text.split("\n")
        self._places: dict[Path, tuple[int, int, int]] | None = None
        self._beginnings: set[Path] = set()

    def place(self, location: Path) -> Place:
        """The place of the longest part of a location that is a key; we skip numbers that a short form left out."""
        if self._places is None:
            self._places = dict(self._keys())
            self._beginnings = {path[:end] for path in self._places for end in range(1, len(path) + 1)}
        best: tuple[int, int, int] | None = None
        reached: Path = ()
        for part in location:
            longer = (*reached, part)
            if longer in self._beginnings:
                reached = longer
                best = self._places.get(reached, best)
        if best is None:
            return Place(self._name)
        line, column, length = best
        return Place(self._name, line, column, length, self._lines[line - 1].rstrip("\r"))

    def _keys(self) -> Iterator[tuple[Path, tuple[int, int, int]]]:
        table: Path = ()
        seen: dict[Path, int] = {}
        start = 0
        while start < len(self._lines):
            end, parsed = self._statement(start)
            if self._lines[start].lstrip().startswith("["):
                table = _header(parsed, seen)
                yield table, self._position(start, start + 1, str(next(p for p in reversed(table) if isinstance(p, str))))
            else:
                for path in _paths(parsed):
                    yield (*table, *path), self._position(start, end, str(path[-1]))
            start = end

    def _statement(self, start: int) -> tuple[int, dict[str, Any]]:
        """The end of the statement that begins at a line, and what it says: as many lines as make it complete."""
        for end in range(start + 1, len(self._lines) + 1):
            if end > start + 1 and not _ENDS.search(self._lines[end - 1]):
                continue
            try:
                return end, tomllib.loads("\n".join(self._lines[start:end]))
            except tomllib.TOMLDecodeError:
                continue
        return len(self._lines), {}

    def _position(self, start: int, end: int, key: str) -> tuple[int, int, int]:
        pattern = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
        for number in range(start, end):
            if found := pattern.search(self._lines[number]):
                return number + 1, found.start() + 1, len(key)
        text = self._lines[start]
        return start + 1, len(text) - len(text.lstrip()) + 1, 1


def _header(parsed: dict[str, Any], seen: dict[Path, int]) -> Path:
    """The path of `[a.b]`, or of `[[a]]` with the number of its turn."""
    path: Path = ()
    node: Any = parsed
    while node:
        if isinstance(node, list):
            seen[path] = seen.get(path, -1) + 1
            path, node = (*path, seen[path]), node[0]
        else:
            key, node = next(iter(node.items()))
            path = (*path, key)
    return path


def _paths(parsed: dict[str, Any]) -> Iterator[Path]:
    for key, value in parsed.items():
        yield (key,)
        if isinstance(value, dict):
            yield from ((key, *path) for path in _paths(value))
