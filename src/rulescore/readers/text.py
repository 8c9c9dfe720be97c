"""Delimited text: Reads TSV, CSV and similar files. Arrow streams every field as a string. We find problems row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from rulescore.errors import Diagnostic, InputError, Place, suggestion
from rulescore.readers.columns import CellError, no_facts, parse_number, parse_rank, parse_value, text_batch
from rulescore.readers.files import Opening, damaged
from rulescore.readers.layout import Layout, choosing, headerless_widths, is_header, missing_part, resolve, unknown_names
from rulescore.readers.lines import Field, QuoteCheckedStream, Record, TrimmedStream, open_lines, records
from rulescore.setting.choices import ColumnType
from rulescore.setting.model import FactBatch, FirstLine, Request

MOST_PROBLEMS = 20
_EXPECTED = {
    ColumnType.STRING: "a text",
    ColumnType.INTEGER: "a whole number",
    ColumnType.FLOAT: "a finite number",
    ColumnType.BOOLEAN: "`true` or `false`",
    ColumnType.DATE: "a date like 2024-05-31",
    ColumnType.DATETIME: "a date-time without a zone, like 2024-05-31T12:30:00",
    ColumnType.INSTANT: "a date-time with a zone, like 2024-05-31T12:30:00Z",
}

_TIMES = (ColumnType.DATE, ColumnType.DATETIME, ColumnType.INSTANT)


def find_problems(file: Opening, request: Request, dialect: TextDialect, layout: Layout) -> tuple[Diagnostic, ...]:
    """The first problems of a file, each with its line and column."""
    with open_lines(file, request.origin) as lines:
        rows = islice(records(lines, dialect.delimiter, dialect.quoted), int(dialect.header is not None), None)
        return at_most(problem for row in rows for problem in row_problems(row, request, dialect.width, layout))


def at_most(problems: Iterator[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The first problems; when there are more, the last one shown says so."""
    shown = tuple(islice(problems, MOST_PROBLEMS))
    if len(shown) == MOST_PROBLEMS and next(problems, None) is not None:
        last = replace(shown[-1], notes=(*shown[-1].notes, f"only the first {MOST_PROBLEMS} problems are shown"))
        return (*shown[:-1], last)
    return shown


def printable(text: str) -> str:
    """A line that we can show: bytes that are not UTF-8 become replacement characters."""
    return "".join("\ufffd" if "\udc80" <= character <= "\udcff" else character for character in text)


def encoding_problem(origin: str, line: int, text: str) -> Diagnostic | None:
    """The first byte of a line that is not UTF-8."""
    for column, character in enumerate(text, 1):
        if "\udc80" <= character <= "\udcff":
            place = Place(origin, line, column, text=printable(text))
            helps = ("save the file as UTF-8",)
            return Diagnostic("E313", "the line is not UTF-8", place, f"byte 0x{ord(character) - 0xDC00:02x}", helps=helps)
    return None


def form_problem(row: Record, request: Request) -> Diagnostic | None:
    """The problem of a line that is not a row at all: it is empty, not UTF-8, or wrongly quoted."""
    if row.text == "":
        place = Place(request.origin, row.line, 1, text="")
        return Diagnostic("E310", "the line is empty", place, helps=("every line of a text file is a row; remove this one",))
    if row.wrong_quote is not None:
        place = Place(request.origin, row.line, row.wrong_quote, text=printable(row.text))
        helps = ('a quote within quotes is written twice: `"say ""yes"""`',)
        message = "a quoted field does not end, or goes on after its closing quote"
        return Diagnostic("E310", message, place, "begins here", helps=helps)
    return encoding_problem(request.origin, row.line, row.text)


def _width_problem(row: Record, request: Request, width: int, layout: Layout) -> Diagnostic:
    width_here = len(row.fields)
    beyond = row.fields[width] if width_here > width else row.fields[-1]
    place = Place(request.origin, row.line, beyond.column, max(1, len(beyond.text)), row.text)
    optional = [name for name in ("score", "rank") if name not in layout.names] if width in headerless_widths(request) else []
    more = f"; {' and '.join(optional)} may follow" if request.predictions and optional else ""
    notes = (f"the columns are {', '.join(layout.names)}{more}",)
    helps: tuple[str, ...] = ()
    if layout.relation is not None and not request.predictions:
        helps = (f"for a file of one predicate give its name: `NAME={request.origin}`",)
        if width_here > width + 1:
            helps += ("for a table, `rulescore init --table FILE` writes a project file",)
    return Diagnostic("E310", f"expected {width} columns, found {width_here}", place, notes=notes, helps=helps)


def row_problems(row: Record, request: Request, width: int, layout: Layout) -> Iterator[Diagnostic]:
    """What is wrong with a row, if anything is."""
    if (problem := form_problem(row, request)) is not None:
        yield problem
        return
    if len(row.fields) != width:
        yield _width_problem(row, request, width, layout)
        return
    for index, column_type in zip(layout.arguments, layout.types, strict=True):
        yield from _argument_problems(row, index, column_type, request, layout)
    if layout.relation is not None:
        yield from _argument_problems(row, layout.relation, ColumnType.STRING, request, layout)
    numbers = ((layout.score, parse_number, "a finite number"), (layout.rank, parse_rank, "a whole number from 1"))
    for place, parse, expected in numbers:
        if place is not None and (text := row.fields[place].text) and not _parses(text, parse):
            message = f"`{layout.names[place]}` is `{text}`, not {expected}"
            yield Diagnostic("E314", message, _place(row, row.fields[place], request))


def _argument_problems(row: Record, index: int, column_type: ColumnType, request: Request, layout: Layout) -> Iterator[Diagnostic]:
    field, name = row.fields[index], layout.names[index]
    if field.text == "":
        if not layout.may_be_empty:
            yield Diagnostic("E312", f"`{name}` is empty", _place(row, field, request))
    elif not _parses(field.text, partial(parse_value, column_type=column_type)):
        message = f"`{name}` is `{field.text}`, not {_EXPECTED[column_type]}"
        # A column may hold times of another type than the declared one.
        kinds = _TIMES if column_type in _TIMES else ()
        other = next((kind for kind in kinds if _parses(field.text, partial(parse_value, column_type=kind))), None)
        helps = () if other is None else (f"it is one of type `{other}`: declare that, if the whole column is so",)
        yield Diagnostic("E314", message, _place(row, field, request), helps=helps)


def _parses(text: str, parse: Callable[[str], object]) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _place(row: Record, field: Field, request: Request) -> Place:
    """The place of a field; only the first line of a row that spans several."""
    if "\n" in row.text:
        return Place(request.origin, row.line)
    return Place(request.origin, row.line, field.column, max(1, len(field.text)), row.text)


_DELIMITERS = ("\t", ",", ";", "|", " ")
_QUOTING_DELIMITERS = (",", ";")
_BY_ENDING = {".tsv": ("\t",), ".tab": ("\t",), ".csv": (",", ";", "\t", "|")}
_SAMPLE_LINES = 200
# Arrow reads 32 blocks ahead, and so takes memory away from the engine. Only files with longer rows need larger blocks.
_BLOCK_BYTES = 1 << 20
_LARGEST_BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class TextDialect:
    """How a text file is written. `guessed_header`: only its words made us take the first line for a header."""

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
            check_header_is_none_of(rows, dialect, layout, request)
            if rows.num_rows:
                facts = text_batch(rows, layout, request)
                yield facts if rows_read else replace(facts, guess=layout.guess or first_line(rows, layout, dialect, request))
            rows_read += rows.num_rows
    except (pa.ArrowInvalid, CellError, QuotingError) as error:
        problems = find_problems(file, request, dialect, layout)
        raise InputError(problems) if problems else damaged(request.origin, str(error)) from None
    except OSError as error:
        raise damaged(request.origin, str(error)) from None
    if not rows_read:
        raise no_facts(request)


def first_line(rows: pa.RecordBatch, layout: Layout, dialect: TextDialect, request: Request) -> FirstLine | None:
    """The first line of triples, if it may be a header: the user does not say whether it is, and it has neither score nor rank."""
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
    if not has_header:
        if problem := _half_header_problem(rows[0], request):
            raise InputError(problem)
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
    """The problem of a first line that names two parts of a triple and not the third."""
    names = [field.text for field in row.fields]
    if (part := missing_part(names, request)) is None:
        return None
    if len(names) == 2:
        place = Place(request.origin, row.line, 1, len(row.text), printable(row.text))
        named = (f"for a file of one predicate give its name: `NAME={request.origin}`",) if part == "relation" else ()
        notes = ("a triple has head, relation and tail",)
        return Diagnostic("E310", f"there is no column for the {part}", place, notes=notes, helps=named)
    unknown = unknown_names(names)
    if request.file.header is not None or not unknown:
        return None
    meant = suggestion(part, unknown) or unknown[0]
    field = row.fields[names.index(meant)]
    helps = (
        f"if it is a header, is `{printable(meant)}` the {part}? name the column `{part}`, or choose it: "
        f"{choosing(part, printable(meant), request)}",
        "if it is a fact, say so with `header = false` (`--no-header`)",
    )
    place = Place(request.origin, row.line, field.column, max(1, len(meant)), printable(row.text))
    message = f"the first line is a header without {part}, or a fact"
    return Diagnostic("E318", message, place, f"no name of a {part} column", helps=helps)


def _sample_records(sample: list[str], delimiter: str) -> list[Record]:
    return list(records(iter(sample), delimiter, delimiter in _QUOTING_DELIMITERS))


def _columns_by_name(request: Request) -> bool:
    """Whether the user chose columns by name, which only a header has."""
    choices = request.file.columns.values()
    return any(isinstance(part, str) for choice in choices for part in ([choice] if isinstance(choice, str | int) else choice))


def _guess_delimiter(sample: list[str], request: Request) -> str:
    """The delimiter that gives most lines the same number of columns. If several do, the first in the usual order."""
    ending = request.path.with_suffix("").suffix if request.path.suffix == ".gz" else request.path.suffix
    marks = _BY_ENDING.get(ending, _DELIMITERS)
    fewest = min(headerless_widths(request), default=2)
    usual = marks if any(mark in line for mark in marks for line in sample) else _DELIMITERS
    widths = {mark: Counter(len(record.fields) for record in _sample_records(sample, mark) if record.text) for mark in usual}
    # If no delimiter gives enough columns, a column is missing. Then we take the delimiter that gives most columns.
    for enough in (fewest, 2):
        shares = {
            mark: max((n / counts.total() for width, n in counts.items() if width >= enough), default=0.0)
            for mark, counts in widths.items()
        }
        best = max(usual, key=lambda mark: shares[mark])
        if shares[best]:
            return best
    return "\t"


def _usual_width(rows: list[Record], request: Request) -> int:
    """The most frequent allowed number of columns. So an odd row gets the blame, not its neighbours."""
    allowed = headerless_widths(request)
    widths = Counter(len(row.fields) for row in rows if row.text and row.fields)
    return next((width for width, _ in widths.most_common() if not allowed or width in allowed), min(allowed, default=1))


class QuotingError(Exception):
    """A quote that does not belong where it stands."""


def stream(file: Opening, dialect: TextDialect, columns: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows of a text file as strings: all columns, or the columns with the given numbers."""
    handed_on = 0
    try:
        for rows in _batches(file, dialect, columns, _BLOCK_BYTES):
            handed_on += rows.num_rows
            yield rows
    except pa.ArrowInvalid as error:
        if "block size" not in str(error):
            raise
        for rows in _batches(file, dialect, columns, _LARGEST_BLOCK_BYTES):
            known = min(handed_on, rows.num_rows)
            handed_on -= known
            yield rows.slice(known)


def _batches(file: Opening, dialect: TextDialect, columns: Sequence[int] | None, block_bytes: int) -> Iterator[pa.RecordBatch]:
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
                # Arrow must not skip empty lines, because we refuse them.
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


def check_header_is_none_of(rows: pa.RecordBatch, dialect: TextDialect, layout: Layout, request: Request) -> None:
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
