"""What users wrote, turned into dataclasses: the types of their fields say what is allowed, and every problem has its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rulescore.errors import Diagnostic, Place, attempt, masked, meant
from rulescore.setting.options import plain_type
from rulescore.setting.request import chosen

_Made = TypeVar("_Made")
Location = tuple[int | str, ...]
Placer = Callable[[Location], Place | None]


def checked(kind: type[_Made], values: object, problems: list[Diagnostic], place: Placer = lambda _: None) -> _Made | None:
    """A dataclass of these values; None if they are wrong: then each problem goes to `problems`, with its place."""
    made: _Made | None = _Reader(problems, place).read(kind, values, ())
    return made


def keys_of(kind: type) -> dict[str, Any]:
    """The fields of a dataclass that users can write, with their types."""
    types = get_type_hints(kind, include_extras=True)
    return {field.name: types[field.name] for field in fields(kind) if field.metadata.get("written", True)}


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns values into what types want, gathering the problems of all of them."""

    problems: list[Diagnostic]
    place: Placer

    def read(self, kind: Any, value: Any, location: Location) -> Any:
        """A value as a type wants it; None if it is wrong. An annotation holds functions, which make a whole value of a short form,
        and checks. Nothing becomes another type, but a word a choice, a text a path, and a value alone a list of one."""
        plain, marks = plain_type(kind)
        before = len(self.problems)
        try:
            for mark in marks:
                value = value if hasattr(mark, "check") else mark(value)
            made = self._made(plain, value, location)
            for mark in marks:
                if hasattr(mark, "check") and len(self.problems) == before:
                    mark.check(made)
        except (ValueError, OverflowError) as error:
            words = _words(location)
            said = "not what it should be" if _may_be_secret(words, value) else f"`{_shown(value)}`"
            message = f"`{'.'.join(words)}` is {said}"
            self.problems.append(Diagnostic("E402", message, self.place(location), notes=(str(error),)))
        return made if len(self.problems) == before else None

    def _made(self, kind: Any, value: Any, location: Location) -> Any:
        origin, within = get_origin(kind), get_args(kind)
        if origin in (tuple, frozenset):
            several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
            return origin([self.read(within[0], item, (*location, i)) for i, item in enumerate(value if several else [value])])
        if origin is dict:
            return {key: self.read(within[1], item, (*location, key)) for key, item in _table(value).items()}
        if is_dataclass(kind):
            return self._section(kind, _table(value), location)
        if issubclass(kind, StrEnum) and value is not None:
            key = ".".join(_words(location))
            return attempt(self.problems, lambda: chosen(kind, value, key), None, lambda: self.place(location))
        return _plain(kind, value)

    def _section(self, kind: Any, values: Mapping[str, Any], location: Location) -> Any:
        before, keys, words = len(self.problems), keys_of(kind), _words(location)
        made = {key: self.read(keys[key], values[key], (*location, key)) for key in keys if key in values}
        for field in fields(kind):
            if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
                message = f"`{'.'.join((*words, field.name))}` is missing"
                self.problems.append(Diagnostic("E404", message, self.place((*location, field.name))))
        for key in (key for key in values if key not in keys):
            helps = (_TRUST_ELSEWHERE,) if key in ("trust", "trusted") else meant(key, list(keys))
            message = f"unknown key `{key}`" + (f" in `{'.'.join(words)}`" if words else "")
            notes = (f"known keys are {', '.join(keys)}",)
            self.problems.append(Diagnostic("E401", message, self.place((*location, key)), notes=notes, helps=helps))
        return kind(**made) if len(self.problems) == before else None


_TRUST_ELSEWHERE = (
    "a file cannot say that it is trusted: leave the key out, and trust the file when you run it, with "
    "`--trust` or `RULESCORE_TRUST=1`"
)
_PLAIN: dict[type, tuple[Any, str]] = {
    str: (str, "expected text"),
    int: (int, "expected a whole number"),
    float: (int | float, "expected a number"),
    bool: (bool, "expected true or false"),
    Path: (str | PathLike, "expected text"),
}
"""What values of a type may be given as, and the words for it."""


def _plain(kind: type, value: Any) -> Any:
    if kind is Any:
        return value
    given, expected = _PLAIN.get(kind, (kind, "expected a value"))
    if not isinstance(value, given) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(expected)
    return kind(value)


def _table(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError("expected a table")
    return value


def _words(location: Location) -> list[str]:
    return [part for part in location if isinstance(part, str)]


def _may_be_secret(words: Sequence[str], value: object) -> bool:
    """Whether a value may be an address with a password, or hold one, in whatever form it is given."""
    return words[:1] == ["engine"] and (words[-1] in {"engine", "url"} or isinstance(value, list | dict))


def _shown(value: object) -> str:
    # We mask passwords before we cut the text: we would not recognise an address without its end.
    text = masked(value if isinstance(value, str) else repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
