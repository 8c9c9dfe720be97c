"""Small and capital letters, by a collation that knows them all; others go by a language, or turn one letter into two."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import call
from rulescore.sql.dialects.letters import translated
from rulescore.sql.dialects.postgres.operands import of_operands, x
from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.words import identifier

COLLATION = "pg_c_utf8"
"""The collation that knows every small and capital letter, from version 17 on."""


def collate_letters(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _by_collation, exp.Lower, exp.Upper)


def translate_letters(statement: exp.Expr) -> exp.Expr:
    """For servers that do not have the collation."""
    return rewritten(statement, _by_letter, exp.Lower, exp.Upper)


def _by_collation(node: exp.Expr) -> exp.Expr:
    found = type(node)(this=_collated(node.this, COLLATION))
    if isinstance(node, exp.Upper):
        found = call("REPLACE", found, exp.Literal.string("ß"), exp.Literal.string("ẞ"))
    return exp.Paren(this=_collated(found, "C"))


def _by_letter(node: exp.Expr) -> exp.Expr:
    assert isinstance(node, exp.Lower | exp.Upper)
    plain = type(node)(this=_collated(x(), "C"))
    return exp.Paren(this=_collated(of_operands(translated(node, x(), plain), node.this), "C"))


def _collated(value: exp.Expr, collation: str) -> exp.Expr:
    operand = value if isinstance(value, exp.Column | exp.Func) else exp.Paren(this=value)
    return exp.Collate(this=operand, expression=identifier(collation))
