"""The problems of a text file, row by row. Runs only if the fast reader found that there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from rulescore.errors import Diagnostic, Place
from rulescore.readers.constant_columns import parse_number, parse_rank, parse_value
from rulescore.readers.files import Opening
from rulescore.readers.layout import Layout, headerless_widths
from rulescore.readers.lines import Field, Record, open_lines, records
from rulescore.setting.request import ColumnType, Request

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
# The types that a text of the wrong type may have.
_OTHERWISE = dict.fromkeys(_TIMES, _TIMES)


def find_problems(
    file: Opening, request: Request, delimiter: str, quoted: bool, has_header: bool, width: int, layout: Layout
) -> tuple[Diagnostic, ...]:
    """The first problems of a file, each with its line and column."""
    with open_lines(file, request.origin) as lines:
        rows = islice(records(lines, delimiter, quoted), int(has_header), None)
        found = (problem for row in rows for problem in _row_problems(row, request, width, layout))
        return at_most(found)


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


def _row_problems(row: Record, request: Request, width: int, layout: Layout) -> Iterator[Diagnostic]:
    if (problem := form_problem(row, request)) is not None:
        yield problem
    elif len(row.fields) != width:
        yield _width_problem(row, request, width, layout)
    else:
        yield from _field_problems(row, request, layout)


def form_problem(row: Record, request: Request) -> Diagnostic | None:
    """The problem of a line that is not a row at all: it is empty, not UTF-8, or wrongly quoted."""
    if row.text == "":
        place = Place(request.origin, row.line, 1, text="")
        return Diagnostic("E311", "the line is empty", place, helps=("every line of a text file is a row; remove this one",))
    if row.wrong_quote is not None:
        return _quote_problem(row, row.wrong_quote, request)
    return encoding_problem(request.origin, row.line, row.text)


def _quote_problem(row: Record, column: int, request: Request) -> Diagnostic:
    place = Place(request.origin, row.line, column, text=printable(row.text))
    helps = ('a quote within quotes is written twice: `"say ""yes"""`',)
    message = "a quoted field does not end, or goes on after its closing quote"
    return Diagnostic("E315", message, place, "begins here", helps=helps)


def _width_problem(row: Record, request: Request, width: int, layout: Layout) -> Diagnostic:
    found = len(row.fields)
    beyond = row.fields[width] if found > width else row.fields[-1]
    place = Place(request.origin, row.line, beyond.column, max(1, len(beyond.text)), row.text)
    optional = [name for name in ("score", "rank") if name not in layout.names] if width in headerless_widths(request) else []
    more = f"; {' and '.join(optional)} may follow" if request.predictions and optional else ""
    notes = (f"the columns are {', '.join(layout.names)}{more}",)
    helps: tuple[str, ...] = ()
    if layout.relation is not None and not request.predictions:
        helps = (f"for a file of one predicate give its name: `NAME={request.origin}`",)
    return Diagnostic("E310", f"expected {width} columns, found {found}", place, notes=notes, helps=helps)


def _field_problems(row: Record, request: Request, layout: Layout) -> Iterator[Diagnostic]:
    for index, column_type in zip(layout.arguments, layout.types, strict=True):
        yield from _argument_problems(row, index, column_type, request, layout)
    if layout.relation is not None:
        yield from _argument_problems(row, layout.relation, ColumnType.STRING, request, layout)
    yield from _number_problems(row, layout.score, parse_number, "a finite number", request, layout)
    yield from _number_problems(row, layout.rank, parse_rank, "a whole number from 1", request, layout)


def _number_problems(
    row: Record, index: int | None, parse: Callable[[str], float], expected: str, request: Request, layout: Layout
) -> Iterator[Diagnostic]:
    if index is None or not (text := row.fields[index].text):
        return
    try:
        parse(text)
    except ValueError:
        message = f"`{layout.names[index]}` is `{text}`, not {expected}"
        yield Diagnostic("E316", message, _place(row, row.fields[index], request))


def _argument_problems(row: Record, index: int, column_type: ColumnType, request: Request, layout: Layout) -> Iterator[Diagnostic]:
    field, name = row.fields[index], layout.names[index]
    if field.text == "":
        if not layout.may_be_empty:
            yield Diagnostic("E312", f"`{name}` is empty", _place(row, field, request))
        return
    try:
        parse_value(field.text, column_type)
    except ValueError:
        message = f"`{name}` is `{field.text}`, not {_EXPECTED[column_type]}"
        other = next((one for one in _OTHERWISE.get(column_type, ()) if _reads_as(field.text, one)), None)
        helps = () if other is None else (f"it is one of type `{other}`: declare that, if the whole column is so",)
        yield Diagnostic("E314", message, _place(row, field, request), helps=helps)


def _reads_as(text: str, column_type: ColumnType) -> bool:
    try:
        parse_value(text, column_type)
    except ValueError:
        return False
    return True


def _place(row: Record, field: Field, request: Request) -> Place:
    """The place of a field; only the first line of a row that spans several."""
    if "\n" in row.text:
        return Place(request.origin, row.line)
    return Place(request.origin, row.line, field.column, max(1, len(field.text)), row.text)
