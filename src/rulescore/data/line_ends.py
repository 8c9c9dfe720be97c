"""Bytes of a text file without the empty lines at its end."""

from __future__ import annotations

import io
from typing import cast

import pyarrow as pa

_ENDS = b"\r\n"


class TrimmedStream(io.RawIOBase):
    """Passes bytes on, but holds line ends back until something follows them; the last row keeps its own."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream
        self._held = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while data := cast(bytes, self._stream.read(size)):
            body = data.rstrip(_ENDS)
            if body:
                held, self._held = self._held, data[len(body) :]
                return held + body if held else body
            self._held += data
        last, self._held = self._held, b""
        return b"\n" if last else b""

    def close(self) -> None:
        self._stream.close()
        super().close()
