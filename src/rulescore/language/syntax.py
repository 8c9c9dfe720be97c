"""The syntax tree of a rule file. Nothing here computes; spans take no part in equality.

Three layers: terms stand in atoms, expressions are computed from terms, conditions are true, false or unknown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from rulescore.errors import Diagnostic, Span
from rulescore.language.words import Kind as Kind
from rulescore.values import Value

if TYPE_CHECKING:
    from rulescore.language.declarations.refute import Refute
    from rulescore.language.trees import Occurrences


class Operator(StrEnum):
    EQUAL = "="
    DIFFERENT = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


class Arithmetic(StrEnum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULO = "mod"


class Aggregation(StrEnum):
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "avg"
    LEAST = "min"
    GREATEST = "max"
    COUNT_DISTINCT = "count_distinct"


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
    """A typed value. Python takes `True`, `1` and `1.0` for equal; if it matters, compare the keys of `values.keys`: by them `1`
    and `1.0` are one constant and `true` is another."""

    value: Value
    span: Span | None = field(default=None, compare=False, repr=False)


Term = Variable | Wildcard | Constant


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the row at hand, by name: only in derived attributes and in conditions on hidden rows, never in rules."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operation:
    operator: Arithmetic
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negative:
    """`-X`. A minus before a number is part of the number."""

    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values: `abs(P - Q)`."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`avg(Q : sale(zip: Z, price: Q))`: over the groundings of the variables that occur in it alone."""

    function: Aggregation
    value: Expression
    condition: And
    span: Span | None = field(default=None, compare=False, repr=False)


Expression = Variable | Constant | Attribute | Operation | Negative | Call | Aggregate


@dataclass(frozen=True, slots=True)
class Atom:
    """`predicate(terms)`. Until names are resolved this may also be a test written with plain terms, `starts_with(X, "A")`."""

    predicate: str
    terms: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def arity(self) -> int:
        return len(self.terms)


@dataclass(frozen=True, slots=True)
class RowAtom:
    """`sale(id: A, zip: Z, price: P)`: attributes of one row of a table with a key, in the order written, each once."""

    table: str
    arguments: tuple[tuple[str, Term], ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(term for _, term in self.arguments)


@dataclass(frozen=True, slots=True)
class Test:
    """A decidable predicate of values, built in or registered: `within(P, Q, 500)`, `plausible(P / S)`."""

    predicate: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Operator
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """`X in {a, b, c}`."""

    value: Expression
    constants: tuple[Constant, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Let:
    """`let M = P / S`: the variable abbreviates the expression."""

    variable: Variable
    value: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction, in the order written; at least one part."""

    conditions: tuple[Condition, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction, in the order written; two parts or more."""

    conditions: tuple[Condition, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Falsity:
    """The head of a denial constraint."""

    span: Span | None = field(default=None, compare=False, repr=False)


Condition = Atom | RowAtom | Test | Comparison | Membership | Let | Not | And | Or
Head = Atom | RowAtom | Test | Comparison | Membership | Not | And | Or | Falsity


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a rule's violations: a thing, a path from it as SPARQL writes paths, and a value at the end of the path."""

    focus: Variable | Constant
    path: str | None = None
    value: Variable | Constant | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """`confidence` and `support`: figures of the program that found the rule. `about`: the subject of its violations."""

    head: Head
    body: And
    name: str | None = None
    kind: Kind | None = None
    weight: float = 1.0
    description: str | None = None
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    support: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    about: About | None = None


class Refuting(ABC):
    """A declaration that refutes heads. Each kind is a file in `language/declarations` and is short for `refute` statements.

    `opposing`: each statement asks for one other fact of the head's arguments. Fast plans look such facts up by sets. `checkable`:
    facts can break it, so `@check` makes a rule of it."""

    __slots__ = ()
    span: Span | None
    opposing: ClassVar[bool] = False
    checkable: ClassVar[bool] = True

    @property
    @abstractmethod
    def words(self) -> str:
        """The statement as the user writes it, without the full stop."""

    @property
    @abstractmethod
    def refuted(self) -> tuple[str | None, ...]:
        """The predicates whose facts it can refute; None stands for all predicates."""

    @abstractmethod
    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        """The statements that refute facts of one of its predicates; none if it applies to another number of arguments."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The content of the declaration, as predicates with their arguments; a head comes first."""
        return ()

    def parts(self) -> Iterator[Refuting]:
        """Declarations that together say the same. `@check` makes one rule of each."""
        yield self

    def problems(self) -> Iterable[Diagnostic]:
        """Errors that need no data, in trees built by hand: the parser reports its own."""
        return ()

    def example(self) -> Refute | None:
        """One statement that it is short for. It has two arguments if the declaration does not say how many. None if the
        declaration applies to all predicates."""
        predicate, *_ = self.refuted
        arity = next((atom.arity for atom in self.conditions if isinstance(atom, Atom)), 2)
        return None if predicate is None else next(self.refutations(predicate, arity), None)


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


@dataclass(frozen=True, slots=True)
class Definition:
    """`define animal(X) <- is_a(X, K), K in {cat, dog}.`: `head` holds of the variables that it picks from a fact. `members`: the
    values that the other variables may have. Whatever makes the fact hold makes the head hold. `chained`: `define reaches(X, Y) <-
    chain leads(X, Y).`, which holds of the ends of every chain of observed facts."""

    head: Atom
    fact: Atom
    members: tuple[Membership, ...] = ()
    chained: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


Declaration = Refuting | ExtractIncompatible | PredicateDeclaration | Definition
Statement = Rule | Declaration


@dataclass(frozen=True)
class Program:
    """The statements of one or several rule files, in order. Callers ask for its parts in loops, so we pick them out once."""

    statements: tuple[Statement, ...]

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(s for s in self.statements if isinstance(s, Rule))

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        return tuple(s for s in self.statements if not isinstance(s, Rule))

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The definitions by the names of what they define."""
        return {s.head.predicate: s for s in self.statements if isinstance(s, Definition)}

    @cached_property
    def occurrences(self) -> Occurrences:
        """What the statements name."""
        from rulescore.language.trees import occurrences

        return occurrences(self)
