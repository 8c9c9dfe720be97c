"""Files that users name, each opened once for a reading. What can be read only once, a pipe, is copied first."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, cast

from rulescore.errors import Diagnostic, InputError, Place, suggestion

STANDARD_INPUT = Path("/dev/stdin")
_GZIP = b"\x1f\x8b"

# Bytes that have been read from standard input do not come again.
_spent: object = None


def is_folder(path: Path) -> bool:
    """Whether a path names a folder. InputError for a path that can be neither read as a file nor as a folder."""
    if path == STANDARD_INPUT:
        return False
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise InputError(_missing(path) if isinstance(error, FileNotFoundError) else unreadable(path, error)) from None
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError(Diagnostic("E302", f"`{path}` is a device, not a file"))
    return stat.S_ISDIR(mode)


def is_standard_input(path: Path) -> bool:
    """Whether reading a path takes from standard input what nobody can read again: by its usual name, or as the same pipe."""
    try:
        return path == STANDARD_INPUT or (is_pipe(path) and os.path.samestat(os.fstat(0), path.stat()))
    except OSError:  # there is no standard input
        return False


def is_pipe(path: Path) -> bool:
    """Whether what is there can be read only once: standard input, or a pipe."""
    try:
        return path == STANDARD_INPUT or _is_stream(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def refuse_pipes_twice(paths: Iterable[Path]) -> None:
    """A pipe is read to its end: whoever opened it again would wait for somebody who writes once more."""
    seen: set[tuple[int, int] | None] = set()
    for path in filter(is_pipe, paths):
        # Standard input has several names, and need not be there.
        found = None if is_standard_input(path) else path.stat()
        pipe = None if found is None else (found.st_dev, found.st_ino)
        if pipe in seen:
            raise InputError(_asked_twice("standard input" if found is None else f"the pipe `{path}`"))
        seen.add(pipe)


def _is_stream(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class InputFile:
    """A file as often as it is needed, a pipe too: its bytes go to a temporary file when it is first opened."""

    def __init__(self, path: Path, *, lasting: bool = False) -> None:
        """`lasting`: several readings belong together, and a file that has been changed between them is refused."""
        self.path = path
        self._lasting = lasting
        self._version: tuple[int, ...] | None = None
        self._copy: Opening | None = None

    @contextmanager
    def opened(self) -> Iterator[Opening]:
        """The file for one reading: whoever replaces it meanwhile changes nothing of what is read."""
        if self._copy is not None:
            yield self._copy
        elif is_pipe(self.path):
            self._copy = self._copied()
            yield self._copy
        else:
            with _open(self.path) as file:
                self._refuse_another(file)
                yield Opening(file, compressed=self.path.suffix == ".gz")

    def _refuse_another(self, file: io.FileIO) -> None:
        found = os.fstat(file.fileno())
        version = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if self._lasting and version != (self._version or version):
            message = "the file has been changed while it was read"
            raise InputError(Diagnostic("E305", message, Place(str(self.path)), helps=("begin again",)))
        self._version = version

    def _copied(self) -> Opening:
        """A file of ours that nobody else sees, and that is gone when it is closed."""
        try:
            copy = tempfile.TemporaryFile()  # noqa: SIM115 - it lasts as long as the source
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
        # A pipe has no ending that tells how it is written.
        return Opening(cast(io.FileIO, copy.raw), compressed=copy.read(len(_GZIP)) == _GZIP)

    def _copy_to(self, copy: IO[bytes]) -> None:
        if self.path == STANDARD_INPUT:
            shutil.copyfileobj(standard_input(), copy, 1 << 20)
        else:
            with _open(self.path) as pipe:
                shutil.copyfileobj(pipe, copy, 1 << 20)
        # What is still in the buffer may find no room on the disk; seeking writes it.
        copy.seek(0)


class Opening:
    """An opened file. Arrow reads ahead in threads of its own, so that each reader has its own place in the file."""

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
            found = self._file.readinto(buffer)
        self._place += found
        return found

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


def standard_input() -> IO[bytes]:
    """Standard input, for the one who asks first."""
    global _spent
    if sys.stdin is None:
        raise InputError(Diagnostic("E302", "there is no standard input"))
    if sys.stdin is _spent:
        raise InputError(_asked_twice("standard input"))
    _spent = sys.stdin
    return sys.stdin.buffer


def _asked_twice(what: str) -> Diagnostic:
    helps = ("give it to one source, and files to the others",)
    return Diagnostic("E327", f"{what} is asked for twice, and can be read only once", helps=helps)


def unreadable(path: Path, error: OSError | ValueError) -> Diagnostic:
    return Diagnostic("E302", f"`{path}` may not be read: {(getattr(error, 'strerror', None) or str(error)).lower()}")


def _missing(path: Path) -> Diagnostic:
    """A path that is not there, with the neighbour it may have meant."""
    helps: tuple[str, ...] = ()
    if path.parent.is_dir():
        close = suggestion(path.name, [sibling.name for sibling in path.parent.iterdir()])
        helps = (f"did you mean `{path.with_name(close)}`?",) if close else ()
    else:
        helps = (f"there is no folder `{path.parent}` either",)
    return Diagnostic("E301", f"there is no file or folder `{path}`", helps=helps)
