"""Statements made readable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from rulescore.logic.schema import Relation
from rulescore.sql.names import PREFIX, arguments, fact_table
from rulescore.sql.query import Query, Select, row, select, union_all
from rulescore.sql.words import Sql, count_rows, identifier, sql


def relation_sizes(arity: int) -> Select:
    """Facts per literal and, nearly, how many different constants each of its positions holds: counting those of 16 million facts
    exactly takes 4.5 s, and so only for an estimate."""
    f = row(fact_table(arity), "f")
    spreads = {name: exp.ApproxDistinct(this=f[name].node) for name in arguments(arity)}
    return select(f.literal, n=count_rows(), **spreads).from_(f).group_by(f.literal)


def stored_size(relation: Relation) -> Select:
    """The same of a relation with typed columns."""
    r = row(relation.observed, "r")
    spreads = {f"a{i}": exp.ApproxDistinct(this=r[c.column].node) for i, c in enumerate(relation.columns.values())}
    return select(n=count_rows(), **spreads).from_(r)


def alone(statement: Select, parameters: Mapping[str, pa.Table], names: Mapping[int, str]) -> exp.Expr:
    """A statement with its parameter tables written in as common table expressions, literals with their names beside them."""
    short = {full: full.removeprefix(PREFIX).rsplit("_", 1)[0] for full in parameters}
    if len(set(short.values())) < len(short):
        short = {full: full.removeprefix(PREFIX) for full in parameters}
    written = [
        exp.CTE(this=_rows(rows, names).tree(), alias=exp.TableAlias(this=identifier(f"rule_{short[full]}")))
        for full, rows in parameters.items()
    ]
    found = replace(statement, steps=(*written, *statement.steps)).tree().copy()
    for node in found.find_all(exp.Table):
        if node.name in short:
            node.set("this", identifier(f"rule_{short[node.name]}"))
    return found


def _rows(rows: pa.Table, names: Mapping[int, str]) -> Query:
    return union_all([select(*(_value(field, value, names) for field, value in row.items())) for row in rows.to_pylist()])


def _value(field: str, value: int, names: Mapping[int, str]) -> Sql:
    literal = sql(value)
    if field[0] == "l" and value in names:
        literal.node.add_comments([names[value].replace("*/", "* /")])
    return literal.named(field)
