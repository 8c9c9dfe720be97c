"""Tests of single values that shapes ask for. Rules call them by names that no facts have. We answer in Python, because the values
of a property may have several types, also types that a shape forbids.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection

from rulescore.language.rule_formats import Kinds, Test
from rulescore.language.terms import write_value
from rulescore.readers.rdf import SHACL, XSD
from rulescore.values import Value, key_of

_KINDS_BY_TYPE: dict[type, tuple[str, ...]] = {
    bool: (f"{XSD}boolean",),
    int: (f"{XSD}integer",),
    float: (f"{XSD}decimal", f"{XSD}double", f"{XSD}float"),
    datetime.datetime: (f"{XSD}dateTime",),
    datetime.date: (f"{XSD}date",),
}
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}


def shape_tests(kinds: Kinds) -> dict[str, Test]:
    """The tests by their names. `kinds`: of constants in RDF files; we guess the kinds of others by their types."""

    def of(value: Value) -> Collection[str]:
        return kinds.get(key_of(value)) or _guessed(value)

    return {
        "sh:datatype": lambda value, name: name in of(value),
        "sh:nodeKind": lambda value, name: any(_is_kind(kind, name.removeprefix(SHACL)) for kind in of(value)),
        "sh:languageIn": lambda value, *ranges: any(_in_language(kind, name) for kind in of(value) for name in ranges),
        "sh:minInclusive": lambda value, limit: _compared(value, limit, lambda order: order >= 0),
        "sh:minExclusive": lambda value, limit: _compared(value, limit, lambda order: order > 0),
        "sh:maxInclusive": lambda value, limit: _compared(value, limit, lambda order: order <= 0),
        "sh:maxExclusive": lambda value, limit: _compared(value, limit, lambda order: order < 0),
        "sh:minLength": lambda value, number: (length := _length(value, of)) is not None and length >= number,
        "sh:maxLength": lambda value, number: (length := _length(value, of)) is not None and length <= number,
        "sh:pattern": lambda value, pattern, flags="": _matches(value, pattern, flags, of),
    }


TEST_NAMES = frozenset(shape_tests({}))
_OF_KINDS = frozenset({"sh:datatype", "sh:nodeKind", "sh:languageIn", "sh:minLength", "sh:maxLength", "sh:pattern"})
"""The tests that ask for the kinds of terms."""


def wanted_tests(names: Collection[str], kinds: Callable[[], Kinds]) -> dict[str, Test]:
    """The tests with these names."""
    tests = shape_tests(kinds() if not _OF_KINDS.isdisjoint(names) else {})
    return {name: tests[name] for name in names}


def _guessed(value: Value) -> Collection[str]:
    if isinstance(value, str):
        return ("BlankNode",) if value.startswith("_:") else ("IRI",) if _IRI.fullmatch(value) else (f"{XSD}string",)
    return _KINDS_BY_TYPE[type(value)]


def _is_kind(kind: str, name: str) -> bool:
    """Whether a kind of term is among those that `sh:nodeKind` names, such as `BlankNodeOrIRI`."""
    return (kind if kind in ("IRI", "BlankNode") else "Literal") in name.replace("Or", " ").split()


def _in_language(kind: str, name: str) -> bool:
    return kind.startswith("@") and (kind[1:].lower() == name.lower() or kind[1:].lower().startswith(f"{name.lower()}-"))


def _compared(value: object, limit: object, holds: Callable[[int], bool]) -> bool:
    """Values that have no order fail."""
    try:
        if isinstance(value, str | bool) != isinstance(limit, str | bool) or (isinstance(value, str) and value.startswith("_:")):
            return False
        return holds((value > limit) - (value < limit))  # type: ignore[operator]
    except TypeError:
        return False


def _length(value: Value, of: Callable[[Value], Collection[str]]) -> int | None:
    return None if "BlankNode" in of(value) else len(_text(value))


def _matches(value: Value, pattern: str, flags: str, of: Callable[[Value], Collection[str]]) -> bool:
    if "BlankNode" in of(value):
        return False
    meant = 0
    for flag in flags:
        meant |= _FLAGS.get(flag, 0)
    return re.search(pattern, _text(value), meant) is not None


def _text(value: Value) -> str:
    return value if isinstance(value, str) else write_value(value)
