"""Dialects as passes over a statement. We build the same statements for every engine, and each pass rewrites the parts that its
engine writes differently.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from rulescore.sql import query
from rulescore.sql.query import Statement, tree
from rulescore.sql.words import Sql, call, when

Pass = Callable[[exp.Expr], exp.Expr]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect: the printer's name for it, and the passes over a statement, in order. `overflow_checks` are further passes before
    these, only for a statement that has failed because a number left its range: they slow it down. `concerns`: whether any pass
    rewrites a node; we do not copy a statement without such nodes, since copying takes as long as printing."""

    name: str
    passes: tuple[Pass, ...] = ()
    overflow_checks: tuple[Pass, ...] = ()
    concerns: Callable[[exp.Expr], bool] = lambda node: True


def rewritten(statement: exp.Expr, rule: Callable[[exp.Expr], Sql | exp.Expr | None], *kinds: type[exp.Expr]) -> exp.Expr:
    """The statement with each node of some kinds replaced by the result of the rule, innermost first. None leaves a node
    unchanged."""
    for node in innermost_first(statement, *kinds):
        changed = rule(node)
        if changed is None:
            continue
        if isinstance(changed, Sql):  # a tree may have the same node at several places
            changed = changed.node.copy()
        if node is statement:
            return changed
        node.replace(changed)
    return statement


def innermost_first(statement: exp.Expr, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    return [node for node in nodes(statement) if isinstance(node, kinds)][::-1]


def nodes(statement: exp.Expr) -> list[exp.Expr]:
    """All nodes, outermost first. The library's own walk takes one and a half times as long, and every pass walks."""
    below = [statement]
    for node in below:  # the loop appends to this list
        for part in node.args.values():
            if isinstance(part, exp.Expr):
                below.append(part)
            elif type(part) is list:
                below.extend(part_node for part_node in part if isinstance(part_node, exp.Expr))
    return below


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def tables_read_by(query: exp.Select) -> set[str]:
    """The names under which a query reads rows itself, without its subqueries."""
    joins = query.args.get("joins") or []
    first = query.args.get("from_")
    return {source.this.alias_or_name for source in ([first, *joins] if first is not None else joins)}


def translated(node: exp.Lower | exp.Upper, value: Sql, ascii_letters: Sql) -> Sql:
    """A text in small or capital letters. `ascii_letters`: the result for a text of ASCII letters alone, which is far quicker."""
    pairs = small_letters() if isinstance(node, exp.Lower) else capitals()
    is_plain = call("OCTET_LENGTH", value) == call("CHAR_LENGTH", value)
    return when(is_plain, ascii_letters, call("TRANSLATE", value, *map("".join, zip(*pairs, strict=True))))


@cache
def small_letters() -> tuple[tuple[str, str], ...]:
    """Pairs of a letter and its small letter."""
    # Only `İ` becomes more than one character: `i` and a dot above.
    return tuple((letter, letter.lower()[0]) for letter in _every_character() if letter.lower()[0] != letter)


@cache
def capitals() -> tuple[tuple[str, str], ...]:
    """Pairs of a letter and its capital."""
    return tuple((letter, capital) for letter in _every_character() if (capital := _capital(letter)) != letter)


def _every_character() -> map[str]:
    return map(chr, range(1, sys.maxunicode + 1))


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    # Some Greek letters have several capitals, and one for the beginning of a word.
    return next((form for form in (letter.upper(), letter.title()) if len(form) == 1), letter)


def is_ordered_list(node: exp.Expr) -> bool:
    return isinstance(node, exp.ArrayAgg) and isinstance(node.this, exp.Order)


def sort_made_lists(statement: exp.Expr) -> exp.Expr:
    """Sorts lists after they are made, instead of making them in order."""
    return rewritten(statement, _sorted, exp.ArrayAgg)


def _sorted(node: exp.Expr) -> exp.Expr | None:
    if not is_ordered_list(node):
        return None
    return exp.Anonymous(this="LIST_SORT", expressions=[exp.ArrayAgg(this=node.this.this)])


DUCKDB = Dialect("duckdb", (sort_made_lists,), concerns=is_ordered_list)


def to_dialect(statement: Statement, dialect: Dialect, *, with_overflow_checks: bool = False) -> exp.Expr:
    """A statement as an engine understands it: a new tree, unless no pass concerns it."""
    translated = tree(statement)
    if with_overflow_checks:
        passes = (*dialect.overflow_checks, *dialect.passes)
    elif dialect.passes and any(map(dialect.concerns, nodes(translated))):
        passes = dialect.passes
    else:
        return translated
    # All passes share one copy, because a copy takes as long as printing, and Spark has five passes (0018).
    translated = translated.copy()
    for rewrite in passes:
        translated = rewrite(translated)
    return translated


def text(statement: Statement, dialect: Dialect, *, pretty: bool = False, with_overflow_checks: bool = False) -> str:
    """The text of a statement in an engine's dialect."""
    return query.text(to_dialect(statement, dialect, with_overflow_checks=with_overflow_checks), dialect.name, pretty=pretty)
