"""Faulty ids: messages show a few of them, and how many there are."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.engines.base import Engine
from rulescore.language.terms import write_value
from rulescore.sql.query import Select
from rulescore.values.keys import restored
from rulescore.values.types import ValueType


@dataclass(frozen=True, slots=True)
class Offenders:
    ids: tuple[str, ...]
    total: int

    def __str__(self) -> str:
        more = self.total - len(self.ids)
        return ", ".join(f"`{one}`" for one in self.ids) + (f" and {more:,} more" if more else "")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def offenders(engine: Engine, query: Select, types: Sequence[ValueType] = ()) -> Offenders | None:
    """The ids that a query made by `sql.tables.rows.shown` finds; None if there are none. `types`: the types of the ids' columns,
    if some may be date-times."""
    found = engine.query(query)
    if not found.num_rows:
        return None
    keys = found.drop_columns(["n"]).to_pylist()
    rows = [tuple(map(restored, row.values(), types)) if types else tuple(row.values()) for row in keys]
    return Offenders(tuple(map(_shown, rows)), found["n"][0].as_py())


def shown_value(value: object, kind: ValueType) -> str:
    """The text of a value, which is given as an engine holds it."""
    return _text(restored(value, kind))


def _shown(values: tuple[object, ...]) -> str:
    """The text of an id; an id of several columns is in parentheses."""
    texts = [_text(value) for value in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return write_value(value) if isinstance(value, datetime.date) else str(value)
