"""Horn rules in normal form: wildcards are variables, abbreviations are replaced, and every variable has a number.

A `Pattern` is a conjunction over one set of facts. Rules and refutations are both patterns with a head, so all code that counts
groundings works on patterns alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rulescore.language import syntax
from rulescore.language.declarations.refute import Refute
from rulescore.logic.binding import bind
from rulescore.values import key_of


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
    """A place of a negated atom that any constant fits."""


Slot = Bound | Fixed | Free


@dataclass(frozen=True, slots=True)
class PatternAtom:
    predicate: str
    slots: tuple[Slot, ...]

    @property
    def arity(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class EqualityTest:
    """Two slots that must be equal, or must differ."""

    equal: bool
    left: Slot
    right: Slot


@dataclass(frozen=True, slots=True)
class Pattern:
    """Positive atoms, negated atoms and tests over variables 0 … `len(variables)` - 1, named for people."""

    atoms: tuple[PatternAtom, ...]
    negated: tuple[PatternAtom, ...]
    tests: tuple[EqualityTest, ...]
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NormalRule:
    """A rule ready to be planned. `head` is None for a denial constraint."""

    pattern: Pattern
    head: PatternAtom | None


@dataclass(frozen=True, slots=True)
class Refutation:
    """`predicate(0, …, arity-1)` is refuted if the pattern holds; its further variables are existential."""

    predicate: str
    arity: int
    pattern: Pattern


class _Numbering:
    """Numbers variables in the order of their first use, and each wildcard as a variable of its own."""

    def __init__(self, names: Iterable[str], stands_for: Mapping[str, syntax.Expression]) -> None:
        self.names: list[str] = list(names)
        self._stands_for = stands_for
        self._index = {name: i for i, name in enumerate(self.names)}

    def slot(self, term: syntax.Term) -> Slot:
        match term:
            case syntax.Constant(value):
                return Fixed(key_of(value))
            case syntax.Variable(name):
                if name in self._stands_for:
                    return self.slot(_term(self._stands_for[name]))
                return Bound(self._variable_number(name))
            case syntax.Wildcard():
                self.names.append("_")
                return Bound(len(self.names) - 1)

    def _variable_number(self, name: str) -> int:
        if name not in self._index:
            self._index[name] = len(self.names)
            self.names.append(name)
        return self._index[name]

    def atom(self, atom: syntax.Atom) -> PatternAtom:
        return PatternAtom(atom.predicate, tuple(self.slot(term) for term in atom.terms))

    def negated(self, atom: syntax.Atom) -> PatternAtom:
        return PatternAtom(
            atom.predicate, tuple(Free() if isinstance(term, syntax.Wildcard) else self.slot(term) for term in atom.terms)
        )


def _pattern(body: syntax.And, numbering: _Numbering, extra: tuple[EqualityTest, ...] = ()) -> Pattern:
    atoms = tuple(numbering.atom(c) for c in body.conditions if isinstance(c, syntax.Atom))
    negated = tuple(
        numbering.negated(c.condition)
        for c in body.conditions
        if isinstance(c, syntax.Not) and isinstance(c.condition, syntax.Atom)
    )
    tests = tuple(
        EqualityTest(c.operator is syntax.Operator.EQUAL, numbering.slot(_term(c.left)), numbering.slot(_term(c.right)))
        for c in body.conditions
        if isinstance(c, syntax.Comparison)
    )
    kept = tuple(test for test in (*extra, *tests) if not (test.equal and test.left == test.right))
    return Pattern(atoms, negated, kept, tuple(numbering.names))


def _term(expression: syntax.Expression) -> syntax.Term:
    """The expression as a term: Horn rules compare nothing but terms."""
    assert isinstance(expression, syntax.Variable | syntax.Constant)
    return expression


def normal_rule(rule: syntax.Rule) -> NormalRule:
    """The normal form of a rule that passed the checks."""
    numbering = _Numbering((), bind(rule.body.conditions).values)
    pattern = _pattern(rule.body, numbering)
    match rule.head:
        case syntax.Falsity():
            return NormalRule(pattern, None)
        case syntax.Atom() as head:
            return NormalRule(pattern, numbering.atom(head))
        case _:
            raise AssertionError("not a rule of this family")


def normal_refutation(statement: Refute) -> Refutation:
    """The normal form of `refute p(X, Y) <- body`: constants and repeated variables of the head become tests."""
    names: dict[str, int] = {}
    extra: list[EqualityTest] = []
    for position, term in enumerate(statement.head.terms):
        match term:
            case syntax.Variable(name) if name not in names:
                names[name] = position
                continue
            case syntax.Variable(name):
                extra.append(EqualityTest(True, Bound(position), Bound(names[name])))
            case syntax.Constant(value):
                extra.append(EqualityTest(True, Bound(position), Fixed(key_of(value))))
            case syntax.Wildcard():
                pass
        # No variable can have this name. It marks a position that has no variable, or repeats one.
        names[f" {position}"] = position
    numbering = _Numbering(names, bind(statement.body.conditions, names).values)
    return Refutation(statement.head.predicate, statement.head.arity, _pattern(statement.body, numbering, tuple(extra)))
