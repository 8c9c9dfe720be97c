"""Downloads one file. We keep what has arrived and resume from there. It gets the file's name only if its digest is right.

Until then it is called `NAME.part`. Next to it lies the server's ETag, which identifies the version of the file.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from rulescore.datasets.catalogue import File
from rulescore.errors import Diagnostic, InputError
from rulescore.version import __version__

Listener = Callable[[str, int, int], None]
"""Called for each piece that arrives: the name of the file, how many bytes of it are here, and how many it has."""

_PIECE = 1 << 16
_SECONDS = 30.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_GO_ON = "the same command resumes the download"
_CHANGED = "we removed what came: fetch it again; if that does not help, something between here and the server changes the file"


@dataclass(frozen=True, slots=True)
class ArrivedPart:
    """What has arrived of a file."""

    path: Path
    mark: Path

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.mark.unlink(missing_ok=True)

    def headers(self) -> dict[str, str]:
        """Headers that request only the rest. If the server's file has changed meanwhile, the server must send all of it."""
        if not self.size:
            return {}
        mark = self.mark.read_text(encoding="utf-8") if self.mark.exists() else ""
        return {"Range": f"bytes={self.size}-"} | ({"If-Range": mark} if mark else {})


def download(url: str, file: File, target: Path, listener: Listener | None = None, *, timeout: float = _SECONDS) -> None:
    part = ArrivedPart(target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.etag"))
    with writing(target):
        if part.size > file.size:
            part.remove()
    if part.size < file.size:
        _receive(url, file, part, listener, timeout)
    with writing(target):
        _refuse_others(url, file, part)
        part.path.replace(target)
        part.remove()


def digest(path: Path) -> str:
    with path.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Context manager: reports an error of the file system with the path."""
    try:
        yield
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        helps = ("make room, or make the folder writable; XDG_CACHE_HOME names another place for the cache",)
        raise InputError(Diagnostic("E601", f"`{target}` cannot be written: {what}", helps=helps)) from error


def _receive(url: str, file: File, part: ArrivedPart, listener: Listener | None, timeout: float) -> None:
    with _response(url, part, timeout) as response:
        size = _start(response, part, url)
        if response.length is not None and size + response.length != file.size:
            part.remove()
            raise InputError(_wrong_size(url, file, f"{size + response.length:,}"))
        with writing(part.path):
            content = part.path.open("ab" if size else "wb", buffering=0)
            part.mark.write_text(_strong_mark(response), encoding="utf-8")
        with content:
            while piece := _piece(response, url, size, file):
                size += len(piece)
                if size > file.size:
                    part.remove()
                    raise InputError(_wrong_size(url, file, "more"))
                with writing(part.path):
                    _write(content, piece)
                if listener is not None:
                    listener(file.name, size, file.size)
    if size < file.size:
        raise InputError(_broken(url, size, file, "the server has closed the connection"))


def _write(content: IO[bytes], piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[content.write(rest) :]


def _response(url: str, part: ArrivedPart, timeout: float) -> HTTPResponse:
    """The server's response. If our part is longer than the server's file, we remove it and ask again."""
    headers = {"User-Agent": f"rulescore/{__version__}", "Accept-Encoding": "identity", **part.headers()}
    try:
        response: HTTPResponse = build_opener(_SafeRedirects).open(Request(url, headers=headers), timeout=timeout)
    except HTTPError as error:
        error.close()
        if error.code == 416 and part.size:
            # The server says that its file is shorter than our part.
            part.remove()
            return _response(url, part, timeout)
        if 300 <= error.code < 400:
            raise InputError(_elsewhere(url, "nowhere that can be followed")) from error
        raise InputError(_refusal(url, error)) from error
    except ValueError as error:  # only an address that a redirect leads to: our own are correct
        raise InputError(_elsewhere(url, "an address that cannot be read")) from error
    except (OSError, HTTPException) as error:
        raise InputError(_unreachable(url, error.reason if isinstance(error, URLError) else error, timeout)) from error
    return response


def _start(response: HTTPResponse, part: ArrivedPart, url: str) -> int:
    """The offset at which the response begins: 0 if the server cannot resume and sends everything."""
    if response.status != 206:
        return 0
    sent = response.headers.get("Content-Range", "")
    if not sent.startswith(f"bytes {part.size}-"):
        part.remove()
        raise InputError(Diagnostic("E756", f"we asked {url} for the rest of the file, and it sends another part: `{sent}`"))
    return part.size


def _strong_mark(response: HTTPResponse) -> str:
    """The ETag if it guarantees that a file is the same byte by byte; If-Range allows no other."""
    mark: str = response.headers.get("ETag", "")
    return mark if mark.startswith('"') else ""


def _piece(response: HTTPResponse, url: str, size: int, file: File) -> bytes:
    try:
        return response.read1(_PIECE)
    except (OSError, HTTPException) as error:
        reason = "nothing more came" if isinstance(error, TimeoutError) else "the connection was lost"
        raise InputError(_broken(url, size, file, reason)) from error


def _wrong_size(url: str, file: File, size: str) -> Diagnostic:
    notes = (f"`{file.name}` has {file.size:,} bytes, but the server sends {size}",)
    return Diagnostic("E756", f"what {url} sends is not `{file.name}`", notes=notes, helps=(_CHANGED,))


def _refuse_others(url: str, file: File, part: ArrivedPart) -> None:
    digest_here = digest(part.path)
    if digest_here != file.sha256:
        part.remove()
        notes = (f"SHA-256 should be {file.sha256}", f"it is              {digest_here}")
        raise InputError(Diagnostic("E756", f"what {url} sends is not `{file.name}`", notes=notes, helps=(_CHANGED,)))


class _SafeRedirects(HTTPRedirectHandler):
    """Follows redirects to addresses with https, and from one http server on this machine to another."""

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except ValueError:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        if not (urlsplit(newurl).scheme == "https" or (_is_local(req.full_url) and _is_local(newurl))):
            fp.close()
            raise InputError(_elsewhere(req.full_url, newurl))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in _LOOPBACK


def _elsewhere(url: str, target: str) -> Diagnostic:
    return Diagnostic("E756", f"{url} sends to {target}", notes=("we follow only addresses with https, and only a few in a row",))


def _refusal(url: str, error: HTTPError) -> Diagnostic:
    helps = {404: "the file is gone from there: a later version of rulescore may know its new address"}
    return Diagnostic(
        "E756",
        f"{url} gives no file: {error.code} {error.reason}".rstrip(),
        helps=(helps.get(error.code, "try again later"),),
    )


def _unreachable(url: str, error: BaseException | str, timeout: float) -> Diagnostic:
    host = urlsplit(url).hostname
    if isinstance(error, socket.gaierror):
        why = f"the name `{host}` cannot be looked up; is this machine offline?"
    elif isinstance(error, TimeoutError):
        why = f"no answer within {timeout:g} seconds"
    elif isinstance(error, ssl.SSLCertVerificationError):
        why = f"its certificate cannot be trusted: {error.verify_message}"
    else:
        why = (getattr(error, "strerror", None) or str(error) or "it gave no answer").lower()
    helps = ("on a machine without a network, copy the files into a folder and set RULESCORE_DATA to it",)
    return Diagnostic("E756", f"`{host}` cannot be reached: {why}", notes=(f"for {url}",), helps=helps)


def _broken(url: str, size: int, file: File, why: str) -> Diagnostic:
    notes = (f"{size:,} of {file.size:,} bytes of `{file.name}` are here and are kept",)
    return Diagnostic("E756", f"the download from {url} broke off: {why}", notes=notes, helps=(_GO_ON,))
