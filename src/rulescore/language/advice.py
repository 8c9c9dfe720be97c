"""Advice for spellings that other languages have and ours does not."""

from __future__ import annotations

_POWER = "a power is written `power(X, 2)`"
_ARROW = "a rule is written with its head first: `head <- body`"
_EQUIVALENCE = ("an equivalence", "write one rule for each direction")
_LIST = ("a list", "a set of constants stands behind `in`: `X in {a, b}`")

FOREIGN = {
    "<->": _EQUIVALENCE,
    "<=>": _EQUIVALENCE,
    "[": _LIST,
    "**": ("the operator `**`", _POWER),
    "^": ("the operator `^`", _POWER),
}
"""Symbols of things that the language does not have, what they are, and what to do instead."""

SYMBOLS = {
    "!": "negation is written `not`, as in `not p(X)`",
    "~": "negation is written `not`, as in `not p(X)`",
    "==": "equality is written `=`",
    "=<": "at most is written `<=`",
    "&&": "conditions are joined by `,` or `and`",
    "||": "alternatives are joined by `or`",
    ";": "alternatives are joined by `or`; a statement ends with a full stop",
    "%": "a comment begins with `#`; the remainder of a division is written `X mod Y`",
    "//": "a comment begins with `#`; a division without remainder is written `floor(X / Y)`",
    "->": _ARROW,
    "=>": f"{_ARROW}; at least is written `>=`",
    "⇐": "the arrow between head and body is `<-`; at most is written `<=`",
    "{": "a set of constants stands behind `in`: `X in {a, b}`",
}

WORDS = {
    "if": "the arrow between head and body is `<-`, with the head on its left",
    "then": _ARROW,
    "implies": _ARROW,
    "iff": "write one rule for each direction",
    "where": "conditions are joined by `,` or `and`",
    "but": "conditions are joined by `,` or `and`",
    "xor": "write `(p(X) or q(X)) and not (p(X) and q(X))`",
    "is": "equality is written `=`",
    "exists": "a variable under `not` that occurs nowhere else means some value, as `_` does",
    "forall": "a rule holds for all values of its variables as it is",
    "between": "write two comparisons: `1 <= X and X <= 9`",
    "like": 'write `starts_with(X, "A")`, `ends_with(X, "A")` or `contains(X, "A")`',
    "div": "a division without remainder is written `floor(X / Y)`",
}

FUNCTIONS = {
    "average": "avg",
    "mean": "avg",
    "total": "sum",
    "number": "count",
    "minimum": "min",
    "maximum": "max",
    "least": "min",
    "greatest": "max",
    "absolute": "abs",
    "log": "ln",
    "log10": "ln",
    "pow": "power",
    "ceiling": "ceil",
    "len": "length",
    "strlen": "length",
    "lowercase": "lower",
    "uppercase": "upper",
    "trunc": "floor",
    "int": "floor",
}
"""Names that functions and aggregates have elsewhere."""
