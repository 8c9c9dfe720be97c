"""Rules of the whole language, as data for the oracle: expressions, conditions, tables with keys.

Terms, constants, facts and plain atoms are those of `oracle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import oracle
from oracle import Atom, Constant, Term, Variable

BUILT_IN_TESTS = ("starts_with", "ends_with", "contains", "within")


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


@dataclass(frozen=True)
class FormulaRule:
    """`head` None is ⊥, a denial constraint."""

    name: str
    head: Condition | None
    body: Condition
    kind: str | None = None
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Refutation:
    """`refute head <- body`."""

    head: Atom
    body: Condition


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

    def from_target(self) -> frozenset[str]:
        """The target and the derived attributes that read it, directly or through others."""
        found = {self.target} - {None}
        for name, value in self.derived:
            if found & attributes_of(value):
                found.add(name)
        return frozenset(str(name) for name in found)


@dataclass(frozen=True)
class FormulaSetting(oracle.Setting):
    """A setting whose rules are `FormulaRule` and whose auxiliary rules are `Refutation`. `observed` holds plain facts; the
    attribute facts of the tables are observed beside them."""

    tables: tuple[Table, ...] = ()
    functions: Mapping[str, Callable[..., bool | None]] = field(default_factory=dict)


# Walking


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Operation(_, left, right):
            return (left, right)
        case Negative(operand):
            return (operand,)
        case Call(_, arguments):
            return arguments
        case _:
            return ()


def attributes_of(expression: Expression) -> set[str]:
    own = {expression.name} if isinstance(expression, AttributeName) else set()
    return own.union(*(attributes_of(part) for part in parts_of(expression)))


def expressions_of(condition: Condition) -> tuple[Expression, ...]:
    """The expressions that stand in a condition itself, not in its parts."""
    match condition:
        case Comparison(_, left, right):
            return (left, right)
        case Member(value, _):
            return (value,)
        case Let(variable, value):
            return (variable, value)
        case Test(_, arguments):
            return arguments
        case _:
            return ()


def conditions_of(condition: Condition) -> tuple[Condition, ...]:
    match condition:
        case Not(inner):
            return (inner,)
        case And(parts) | Or(parts):
            return parts
        case _:
            return ()


def aggregates_of(expression: Expression) -> Iterator[Aggregate]:
    """The aggregates of an expression, not those within them."""
    if isinstance(expression, Aggregate):
        yield expression
    for part in parts_of(expression):
        yield from aggregates_of(part)


def terms_of(condition: Condition) -> tuple[Term, ...]:
    match condition:
        case Atom(_, terms):
            return terms
        case RowAtom(_, arguments):
            return tuple(term for _, term in arguments)
        case Some(atoms):
            return tuple(term for atom in atoms for term in atom.terms)
        case _:
            return ()


def names_in(expression: Expression) -> set[str]:
    """All variables, those within aggregates too."""
    match expression:
        case Variable(name):
            return {name}
        case Aggregate(_, value, condition):
            return names_in(value) | names_in_condition(condition)
        case _:
            return set().union(*(names_in(part) for part in parts_of(expression)))


def names_in_condition(condition: Condition) -> set[str]:
    found = {term.name for term in terms_of(condition) if isinstance(term, Variable)}
    found = found.union(*(names_in(one) for one in expressions_of(condition)))
    return found.union(*(names_in_condition(part) for part in conditions_of(condition)))


def atoms_in(condition: Condition) -> Iterator[Atom]:
    """Plain atoms anywhere, in aggregates too."""
    if isinstance(condition, Atom):
        yield condition
    for part in conditions_of(condition):
        yield from atoms_in(part)
    for expression in expressions_of(condition):
        for aggregate in aggregates_of(expression):
            yield from atoms_in(aggregate.condition)
