"""Templates: one statement with parameters, and the values that fill them in.

`for $type, $limit in {("house", 500), ("flat", 800)}: statement.` The tokens of a value have the parameter's
position in the text, so that problems and spans point into the template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rulescore.errors import Diagnostic, Span
from rulescore.language.cursor import NAME_KINDS, Cursor
from rulescore.language.fillings import Filling, read_filling
from rulescore.language.literals import quote
from rulescore.language.template_tables import Row, read_table
from rulescore.language.terms import unquoted
from rulescore.language.tokens import PARAMETER, Token

_FORM = 'write `for $p, $q in {(a, b), (c, d)}: …`, or `for $p, $q in "pairs.csv": …`'


@dataclass(frozen=True, slots=True)
class Template:
    """`tokens`: those of the statement; the first has the number `begin` in the whole template. `name`: the name of the rule, with
    its parameters; None if it has no name."""

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
    rows = [_read_row(cursor, len(parameters))]
    while cursor.token.kind == ",":
        cursor.advance()
        rows.append(_read_row(cursor, len(parameters)))
    cursor.expect("}", "`,` or `}`")
    return rows


def _read_row(cursor: Cursor, width: int) -> Row:
    start = cursor.token.start
    if cursor.token.kind != "(":
        values = [read_filling(cursor)]
    else:
        cursor.advance()
        values = [read_filling(cursor)]
        while cursor.token.kind == ",":
            cursor.advance()
            values.append(read_filling(cursor))
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
    """Raises if the statement does not use a parameter: every value of it would give the same rule. The first expansion reports a
    parameter that the statement uses and the template does not have."""
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
    return PARAMETER.sub(lambda found: values[found[0]].text if found[0] in values else found[0], text)


def in_expansion(problem: Diagnostic, template: Template, row: Row) -> Diagnostic:
    """A problem of one expansion, with a note of its values, or of their line in a table."""
    values = ", ".join(f"`{name}` = `{value.text}`" for name, value in zip(template.parameters, row.values, strict=True))
    return replace(problem, notes=(*problem.notes, f"this is so with {row.line or values}"))
