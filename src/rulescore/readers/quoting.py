"""A check of the quotes in a delimited file, made while the bytes stream by.

Arrow's reader takes `"a"b` for `ab`, and an unclosed quote for a field that runs to the end of the file: rows would vanish
without a word. So we look at the bytes before Arrow gets them.
"""

from __future__ import annotations

import io
import re

from rulescore.readers.lines import LONGEST_FIELD


class QuoteCheckedStream(io.RawIOBase):
    """Passes bytes on while quotes are in order; after the first that is not, the stream ends and `malformed` is true."""

    def __init__(self, stream: io.RawIOBase, delimiter: str) -> None:
        self._stream = stream
        self._delimiter = delimiter.encode()
        mark = re.escape(self._delimiter)
        field = rb'(?:[^"%b\r\n][^%b\r\n]*+|"[^"]*+(?:""[^"]*+)*+")?+' % (mark, mark)
        self._fields = re.compile(rb"(?:%b[%b\r\n])*+" % (field, mark))
        self._whole = re.compile(field)
        self._part = re.compile(rb'[^"%b\r\n][^%b\r\n]*+|"[^"]*+(?:""[^"]*+)*+"?+|' % (mark, mark))
        self._carry = b""
        self.malformed = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = b"" if self.malformed else self._stream.read(size) or b""
        self.malformed = self.malformed or not self._in_order(data)
        return b"" if self.malformed else data

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _in_order(self, data: bytes) -> bool:
        if not data:
            return self._whole.fullmatch(self._carry) is not None
        text = self._carry + data
        if b'"' not in text:
            self._carry = text[1 + max(text.rfind(end) for end in (self._delimiter, b"\n", b"\r")) :]
            return True
        match = self._fields.match(text)
        assert match is not None  # the pattern matches the empty text
        self._carry = text[match.end() :]
        return len(self._carry) <= LONGEST_FIELD and self._part.fullmatch(self._carry) is not None
