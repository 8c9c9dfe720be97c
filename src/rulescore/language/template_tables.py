"""Values of templates from CSV files: `for $p, $q in "pairs.csv": …`. The header names the parameters."""

from __future__ import annotations

import csv
from pathlib import Path

from rulescore.errors import Span, suggestion
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.fillings import Filling, filling_of_cell

Row = tuple[Filling, ...]


def read_table(cursor: Cursor, name: str, span: Span, parameters: tuple[str, ...]) -> list[Row]:
    """The rows of a file beside the rule file, with the columns in the order of the parameters."""
    lines = _read_lines(cursor, name, span)
    if not lines:
        raise _unusable(cursor, f"`{name}` is empty", span, note="its first line names the parameters, without dollar signs")
    (_, header), *rows = lines
    columns = _columns(cursor, name, span, [column.strip() for column in header], parameters)
    if not rows:
        raise _unusable(cursor, f"`{name}` has a header and no rows", span)
    for line, row in rows:
        if len(row) != len(header):
            message = f"line {line} of `{name}` has {len(row)} columns and the header {len(header)}"
            raise _unusable(cursor, message, span)
    return [tuple(filling_of_cell(row[column]) for column in columns) for _, row in rows]


def _read_lines(cursor: Cursor, name: str, span: Span) -> list[tuple[int, list[str]]]:
    """The rows with their line numbers; empty lines are left out."""
    path = Path(cursor.source.name).parent / name
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError:
        siblings = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        close = suggestion(path.name, siblings)
        advice = f"did you mean `{Path(name).with_name(close)}`?" if close else "a path is relative to the rule file"
        raise _unusable(cursor, f"there is no file `{name}`", span, help=advice) from None
    except UnicodeDecodeError:
        raise _unusable(cursor, f"`{name}` is not UTF-8", span) from None
    except csv.Error as error:
        raise _unusable(cursor, f"`{name}` is no CSV file: {error}", span) from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise _unusable(cursor, f"`{name}` cannot be read: {reason}", span) from None


def _columns(cursor: Cursor, name: str, span: Span, header: list[str], parameters: tuple[str, ...]) -> list[int]:
    """Where the values of each parameter stand."""
    for parameter in parameters:
        if header.count(parameter[1:]) != 1:
            known = ", ".join(f"`{column}`" for column in header)
            message = f"`{name}` has {'no' if parameter[1:] not in header else 'more than one'} column `{parameter[1:]}`"
            raise _unusable(cursor, message, span, note=f"its columns are {known}")
    return [header.index(parameter[1:]) for parameter in parameters]


def _unusable(cursor: Cursor, message: str, span: Span, note: str = "", help: str = "") -> StatementError:
    return cursor.failure("E124", message, span, note=note, help=help)
