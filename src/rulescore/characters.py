"""Names and constants as a person can see them: nothing of them steers a terminal, hides, or turns a line around."""

from __future__ import annotations

import re

# Drawn as nothing, although Unicode counts them as letters and accents.
_INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")


def is_hidden(character: str) -> bool:
    """Whether it is a control, bidirectional or zero-width character, a separator other than the blank, or none at all."""
    return not character.isprintable() or _UNSEEN.match(character) is not None


def visible(text: str, keep: str = "") -> str:
    """Text on one line in which characters that cannot be seen are spelt out: `\\x1b`, `\\u202e`. Those of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return _NOT_ASCII.sub(lambda found: _spelt(found[0]) if is_hidden(found[0]) and found[0] not in keep else found[0], text)


def visible_lines(text: str) -> str:
    """The same for text of several lines."""
    return visible(text, keep="\n\t")


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
