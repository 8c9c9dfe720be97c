"""Values of templates from CSV files: `for $p, $q in "pairs.csv": …`. The header names the parameters.

The author of a rule may have no right to read the files of the user who runs it. So a table lies within the folder of the rule
file, and no message tells what stands in it.
"""

from __future__ import annotations

import csv
import stat
from dataclasses import dataclass
from pathlib import Path

from rulescore.errors import Span, meant_file
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.fillings import Filling, filling_of_cell


@dataclass(frozen=True, slots=True)
class Row:
    """A value for each parameter. `line`: where they stand, if in a file."""

    values: tuple[Filling, ...]
    line: str | None = None


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
    return [Row(tuple(filling_of_cell(row[column]) for column in columns), f"line {line} of `{name}`") for line, row in rows]


def _read_lines(cursor: Cursor, name: str, span: Span) -> list[tuple[int, list[str]]]:
    """The rows with their line numbers, without empty lines."""
    try:
        path = _path(cursor, name, span)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError:
        raise _unusable(cursor, f"`{name}` is not UTF-8", span) from None
    except csv.Error as error:
        raise _unusable(cursor, f"`{name}` is not a CSV file: {error}", span) from None
    # A name with the character NUL is a ValueError, and links that lead to each other are a RuntimeError of older Pythons.
    except (OSError, ValueError, RuntimeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise _unusable(cursor, f"`{name}` cannot be read: {reason}", span) from None


def _path(cursor: Cursor, name: str, span: Span) -> Path:
    """The path of a table. No message tells whether a file exists outside of the folder either."""
    if cursor.source.folder is None:
        help = "write the rules into a file beside it; in Python, `rulescore.RuleText(text, folder=…)` names a folder"
        raise cursor.failure("E126", "rules given as text read no files", span, help=help)
    folder = cursor.source.folder.resolve()
    path = (folder / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(folder):
        note = "a table lies in the folder of the rule file, or in a folder there, and its path begins there; links are followed"
        raise cursor.failure("E125", f"`{name}` does not lie within the folder of the rule file", span, note=note)
    if not path.exists():
        raise _unusable(cursor, f"there is no file `{name}`", span, help=_meant(path, name))
    if not stat.S_ISREG(path.stat().st_mode):
        raise cursor.failure("E125", f"`{name}` is not a regular file", span, help="save its rows as a CSV file")
    return path


def _meant(path: Path, name: str) -> str:
    return next(iter(meant_file(path, Path(name))), "a path is relative to the rule file")


def _columns(cursor: Cursor, name: str, span: Span, header: list[str], parameters: tuple[str, ...]) -> list[int]:
    """Where the values of each parameter stand."""
    for few, found in (("no", 0), ("more than one", 2)):
        named = [f"`{one[1:]}`" for one in parameters if min(header.count(one[1:]), 2) == found]
        if named:
            note = f"its header names {len(header)} column{'' if len(header) == 1 else 's'}"
            raise _unusable(cursor, f"`{name}` has {few} column {' and '.join(named)}", span, note=note)
    return [header.index(parameter[1:]) for parameter in parameters]


def _unusable(cursor: Cursor, message: str, span: Span, note: str = "", help: str = "") -> StatementError:
    return cursor.failure("E124", message, span, note=note, help=help)
