"""Rules, tables and settings as data: terms, expressions, conditions, and what refutes heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from oracle.facts import Constant, Facts

DEFINITION, APPENDIX = "definition", "appendix"
BODY, HEAD, REFUTER = "body", "head", "refuter"
BUILT_IN_TESTS = ("starts_with", "ends_with", "contains", "within")


@dataclass(frozen=True)
class Variable:
    name: str


@dataclass(frozen=True)
class Wildcard:
    pass


Term = Variable | Wildcard | Constant


# Expressions


@dataclass(frozen=True)
class AttributeName:
    """An attribute of the row at hand: in derived attributes only."""

    name: str


@dataclass(frozen=True)
class Operation:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Negative:
    operand: Expression


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Aggregate:
    function: str
    value: Expression
    condition: Condition


Expression = Variable | Constant | AttributeName | Operation | Negative | Call | Aggregate


# Conditions


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class RowAtom:
    table: str
    arguments: tuple[tuple[str, Term], ...]


@dataclass(frozen=True)
class Some:
    """There are values of the variables that nothing else names under which all these atoms hold. Rules do not have it: it is
    what `_` and an unnamed key mean where they do not bind."""

    atoms: tuple[Atom, ...]


@dataclass(frozen=True)
class Test:
    __test__ = False

    predicate: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Comparison:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Member:
    value: Expression
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class Let:
    variable: Variable
    value: Expression


@dataclass(frozen=True)
class Not:
    condition: Condition


@dataclass(frozen=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Condition, ...]


Condition = Atom | RowAtom | Some | Test | Comparison | Member | Let | Not | And | Or


# Rules and what refutes their heads


@dataclass(frozen=True)
class Rule:
    """`head` None is ⊥, a denial constraint."""

    name: str
    head: Condition | None
    body: Condition
    kind: str | None = None
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Incompatible:
    """Two atoms over the same variables that cannot both be true; each refutes the other."""

    left: Atom
    right: Atom


@dataclass(frozen=True)
class Functional:
    """Facts of the predicate that agree at the key positions agree at the value positions. Positions count from 0."""

    predicate: str
    keys: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class Refutation:
    """`refute head <- body`."""

    head: Atom
    body: Condition


@dataclass(frozen=True)
class Definition:
    """`define head <- fact, X in {a, b}`: the head holds of the variables that it shares with a fact for which the members hold."""

    head: Atom
    fact: Atom
    members: tuple[Member, ...] = ()
    chained: bool = False


# Settings


@dataclass(frozen=True)
class Table:
    """Rows with a key. `rows` are Python values, None where one is missing; the rows whose column `hidden` is true have no
    target that anybody may read. `derived` may read derived attributes before them."""

    name: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    target: str | None = None
    hidden: str | None = None
    derived: tuple[tuple[str, Expression], ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        return (*(name for name, _ in self.columns), *(name for name, _ in self.derived))

    def predicate(self, attribute: str) -> str:
        return f"{self.name}.{attribute}"


@dataclass(frozen=True, eq=False)
class Setting:
    """What is evaluated. `observed` holds plain facts; the attribute facts of the tables are observed beside them. Two settings are
    never equal: what is computed of one can be kept for it."""

    observed: Facts
    rules: tuple[Rule, ...]
    predictions: Mapping[str, Facts] = field(default_factory=dict)
    negatives: Facts = frozenset()
    closed: frozenset[str] = frozenset()
    closed_all: bool = False
    incompatible: tuple[Incompatible, ...] = ()
    functional: tuple[Functional, ...] = ()
    complete: tuple[Functional, ...] = ()
    complete_all: bool = False
    auxiliary: tuple[Refutation, ...] = ()
    definitions: tuple[Definition, ...] = ()
    extract: bool = False
    convention: str = DEFINITION
    distinct_variables: bool | None = None
    roles: frozenset[str] | None = None
    hard_needs: int = 1
    tables: tuple[Table, ...] = ()
    functions: Mapping[str, Callable[..., bool | None]] = field(default_factory=dict)

    @property
    def counted_roles(self) -> frozenset[str]:
        if self.roles is not None:
            return self.roles
        return frozenset({BODY, HEAD} if self.convention == DEFINITION else {BODY, HEAD, REFUTER})

    @property
    def every_fact(self) -> Facts:
        """The plain facts that anybody states: observed, negative or predicted."""
        return self.observed.union(self.negatives, *self.predictions.values())

    def completions(self, predicate: str, arity: int) -> tuple[Functional, ...]:
        """What `pca` says of a predicate: the keys that have all their values in the facts, if they have any."""
        everything = (Functional(predicate, (0,), (1,)),) if self.complete_all and arity == 2 else ()
        return (*everything, *(one for one in self.complete if one.predicate == predicate))

    def is_closed(self, predicate: str) -> bool:
        return self.closed_all or predicate in self.closed
