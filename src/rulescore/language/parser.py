"""Rule files to syntax trees. All problems of all files are raised together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rulescore.errors import Diagnostic, InputError, Source, Span, suggestion
from rulescore.language.annotations import NO_ANNOTATIONS, Annotations, read_annotations
from rulescore.language.conditions import read_atom, read_body, read_name
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.declarations import read_declaration
from rulescore.language.syntax import Atom, Falsity, Head, Program, Rule, Statement
from rulescore.language.tokens import DECLARATION_WORDS, Token, statements

CODES: dict[str, str] = {
    "E101": "something else was expected here",
    "E102": "a character that the rule language does not use",
    "E103": "a quotation is not closed on its line",
    "E104": "a backslash in quotes is followed by what is no escape",
    "E105": "a number or a date is not written as one, or is none",
    "E106": "a full stop is missing",
    "E107": "a rule has no body",
    "E108": "a predicate has no arguments",
    "E109": "a head is not one atom or `false`",
    "E110": "something is not part of the rule language",
    "E111": "a name has to be quoted",
    "E112": "an annotation is unknown",
    "E113": "the arguments of an annotation do not fit",
    "E114": "an annotation stands before a declaration",
    "E115": "an annotation is repeated, or contradicts another",
    "E116": "`incompatible` is given what cannot be incompatible",
    "E117": "`functional` does not say which arguments determine which",
}

_Read = TypeVar("_Read")
_COMPARISONS = frozenset({"=", "!=", "<", ">", ">=", "=="})


def parse(source: Source) -> Program:
    """The statements of one file. Raises InputError with every syntax problem in it."""
    return parse_all((source,))


def parse_all(sources: Iterable[Source]) -> Program:
    """The statements of several files, in order. Raises InputError with every syntax problem in any of them."""
    problems: list[Diagnostic] = []
    read: list[Statement] = []
    for source in sources:
        for tokens in statements(source):
            if tokens[0].kind != "end":
                _read_statements(Cursor(source, tokens, problems), read)
    if problems:
        raise InputError(problems)
    return Program(tuple(read))


def parse_rule(text: str) -> Rule:
    """One rule, with or without its full stop."""
    return _parse_alone(Source("rule", text), _read_annotated_rule)


def parse_atom(text: str) -> Atom:
    """One atom, with or without a full stop."""
    return _parse_alone(Source("atom", text), read_atom)


def _parse_alone(source: Source, read: Callable[[Cursor], _Read]) -> _Read:
    problems: list[Diagnostic] = []
    first, *others = statements(source)
    if first[-1].kind == "end":
        first[-1] = Token(".", "", first[-1].start)
    cursor = Cursor(source, first, problems)
    try:
        result = read(cursor)
        cursor.finish("the end of the text")
        if others and others[0][0].kind != "end":
            raise Cursor(source, others[0], problems).unexpected("the end of the text")
    except StatementError as error:
        problems.append(error.problem)
        raise InputError(problems) from None
    if problems:
        raise InputError(problems)
    return result


def _read_statements(cursor: Cursor, read: list[Statement]) -> None:
    """One statement, or several where full stops are missing between them."""
    resume: int | None = 0
    while resume is not None:
        cursor.move(resume)
        try:
            read.extend(_read_statement(cursor))
            resume = None
        except StatementError as error:
            cursor.problems.append(error.problem)
            resume = error.resume


def _read_statement(cursor: Cursor) -> tuple[Statement, ...]:
    annotations = read_annotations(cursor) if cursor.token.kind == "@" else NO_ANNOTATIONS
    if not cursor.at_declaration():
        return (_read_rule(cursor, annotations),)
    if annotations.span is not None:
        keyword = cursor.token.text
        message = f"annotations are for rules; `{keyword}` takes none"
        cursor.report("E114", message, annotations.span, help="leave the annotations out, or say it in a comment")
    return read_declaration(cursor)


def _read_annotated_rule(cursor: Cursor) -> Rule:
    annotations = read_annotations(cursor) if cursor.token.kind == "@" else NO_ANNOTATIONS
    return _read_rule(cursor, annotations)


def _read_rule(cursor: Cursor, annotations: Annotations) -> Rule:
    start = cursor.token.start
    name = _read_rule_name(cursor)
    head = _read_head(cursor)
    _read_arrow(cursor)
    body = read_body(cursor)
    cursor.finish("`,` or `.`")
    span = cursor.span_from(start)
    return Rule(head, body, name, annotations.kind, annotations.weight, annotations.description, annotations.tags, span)


def _read_rule_name(cursor: Cursor) -> str | None:
    if cursor.following.kind != ":":
        return None
    if cursor.token.kind == "number":
        raise cursor.unexpected("the name of a rule", help=f'a name that is no word is quoted: `"{cursor.token.text}"`')
    name = read_name(cursor, "the name of a rule")
    cursor.advance()
    return name


def _read_head(cursor: Cursor) -> Head:
    token = cursor.token
    if token.kind in {".", "end"}:
        raise cursor.unexpected("a rule or a declaration")
    if token.kind in {"false", "⊥"} and cursor.following.kind not in _COMPARISONS | {"("}:
        cursor.advance()
        return Falsity(cursor.token_span(token))
    if token.kind == "not":
        raise _not_a_head(cursor, "a negated atom", "to forbid that `p` follows, write `false <- p(X), body.`")
    if cursor.following.kind in _COMPARISONS:
        raise _not_a_head(cursor, "a comparison", "to forbid that it fails, write `false <- body, X != Y.`")
    if token.kind == "word" and cursor.following.kind != "(":
        _check_keyword(cursor)
    return read_atom(cursor)


def _check_keyword(cursor: Cursor) -> None:
    """A word that no parenthesis follows is no head; it may be a misspelt declaration."""
    meant = suggestion(cursor.token.text, DECLARATION_WORDS)
    if meant is not None and meant != cursor.token.text:
        message = f"expected a rule or a declaration, found `{cursor.token.text}`"
        raise cursor.failure("E101", message, cursor.token_span(cursor.token), help=f"did you mean `{meant}`?")


def _read_arrow(cursor: Cursor) -> None:
    token = cursor.token
    if token.kind == "<-":
        cursor.advance()
        return
    if token.kind in {",", "and", "or"}:
        raise _not_a_head(cursor, "more than one atom", "write a rule of its own for each of them")
    if token.kind in {".", "end"} or cursor.at_statement():
        raise cursor.failure(
            "E107",
            "the rule has no body",
            Span(cursor.source, cursor.tokens[cursor.index - 1].end, cursor.tokens[cursor.index - 1].end + 1),
            label="expected `<-`",
            note="a rule says what follows from its body: `head <- body.`",
            help="facts belong into the data, not among the rules",
            resume=cursor.index if cursor.at_statement() else None,
        )
    if token.kind in {"<=", "=>", "->", "=", ":"}:
        raise cursor.unexpected("`<-`", help="the arrow between head and body is `<-`, with the head on its left")
    raise cursor.unexpected("`<-`")


def _not_a_head(cursor: Cursor, what: str, advice: str) -> StatementError:
    return cursor.failure(
        "E109",
        f"{what} cannot be the head of a rule",
        cursor.token_span(cursor.token),
        note="a head is one atom or `false`",
        help=advice,
    )
