"""The engines' dialects. We build the same statements for every engine; then the passes of its dialect rewrite a copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql import query
from rulescore.sql.dialects.duckdb import is_ordered_list, sort_made_lists
from rulescore.sql.dialects.postgres import (
    bound_arithmetic,
    collate_letters,
    concerns,
    count_exactly,
    fit_casts,
    keep_plain_sums,
    scale_sums,
    translate_letters,
)
from rulescore.sql.dialects.postgres import spell as spell_for_postgres
from rulescore.sql.dialects.rewriting import Pass, nodes
from rulescore.sql.dialects.spark import ask_after_joins, carry_outer_columns, look_up_answers, tell_steps_apart, widen_sums
from rulescore.sql.dialects.spark import spell as spell_for_spark
from rulescore.sql.query import Statement, tree


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect: the printer's name for it, and the passes over a statement, in order. `overflow_checks` are further passes before
    these, only for a statement that has failed because a number left its range: they slow it down. `concerns`: whether any pass
    rewrites a node; we do not copy a statement without such nodes, since copying takes as long as printing."""

    name: str
    passes: tuple[Pass, ...] = ()
    overflow_checks: tuple[Pass, ...] = ()
    concerns: Callable[[exp.Expr], bool] = lambda node: True


DUCKDB = Dialect("duckdb", (sort_made_lists,), concerns=is_ordered_list)
POSTGRES = Dialect(
    "postgres",
    (fit_casts, keep_plain_sums, count_exactly, spell_for_postgres, collate_letters),
    (keep_plain_sums, scale_sums, bound_arithmetic),
    concerns,
)
POSTGRES_BEFORE_17 = Dialect(
    "postgres",
    (fit_casts, keep_plain_sums, count_exactly, spell_for_postgres, translate_letters),
    (keep_plain_sums, scale_sums, bound_arithmetic),
    concerns,
)
SPARK = Dialect(
    "spark",
    (tell_steps_apart, look_up_answers, carry_outer_columns, ask_after_joins, spell_for_spark),
    (widen_sums,),
)


def to_dialect(statement: Statement, dialect: Dialect, *, with_overflow_checks: bool = False) -> exp.Expr:
    """A statement as an engine understands it: a new tree, unless no pass concerns it."""
    found = tree(statement)
    if with_overflow_checks:
        passes = (*dialect.overflow_checks, *dialect.passes)
    elif dialect.passes and any(map(dialect.concerns, nodes(found))):
        passes = dialect.passes
    else:
        return found
    found = found.copy()
    for one in passes:
        found = one(found)
    return found


def text(statement: Statement, dialect: Dialect, *, pretty: bool = False, with_overflow_checks: bool = False) -> str:
    """The text of a statement in an engine's dialect."""
    return query.text(to_dialect(statement, dialect, with_overflow_checks=with_overflow_checks), dialect.name, pretty=pretty)
