"""`refute p(X, Y) <- body.`: the condition on a head's arguments that every other kind of declaration is short for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from rulescore.errors import Span
from rulescore.language.conditions import read_atom, read_body
from rulescore.language.cursor import Cursor
from rulescore.language.printer import print_atom, print_body
from rulescore.language.syntax import And, Atom, Condition, Refuting, Variable


@dataclass(frozen=True, slots=True)
class Refute(Refuting):
    """`said`: the user's declaration that is short for this statement; None if the user wrote the statement itself."""

    head: Atom
    body: And
    span: Span | None = field(default=None, compare=False, repr=False)
    said: Refuting | None = field(default=None, compare=False, repr=False)

    @property
    def words(self) -> str:
        return f"refute {print_atom(self.head)} <- {print_body(self.body)}"

    @property
    def refuted(self) -> tuple[str, ...]:
        return (self.head.predicate,)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.head, self.body

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        if arity == self.head.arity:
            yield self


@lru_cache(maxsize=16)
def variables(arity: int) -> tuple[Variable, ...]:
    """The variables of an atom that we write for the user."""
    return tuple(map(Variable, "XYZ"[:arity] if arity <= 3 else (f"X{position + 1}" for position in range(arity))))


def read_refute(cursor: Cursor, start: int) -> tuple[Refuting, ...]:
    if cursor.token.kind in {"false", "⊥", "not"}:
        raise cursor.failure("E109", "the head of `refute` is one atom", cursor.token_span(cursor.token), label="not an atom")
    head = read_atom(cursor)
    cursor.expect("<-", "`<-`")
    body = read_body(cursor)
    cursor.finish("`,` or `.`")
    return (Refute(head, body, cursor.span_from(start)),)
