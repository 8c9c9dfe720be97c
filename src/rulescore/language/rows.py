"""Atoms with named arguments: `sale(id: A, price: P)`."""

from __future__ import annotations

from rulescore.errors import Span
from rulescore.language.advice import FUNCTIONS as NAMES_ELSEWHERE
from rulescore.language.cursor import NAME_KINDS, Cursor, StatementError
from rulescore.language.syntax import RowAtom, Term
from rulescore.language.terms import read_name, read_term

_FORM = "write all arguments with names, `sale(id: A, price: P)`, or none"


def at_argument_name(cursor: Cursor) -> bool:
    return cursor.following.kind == ":" and cursor.token.kind in NAME_KINDS


def read_row(cursor: Cursor, table: str, start: int) -> RowAtom:
    """The arguments of `table` and the closing parenthesis. The cursor stands at the first name."""
    arguments: dict[str, Term] = {}
    _read_argument(cursor, table, arguments)
    while cursor.token.kind == ",":
        cursor.advance()
        _read_argument(cursor, table, arguments)
    cursor.expect(")", "`,` or `)`")
    return RowAtom(table, tuple(arguments.items()), cursor.span_from(start))


def _read_argument(cursor: Cursor, table: str, arguments: dict[str, Term]) -> None:
    name_token = cursor.token
    if not at_argument_name(cursor):
        if cursor.following.kind in {",", ")"}:
            raise mixed_arguments(cursor, cursor.token_span(name_token))
        raise cursor.unexpected("a name, a colon and a value", operand=True)
    name = read_name(cursor, "the name of an argument")
    cursor.advance()
    if name in arguments:
        message = f"the argument `{name}` is given twice"
        cursor.report("E120", message, cursor.token_span(name_token), help="keep one of them, and compare its value if need be")
    arguments[name] = read_term(cursor)
    if cursor.token.kind not in {",", ")"}:
        raise _computed(cursor, table, name)


def mixed_arguments(cursor: Cursor, span: Span) -> StatementError:
    return cursor.failure("E120", "arguments with names and without are mixed", span, help=_FORM)


def _computed(cursor: Cursor, table: str, name: str) -> StatementError:
    token = cursor.token
    if token.kind not in {"+", "-", "*", "/", "(", "word"}:
        return cursor.unexpected("`,` or `)`")
    message = f"the value of the argument `{name}` is neither a variable nor a constant"
    advice = f"give it a variable, `{name}: V`, and compare that: `V = …`"
    if token.kind == "(" and table.lower() in NAMES_ELSEWHERE:
        advice = f"for the aggregate, write `{NAMES_ELSEWHERE[table.lower()]}`"
    return cursor.failure("E120", message, cursor.token_span(token), label="expected `,` or `)`", help=advice)
