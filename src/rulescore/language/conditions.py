"""Terms, atoms, literals and bodies: each function reads one of them and leaves the cursor behind it."""

from __future__ import annotations

import datetime
import math

from rulescore.errors import Span
from rulescore.language.cursor import NAME_KINDS, Cursor, StatementError
from rulescore.language.literals import EscapeError, unquote
from rulescore.language.syntax import And, Atom, Comparison, Constant, Literal, Not, Operator, Term, Variable, Wildcard
from rulescore.language.tokens import Token, is_variable_word

_OPERATORS = {"=": Operator.EQUAL, "!=": Operator.DIFFERENT}
_CONJUNCTIONS = frozenset({",", "and"})
_SIGNS = frozenset({"-", "+"})


def read_name(cursor: Cursor, expected: str) -> str:
    """A word or a quoted text, whatever it means elsewhere."""
    token = cursor.token
    if token.kind not in NAME_KINDS or token.text == "_":
        raise cursor.unexpected(expected, operand=True)
    cursor.advance()
    return token.text if token.kind == "word" else _unquoted(cursor, token)


def read_term(cursor: Cursor) -> Term:
    token = cursor.token
    span = Span(cursor.source, token.start, token.start + len(token.text))
    match token.kind:
        case "word":
            cursor.advance()
            word = token.text
            if is_variable_word(word):
                return Variable(word, span)
            return Wildcard(span) if word == "_" else Constant(word, span)
        case "quoted":
            cursor.advance()
            return Constant(_unquoted(cursor, token), span)
        case "variable":
            cursor.advance()
            return Variable(token.text[1:], span)
        case "number" | "+" | "-":
            return _read_number(cursor)
        case "date":
            cursor.advance()
            return Constant(_date(cursor, token), span)
        case "true" | "false" if cursor.following.kind != "(":
            cursor.advance()
            return Constant(token.kind == "true", span)
    raise cursor.unexpected("a variable or a constant", operand=True)


def read_atom(cursor: Cursor) -> Atom:
    start = cursor.token.start
    predicate = read_name(cursor, "an atom")
    if cursor.token.kind != "(":
        raise _not_an_atom(cursor)
    cursor.advance()
    if cursor.token.kind == ")":
        raise _without_arguments(cursor)
    terms = [read_term(cursor)]
    while cursor.token.kind == ",":
        cursor.advance()
        terms.append(read_term(cursor))
    cursor.expect(")", "`,` or `)`")
    return Atom(predicate, tuple(terms), cursor.span_from(start))


def read_literal(cursor: Cursor) -> Literal:
    token = cursor.token
    if token.kind == "not":
        return _read_negation(cursor)
    if token.kind in NAME_KINDS:
        following = cursor.following.kind
        if following == "(":
            return read_atom(cursor)
        if following == ":" and cursor.at_statement():
            raise cursor.missing_full_stop(cursor.index)
        if (following in _CONJUNCTIONS or following in {".", "end", "<-"}) and not is_variable_word(token.text):
            return read_atom(cursor)
    return _read_comparison(cursor)


def read_body(cursor: Cursor) -> And:
    """One literal or more. Claims nothing about what follows, except that a further arrow means a forgotten full stop."""
    if cursor.token.kind in {".", "end"}:
        raise cursor.failure(
            "E107",
            "the body of the rule is empty",
            cursor.token_span(cursor.token),
            label="expected an atom",
            note="a rule says what follows from its body: `head <- body.`",
            help="facts belong into the data, not among the rules",
        )
    start = cursor.token.start
    begin = cursor.index
    literals = [read_literal(cursor)]
    while cursor.token.kind in _CONJUNCTIONS:
        cursor.advance()
        begin = cursor.index
        literals.append(read_literal(cursor))
    if cursor.token.kind == "<-" and len(literals) > 1:
        raise cursor.missing_full_stop(begin)
    return And(tuple(literals), cursor.span_from(start))


def _read_negation(cursor: Cursor) -> Not:
    negation = cursor.advance()
    token = cursor.token
    if token.kind == "not":
        raise _foreign_negation(cursor, "a negation of a negation", "leave out both")
    is_atom = token.kind in NAME_KINDS and cursor.following.kind not in _OPERATORS
    if is_atom or token.kind not in {"word", "quoted", "variable", "number", "date", "true", "false"}:
        atom = read_atom(cursor)
        return Not(atom, cursor.span_from(negation.start))
    raise _foreign_negation(cursor, "a negation of a comparison", "write `X != Y` for `not X = Y`")


def _foreign_negation(cursor: Cursor, what: str, advice: str) -> StatementError:
    message = f"{what} is not part of the rule language"
    return cursor.failure("E110", message, cursor.token_span(cursor.token), label="expected an atom", help=advice)


def _read_comparison(cursor: Cursor) -> Comparison:
    start = cursor.token.start
    if cursor.token.kind not in {"word", "quoted", "variable", "number", "date", "true", "false", "+", "-"}:
        raise cursor.unexpected("an atom or a comparison", operand=True)
    left = read_term(cursor)
    operator = _OPERATORS.get(cursor.token.kind)
    if operator is None:
        raise cursor.unexpected("`=` or `!=`")
    cursor.advance()
    right = read_term(cursor)
    return Comparison(operator, left, right, cursor.span_from(start))


def _not_an_atom(cursor: Cursor) -> StatementError:
    """What is wrong with a name that no parenthesis follows."""
    if cursor.token.kind in _CONJUNCTIONS or cursor.token.kind in {".", "end", "<-"}:
        return _without_arguments(cursor)
    return cursor.unexpected("`(`", help="a name of other characters than letters, digits and underscores is quoted")


def _without_arguments(cursor: Cursor) -> StatementError:
    index = cursor.index - (2 if cursor.token.kind == ")" else 1)
    name = cursor.tokens[index]
    shown = name.text.strip('`"')
    return cursor.failure(
        "E108",
        f"`{shown}` has no arguments",
        cursor.token_span(name),
        note="a predicate has one argument or more",
        help=f"name the arguments, as in `{shown}(X)`",
    )


def _read_number(cursor: Cursor) -> Constant:
    start = cursor.token.start
    sign = cursor.advance().kind if cursor.token.kind in _SIGNS else ""
    token = cursor.expect("number", "a number")
    span = cursor.span_from(start)
    try:
        value = float(sign + token.text) if any(c in token.text for c in ".eE") else int(sign + token.text)
    except ValueError:  # more digits than the interpreter converts
        value = math.inf
    if abs(value) == math.inf:
        cursor.report("E105", "the number is too large", span, note="infinity is not a constant")
    return Constant(value, span)


def _date(cursor: Cursor, token: Token) -> datetime.date:
    try:
        return datetime.date.fromisoformat(token.text)
    except ValueError:
        cursor.report(
            "E105",
            f"there is no day `{token.text}`",
            cursor.token_span(token),
            note="a date is written as year, month and day: `2020-01-31`",
            help=f'to use it as text, quote it: `"{token.text}"`',
        )
        return datetime.date.min


def _unquoted(cursor: Cursor, token: Token) -> str:
    try:
        return unquote(token.text)
    except EscapeError as error:
        cursor.report(
            "E104",
            f"`{token.text[error.start : error.end]}` is not an escape",
            Span(cursor.source, token.start + error.start, token.start + error.end),
            note='the escapes are \\" \\` \\\\ \\n \\t \\r and \\u with four hexadecimal digits, such as \\u00e9',
            help="a backslash itself is written `\\\\`",
        )
        return token.text
