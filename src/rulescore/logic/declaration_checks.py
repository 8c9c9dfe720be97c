"""Errors of declarations about tables with keys, and of refutations that are not of Horn form, even if no rule's head is
concerned."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rulescore.errors import Diagnostic
from rulescore.language.declarations.refute import Refute
from rulescore.language.syntax import Atom, Refuting, Variable, Wildcard
from rulescore.logic.checks import two_arities
from rulescore.logic.computed import computed_variables, typed_by_body
from rulescore.logic.refutation import Declared
from rulescore.logic.resolve import Resolver
from rulescore.logic.schema import Schema
from rulescore.logic.vocabulary import used_atoms


def declaration_problems(declared: Declared, schema: Schema, fast: Collection[int]) -> Iterator[Diagnostic]:
    """`fast`: the identities of the declarations of Horn form, which other checks cover."""

    def arity(predicate: str) -> int | None:
        found = schema.positions(predicate)
        return None if found is None else len(found[1])

    for declaration in declared.declarations:
        if isinstance(declaration, Refuting) and id(declaration) not in fast:
            computed = computed_variables(declaration) if isinstance(declaration, Refute) else frozenset[str]()
            resolver = Resolver(schema, declared.functions, [], computed=computed)
            _resolve(declaration, resolver)
            yield from resolver.problems
            yield from two_arities(declaration, arity)


def _resolve(declaration: Refuting, resolver: Resolver) -> None:
    if isinstance(declaration, Refute):
        typed = typed_by_body(declaration)
        resolver.bind(typed.head)
        bound = {term.name: term for term in typed.head.terms if isinstance(term, Variable)}
        resolver.body(typed.body, bound, typed.head)
        return
    for atom in used_atoms(declaration):
        resolver.atom(Atom(atom.predicate, (Wildcard(),) * atom.arity, atom.span), {})
    for predicate in () if declaration.conditions else declaration.refuted:
        if predicate is not None:
            resolver.name(predicate, declaration.span)
