"""`closed parent.`: `refute parent(X, Y) <- not parent(X, Y).`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rulescore.errors import Span
from rulescore.language.cursor import Cursor
from rulescore.language.declarations.refute import Refute, variables
from rulescore.language.syntax import And, Atom, Not, Refuting
from rulescore.language.terms import read_predicate, write_predicate


@dataclass(frozen=True, slots=True)
class Closed(Refuting):
    """Predicate None is `closed *.`"""

    predicate: str | None
    span: Span | None = field(default=None, compare=False, repr=False)

    checkable = False

    @property
    def words(self) -> str:
        return f"closed {'*' if self.predicate is None else write_predicate(self.predicate)}"

    @property
    def refuted(self) -> tuple[str | None, ...]:
        return (self.predicate,)

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        head = Atom(predicate, variables(arity))
        yield Refute(head, And((Not(head),)), self.span, self)


def read_closed(cursor: Cursor, start: int) -> tuple[Refuting, ...]:
    return tuple(Closed(predicate, span) for predicate, span in read_predicates(cursor, start))


def read_predicates(cursor: Cursor, start: int) -> list[tuple[str | None, Span]]:
    """Predicates up to the full stop, each with its place. `*` means all of them, and has the statement's place."""
    if cursor.token.kind == "*":
        cursor.advance()
        cursor.finish("`.`")
        return [(None, cursor.span_from(start))]
    read = [_read_placed(cursor, "a predicate or `*`")]
    while cursor.token.kind == ",":
        cursor.advance()
        read.append(_read_placed(cursor, "a predicate"))
    cursor.finish("`,` or `.`")
    return read


def _read_placed(cursor: Cursor, expected: str) -> tuple[str | None, Span]:
    start = cursor.token.start
    return read_predicate(cursor, expected), cursor.span_from(start)
