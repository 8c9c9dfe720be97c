"""The errors we raise on purpose. A problem of a file is a `Diagnostic`; we collect problems and raise them together in one
`InputError`, so that a user sees all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Self, TypeVar

from rulescore.characters import visible_lines
from rulescore.errors.diagnostics import Diagnostic, Place
from rulescore.errors.render import render_all
from rulescore.errors.secrets import masked

_Made = TypeVar("_Made")
_Other = TypeVar("_Other")


class RulescoreError(Exception):
    """The root of all errors this package raises on purpose."""


class RulescoreWarning(UserWarning):
    """Something in the rules, the data or a result that deserves a look. Its text is that of a problem in `result.warnings`."""


class InputError(RulescoreError):
    """Rules, data or options that cannot be used as they are; carries every problem found, and shows the first of each code."""

    def __init__(self, problems: Iterable[Diagnostic] | Diagnostic) -> None:
        self.problems: tuple[Diagnostic, ...] = (problems,) if isinstance(problems, Diagnostic) else tuple(problems)
        super().__init__(render_all(self.problems))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Diagnostic, ...]], dict[str, object]]:
        """Pickles the error, for other processes, as its problems and the notes added to it."""
        return type(self), (self.problems,), self.__dict__


@contextmanager
def located(place: Place | None) -> Iterator[None]:
    """Context manager: gives this place to every problem of an InputError that has none."""
    try:
        yield
    except InputError as error:
        raise InputError(one if one.place is not None else replace(one, place=place) for one in error.problems) from error


def attempt(
    problems: list[Diagnostic], make: Callable[[], _Made], otherwise: _Other, place: Callable[[], Place | None] = lambda: None
) -> _Made | _Other:
    """What `make` returns; `otherwise` if it raises InputError. We add its problems to `problems`, with `place()` if they have no
    place."""
    try:
        return make()
    except InputError as error:
        problems.extend(one if one.place is not None else replace(one, place=place()) for one in error.problems)
        return otherwise


class EngineError(RulescoreError):
    """The database failed; the message says what it was computing."""

    def __init__(self, message: str) -> None:
        super().__init__(visible_lines(masked(message)))


class UncertainError(EngineError):
    """The database went away during a write, which it may or may not have finished."""


class MissingExtraError(InputError):
    """An optional dependency is not installed; the help names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        self._made_of = what, extra
        helps = (f"`pip install 'rulescore[{extra}]'`; in a checkout of rulescore, `pip install '.[{extra}]'`",)
        super().__init__(Diagnostic("E938", f"{what} needs an optional dependency that is not installed", helps=helps))

    def __reduce__(self) -> tuple[type[Self], tuple[str, str], dict[str, object]]:  # type: ignore[override]
        return type(self), self._made_of, self.__dict__
