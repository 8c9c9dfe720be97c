"""Small and capital letters, by a collation that knows them all; others go by a language, or turn one letter into two."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.letters import translated
from rulescore.sql.dialects.postgres.operands import of_operands, x
from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.words import Sql, call, collated

COLLATION = "pg_c_utf8"
"""The collation that knows every small and capital letter, from version 17 on."""


def collate_letters(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _by_collation, exp.Lower, exp.Upper)


def translate_letters(statement: exp.Expr) -> exp.Expr:
    """For servers that do not have the collation."""
    return rewritten(statement, _by_letter, exp.Lower, exp.Upper)


def _by_collation(node: exp.Expr) -> Sql:
    found = Sql(type(node)(this=_collated(Sql(node.this), COLLATION).node))
    if isinstance(node, exp.Upper):
        found = call("REPLACE", found, "ß", "ẞ")
    return _collated(found, "C").paren()


def _by_letter(node: exp.Expr) -> Sql:
    assert isinstance(node, exp.Lower | exp.Upper)
    plain = Sql(type(node)(this=_collated(x, "C").node))
    return _collated(of_operands(translated(node, x, plain), node.this), "C").paren()


def _collated(value: Sql, collation: str) -> Sql:
    return collated(value if isinstance(value.node, exp.Column | exp.Func) else value.paren(), collation)
