"""Prolog clauses, and what Popper prints: `f(A,B):- tail(A,C),f(C,B).` with `\\+`, `\\=`, atoms in quotes and comments by `%`.

Plain clauses are also in our own language, and we read them as such. We do not read lists, `;`, cuts and directives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rulescore.errors import Source, Span
from rulescore.language import rule_formats
from rulescore.language.syntax import Atom, Comparison, Condition, Constant, Not, Operator, Rule, Term, Variable, Wildcard

_TITLE = "Prolog"
_EXAMPLE = "f(A,B):- tail(A,C), \\+ empty(C), f(C,B)."
_LOG = re.compile(r"^(?:\*{4}.*|Precision:.*|\d\d:\d\d:\d\d .*)$", re.MULTILINE)
# A quote without an end takes the rest of the text, because a search for the end of each of many quotes would take long.
_COMMENT = re.compile(r"""'(?:[^'\\]|\\.|'')*+(?:'|\Z)|"[^"]*"|(%[^\n]*|/\*.*?\*/)""", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:(?P<variable>[A-Z_]\w*)|(?P<name>[a-z]\w*)|(?P<quoted>'(?:[^'\\]|\\.|'')*+')|(?P<text>"[^"]*")
    |(?P<number>-?\d+(?:\.\d+)?)|(?P<symbol>:-|\\\+|\\==|\\=|=:=|=\\=|=<|>=|==|[=<>(),])|(?P<stop>\.(?=\s|$))
    |(?P<other>'(?:[^'\\]|\\.|'')*+\Z|\S)|$)""",
    re.VERBOSE,
)
_OPERATORS = {
    "=": Operator.EQUAL,
    "==": Operator.EQUAL,
    "=:=": Operator.EQUAL,
    "\\=": Operator.DIFFERENT,
    "\\==": Operator.DIFFERENT,
    "=\\=": Operator.DIFFERENT,
    "<": Operator.LESS,
    "=<": Operator.AT_MOST,
    ">": Operator.GREATER,
    ">=": Operator.AT_LEAST,
}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def read(source: Source, tables: Sequence[rule_formats.TableName]) -> rule_formats.ToolRules:
    rules_read = rule_formats.ToolRules()
    if logged := len(_LOG.findall(source.text)):
        rules_read.set_aside[rule_formats.LOG] = logged
    for tokens in _clauses(source.text):
        try:
            rules_read.rules.append(_Clause(source, tokens).read())
        except rule_formats.SetAsideError as aside:
            rules_read.set_aside[aside.reason] += 1
        except rule_formats.MisreadError as wrong:
            rules_read.problems.append(rule_formats.problem_at(source, 0, source.text, wrong, _TITLE, _EXAMPLE))
    return rules_read


def _clauses(text: str) -> list[list[_Token]]:
    """The tokens of each clause, its full stop last. Comments and logs become blanks, so offsets stay."""
    plain = _LOG.sub(lambda match: " " * len(match[0]), text)
    plain = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]) if match[1] else match[0], plain)
    clauses: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(plain):
        if match.lastgroup is None:
            continue
        clauses[-1].append(_Token(match.lastgroup, match[match.lastgroup], *match.span(match.lastgroup)))
        if match.lastgroup == "stop":
            clauses.append([])
    return [clause for clause in clauses if clause]


class _Clause:
    """Reads one clause, token by token."""

    def __init__(self, source: Source, tokens: list[_Token]) -> None:
        self._source, self._tokens, self._index = source, tokens, 0

    def read(self) -> Rule:
        head = self._atom()
        span = Span(self._source, self._tokens[0].start, self._tokens[-1].end)
        if self._at("stop"):
            raise rule_formats.SetAsideError
        self._expect(":-", "`:-` or a full stop")
        body = [self._condition()]
        while self._here.text == ",":
            self._index += 1
            body.append(self._condition())
        if not self._at("stop"):
            raise self._wrong("`,` or a full stop")
        return rule_formats.rule_of(head, body, span)

    @property
    def _here(self) -> _Token:
        last = self._tokens[-1]
        return self._tokens[self._index] if self._index < len(self._tokens) else _Token("end", "", last.end - 1, last.end)

    def _at(self, kind: str) -> bool:
        return self._here.kind == kind

    def _wrong(self, what: str) -> rule_formats.MisreadError:
        instead = f", found `{self._here.text[:40]}`" if self._here.text else ""
        return rule_formats.MisreadError(f"expected {what}{instead}", self._here.start, self._here.end)

    def _expect(self, text: str, what: str) -> None:
        if self._here.text != text:
            raise self._wrong(what)
        self._index += 1

    def _condition(self) -> Condition:
        start = self._here.start
        if self._here.text == "\\+":
            self._index += 1
            wrapped = self._here.text == "("
            self._index += wrapped
            inner = self._atom()
            if wrapped:
                self._expect(")", "`)`")
            return Not(inner, self._span(start))
        following = self._tokens[self._index + 1].text if self._index + 1 < len(self._tokens) else ""
        if following in _OPERATORS:
            left = self._compared()
            operator = _OPERATORS[self._here.text]
            self._index += 1
            return Comparison(operator, left, self._compared(), self._span(start))
        return self._atom()

    def _compared(self) -> Variable | Constant:
        term = self._term()
        if isinstance(term, Wildcard):
            self._index -= 1
            raise self._wrong("a variable or a constant")
        return term

    def _atom(self) -> Atom:
        name = self._here
        if name.kind not in {"name", "quoted"}:
            raise self._wrong("an atom")
        self._index += 1
        self._expect("(", "`(`")
        terms = [self._term()]
        while self._here.text == ",":
            self._index += 1
            terms.append(self._term())
        self._expect(")", "`,` or `)`")
        return Atom(_unquoted(name), tuple(terms), self._span(name.start))

    def _term(self) -> Term:
        token = self._here
        span = Span(self._source, token.start, token.end)
        self._index += 1
        match token.kind:
            case "variable":
                return Wildcard(span) if token.text == "_" else Variable(token.text, span)
            case "name" | "quoted" | "text":
                return Constant(_unquoted(token), span)
            case "number":
                return Constant(float(token.text) if "." in token.text else int(token.text), span)
            case _:
                self._index -= 1
                raise self._wrong("a variable or a constant")

    def _span(self, start: int) -> Span:
        return Span(self._source, start, self._tokens[self._index - 1].end)


def _unquoted(token: _Token) -> str:
    if token.kind == "quoted":
        return re.sub(r"\\(.)", r"\1", token.text[1:-1].replace("''", "'"))
    return token.text[1:-1] if token.kind == "text" else token.text


_CLAUSE = r".*:-"
_SIGN = r"\*{4,}\s*SOLUTION|.*\\\+|.*\\==?|^[^\"`#]*'[^']*'"
"""Our own language has none of these."""


FORMAT = rule_formats.RuleFormat("prolog", _TITLE, _EXAMPLE, rule_formats.some(_CLAUSE, _SIGN), read, turn=11)
