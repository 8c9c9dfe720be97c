"""Expressions and conditions over the attributes of one row, as a project file has them: `price / surface`, `year >= 2019`.

Here a bare word or a name in backticks is an attribute; only a text in double quotes is a string.
"""

from __future__ import annotations

from typing import TypeVar

from rulescore.errors import Source, Span, ticked
from rulescore.language.builtins import TESTS
from rulescore.language.conditions import read_body, read_expression
from rulescore.language.cursor import Cursor, StatementError, Token
from rulescore.language.parser import parse_alone
from rulescore.language.syntax import Aggregate, And, Atom, Expression, Let, RowAtom, Test, Variable
from rulescore.language.terms import EscapeError, unquote
from rulescore.language.trees import nodes_in

_Tree = TypeVar("_Tree", Expression, And)
_VALUES = frozenset({"attribute", "number", "quoted", "date", "moment", "true", "false", ")"})
"""Kinds of tokens with which a value can end."""


def parse_expression(source: Source) -> Expression:
    """The value of a derived attribute. Raises InputError with every problem in it."""
    return parse_alone(source, lambda cursor: _checked(cursor, read_expression(cursor)), _with_attributes)


def parse_condition(source: Source) -> And:
    """A condition on attributes. Raises InputError with every problem in it."""
    return parse_alone(source, lambda cursor: _checked(cursor, read_body(cursor)), _with_attributes)


def _with_attributes(tokens: list[Token]) -> list[Token]:
    """The tokens with attributes marked as such; operators (`mod`), units (`30 days`), functions and constants of a set are not."""
    changed: list[Token] = []
    in_set = False
    for token, following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        in_set = token.kind == "{" or (in_set and token.kind != "}")
        after_value = bool(changed) and changed[-1].kind in _VALUES
        name = None if in_set or after_value or following.kind == "(" else _name(token)
        changed.append(token if name is None else Token("attribute", name, token.start, token.end))
    return changed


def _name(token: Token) -> str | None:
    """The attribute that a token names; None if it names none, or has a wrong escape."""
    if token.kind == "word":
        return token.text
    if token.kind == "quoted" and token.text.startswith("`"):
        try:
            return unquote(token.text)
        except EscapeError:
            return None
    return None


def _checked(cursor: Cursor, tree: _Tree) -> _Tree:
    """The tree. Raises if it has anything but the attributes of one row."""
    for node in nodes_in(tree):
        match node:
            case Atom() | RowAtom() | Aggregate() | Let():
                raise _not_of_a_row(cursor, node.span, "atoms, aggregates and `let` belong into rules")
            case Test(predicate=name) if name not in TESTS:
                raise _not_of_a_row(cursor, node.span, f"the tests are {ticked(TESTS)}")
            case Variable():
                raise _not_of_a_row(cursor, node.span, "write an attribute without a question mark")
            case _:
                pass
    return tree


def _not_of_a_row(cursor: Cursor, span: Span | None, note: str) -> StatementError:
    return cursor.failure(
        "E101",
        "this is not part of an expression over the attributes of a row",
        span or cursor.token_span(cursor.token),
        note=note,
    )
