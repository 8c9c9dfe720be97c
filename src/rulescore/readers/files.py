"""Files that users name, each opened once for a reading. We copy a pipe first, since it can be read only once."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, cast

from rulescore.errors import Diagnostic, InputError, Place, meant_file
from rulescore.setting.model import FileVersion

STANDARD_INPUT = Path("/dev/stdin")
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20

# How often a reader that waits for a pipe looks for Ctrl-C, in milliseconds.
_POLL = 100

# The standard input, once we have read it: we cannot read it a second time.
_spent: object = None


def is_folder(path: Path) -> bool:
    """Whether a path names a folder. InputError for a path that is neither a readable file nor a folder."""
    if path == STANDARD_INPUT:
        return False
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise InputError(_missing(path) if isinstance(error, FileNotFoundError) else unreadable(path, error)) from None
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError(Diagnostic("E302", f"`{path}` is a device, not a file"))
    return stat.S_ISDIR(mode)


def is_device(path: Path) -> bool:
    """Whether reading a path may never end."""
    return path.is_char_device() or path.is_block_device()


def is_standard_input(path: Path) -> bool:
    """Whether a path is standard input, by its usual name or because it is the same pipe. Nobody can read standard input twice."""
    try:
        return path == STANDARD_INPUT or (is_pipe(path) and os.path.samestat(os.fstat(0), path.stat()))
    except OSError:  # there is no standard input
        return False


def is_pipe(path: Path) -> bool:
    """Whether a path can be read only once: standard input, a pipe or a socket."""
    try:
        return path == STANDARD_INPUT or stat.S_ISFIFO(path.stat().st_mode) or stat.S_ISSOCK(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def refuse_pipes_twice(paths: Iterable[Path]) -> None:
    """Raises InputError for a pipe given twice: we read it to its end, and a second reader would wait for another writer."""
    seen: set[tuple[int, int] | None] = set()
    for path in filter(is_pipe, paths):
        # Standard input has several names, and may be missing.
        status = None if is_standard_input(path) else path.stat()
        pipe = None if status is None else (status.st_dev, status.st_ino)
        if pipe in seen:
            raise InputError(_asked_twice("standard input" if status is None else f"the pipe `{path}`"))
        seen.add(pipe)


def ending_of(path: Path) -> str:
    """The ending that says how a file is written; `.gz` may stand behind it."""
    return Path(path.name.removesuffix(".gz")).suffix


class InputFile:
    """A file to read as often as needed, even a pipe: its first opening copies the bytes to a temporary file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version: FileVersion | None = None
        self._copy: Opening | None = None

    def version(self) -> FileVersion | None:
        """The version of the file when we first read it or asked for it; None for a pipe, and for a file that is gone."""
        if self._version is None and not is_pipe(self.path):
            with suppress(OSError):
                self._version = version_of(self.path, self.path.stat())
        return self._version

    @contextmanager
    def opened(self) -> Iterator[Opening]:
        """The file for one reading. If somebody replaces it meanwhile, we still read the old one. Raises InputError if somebody
        writes into it, or if an earlier reading read another file, because our readings belong together."""
        if self._copy is not None:
            yield self._copy
        elif is_pipe(self.path):
            self._copy = self._copied()
            yield self._copy
        else:
            with _open(self.path) as file:
                self._refuse_changed(file)
                try:
                    yield Opening(file, compressed=self.path.suffix == ".gz")
                except Exception:
                    # If a file was replaced while we read, its two halves may have problems that neither file has.
                    self._refuse_changed(file)
                    raise
                self._refuse_changed(file)

    def _refuse_changed(self, file: io.FileIO) -> None:
        version = version_of(self.path, os.fstat(file.fileno()))
        if version != (self._version or version):
            raise changed(self.path)
        self._version = version

    def _copied(self) -> Opening:
        """The bytes of a pipe in a file that nobody else sees, and that is gone when it is closed."""
        try:
            copy = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open as long as the source
            try:
                self._copy_to(copy)
            except BaseException:
                with suppress(OSError):
                    copy.close()
                raise
        except OSError as error:
            message = f"`{self.path}` cannot be copied to a temporary file: {(error.strerror or str(error)).lower()}"
            helps = ("save it to a file first, or set TMPDIR to a folder with more room",)
            raise InputError(Diagnostic("E302", message, helps=helps)) from None
        weakref.finalize(self, copy.close)
        # The name of a pipe does not say whether it is compressed.
        return Opening(cast(io.FileIO, copy.raw), compressed=copy.read(len(_GZIP)) == _GZIP)

    def _copy_to(self, copy: IO[bytes]) -> None:
        if self.path == STANDARD_INPUT:
            copy.writelines(chunks(standard_input()))
        else:
            with _open(self.path) as pipe:
                copy.writelines(chunks(pipe))
        # Seeking writes the buffer, so if the disk is full, it fails here.
        copy.seek(0)


def version_of(path: Path, state: os.stat_result) -> FileVersion:
    """The version of a file by its absolute name, since a program may go to another folder."""
    return FileVersion(path.absolute(), state.st_size, state.st_mtime_ns, (state.st_dev, state.st_ino))


def changed(path: Path) -> InputError:
    helps = ("begin again when no other program writes to it",)
    return InputError(Diagnostic("E305", "the file has been changed while it was read", Place(str(path)), helps=helps))


def damaged(origin: str, reason: str) -> InputError:
    return InputError(Diagnostic("E305", "the file cannot be read", Place(origin), notes=(reason[:1].lower() + reason[1:],)))


class Opening:
    """An opened file. Arrow reads ahead in threads of its own, so each reader keeps its own place in the file."""

    def __init__(self, file: io.FileIO, *, compressed: bool) -> None:
        self._file, self._lock = file, Lock()
        self.compressed = compressed

    def reader(self) -> io.BufferedReader:
        """The bytes of the file, from the first."""
        return io.BufferedReader(_Reader(self._file, self._lock))


class _Reader(io.RawIOBase):
    def __init__(self, file: io.FileIO, lock: Lock) -> None:
        self._file, self._lock, self._place = file, lock, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        with self._lock:
            self._file.seek(self._place)
            count = self._file.readinto(buffer)
        self._place += count
        return count

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset += self._place
        elif whence == io.SEEK_END:
            with self._lock:
                offset += self._file.seek(0, io.SEEK_END)
        self._place = offset
        return offset


def _open(path: Path) -> io.FileIO:
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(unreadable(path, error)) from None


def chunks(pipe: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a pipe as they come. We wait in short steps: if Ctrl-C came just before a read that has to wait,
    Python would hear it only when that read ends."""
    read = getattr(pipe, "read1", pipe.read)
    while True:
        while not _has_bytes(pipe):
            pass
        if not (chunk := read(_CHUNK)):
            return
        yield chunk


def _has_bytes(pipe: IO[bytes]) -> bool:
    """Waits a little, and says whether a pipe has bytes or has ended. True if this system cannot tell."""
    try:
        poll = select.poll()
        poll.register(pipe.fileno(), select.POLLIN)
    except (AttributeError, OSError):  # Windows has no `poll`, and a replacement for standard input has no file number
        return True
    return bool(poll.poll(_POLL))


def standard_input() -> IO[bytes]:
    """Standard input, for the first caller; InputError for any other."""
    global _spent
    if sys.stdin is None:
        raise InputError(Diagnostic("E302", "there is no standard input"))
    if sys.stdin is _spent:
        raise InputError(_asked_twice("standard input"))
    _spent = sys.stdin
    return sys.stdin.buffer


def _asked_twice(what: str) -> Diagnostic:
    helps = ("give it to one source, and files to the others",)
    return Diagnostic("E327", f"{what} is given twice, but can be read only once", helps=helps)


def unreadable(path: Path, error: OSError | ValueError) -> Diagnostic:
    return Diagnostic("E302", f"`{path}` may not be read: {(getattr(error, 'strerror', None) or str(error)).lower()}")


def _missing(path: Path) -> Diagnostic:
    """The problem of a missing path, with the neighbour that the user may have meant."""
    helps = meant_file(path) if path.parent.is_dir() else (f"there is no folder `{path.parent}` either",)
    return Diagnostic("E301", f"there is no file or folder `{path}`", helps=helps)
