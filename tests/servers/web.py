"""A real server on this machine that can be told to misbehave."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What the server has, how it behaves, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    address: str = ""
    status: int | None = None
    etag: str | None = '"first"'
    ranges: bool = True
    shifted: int = 0
    length: bool = True
    stop_after: int | None = None
    ending: str = "close"
    silent: bool = False
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    def header(self, name: str) -> list[str | None]:
        """One header of every request."""
        return [headers.get(name) for _, headers in self.asked]


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            site.asked.append((name, dict(self.headers)))
            if site.silent:
                site.released.wait()
            elif name in site.redirects:
                self._begin(302, {"Location": site.redirects[name]})
            elif site.status is not None or name not in site.files:
                self._begin(site.status or 404)
            else:
                self._file(site.files[name])

        def _file(self, content: bytes) -> None:
            start = self._start()
            if start > 0 and start >= len(content):
                self._begin(416)
                return
            rest = content[start:]
            headers = {"ETag": site.etag} if site.etag else {}
            if start:
                headers["Content-Range"] = f"bytes {start + site.shifted}-{len(content) - 1}/{len(content)}"
            if site.length:
                headers["Content-Length"] = str(len(rest))
            self._begin(206 if start else 200, headers)
            if site.stop_after is None:
                self.wfile.write(rest)
                return
            self.wfile.write(rest[: site.stop_after])
            self.wfile.flush()
            if site.ending == "stall":
                site.released.wait()
            elif site.ending == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        def _start(self) -> int:
            wanted, mark = self.headers.get("Range"), self.headers.get("If-Range")
            if not site.ranges or wanted is None or (mark is not None and mark != site.etag):
                return 0
            return int(wanted.removeprefix("bytes=").removesuffix("-"))

        def _begin(self, status: int, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            """Tests say themselves what happens."""

    return Handler


@contextmanager
def running_site() -> Iterator[Site]:
    site = Site()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(site)) as server:
        site.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02))
        thread.start()
        try:
            yield site
        finally:
            site.released.set()
            server.shutdown()
            thread.join()
