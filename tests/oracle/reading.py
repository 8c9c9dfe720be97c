"""Rule texts, read for the oracle alone: strict, and no code of the package in it. `writing` writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from oracle.reader import Reader
from oracle.tokens import RuleTextError, Token, tokenise
from oracle.tree import (
    And,
    Atom,
    Comparison,
    Condition,
    Definition,
    Expression,
    Functional,
    Incompatible,
    Refutation,
    Rule,
    Variable,
)


@dataclass
class Program:
    """What a rule text says. Groups keep the predicates' names: their arity is known from facts and rules."""

    rules: list[Rule] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)
    closed_all: bool = False
    groups: list[tuple[str, ...]] = field(default_factory=list)
    pairs: list[Incompatible] = field(default_factory=list)
    functional: list[Functional] = field(default_factory=list)
    complete: list[Functional] = field(default_factory=list)
    complete_all: bool = False
    auxiliary: list[Refutation] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    extract: bool = False
    declared: dict[str, int] = field(default_factory=dict)


def read_derived(text: str) -> Expression:
    reader = Reader(tokenise(text), attributes=True)
    found = reader.expression()
    if not reader.ended:
        raise reader.wrong("the end")
    return found


def read_program(text: str) -> Program:
    reader, program = Reader(tokenise(text)), Program()
    while not reader.ended:
        statement(reader, program)
    return program


DECLARATIONS = ("incompatible", "functional", "pca", "closed", "refute", "extract", "predicate", "define")


def statement(reader: Reader, program: Program) -> None:
    match reader.peek().text:
        case word if word in DECLARATIONS:
            declaration(reader, program)
        case _:
            marks = read_marks(reader)
            if marks.pop("check", False):
                checked_declaration(reader, program, marks)
                reader.expect(".")
                return
            expanded = templates(reader) if reader.accept("for") else [("", reader)]
            for suffix, one in expanded:
                program.rules.append(rule(one, marks, suffix, len(program.rules)))
            if expanded[0][1] is not reader:
                return
    reader.expect(".")


# Declarations


def declaration(reader: Reader, program: Program) -> None:
    match reader.take().text:
        case "incompatible":
            incompatible(reader, program)
        case "functional":
            program.functional.append(functional(reader))
        case "pca" if reader.accept("*"):
            program.complete_all = True
        case "pca" if reader.peek(1).text != "(":
            program.complete += (Functional(name, (0,), (1,)) for name in reader.separated(reader.name, ","))
        case "pca":
            program.complete.append(functional(reader))
        case "closed" if reader.accept("*"):
            program.closed_all = True
        case "closed":
            program.closed.update(reader.separated(reader.name, ","))
        case "refute":
            program.auxiliary.append(Refutation(reader.atom(), reader.body()))
        case "define":
            head = reader.atom()
            if reader.peek(1).text == "chain" and reader.peek(2).text != "(":
                reader.expect("<-", "chain")
                program.definitions.append(Definition(head, reader.atom(), chained=True))
                return
            body = reader.body()
            fact, *members = body.parts if isinstance(body, And) else (body,)
            program.definitions.append(Definition(head, fact, tuple(members)))
        case "extract":
            reader.expect("incompatible")
            program.extract = True
        case "predicate":
            name = reader.name()
            reader.expect("/")
            program.declared[name] = int(reader.take().text)


def checked_declaration(reader: Reader, program: Program, marks: dict[str, object]) -> None:
    """`@check name: …`: a declaration, and a denial constraint for what it forbids. Groups are of binary predicates here."""
    name = reader.name()
    reader.expect(":")
    said = (len(program.functional), len(program.pairs), len(program.groups), len(program.auxiliary))
    declaration(reader, program)
    x, y, z = Variable("X"), Variable("Y"), Variable("Z")
    bodies: list[tuple[Condition, ...]] = []
    for one in program.functional[said[0] :]:
        assert (len(one.keys), len(one.values)) == (1, 1)
        first, second = ((x, y), (x, z)) if one.keys == (0,) else ((y, x), (z, x))
        bodies.append((Atom(one.predicate, first), Atom(one.predicate, second), Comparison("!=", y, z)))
    bodies += ((one.left, one.right) for one in program.pairs[said[1] :])
    for group in program.groups[said[2] :]:
        bodies += ((Atom(one, (x, y)), Atom(other, (x, y))) for one, other in combinations(group, 2))
    for refutation in program.auxiliary[said[3] :]:
        bodies.append((refutation.head, refutation.body))
    for number, body in enumerate(bodies, start=1):
        numbered = name if number == 1 else f"{name} {number}"
        program.rules.append(Rule(numbered, None, And(body), **{"kind": "hard", **marks}))  # type: ignore[arg-type]


def incompatible(reader: Reader, program: Program) -> None:
    if reader.peek(1).text == "(":
        left = reader.atom()
        reader.expect(",")
        program.pairs.append(Incompatible(left, reader.atom()))
    else:
        program.groups.append(tuple(reader.separated(reader.name, ",")))


def functional(reader: Reader) -> Functional:
    """`p(X, Y -> Z)` or `p(X, Y, Z) on Z -> X`."""
    name = reader.name()
    reader.expect("(")
    columns = reader.separated(reader.term, ",")
    keys = len(columns)
    if reader.accept("->"):
        columns += reader.separated(reader.term, ",")
        reader.expect(")")
        return Functional(name, tuple(range(keys)), tuple(range(keys, len(columns))))
    reader.expect(")", "on")
    key = reader.separated(reader.term, ",")
    reader.expect("->")
    return Functional(name, tuple(map(columns.index, key)), tuple(map(columns.index, reader.separated(reader.term, ","))))


# Rules


def read_marks(reader: Reader) -> dict[str, object]:
    """`@hard`, `@soft`, `@weight(2)`, `@check`."""
    found: dict[str, object] = {}
    while reader.accept("@"):
        word = reader.take().text
        if word in ("hard", "soft"):
            found["kind"] = word
        elif word == "check":
            found["check"] = True
        elif word == "weight":
            reader.expect("(")
            found["weight"] = Fraction(reader.take().text)
            reader.expect(")")
        else:
            raise RuleTextError(reader.line, f"`@{word}` is not understood")
    return found


def rule(reader: Reader, marks: dict[str, object], suffix: str, number: int) -> Rule:
    name = f"rule{number + 1}"
    if reader.peek(1).text == ":":
        name = reader.name() + suffix
        reader.expect(":")
    head = None if reader.at("false", "<-") else reader.disjunction()
    if head is None:
        reader.take()
    return Rule(name, head, reader.body(), **marks)  # type: ignore[arg-type]


# Templates


def templates(reader: Reader) -> list[tuple[str, Reader]]:
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
        found.append(("" if filled else f"[{shown}]", Reader([substituted(token, values) for token in template])))
    return found


def values_of_row(reader: Reader, width: int) -> list[Token]:
    if width == 1:
        return [one_value(reader)]
    reader.expect("(")
    values = reader.separated(lambda: one_value(reader), ",")
    reader.expect(")")
    return values


def one_value(reader: Reader) -> Token:
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
