"""Ids that something is wrong with: a few are shown, all are counted."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from rulescore.engines.base import Engine
from rulescore.sql.build import Select


@dataclass(frozen=True, slots=True)
class Offenders:
    ids: tuple[str, ...]
    total: int

    def __str__(self) -> str:
        more = self.total - len(self.ids)
        return ", ".join(f"`{one}`" for one in self.ids) + (f" and {more:,} more" if more else "")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def offenders(engine: Engine, query: Select) -> Offenders | None:
    """What a query of `sql.tables.shown` finds; None where it finds nothing."""
    found = engine.query(query)
    if not found.num_rows:
        return None
    keys = found.drop_columns(["n"]).to_pylist()
    return Offenders(tuple(_shown(tuple(row.values())) for row in keys), found["n"][0].as_py())


def _shown(values: tuple[object, ...]) -> str:
    """An id; one of several columns in parentheses."""
    texts = [_text(value) for value in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
