"""Counts in the data that suggest declarations."""

from __future__ import annotations

from rulescore.sql.names import fact_table
from rulescore.sql.query import Select, row, select
from rulescore.sql.words import count_rows


def argument_counts(stride: int, predicates: int) -> Select:
    """For each predicate with two arguments: its literal, and how many observed facts, first and second arguments it has."""
    f = row(fact_table(2), "f")
    query = select(f.literal, facts=count_rows(), first=f.a0.count_distinct(), second=f.a1.count_distinct()).from_(f)
    as_written = f.literal % stride == 0, f.literal.between(0, stride * predicates - 1)
    return query.where(*as_written).group_by(f.literal)
