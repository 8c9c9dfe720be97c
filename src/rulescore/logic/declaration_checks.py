"""Errors of declarations about tables with keys, and of refutations that are not of Horn form, even if no rule's head is
concerned."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rulescore.errors import Diagnostic
from rulescore.language.syntax import (
    Atom,
    Closed,
    Declaration,
    ExtractIncompatible,
    Functional,
    IncompatibleGroup,
    IncompatiblePair,
    PartiallyComplete,
    PredicateDeclaration,
    Refute,
    Variable,
    Wildcard,
)
from rulescore.logic.checks import two_arities
from rulescore.logic.computed import computed_variables, typed_by_body
from rulescore.logic.refutation import Declared
from rulescore.logic.resolve import Resolver
from rulescore.logic.schema import Schema


def declaration_problems(declared: Declared, schema: Schema, fast: Collection[int]) -> Iterator[Diagnostic]:
    """`fast`: the identities of the declarations of Horn form, which other checks cover."""
    for declaration in declared.declarations:
        if id(declaration) not in fast:
            computed = computed_variables(declaration) if isinstance(declaration, Refute) else frozenset[str]()
            resolver = Resolver(schema, declared.functions, [], computed=computed)
            _resolve(declaration, resolver)
            yield from resolver.problems
            if isinstance(declaration, IncompatibleGroup | IncompatiblePair):
                yield from _arities(declaration, schema)


def _resolve(declaration: Declaration, resolver: Resolver) -> None:
    match declaration:
        case Refute():
            typed = typed_by_body(declaration)
            resolver.bind(typed.head)
            bound = {term.name: term for term in typed.head.terms if isinstance(term, Variable)}
            resolver.body(typed.body, bound, typed.head)
        case Functional(str(predicate), arity, span=span) | PartiallyComplete(str(predicate), arity, span=span):
            resolver.atom(Atom(predicate, (Wildcard(),) * arity, span), {})
        case IncompatiblePair(left, right):
            for atom in (left, right):
                resolver.atom(Atom(atom.predicate, (Wildcard(),) * atom.arity, atom.span), {})
        case IncompatibleGroup(predicates, span):
            for predicate in predicates:
                resolver.name(predicate, span)
        case Closed(str(predicate), span):
            resolver.name(predicate, span)
        case PartiallyComplete() | Closed() | ExtractIncompatible() | PredicateDeclaration():
            pass


def _arities(declaration: IncompatibleGroup | IncompatiblePair, schema: Schema) -> Iterator[Diagnostic]:
    predicates = (
        declaration.predicates
        if isinstance(declaration, IncompatibleGroup)
        else (declaration.left.predicate, declaration.right.predicate)
    )
    known = {name: len(found[1]) for name in predicates if (found := schema.positions(name)) is not None}
    if len(set(known.values())) > 1:
        yield two_arities(declaration, known)
