"""What binds the variables of a rule or a refutation, and the errors for variables that nothing binds.

A variable is bound by an atom that is not negated, or by an equation with an expression of bound variables, which it abbreviates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rulescore.errors import Diagnostic, place_of
from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Condition,
    Expression,
    Falsity,
    Head,
    Let,
    Operator,
    RowAtom,
    Test,
    Variable,
    Wildcard,
)
from rulescore.language.trees import variables_in
from rulescore.logic.disjuncts import first_uses, names_in, terms_of, why_unbound


@dataclass(frozen=True, slots=True)
class DisjunctPart:
    """One way for a body to hold, before names are resolved: the atoms that bind, the tests on what they bind, and the variables
    that abbreviate. `bound`: the variables that atoms bind, or that are bound outside."""

    atoms: tuple[Atom | RowAtom, ...]
    tests: tuple[Condition, ...]
    values: dict[str, Expression]
    bound: set[str]


def _names(expression: Expression) -> AbstractSet[str]:
    return set(names_in(expression))


def bind(
    conditions: Iterable[Condition],
    outer: Iterable[str] = (),
    is_test: Callable[[Atom | Test], bool] = lambda _: False,
    names: Callable[[Expression], AbstractSet[str]] = _names,
) -> DisjunctPart:
    """What a conjunction binds. `outer`: variables that are bound outside. `is_test`: whether an atom, by its syntax, is a test.
    `names`: the variables of an expression."""
    atoms: list[Atom | RowAtom] = []
    tests: list[Condition] = []
    equations: list[Comparison] = []
    for condition in conditions:
        match condition:
            case Atom() if not is_test(condition):
                atoms.append(condition)
            case RowAtom():
                atoms.append(condition)
            case Let(variable, value, span):
                equations.append(Comparison(Operator.EQUAL, variable, value, span))
            case Comparison(operator=Operator.EQUAL):
                equations.append(condition)
            case _:
                tests.append(condition)
    bound = {term.name for atom in atoms for term in terms_of(atom) if isinstance(term, Variable)}
    bound.update(outer)
    for test in tests:
        # Not an atom, because an argument is computed: we report that once, elsewhere, and let it bind as the user meant.
        if isinstance(test, Test) and not is_test(test):
            bound.update(one.name for one in test.arguments if isinstance(one, Variable))
    values, rest = _abbreviations(equations, bound, names)
    return DisjunctPart(tuple(atoms), (*tests, *rest), values, bound)


def _abbreviations(
    equations: list[Comparison], bound: set[str], names: Callable[[Expression], AbstractSet[str]]
) -> tuple[dict[str, Expression], list[Comparison]]:
    """Variables that only an equation binds, with the expression they stand for, and the equations that are left."""
    values: dict[str, Expression] = {}
    left = equations
    while True:
        for equation in left:
            found = _abbreviated(equation, bound | values.keys(), names)
            if found is not None:
                values[found[0]] = found[1]
                left = [one for one in left if one is not equation]
                break
        else:
            return values, left


def _abbreviated(
    equation: Comparison, known: set[str], names: Callable[[Expression], AbstractSet[str]]
) -> tuple[str, Expression] | None:
    for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
        if isinstance(side, Variable) and side.name not in known and names(other) <= known:
            return side.name, other
    return None


def body_problems(body: And, parts: Sequence[DisjunctPart], names: AbstractSet[str] | None = None) -> Iterator[Diagnostic]:
    """Errors for variables that some part does not bind, one each. `names`: the variables of the rule itself; None: of tests."""
    reported: set[str] = set()
    for part in parts:
        wanted = {one.name for test in part.tests for one in variables_in(test)} if names is None else names
        missing = wanted - part.bound - part.values.keys() - reported
        for variable in first_uses(body, missing) if missing else ():
            reported.add(variable.name)
            why = "one side of `or` does not bind it" if len(parts) > 1 else why_unbound(body, variable.name)
            yield unsafe(variable, why, alternatives=len(parts) > 1)


def unsafe(variable: Variable, why: str, *, alternatives: bool = False) -> Diagnostic:
    """The error for an unbound variable. `alternatives`: the condition has an `or`."""
    where = "in every part of an `or`, " if alternatives else ""
    return Diagnostic(
        "E202",
        f"variable `{variable.name}` is unsafe: {why}",
        place_of(variable.span),
        "not bound",
        notes=(f"{where}a variable is bound by a positive atom, or by `=` or `let` to constants and bound variables",),
        helps=(f"add an atom that mentions `{variable.name}`",),
    )


def head_problems(head: Head, known: Collection[str]) -> Iterator[Diagnostic]:
    """Errors for variables of a head that are not `known`, one each."""
    unbound: dict[str, Variable] = {}
    for variable in () if isinstance(head, Falsity) else variables_in(head):
        if variable.name not in known:
            unbound.setdefault(variable.name, variable)
    for name, variable in unbound.items():
        yield Diagnostic(
            "E201",
            f"head variable `{name}` is not bound by the body",
            place_of(variable.span),
            "not bound",
            notes=("every head variable must occur in the body",),
            helps=(f"add a body atom that mentions `{name}`, or use a constant",),
        )


def wildcard_problems(head: Atom | RowAtom) -> Iterator[Diagnostic]:
    """An error for every `_` of an atom of a head."""
    for term in terms_of(head):
        if isinstance(term, Wildcard):
            yield Diagnostic(
                "E208",
                "a head cannot have `_`",
                place_of(term.span),
                "stands for nothing the body binds",
                helps=("name the variable and bind it in the body",),
            )
