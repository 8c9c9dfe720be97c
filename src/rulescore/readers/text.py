"""Delimited text: TSV, CSV and the like, streamed by Arrow with every field as the string it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from rulescore.errors import Diagnostic, InputError, Place, suggestion
from rulescore.readers.batches import no_facts, text_batch
from rulescore.readers.constant_columns import CellError
from rulescore.readers.files import Opening
from rulescore.readers.layout import Layout, choosing, half_header, headerless_widths, is_header, narrow_header, resolve
from rulescore.readers.lines import QuoteCheckedStream, Record, TrimmedStream, damaged, open_lines, records
from rulescore.readers.text_problems import find_problems, form_problem, printable
from rulescore.setting.model import FactBatch, FirstLine
from rulescore.setting.request import Request

_DELIMITERS = ("\t", ",", ";", "|", " ")
_QUOTING_DELIMITERS = (",", ";")
_BY_ENDING = {".tsv": ("\t",), ".tab": ("\t",), ".csv": (",", ";", "\t", "|")}
_SAMPLE_LINES = 200
# Arrow reads 32 blocks ahead, which the engine cannot have. Only files with longer rows need larger blocks.
_BLOCK_BYTES = 1 << 20
_LARGEST_BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class TextDialect:
    """How a text file is written. `guessed_header`: we took the first line for a header by its words alone."""

    delimiter: str
    header: tuple[str, ...] | None
    guessed_header: bool
    width: int

    @property
    def quoted(self) -> bool:
        return self.delimiter in _QUOTING_DELIMITERS


def read_text(file: Opening, request: Request) -> Iterator[FactBatch]:
    """The facts of a text file. If a row is wrong, raises InputError with the line and column of every wrong row."""
    dialect = find_dialect(file, request)
    layout = resolve(dialect.header, dialect.width, request)
    rows_read = 0
    try:
        for rows in stream(file, dialect):
            _check_header_is_none_of(rows, dialect, layout, request)
            if rows.num_rows:
                facts = text_batch(rows, layout, request)
                yield facts if rows_read else replace(facts, guess=layout.guess or _first_line(rows, layout, dialect, request))
            rows_read += rows.num_rows
    except (pa.ArrowInvalid, CellError, QuotingError) as error:
        has_header = dialect.header is not None
        problems = find_problems(file, request, dialect.delimiter, dialect.quoted, has_header, dialect.width, layout)
        raise InputError(problems) if problems else damaged(request.origin, str(error)) from None
    except OSError as error:
        raise damaged(request.origin, str(error)) from None
    if not rows_read:
        raise no_facts(request)


def _first_line(rows: pa.RecordBatch, layout: Layout, dialect: TextDialect, request: Request) -> FirstLine | None:
    """The first line of triples, if it may be a header: the user does not say, and it has neither score nor rank."""
    file = request.file
    if layout.relation is None or dialect.width != 3 or dialect.header is not None or file.header is not None or file.columns:
        return None
    return FirstLine(tuple(column[0].as_py() for column in rows.columns))


def find_dialect(file: Opening, request: Request) -> TextDialect:
    """Delimiter, header and number of columns, from the first lines and what the user said."""
    with open_lines(file, request.origin) as lines:
        sample = list(islice(lines, _SAMPLE_LINES))
    if not any(sample[:1]) and len(sample) < 2:
        raise no_facts(request)
    delimiter = request.file.delimiter or _guess_delimiter(sample, request)
    rows = _sample_records(sample, delimiter)
    if problem := _delimiter_problem(rows, delimiter, request):
        raise InputError(problem)
    first = tuple(field.text for field in rows[0].fields)
    guessed = request.file.header is None and is_header(first, request)
    has_header = request.file.header if request.file.header is not None else guessed or _columns_by_name(request)
    if request.file.header is None and not has_header and (problem := _half_header_problem(rows[0], request)):
        raise InputError(problem)
    if not has_header and (part := narrow_header(first, request)):
        raise InputError(_narrow_header_problem(rows[0], part, request))
    if not has_header:
        return TextDialect(delimiter, None, False, _usual_width(rows, request))
    if problem := form_problem(rows[0], request):
        raise InputError(problem)
    if len(rows) == 1:
        raise no_facts(request)
    return TextDialect(delimiter, first, guessed, len(first))


def _delimiter_problem(rows: list[Record], delimiter: str, request: Request) -> Diagnostic | None:
    """The problem of triples in a single column, if every line has another usual delimiter."""
    if not headerless_widths(request) or any(len(row.fields) > 1 or row.wrong_quote for row in rows):
        return None
    others = (other for other in _DELIMITERS if other != delimiter and all(other in row.text for row in rows if row.text))
    if (other := next(others, None)) is None:
        return None
    place = Place(request.origin, rows[0].line, 1, text=printable(rows[0].text))
    message = f"no line has the delimiter {_named(delimiter)}"
    return Diagnostic("E310", message, place, helps=(f"every line has {_named(other)}: is that the delimiter?",))


def _named(delimiter: str) -> str:
    return {"\t": "tab", " ": "space"}.get(delimiter, f"`{delimiter}`")


def _half_header_problem(row: Record, request: Request) -> Diagnostic | None:
    names = tuple(field.text for field in row.fields)
    if (half := half_header(names, request)) is None:
        return None
    part, unknown = half
    meant = suggestion(part, unknown) or unknown[0]
    field = row.fields[names.index(meant)]
    helps = (
        f"if it is a header, is `{printable(meant)}` the {part}? name the column `{part}`, or choose it: "
        f"{choosing(part, printable(meant), request)}",
        "if it is a fact, say so with `header = false` (`--no-header`)",
    )
    place = Place(request.origin, row.line, field.column, max(1, len(meant)), printable(row.text))
    message = f"the first line is a header without {part}, or a fact"
    return Diagnostic("E319", message, place, f"no name of a {part} column", helps=helps)


def _narrow_header_problem(row: Record, part: str, request: Request) -> Diagnostic:
    place = Place(request.origin, row.line, 1, len(row.text), printable(row.text))
    helps = (f"for a file of one predicate give its name: `NAME={request.origin}`",) if part == "relation" else ()
    return Diagnostic(
        "E310", f"there is no column for the {part}", place, notes=("a triple has head, relation and tail",), helps=helps
    )


def _sample_records(sample: list[str], delimiter: str) -> list[Record]:
    return list(records(iter(sample), delimiter, delimiter in _QUOTING_DELIMITERS))


def _columns_by_name(request: Request) -> bool:
    """Whether the user chose columns by name, which only a header has."""
    choices = request.file.columns.values()
    return any(isinstance(one, str) for choice in choices for one in ([choice] if isinstance(choice, str | int) else choice))


def _guess_delimiter(sample: list[str], request: Request) -> str:
    """The delimiter under which most lines have one number of columns; the first in the usual order if there are several."""
    ending = request.path.with_suffix("").suffix if request.path.suffix == ".gz" else request.path.suffix
    candidates = _BY_ENDING.get(ending, _DELIMITERS)
    fewest = min(headerless_widths(request), default=2)
    usual = candidates if any(mark in line for mark in candidates for line in sample) else _DELIMITERS
    widths = {one: Counter(len(record.fields) for record in _sample_records(sample, one) if record.text) for one in usual}
    # If none gives enough columns, a column is missing, and the delimiter is the one that gives most.
    for enough in (fewest, 2):
        shares = {
            one: max((n / found.total() for width, n in found.items() if width >= enough), default=0.0)
            for one, found in widths.items()
        }
        best = max(usual, key=lambda one: shares[one])
        if shares[best]:
            return best
    return "\t"


def _usual_width(rows: list[Record], request: Request) -> int:
    """The commonest number of columns among those allowed, so that we blame an odd row and not its neighbours."""
    allowed = headerless_widths(request)
    widths = Counter(len(row.fields) for row in rows if row.text and row.fields)
    usual = [width for width, _ in widths.most_common() if not allowed or width in allowed]
    return usual[0] if usual else min(allowed, default=1)


class QuotingError(Exception):
    """A quote that does not belong where it stands."""


def stream(file: Opening, dialect: TextDialect, columns: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows of a text file as strings: all columns, or those with the given numbers."""
    given = 0
    try:
        for rows in _rows(file, dialect, columns, _BLOCK_BYTES):
            given += rows.num_rows
            yield rows
    except pa.ArrowInvalid as error:
        if "block size" not in str(error):
            raise
        for rows in _rows(file, dialect, columns, _LARGEST_BLOCK_BYTES):
            known = min(given, rows.num_rows)
            given -= known
            yield rows.slice(known)


def _rows(file: Opening, dialect: TextDialect, columns: Sequence[int] | None, block_bytes: int) -> Iterator[pa.RecordBatch]:
    names = [f"c{i}" for i in range(dialect.width)]
    with pa.input_stream(file.reader(), compression="gzip" if file.compressed else None) as raw:
        trimmed = TrimmedStream(raw)
        checked = QuoteCheckedStream(trimmed, dialect.delimiter) if dialect.quoted else None
        reader = csv.open_csv(
            pa.PythonFile(checked or trimmed, mode="r"),
            read_options=csv.ReadOptions(
                column_names=names, skip_rows_after_names=0 if dialect.header is None else 1, block_size=block_bytes
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoted else False,
                newlines_in_values=dialect.quoted,
                # We must see an empty line to refuse it.
                ignore_empty_lines=False,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=None if columns is None else [names[index] for index in columns],
                null_values=[],
                strings_can_be_null=False,
            ),
        )
        yield from reader
        if checked is not None and checked.malformed:
            raise QuotingError


def _check_header_is_none_of(rows: pa.RecordBatch, dialect: TextDialect, layout: Layout, request: Request) -> None:
    """Refuses a guessed header whose words come back as data: it may have been a fact."""
    if not dialect.guessed_header or dialect.header is None:
        return
    columns = layout.arguments if layout.relation is None else (layout.relation,)
    for index in columns:
        if pc.index(rows.column(index), dialect.header[index]).as_py() >= 0:
            place = Place(request.origin, 1, 1, text=dialect.delimiter.join(dialect.header))
            note = f"it reads like a header, but `{dialect.header[index]}` is a value further down too"
            helps = ("say whether there is a header: `header = true` or `header = false` (`--header`, `--no-header`)",)
            problem = Diagnostic("E318", "the first line may be a header or a fact", place, notes=(note,), helps=helps)
            raise InputError(problem)
