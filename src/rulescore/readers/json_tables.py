"""Rows of a table from JSON Lines. A column has the type that all its values have; without types, texts stay texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, meant
from rulescore.readers.columns import no_facts, parse_value
from rulescore.readers.files import InputFile
from rulescore.readers.json_lines import Line, column_names, json_lines
from rulescore.readers.text import at_most
from rulescore.setting.choices import ColumnType
from rulescore.setting.model import Request, RowStream
from rulescore.values import equals_double

_ARROW = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
_WORDS = {str: "text", bool: "truth value", int: "number", float: "number", list: "list"}

Normal = Callable[[Iterable[pa.RecordBatch], str], Iterator[pa.RecordBatch]]


class JsonRows:
    """A file of objects, read once. `types`: those that the user declares. `normal`: brings batches into the types that we use."""

    def __init__(self, file: InputFile, request: Request, types: Mapping[str, ColumnType], normal: Normal) -> None:
        self._file, self._request, self._types, self._normal = file, request, types, normal

    def stream(self) -> RowStream:
        return RowStream(self._request.origin, self.schema, self.batches, version=self._file.version)

    @cached_property
    def _lines(self) -> list[Line]:
        with self._file.opened() as opening:
            read = list(json_lines(opening, self._request))
        if problems := at_most(line for line in read if isinstance(line, Diagnostic)):
            raise InputError(problems)
        if not read:
            raise no_facts(self._request)
        return [line for line in read if isinstance(line, Line)]

    @cached_property
    def _paths(self) -> dict[str, str]:
        names = column_names((line.row for line in self._lines), self._types)
        by_path = {path: name for name, path in names.items()}
        for name in self._types:
            if name not in names and name not in by_path:
                notes = (f"the columns are {', '.join(f'`{known}`' for known in names)}",)
                message = f"`types` speaks of `{name}`, which is not a column"
                raise InputError(
                    Diagnostic("E320", message, Place(self._request.origin), notes=notes, helps=meant(name, list(names)))
                )
        return names

    def schema(self) -> pa.Schema:
        return pa.schema([(name, self._column(name, strict=False).type) for name in self._paths])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        table = pa.table({name: self._column(name, strict=True) for name in columns})
        return self._normal(table.to_batches(), self._request.origin)

    def _column(self, name: str, *, strict: bool) -> pa.Array:
        """A column. If its values have several types, it is text for those who only ask for the types of columns."""
        path = self._paths[name]
        declared = self._types.get(name, self._types.get(path))
        values = [self._value(line, name, line.row.get(path), declared, strict=strict) for line in self._lines]
        kinds = {type(value) for value in values if value is not None}
        if declared is not None or not kinds:
            return pa.array(values, None if kinds else pa.string())
        if kinds == {int, float} and all(not isinstance(value, int) or equals_double(value) for value in values):
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        too_large = kinds == {int} and any(value is not None and not _fits(value) for value in values)
        if len(kinds) == 1 and kinds <= _ARROW.keys() and not too_large:
            return pa.array(values, _ARROW[kinds.pop()])
        if strict and kinds != {list}:
            raise InputError(self._several(name, values))
        return pa.array([None if value is None else json.dumps(value) for value in values], pa.string())

    def _value(self, line: Line, name: str, value: Any, declared: ColumnType | None, *, strict: bool) -> Any:
        if declared is None or value is None:
            if strict and isinstance(value, int) and not _fits(value):
                raise InputError(self._wrong(line, f"`{name}` is `{value}`, which does not fit into 64 bits"))
            return value
        try:
            return parse_value(value if isinstance(value, str) else json.dumps(value), declared)
        except ValueError:
            raise InputError(self._wrong(line, f"`{name}` is `{json.dumps(value)[:80]}`, not of type {declared}")) from None

    def _several(self, name: str, values: Sequence[Any]) -> Diagnostic:
        known = [(line, type(value)) for line, value in zip(self._lines, values, strict=True) if value is not None]
        first = known[0][1]
        other, kind = next((line, kind) for line, kind in known if kind is not first)
        message = f"`{name}` is a {_WORDS[kind]} here and a {_WORDS[first]} in line {known[0][0].number:,}"
        if _WORDS[kind] == _WORDS[first]:
            message = f"`{name}` has an integer that no float equals, and floats"
        helps = (f'give the column one type: `types = {{ {json.dumps(name)} = "string" }}`',)
        return Diagnostic("E314", message, Place(self._request.origin, other.number), helps=helps)

    def _wrong(self, line: Line, message: str) -> Diagnostic:
        return Diagnostic("E314", message, Place(self._request.origin, line.number))


def _fits(value: int) -> bool:
    return -(2**63) <= value < 2**63
