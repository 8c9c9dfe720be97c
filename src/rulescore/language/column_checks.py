"""Checks of columns in one word, each short for a rule, which `rulescore rules` shows.

sale.price not null.                      every row has a value
sale(name, zip) unique.                   no two rows have the same values
sale.state in {al, ak}.                   one of these constants
sale.price between 0 and 1000.            both limits included
sale.zip matches "[0-9]{5}".              the whole text, by a regular expression of Python
sale.customer references customer.id.     some row there has the value
sale.city depends on (zip, street).       rows with the same values there have the same value here
sale(start, stop) ordered.                each column is at most the next one

A missing value breaks no check but `not null`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from rulescore.errors import Span
from rulescore.language import syntax
from rulescore.language.conditions import read_membership
from rulescore.language.cursor import Cursor, is_dotted, is_word
from rulescore.language.terms import read_constant, read_name, write_name, write_value

MATCHES = "matches"
"""The test that `matches` is short for: a regular expression of Python must fit the whole text."""

UNKNOWN_KEY = ("row",)
"""The key of a table of which nothing is known: rule files are also checked without data."""

_ONE = syntax.Constant(1)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a table, in the order written."""

    table: str
    names: tuple[str, ...]
    span: Span

    def words(self, *names: str) -> str:
        """These columns, or all of them, in the form that the user writes."""
        (first, *more) = names or self.names
        if not more and is_word(self.table) and is_word(first):
            return f"{self.table}.{first}"
        return f"{write_name(self.table)}({', '.join(map(write_name, (first, *more)))})"

    def row(self, variables: Mapping[str, syntax.Variable], *names: str) -> syntax.RowAtom:
        """A row of the table, with these columns, or with all, as variables."""
        return syntax.RowAtom(self.table, tuple((name, variables[name]) for name in names or self.names), self.span)


@dataclass(frozen=True, slots=True)
class ColumnCheck:
    """What a check says, in words and as a rule."""

    words: str
    head: syntax.Head
    body: syntax.And


def read_column_check(cursor: Cursor) -> list[ColumnCheck]:
    """The check at the cursor, up to its full stop: a rule for each of its columns."""
    columns = _read_columns(cursor)
    return _READERS[cursor.advance().text](cursor, columns)


def _read_columns(cursor: Cursor) -> Columns:
    """`sale.price`, or `sale(name, zip)`."""
    start = cursor.token.start
    if cursor.token.kind == "dotted":
        return _dotted(cursor.advance().text, cursor.span_from(start))
    table = read_name(cursor, "a table and its column, such as `sale.price`")
    if is_dotted(table) and cursor.token.kind != "(":
        return _dotted(table, cursor.span_from(start))
    cursor.expect("(", "`(` and the columns")
    names = _read_names(cursor)
    cursor.expect(")", "`,` or `)`")
    span = cursor.span_from(start)
    if len(set(names)) < len(names):
        raise cursor.failure("E116", "a column is named twice", span)
    return Columns(table, names, span)


def _dotted(text: str, span: Span) -> Columns:
    table, _, column = text.rpartition(".")
    return Columns(table, (column,), span)


def _read_names(cursor: Cursor) -> tuple[str, ...]:
    return tuple(cursor.several(lambda cursor: read_name(cursor, "the name of a column")))


def _variables(*names: str) -> dict[str, syntax.Variable]:
    """A variable for each name, made of its letters."""
    made: dict[str, syntax.Variable] = {}
    for name in names:
        letters = "".join(re.findall(r"\w+", name)).lstrip("0123456789_")
        stem = (letters[:1].upper() + letters[1:]) if letters[:1].upper() != letters[:1].lower() else "Value"
        taken = {variable.name for variable in made.values()}
        numbers = (f"{stem}{number}" for number in range(2, len(names) + 2))
        made[name] = syntax.Variable(stem if stem not in taken else next(numbered for numbered in numbers if numbered not in taken))
    return made


def _key(cursor: Cursor, columns: Columns) -> tuple[str, ...]:
    return cursor.keys.get(columns.table, UNKNOWN_KEY)


def _of_each(cursor: Cursor, columns: Columns, words: str, head: Callable[[syntax.Variable], syntax.Head]) -> list[ColumnCheck]:
    """A condition on the value of each column."""
    cursor.finish("`.`")
    checks = []
    for name in columns.names:
        variables = _variables(name)
        body = syntax.And((columns.row(variables, name),))
        checks.append(ColumnCheck(f"{columns.words(name)} {words}", head(variables[name]), body))
    return checks


def _not_null(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    cursor.advance()  # `null`
    cursor.finish("`.`")
    key = _key(cursor, columns)
    checks = []
    for name in columns.names:
        variables = _variables(*dict.fromkeys((*key, name)))
        values = _count(columns.row(variables, *dict.fromkeys((*key, name))), variables[name])
        head = syntax.Comparison(syntax.Operator.AT_LEAST, values, _ONE)
        checks.append(ColumnCheck(f"{columns.words(name)} not null", head, syntax.And((columns.row(variables, *key),))))
    return checks


def _count(row: syntax.RowAtom, value: syntax.Variable | syntax.Constant = _ONE) -> syntax.Aggregate:
    return syntax.Aggregate(syntax.Aggregation.COUNT, value, syntax.And((row,)))


def _unique(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    cursor.finish("`.`")
    variables = _variables(*columns.names)
    # We make two atoms instead of using one twice, because each needs a key of its own.
    head = syntax.Comparison(syntax.Operator.AT_MOST, _count(columns.row(variables)), _ONE)
    return [ColumnCheck(f"{columns.words()} unique", head, syntax.And((columns.row(variables),)))]


def _in(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    cursor.jump(cursor.index - 1)
    first = read_membership(cursor, _variables(columns.names[0])[columns.names[0]], columns.span.start)
    words = f"in {{{', '.join(write_value(constant.value) for constant in first.constants)}}}"
    return _of_each(cursor, columns, words, lambda variable: replace(first, value=variable))


def _between(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    least = read_constant(cursor)
    cursor.expect("and", "`and` and the upper limit")
    most = read_constant(cursor)

    def within(variable: syntax.Variable) -> syntax.Head:
        return syntax.And(
            (
                syntax.Comparison(syntax.Operator.AT_MOST, least, variable),
                syntax.Comparison(syntax.Operator.AT_MOST, variable, most),
            )
        )

    return _of_each(cursor, columns, f"between {write_value(least.value)} and {write_value(most.value)}", within)


def _matches(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    token = cursor.token
    pattern = read_constant(cursor)
    try:
        re.compile(pattern.value if isinstance(pattern.value, str) else "[")
    except re.error as error:
        note = "a pattern is a regular expression of Python, in double quotes"
        span = cursor.token_span(token)
        raise cursor.failure("E116", f"the pattern cannot be read: {error}", span, note=note) from None
    words = f"matches {write_value(pattern.value)}"
    checks = _of_each(cursor, columns, words, lambda variable: syntax.Atom(MATCHES, (variable, pattern)))
    return [replace(check, body=_as_text(check.body)) for check in checks]


def _as_text(body: syntax.And) -> syntax.And:
    """The row of a body. We compare its value with a text, so a column of a text file that looks like numbers stays text."""
    (row,) = body.conditions
    assert isinstance(row, syntax.RowAtom)
    ((_, value),) = row.arguments
    assert isinstance(value, syntax.Variable)
    return syntax.And((row, syntax.Comparison(syntax.Operator.DIFFERENT, value, syntax.Constant(""))))


def _references(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    other = _read_columns(cursor)
    cursor.finish("`.`")
    if len(other.names) != len(columns.names):
        message = f"{len(columns.names)} and {len(other.names)} columns do not belong together"
        raise cursor.failure("E116", message, other.span, help="name as many columns on both sides")
    variables = _variables(*columns.names)
    there = syntax.RowAtom(
        other.table,
        tuple((theirs, variables[ours]) for theirs, ours in zip(other.names, columns.names, strict=True)),
        other.span,
    )
    words = f"{columns.words()} references {other.words()}"
    return [
        ColumnCheck(words, syntax.Comparison(syntax.Operator.AT_LEAST, _count(there), _ONE), syntax.And((columns.row(variables),)))
    ]


def _depends(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    if cursor.token.text == "on":
        cursor.advance()
    bracket = cursor.token.kind == "("
    if bracket:
        cursor.advance()
    keys = _read_names(cursor)
    if bracket:
        cursor.expect(")", "`,` or `)`")
    cursor.finish("`.`")
    return [_dependency(cursor, columns, name, keys) for name in columns.names]


def _dependency(cursor: Cursor, columns: Columns, name: str, determinants: tuple[str, ...]) -> ColumnCheck:
    if name in determinants:
        raise cursor.failure("E116", f"`{name}` depends on itself", columns.span, help="name the columns that determine it")
    key = tuple(column for column in _key(cursor, columns) if column not in determinants)
    first = _variables(*dict.fromkeys((*key, *determinants, name)))
    own = {*key, name}
    used = {variable.name for variable in first.values()}
    other = {column: _other(variable, used) if column in own else variable for column, variable in first.items()}
    named = tuple(dict.fromkeys((*key, *determinants, name)))
    same = [syntax.Comparison(syntax.Operator.DIFFERENT, first[column], other[column]) for column in key]
    different: tuple[syntax.Condition, ...] = ()
    if len(same) == 1:
        different = (same[0],)
    elif same:
        different = (
            syntax.Not(syntax.And(tuple(syntax.Comparison(syntax.Operator.EQUAL, part.left, part.right) for part in same))),
        )
    body = syntax.And((columns.row(first, *named), columns.row(other, *named), *different))
    listed = ", ".join(map(write_name, determinants))
    words = f"{columns.words(name)} depends on {f'({listed})' if len(determinants) > 1 else listed}"
    return ColumnCheck(words, syntax.Comparison(syntax.Operator.EQUAL, first[name], other[name]), body)


def _other(variable: syntax.Variable, used: set[str]) -> syntax.Variable:
    name = next(name for number in range(2, len(used) + 3) if (name := f"{variable.name}{number}") not in used)
    return syntax.Variable(name)


def _ordered(cursor: Cursor, columns: Columns) -> list[ColumnCheck]:
    cursor.finish("`.`")
    if len(columns.names) < 2:
        advice = f"write `{columns.table}({columns.names[0]}, …) ordered.`"
        raise cursor.failure("E116", "`ordered` takes two columns or more", columns.span, help=advice)
    checks = []
    for least, most in pairwise(columns.names):
        variables = _variables(least, most)
        head = syntax.Comparison(syntax.Operator.AT_MOST, variables[least], variables[most])
        words = f"{columns.words(least, most)} ordered"
        checks.append(ColumnCheck(words, head, syntax.And((columns.row(variables, least, most),))))
    return checks


_READERS: dict[str, Callable[[Cursor, Columns], list[ColumnCheck]]] = {
    "not": _not_null,
    "unique": _unique,
    "in": _in,
    "between": _between,
    MATCHES: _matches,
    "references": _references,
    "depends": _depends,
    "ordered": _ordered,
}


def matches(text: object, pattern: object) -> bool | None:
    """Whether a regular expression fits a whole text; None if the value or the pattern is no text."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    return re.fullmatch(pattern, text) is not None
