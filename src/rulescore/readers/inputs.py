"""The inputs of a result: every source of its setting with its rows, its size and, on demand, its digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import pyarrow as pa

from rulescore.errors import Source, masked
from rulescore.language.sources import RuleSource
from rulescore.readers.files import changed, is_pipe, version_of
from rulescore.setting.model import (
    DatabaseTable,
    FactBatch,
    FactSource,
    FactStream,
    FileVersion,
    HeldOut,
    HiddenIds,
    ModelPredictions,
    RowStream,
    Setting,
    SqlRule,
)

_PIPE = "a pipe can be read only once"
_MEMORY = "rows of this program's memory are counted and not digested"
_DATABASE = "a table of a database is read where it is"
_CHANGED = "the file has been changed since it was read"


class InputKind(StrEnum):
    RULES = "rules"
    SQL_RULE = "sql rule"
    FACTS = "facts"
    NEGATIVES = "negatives"
    TABLE = "table"
    HIDDEN = "hidden rows"
    PREDICTIONS = "predictions"
    TRUTH = "truth"


@dataclass(frozen=True, slots=True)
class Input:
    """One source. `of`: the model or table it belongs to. `size`: in bytes. `rows`: how many we read; for a rule file, its rules.
    `sha256`: of the bytes of the file or of the text; if it is None, `reason` says why. `file`: the file that `digested` has yet
    to read."""

    kind: InputKind
    name: str
    of: str | None = None
    size: int | None = None
    rows: int | None = None
    sha256: str | None = None
    reason: str | None = None
    file: FileVersion | None = field(default=None, repr=False, compare=False)

    def digested(self) -> Input:
        """The same with its digest. Reads the file only now, since most results are never saved."""
        if self.file is None:
            return self
        try:
            with self.file.path.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
                if version_of(self.file.path, os.fstat(opened.fileno())) != self.file:
                    return replace(self, reason=_CHANGED, file=None)
        except OSError as error:
            reason = f"the file could not be read again: {(error.strerror or str(error)).lower()}"
            return replace(self, reason=reason, file=None)
        return replace(self, sha256=found, file=None)


class Inputs:
    """Counts the rows of a setting's sources while somebody reads them through `setting`."""

    def __init__(self, setting: Setting) -> None:
        self._counted: list[tuple[Input, _Rows | None]] = []
        self._rules: list[tuple[Source, Input]] = [(one, _of_rules(one)) for one in setting.rules]
        self._sql_rules = [_of_sql_rule(one) for one in setting.sql_rules]
        self.setting = replace(
            setting,
            observed=self._facts(InputKind.FACTS, setting.observed),
            negatives=self._facts(InputKind.NEGATIVES, setting.negatives),
            tables=tuple(
                replace(
                    table,
                    rows=self._rows(InputKind.TABLE, table.name, table.rows),
                    hidden=HiddenIds(self._rows(InputKind.HIDDEN, table.name, table.hidden.ids))
                    if isinstance(table.hidden, HiddenIds)
                    else table.hidden,
                )
                for table in setting.tables
            ),
            predictions=tuple(map(self._predictions, setting.predictions)),
            truth=None if setting.truth is None else self._truth(setting.truth),
        )

    def read(self, rules: Callable[[Source], int]) -> tuple[Input, ...]:
        """The inputs, for callers that have read them all. `rules`: counts the rules of a source."""
        self.refuse_changed()
        return (
            *(replace(one, rows=rules(source)) for source, one in self._rules),
            *self._sql_rules,
            *(one if rows is None else rows.counted(one) for one, rows in self._counted),
        )

    def refuse_changed(self) -> None:
        """Raises InputError if somebody has changed a file that an engine reads by itself; our readers look to their own."""
        for _, rows in self._counted:
            if rows is not None and rows.is_read_elsewhere and (file := rows.file()) is not None and _now(file.path) != file:
                raise changed(file.path)

    def _predictions(self, model: ModelPredictions) -> ModelPredictions:
        tables = tuple(replace(one, rows=self._rows(InputKind.PREDICTIONS, model.model, one.rows)) for one in model.tables)
        return replace(model, streams=self._facts(InputKind.PREDICTIONS, model.streams, model.model), tables=tables)

    def _truth(self, truth: HeldOut) -> HeldOut:
        return replace(
            truth,
            facts=tuple(self._stream(InputKind.TRUTH, one, None) for one in truth.facts),
            tables=tuple(replace(one, rows=self._row_stream(InputKind.TRUTH, one.table, one.rows)) for one in truth.tables),
            known=tuple(self._stream(InputKind.TRUTH, one, None) for one in truth.known),
            domains=self._row_stream(InputKind.TRUTH, None, truth.domains)
            if isinstance(truth.domains, RowStream)
            else truth.domains,
            types=tuple(self._stream(InputKind.TRUTH, one, None) for one in truth.types),
        )

    def _facts(self, kind: InputKind, sources: Sequence[FactSource], of: str | None = None) -> tuple[FactSource, ...]:
        return tuple(self._fact_source(kind, source, of) for source in sources)

    def _fact_source(self, kind: InputKind, source: FactSource, of: str | None) -> FactSource:
        if not isinstance(source, FactStream):
            self._counted.append((Input(kind, masked(source.origin), of, reason=_DATABASE), None))
            return source
        return self._stream(kind, source, of)

    def _stream(self, kind: InputKind, source: FactStream, of: str | None) -> FactStream:
        rows = _Rows(source)
        self._counted.append((_of_stream(kind, source, of), rows))
        return replace(source, open=lambda: rows.facts(source.open()))

    def _rows(self, kind: InputKind, of: str, rows: RowStream | DatabaseTable) -> RowStream | DatabaseTable:
        if isinstance(rows, DatabaseTable):
            self._counted.append((Input(kind, masked(rows.origin), of, reason=_DATABASE), None))
            return rows
        return self._row_stream(kind, of, rows)

    def _row_stream(self, kind: InputKind, of: str | None, rows: RowStream) -> RowStream:
        counted = _Rows(rows)
        self._counted.append((_of_stream(kind, rows, of), counted))
        return replace(rows, open=lambda columns: counted.batches(rows.open(columns)))


class _Rows:
    """The rows of a source, counted while they pass. None: they have not passed here."""

    number: int | None = None

    def __init__(self, source: FactStream | RowStream) -> None:
        self._source = source

    @property
    def is_read_elsewhere(self) -> bool:
        return self.number is None and self._source.native is not None

    def file(self) -> FileVersion | None:
        return None if self._source.version is None else self._source.version()

    def counted(self, one: Input) -> Input:
        """The input with its rows, and the version of its file that was read."""
        file = self.file()
        return replace(one, rows=_number(file, self), size=None if file is None else file.size, file=file)

    def facts(self, batches: Iterator[FactBatch]) -> Iterator[FactBatch]:
        self.number = 0
        for batch in batches:
            self.number += batch.rows.num_rows
            yield batch

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        self.number = 0
        for batch in batches:
            self.number += batch.num_rows
            yield batch


def _of_stream(kind: InputKind, source: FactStream | RowStream, of: str | None) -> Input:
    if source.version is None:
        return Input(kind, source.origin, of, reason=_MEMORY)
    return Input(kind, source.origin, of, reason=_PIPE if is_pipe(Path(source.origin)) else None)


def _number(file: FileVersion | None, rows: _Rows) -> int | None:
    """How many rows an input has. If an engine read a Parquet file by itself, the file says how many."""
    if rows.number is not None or file is None:
        return rows.number
    from pyarrow import parquet

    try:
        with file.path.open("rb") as handle, parquet.ParquetFile(handle) as opened:
            found: int = opened.metadata.num_rows
            return found
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError):
        return None


def _of_rules(source: Source) -> Input:
    """A rule file by its bytes, so that any program finds the same digest; any other text by the bytes of the text."""
    if isinstance(source, RuleSource) and source.digest is not None:
        digest, size = source.digest
    else:
        text = source.text.encode()
        digest, size = hashlib.sha256(text).hexdigest(), len(text)
    return Input(InputKind.RULES, source.name, None, size, sha256=digest)


def _of_sql_rule(rule: SqlRule) -> Input:
    text = rule.statement.encode()
    return Input(InputKind.SQL_RULE, rule.name, None, len(text), 1, hashlib.sha256(text).hexdigest())


def _now(path: Path) -> FileVersion | None:
    """None if the file is gone."""
    try:
        return version_of(path, path.stat())
    except OSError:
        return None
