"""The parts of statements: whole bodies, and atoms that stand alone."""

from __future__ import annotations

from itertools import islice

from rulescore.language.builtins import without_arguments
from rulescore.language.conditions import JOINTS, PREDICATE_KINDS, read_application, read_conjunction
from rulescore.language.cursor import Cursor
from rulescore.language.syntax import And, Atom, RowAtom
from rulescore.language.terms import read_predicate
from rulescore.language.trees import atoms_in, conditions_in

MOST_ATOMS = 100
MOST_CONDITIONS = 10_000
"""The most that a body may have. Rules of people and of miners have far fewer; engines would join more of them for hours."""


def read_body(cursor: Cursor) -> And:
    """One condition or more. Does not check what follows, except for a further arrow: it means a forgotten full stop."""
    if cursor.token.kind in {".", "end"}:
        raise cursor.failure(
            "E107",
            "the body of the rule is empty",
            cursor.token_span(cursor.token),
            label="expected an atom",
            note="a rule says what follows from its body: `head <- body.`",
            help="facts belong into the data, not among the rules",
        )
    begin = cursor.index
    body = read_conjunction(cursor)
    if cursor.index - begin > MOST_ATOMS:  # with as many tokens at least
        _refuse_too_long(cursor, body)
    if cursor.token.kind == "<-" and cursor.begin:
        raise cursor.missing_full_stop(cursor.begin)
    return body


def _refuse_too_long(cursor: Cursor, body: And) -> None:
    for what, most, found in (("atoms", MOST_ATOMS, atoms_in(body)), ("conditions", MOST_CONDITIONS, conditions_in(body))):
        beyond = next(islice(found, most, None), None)
        if beyond is not None:
            span = beyond.span or cursor.token_span(cursor.token)
            advice = "write several rules, or `X in {…}` instead of many comparisons"
            raise cursor.failure("E127", f"the body has more than {most:,} {what}", span, label="one too many", help=advice)


def read_atom(cursor: Cursor) -> Atom:
    """An atom of plain terms, nothing else."""
    if cursor.token.kind in PREDICATE_KINDS and cursor.following.kind == "(":
        atom = read_application(cursor)
        if isinstance(atom, Atom):
            return atom
        advice = "an attribute of a table is written as an atom like this: `sale.price(A, P)`" if isinstance(atom, RowAtom) else ""
        message = "expected an atom of variables and constants"
        raise cursor.failure("E101", message, atom.span or cursor.token_span(cursor.token), help=advice)
    token = cursor.token
    name = read_predicate(cursor, "an atom")
    if cursor.token.kind in JOINTS or cursor.token.kind in {".", "end", "<-"}:
        raise without_arguments(cursor, name, cursor.token_span(token))
    raise cursor.unexpected("`(`", help="a name of other characters than letters, digits and underscores is quoted")
