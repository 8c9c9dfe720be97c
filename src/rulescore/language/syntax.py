"""What a rule file says, as data. Nothing here computes; spans take no part in equality.

A condition is a tree, so that formulas, arithmetic and aggregates can become further nodes of `Condition` and `Term` without
changing the nodes that exist.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from enum import StrEnum

from rulescore.errors import Span

Value = str | int | float | bool | datetime.date


class Kind(StrEnum):
    HARD = "hard"
    SOFT = "soft"


class Operator(StrEnum):
    EQUAL = "="
    DIFFERENT = "!="


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`_`: each occurrence is a variable of its own."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A typed value. Python takes `True`, `1` and `1.0` for equal; where it matters, compare the keys of `data.constants`: by them
    `1` and `1.0` are one constant and `true` is another."""

    value: Value
    span: Span | None = field(default=None, compare=False, repr=False)


Term = Variable | Wildcard | Constant


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def arity(self) -> int:
        return len(self.terms)


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Operator
    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    condition: Atom
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction, in the order written; at least one part."""

    conditions: tuple[Literal, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Falsity:
    """The head of a denial constraint."""

    span: Span | None = field(default=None, compare=False, repr=False)


Literal = Atom | Not | Comparison
Head = Atom | Falsity


@dataclass(frozen=True, slots=True)
class Rule:
    head: Head
    body: And
    name: str | None = None
    kind: Kind | None = None
    weight: float = 1.0
    description: str | None = None
    tags: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IncompatibleGroup:
    """`incompatible aunt, uncle, father.`: pairwise, on the same arguments in the same order."""

    predicates: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IncompatiblePair:
    """`incompatible p(X, Y), q(Y, X).`: the variables of both atoms are the same, each once."""

    left: Atom
    right: Atom
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Functional:
    """`functional p(X, Y -> Z).`, or `functional p(X, Y, Z) on Z -> X.`: the key positions determine the value positions."""

    predicate: str
    arity: int
    keys: tuple[int, ...]
    values: tuple[int, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Closed:
    """`closed parent.`; predicate None is `closed *.`"""

    predicate: str | None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Refute:
    """`refute p(X, Y) <- body.`"""

    head: Atom
    body: And
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExtractIncompatible:
    """`extract incompatible.`: pairs that share no tuple of the observed facts."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PredicateDeclaration:
    """`predicate wife/2.`"""

    predicate: str
    arity: int
    span: Span | None = field(default=None, compare=False, repr=False)


Declaration = IncompatibleGroup | IncompatiblePair | Functional | Closed | Refute | ExtractIncompatible | PredicateDeclaration
Statement = Rule | Declaration


@dataclass(frozen=True, slots=True)
class Program:
    """The statements of one or several rule files, in order."""

    statements: tuple[Statement, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(s for s in self.statements if isinstance(s, Rule))

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        return tuple(s for s in self.statements if not isinstance(s, Rule))
