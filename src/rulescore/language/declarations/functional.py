"""`functional p(X -> Y).`: `refute p(X, Y) <- p(X, OtherY), Y != OtherY.`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from rulescore.errors import Span
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.declarations.refute import Refute, variables
from rulescore.language.syntax import And, Atom, Comparison, Operator, Refuting, Term, Variable, Wildcard
from rulescore.language.terms import read_predicate, read_term, write_predicate


@dataclass(frozen=True, slots=True)
class Dependency(Refuting):
    """Keys determine values: `p(X, Y -> Z)`, or `p(X, Y, Z) on Z -> X`. Predicate None stands for all predicates."""

    predicate: str | None
    arity: int = 2
    keys: tuple[int, ...] = (0,)
    values: tuple[int, ...] = (1,)
    span: Span | None = field(default=None, compare=False, repr=False)

    word: ClassVar[str]

    @property
    def words(self) -> str:
        """The text of the declaration, in the short form if the keys are the leading arguments and the values all others."""
        if self.predicate is None:
            return f"{self.word} *"
        names = [variable.name for variable in variables(self.arity)]
        keys = ", ".join(names[position] for position in self.keys)
        values = ", ".join(names[position] for position in self.values)
        short = self.keys + self.values == tuple(range(self.arity))
        arguments = f"({keys} -> {values})" if short else f"({', '.join(names)}) on {keys} -> {values}"
        return f"{self.word} {write_predicate(self.predicate)}{arguments}"

    @property
    def refuted(self) -> tuple[str | None, ...]:
        return (self.predicate,)

    @property
    def conditions(self) -> tuple[Atom, ...]:
        return () if self.predicate is None else (Atom(self.predicate, (Wildcard(),) * self.arity, self.span),)


@dataclass(frozen=True, slots=True)
class Functional(Dependency):
    word = "functional"

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        if arity != self.arity:
            return
        keys, terms = set(self.keys), variables(arity)
        others = tuple(term if i in keys else Variable(f"Other{term.name}") for i, term in enumerate(terms))
        head, other = Atom(predicate, terms), Atom(predicate, others)
        for value in self.values:
            differs = Comparison(Operator.DIFFERENT, terms[value], others[value])
            yield Refute(head, And((other, differs)), self.span, self)

    def parts(self) -> Iterator[Refuting]:
        return (replace(self, values=(value,)) for value in self.values)


def read_functional(cursor: Cursor, start: int) -> tuple[Refuting, ...]:
    predicate = read_predicate(cursor, "a predicate")
    return (Functional(predicate, *read_dependency(cursor, "functional", start)),)


def read_dependency(cursor: Cursor, word: str, start: int) -> tuple[int, tuple[int, ...], tuple[int, ...], Span]:
    """The number of arguments, the positions of keys and of values, and the whole statement: `(X, Y -> Z)`, `(X, Y) on Y -> X`."""
    if cursor.token.kind != "(":
        raise _no_dependency(cursor, word, f"`{word}` does not say what determines what", cursor.span_from(start))
    cursor.advance()
    terms = _read_terms(cursor)
    if cursor.token.kind == "->":
        cursor.advance()
        keys, values = terms, _read_terms(cursor)
        cursor.expect(")", "`,` or `)`")
        # Names of variables do not say places, but everybody who writes `p(Y -> X)` means that the second argument determines the
        # first.
        terms = (*values, *keys) if (keys, values) == ((Variable("Y"),), (Variable("X"),)) else (*keys, *values)
    else:
        cursor.expect(")", "`,`, `->` or `)`")
        if (cursor.token.kind, cursor.token.text) != ("word", "on"):
            raise _no_dependency(cursor, word, f"`{word}` does not say what determines what", cursor.span_from(start))
        cursor.advance()
        keys = _read_terms(cursor)
        cursor.expect("->", "`,` or `->`")
        values = _read_terms(cursor)
    cursor.finish("`.`")
    span = cursor.span_from(start)
    _check_dependency(cursor, word, terms, keys, values, span)
    names = [term.name if isinstance(term, Variable) else None for term in terms]
    return len(terms), _positions(names, keys), _positions(names, values), span


def _read_terms(cursor: Cursor) -> tuple[Term, ...]:
    """The terms up to the end of their list. If there are none, the caller reports it."""
    if cursor.token.kind in {"->", ")", "."}:
        return ()
    return tuple(cursor.several(read_term))


def _check_dependency(
    cursor: Cursor, word: str, terms: tuple[Term, ...], keys: tuple[Term, ...], values: tuple[Term, ...], span: Span
) -> None:
    """Raises unless keys and values are different variables of the atom, at least one of each."""
    if not keys or not values:
        raise _no_dependency(cursor, word, f"`{word}` has no {'value' if keys else 'key'}", span)
    arguments = set(terms)
    for term in (*keys, *values):
        if not isinstance(term, Variable):
            raise _no_dependency(cursor, word, f"keys and values of `{word}` are variables", term.span or span)
        if term not in arguments:
            raise _no_dependency(cursor, word, f"`{term.name}` is not an argument of the predicate", term.span or span)
    for among in (terms, (*keys, *values)):
        seen: set[Term] = set()
        for term in among:
            if isinstance(term, Variable) and term in seen:
                raise _no_dependency(cursor, word, f"the variable `{term.name}` is repeated", term.span or span)
            if not isinstance(term, Variable | Wildcard):
                raise _no_dependency(cursor, word, f"the arguments of `{word}` are variables", term.span or span)
            seen.add(term)


def _no_dependency(cursor: Cursor, word: str, message: str, span: Span) -> StatementError:
    return cursor.failure(
        "E116",
        message,
        span,
        note="keys determine values: different variables, at least one on each side of `->`",
        help=f"write `{word} p(X -> Y).`, or `{word} p(X, Y, Z) on Z -> X.`",
    )


def _positions(names: list[str | None], terms: tuple[Term, ...]) -> tuple[int, ...]:
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(numbers[term.name] for term in terms if isinstance(term, Variable))
