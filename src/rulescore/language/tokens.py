"""Text to tokens, one statement at a time.

One regular expression reads everything, mistakes included: a mistake is a token of its own kind, so that the parser can say
what is wrong with the statement around it in view. A statement is the tokens up to its full stop, which is also where reading
resumes after a problem.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from sys import intern
from typing import NamedTuple

from rulescore.errors import Source

RESERVED = frozenset({"false", "true", "not", "and", "or", "in", "let"})
"""Words that stand for themselves only when quoted."""

DECLARATION_WORDS = frozenset({"incompatible", "functional", "pca", "closed", "refute", "extract", "predicate"})
"""Words that open a declaration; anywhere else, and before `(` or `:`, they are ordinary names."""


class Token(NamedTuple):
    """`kind` is the symbol or reserved word itself, one spelling for all (`:-` is `<-`), or a kind whose text varies: `word`,
    `dotted` (`sale.price`), `quoted`, `variable` (with a question mark), `parameter` (with a dollar sign), `number`, `date`,
    `moment` (a date-time), `end`; or the kind of a mistake: `unterminated`, `malformed`, `unknown`. A token that fills in a
    template's parameter has the parameter's `start` and `end`, whatever the length of its text."""

    kind: str
    text: str
    start: int
    end: int


def _combining_marks() -> str:
    """Vowel signs and accents, without which words of many scripts cannot be written; `\\w` leaves them out."""
    alphabets = chain(range(0x300, 0x3100), range(0xA000, 0xAC00))  # between them are ideographs, which have none
    return "".join(c for c in map(chr, alphabets) if unicodedata.category(c) in {"Mn", "Mc"})


_BLANK = r"[\s\ufeff]"  # a byte order mark counts as white space
_LETTER = r"[^\W\d]"
_LETTERS = rf"[\w{_combining_marks()}]"
_WORD = rf"{_LETTER}{_LETTERS}*+"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATE_LIKE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
# The common symbols first: the order of alternatives decides how long a large file takes to read.
_SYMBOL = r"[(),]|\.(?!\d)|<->|<=>|<[-=>]|:-|->|=[<=>]|>=|!=|&&|\|\||//|\*\*|[←→⇐⇒⊥∧∨¬≠≤≥:;\[\]{}@*/+\-=<>!&|^~%]"
_SPELLINGS = {
    ":-": "<-",
    "←": "<-",
    "→": "->",
    "⇒": "=>",
    "∧": "and",
    "&": "and",
    "∨": "or",
    "|": "or",
    "¬": "not",
    "≠": "!=",
    "<>": "!=",
    "≤": "<=",
    "≥": ">=",
}
_KINDS = {word: word for word in RESERVED} | _SPELLINGS

_IDENTIFIER = re.compile(_WORD)
PARAMETER = re.compile(rf"\${_WORD}")
_DOTTED = re.compile(rf"{_WORD}\.{_WORD}")
# The full stop of `a.b` does not end a statement.
_TOKEN = re.compile(
    rf"""{_BLANK}*(?:\#[^\n]*{_BLANK}*)*(?:
      (?P<symbol>{_SYMBOL})
    | (?P<word>{_WORD})(?!\.\$?{_LETTER})
    | (?P<dotted>\$?{_WORD}(?:\.\$?{_WORD})+)
    | (?P<quoted>"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*" | `[^`\\\r\n]*(?:\\[^\r\n][^`\\\r\n]*)*`)
    | (?P<unterminated>["`][^\r\n]*)
    | (?P<variable>\?{_LETTERS}+)
    | (?P<parameter>\${_WORD})
    | (?P<date>{_DATE})(?!\w)
    | (?P<moment>{_DATE}T{_TIME})(?!\w)
    | (?P<number>(?!{_DATE_LIKE})[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?!\w|\.[0-9])
    | (?P<malformed>{_DATE_LIKE}\w* | \.?\d+(?:\.\d+)?\w*)
    | (?P<end>\Z)
    | (?P<unknown>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


def statements(source: Source) -> Iterator[list[Token]]:
    """The tokens of each statement. The last token is a full stop, or `end` for what stands behind the last full stop, or an
    `unterminated` quotation that seems to have swallowed the full stop."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(source.text):
        group = match.lastgroup or "unknown"
        text = match[group]
        kind = _KINDS.get(text) or (text if group == "symbol" else group)
        # Not by Token(…): its constructor costs a fifth of the reading of a large file.
        start, end = match.span(group)
        tokens.append(tuple.__new__(Token, (kind, intern(text), start, end)))
        if kind == "." or (kind == "unterminated" and text.rstrip().endswith(".")):
            yield tokens
            tokens = []
        elif kind == "end":
            yield tokens
            return


def is_word(name: str) -> bool:
    """Whether a name can be written without quotes wherever only names are expected."""
    return _IDENTIFIER.fullmatch(name) is not None and name not in RESERVED and name != "_"


def is_dotted(name: str) -> bool:
    """Whether a name is a table and an attribute, `sale.price`, which a predicate may be without quotes."""
    return _DOTTED.fullmatch(name) is not None


def is_variable_word(word: str) -> bool:
    """Whether a word is a variable if it stands for a term."""
    return word[0].isupper() or (word[0] == "_" and len(word) > 1)
