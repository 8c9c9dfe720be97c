"""`incompatible p, q.`, `incompatible p(X, Y), q(Y, X).`: `refute p(X, Y) <- q(X, Y).`, and the other way round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from rulescore.errors import Diagnostic, Span, place_of
from rulescore.language.conditions import read_atom
from rulescore.language.cursor import Cursor
from rulescore.language.declarations.refute import Refute, variables
from rulescore.language.printer import print_atom
from rulescore.language.syntax import And, Atom, Refuting, Variable
from rulescore.language.terms import read_predicate, write_predicate


@dataclass(frozen=True, slots=True)
class IncompatibleGroup(Refuting):
    """`incompatible aunt, uncle, father.`: pairwise, on the same arguments in the same order."""

    predicates: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    opposing = True

    @property
    def words(self) -> str:
        return f"incompatible {', '.join(map(write_predicate, self.predicates))}"

    @property
    def refuted(self) -> tuple[str, ...]:
        return self.predicates

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        terms = variables(arity)
        head = Atom(predicate, terms)
        for other in self.predicates:
            if other != predicate:
                yield Refute(head, And((Atom(other, terms),)), self.span, self)

    def parts(self) -> Iterator[Refuting]:
        return map(IncompatibleGroup, combinations(self.predicates, 2))

    def problems(self) -> Iterator[Diagnostic]:
        for predicate, times in Counter(self.predicates).items():
            if times > 1:
                yield _with_itself(predicate, self.span, "named twice", "name each predicate once")


@dataclass(frozen=True, slots=True)
class IncompatiblePair(Refuting):
    """`incompatible p(X, Y), q(Y, X).`: the variables of both atoms are the same, each once."""

    left: Atom
    right: Atom
    span: Span | None = field(default=None, compare=False, repr=False)

    opposing = True

    @property
    def words(self) -> str:
        return f"incompatible {print_atom(self.left)}, {print_atom(self.right)}"

    @property
    def refuted(self) -> tuple[str, ...]:
        return self.left.predicate, self.right.predicate

    @property
    def conditions(self) -> tuple[Atom, ...]:
        return self.left, self.right

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        for head, other in ((self.left, self.right), (self.right, self.left)):
            if head.predicate == predicate and head.arity == arity:
                yield Refute(head, And((other,)), self.span, self)

    def problems(self) -> Iterator[Diagnostic]:
        if self.left == self.right:
            name = self.left.predicate
            yield _with_itself(name, self.span, "", f"for asymmetry write the arguments the other way round in the second `{name}`")


def _with_itself(predicate: str, span: Span | None, label: str, advice: str) -> Diagnostic:
    return Diagnostic("E116", f"`{predicate}` cannot be incompatible with itself", place_of(span), label, helps=(advice,))


def read_incompatible(cursor: Cursor, start: int) -> tuple[Refuting, ...]:
    items = cursor.several(_read_predicate_or_atom)
    cursor.finish("`,` or `.`")
    span = cursor.span_from(start)
    names = tuple(item for item in items if isinstance(item, str))
    match items:
        case [Atom() as left, Atom() as right]:
            _check_pair(cursor, left, right, span)
            return (IncompatiblePair(left, right, span),)
        case [_, _, *_] if len(names) == len(items):
            _check_group(cursor, names, span)
            return (IncompatibleGroup(names, span),)
    raise cursor.failure(
        "E116",
        "`incompatible` takes two names or more, or exactly two atoms",
        span,
        help="write `incompatible p, q, s.` or `incompatible p(X, Y), q(Y, X).`",
    )


def _read_predicate_or_atom(cursor: Cursor) -> str | Atom:
    if cursor.token.kind in {"word", "quoted", "dotted"} and cursor.following.kind == "(":
        return read_atom(cursor)
    return read_predicate(cursor, "a predicate")


def _check_group(cursor: Cursor, names: tuple[str, ...], span: Span) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            advice = f"name it once; for asymmetry write `incompatible {name}(X, Y), {name}(Y, X).`"
            cursor.report("E116", f"`{name}` cannot be incompatible with itself", span, help=advice)


def _check_pair(cursor: Cursor, left: Atom, right: Atom, span: Span) -> None:
    shape = "both atoms have the same variables, each of them once, and nothing else"
    variables = [[term.name for term in atom.terms if isinstance(term, Variable)] for atom in (left, right)]
    arguments = [len(atom.terms) for atom in (left, right)]
    if set(variables[0]) != set(variables[1]) or [len(set(names)) for names in variables] != arguments:
        advice = "write `incompatible p(X, Y), q(Y, X).`; other shapes are said by `refute p(X, Y) <- body.`"
        cursor.report("E116", "the two atoms of `incompatible` do not match", span, note=shape, help=advice)
    elif left == right:
        advice = "to say that no such fact is true, write `refute p(X, Y) <- p(X, Y).`"
        cursor.report("E116", f"`{left.predicate}` cannot be incompatible with itself", span, help=advice)
