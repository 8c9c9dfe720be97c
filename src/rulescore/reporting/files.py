"""Writes results as files that appear complete, and as a folder that is swapped as a whole."""

from __future__ import annotations

import filecmp
import glob
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from re import compile, escape
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
_OLD = ".old"
_LEFT_AFTER = 24 * 60 * 60


def refuse_unswappable(folder: Path) -> None:
    """Raises an error, before the work, if the folder could not be swapped after it."""
    if "\0" in str(folder):
        raise InputError(_unswappable(folder, "its path has a null byte"))
    target = _resolved(folder)
    mode = _mode(target)
    if mode is not None and not stat.S_ISDIR(mode):
        raise InputError(_unswappable(folder, "it is not a folder"))
    if _current_folder().is_relative_to(target):
        raise InputError(_unswappable(folder, "it is the current folder, or one around it"))
    if target.is_dir() and os.path.ismount(target):
        raise InputError(_unswappable(folder, "a file system is mounted there"))
    parent = next(folder for folder in target.parents if folder.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(_unswappable(folder, f"you may not write to `{parent}`, the folder around it"))
    others = sorted(entry.name for entry in _entries(target) if not _can_be_carried(entry))
    if others:
        shown = ticked(others[:3]) + (" and others" if others[3:] else "")
        raise InputError(_unswappable(folder, f"it holds something else than files: {shown}"))


@contextmanager
def new_folder(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """Context manager: an empty folder to write into, which takes the place of `folder` if all goes well. `own`: the file names of
    this kind of results. We delete an old file of such a name if the new results lack it; all other files stay."""
    refuse_unswappable(folder)
    target = _resolved(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=_mark(target), suffix=PARTIAL, dir=target.parent))
        try:
            yield draft
            sync(draft)
            # We must not delete files that another run has just written.
            with alone_in(target.parent):
                _tidy(target)
                _carry(target, draft, own)
                # mkdtemp makes folders that only their owner may read; results are ordinary files.
                mode = _mode(target)
                draft.chmod(0o777 & ~umask() if mode is None else stat.S_IMODE(mode))
                _sync_one(draft)
                _swap(target, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise InputError(not_writable(folder, error)) from error


def _mode(path: Path) -> int | None:
    """The kind of the file at a path, and its permissions. We ask once, because another run may swap it at any time."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def is_left_over(path: Path) -> bool:
    """Whether a file or a folder of ours was left unfinished by a run that died."""
    try:
        return path.name.endswith(PARTIAL) and time.time() - path.lstat().st_mtime > _LEFT_AFTER
    except FileNotFoundError:  # another process has just finished it
        return False


def _mark(target: Path) -> str:
    """The prefix of the names that we give to folders next to the target."""
    return f".{target.name}.rulescore-"


def _is_half_written(path: Path) -> bool:
    """Whether a file in a folder of results is one of ours that a run left unfinished."""
    return any(path.name.startswith(f".{name}.") for name in OUR_FILES) and is_left_over(path)


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


def _carry(target: Path, draft: Path, own: Collection[str]) -> None:
    """Links files of the old folder into the new one, unless the new results replace them."""
    for entry in _entries(target):
        if entry.name in own or _is_half_written(Path(entry.path)):
            continue
        if not _can_be_carried(entry):  # somebody made it while we were at work
            raise InputError(_unswappable(target, f"it holds something else than files: `{entry.name}`"))
        if entry.is_dir(follow_symlinks=False):
            shutil.copytree(entry.path, draft / entry.name, symlinks=True, copy_function=_link)
        else:
            _link(entry.path, str(draft / entry.name))


def _link(source: str, copy: str) -> None:
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:  # some file systems have no links
        shutil.copy2(source, copy, follow_symlinks=False)


def _swap(target: Path, draft: Path) -> None:
    old = draft.with_suffix(_OLD)
    try:
        target.rename(old)
    except FileNotFoundError:
        draft.rename(target)
    else:
        try:
            draft.rename(target)
        except BaseException:
            if not target.exists():
                old.rename(target)
            raise
        _discard(old, target)
    _sync_one(target.parent)


def _tidy(target: Path) -> None:
    """Puts back the folder that a killed run has moved away, and removes its unfinished files."""
    olds = _left_beside(target, _OLD)
    if olds and not target.exists():
        olds.pop().rename(target)
    for old in olds:
        _discard(old, target)
    for draft in _left_beside(target, PARTIAL):
        if is_left_over(draft):
            shutil.rmtree(draft, ignore_errors=True)


def _left_beside(target: Path, ending: str) -> list[Path]:
    """Folders of ours next to the target, the oldest first. The owner of the folder around it, or another user, may have put a
    lookalike there: a link would lead us to files elsewhere."""
    ours = compile(rf"{escape(_mark(target))}[a-z0-9_]{{8}}{escape(ending)}")  # mkdtemp makes names from these letters
    leftovers = [Path(entry.path) for entry in _entries(target.parent) if ours.fullmatch(entry.name)]
    return sorted(filter(_is_own_folder, leftovers), key=lambda path: path.lstat().st_mtime)


def _is_own_folder(path: Path) -> bool:
    status = path.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(status.st_mode) and not status.st_reparse_tag  # a junction is a folder and leads elsewhere
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _discard(old: Path, target: Path) -> None:
    """Removes a folder that was swapped out. Keeps other people's files that the new folder lacks, and everything that a run does
    not carry over."""
    for entry in filter(_can_be_carried, _entries(old)):
        path, kept = Path(entry.path), target / entry.name
        if entry.name in OUR_FILES or _is_half_written(path) or _is_same(path, kept):
            _remove(path)
        elif not os.path.lexists(kept):
            path.rename(kept)
    if not any(old.iterdir()):
        old.rmdir()


def _is_same(path: Path, kept: Path) -> bool:
    if path.is_symlink() or kept.is_symlink():
        return path.is_symlink() and kept.is_symlink() and path.readlink() == kept.readlink()
    return path.is_file() and kept.is_file() and (path.samefile(kept) or filecmp.cmp(path, kept, shallow=False))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):  # it may vanish at any time, since another run may swap it
        return []


def _can_be_carried(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, a link, or one of our own folders."""
    is_ours = entry.name == CONTRIBUTIONS and entry.is_dir(follow_symlinks=False)
    return is_ours or entry.is_symlink() or entry.is_file(follow_symlinks=False)


def umask() -> int:
    """The permissions that a new file does not get."""
    current = os.umask(0)
    os.umask(current)
    return current


def _resolved(folder: Path) -> Path:
    """The folder that a link leads to: it is swapped, and the link stays."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(_unswappable(folder, "its links lead in a circle")) from error


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return Path()


def _unswappable(folder: Path, reason: str) -> Diagnostic:
    message = f"results cannot be written to `{folder}` as a whole: {reason}"
    notes = ("the folder is written anew and swapped in whole, so results of two runs never mix",)
    helps = ("give the results a folder of their own, which need not be there yet",)
    return Diagnostic("E601", message, notes=notes, helps=helps)


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
