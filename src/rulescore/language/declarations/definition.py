"""`define animal(X) <- is_a(X, K), K in {cat, dog}.`: a predicate that is a part of another."""

from __future__ import annotations

from rulescore.language.conditions import read_atom, read_body
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.syntax import Atom, Definition, Membership, Variable


def read_definition(cursor: Cursor, start: int) -> tuple[Definition, ...]:
    head = read_atom(cursor)
    cursor.expect("<-", "`<-`")
    if cursor.token.text == "chain" and cursor.following.kind != "(":
        return (_read_chain(cursor, start, head),)
    body = read_body(cursor)
    cursor.finish("`,` or `.`")
    fact, *rest = body.conditions
    members = tuple(condition for condition in rest if isinstance(condition, Membership))
    if isinstance(fact, Atom) and len(members) == len(rest):
        names = {term for term in head.terms if isinstance(term, Variable)}
        if len(names) == head.arity and {*names, *(member.value for member in members)} <= set(fact.terms):
            return (Definition(head, fact, members, span=cursor.span_from(start)),)
    raise _unclear(cursor, start)


def _read_chain(cursor: Cursor, start: int, head: Atom) -> Definition:
    cursor.advance()
    fact = read_atom(cursor)
    cursor.finish("`.`")
    match fact.terms:
        case (Variable() as left, Variable() as right) if head.terms == fact.terms and left != right:
            return Definition(head, fact, chained=True, span=cursor.span_from(start))
    raise _unclear(cursor, start)


def _unclear(cursor: Cursor, start: int) -> StatementError:
    return cursor.failure(
        "E116",
        "a definition is one atom and sets of values for its other variables, or the chains of an atom of two variables",
        cursor.span_from(start),
        help="write it like `define animal(X) <- is_a(X, K), K in {cat, dog}.` or `define reaches(X, Y) <- chain leads(X, Y).`",
    )
