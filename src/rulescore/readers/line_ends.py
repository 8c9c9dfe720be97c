"""Bytes of a text file without the empty lines at its end."""

from __future__ import annotations

import io

import pyarrow as pa

_ENDS = b"\r\n"


class TrimmedStream(io.RawIOBase):
    """Passes bytes on, but holds back all line ends in a row except the first until something follows them."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream
        self._held = b""
        self._ready = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return self.readall()
        # Held line ends can make a block longer than `size`, and Arrow has no room for more than that.
        found = self._ready or self._next(size)
        self._ready = found[size:]
        return found[:size]

    def _next(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        while data:
            body = data.rstrip(_ENDS)
            if body:
                ends = data[len(body) :]
                first = _ENDS if ends.startswith(_ENDS) else ends[:1]
                held, self._held = self._held, ends[len(first) :]
                return held + body + first if held or self._held else data
            self._held += data
            data = self._stream.read(size)
        return b""

    def close(self) -> None:
        self._stream.close()
        super().close()
