"""Reads labels: names for the ids of entities and predicates."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.files import damaged, unreadable
from rulescore.readers.sources import file_format
from rulescore.setting.choices import FileFormat

_HEADINGS = {("id", "label"), ("id", "name")}


LabelsLike = Mapping[str, str] | str | Path | Iterable[str | Path]
"""What users give as labels: a mapping, or files."""


def labels_of(what: LabelsLike | None) -> dict[str, str]:
    """Labels by id, from a mapping, a file, or several files. The first label of an id counts."""
    if what is None:
        return {}
    if isinstance(what, Mapping):
        return dict(what)
    paths = [what] if isinstance(what, str | Path) else list(what)
    return {name: label for path in reversed(paths) for name, label in read_labels(Path(path)).items()}


def read_labels(path: Path) -> dict[str, str]:
    """Labels by id, from two columns separated by tabs or commas. The first label of an id is taken.

    Args:
        path: The file, with or without a line `id, label` above.

    Returns:
        The labels by id.

    Raises:
        InputError: The file cannot be read, or a line has not two columns.
    """
    file_format(path, FileFormat.TEXT)  # refuses a folder, and a file that does not exist
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise damaged(str(path), "it is not UTF-8") from None
    except OSError as error:
        raise InputError(unreadable(path, error)) from None
    rows = list(csv.reader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ","))
    if rows and tuple(word.strip().lower() for word in rows[0]) in _HEADINGS:
        rows[0] = []
    labels: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        if row and len(row) != 2:
            place = Place(str(path), number)
            helps = ("write an id and its label, with a tab or a comma between them",)
            raise InputError(Diagnostic("E310", f"a line of labels has {len(row)} columns", place, helps=helps))
        if row and row[1].strip():
            labels.setdefault(row[0], row[1].strip())
    return labels
