"""Results as files of a folder that is swapped whole, and other files, each of which appears complete."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.reporting.cells import DEFAULT_FILE_FORMATS, Format, Shown
from rulescore.reporting.csv import render_table_csv
from rulescore.reporting.folder import (
    CONTRIBUTIONS,
    ENDINGS,
    EVALUATION_FILES,
    PARTIAL,
    is_left_over,
    listing_files,
    new_folder,
    not_writable,
    sync,
    umask,
)
from rulescore.reporting.json import ContributionsFile, contributions_file, render_saved
from rulescore.reporting.listing import Listing
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.run import Run
from rulescore.setting.choices import OutputFormat


def write_outputs(
    evaluation: Evaluation,
    folder: Path,
    formats: Iterable[str] = DEFAULT_FILE_FORMATS,
    contributions: Callable[[Path], None] | None = None,
) -> tuple[Path, ...]:
    """The files written: `rules` and `models` as CSV and LaTeX, `evaluation` as JSON and texts with all details, every table as
    Parquet. `contributions` writes contributions that the engine has kept to a path."""
    chosen = file_formats(formats)
    run = evaluation.run.digested() if evaluation.run is not None and OutputFormat.JSON in chosen else None
    table = evaluation.contributions_table
    write = contributions if table is None else lambda path: _write(path, table)
    with new_folder(folder, EVALUATION_FILES) as draft:
        beside = None
        if write is not None and OutputFormat.PARQUET in chosen:
            write(draft / CONTRIBUTIONS)
            beside = contributions_file(draft / CONTRIBUTIONS)
        contents: dict[str, str | Any] = {}
        for form in chosen:
            contents |= _evaluation_files(evaluation, form, run, beside)
        written = write_all(draft, folder, contents)
        return written if beside is None else (*written, folder / CONTRIBUTIONS)


def write_listing(listing: Listing, folder: Path, formats: Iterable[str] = DEFAULT_FILE_FORMATS) -> tuple[Path, ...]:
    """One file per format, named after the listing. A listing has no Parquet form."""
    texts = [Format(form) for form in file_formats(formats) if form is not OutputFormat.PARQUET]
    with new_folder(folder, listing_files(listing.name)) as draft:
        return write_all(draft, folder, {f"{listing.name}.{ENDINGS[form]}": render(listing, form) for form in texts})


def write_all(draft: Path, folder: Path, contents: Mapping[str, str | Any]) -> tuple[Path, ...]:
    for name, content in contents.items():
        _write(draft / name, content)
    return tuple(folder / name for name in contents)


def file_formats(names: Iterable[str]) -> tuple[OutputFormat, ...]:
    names = tuple(dict.fromkeys(names))
    if problems := [_unknown_format(name) for name in names if name not in set(OutputFormat)]:
        raise InputError(problems)
    return tuple(OutputFormat(name) for name in names)


def require_absent(*paths: Path, help: str = "choose another name, or give `--force` to overwrite it") -> None:
    if problems := [Diagnostic("E603", f"`{path}` exists already", helps=(help,)) for path in paths if path.exists()]:
        raise InputError(problems)


def write_files(folder: Path, contents: Mapping[str, str | Any]) -> tuple[Path, ...]:
    """Texts and Arrow tables by file name, into a folder that may hold anything else. Renaming begins when every one is written. We
    replace what a link leads to, not the link, and write into a pipe or a device."""
    finished: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            if (stream := _stream(folder / name)) is not None:
                _write_into(stream, content)
                continue
            target = Path(os.path.realpath(folder / name))
            for left in target.parent.glob(f".{glob.escape(target.name)}.*{PARTIAL}"):
                if is_left_over(left):
                    left.unlink(missing_ok=True)
            finished.append((_temporary(target.parent, target.name), target))
            _write(finished[-1][0], content)
            sync(finished[-1][0])
        for temporary, final in finished:
            temporary.replace(final)
    except (OSError, ValueError) as error:
        target = folder / next(iter(contents)) if len(contents) == 1 else folder
        raise InputError(not_writable(target, error)) from error
    finally:
        for temporary, _ in finished:
            temporary.unlink(missing_ok=True)
    return tuple(folder / name for name in contents)


def _stream(path: Path) -> Path | int | None:
    """What is written into and not replaced: a pipe or a device, and the number of a stream of ours, which may be a file. The name
    that a link to a pipe leads to does not exist: we look at the path as it is given."""
    if not path.exists() or path.is_dir():
        return None
    for number, own in ((1, sys.stdout), (2, sys.stderr)):
        if own is not None and os.path.samestat(path.stat(), os.fstat(number)):
            own.flush()
            return os.dup(number)
    return None if path.is_file() else path


def _write_into(target: Path | int, content: str | Any) -> None:
    with open(target, "wb") as stream:  # noqa: PTH123 - it may be a number
        if isinstance(content, str):
            stream.write(content.encode())
        else:
            pa.parquet.write_table(content, stream, compression="zstd")


def _evaluation_files(
    evaluation: Evaluation, form: OutputFormat, run: Run | None, contributions: ContributionsFile | None
) -> dict[str, str | Any]:
    match form:
        case OutputFormat.JSON:
            return {"evaluation.json": render_saved(evaluation, run, contributions)}
        case OutputFormat.PARQUET:
            return {f"{name}.parquet": table for name, table in _tables(evaluation).items()}
        case OutputFormat.CSV:
            return {f"{name}.csv": render_table_csv(table) for name, table in _tables(evaluation).items()}
        case OutputFormat.LATEX:
            models = (Shown.MODELS,) if evaluation.model_results else ()
            accuracy = (Shown.ACCURACY,) if evaluation.accuracy_results else ()
            shown = (*models, Shown.RULES, *accuracy)
            return {f"{table}.tex": render(evaluation, Format.LATEX, table=table) for table in shown}
        case _:
            text_form = Format(form)
            return {f"evaluation.{ENDINGS[text_form]}": render(evaluation, text_form, detail=True)}


def _tables(evaluation: Evaluation) -> dict[str, Any]:
    accuracy = {"accuracy": evaluation.accuracy} if evaluation.accuracy_results else {}
    return {"rules": evaluation.rules, "models": evaluation.models, **accuracy}


def _temporary(folder: Path, name: str) -> Path:
    handle, path = tempfile.mkstemp(prefix=f".{name}.", suffix=PARTIAL, dir=folder)
    os.close(handle)
    return Path(path)


def _write(path: Path, content: str | Any) -> None:
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pa.parquet.write_table(content, path, compression="zstd")
    # mkstemp makes files only their owner may read; results are ordinary files.
    path.chmod(0o666 & ~umask())


def _unknown_format(name: str) -> Diagnostic:
    return Diagnostic(
        "E602",
        f"no output format is named `{name}`",
        notes=(f"the formats are {', '.join(f'`{form}`' for form in OutputFormat)}",),
        helps=meant(name, list(OutputFormat)),
    )
