"""Rules in normal form: wildcards are variables, abbreviations are replaced, and every variable has a number.

A `Pattern` is a conjunction over one fact set. Rules and refutations are both patterns with a head, so everything that counts
groundings works on patterns alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rulescore.data.constants import key_of
from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Constant,
    Expression,
    Falsity,
    Not,
    Operator,
    Refute,
    Rule,
    Term,
    Variable,
    Wildcard,
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable of the grounding, by number."""

    index: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant, by key."""

    key: str


@dataclass(frozen=True, slots=True)
class Free:
    """A place of a negated atom that may hold anything."""


Slot = Bound | Fixed | Free


@dataclass(frozen=True, slots=True)
class PatternAtom:
    predicate: str
    slots: tuple[Slot, ...]

    @property
    def arity(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class Test:
    """Two slots that must be equal, or must differ."""

    equal: bool
    left: Slot
    right: Slot


@dataclass(frozen=True, slots=True)
class Pattern:
    """Positive atoms, negated atoms and tests over variables 0 … `len(variables)` - 1, named for people."""

    atoms: tuple[PatternAtom, ...]
    negated: tuple[PatternAtom, ...]
    tests: tuple[Test, ...]
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NormalRule:
    """A rule ready to be planned. `head` is None for a denial constraint."""

    pattern: Pattern
    head: PatternAtom | None


@dataclass(frozen=True, slots=True)
class Refutation:
    """`predicate(0, …, arity-1)` is refuted where the pattern holds; its further variables are existential."""

    predicate: str
    arity: int
    pattern: Pattern


def positive_variables(body: And) -> set[str]:
    """Names bound by positive atoms."""
    return {
        term.name
        for literal in body.conditions
        if isinstance(literal, Atom)
        for term in literal.terms
        if isinstance(term, Variable)
    }


def abbreviations(body: And, bound: Iterable[str]) -> dict[str, Term]:
    """Variables that only an equation binds, with the constant or bound variable they stand for."""
    stands_for: dict[str, Term] = {}
    known = set(bound)
    equations = [c for c in body.conditions if isinstance(c, Comparison) and c.operator is Operator.EQUAL]
    while True:
        for equation in equations:
            for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
                if not isinstance(side, Variable) or side.name in known or side.name in stands_for:
                    continue
                if isinstance(other, Constant):
                    stands_for[side.name] = other
                elif isinstance(other, Variable) and (other.name in known or other.name in stands_for):
                    stands_for[side.name] = stands_for.get(other.name, other)
                else:
                    continue
                break
            else:
                continue
            break
        else:
            return stands_for


class _Numbering:
    """Gives numbers to variables in the order of their first use, and new ones to wildcards."""

    def __init__(self, names: Iterable[str], stands_for: dict[str, Term]) -> None:
        self.names: list[str] = list(names)
        self._stands_for = stands_for
        self._index = {name: i for i, name in enumerate(self.names)}

    def slot(self, term: Term) -> Slot:
        match term:
            case Constant(value):
                return Fixed(key_of(value))
            case Variable(name):
                if name in self._stands_for:
                    return self.slot(self._stands_for[name])
                return Bound(self._number(name))
            case Wildcard():
                self.names.append("_")
                return Bound(len(self.names) - 1)

    def _number(self, name: str) -> int:
        if name not in self._index:
            self._index[name] = len(self.names)
            self.names.append(name)
        return self._index[name]

    def atom(self, atom: Atom) -> PatternAtom:
        return PatternAtom(atom.predicate, tuple(self.slot(term) for term in atom.terms))

    def negated(self, atom: Atom) -> PatternAtom:
        return PatternAtom(atom.predicate, tuple(Free() if isinstance(term, Wildcard) else self.slot(term) for term in atom.terms))


def _pattern(body: And, numbering: _Numbering, extra: tuple[Test, ...] = ()) -> Pattern:
    atoms = tuple(numbering.atom(c) for c in body.conditions if isinstance(c, Atom))
    negated = tuple(numbering.negated(c.condition) for c in body.conditions if isinstance(c, Not) and isinstance(c.condition, Atom))
    tests = tuple(
        Test(c.operator is Operator.EQUAL, numbering.slot(_term(c.left)), numbering.slot(_term(c.right)))
        for c in body.conditions
        if isinstance(c, Comparison)
    )
    kept = tuple(test for test in (*extra, *tests) if not (test.equal and test.left == test.right))
    return Pattern(atoms, negated, kept, tuple(numbering.names))


def _term(expression: Expression) -> Term:
    """Rules of this family compare nothing but terms."""
    assert isinstance(expression, Variable | Constant)
    return expression


def normal_rule(rule: Rule) -> NormalRule:
    """The normal form of a rule that passed the checks."""
    numbering = _Numbering((), abbreviations(rule.body, positive_variables(rule.body)))
    pattern = _pattern(rule.body, numbering)
    match rule.head:
        case Falsity():
            return NormalRule(pattern, None)
        case Atom() as head:
            return NormalRule(pattern, numbering.atom(head))
        case _:
            raise AssertionError("not a rule of this family")


def normal_refutation(statement: Refute) -> Refutation:
    """The normal form of `refute p(X, Y) <- body`: constants and repeated variables of the head become tests."""
    names: list[str] = []
    extra: list[Test] = []
    for position, term in enumerate(statement.head.terms):
        match term:
            case Variable(name) if name not in names:
                names.append(name)
                continue
            case Variable(name):
                extra.append(Test(True, Bound(position), Bound(names.index(name))))
            case Constant(value):
                extra.append(Test(True, Bound(position), Fixed(key_of(value))))
            case Wildcard():
                pass
        # No variable can have this name: the position itself has no name of its own.
        names.append(f" {position}")
    bound = positive_variables(statement.body) | set(names)
    numbering = _Numbering(names, abbreviations(statement.body, bound))
    return Refutation(statement.head.predicate, statement.head.arity, _pattern(statement.body, numbering, tuple(extra)))
