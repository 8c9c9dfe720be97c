"""What is drawn beside a result: tables of published values, checked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, meant


class NothingToDrawError(InputError):
    """The result lacks what a figure shows."""

    def __init__(self, figure: str, reason: str, *helps: str) -> None:
        self.figure, self.reason, self._made_of = figure, reason, (figure, reason, *helps)
        super().__init__(Diagnostic("E792", f"there is nothing to draw as `{figure}`: {reason}", helps=helps))

    def __reduce__(self) -> Any:
        return type(self), self._made_of, self.__dict__


def published_rows(table: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a table that have a value. NaN counts as missing, as in a frame of pandas."""
    if table is None:
        return []
    needed = ", ".join(f"`{name}`" for name in columns)
    if not isinstance(table, pa.Table):
        helps = (f"give an Arrow table with the columns {needed}",)
        raise InputError(
            Diagnostic("E791", f"`published` is not an Arrow table, but of type `{type(table).__name__}`", helps=helps)
        )
    if missing := [name for name in columns if name not in table.column_names]:
        message = f"`published` has no column {', '.join(f'`{name}`' for name in missing)}"
        raise InputError(Diagnostic("E791", message, notes=(f"its columns are to be {needed}",)))
    numbers = {"at", "value"}
    try:
        typed = pa.table({name: table[name].cast(pa.float64() if name in numbers else pa.string()) for name in columns})
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        message = "`published` has a value that is not a number, or a name that is not a text"
        raise InputError(Diagnostic("E791", message, notes=(str(error),))) from error
    rows = [row for row in typed.to_pylist() if None not in row.values()]
    return [row for row in rows if all(isfinite(row[name]) for name in numbers.intersection(columns))]


def refuse_unknown(rows: Sequence[dict[str, Any]], column: str, known: Collection[str]) -> None:
    """Refuses published values of a rule or a measure that the result does not have."""
    for name in dict.fromkeys(row[column] for row in rows):
        if name not in known:
            helps = meant(name, list(known))
            message = f"`published` has a value of the {column} `{name}`, which the result does not have"
            raise InputError(Diagnostic("E791", message, helps=helps))
