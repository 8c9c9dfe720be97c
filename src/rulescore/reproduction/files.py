"""Where the data and the predictions of a published experiment lie."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from rulescore import datasets
from rulescore.errors import Diagnostic, InputError


def data_files(name: str, files: Iterable[str]) -> dict[str, Path]:
    """Files of a data set, by their names; they may lie there compressed."""
    return {one: datasets.file(name, one) for one in files}


def prediction_files(stem: str, models: Mapping[str, str]) -> dict[str, Path]:
    """The files of predictions, by the names that models have here; `models` maps these to the ends of the files' names."""
    folder = datasets.predictions_folder()
    found = {name: folder / f"{stem}-{end}.tsv.gz" for name, end in models.items()}
    if missing := [path.name for path in found.values() if not path.is_file()]:
        message = f"there are no predictions {', '.join(f'`{name}`' for name in missing)}"
        helps = (f"put them into `{folder}`",)
        raise InputError(Diagnostic("E771", message, helps=helps))
    return found


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
