"""`pca p(X -> Y).`, partial completeness: `refute p(X, Y) <- p(X, _), not p(X, Y).`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rulescore.language.cursor import Cursor
from rulescore.language.declarations.closed import read_predicates
from rulescore.language.declarations.functional import Dependency, read_dependency
from rulescore.language.declarations.refute import Refute, variables
from rulescore.language.syntax import And, Atom, Not, Refuting, Wildcard
from rulescore.language.terms import read_predicate


@dataclass(frozen=True, slots=True)
class PartiallyComplete(Dependency):
    """If some values of a key are known, all are. Predicate None is `pca *.`: all predicates of two places."""

    word = "pca"
    checkable = False

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        if arity != self.arity:
            return
        head = Atom(predicate, variables(arity))

        def fact(*places: int) -> Atom:
            """A fact that agrees with the head at these places."""
            return Atom(predicate, tuple(term if i in places else Wildcard() for i, term in enumerate(head.terms)))

        yield Refute(head, And((fact(*self.keys), Not(fact(*self.keys, *self.values)))), self.span, self)


def read_pca(cursor: Cursor, start: int) -> tuple[Refuting, ...]:
    if cursor.token.kind == "*" or cursor.following.kind != "(":
        return tuple(PartiallyComplete(predicate, span=span) for predicate, span in read_predicates(cursor, start))
    predicate = read_predicate(cursor, "a predicate")
    return (PartiallyComplete(predicate, *read_dependency(cursor, "pca", start)),)
