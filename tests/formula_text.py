"""The whole rule language, read for the oracle alone: strict, and no code of the package in it. `formula_writing` writes it."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

import rule_text
from formula_tree import (
    Aggregate,
    And,
    AttributeName,
    Call,
    Comparison,
    Condition,
    Expression,
    FormulaRule,
    Let,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    Refutation,
    RowAtom,
    Test,
)
from formula_values import FUNCTIONS
from oracle import Atom, Constant, Functional, Incompatible, Term, Variable, Wildcard, given
from rule_text import RuleTextError, Token

AGGREGATES = ("count", "sum", "avg", "min", "max", "count_distinct")
TOLERANCES = ("percent", "quantile", "spread")
COMPARISONS = {"=": "=", "!=": "!=", "≠": "!=", "<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">="}
UNITS = {
    f"{unit}{plural}": datetime.timedelta(**{f"{unit}s": 1})
    for unit in ("week", "day", "hour", "minute", "second", "millisecond", "microsecond")
    for plural in ("", "s")
}
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


@dataclass
class FormulaProgram:
    """What a rule text says; as `rule_text.Program`, with rules of every kind."""

    rules: list[FormulaRule] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)
    closed_all: bool = False
    groups: list[tuple[str, ...]] = field(default_factory=list)
    pairs: list[Incompatible] = field(default_factory=list)
    functional: list[Functional] = field(default_factory=list)
    auxiliary: list[Refutation] = field(default_factory=list)
    extract: bool = False
    declared: dict[str, int] = field(default_factory=dict)


class FormulaReader(rule_text.Reader):
    """A cursor over tokens. `attributes`: bare words are attributes of a row, as in the definition of a derived one."""

    def __init__(self, tokens: list[Token], *, attributes: bool = False) -> None:
        self.tokens = tokens
        self.position = 0
        self.attributes = attributes

    def peek(self, offset: int = 0) -> Token:
        place = self.position + offset
        return self.tokens[place] if place < len(self.tokens) else Token("end", "", self.line)

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
        return self.take().text if self.peek().kind == "qualified" else super().name()

    # Terms and expressions

    def literal_constant(self) -> Constant:
        negative = self.accept("-")
        token = self.take()
        if token.kind not in ("string", "number", "date", "moment", "word") or (negative and token.kind != "number"):
            raise RuleTextError(token.line, f"a constant expected, `{token.text}` found")
        if token.kind == "number" and self.peek().text in UNITS:
            return Constant("duration", int(token.text) * UNITS[self.take().text])
        value = rule_text.value(token)
        return given(-value if negative else value)  # type: ignore[operator]

    def term(self) -> Term:
        token = self.peek()
        if token.kind in ("variable", "wildcard"):
            self.take()
            return Variable(token.text) if token.kind == "variable" else Wildcard()
        return self.literal_constant()

    def plain_term(self) -> Term:
        found = self.term()
        if not (self.at(",") or self.at(")")):
            raise self.wrong("the end of a term")
        return found

    def expression(self) -> Expression:
        return self.operations(("+", "-"), lambda: self.operations(("*", "/", "mod"), self.unary))

    def operations(self, operators: tuple[str, ...], read: Callable[[], Expression]) -> Expression:
        left = read()
        while self.peek().text in operators and self.peek().kind in ("mark", "word"):
            left = Operation(self.take().text, left, read())
        return left

    def unary(self) -> Expression:
        if self.at("-") and self.peek(1).kind != "number":
            self.take()
            return Negative(self.unary())
        return self.operand()

    def operand(self) -> Expression:
        token = self.peek()
        if self.accept("("):
            found = self.expression()
            self.expect(")")
            return found
        if token.kind == "variable":
            self.take()
            return Variable(token.text)
        if token.kind == "word" and self.peek(1).text == "(":
            return self.call()
        if self.attributes and token.kind in ("word", "quoted"):
            return AttributeName(self.name())
        found = self.literal_constant()
        return Call("percent", (found,)) if self.accept("%") else found

    def call(self) -> Expression:
        function = self.take().text
        if function not in FUNCTIONS and function not in AGGREGATES and function not in TOLERANCES:
            raise RuleTextError(self.line, f"`{function}` is no function")
        self.expect("(")
        arguments = self.separated(self.expression, ",")
        if function in AGGREGATES and len(arguments) == 1 and self.accept(":"):
            found = Aggregate(function, arguments[0], self.conditions())
            self.expect(")")
            return found
        self.expect(")")
        if function not in FUNCTIONS and function not in TOLERANCES:
            raise RuleTextError(self.line, f"`{function}` is an aggregate")
        return Call(function, tuple(arguments))

    # Conditions

    def conditions(self) -> Condition:
        """Parts separated by commas. Beside a comma an `or` needs parentheses."""
        starts = [self.position]
        parts = [self.disjunction()]
        while self.accept(","):
            starts.append(self.position)
            parts.append(self.disjunction())
        if len(parts) > 1 and any(isinstance(p, Or) and self.tokens[s].text != "(" for p, s in zip(parts, starts, strict=True)):
            raise RuleTextError(self.line, "`or` beside a comma needs parentheses")
        return And(tuple(parts))

    def disjunction(self) -> Condition:
        parts = self.separated(self.conjunction, "or")
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def conjunction(self) -> Condition:
        parts = self.separated(self.negation, "and")
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negation(self) -> Condition:
        return Not(self.negation()) if self.accept("not") else self.simple()

    def simple(self) -> Condition:
        if self.accept("let"):
            variable = self.term()
            self.expect("=")
            assert isinstance(variable, Variable)
            return Let(variable, self.expression())
        found = self.attempt(self.comparison)
        if found is not None:
            return found
        if self.accept("("):
            condition = self.disjunction() if (inner := self.attempt(self.closed_conditions)) is None else inner
            self.expect(")")
            return condition
        return self.attempt(self.row_atom) or self.attempt(self.atom) or self.test()

    def closed_conditions(self) -> Condition:
        """A list with commas in parentheses."""
        found = self.conditions()
        if not self.at(")"):
            raise self.wrong("`)`")
        return found.parts[0] if isinstance(found, And) and len(found.parts) == 1 else found

    def comparison(self) -> Condition:
        left = self.expression()
        negated = self.accept("not", "in")
        if negated or self.accept("in"):
            self.expect("{")
            found = Member(left, tuple(self.separated(self.literal_constant, ",")))
            self.expect("}")
            return Not(found) if negated else found
        token = self.take()
        if token.text not in COMPARISONS:
            raise RuleTextError(token.line, f"a comparison expected, `{token.text}` found")
        return Comparison(COMPARISONS[token.text], left, self.expression())

    def atom(self) -> Atom:
        name = self.name()
        self.expect("(")
        terms = self.separated(self.plain_term, ",")
        self.expect(")")
        return Atom(name, tuple(terms))

    def row_atom(self) -> RowAtom:
        name = self.name()
        self.expect("(")
        arguments = self.separated(self.named_argument, ",")
        self.expect(")")
        if len(dict(arguments)) < len(arguments):
            raise RuleTextError(self.line, "an attribute is named twice")
        return RowAtom(name, tuple(arguments))

    def named_argument(self) -> tuple[str, Term]:
        name = self.name()
        self.expect(":")
        return name, self.plain_term()

    def test(self) -> Test:
        name = self.name()
        self.expect("(")
        arguments = self.separated(self.expression, ",")
        self.expect(")")
        return Test(name, tuple(arguments))

    def formula_body(self) -> Condition:
        self.expect("<-")
        return self.conditions()


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


def read_derived(text: str) -> Expression:
    reader = FormulaReader(tokenise(text), attributes=True)
    found = reader.expression()
    if reader.position < len(reader.tokens):
        raise reader.wrong("the end")
    return found


def read_formulas(text: str) -> FormulaProgram:
    reader, program = FormulaReader(tokenise(text)), FormulaProgram()
    while reader.position < len(reader.tokens):
        statement(reader, program)
    return program


def statement(reader: FormulaReader, program: FormulaProgram) -> None:
    if reader.accept("refute"):
        head = reader.atom()
        program.auxiliary.append(Refutation(head, reader.formula_body()))
    elif reader.peek().text in ("incompatible", "functional", "closed", "extract", "predicate"):
        rule_text.statement(reader, program)  # type: ignore[arg-type]
    else:
        marks = read_marks(reader)
        expanded = templates(reader) if reader.accept("for") else [("", reader)]
        for suffix, one in expanded:
            program.rules.append(rule(one, marks, suffix, len(program.rules)))
        if expanded[0][1] is not reader:
            return
    reader.expect(".")


def read_marks(reader: FormulaReader) -> dict[str, object]:
    """`@hard`, `@soft`, `@weight(2)`."""
    found: dict[str, object] = {}
    while reader.accept("@"):
        word = reader.take().text
        if word in ("hard", "soft"):
            found["kind"] = word
        elif word == "weight":
            reader.expect("(")
            found["weight"] = Fraction(reader.take().text)
            reader.expect(")")
        else:
            raise RuleTextError(reader.line, f"`@{word}` is not understood")
    return found


def rule(reader: FormulaReader, marks: dict[str, object], suffix: str, number: int) -> FormulaRule:
    name = f"rule{number + 1}"
    if reader.peek(1).text == ":":
        name = reader.name() + suffix
        reader.expect(":")
    head = None if reader.at("false", "<-") else reader.disjunction()
    if head is None:
        reader.take()
    return FormulaRule(name, head, reader.formula_body(), **marks)  # type: ignore[arg-type]


# Templates


def templates(reader: FormulaReader) -> list[tuple[str, FormulaReader]]:
    """Readers of the expansions of one template, with what their names end in."""
    parameters = [token.text for token in reader.separated(reader.take, ",")]
    reader.expect("in", "{")
    rows = reader.separated(lambda: values_of_row(reader, len(parameters)), ",")
    reader.expect("}", ":")
    start = reader.position
    while not reader.accept("."):
        reader.take()
    template = reader.tokens[start : reader.position - 1]
    found = []
    for row in rows:
        values = dict(zip(parameters, row, strict=True))
        filled = template[0].kind == "string" and any(name in template[0].text for name in parameters)
        shown = ", ".join(json.loads(v.text) if v.kind == "string" else v.text for v in row)
        found.append(("" if filled else f"[{shown}]", FormulaReader([substituted(token, values) for token in template])))
    return found


def values_of_row(reader: FormulaReader, width: int) -> list[Token]:
    if width == 1:
        return [one_value(reader)]
    reader.expect("(")
    values = reader.separated(lambda: one_value(reader), ",")
    reader.expect(")")
    return values


def one_value(reader: FormulaReader) -> Token:
    """A constant, name or number; a sign is part of it."""
    token = reader.take()
    return Token("number", "-" + reader.take().text, token.line) if token.text == "-" else token


def substituted(token: Token, values: dict[str, Token]) -> Token:
    if token.kind == "parameter":
        return values[token.text]
    if token.kind == "string":
        text = token.text
        for name, value in values.items():
            text = text.replace(name, json.loads(value.text) if value.kind == "string" else value.text)
        return Token("string", text, token.line)
    return token
