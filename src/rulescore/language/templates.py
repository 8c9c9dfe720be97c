"""Templates: one statement with parameters, and the values that fill them in.

`for $type, $limit in {("house", 500), ("flat", 800)}: statement.` The tokens of a value have the parameter's position in the text,
so problems and spans point into the template."""

from __future__ import annotations

import csv
import datetime
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rulescore.errors import Diagnostic, Source, Span, meant_file
from rulescore.language.cursor import NAME_KINDS, PARAMETER, Cursor, StatementError, Token, is_dotted, statements
from rulescore.language.terms import quote, read_constant, unquoted, write_value
from rulescore.values import Value

_FORM = 'write `for $p, $q in {(a, b), (c, d)}: …`, or `for $p, $q in "pairs.csv": …`'


@dataclass(frozen=True, slots=True)
class Template:
    """`tokens`: the statement's; the first has the number `begin` in the whole template. `name`: the name of the rule, with its
    parameters; None if it has no name."""

    parameters: tuple[str, ...]
    rows: list[Row]
    tokens: list[Token]
    begin: int
    name: str | None


def read_template(cursor: Cursor) -> Template:
    """Reads all that stands before the statement, and leaves the cursor there."""
    start = cursor.advance().start
    parameters = cursor.parameters = _read_parameters(cursor)
    cursor.expect("in", "`,` or `in`")
    token = cursor.token
    if token.kind == "quoted":
        cursor.advance()
        rows = read_table(cursor, unquoted(cursor, token), cursor.token_span(token), parameters)
    else:
        rows = _read_rows(cursor, parameters)
    cursor.expect(":", "`:`")
    if cursor.token.kind == "@":
        raise cursor.failure("E123", "annotations stand before `for`", cursor.token_span(cursor.token))
    template = Template(parameters, rows, cursor.tokens[cursor.index :], cursor.index, _name(cursor))
    _check_use(cursor, template, cursor.span_from(start))
    return template


def _read_parameters(cursor: Cursor) -> tuple[str, ...]:
    tokens = [cursor.advance()]
    while cursor.token.kind == ",":
        cursor.advance()
        if cursor.token.kind != "parameter":
            raise cursor.failure("E123", "a parameter begins with a dollar sign", cursor.token_span(cursor.token), help=_FORM)
        tokens.append(cursor.advance())
    for position, token in enumerate(tokens):
        if token.text in [before.text for before in tokens[:position]]:
            raise cursor.failure("E123", f"the parameter `{token.text}` is given twice", cursor.token_span(token))
    return tuple(token.text for token in tokens)


def _read_rows(cursor: Cursor, parameters: tuple[str, ...]) -> list[Row]:
    if cursor.token.kind != "{":
        raise cursor.unexpected("a set of values or the name of a file", help=_FORM)
    cursor.advance()
    rows = cursor.several(lambda cursor: _read_row(cursor, len(parameters)))
    cursor.expect("}", "`,` or `}`")
    return rows


def _read_row(cursor: Cursor, width: int) -> Row:
    start = cursor.token.start
    if cursor.token.kind != "(":
        values = [read_filling(cursor)]
    else:
        cursor.advance()
        values = cursor.several(read_filling)
        cursor.expect(")", "`,` or `)`")
    if len(values) != width:
        counted = f"{len(values)} value{'' if len(values) == 1 else 's'} for {width} parameter{'' if width == 1 else 's'}"
        raise cursor.failure("E123", f"there {'is' if len(values) == 1 else 'are'} {counted}", cursor.span_from(start), help=_FORM)
    return Row(tuple(values))


def _name(cursor: Cursor) -> str | None:
    token = cursor.token
    if cursor.following.kind != ":" or token.kind not in NAME_KINDS | {"parameter"}:
        return None
    return unquoted(cursor, token) if token.kind == "quoted" else token.text


def _check_use(cursor: Cursor, template: Template, span: Span) -> None:
    """Raises if the statement does not use a parameter, because every value of it would give the same rule. The first expansion
    reports a parameter that the statement uses and the template does not have."""
    used = set(PARAMETER.findall(template.name or ""))
    for token in template.tokens:
        if token.kind in {"parameter", "dotted"}:
            used.update(PARAMETER.findall(token.text))
    for parameter in template.parameters:
        if parameter not in used and used <= set(template.parameters):
            raise cursor.failure("E123", f"the parameter `{parameter}` is not used", span, help="leave it out, with its values")


def filled(template: Template, row: Row) -> tuple[list[Token], list[int]]:
    """The tokens of one expansion, and the number of the template's token that each comes from."""
    values = dict(zip(template.parameters, row.values, strict=True))
    tokens: list[Token] = []
    origins: list[int] = []
    for position, token in enumerate(template.tokens):
        pieces = _fill_name(template.name, values, row) if position == 0 and template.name else _fill(token, values)
        for kind, text in pieces:
            tokens.append(Token(kind, text, token.start, token.end))
            origins.append(template.begin + position)
    return tokens, origins


def _fill(token: Token, values: Mapping[str, Filling]) -> tuple[tuple[str, str], ...]:
    if token.kind == "parameter" and token.text in values:
        return values[token.text].tokens
    if token.kind == "dotted" and "$" in token.text:
        unknown = [name for name in PARAMETER.findall(token.text) if name not in values]
        return (("parameter", unknown[0]) if unknown else ("quoted", quote(_fill_text(token.text, values), '"')),)
    return ((token.kind, token.text),)


def _fill_name(name: str, values: Mapping[str, Filling], row: Row) -> tuple[tuple[str, str], ...]:
    """The name of one expansion: with its parameters filled in, or with all values behind it."""
    text = _fill_text(name, values)
    if not any(parameter in values for parameter in PARAMETER.findall(name)):
        text = f"{name}[{', '.join(filling.text for filling in row.values)}]"
    return (("quoted", quote(text, '"')),)


def _fill_text(text: str, values: Mapping[str, Filling]) -> str:
    return PARAMETER.sub(lambda match: values[match[0]].text if match[0] in values else match[0], text)


def in_expansion(problem: Diagnostic, template: Template, row: Row) -> Diagnostic:
    """A problem of one expansion, with a note of its values, or of their line in a table."""
    values = ", ".join(f"`{name}` = `{value.text}`" for name, value in zip(template.parameters, row.values, strict=True))
    return replace(problem, notes=(*problem.notes, f"this is so with {row.line or values}"))


# Values of templates from CSV files: `for $p, $q in "pairs.csv": …`. The header names the parameters.


@dataclass(frozen=True, slots=True)
class Row:
    """A value for each parameter. `line`: where they stand, if in a file."""

    values: tuple[Filling, ...]
    line: str | None = None


def read_table(cursor: Cursor, name: str, span: Span, parameters: tuple[str, ...]) -> list[Row]:
    """The rows of a file in the rule file's folder, with the columns in the order of the parameters."""
    lines = _read_lines(cursor, name, span)
    if not lines:
        raise _unusable(cursor, f"`{name}` is empty", span, note="its first line names the parameters, without dollar signs")
    (_, header), *rows = lines
    columns = _columns(cursor, name, span, [column.strip() for column in header], parameters)
    if not rows:
        raise _unusable(cursor, f"`{name}` has a header and no rows", span)
    for line, row in rows:
        if len(row) != len(header):
            message = f"line {line} of `{name}` has {len(row)} columns and the header {len(header)}"
            raise _unusable(cursor, message, span)
    return [Row(tuple(filling_of_cell(row[column]) for column in columns), f"line {line} of `{name}`") for line, row in rows]


def _read_lines(cursor: Cursor, name: str, span: Span) -> list[tuple[int, list[str]]]:
    """The rows with their line numbers, without empty lines."""
    try:
        path = _path(cursor, name, span)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError:
        raise _unusable(cursor, f"`{name}` is not UTF-8", span) from None
    except csv.Error as error:
        raise _unusable(cursor, f"`{name}` is not a CSV file: {error}", span) from None
    # Python raises a ValueError for a name with the character NUL, and older versions raise a RuntimeError for links that lead to
    # each other.
    except (OSError, ValueError, RuntimeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise _unusable(cursor, f"`{name}` cannot be read: {reason}", span) from None


def _path(cursor: Cursor, name: str, span: Span) -> Path:
    """The path of a table. No message tells whether a file exists outside of the folder either."""
    if cursor.source.folder is None:
        help = "write the rules into a file beside it; in Python, `rulescore.RuleText(text, folder=…)` names a folder"
        raise cursor.failure("E124", "rules given as text read no files", span, help=help)
    folder = cursor.source.folder.resolve()
    path = (folder / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(folder):
        note = "a table lies in the folder of the rule file, or in a folder there, and its path begins there; links are followed"
        raise cursor.failure("E124", f"`{name}` does not lie within the folder of the rule file", span, note=note)
    if not path.exists():
        raise _unusable(cursor, f"there is no file `{name}`", span, help=_meant(path, name))
    if not stat.S_ISREG(path.stat().st_mode):
        raise cursor.failure("E124", f"`{name}` is not a regular file", span, help="save its rows as a CSV file")
    return path


def _meant(path: Path, name: str) -> str:
    return next(iter(meant_file(path, Path(name))), "a path is relative to the rule file")


def _columns(cursor: Cursor, name: str, span: Span, header: list[str], parameters: tuple[str, ...]) -> list[int]:
    """Where the values of each parameter stand."""
    for few, times in (("no", 0), ("more than one", 2)):
        named = [f"`{parameter[1:]}`" for parameter in parameters if min(header.count(parameter[1:]), 2) == times]
        if named:
            note = f"its header names {len(header)} column{'' if len(header) == 1 else 's'}"
            raise _unusable(cursor, f"`{name}` has {few} column {' and '.join(named)}", span, note=note)
    return [header.index(parameter[1:]) for parameter in parameters]


def _unusable(cursor: Cursor, message: str, span: Span, note: str = "", help: str = "") -> StatementError:
    return cursor.failure("E124", message, span, note=note, help=help)


# A filling replaces a parameter of a template: the tokens of one constant or name.


_CONSTANTS = frozenset({"number", "+", "-", "date", "moment", "true", "false", "quoted"})


@dataclass(frozen=True, slots=True)
class Filling:
    """`text`: its form in names of rules. `tokens`: their kinds and texts."""

    text: str
    tokens: tuple[tuple[str, str], ...]


def read_filling(cursor: Cursor) -> Filling:
    """A constant, a percentage or a name; a word is a name or a string, whatever letter it begins with."""
    token = cursor.token
    if (token.kind == "word" and token.text != "_") or (token.kind == "dotted" and is_dotted(token.text)):
        return filling_of(cursor.advance().text)
    constant = read_constant(cursor)
    filling = filling_of(constant.value)
    if cursor.token.kind == "%" and filling.tokens[0][0] == "number":
        cursor.advance()
        return Filling(f"{filling.text}%", (*filling.tokens, ("%", "%")))
    return filling


def filling_of(value: Value) -> Filling:
    match value:
        case str():
            return Filling(value, (("quoted", quote(value, '"')),))
        case bool():
            word = write_value(value)
            return Filling(word, ((word, word),))
        case datetime.datetime():
            return Filling(write_value(value), (("moment", write_value(value)),))
        case datetime.date():
            return Filling(write_value(value), (("date", write_value(value)),))
        case int() | float():
            return Filling(write_value(value), (("number", write_value(value)),))
        case datetime.timedelta():
            number, unit = write_value(value).split()
            return Filling(write_value(value), (("number", number), ("word", unit)))


def filling_of_cell(cell: str) -> Filling:
    """The filling in a cell of a table: a constant if it reads as one, a string or name otherwise."""
    tokens, *others = statements(Source("cell", cell))
    last = tokens.pop()
    if others or last.kind != "end" or not tokens or tokens[0].kind not in _CONSTANTS:
        return filling_of(cell)
    cursor = Cursor(Source("cell", cell), [*tokens, Token(".", "", last.start, last.end)], [])
    try:
        filling = read_filling(cursor)
    except StatementError:
        return filling_of(cell)
    return filling_of(cell) if cursor.problems or cursor.token.kind != "." else filling
