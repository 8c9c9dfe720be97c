"""The inputs of a result: every source of its setting with its rows, its size and, on demand, its digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

import pyarrow as pa

from rulescore.errors import Source, masked
from rulescore.language.reading import RuleSource
from rulescore.readers.files import InputFile, changed, is_pipe, refuse_pipes_twice, version_of
from rulescore.setting.model import (
    DatabaseTable,
    FactBatch,
    FactSource,
    FactStream,
    FileVersion,
    HeldOut,
    HiddenIds,
    KeyedTable,
    ModelPredictions,
    RowStream,
    Setting,
)

_PIPE = "a pipe can be read only once"
_MEMORY = "rows of this program's memory are counted and not digested"
_DATABASE = "a table of a database is read where it is"
_PACKED = frozenset({".gz", ".parquet"})
_UNPACKED = 6
"""How many bytes of text a byte of a packed file stands for. Published graphs have 5 to 7."""
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
    `sha256`: the digest of the bytes of the file or of the text. If it is None, `reason` says why. `file`: the file that `digested`
    has yet to read."""

    kind: InputKind
    name: str
    of: str | None = None
    size: int | None = None
    rows: int | None = None
    sha256: str | None = None
    reason: str | None = None
    file: FileVersion | None = field(default=None, repr=False, compare=False)

    def digested(self) -> Input:
        """The input with its digest. Reads the file only now, since most results are never saved."""
        if self.file is None:
            return self
        try:
            with self.file.path.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
                if version_of(self.file.path, os.fstat(opened.fileno())) != self.file:
                    return replace(self, reason=_CHANGED, file=None)
        except OSError as error:
            reason = f"the file could not be read again: {(error.strerror or str(error)).lower()}"
            return replace(self, reason=reason, file=None)
        return replace(self, sha256=digest, file=None)


Rows = RowStream | DatabaseTable
_Source = TypeVar("_Source", bound=FactSource | Rows)


def with_sources(
    setting: Setting,
    facts: Callable[[InputKind, str | None, tuple[FactSource, ...]], tuple[FactSource, ...]],
    rows: Callable[[InputKind, str, Rows], Rows],
) -> Setting:
    """The setting, with each of its sources that an engine loads replaced. The functions get the kind of the source, and its model
    or table."""

    def predictions(model: ModelPredictions) -> ModelPredictions:
        kind = InputKind.PREDICTIONS
        tables = tuple(replace(table, rows=rows(kind, model.model, table.rows)) for table in model.tables)
        return replace(model, tables=tables, streams=facts(kind, model.model, model.streams))

    def keyed(table: KeyedTable) -> KeyedTable:
        read = replace(table, rows=rows(InputKind.TABLE, table.name, table.rows))
        if not isinstance(table.hidden, HiddenIds):
            return read
        return replace(read, hidden=replace(table.hidden, ids=rows(InputKind.HIDDEN, table.name, table.hidden.ids)))

    return replace(
        setting,
        observed=facts(InputKind.FACTS, None, setting.observed),
        negatives=facts(InputKind.NEGATIVES, None, setting.negatives),
        tables=tuple(map(keyed, setting.tables)),
        predictions=tuple(map(predictions, setting.predictions)),
    )


class Inputs:
    """Counts the rows of a setting's sources while somebody reads them through `setting`. Raises InputError for a pipe given twice:
    the second of two readers would wait for ever."""

    def __init__(self, setting: Setting) -> None:
        self._counted: list[tuple[Input, _Rows | None]] = []
        self._rules: list[tuple[Source, Input]] = [(source, _of_rules(source)) for source in setting.rules]
        self._sql_rules = [
            Input(InputKind.SQL_RULE, rule.name, None, len(text), 1, hashlib.sha256(text).hexdigest())
            for rule, text in ((rule, rule.statement.encode()) for rule in setting.sql_rules)
        ]
        noted = with_sources(setting, lambda kind, of, facts: tuple(self._noted(kind, of, source) for source in facts), self._noted)
        self.setting = replace(noted, truth=None if setting.truth is None else self._truth(setting.truth))
        refuse_pipes_twice(Path(rows.source.origin) for _, rows in self._counted if rows is not None)

    def read(self, rules: Mapping[str, int]) -> tuple[Input, ...]:
        """The inputs, for callers that have read them all. `rules`: how many rules sources have, by their names."""
        self.refuse_changed()
        return (
            *(replace(entry, rows=rules.get(source.name, 0)) for source, entry in self._rules),
            *self._sql_rules,
            *(entry if rows is None else rows.counted(entry) for entry, rows in self._counted),
        )

    def text_size(self) -> int:
        """About how many bytes of text the files of facts, rows and predictions hold. We look at no more than their sizes."""
        files = [rows.file() for _, rows in self._counted if rows is not None]
        return sum(
            file.size * (_UNPACKED if file.path.suffix in _PACKED else 1) for file in dict.fromkeys(files) if file is not None
        )

    def refuse_changed(self) -> None:
        """Raises InputError if somebody has changed a file that an engine reads by itself; our readers check theirs."""
        for _, rows in self._counted:
            file = rows.file() if rows is not None and rows.is_read_elsewhere else None
            # `InputFile` looks up the current version of the file, if it still exists.
            if file is not None and InputFile(file.path).version() != file:
                raise changed(file.path)

    def _truth(self, truth: HeldOut) -> HeldOut:
        def noted(sources: tuple[FactStream, ...]) -> tuple[FactStream, ...]:
            return tuple(self._noted(InputKind.TRUTH, None, source) for source in sources)

        return replace(
            truth,
            facts=noted(truth.facts),
            tables=tuple(replace(table, rows=self._noted(InputKind.TRUTH, table.table, table.rows)) for table in truth.tables),
            known=noted(truth.known),
            domains=self._noted(InputKind.TRUTH, None, truth.domains) if isinstance(truth.domains, RowStream) else truth.domains,
            types=noted(truth.types),
        )

    def _noted(self, kind: InputKind, of: str | None, source: _Source) -> _Source:
        if not isinstance(source, FactStream | RowStream):
            self._counted.append((Input(kind, masked(source.origin), of, reason=_DATABASE), None))
            return source
        rows, opened = _Rows(source), cast(Callable[..., Iterator[Any]], source.open)
        self._counted.append((_of_stream(kind, source, of), rows))
        noted: _Source = replace(cast(Any, source), open=lambda *columns: rows.passing(opened(*columns)))
        return noted


class _Rows:
    """Counts the rows of a source while they pass. None: they have not passed here."""

    number: int | None = None

    def __init__(self, source: FactStream | RowStream) -> None:
        self.source = source

    @property
    def is_read_elsewhere(self) -> bool:
        return self.number is None and self.source.native is not None

    def file(self) -> FileVersion | None:
        return None if self.source.version is None else self.source.version()

    def counted(self, entry: Input) -> Input:
        """The input with its rows, and the version of its file that was read."""
        file = self.file()
        return replace(entry, rows=_row_count(file, self), size=None if file is None else file.size, file=file)

    def passing(self, batches: Iterator[FactBatch | pa.RecordBatch]) -> Iterator[FactBatch | pa.RecordBatch]:
        self.number = 0
        for batch in batches:
            self.number += (batch.rows if isinstance(batch, FactBatch) else batch).num_rows
            yield batch


def _of_stream(kind: InputKind, source: FactStream | RowStream, of: str | None) -> Input:
    if source.version is None:
        return Input(kind, source.origin, of, reason=_MEMORY)
    return Input(kind, source.origin, of, reason=_PIPE if is_pipe(Path(source.origin)) else None)


def _row_count(file: FileVersion | None, rows: _Rows) -> int | None:
    """How many rows an input has. If an engine read a Parquet file by itself, the file says how many."""
    if rows.number is not None or file is None:
        return rows.number
    from pyarrow import parquet

    try:
        with file.path.open("rb") as handle, parquet.ParquetFile(handle) as opened:
            number: int = opened.metadata.num_rows
            return number
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError):
        return None


def _of_rules(source: Source) -> Input:
    """A rule file by its bytes, so any program finds the same digest; any other text by the bytes of the text."""
    if isinstance(source, RuleSource) and source.digest is not None:
        digest, size = source.digest
    else:
        text = source.text.encode()
        digest, size = hashlib.sha256(text).hexdigest(), len(text)
    return Input(InputKind.RULES, source.name, None, size, sha256=digest)
