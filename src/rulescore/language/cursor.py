"""A place among the tokens of one statement, and what is said when the token there does not fit."""

from __future__ import annotations

from rulescore.errors import Diagnostic, Source, Span
from rulescore.language.tokens import DECLARATION_WORDS, RESERVED, Token

NAME_KINDS = frozenset({"word", "quoted"})

_DISJUNCTION = ("a disjunction", "write a rule of its own for each alternative")
_ORDER = ("a comparison of order", "terms are compared by `=` and `!=` only")
_ARITHMETIC = ("arithmetic", "put the computed value into the data, as a fact of its own")
_SET = ("a set or list", "write a rule of its own for each value, or put the values into the data as facts of a predicate")
_NOT_OPERANDS = {
    "{": _SET,
    "[": _SET,
    "let": ("a definition with `let`", "write the term itself where it is used"),
}
_NOT_OPERATORS = {
    "or": _DISJUNCTION,
    "<": _ORDER,
    ">": _ORDER,
    "<=": _ORDER,
    ">=": _ORDER,
    "+": _ARITHMETIC,
    "-": _ARITHMETIC,
    "*": _ARITHMETIC,
    "/": _ARITHMETIC,
    "**": _ARITHMETIC,
    "^": _ARITHMETIC,
    "in": _SET,
    "<->": ("an equivalence", "write one rule for each direction"),
    "<=>": ("an equivalence", "write one rule for each direction"),
}
_FUNCTION = (
    "a function or an aggregate",
    "an argument is a variable or a constant; a constant with other characters is quoted",
)
_PARENTHESES = ("a condition in parentheses", "a body is a list of atoms and comparisons, joined by `,`")
_NAMED_ARGUMENT = ("an argument with a name", "give the arguments in order, as in `p(X, Y)`")
_ADVICE = {
    "!": "negation is written `not`, as in `not p(X)`",
    "~": "negation is written `not`, as in `not p(X)`",
    "==": "equality is written `=`",
    "&&": "conditions are joined by `,` or `and`",
    "%": "a comment begins with `#`",
    "//": "a comment begins with `#`",
    "->": "a rule is written with its head first: `head <- body`",
    "=>": "a rule is written with its head first: `head <- body`",
}
_CURLY_QUOTES = frozenset("“”„‟«»‘’‚‛'´′″＂")


class StatementError(Exception):
    """The statement cannot be read further. Reading resumes at the token `resume`, or after the next full stop."""

    def __init__(self, problem: Diagnostic, resume: int | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.resume = resume


class Cursor:
    """The last of the tokens is never passed: it is a full stop or cannot be part of a statement."""

    __slots__ = ("index", "problems", "source", "token", "tokens")

    def __init__(self, source: Source, tokens: list[Token], problems: list[Diagnostic]) -> None:
        self.source = source
        self.tokens = tokens
        self.problems = problems
        self.index = 0
        self.token = tokens[0]

    def move(self, index: int) -> None:
        self.index = index
        self.token = self.tokens[index]

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

    @property
    def following(self) -> Token:
        """The token behind this one; behind the last one, the last again."""
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def span_from(self, start: int) -> Span:
        """From an offset to the end of the token passed last."""
        last = self.tokens[self.index - 1]
        return Span(self.source, start, last.start + len(last.text))

    def token_span(self, token: Token) -> Span:
        return Span(self.source, token.start, token.start + len(token.text))

    def report(self, code: str, message: str, span: Span, *, label: str = "", note: str = "", help: str = "") -> None:
        """Records a problem that does not keep the rest of the statement from being read."""
        self.problems.append(_diagnostic(code, message, span, label, note, help))

    def failure(
        self, code: str, message: str, span: Span, *, label: str = "", note: str = "", help: str = "", resume: int | None = None
    ) -> StatementError:
        return StatementError(_diagnostic(code, message, span, label, note, help), resume)

    def finish(self, expected: str) -> None:
        """Claims that the statement is complete: a full stop is next."""
        if self.token.kind == ".":
            return
        if self.token.kind == "end" or self.at_statement():
            raise self.missing_full_stop(self.index)
        raise self.unexpected(expected)

    def at_declaration(self) -> bool:
        token = self.token
        return token.kind == "word" and token.text in DECLARATION_WORDS and self.following.kind not in {"(", ":", "<-"}

    def at_statement(self) -> bool:
        """Whether a new statement seems to begin here: an annotation, a declaration, or a name with an arrow further on."""
        if self.token.kind == "@" or self.at_declaration():
            return True
        is_head = self.token.kind in NAME_KINDS or self.token.kind in {"false", "⊥"}
        return is_head and any(token.kind == "<-" for token in self.tokens[self.index + 1 :])

    def missing_full_stop(self, index: int) -> StatementError:
        """The statement should have ended before the token at `index`, which is where reading resumes."""
        token, last = self.tokens[index], self.tokens[index - 1]
        start = last.start if last.kind == "," else last.end
        ending = token.kind == "end"
        return self.failure(
            "E106",
            "a full stop is missing at the end of the text" if ending else f"a full stop is missing before `{token.text}`",
            Span(self.source, start, start + 1),
            label="expected `.`",
            note="every rule and every declaration ends with a full stop",
            resume=None if ending else index,
        )

    def unexpected(self, expected: str, *, operand: bool = False, help: str = "") -> StatementError:
        """Says what was expected and what was found; `operand` where a name or a term could stand. A `help` that is given goes
        before what the token would suggest."""
        token = self.token
        mistake = self._mistake(token)
        if mistake is not None:
            return mistake
        if token.kind == "@" and self.index:
            return self.missing_full_stop(self.index)
        if operand and token.kind in RESERVED and (token.kind != "let" or self.following.kind in {"(", ",", ")"}):
            return self._must_be_quoted(token, f"`{token.text}` is a reserved word")
        foreign = self._foreign(token, operand)
        if foreign is not None and not help:
            what, advice = foreign
            message = f"{what} is not part of the rule language"
            return self.failure("E110", message, self.token_span(token), label=f"expected {expected}", help=advice)
        advice = help or _ADVICE.get(token.kind, "")
        if token.kind == "word" and token.text.lower() in RESERVED:
            advice = f"did you mean `{token.text.lower()}`?"
        span = self.token_span(token)
        return self.failure("E101", f"expected {expected}, found {_found(token)}", span, label=f"expected {expected}", help=advice)

    def _foreign(self, token: Token, operand: bool) -> tuple[str, str] | None:
        if operand:
            return _PARENTHESES if token.kind == "(" else _NOT_OPERANDS.get(token.kind)
        if token.kind == "(" and self.tokens[self.index - 1].kind in NAME_KINDS:
            return _FUNCTION
        return _NAMED_ARGUMENT if token.kind == ":" else _NOT_OPERATORS.get(token.kind)

    def _mistake(self, token: Token) -> StatementError | None:
        match token.kind:
            case "unterminated":
                mark = token.text[0]
                return self.failure(
                    "E103",
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
                    note="numbers are written `12`, `-0.5` or `1e9`, dates `2020-01-31`; a name does not begin with a digit",
                    help=f'to use it as text, quote it: `"{token.text}"`',
                )
            case "dotted":
                return self._must_be_quoted(token, f"`{token.text}` contains a full stop")
            case _:
                return None

    def _unknown_character(self, token: Token) -> StatementError:
        code = f"U+{ord(token.text):04X}"
        shown = f"`{token.text}` ({code})" if token.text.isprintable() and not token.text.isascii() else f"`{token.text}`"
        advice = 'use straight quotes: `"New York"`' if token.text in _CURLY_QUOTES else "a name with such characters is quoted"
        return self.failure(
            "E102",
            f"unknown character {shown if token.text.isprintable() else code}",
            self.token_span(token),
            help=advice,
        )

    def _must_be_quoted(self, token: Token, why: str) -> StatementError:
        dotted = token.kind == "dotted"
        return self.failure(
            "E111",
            f"{why} and has to be quoted to be used as a name",
            self.token_span(token),
            note="a full stop that ends a statement is followed by a space or a new line" if dotted else "",
            help=f'write `"{token.text}"`',
        )


def _diagnostic(code: str, message: str, span: Span, label: str, note: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, span.place(), label, (note,) if note else (), (help,) if help else ())


def _found(token: Token) -> str:
    return f"`{token.text}`" if token.text else "the end of the text"
