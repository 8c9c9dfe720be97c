"""Rule files to syntax trees (0001). One InputError has all problems of all files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from rulescore.errors import Diagnostic, InputError, Source, Span, refuse, suggestion
from rulescore.language.annotations import NO_ANNOTATIONS, Annotations, read_annotations
from rulescore.language.builtins import condition_of
from rulescore.language.column_checks import read_column_check
from rulescore.language.conditions import read_atom, read_body, read_formula
from rulescore.language.cursor import DECLARATION_WORDS, WORDS, Cursor, StatementError, Token, statements
from rulescore.language.declarations import read_declaration
from rulescore.language.syntax import And, Atom, Falsity, Head, Kind, Let, Program, Refuting, Rule, Statement, Variable
from rulescore.language.templates import Template, filled, in_expansion, read_template
from rulescore.language.terms import read_name
from rulescore.language.trees import variables_in
from rulescore.waiting import look_at_the_clock

_Read = TypeVar("_Read")
# If one of these follows `false`, it is a constant, not a head.
_AFTER_CONSTANTS = frozenset({"=", "!=", "<", "<=", ">", ">=", "==", "+", "-", "*", "/", "in", "not", "("})
_TURNED_ARROWS = frozenset({"->", "=>"})
# If one of these follows a word, the word does not begin a head.
_AFTER_KEYWORDS = frozenset({"word", "quoted", "dotted", "variable", "."})


def parse(source: Source, keys: Mapping[str, tuple[str, ...]] | None = None) -> Program:
    """The statements of one file. `keys`: of tables that checks may be about. Raises InputError with every syntax problem in it."""
    return parse_all((source,), keys)


def parse_all(sources: Iterable[Source], keys: Mapping[str, tuple[str, ...]] | None = None) -> Program:
    """The statements of several files, in order. Raises InputError with every syntax problem in any of them."""
    problems: list[Diagnostic] = []
    read: list[Statement] = []
    for source in sources:
        for tokens in statements(source):
            look_at_the_clock()
            if tokens[0].kind != "end":
                cursor = Cursor(source, tokens, problems)
                cursor.keys = keys or {}
                _read_statements(cursor, read)
    refuse(problems)
    return Program(tuple(read))


def parse_rule(text: str) -> Rule:
    """One rule, with or without its full stop."""
    return parse_alone(Source("rule", text), _read_annotated_rule)


def parse_atom(text: str) -> Atom:
    """One atom, with or without a full stop."""
    return parse_alone(Source("atom", text), read_atom)


def parse_alone(
    source: Source, read: Callable[[Cursor], _Read], as_read: Callable[[list[Token]], list[Token]] = lambda tokens: tokens
) -> _Read:
    """Reads a text that holds one thing and nothing else, with or without a full stop. `as_read`: turns its tokens into the tokens
    meant here."""
    problems: list[Diagnostic] = []
    first, *others = statements(source)
    if first[-1].kind == "end":
        first[-1] = Token(".", "", first[-1].start, first[-1].start)
    cursor = Cursor(source, as_read(first), problems)
    try:
        result = read(cursor)
        cursor.finish("the end of the text")
        if others and others[0][0].kind != "end":
            raise Cursor(source, others[0], problems).unexpected("the end of the text")
    except StatementError as error:
        problems.append(error.problem)
        raise InputError(problems) from None
    refuse(problems)
    return result


def _read_statements(cursor: Cursor, read: list[Statement]) -> None:
    """One statement, or several if full stops are missing between them."""
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
    if cursor.at_template():
        return _read_expansions(cursor, read_template(cursor), annotations)
    return _read_plain_statement(cursor, annotations)


def _read_plain_statement(cursor: Cursor, annotations: Annotations) -> tuple[Statement, ...]:
    if (named := cursor.following.kind == ":") or cursor.at_check():
        start = cursor.index
        check_name = _read_rule_name(cursor) if named else None
        if cursor.at_check():
            return tuple(_read_check(cursor, check_name, annotations))
        cursor.jump(start)
    name = _read_rule_name(cursor) if annotations.check else None
    if not cursor.at_declaration():
        return (_read_rule(cursor, annotations),)
    keyword = cursor.token.text
    read = read_declaration(cursor)
    if annotations.span is None:
        return read
    checkable = [declaration for declaration in read if isinstance(declaration, Refuting) and declaration.checkable]
    if annotations.check and checkable:
        return (*read, *(rule for declaration in checkable for rule in _check_rules(declaration, name, annotations)))
    message = f"annotations are for rules; `{keyword}` takes none"
    advice = f"write `@check` to make a rule of it: `@check {keyword} …`" if checkable else "leave the annotations out"
    cursor.report("E112", message, annotations.span, help=advice)
    return read


def _read_check(cursor: Cursor, name: str | None, annotations: Annotations) -> Iterator[Rule]:
    """The rules of a check of columns, named after what it says unless it has a name; then all but the first have a
    number behind it."""
    _refuse_check_of_rule(cursor, annotations)
    start = cursor.token.start
    checks = read_column_check(cursor)
    span = cursor.span_from(start)
    for number, check in enumerate(checks, start=1):
        said = check.words if name is None else name if number == 1 else f"{name} {number}"
        yield _rule(check.head, check.body, said, annotations, span)


def _check_rules(declaration: Refuting, name: str | None, annotations: Annotations) -> Iterator[Rule]:
    """Denial constraints that facts violate if the declaration is not true of them. They are hard unless an annotation says
    otherwise. Without a name, each is named after what it says; if there are several, all but the first have a number after the
    name."""
    hard = replace(annotations, kind=annotations.kind or Kind.HARD)
    for number, part in enumerate(declaration.parts(), start=1):
        said = part.words if name is None else name if number == 1 else f"{name} {number}"
        denied = part.example()
        if denied is not None:  # None: a predicate is paired with itself, and that has been reported
            yield _rule(Falsity(), And((denied.head, *denied.body.conditions)), said, hard, declaration.span)


def _read_expansions(cursor: Cursor, template: Template, annotations: Annotations) -> tuple[Statement, ...]:
    """The statements of a template, one for each row. Stops at the first expansion with problems: others would mostly
    repeat them."""
    read: list[Statement] = []
    for row in template.rows:
        look_at_the_clock()
        tokens, origins = filled(template, row)
        inner = Cursor(cursor.source, tokens, [])
        inner.parameters, inner.keys = template.parameters, cursor.keys
        try:
            read.extend(_read_plain_statement(inner, annotations))
        except StatementError as error:
            cursor.problems.extend(in_expansion(problem, template, row) for problem in inner.problems)
            resume = None if error.resume is None else origins[error.resume]
            raise StatementError(in_expansion(error.problem, template, row), resume) from None
        if inner.problems:
            cursor.problems.extend(in_expansion(problem, template, row) for problem in inner.problems)
            break
    return tuple(read)


def _read_annotated_rule(cursor: Cursor) -> Rule:
    annotations = read_annotations(cursor) if cursor.token.kind == "@" else NO_ANNOTATIONS
    if cursor.at_template():
        raise cursor.failure("E123", "a template is not one rule", cursor.token_span(cursor.token))
    return _read_rule(cursor, annotations)


def _read_rule(cursor: Cursor, annotations: Annotations) -> Rule:
    _refuse_check_of_rule(cursor, annotations)
    start = cursor.token.start
    name = _read_rule_name(cursor)
    head = _read_head(cursor)
    _read_arrow(cursor)
    body = read_body(cursor)
    cursor.finish("`,` or `.`")
    _refuse_foreign_variables(cursor, annotations, head, body)
    return _rule(head, body, name, annotations, cursor.span_from(start))


def _refuse_foreign_variables(cursor: Cursor, annotations: Annotations, head: Head, body: And) -> None:
    """Report variables of `@about` that the rule does not have."""
    about = annotations.about
    if about is None or annotations.span is None:
        return
    known = {variable.name for part in (head, body) if not isinstance(part, Falsity) for variable in variables_in(part)}
    for term in (about.focus, about.value):
        if isinstance(term, Variable) and term.name not in known:
            message = f"`@about` names the variable `{term.name}`, which the rule does not have"
            cursor.report("E112", message, annotations.span, help="name variables of the rule")


def _refuse_check_of_rule(cursor: Cursor, annotations: Annotations) -> None:
    if annotations.check and annotations.span is not None:
        cursor.report("E112", "`@check` is for declarations; this is a rule already", annotations.span, help="leave `@check` out")


def _rule(head: Head, body: And, name: str | None, annotations: Annotations, span: Span | None) -> Rule:
    figures = annotations.confidence, annotations.support
    texts = annotations.description, annotations.tags
    return Rule(head, body, name, annotations.kind, annotations.weight, *texts, *figures, span, annotations.about)


def _read_rule_name(cursor: Cursor) -> str | None:
    if cursor.following.kind != ":":
        return None
    if cursor.token.kind == "number":
        raise cursor.unexpected("the name of a rule", help=f'a name that is not a word is quoted: `"{cursor.token.text}"`')
    name = read_name(cursor, "the name of a rule")
    cursor.advance()
    return name


def _read_head(cursor: Cursor) -> Head:
    token = cursor.token
    if token.kind in {".", "end"}:
        raise cursor.unexpected("a rule or a declaration")
    _refuse_turned_arrow(cursor)
    if token.kind in {"false", "⊥"} and cursor.following.kind not in _AFTER_CONSTANTS and cursor.following.text != "mod":
        cursor.advance()
        return Falsity(cursor.token_span(token))
    if token.kind == "word" and cursor.following.kind in _AFTER_KEYWORDS:
        _check_keyword(cursor)
    cursor.in_head = True
    node = read_formula(cursor)
    if cursor.token.kind == ":":
        advice = "a rule's name stands first and is quoted unless it is a word"
        raise cursor.unexpected("`<-`", help=advice)
    head = condition_of(cursor, node)
    cursor.in_head = False
    assert not isinstance(head, Let)
    return head


def _refuse_turned_arrow(cursor: Cursor) -> None:
    """Raises if the body stands first, as in `a, b -> c.`; the help shows the rule as it should be."""
    if cursor.has_arrow():
        return
    arrows = [number for number in range(cursor.index, len(cursor.tokens)) if cursor.tokens[number].kind in _TURNED_ARROWS]
    if not arrows:
        return
    first, arrow, end = cursor.tokens[cursor.index].start, cursor.tokens[arrows[0]], cursor.tokens[-1].start
    body, head = (" ".join(cursor.source.text[slice(*part)].split()) for part in ((first, arrow.start), (arrow.end, end)))
    turned = f": `{head} <- {body}.`" if body and head and len(arrows) == 1 else ""
    raise cursor.failure(
        "E101",
        f"expected `<-`, found `{arrow.text}`",
        cursor.token_span(arrow),
        label="expected `<-`",
        help=f"write the head first, then `<-` and the body{turned}",
    )


def _check_keyword(cursor: Cursor) -> None:
    """Raises if a word that no head can begin with is a misspelt declaration, or begins a rule in another language."""
    word = cursor.token.text
    meant = suggestion(word, DECLARATION_WORDS)
    advice = WORDS.get(word.lower(), "")
    if meant is not None and meant != word:
        advice = f"did you mean `{meant}`?"
    if word == "for":
        advice = "the parameters of a template begin with a dollar sign: `for $p in {a, b}: …`"
    if advice:
        message = f"expected a rule or a declaration, found `{word}`"
        raise cursor.failure("E101", message, cursor.token_span(cursor.token), help=advice)


def _read_arrow(cursor: Cursor) -> None:
    token = cursor.token
    if token.kind == "<-":
        cursor.advance()
        return
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
    raise cursor.unexpected("`<-`")
