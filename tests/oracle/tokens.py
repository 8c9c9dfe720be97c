"""The rule language in tokens, and a cursor over them."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from oracle.facts import Value

Found = TypeVar("Found")

TOKENS = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<quoted>`[^`\n]*`)
    |(?P<moment>\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)
    |(?P<date>\d{4}-\d\d-\d\d)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<parameter>\$\w+)
    |(?P<variable>[A-Z]\w*|_\w+)
    |(?P<wildcard>_)
    |(?P<qualified>[a-z]\w*\.[a-z]\w*)
    |(?P<word>[a-z]\w*)
    |(?P<mark><-|->|!=|<=|>=|[≤≥≠<>(){},.=:/*@+%-])""",
    re.VERBOSE,
)


class RuleTextError(Exception):
    """A rule text that is not understood, and the line within it."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int


def tokenise(text: str) -> list[Token]:
    tokens, position, line = [], 0, 1
    while position < len(text):
        found = TOKENS.match(text, position)
        if found is None:
            raise RuleTextError(line, f"character `{text[position]}` is not understood")
        if found.lastgroup != "space":
            tokens.append(Token(str(found.lastgroup), found.group(), line))
        line += found.group().count("\n")
        position = found.end()
    return tokens


def value_of(token: Token) -> Value:
    match token.kind:
        case "string":
            return str(json.loads(token.text))
        case "number":
            return int(token.text) if token.text.lstrip("-").isdigit() else float(token.text)
        case "date":
            return datetime.date.fromisoformat(token.text)
        case "moment":
            found = datetime.datetime.fromisoformat(token.text)
            return found if found.tzinfo is None else found.astimezone(datetime.UTC)
        case _:
            return {"true": True, "false": False}.get(token.text, token.text)


class Cursor:
    """A place among tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def line(self) -> int:
        return self.tokens[min(self.position, len(self.tokens) - 1)].line if self.tokens else 1

    @property
    def ended(self) -> bool:
        return self.position == len(self.tokens)

    def peek(self, offset: int = 0) -> Token:
        place = self.position + offset
        return self.tokens[place] if place < len(self.tokens) else Token("end", "", self.line)

    def at(self, *texts: str) -> bool:
        """The next tokens are these; a string or quoted name is none of them."""
        ahead = self.tokens[self.position : self.position + len(texts)]
        return tuple(token.text for token in ahead) == texts

    def take(self) -> Token:
        if self.ended:
            raise RuleTextError(self.line, "the text ends too early")
        self.position += 1
        return self.tokens[self.position - 1]

    def expect(self, *texts: str) -> None:
        for text in texts:
            token = self.take()
            if token.text != text:
                raise RuleTextError(token.line, f"`{text}` expected, `{token.text}` found")

    def accept(self, *texts: str) -> bool:
        found = self.at(*texts)
        self.position += len(texts) if found else 0
        return found

    def wrong(self, expected: str) -> RuleTextError:
        return RuleTextError(self.peek().line, f"{expected} expected, `{self.peek().text}` found")

    def attempt(self, read: Callable[[], Found]) -> Found | None:
        """What can be read here; otherwise nothing, and nothing is consumed."""
        start = self.position
        try:
            return read()
        except RuleTextError:
            self.position = start
            return None

    def separated(self, read: Callable[[], Found], by: str) -> list[Found]:
        found = [read()]
        while self.accept(by):
            found.append(read())
        return found

    def name(self) -> str:
        token = self.take()
        match token.kind:
            case "word" | "qualified":
                return token.text
            case "string":
                return str(json.loads(token.text))
            case "quoted":
                return token.text[1:-1]
            case _:
                raise RuleTextError(token.line, f"a name expected, `{token.text}` found")
