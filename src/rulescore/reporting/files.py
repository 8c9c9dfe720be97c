"""Results as files of a folder. Each is written under a temporary name beside its own and renamed when all are complete, so
that an interrupted run leaves the folder as it was."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from rulescore.errors import Diagnostic, InputError, suggestion
from rulescore.reporting.csv import render_table_csv
from rulescore.reporting.format import DEFAULT_FILE_FORMATS, FileFormat, Format
from rulescore.reporting.listing import Listing
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import Evaluation

CODES: dict[str, str] = {
    "E601": "the output folder or a file in it cannot be written",
    "E602": "results cannot be written in that format",
    "E603": "the file to be written exists already",
}

CONTRIBUTIONS = "contributions.parquet"
"""The file of contributions, or the folder of files where an engine that keeps rows has written it."""

_ENDINGS = {Format.TABLE: "txt", Format.JSON: "json", Format.CSV: "csv", Format.MARKDOWN: "md", Format.LATEX: "tex"}


def write_outputs(evaluation: Evaluation, folder: Path, formats: Iterable[str] = DEFAULT_FILE_FORMATS) -> tuple[Path, ...]:
    """The files written: `rules` and `models` as CSV, `evaluation` as JSON and texts, every table as Parquet."""
    contents: dict[str, str | Any] = {}
    for form in file_formats(formats):
        contents |= _evaluation_files(evaluation, form)
    return write_files(folder, contents)


def write_listing(listing: Listing, folder: Path, formats: Iterable[str] = DEFAULT_FILE_FORMATS) -> tuple[Path, ...]:
    """One file per format, named after the listing. A listing has no Parquet form."""
    texts = [Format(form) for form in file_formats(formats) if form is not FileFormat.PARQUET]
    return write_files(folder, {f"{listing.name}.{_ENDINGS[form]}": render(listing, form) for form in texts})


def file_formats(names: Iterable[str]) -> tuple[FileFormat, ...]:
    names = tuple(dict.fromkeys(names))
    if problems := [_unknown_format(name) for name in names if name not in set(FileFormat)]:
        raise InputError(problems)
    return tuple(FileFormat(name) for name in names)


def require_absent(path: Path) -> None:
    if path.exists():
        helps = ("choose another name, or give `--force` to overwrite it",)
        raise InputError(Diagnostic("E603", f"`{path}` exists already", helps=helps))


def write_files(folder: Path, contents: Mapping[str, str | Any]) -> tuple[Path, ...]:
    """Texts and Arrow tables by file name. Renaming begins when every one of them is written."""
    finished: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            finished.append((_temporary(folder, name), folder / name))
            _write(finished[-1][0], content)
        for temporary, final in finished:
            temporary.replace(final)
    except OSError as error:
        target = folder / next(iter(contents)) if len(contents) == 1 else folder
        raise InputError(_not_writable(target, error)) from error
    finally:
        for temporary, _ in finished:
            temporary.unlink(missing_ok=True)
    return tuple(final for _, final in finished)


def _evaluation_files(evaluation: Evaluation, form: FileFormat) -> dict[str, str | Any]:
    match form:
        case FileFormat.PARQUET:
            tables = {"rules.parquet": evaluation.rules, "models.parquet": evaluation.models}
            kept = evaluation.contributions_table is None
            return tables if kept else {**tables, CONTRIBUTIONS: evaluation.contributions}
        case FileFormat.CSV:
            return {"rules.csv": render_table_csv(evaluation.rules), "models.csv": render_table_csv(evaluation.models)}
        case _:
            text_form = Format(form)
            return {f"evaluation.{_ENDINGS[text_form]}": render(evaluation, text_form)}


def _temporary(folder: Path, name: str) -> Path:
    handle, path = tempfile.mkstemp(prefix=f".{name}.", suffix=".partial", dir=folder)
    os.close(handle)
    return Path(path)


def _write(path: Path, content: str | Any) -> None:
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
    else:
        pa.parquet.write_table(content, path, compression="zstd")
    # mkstemp makes files only their owner may read; results are ordinary files.
    path.chmod(0o666 & ~_umask())


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _not_writable(target: Path, error: OSError) -> Diagnostic:
    return Diagnostic("E601", f"cannot write to `{target}`", notes=(str(error.strerror or error).lower(),))


def _unknown_format(name: str) -> Diagnostic:
    meant = suggestion(name, list(FileFormat))
    return Diagnostic(
        "E602",
        f"no output format is named `{name}`",
        notes=(f"the formats are {', '.join(f'`{form}`' for form in FileFormat)}",),
        helps=() if meant is None else (f"did you mean `{meant}`?",),
    )
