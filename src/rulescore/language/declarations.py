"""Declarations: all statements but rules. Each function reads what follows its keyword, up to the full stop."""

from __future__ import annotations

from collections.abc import Callable

from rulescore.errors import Span
from rulescore.language.bodies import read_atom, read_body
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.syntax import (
    Atom,
    Closed,
    Constant,
    Declaration,
    ExtractIncompatible,
    Functional,
    IncompatibleGroup,
    IncompatiblePair,
    PartiallyComplete,
    PredicateDeclaration,
    Refute,
    Term,
    Variable,
    Wildcard,
)
from rulescore.language.terms import read_predicate, read_term


def read_declaration(cursor: Cursor) -> tuple[Declaration, ...]:
    keyword = cursor.advance()
    return _READERS[keyword.text](cursor, keyword.start)


def _read_incompatible(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    items = [_read_predicate_or_atom(cursor)]
    while cursor.token.kind == ",":
        cursor.advance()
        items.append(_read_predicate_or_atom(cursor))
    cursor.finish("`,` or `.`")
    span = cursor.span_from(start)
    names = tuple(item for item in items if isinstance(item, str))
    match items:
        case [Atom() as left, Atom() as right]:
            _check_pair(cursor, left, right, span)
            return (IncompatiblePair(left, right, span),)
        case [_, _, *_] if len(names) == len(items):
            _check_group(cursor, names, span)
            return (IncompatibleGroup(names, span),)
    raise cursor.failure(
        "E116",
        "`incompatible` takes two names or more, or exactly two atoms",
        span,
        help="write `incompatible p, q, s.` or `incompatible p(X, Y), q(Y, X).`",
    )


def _read_predicate_or_atom(cursor: Cursor) -> str | Atom:
    if cursor.token.kind in {"word", "quoted", "dotted"} and cursor.following.kind == "(":
        return read_atom(cursor)
    return read_predicate(cursor, "a predicate")


def _check_group(cursor: Cursor, names: tuple[str, ...], span: Span) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            advice = f"name it once; for asymmetry write `incompatible {name}(X, Y), {name}(Y, X).`"
            cursor.report("E116", f"`{name}` cannot be incompatible with itself", span, help=advice)


def _check_pair(cursor: Cursor, left: Atom, right: Atom, span: Span) -> None:
    shape = "both atoms have the same variables, each of them once, and nothing else"
    variables = [[term.name for term in atom.terms if isinstance(term, Variable)] for atom in (left, right)]
    arguments = [len(atom.terms) for atom in (left, right)]
    if set(variables[0]) != set(variables[1]) or [len(set(names)) for names in variables] != arguments:
        advice = "write `incompatible p(X, Y), q(Y, X).`; other shapes are said by `refute p(X, Y) <- body.`"
        cursor.report("E116", "the two atoms of `incompatible` do not match", span, note=shape, help=advice)
    elif left == right:
        advice = "to say that no such fact is true, write `refute p(X, Y) <- p(X, Y).`"
        cursor.report("E116", f"`{left.predicate}` cannot be incompatible with itself", span, help=advice)


def _read_functional(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    predicate = read_predicate(cursor, "a predicate")
    return (Functional(predicate, *_read_dependency(cursor, "functional", start)),)


def _read_pca(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    if cursor.token.kind == "*" or cursor.following.kind != "(":
        return tuple(PartiallyComplete(predicate, span=span) for predicate, span in _read_predicates(cursor, start))
    predicate = read_predicate(cursor, "a predicate")
    return (PartiallyComplete(predicate, *_read_dependency(cursor, "pca", start)),)


def _read_dependency(cursor: Cursor, word: str, start: int) -> tuple[int, tuple[int, ...], tuple[int, ...], Span]:
    """The number of arguments, the positions of keys and of values, and the whole statement: `(X, Y -> Z)`, `(X, Y) on Y -> X`."""
    if cursor.token.kind != "(":
        raise _no_dependency(cursor, word, f"`{word}` does not say what determines what", cursor.span_from(start))
    cursor.advance()
    terms = _read_terms(cursor)
    if cursor.token.kind == "->":
        cursor.advance()
        keys, values = terms, _read_terms(cursor)
        cursor.expect(")", "`,` or `)`")
        # Names say nothing of places, but everybody who writes `p(Y -> X)` means that the second argument determines the first.
        terms = (*values, *keys) if (keys, values) == ((Variable("Y"),), (Variable("X"),)) else (*keys, *values)
    else:
        cursor.expect(")", "`,`, `->` or `)`")
        if (cursor.token.kind, cursor.token.text) != ("word", "on"):
            raise _no_dependency(cursor, word, f"`{word}` does not say what determines what", cursor.span_from(start))
        cursor.advance()
        keys = _read_terms(cursor)
        cursor.expect("->", "`,` or `->`")
        values = _read_terms(cursor)
    cursor.finish("`.`")
    span = cursor.span_from(start)
    _check_dependency(cursor, word, terms, keys, values, span)
    names = [term.name if isinstance(term, Variable) else None for term in terms]
    return len(terms), _positions(names, keys), _positions(names, values), span


def _read_terms(cursor: Cursor) -> tuple[Term, ...]:
    """The terms up to the end of their list. If there are none, the caller reports it."""
    if cursor.token.kind in {"->", ")", "."}:
        return ()
    terms = [read_term(cursor)]
    while cursor.token.kind == ",":
        cursor.advance()
        terms.append(read_term(cursor))
    return tuple(terms)


def _check_dependency(
    cursor: Cursor, word: str, terms: tuple[Term, ...], keys: tuple[Term, ...], values: tuple[Term, ...], span: Span
) -> None:
    """Raises unless keys and values are different variables of the atom, at least one of each."""
    if not keys or not values:
        raise _no_dependency(cursor, word, f"`{word}` has no {'value' if keys else 'key'}", span)
    arguments = set(terms)
    for term in (*keys, *values):
        if not isinstance(term, Variable):
            raise _no_dependency(cursor, word, f"keys and values of `{word}` are variables", term.span or span)
        if term not in arguments:
            raise _no_dependency(cursor, word, f"`{term.name}` is not an argument of the predicate", term.span or span)
    for among in (terms, (*keys, *values)):
        seen: set[Term] = set()
        for term in among:
            if isinstance(term, Variable) and term in seen:
                raise _no_dependency(cursor, word, f"the variable `{term.name}` is repeated", term.span or span)
            if not isinstance(term, Variable | Wildcard):
                raise _no_dependency(cursor, word, f"the arguments of `{word}` are variables", term.span or span)
            seen.add(term)


def _no_dependency(cursor: Cursor, word: str, message: str, span: Span) -> StatementError:
    return cursor.failure(
        "E117",
        message,
        span,
        note="keys determine values: different variables, at least one on each side of `->`",
        help=f"write `{word} p(X -> Y).`, or `{word} p(X, Y, Z) on Z -> X.`",
    )


def _positions(names: list[str | None], terms: tuple[Term, ...]) -> tuple[int, ...]:
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(numbers[term.name] for term in terms if isinstance(term, Variable))


def _read_closed(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    return tuple(Closed(predicate, span) for predicate, span in _read_predicates(cursor, start))


def _read_predicates(cursor: Cursor, start: int) -> list[tuple[str | None, Span]]:
    """Predicates up to the full stop, each with its place; or `*`, for all, with that of the statement."""
    if cursor.token.kind == "*":
        cursor.advance()
        cursor.finish("`.`")
        return [(None, cursor.span_from(start))]
    read = [_read_placed(cursor, "a predicate or `*`")]
    while cursor.token.kind == ",":
        cursor.advance()
        read.append(_read_placed(cursor, "a predicate"))
    cursor.finish("`,` or `.`")
    return read


def _read_placed(cursor: Cursor, expected: str) -> tuple[str | None, Span]:
    start = cursor.token.start
    return read_predicate(cursor, expected), cursor.span_from(start)


def _read_refute(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    if cursor.token.kind in {"false", "⊥", "not"}:
        raise cursor.failure("E109", "what `refute` refutes is one atom", cursor.token_span(cursor.token), label="not an atom")
    head = read_atom(cursor)
    cursor.expect("<-", "`<-`")
    body = read_body(cursor)
    cursor.finish("`,` or `.`")
    return (Refute(head, body, cursor.span_from(start)),)


def _read_extract(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    if cursor.token.text != "incompatible":
        raise cursor.unexpected("`incompatible`")
    cursor.advance()
    cursor.finish("`.`")
    return (ExtractIncompatible(cursor.span_from(start)),)


def _read_predicate(cursor: Cursor, start: int) -> tuple[Declaration, ...]:
    name = read_predicate(cursor, "a predicate")
    cursor.expect("/", "`/` and the number of arguments")
    arity = _read_arity(cursor)
    cursor.finish("`.`")
    if arity == 0:
        span = cursor.span_from(start)
        cursor.report("E108", f"`{name}` has no arguments", span, note="a predicate has one argument or more")
    return (PredicateDeclaration(name, arity, cursor.span_from(start)),)


def _read_arity(cursor: Cursor) -> int:
    if cursor.token.kind == "number" and cursor.token.text.isdigit():
        match read_term(cursor):
            case Constant(value=int() as arity):
                return arity
            case _:  # too many digits, which is reported already
                return 1
    raise cursor.unexpected("the number of arguments", operand=True)


_READERS: dict[str, Callable[[Cursor, int], tuple[Declaration, ...]]] = {
    "incompatible": _read_incompatible,
    "functional": _read_functional,
    "pca": _read_pca,
    "closed": _read_closed,
    "refute": _read_refute,
    "extract": _read_extract,
    "predicate": _read_predicate,
}
