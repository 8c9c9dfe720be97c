"""Terms, expressions and conditions, read from tokens."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from oracle.facts import Constant, given
from oracle.tokens import Cursor, RuleTextError, Token, value_of
from oracle.tree import (
    Aggregate,
    And,
    Atom,
    AttributeName,
    Call,
    Comparison,
    Condition,
    Expression,
    Let,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    RowAtom,
    Term,
    Test,
    Variable,
    Wildcard,
)
from oracle.values import FUNCTIONS

AGGREGATES = ("count", "sum", "avg", "min", "max", "count_distinct")
TOLERANCES = ("percent", "quantile", "spread")
COMPARISONS = {"=": "=", "!=": "!=", "≠": "!=", "<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">="}
UNITS = {
    f"{unit}{plural}": datetime.timedelta(**{f"{unit}s": 1})
    for unit in ("week", "day", "hour", "minute", "second", "millisecond", "microsecond")
    for plural in ("", "s")
}


class Reader(Cursor):
    """Reads terms, expressions and conditions. `attributes`: bare words are attributes of a row, as in the definition of a derived
    one."""

    def __init__(self, tokens: list[Token], *, attributes: bool = False) -> None:
        super().__init__(tokens)
        self.attributes = attributes

    # Terms and expressions

    def literal_constant(self) -> Constant:
        negative = self.accept("-")
        token = self.take()
        if token.kind not in ("string", "number", "date", "moment", "word") or (negative and token.kind != "number"):
            raise RuleTextError(token.line, f"a constant expected, `{token.text}` found")
        if token.kind == "number" and self.peek().text in UNITS:
            return Constant("duration", int(token.text) * UNITS[self.take().text])
        value = value_of(token)
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

    def body(self) -> Condition:
        self.expect("<-")
        return self.conditions()
