"""Facts of typed columns, and facts in memory: Parquet files, Arrow-capable frames, and rows of Python values.

A program may well mean an empty frame, without facts; an empty file is a mistake.
"""

from __future__ import annotations

import datetime
import decimal
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.columns import CellError, Ranking, assemble, decimal_value, moment_counts, no_facts, table_batch
from rulescore.readers.files import InputFile, damaged
from rulescore.readers.layout import column_problem, refuse_too_wide, resolve
from rulescore.setting.model import FactBatch, FirstRow, Request
from rulescore.values import has_lone_surrogate, key_of, moment_at, normal

if TYPE_CHECKING:
    from pyarrow import parquet

# Small enough that the strings of one batch stay far below the 2 GiB that a string column can address.
_BATCH_ROWS = 1 << 17
# The places of a row.
_SCORE, _RANK = 3, 4
_GREATEST = sys.float_info.max
_CONVERSION = re.compile(r"Conversion failed for column (.+?) with type")


def read_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], request: Request) -> Iterator[FactBatch]:
    """The facts of a typed table given batch by batch."""
    if request.file.types:
        raise column_problem(request, "`types` is for text files", notes=("the columns of this table have types of their own",))
    layout = resolve(schema.names, len(schema.names), request)
    first_row = 0
    for batch in batches:
        for start in range(0, batch.num_rows, _BATCH_ROWS):
            rows = batch.slice(start, _BATCH_ROWS)
            facts = table_batch(rows, layout, request, first_row)
            yield facts if first_row else replace(facts, guess=layout.guess or _first_row(facts))
            first_row += rows.num_rows


@contextmanager
def opened_parquet(file: InputFile, request: Request) -> Iterator[parquet.ParquetFile]:
    """A Parquet file. Raises InputError if it has no rows, or if we cannot read it."""
    from pyarrow import parquet

    try:
        with file.opened() as opening, parquet.ParquetFile(opening.reader()) as rows:
            if not rows.metadata.num_rows:
                raise no_facts(request)
            yield rows
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise damaged(request.origin, str(error)) from None


def parquet_batches(rows: parquet.ParquetFile, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file, after a check that its texts are UTF-8, which Arrow takes on trust."""
    for batch in rows.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
        batch.validate(full=True)
        yield batch


def read_parquet(file: InputFile, request: Request) -> Iterator[FactBatch]:
    """The facts of a Parquet file; its columns keep their types."""
    with opened_parquet(file, request) as rows:
        yield from read_batches(rows.schema_arrow, parquet_batches(rows), request)


def is_frame(what: object) -> bool:
    return hasattr(what, "__arrow_c_stream__") or hasattr(what, "__arrow_c_array__") or _is_pandas(what)


def is_spark_frame(what: object) -> bool:
    """Whether something is a frame of Spark, by the name of its module: we do not import Spark to ask."""
    return type(what).__name__ == "DataFrame" and type(what).__module__.startswith("pyspark.sql.")


def refuse_spark_frame(origin: str) -> NoReturn:
    """Raises InputError: reading the frame here would bring all of its rows to this process."""
    helps = ("give its session as `engine`, or write it to Parquet files",)
    raise InputError(Diagnostic("E347", "frames of Spark are read by Spark only", Place(origin), helps=helps))


def column_values(what: Any) -> list[object] | None:
    """The values of a single column: a pandas or Polars series, or an Arrow array; None for anything else."""
    if isinstance(what, pa.Array | pa.ChunkedArray):
        return list(what.to_pylist())
    return list(what.to_list()) if type(what).__name__ == "Series" else None


def series_index(what: Any) -> list[object] | None:
    """The index of a pandas series; None for anything else."""
    return list(what.index) if _is_pandas(what, "Series") else None


def frame_index(what: Any) -> list[object] | None:
    """The index of a pandas frame; None for anything else."""
    return list(what.index) if _is_pandas(what) else None


def with_index(what: Any, names: Sequence[str]) -> object:
    """A pandas frame with its index as columns, if one of `names` is the index: by its own name, or `index` if it has none."""
    if not _is_pandas(what) or all(name in what.columns for name in names):
        return what
    known = ["index"] if list(what.index.names) == [None] else list(what.index.names)
    if None in known or not any(name in known for name in names) or any(name in what.columns for name in known):
        return what
    return what.reset_index(names=known)


def lasting(frame: object) -> object:
    """A frame that can be read more than once: a stream of batches is drained into a table."""
    return frame.read_all() if isinstance(frame, pa.RecordBatchReader) else frame


def read_frame(frame: object, request: Request) -> Iterator[FactBatch]:
    """The facts of a frame."""
    table = arrow_table(frame, request.origin)
    yield from read_batches(table.schema, table.to_batches(), request)


def arrow_table(frame: Any, origin: str) -> pa.Table:
    """A frame as an Arrow table, without the index of pandas. NaN of pandas becomes null: it has no other missing float."""
    try:
        if not _is_pandas(frame):
            return pa.table(frame)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for place, kind in enumerate(table.schema.types):
            if pa.types.is_timestamp(kind) and frame.dtypes.iloc[place].kind == "O":
                refuse_half_zoned(frame.iloc[:, place])
        return table
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        column = _CONVERSION.search(str(error))
        where = "" if column is None else f": column `{column[1]}` holds values of several types"
        helps = ("give every column one type, such as `frame[column].astype(str)`",)
        notes = (str(error.args[0]) if error.args else str(error),)
        raise InputError(
            Diagnostic("E322", f"the frame cannot be read as a table{where}", Place(origin), notes=notes, helps=helps)
        ) from None


def refuse_half_zoned(values: Iterable[object]) -> None:
    """ValueError if some date-times have a zone and others have none: Arrow would not notice."""
    if len({value.tzinfo is None for value in values if isinstance(value, datetime.datetime) and value == value}) > 1:
        raise ValueError("some date-times have a zone, and others have none")


def _is_pandas(what: object, kind: str = "DataFrame") -> bool:
    """Whether something is an object of pandas, by the name of its module: we do not import pandas to ask."""
    return type(what).__module__.partition(".")[0] == "pandas" and type(what).__name__ == kind


def read_rows(rows: Iterable[object], request: Request) -> Iterator[FactBatch]:
    """The facts of Python rows: `(head, relation, tail[, score[, rank]])`, or the arguments of one predicate's facts."""
    numbered = enumerate(rows)
    begun = False
    while chunk := list(islice(numbered, _BATCH_ROWS)):
        for facts in _row_batches(chunk, request):
            yield facts if begun else replace(facts, guess=_first_row(facts))
            begun = True


def _first_row(facts: FactBatch) -> FirstRow | None:
    return FirstRow() if facts.predicate is None else None


def _row_batches(chunk: Sequence[tuple[int, object]], request: Request) -> Iterator[FactBatch]:
    """One batch for each width that occurs. A later stage checks that the facts of a predicate have one arity."""
    by_width: dict[int, list[tuple[int, Sequence[Any]]]] = {}
    for number, row in chunk:
        by_width.setdefault(len(shaped := _shaped(number, row, request)), []).append((number, shaped))
    for width, members in by_width.items():
        refuse_too_wide(width, Place(request.origin))
        if request.file.predicate is None:
            yield _triples_batch(width, members, request)
        else:
            predicate = request.file.predicate
            columns = [_key_column(place, members, request) for place in range(width)]
            floats = frozenset((predicate, place) for place in range(width) if any(_is_float(row[place]) for _, row in members))
            yield assemble(columns, None, predicate, (None, None, None) if request.predictions else None, floats)


def _shaped(number: int, row: object, request: Request) -> Sequence[Any]:
    """The row, if facts can have its shape; InputError otherwise."""
    if not isinstance(row, tuple | list) or not row:
        helps = ("write a fact of one argument as `(value,)`",) if isinstance(row, str) else ()
        raise _row_problem(number, "E322", f"`{_shortened(row)}` is not a tuple of values", request, helps)
    allowed = (3, 4, 5) if request.predictions else (3,)
    if request.file.predicate is None and len(row) not in allowed:
        expected = "(head, relation, tail[, score[, rank]])" if request.predictions else "(head, relation, tail)"
        helps = ("for facts of other arities give a mapping from predicate to rows",)
        raise _row_problem(number, "E322", f"`{_shortened(row)}` is not `{expected}`", request, helps)
    return row


def _triples_batch(width: int, members: Sequence[tuple[int, Sequence[Any]]], request: Request) -> FactBatch:
    for number, row in members:
        if not isinstance(row[1], str) or not row[1] or has_lone_surrogate(row[1]):
            raise _row_problem(number, "E322", f"the relation is `{_shortened(row[1])}`, not a name", request)
    arguments = [_key_column(place, members, request) for place in (0, 2)]
    relation = pa.array([row[1] for _, row in members], pa.string())
    ranking: Ranking = (
        _numbers(_SCORE, members, request) if width > 3 else None,
        _numbers(_RANK, members, request) if width > 4 else None,
        None,
    )
    floats = {(str(row[1]), place) for _, row in members for place, value in enumerate((row[0], row[2])) if _is_float(value)}
    return assemble(arguments, relation, None, ranking if request.predictions else None, frozenset(floats))


def _key_column(place: int, members: Sequence[tuple[int, Sequence[Any]]], request: Request) -> pa.Array:
    keys = []
    for number, row in members:
        try:
            keys.append(key_of(_plain(row[place])))
        except (TypeError, ValueError) as error:
            code = "E312" if row[place] is None else "E314"
            raise _row_problem(number, code, f"value {place + 1} is `{_shortened(row[place])}`: {error}", request) from None
    return pa.array(keys, pa.string())


def _is_float(value: Any) -> bool:
    """Whether a value is given as a float. Of NumPy's floats, only 64-bit floats are floats of Python."""
    return isinstance(value, float) or (hasattr(value, "dtype") and isinstance(value.item(), float))


def _numbers(place: int, members: Sequence[tuple[int, Sequence[Any]]], request: Request) -> pa.Array:
    """The scores of rows, or their ranks. Either may be unknown."""
    # The greatest double also bounds integers, which may be too great to become a double.
    what, expected, kinds, least, greatest = (
        ("score", "a finite number", int | float, -_GREATEST, _GREATEST)
        if place == _SCORE
        else ("rank", "a whole number from 1", int, 1, 2**63 - 1)
    )
    numbers = []
    for row_number, row in members:
        number = _plain(row[place])
        if number is not None and (isinstance(number, bool) or not isinstance(number, kinds) or not least <= number <= greatest):
            raise _row_problem(row_number, "E314", f"the {what} is `{_shortened(row[place])}`, not {expected}", request)
        numbers.append(number)
    return pa.array(numbers, pa.float64() if place == _SCORE else pa.int64())


def _plain(value: Any) -> Any:
    """A value of an array library, a decimal or a date-time of pandas as the Python value it stands for."""
    if type(value).__name__ == "datetime64":  # may have any unit
        return _plain_moment(pa.array([value]))
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, decimal.Decimal):
        return decimal_value(value) if value.is_finite() else float(value)
    if isinstance(value, datetime.datetime):
        if value != value:
            raise ValueError("it is missing")
        if getattr(value, "nanosecond", 0):
            raise ValueError("it has nanoseconds, and date-times have microseconds")
        try:
            return normal(value)
        except OverflowError:
            raise ValueError("its instant is in no year from 1 to 9999") from None
    return value


def _plain_moment(moment: pa.Array) -> object:
    """The only value of an array, a date or a date-time."""
    if not pa.types.is_timestamp(moment.type) or moment.null_count:
        return moment[0].as_py()
    try:
        return moment_at(moment_counts(moment)[0].as_py(), zoned=False)
    except CellError as error:
        raise ValueError(f"it {error.reason}") from None


def _shortened(value: object) -> str:
    """A value in Python's notation. For an integer that is too long to write, only its type."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} too long to be shown"


def _row_problem(number: int, code: str, reason: str, request: Request, helps: tuple[str, ...] = ()) -> InputError:
    notes = ("rows are counted from 0",)
    return InputError(Diagnostic(code, f"row {number:,}: {reason}", Place(request.origin), notes=notes, helps=helps))
