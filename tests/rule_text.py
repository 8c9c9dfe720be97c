"""The rule language, read and written for the oracle alone: small, strict, and no code of the package in it."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from oracle import (
    Atom,
    Auxiliary,
    Body,
    Compare,
    Constant,
    Double,
    Functional,
    Incompatible,
    Literal,
    Not,
    Rule,
    Setting,
    Term,
    Value,
    Variable,
    Wildcard,
    given,
    incompatible_group,
)

TOKENS = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<quoted>`[^`\n]*`)
    |(?P<moment>\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)
    |(?P<date>\d{4}-\d\d-\d\d)
    |(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<variable>[A-Z]\w*|_\w+)
    |(?P<wildcard>_)
    |(?P<word>[a-z]\w*)
    |(?P<mark><-|->|!=|[(),.=:/*@])""",
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


@dataclass
class Program:
    """What a rule text says. Groups keep the predicates' names: their arity is known from facts and rules."""

    rules: list[Rule] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)
    closed_all: bool = False
    groups: list[tuple[str, ...]] = field(default_factory=list)
    pairs: list[Incompatible] = field(default_factory=list)
    functional: list[Functional] = field(default_factory=list)
    auxiliary: list[Auxiliary] = field(default_factory=list)
    extract: bool = False
    declared: dict[str, int] = field(default_factory=dict)


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


class Reader:
    """A cursor over tokens."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenise(text)
        self.position = 0

    @property
    def line(self) -> int:
        return self.tokens[min(self.position, len(self.tokens) - 1)].line if self.tokens else 1

    def at(self, *texts: str) -> bool:
        """The next tokens are these; a string or quoted name is none of them."""
        ahead = self.tokens[self.position : self.position + len(texts)]
        return tuple(t.text for t in ahead) == texts

    def take(self) -> Token:
        if self.position == len(self.tokens):
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

    def name(self) -> str:
        token = self.take()
        match token.kind:
            case "word":
                return token.text
            case "string":
                return str(json.loads(token.text))
            case "quoted":
                return token.text[1:-1]
            case _:
                raise RuleTextError(token.line, f"a name expected, `{token.text}` found")

    def term(self) -> Term:
        token = self.take()
        match token.kind:
            case "variable":
                return Variable(token.text)
            case "wildcard":
                return Wildcard()
            case "string" | "word" | "number" | "date" | "moment":
                return given(value(token))
            case _:
                raise RuleTextError(token.line, f"a term expected, `{token.text}` found")

    def atom(self) -> Atom:
        name = self.name()
        self.expect("(")
        terms = [self.term()]
        while self.accept(","):
            terms.append(self.term())
        self.expect(")")
        return Atom(name, tuple(terms))

    def literal(self) -> Literal:
        if self.accept("not"):
            return Not(self.atom())
        if self.tokens[self.position + 1 : self.position + 2] and self.tokens[self.position + 1].text in ("=", "!="):
            left = self.term()
            equal = self.take().text == "="
            return Compare(left, self.term(), equal)
        return self.atom()

    def body(self) -> Body:
        self.expect("<-")
        literals = [self.literal()]
        while self.accept(",") or self.accept("and"):
            literals.append(self.literal())
        return tuple(literals)

    def names(self) -> tuple[str, ...]:
        names = [self.name()]
        while self.accept(","):
            names.append(self.name())
        return tuple(names)


def value(token: Token) -> Value:
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


def read_program(text: str) -> Program:
    reader, program = Reader(text), Program()
    while reader.position < len(reader.tokens):
        statement(reader, program)
        reader.expect(".")
    return program


def statement(reader: Reader, program: Program) -> None:
    if reader.accept("incompatible"):
        incompatible(reader, program)
    elif reader.accept("functional"):
        program.functional.append(functional(reader))
    elif reader.accept("closed", "*"):
        program.closed_all = True
    elif reader.accept("closed"):
        program.closed.update(reader.names())
    elif reader.accept("refute"):
        program.auxiliary.append(Auxiliary(reader.atom(), reader.body()))
    elif reader.accept("extract", "incompatible"):
        program.extract = True
    elif reader.accept("predicate"):
        name = reader.name()
        reader.expect("/")
        program.declared[name] = int(reader.take().text)
    else:
        program.rules.append(rule(reader, len(program.rules)))


def incompatible(reader: Reader, program: Program) -> None:
    if reader.tokens[reader.position + 1].text == "(":
        left = reader.atom()
        reader.expect(",")
        program.pairs.append(Incompatible(left, reader.atom()))
    else:
        program.groups.append(reader.names())


def functional(reader: Reader) -> Functional:
    """`p(X, Y -> Z)` or `p(X, Y, Z) on Z -> X`."""
    name = reader.name()
    reader.expect("(")
    columns = [reader.term()]
    keys = 0
    while not reader.accept(")"):
        if reader.accept("->"):
            keys = len(columns)
        else:
            reader.expect(",")
        columns.append(reader.term())
    if keys:
        return Functional(name, tuple(range(keys)), tuple(range(keys, len(columns))))
    reader.expect("on")
    return Functional(name, columns_of(reader, columns, "->"), columns_of(reader, columns, "."))


def columns_of(reader: Reader, columns: list[Term], end: str) -> tuple[int, ...]:
    found = [columns.index(reader.term())]
    while reader.accept(","):
        found.append(columns.index(reader.term()))
    if end == "->":
        reader.expect(end)
    return tuple(found)


def rule(reader: Reader, number: int) -> Rule:
    kind, weight, name = None, Fraction(1), f"rule{number + 1}"
    while reader.accept("@"):
        if reader.accept("hard"):
            kind = "hard"
        elif reader.accept("soft"):
            kind = "soft"
        else:
            reader.expect("weight", "(")
            weight = Fraction(reader.take().text)
            reader.expect(")")
    if reader.tokens[reader.position + 1].text == ":":
        name = reader.name()
        reader.expect(":")
    head = None if reader.accept("false") else reader.atom()
    return Rule(name, head, reader.body(), kind, weight)


# Writing


def write_name(name: str) -> str:
    return "`" + name + "`"


def write_value(one: Constant) -> str:
    match one.type:
        case "string":
            return json.dumps(one.value)
        case "boolean":
            return str(one.value).lower()
        case "number":
            whole = one.value.denominator == 1 and not isinstance(one, Double)
            whole = whole and (abs(one.value) <= 2**63 or Fraction(float(one.value)) != one.value)
            return str(one.value) if whole else repr(float(one.value))
        case _:
            return str(one.value.isoformat()).replace("+00:00", "Z")


def write_term(term: Term) -> str:
    match term:
        case Variable(name):
            return name
        case Wildcard():
            return "_"
        case Constant():
            return write_value(term)


def write_atom(atom: Atom) -> str:
    return f"{write_name(atom.predicate)}({', '.join(map(write_term, atom.terms))})"


def write_literal(literal: Literal) -> str:
    match literal:
        case Atom():
            return write_atom(literal)
        case Not(atom):
            return f"not {write_atom(atom)}"
        case Compare(left, right, equal):
            return f"{write_term(left)} {'=' if equal else '!='} {write_term(right)}"


def write_body(body: Body) -> str:
    return ", ".join(map(write_literal, body))


def write_rule(one: Rule) -> str:
    marks = (f"@{one.kind} " if one.kind else "") + (f"@weight({float(one.weight)!r}) " if one.weight != 1 else "")
    head = "false" if one.head is None else write_atom(one.head)
    return f"{marks}{one.name}: {head} <- {write_body(one.body)}."


def write_functional(one: Functional, arity: int) -> str:
    columns = [f"X{i}" for i in range(arity)]
    keys, values = (", ".join(columns[i] for i in positions) for positions in (one.keys, one.values))
    return f"functional {write_name(one.predicate)}({', '.join(columns)}) on {keys} -> {values}."


def write_program(setting: Setting, arities: dict[str, int], groups: Iterable[tuple[str, ...]] = ()) -> str:
    """A setting's rules and refutations as a rule text. Pairs that a group says already are not written again."""
    said = {pair for group in groups for pair in incompatible_group(arities[group[0]], *group)}
    lines: list[str] = [f"predicate {write_name(name)}/{arity}." for name, arity in sorted(arities.items())]
    lines += map(write_rule, setting.rules)
    lines += (f"closed {write_name(name)}." for name in sorted(setting.closed))
    lines += ["closed *."] if setting.closed_all else []
    lines += (f"incompatible {', '.join(map(write_name, group))}." for group in groups)
    pairs = (pair for pair in setting.incompatible if pair not in said)
    lines += (f"incompatible {write_atom(pair.left)}, {write_atom(pair.right)}." for pair in pairs)
    lines += (write_functional(one, arities[one.predicate]) for one in setting.functional)
    lines += (f"refute {write_atom(one.head)} <- {write_body(one.body)}." for one in setting.auxiliary)
    lines += ["extract incompatible."] if setting.extract else []
    return "\n".join(lines)


def arities_of(atoms: Iterable[Atom]) -> dict[str, int]:
    return {atom.predicate: len(atom.terms) for atom in atoms}
