"""Declarations: all statements but rules. Each function reads what follows its keyword, up to the full stop.

Each kind of declaration that refutes heads is a file here: its syntax tree, its words, the `refute` statements it is short for, its
reader. To all other code they are statements. Only incompatible predicates are looked up as sets, because there may be thousands.
"""

from __future__ import annotations

from collections.abc import Callable

from rulescore.language.cursor import Cursor
from rulescore.language.declarations.closed import read_closed
from rulescore.language.declarations.definition import read_definition
from rulescore.language.declarations.functional import read_functional
from rulescore.language.declarations.incompatible import read_incompatible
from rulescore.language.declarations.pca import read_pca
from rulescore.language.declarations.refute import read_refute
from rulescore.language.syntax import Constant, Declaration, ExtractIncompatible, PredicateDeclaration
from rulescore.language.terms import read_predicate, read_term


def read_declaration(cursor: Cursor) -> tuple[Declaration, ...]:
    keyword = cursor.advance()
    return _READERS[keyword.text](cursor, keyword.start)


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
        cursor.report("E101", f"`{name}` has no arguments", span, note="a predicate has one argument or more")
    return (PredicateDeclaration(name, arity, cursor.span_from(start)),)


def _read_arity(cursor: Cursor) -> int:
    if cursor.token.kind == "number" and cursor.token.text.isdigit():
        match read_term(cursor):
            case Constant(value=int() as arity):
                return arity
            case _:  # the number has too many digits, and the cursor has reported it
                return 1
    raise cursor.unexpected("the number of arguments", operand=True)


_READERS: dict[str, Callable[[Cursor, int], tuple[Declaration, ...]]] = {
    "incompatible": read_incompatible,
    "functional": read_functional,
    "pca": read_pca,
    "closed": read_closed,
    "refute": read_refute,
    "extract": _read_extract,
    "predicate": _read_predicate,
    "define": read_definition,
}
