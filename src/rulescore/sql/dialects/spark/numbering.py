"""Rows numbered by their places: a window over all rows would send them all through one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.names import name
from rulescore.sql.words import Sql, call, identifier, sql

# Where a row stands among all rows: the number of its task in the upper bits, its place there in the lower 33.
PLACE = name("place")
_BITS = 33


@dataclass(frozen=True, slots=True)
class Numbering:
    """A query with a column that numbers its rows. `rows`: the query without that column, with the `keys` that give the order as
    further columns. `field` is the number's column, `value` its expression, with a placeholder for the number, which counts from
    1."""

    rows: exp.Select
    fields: tuple[str, ...]
    keys: tuple[str, ...]
    field: str
    value: exp.Expr


def unordered(query: exp.Expr) -> exp.Expr:
    """A query without its ORDER BY: we keep its rows as a table, in which their order means nothing."""
    found = query.copy()
    found.set("order", None)
    return found


def numbering(query: exp.Expr) -> Numbering | None:
    """How a query numbers its rows by a window over all of them; None if it does not."""
    if not isinstance(query, exp.Select):
        return None
    rows = query.copy()
    for projection in rows.expressions:
        window = projection.find(exp.Window)
        if window is None or not isinstance(window.this, exp.RowNumber) or window.args.get("partition_by"):
            continue
        fields = tuple(one.alias_or_name for one in rows.expressions)
        order = window.args.get("order")
        keys = [one.this.copy() for one in order.expressions] if order is not None else []
        window.replace(exp.Placeholder())
        names = tuple(name(f"key_{i}") for i in range(len(keys)))
        others = [one for one in rows.expressions if one is not projection]
        rows.set("expressions", [*others, *(Sql(key).named(alias).node for key, alias in zip(keys, names, strict=True))])
        return Numbering(rows, fields, names, projection.alias, exp.Paren(this=projection.this))
    return None


def task() -> exp.Expr:
    """The task that made a row, from its place."""
    return _task().node


def _task() -> Sql:
    return call("SHIFTRIGHT", _place(), _BITS).integer()


def numbered(found: Numbering, starts: Sequence[int]) -> list[exp.Expr]:
    """The columns of rows whose number follows from their place: `starts` has the number of rows before those of each task."""
    before = call("ELEMENT_AT", exp.Array(expressions=[sql(start).big().node for start in starts]), _task() + 1)
    within = Sql(exp.BitwiseAnd(this=_place(), expression=sql((1 << _BITS) - 1).node)).paren()
    value = found.value.copy()
    for gap in list(value.find_all(exp.Placeholder)):
        gap.replace((before + within + 1).paren().node.copy())
    fields = {field: exp.column(identifier(field)) for field in found.fields}
    return [Sql(value.this).named(field).node if field == found.field else column for field, column in fields.items()]


def _place() -> exp.Expr:
    return exp.column(identifier(PLACE))
