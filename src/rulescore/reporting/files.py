"""Writes results as files that appear complete and never mix with the files of another run."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from rulescore.errors import Diagnostic, InputError, meant, refuse, ticked
from rulescore.reporting.json import ContributionsFile, contributions_file, render_saved
from rulescore.reporting.listing import DEFAULT_FILE_FORMATS, ComparisonTable, Format, Listing, Shown, render_table_csv
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import Evaluation, Which
from rulescore.scoring.results import Run
from rulescore.setting.choices import OutputFormat
from rulescore.waiting import alone_in

ENDINGS = {Format.TABLE: "txt", Format.JSON: "json", Format.CSV: "csv", Format.MARKDOWN: "md", Format.LATEX: "tex"}
CONTRIBUTIONS = "contributions.parquet"
"""The file of contributions, or the folder of files that an engine that keeps rows has written."""


def listing_files(name: str) -> frozenset[str]:
    """The names that a listing may be written under."""
    return frozenset(f"{name}.{ending}" for ending in ENDINGS.values())


EVALUATION_FILES = listing_files("evaluation") | {
    *(f"{name}.{ending}" for name in ("rules", "models", "accuracy") for ending in ("csv", "parquet", "tex")),
    CONTRIBUTIONS,
}
COMPARISON_FILES = listing_files("comparison") | {
    f"comparison_{table}.{ending}" for table in ComparisonTable for ending in ("csv", "parquet", "tex")
}
PLOT_ENDINGS = ("svg", "png", "pdf")
_FIGURES = ("dataset_rates", "rules", "heat_map", "models", "tradeoff")
PLOT_FILES = frozenset(f"{name}.{ending}" for name in _FIGURES for ending in PLOT_ENDINGS)
CURVE_FILES = frozenset(f"curve.{ending}" for ending in PLOT_ENDINGS)
OUR_FILES = EVALUATION_FILES.union(COMPARISON_FILES, PLOT_FILES, CURVE_FILES, *map(listing_files, ("audit", "tolerances")))
"""All that is ever removed from a folder of results."""

PARTIAL = ".partial"
_DRAFT = ".rulescore-"
_LEFT_AFTER = 24 * 60 * 60


def refuse_unwritable(folder: Path) -> None:
    """Raises an error, before the work, if results could not be written into the folder after it."""
    reason = None
    if "\0" in str(folder):
        reason = "its path has a null byte"
    elif os.path.lexists(folder) and not folder.is_dir():
        reason = "it is not a folder"
    elif taken := sorted(name for name in OUR_FILES - {CONTRIBUTIONS} if _is_folder(folder / name)):
        reason = f"it holds folders with the names of results: {ticked(taken)}"
    elif not os.access(there := next(path for path in (folder, *folder.absolute().parents) if path.exists()), os.W_OK | os.X_OK):
        reason = f"you may not write to `{there}`"
    if reason is not None:
        raise InputError(Diagnostic("E601", f"results cannot be written to `{folder}`: {reason}"))


@contextmanager
def new_folder(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """Context manager: an empty folder to write into. If all goes well, its files move to `folder`. `own`: the file names of this
    kind of results; we remove the old files of these names, and no others."""
    refuse_unwritable(folder)
    existed = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT, suffix=PARTIAL, dir=folder))
        try:
            yield draft
            sync(draft)
            # If two runs moved their files at once, the files would mix.
            with alone_in(folder):
                _move(draft, folder, own)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            if not existed:
                with suppress(OSError):  # the folder has our results
                    folder.rmdir()
    except OSError as error:
        raise InputError(not_writable(folder, error)) from error


def _move(draft: Path, folder: Path, own: Collection[str]) -> None:
    """Removes the old files before the new ones come: if a run is killed in between, files are missing, but none is of another
    run."""
    for left in folder.glob(f"{_DRAFT}*{PARTIAL}"):
        if is_left_over(left) and _is_own_folder(left):
            shutil.rmtree(left, ignore_errors=True)
    for path in (folder / name for name in own):
        if _is_folder(path):
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in draft.iterdir():
        path.rename(folder / path.name)
    _sync_one(folder)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_own_folder(path: Path) -> bool:
    """Whether a folder is the user's own, and no link: another user may have put one there."""
    status = path.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(status.st_mode) and not status.st_reparse_tag  # a junction is a folder and leads elsewhere
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def is_left_over(path: Path) -> bool:
    """Whether a file or a folder of ours was left unfinished by a run that died."""
    try:
        return path.name.endswith(PARTIAL) and time.time() - path.lstat().st_mtime > _LEFT_AFTER
    except FileNotFoundError:  # another process has just finished it
        return False


def sync(path: Path) -> None:
    """Waits until a file, or a folder and all in it, is on the disk: a renamed file could be empty after a power cut."""
    if path.is_symlink():
        return
    if path.is_dir():
        for entry in path.iterdir():
            sync(entry)
    _sync_one(path)


def _sync_one(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def not_writable(target: Path, error: OSError | ValueError) -> Diagnostic:
    reason = getattr(error, "strerror", None) or str(error)
    return Diagnostic("E601", f"cannot write to `{target}`", notes=(reason.lower(),))


def umask() -> int:
    """The permissions that a new file does not get."""
    current = os.umask(0)
    os.umask(current)
    return current


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
    refuse([_unknown_format(name) for name in names if name not in set(OutputFormat)])
    return tuple(OutputFormat(name) for name in names)


def require_absent(*paths: Path, help: str = "choose another name, or give `--force` to overwrite it") -> None:
    refuse([Diagnostic("E603", f"`{path}` exists already", helps=(help,)) for path in paths if path.exists()])


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
    """A target that we write into instead of replacing it: a pipe, a device, or the number of one of our own streams. A link to a
    pipe leads to a name that does not exist, so we look at the given path."""
    if not path.exists() or path.is_dir():
        return None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        if stream is not None and os.path.samestat(path.stat(), os.fstat(number)):
            stream.flush()
            return os.dup(number)
    return None if path.is_file() else path


def _write_into(target: Path | int, content: str | Any) -> None:
    with open(target, "wb") as stream:  # noqa: PTH123 - it may be the number of an open file
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
    accuracy = [Which.ACCURACY] if evaluation.accuracy_results else []
    return {which.value: evaluation.table(which) for which in (Which.RULES, Which.MODELS, *accuracy)}


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
        notes=(f"the formats are {ticked(OutputFormat)}",),
        helps=meant(name, list(OutputFormat)),
    )
