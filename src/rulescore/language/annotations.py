"""Annotations before a rule, or a declaration with `@check`: `@hard @weight(2) @description("…") @tags(a, b) @confidence(0.8)
@support(924)`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from rulescore.errors import Span, suggestion
from rulescore.language.cursor import Cursor
from rulescore.language.syntax import About, Constant, Kind, Term, Variable, Wildcard
from rulescore.language.terms import read_term

_LARGEST = sys.float_info.max
_FORMS = {
    "hard": "`@hard`",
    "soft": "`@soft`",
    "check": "`@check`",
    "weight": "`@weight(2)`, with a finite number that is not negative",
    "description": '`@description("one text")`',
    "tags": "`@tags(one, two)`, with at least one name",
    "confidence": "`@confidence(0.8)`, with a number from 0 to 1",
    "support": "`@support(924)`, with a whole number that is not negative",
    "about": '`@about(X)`, `@about(X, "path")` or `@about(X, "path", Y)`, with variables of the rule',
}


@dataclass(frozen=True, slots=True)
class Annotations:
    kind: Kind | None = None
    check: bool = False
    weight: float = 1.0
    description: str | None = None
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    support: int | None = None
    about: About | None = None
    span: Span | None = None


NO_ANNOTATIONS = Annotations()


def read_annotations(cursor: Cursor) -> Annotations:
    """All annotations before a statement. Reports their problems, so the statement can be read all the same."""
    start = cursor.token.start
    annotations = NO_ANNOTATIONS
    seen: set[str] = set()
    while cursor.token.kind == "@":
        at = cursor.advance()
        word = cursor.expect("word", "the name of an annotation")
        name = word.text
        # `@hard (X + 1) mod 7 < 3 <- …`: what follows a blank is the head.
        is_head = name in {"hard", "soft"} and cursor.token.start > word.end
        terms = None if is_head else _read_arguments(cursor)
        span = cursor.span_from(at.start)
        if _is_usable(cursor, name, seen, span):
            annotations = _annotate(cursor, annotations, name, terms, span)
        seen.add(name)
        annotations = replace(annotations, span=cursor.span_from(start))
    return annotations


def _read_arguments(cursor: Cursor) -> tuple[Term, ...] | None:
    """The terms in parentheses; None without parentheses."""
    if cursor.token.kind != "(":
        return None
    cursor.advance()
    terms = [] if cursor.token.kind == ")" else cursor.several(read_term)
    cursor.expect(")", "`,` or `)`")
    return tuple(terms)


def _is_usable(cursor: Cursor, name: str, seen: set[str], span: Span) -> bool:
    if name not in _FORMS:
        meant = suggestion(name, _FORMS)
        known = ", ".join(f"`@{known}`" for known in _FORMS)
        advice = f"did you mean `@{meant}`?" if meant else ""
        cursor.report("E112", f"unknown annotation `@{name}`", span, note=f"the annotations are {known}", help=advice)
        return False
    if name in seen:
        cursor.report("E112", f"the annotation `@{name}` is given twice", span, help="keep one of them")
        return False
    if name in {"hard", "soft"} and seen & {"hard", "soft"}:
        cursor.report("E112", "a rule cannot be both `@hard` and `@soft`", span, help="keep one of them")
        return False
    return True


def _annotate(cursor: Cursor, annotations: Annotations, name: str, terms: tuple[Term, ...] | None, span: Span) -> Annotations:
    match name, terms:
        case (("hard" | "soft"), None):
            return replace(annotations, kind=Kind(name))
        case "check", None:
            return replace(annotations, check=True)
        case "weight", (Constant(value=int() | float() as value),) if _is_weight(value):
            return replace(annotations, weight=float(value))
        case "description", (Constant(value=str() as text),):
            return replace(annotations, description=text)
        case "tags", (_, *_) if tags := _terms_as_names(terms):
            return replace(annotations, tags=tags)
        case "confidence", (Constant(value=int() | float() as value),) if _is_weight(value) and value <= 1:
            return replace(annotations, confidence=float(value))
        case "support", (Constant(value=int() as count),) if not isinstance(count, bool) and count >= 0:
            return replace(annotations, support=count)
        case "about", (Variable() | Constant() as focus,):
            return replace(annotations, about=About(focus))
        case "about", (Variable() | Constant() as focus, Constant(value=str() as path)):
            return replace(annotations, about=About(focus, path))
        case "about", (Variable() | Constant() as focus, Wildcard(), Variable() | Constant() as end):
            return replace(annotations, about=About(focus, None, end))
        case "about", (Variable() | Constant() as focus, Constant(value=str() as path), Variable() | Constant() as end):
            return replace(annotations, about=About(focus, path, end))
        case _:
            cursor.report("E112", f"the arguments of `@{name}` do not fit", span, help=f"write {_FORMS[name]}")
            return annotations


def _is_weight(value: int | float) -> bool:
    # An integer may be finite and yet larger than any float.
    return not isinstance(value, bool) and 0 <= value <= _LARGEST


def _terms_as_names(terms: tuple[Term, ...]) -> tuple[str, ...] | None:
    """The terms as names; None unless all of them are. A word in upper case is a name here."""
    names = []
    for term in terms:
        match term:
            case Constant(value=str() as name) | Variable(name=name):
                names.append(name)
            case _:
                return None
    return tuple(names)
