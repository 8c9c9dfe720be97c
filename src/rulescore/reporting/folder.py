"""A folder of results: written anew beside itself and swapped in whole, so that the files in it are always those of one run.

What else lies in the folder stays: it is linked into the new one before the swap, and only files that this package writes are ever
removed. A run that is killed leaves the folder as it was or as it shall be. In the instant between two renames there is no
folder; a run that is killed then leaves the old one beside, under a name that begins with a dot, and the next run puts it back.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from re import compile, escape

from rulescore.errors import Diagnostic, InputError
from rulescore.locks import alone_in
from rulescore.reporting.cells import ComparisonTable, Format

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
PLOT_FILES = frozenset(f"{name}.{ending}" for name in ("dataset_rates", "rules", "models", "tradeoff") for ending in PLOT_ENDINGS)
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
    if target.exists() and not target.is_dir():
        raise InputError(_unswappable(folder, "it is not a folder"))
    if _current_folder().is_relative_to(target):
        raise InputError(_unswappable(folder, "it is the current folder, or one around it"))
    if target.is_dir() and os.path.ismount(target):
        raise InputError(_unswappable(folder, "a file system is mounted there"))
    parent = next(one for one in target.parents if one.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(_unswappable(folder, f"you may not write to `{parent}`, the folder around it"))
    others = sorted(entry.name for entry in _entries(target) if not _can_be_carried(entry))
    if others:
        shown = ", ".join(f"`{name}`" for name in others[:3]) + (" and others" if others[3:] else "")
        raise InputError(_unswappable(folder, f"it holds something else than files: {shown}"))


@contextmanager
def new_folder(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """Context manager: an empty folder to write into, which takes the place of `folder` if all goes well. `own`: the names of this
    kind of results; a file of such a name that is not written again goes, any other file stays."""
    refuse_unswappable(folder)
    target = _resolved(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=_mark(target), suffix=PARTIAL, dir=target.parent))
        try:
            # mkdtemp makes folders that only their owner may read; results are ordinary files.
            draft.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o777 & ~umask())
            yield draft
            sync(draft)
            # What another run has just written must not be taken for old.
            with alone_in(target.parent):
                _tidy(target)
                _carry(target, draft, own)
                _sync_one(draft)
                _swap(target, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise InputError(not_writable(folder, error)) from error


def is_left_over(path: Path) -> bool:
    """Whether a file or a folder of ours was left unfinished by a run that died."""
    try:
        return path.name.endswith(PARTIAL) and time.time() - path.lstat().st_mtime > _LEFT_AFTER
    except FileNotFoundError:  # another process has just finished it
        return False


def _mark(target: Path) -> str:
    """The prefix of the names that we give to folders beside the target."""
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
    """Links into the new folder what is in the old one and is not replaced."""
    for entry in _entries(target):
        if entry.name in own or _is_half_written(Path(entry.path)):
            continue
        if not _can_be_carried(entry):  # it came while we were at work
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
    """Puts back what a killed run has moved away, and removes what it has left."""
    olds = _left_beside(target, _OLD)
    if olds and not target.exists():
        olds.pop().rename(target)
    for old in olds:
        _discard(old, target)
    for draft in _left_beside(target, PARTIAL):
        if is_left_over(draft):
            shutil.rmtree(draft, ignore_errors=True)


def _left_beside(target: Path, ending: str) -> list[Path]:
    """Folders of ours beside the target, the oldest first. The owner of the folder around it, or another user, may have put a
    lookalike there: a link would lead us to files elsewhere."""
    ours = compile(rf"{escape(_mark(target))}[a-z0-9_]{{8}}{escape(ending)}")  # the letters are those of mkdtemp
    found = [Path(entry.path) for entry in _entries(target.parent) if ours.fullmatch(entry.name)]
    return sorted(filter(_is_own_folder, found), key=lambda path: path.lstat().st_mtime)


def _is_own_folder(path: Path) -> bool:
    found = path.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(found.st_mode) and not found.st_reparse_tag  # a junction is a folder and leads elsewhere
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _discard(old: Path, target: Path) -> None:
    """Removes a folder that was swapped out, but keeps files of others that the new folder lacks, and whatever a run does not
    carry."""
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
    if not folder.is_dir():
        return []
    with os.scandir(folder) as found:
        return list(found)


def _can_be_carried(entry: os.DirEntry[str]) -> bool:
    """Files and links; of folders only ours."""
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
    notes = ("the folder is written anew and swapped in whole, so that results of two runs never mix",)
    helps = ("give the results a folder of their own, which need not be there yet",)
    return Diagnostic("E604", message, notes=notes, helps=helps)
