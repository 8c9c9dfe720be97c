"""Counts in the data that suggest declarations."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import Select, all_of, argument, column, count_rows, equal, fact_table, named, number, select, table


def argument_counts(stride: int, predicates: int) -> Select:
    """For each predicate with two arguments: its literal, and how many observed facts, first and second arguments it has."""
    as_written = (
        equal(exp.Mod(this=column("f", "literal"), expression=number(stride)), number(0)),
        exp.Between(this=column("f", "literal"), low=number(0), high=number(stride * predicates - 1)),
    )
    return (
        select(
            column("f", "literal"),
            named(count_rows(), "facts"),
            named(_different(0), "first"),
            named(_different(1), "second"),
        )
        .from_(table(fact_table(2), "f"))
        .where(all_of(as_written))
        .group_by(column("f", "literal"))
    )


def _different(index: int) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[column("f", argument(index))]))
