"""Turns text into tokens, one statement at a time. A cursor is a place among them, and describes the problem of a token that does
not fit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from sys import intern
from typing import NamedTuple, TypeVar

from rulescore.errors import Diagnostic, Source, Span, did_you_mean, ticked

_Item = TypeVar("_Item")

RESERVED = frozenset({"false", "true", "not", "and", "or", "in", "let"})
"""Words that stand for themselves only when quoted."""

DECLARATION_WORDS = frozenset({"incompatible", "functional", "pca", "closed", "refute", "extract", "predicate", "define"})
"""Words that open a declaration; anywhere else, and before `(` or `:`, they are ordinary names."""


CHECK_WORDS = frozenset({"not", "unique", "in", "between", "matches", "references", "depends", "ordered"})
"""Words behind columns of a table that say what is checked; `not` stands before `null`."""


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
    """Vowel signs and accents. Many scripts need them to write words, and `\\w` leaves them out."""
    alphabets = chain(range(0x300, 0x3100), range(0xA000, 0xAC00))  # the ideographs between them have no such marks
    return "".join(c for c in map(chr, alphabets) if unicodedata.category(c) in {"Mn", "Mc"})


_BLANK = r"[\s\ufeff]"  # a byte order mark counts as white space
_LETTER = r"[^\W\d]"
_LETTERS = rf"[\w{_combining_marks()}]"
WORD = rf"{_LETTER}{_LETTERS}*+"
"""The pattern of a word, in any script."""
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATE_LIKE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
# The common symbols come first, because the order of alternatives decides how long a large file takes to read.
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

_IDENTIFIER = re.compile(WORD)
PARAMETER = re.compile(rf"\${WORD}")
_DOTTED = re.compile(rf"{WORD}\.{WORD}")
# The full stop of `a.b` does not end a statement.
_TOKEN = re.compile(
    rf"""{_BLANK}*(?:\#[^\n]*{_BLANK}*)*(?:
      (?P<symbol>{_SYMBOL})
    | (?P<word>{WORD})(?!\.\$?{_LETTER})
    | (?P<dotted>\$?{WORD}(?:\.\$?{WORD})+)
    | (?P<quoted>"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*" | `[^`\\\r\n]*(?:\\[^\r\n][^`\\\r\n]*)*`)
    | (?P<unterminated>["`][^\r\n]*)
    | (?P<variable>\?{_LETTERS}+)
    | (?P<parameter>\${WORD})
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
    """The tokens of each statement. The last token is a full stop; or `end`, for text behind the last full stop; or an
    `unterminated` quotation that seems to have swallowed the full stop."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(source.text):
        group = match.lastgroup or "unknown"
        text = match[group]
        kind = _KINDS.get(text) or (text if group == "symbol" else group)
        # We do not call Token(…), because its constructor would take a fifth of the time for a large file.
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
    """Whether a name is a table and an attribute, `sale.price`. A predicate may have such a name without quotes."""
    return _DOTTED.fullmatch(name) is not None


def is_variable_word(word: str) -> bool:
    """Whether a word is a variable if it stands for a term."""
    return word[0].isupper() or (word[0] == "_" and len(word) > 1)


_POWER = "a power is written `power(X, 2)`"
_ARROW = "a rule is written with its head first: `head <- body`"
_EQUIVALENCE = ("an equivalence", "write one rule for each direction")
_LIST = ("a list", "a set of constants stands behind `in`: `X in {a, b}`")

FOREIGN = {
    "<->": _EQUIVALENCE,
    "<=>": _EQUIVALENCE,
    "[": _LIST,
    "**": ("the operator `**`", _POWER),
    "^": ("the operator `^`", _POWER),
}
"""Symbols of things that the language does not have, what they are, and what to do instead."""

SYMBOLS = {
    "!": "negation is written `not`, as in `not p(X)`",
    "~": "negation is written `not`, as in `not p(X)`",
    "==": "equality is written `=`",
    "=<": "at most is written `<=`",
    "&&": "conditions are joined by `,` or `and`",
    "||": "alternatives are joined by `or`",
    ";": "alternatives are joined by `or`; a statement ends with a full stop",
    "%": "a comment begins with `#`; the remainder of a division is written `X mod Y`",
    "//": "a comment begins with `#`; a division without remainder is written `floor(X / Y)`",
    "->": _ARROW,
    "=>": f"{_ARROW}; at least is written `>=`",
    "⇐": "the arrow between head and body is `<-`; at most is written `<=`",
    "{": "a set of constants stands behind `in`: `X in {a, b}`",
}

WORDS = {
    "if": "the arrow between head and body is `<-`, with the head on its left",
    "then": _ARROW,
    "implies": _ARROW,
    "iff": "write one rule for each direction",
    "where": "conditions are joined by `,` or `and`",
    "but": "conditions are joined by `,` or `and`",
    "xor": "write `(p(X) or q(X)) and not (p(X) and q(X))`",
    "is": "equality is written `=`",
    "exists": "a variable under `not` that occurs nowhere else means some value, as `_` does",
    "forall": "a rule holds for all values of its variables as it is",
    "between": "write two comparisons: `1 <= X and X <= 9`",
    "like": 'write `starts_with(X, "A")`, `ends_with(X, "A")` or `contains(X, "A")`',
    "div": "a division without remainder is written `floor(X / Y)`",
}

FUNCTIONS = {
    "average": "avg",
    "mean": "avg",
    "total": "sum",
    "number": "count",
    "minimum": "min",
    "maximum": "max",
    "least": "min",
    "greatest": "max",
    "absolute": "abs",
    "log": "ln",
    "log10": "ln",
    "pow": "power",
    "ceiling": "ceil",
    "len": "length",
    "strlen": "length",
    "lowercase": "lower",
    "uppercase": "upper",
    "trunc": "floor",
    "int": "floor",
}
"""Names that functions and aggregates have elsewhere."""


NAME_KINDS = frozenset({"word", "quoted"})
_HEAD_OPENERS = NAME_KINDS | {"dotted", "variable", "parameter", "number", "false", "⊥", "not", "("}

DEEPEST = 100
"""How far a condition may be nested, so no stage after this one runs out of stack."""

_CURLY_QUOTES = frozenset("“”„‟«»‘’‚‛'´′″＂")


class StatementError(Exception):
    """The statement cannot be read further. Reading resumes at the token `resume`, or after the next full stop."""

    def __init__(self, problem: Diagnostic, resume: int | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.resume = resume


class Cursor:
    """Never passes the last token, which is a full stop or cannot be part of a statement."""

    __slots__ = (
        "begin",
        "depth",
        "height",
        "in_head",
        "index",
        "keys",
        "last_arrow",
        "parameters",
        "peak",
        "problems",
        "source",
        "token",
        "tokens",
    )

    def __init__(self, source: Source, tokens: list[Token], problems: list[Diagnostic]) -> None:
        self.source = source
        self.tokens = tokens
        self.problems = problems
        self.index = 0
        self.token = tokens[0]
        # Where the last condition of the latest list begins, as the number of its first token.
        self.begin = 0
        # A comma joins no conditions in a head.
        self.in_head = False
        self.parameters: tuple[str, ...] = ()
        # Checks of columns need the keys of tables.
        self.keys: Mapping[str, tuple[str, ...]] = {}
        # The last `<-` among the tokens, which `has_arrow` looks for once.
        self.last_arrow: int | None = None
        # The number of open brackets, the height of the tree of the last expression, and the greatest height so far.
        self.depth = self.height = self.peak = 0

    def jump(self, index: int) -> None:
        self.index = index
        self.token = self.tokens[index]

    def move(self, index: int) -> None:
        """Moves to the beginning of a statement."""
        self.jump(index)
        self.in_head = False
        self.parameters = ()
        self.depth = 0

    def advance(self) -> Token:
        """Passes the token and returns it."""
        token = self.token
        self.index += 1
        self.token = self.tokens[self.index]
        return token

    def expect(self, kind: str, expected: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected(expected)
        return self.advance()

    def several(self, read: Callable[[Cursor], _Item]) -> list[_Item]:
        """One item or more, with commas between them. Leaves the cursor behind the last."""
        items = [read(self)]
        while self.token.kind == ",":
            self.advance()
            items.append(read(self))
        return items

    @property
    def following(self) -> Token:
        """The next token. After the last token, this is the last token again."""
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def span_from(self, start: int) -> Span:
        """From an offset to the end of the token passed last."""
        last = self.tokens[self.index - 1]
        return Span(self.source, start, last.end)

    def token_span(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def enter(self) -> None:
        """Opens a level of nesting, which `leave` closes."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._too_deep()

    def leave(self) -> None:
        self.depth -= 1

    def grow(self, height: int) -> None:
        """Records the height of the expression read last, as a tree."""
        self.height = height
        self.peak = max(self.peak, height)
        if height > DEEPEST:
            raise self._too_deep()

    def _too_deep(self) -> StatementError:
        message = f"the condition is nested more than {DEEPEST} deep"
        advice = "name a part of it with `let`, or write several rules"
        return self.failure("E122", message, self.token_span(self.token), help=advice)

    def report(self, code: str, message: str, span: Span, *, label: str = "", note: str = "", help: str = "") -> None:
        """Records a problem that does not keep the rest of the statement from being read."""
        self.problems.append(_diagnostic(code, message, span, label, note, help))

    def failure(
        self, code: str, message: str, span: Span, *, label: str = "", note: str = "", help: str = "", resume: int | None = None
    ) -> StatementError:
        return StatementError(_diagnostic(code, message, span, label, note, help), resume)

    def finish(self, expected: str) -> None:
        """Raises unless the statement is complete: a full stop is next."""
        if self.token.kind == ".":
            return
        if self.token.kind == "end" or self.at_statement():
            raise self.missing_full_stop(self.index)
        raise self.unexpected(expected)

    def at_declaration(self) -> bool:
        token = self.token
        return token.kind == "word" and token.text in DECLARATION_WORDS and self.following.kind not in {"(", ":", "<-"}

    def at_template(self) -> bool:
        return self.token.text == "for" and self.following.kind == "parameter"

    def at_check(self) -> bool:
        """Whether a check of columns stands here: `sale.price not null`, `sale(start, stop) ordered`."""
        index = self.index + 1
        # If a template fills in a column, it is a quoted name.
        if self.token.kind != "dotted" and not (self.token.kind == "quoted" and self.following.text in CHECK_WORDS):
            if self.token.kind not in NAME_KINDS or self.following.kind != "(" or self.has_arrow():
                return False
            index += 1
            while self.tokens[index].kind in NAME_KINDS | {","}:
                index += 1
            if self.tokens[index].kind != ")":
                return False
            index += 1
        word, following = self.tokens[index], self.tokens[min(index + 1, len(self.tokens) - 1)]
        return word.kind in {"word", "not", "in"} and word.text in CHECK_WORDS and (word.kind != "not" or following.text == "null")

    def at_statement(self) -> bool:
        """Whether a new statement seems to begin here: an annotation, a declaration, a template, a check, or what may open a head
        with an arrow further on."""
        if self.token.kind == "@" or self.at_declaration() or self.at_template() or self.at_check():
            return True
        return self.token.kind in _HEAD_OPENERS and self.has_arrow()

    def has_arrow(self) -> bool:
        """Whether an arrow stands further on in the statement."""
        if self.last_arrow is None:
            self.last_arrow = max((number for number, token in enumerate(self.tokens) if token.kind == "<-"), default=-1)
        return self.index < self.last_arrow

    def missing_full_stop(self, index: int) -> StatementError:
        """The problem that the statement should have ended before the token at `index`. Reading resumes there."""
        token, last = self.tokens[index], self.tokens[index - 1]
        start = last.start if last.kind == "," else last.end
        ending = token.kind == "end"
        return self.failure(
            "E101",
            "a full stop is missing at the end of the text" if ending else f"a full stop is missing before `{token.text}`",
            Span(self.source, start, start + 1),
            label="expected `.`",
            note="every rule and every declaration ends with a full stop",
            resume=None if ending else index,
        )

    def unexpected(self, expected: str, *, operand: bool = False, help: str = "") -> StatementError:
        """The problem that a token is not what we expected. `operand`: a name or a term could stand here. `help` replaces the
        advice for the token."""
        token = self.token
        mistake = self._mistake(token)
        if mistake is not None:
            return mistake
        if token.kind == "@" and self.index:
            return self.missing_full_stop(self.index)
        if operand and token.kind in RESERVED:
            return self._must_be_quoted(token, f"`{token.text}` is a reserved word")
        foreign = FOREIGN.get(token.kind)
        if foreign is not None and not help:
            what, advice = foreign
            message = f"{what} is not part of the rule language"
            return self.failure("E101", message, self.token_span(token), label=f"expected {expected}", help=advice)
        advice = help or SYMBOLS.get(token.kind, "")
        if token.kind == "word" and not help:
            word = token.text.lower()
            advice = f"did you mean `{word}`?" if word in RESERVED else WORDS.get(word, "")
        span = self.token_span(token)
        return self.failure("E101", f"expected {expected}, found {_quoted(token)}", span, label=f"expected {expected}", help=advice)

    def _mistake(self, token: Token) -> StatementError | None:
        match token.kind:
            case "unterminated":
                mark = token.text[0]
                return self.failure(
                    "E102",
                    "a quotation is not closed on its line",
                    self.token_span(token),
                    label="begins here",
                    note="a line break inside quotes is written `\\n`",
                    help=f"close it with {mark}" if mark == '"' else "close it with a backtick",
                )
            case "unknown":
                return self._unknown_character(token)
            case "malformed":
                return self.failure(
                    "E105",
                    f"`{token.text}` is neither a number nor a date nor a name",
                    self.token_span(token),
                    note="numbers are written `12`, `-0.5` or `1e9`, dates `2020-01-31`, date-times `2020-01-31T12:30:00`; "
                    "a name does not begin with a digit",
                    help=f'to use it as text, quote it: `"{token.text}"`',
                )
            case "dotted" if "$" not in token.text:
                return self._must_be_quoted(token, f"`{token.text}` contains a full stop")
            case "parameter" | "dotted" if token.text not in self.parameters:
                return self._unknown_parameter(token)
            case _:
                return None

    def _unknown_character(self, token: Token) -> StatementError:
        code = f"U+{ord(token.text):04X}"
        shown = f"`{token.text}` ({code})" if token.text.isprintable() and not token.text.isascii() else f"`{token.text}`"
        advice = (
            'use straight double quotes: `"New York"`' if token.text in _CURLY_QUOTES else "a name with such characters is quoted"
        )
        return self.failure(
            "E102",
            f"unknown character {shown if token.text.isprintable() else code}",
            self.token_span(token),
            help=advice,
        )

    def _unknown_parameter(self, token: Token) -> StatementError:
        if not self.parameters:
            message, advice = f"`{token.text}` is a parameter, but this is not a template", "a template begins `for $p in {a, b}:`"
        else:
            message = f"the template has no parameter `{token.text}`"
            advice = did_you_mean(token.text, self.parameters) or ""
        note = f"its parameters are {ticked(self.parameters)}" if self.parameters else ""
        return self.failure("E123", message, self.token_span(token), note=note, help=advice)

    def _must_be_quoted(self, token: Token, why: str) -> StatementError:
        dotted = token.kind == "dotted"
        return self.failure(
            "E102",
            f"{why} and has to be quoted to be used as a name",
            self.token_span(token),
            note="a full stop that ends a statement is followed by a space or a new line" if dotted else "",
            help=f'write `"{token.text}"`',
        )


def _diagnostic(code: str, message: str, span: Span, label: str, note: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, span.place(), label, (note,) if note else (), (help,) if help else ())


def _quoted(token: Token) -> str:
    return f"`{token.text}`" if token.text else "the end of the text"
