"""Verdicts as a table: the user's columns and ours, and as CSV, JSON Lines and Parquet."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, ticked
from rulescore.language.terms import write_value
from rulescore.reporting.files import write_files
from rulescore.reporting.listing import counted, render_table_csv
from rulescore.reporting.violations import ResultTable
from rulescore.verdicts.judging import JudgedRows, RowVerdict, Verdict
from rulescore.verdicts.links import EXACT
from rulescore.verdicts.rows import UserRows

ENDINGS = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True, slots=True, repr=False)
class Verdicts(ResultTable):
    """Verdicts for rows, as an Arrow `table` of the user's columns and then `verdict`, `rule`, `kind` and `because`. `counts`: rows
    by model and verdict."""

    counts: Mapping[str, Mapping[Verdict, int]]
    judged: JudgedRows = field(compare=False)
    own: tuple[str, ...] = ()
    """The names of our columns."""

    def to_csv(self, *, spreadsheet: bool = False) -> str:
        """Render the rows as CSV.

        Args:
            spreadsheet: Put an apostrophe before text that a spreadsheet would compute.
        """
        columns = {name: _csv_column(column) for name, column in zip(self.table.column_names, self.table.columns, strict=True)}
        return render_table_csv(pa.table(columns), spreadsheet=spreadsheet)

    def to_jsonl(self) -> str:
        """Render the rows as JSON Lines; rows of JSON Lines keep their nested objects."""
        return "".join(f"{json.dumps(row, ensure_ascii=False, default=_plain)}\n" for row in self._objects())

    def _objects(self) -> Iterator[Mapping[str, object]]:
        ours = self.table.select(list(self.own)).to_pylist()
        start = 0
        for rows, verdicts in self.judged.sources:
            number = len(verdicts)
            objects = rows.objects or rows.table.to_pylist()
            for row, judged in zip(objects, ours[start : start + number], strict=True):
                # JSON has no NaN, which frames have for missing numbers.
                yield {name: None if value != value else value for name, value in {**row, **judged}.items()}
            start += number

    def write(self, path: str | Path, *, spreadsheet: bool = False) -> None:
        """Write the rows to a file that ends in `.csv`, `.jsonl` or `.parquet`.

        Args:
            path: The file.
            spreadsheet: Put an apostrophe before text that a spreadsheet would compute, in CSV.

        Raises:
            InputError: If the ending is another, or the file cannot be written.
        """
        path = Path(path)
        require_ending(path)
        content: Any = self.table
        if path.suffix != ".parquet":
            content = self.to_csv(spreadsheet=spreadsheet) if path.suffix == ".csv" else self.to_jsonl()
        write_files(path.parent, {path.name: content})

    def __repr__(self) -> str:
        totals: Counter[Verdict] = Counter()
        for counts in self.counts.values():
            totals.update(counts)
        return f"<{counted(len(self), 'row')}: {', '.join(f'{n:,} {word}' for word, n in totals.items() if n)}>"


def require_ending(path: Path) -> None:
    """Raises InputError for a file that we would not know how to write."""
    if path.suffix not in ENDINGS:
        helps = (f"end its name with {ticked(ENDINGS)}",)
        raise InputError(Diagnostic("E602", f"`{path}` has no ending that names a format for verdicts", helps=helps))


def verdicts_table(judged: JudgedRows, *, all_rules: bool) -> Verdicts:
    """The rows of all models with their verdicts."""
    parts = [rows.table for rows, _ in judged.sources]
    verdicts = [verdict for _, of_rows in judged.sources for verdict in of_rows]
    columns = _united(parts)
    models = [rows.model for rows, of_rows in judged.sources for _ in of_rows]
    ours: dict[str, Any] = {"model": models} if len({rows.model for rows, _ in judged.sources}) > 1 else {}
    ours |= _columns(verdicts)
    if judged.links.how != EXACT:
        ours["linked"] = pa.array(["; ".join(verdict.linked) or None for verdict in verdicts], pa.string())
    if all_rules:
        ours["rules"] = pa.array([list(verdict.rules) for verdict in verdicts], pa.list_(pa.string()))
        ours["reasons"] = pa.array([list(verdict.reasons) for verdict in verdicts], pa.list_(pa.string()))
    named = {f"rulescore.{name}" if name in columns else name: column for name, column in ours.items()}
    return Verdicts(pa.table({**columns, **named}), _counts(judged.sources), judged, tuple(named))


def _columns(verdicts: Sequence[RowVerdict]) -> dict[str, Any]:
    return {
        "verdict": pa.array([verdict.verdict.value for verdict in verdicts], pa.string()),
        "rule": pa.array([verdict.rule for verdict in verdicts], pa.string()),
        "kind": pa.array([verdict.kind for verdict in verdicts], pa.string()),
        "because": pa.array([verdict.because for verdict in verdicts], pa.string()),
    }


def _united(tables: Sequence[pa.Table]) -> dict[str, Any]:
    """The columns of all tables, one below the other; a column of several types becomes text."""
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    columns = {}
    for name in names:
        kinds = {table.schema.field(name).type for table in tables if name in table.column_names}
        kind = kinds.pop() if len(kinds) == 1 else pa.string()
        parts = [table[name].cast(kind) if name in table.column_names else pa.nulls(table.num_rows, kind) for table in tables]
        columns[name] = pa.chunked_array([chunk for part in parts for chunk in getattr(part, "chunks", [part])], kind)
    return columns


def _counts(sources: Sequence[tuple[UserRows, Sequence[RowVerdict]]]) -> dict[str, dict[Verdict, int]]:
    counts: dict[str, dict[Verdict, int]] = {}
    for rows, verdicts in sources:
        of_model = counts.setdefault(rows.model, dict.fromkeys(Verdict, 0))
        for verdict in verdicts:
            of_model[verdict.verdict] += 1
    return counts


def _csv_column(column: Any) -> Any:
    """A value in one field. Lists of texts are separated by semicolons, other nested values are JSON, dates and booleans are
    written as in rules."""
    kind = column.type
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        return pa.array([None if texts is None else "; ".join(map(str, texts)) for texts in column.to_pylist()], pa.string())
    if pa.types.is_nested(kind):
        texts = [None if value is None else json.dumps(value, ensure_ascii=False, default=_plain) for value in column.to_pylist()]
        return pa.array(texts, pa.string())
    if pa.types.is_temporal(kind):
        return pa.array([None if value is None else _plain(value) for value in column.to_pylist()], pa.string())
    return column.cast(pa.string()) if pa.types.is_boolean(kind) else column


def _plain(value: Any) -> str:
    return write_value(value) if isinstance(value, datetime.date | datetime.timedelta) else str(value)
