"""Errors of rules, and warnings about suspicious ones.

`structure` needs only the rules; `meaning` also needs the vocabulary of the data. Both return every problem they find.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache

from rulescore.deadline import look_at_the_clock
from rulescore.errors import Diagnostic, Severity, place_of
from rulescore.language.builtins import TESTS, gives_value
from rulescore.language.declarations.refute import Refute
from rulescore.language.printer import print_statement
from rulescore.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Declaration,
    ExtractIncompatible,
    Operation,
    PredicateDeclaration,
    Program,
    Refuting,
    RowAtom,
    Rule,
    Test,
    Variable,
    Wildcard,
)
from rulescore.language.trees import Node, nodes_in, parts, variables_in
from rulescore.logic.binder import safety
from rulescore.logic.problems import print_argument, wrong_type
from rulescore.logic.schema import may_equal
from rulescore.logic.slips import Spellings
from rulescore.logic.types import type_of_value
from rulescore.logic.vocabulary import Names, Vocabulary, conditions_of, named_predicates, span_of, used_arities, used_atoms, uses
from rulescore.values.keys import key_of
from rulescore.values.moments import MICROSECOND
from rulescore.values.types import ValueType

TypesAt = Mapping[tuple[str, int], frozenset[ValueType]]


def structure(program: Program, names: Iterable[str], known: Names) -> list[Diagnostic]:
    """Problems that need no data."""
    problems: list[Diagnostic] = []
    is_test = cache(known.is_surely_test)
    for statement in program.statements:
        look_at_the_clock()
        match statement:
            case Rule() | Refute():
                problems += safety(statement, is_test, known.tables.get)
            case Refuting():
                problems += statement.problems()
            case ExtractIncompatible() | PredicateDeclaration():
                pass
    problems += _without_variables(program)
    problems += _idle_aggregates(program)
    problems += _duplicate_names(program, names)
    problems += _duplicate_rules(program, names)
    return problems


def _without_variables(program: Program) -> Iterator[Diagnostic]:
    """Warn of rules whose arguments are all strings of one letter: the user probably meant variables."""
    for rule in program.rules:
        terms = [term for atom in used_atoms(rule) for term in atom.terms]
        if terms and all(isinstance(term, Constant) and isinstance(term.value, str) and len(term.value) == 1 for term in terms):
            yield Diagnostic(
                "W205",
                "this rule has no variables",
                place_of(rule.span),
                notes=("variables begin with a capital letter or a question mark; anything else is a constant",),
                severity=Severity.WARNING,
            )


def _idle_aggregates(program: Program) -> Iterator[Diagnostic]:
    """Warn of aggregates whose variables all occur outside: they range over one grounding at most. Skipped for row atoms: an
    unnamed key is itself an inner variable."""
    for rule in program.rules:
        outside = {one.name for condition in conditions_of(rule) for one in variables_in(condition, aggregates=False)}
        for aggregate in (node for condition in conditions_of(rule) for node in nodes_in(condition)):
            if isinstance(aggregate, Aggregate) and not any(_ranges(node, outside) for node in nodes_in(aggregate)):
                yield Diagnostic(
                    "W207",
                    f"this `{aggregate.function}` has no variable of its own",
                    place_of(aggregate.span),
                    notes=("a variable that occurs outside of an aggregate has one value in it",),
                    helps=("give the variable that it is to range over another name",),
                    severity=Severity.WARNING,
                )


def _ranges(node: Node, outside: set[str]) -> bool:
    return isinstance(node, Wildcard | RowAtom) or (isinstance(node, Variable) and node.name not in outside)


def _duplicate_names(program: Program, names: Iterable[str]) -> Iterator[Diagnostic]:
    first: dict[str, Rule] = {}
    for rule, name in zip(program.rules, names, strict=True):
        if name in first and rule.name is not None:
            other = first[name].span
            yield Diagnostic(
                "E204",
                f"two rules are named `{name}`",
                place_of(rule.span),
                "the second",
                notes=(f"the first is at {other.place()}",) if other else (),
                helps=("give one of them another name",),
            )
        first.setdefault(name, rule)


_Key = tuple[object, ...]


def meaning_key(rule: Rule) -> _Key:
    """A key that is equal for rules that say the same in the same order, whatever the names of their variables."""
    numbers: dict[str, int] = {}

    def key(node: Node) -> _Key:
        match node:
            case Variable(name):
                return ("variable", numbers.setdefault(name, len(numbers)))
            case Constant(datetime.timedelta() as value):
                return ("duration", value // MICROSECOND)
            case Constant(value):
                return ("constant", key_of(value))
            case Atom(predicate):
                own: object = predicate
            case RowAtom(table, arguments):
                own = (table, *(attribute for attribute, _ in arguments))
            case Test(name) | Call(name):
                own = name
            case Comparison(operator) | Operation(operator):
                own = operator.value
            case Aggregate(function):
                own = function.value
            case _:
                own = None
        return (type(node).__name__, own, *(key(part) for part in parts(node)))

    return tuple(key(condition) for condition in conditions_of(rule))


def _duplicate_rules(program: Program, names: Iterable[str]) -> Iterator[Diagnostic]:
    first: dict[_Key, str] = {}
    for rule, name in zip(program.rules, names, strict=True):
        said = meaning_key(rule)
        if said in first:
            yield Diagnostic(
                "W201",
                f"rule `{name}` says the same as rule `{first[said]}`",
                place_of(rule.span),
                notes=("both count",),
                severity=Severity.WARNING,
            )
        first.setdefault(said, name)


def meaning(
    program: Program,
    vocabulary: Vocabulary,
    types: TypesAt,
    horn: Program,
    elsewhere: Callable[[str], bool],
    functions: Collection[str] = (),
    left_out: Collection[str] = (),
) -> list[Diagnostic]:
    """Problems that only the data show. `elsewhere`: whether a name is a test or an attribute of a table, so that facts do not
    have it as a predicate. `functions`: the names of registered predicates. `left_out`: notes on how many predictions we dropped
    unread."""
    problems = list(_arity_clashes(program, vocabulary, elsewhere))
    declared = {s.predicate for s in program.statements if isinstance(s, PredicateDeclaration)}
    problems += _unknown_predicates(program, vocabulary, declared, elsewhere, {*TESTS, *functions}, tuple(left_out))
    problems += _function_names(program, functions, elsewhere)
    problems += _constant_types(horn, types)
    problems += _group_arities(program, vocabulary)
    problems += _unused(program)
    return problems


def _arity_clashes(program: Program, vocabulary: Vocabulary, elsewhere: Callable[[str], bool]) -> Iterator[Diagnostic]:
    first: dict[str, tuple[int, str]] = {
        known.name: (known.arity, "the data") for known in vocabulary.predicates.values() if known.occurs
    }
    reported: set[tuple[str, int]] = set()
    for predicate, arity, span in uses(program):
        if elsewhere(predicate):
            continue
        known, where = first.setdefault(predicate, (arity, str(span.place()) if span else "another rule"))
        if arity != known and (predicate, arity) not in reported:
            reported.add((predicate, arity))
            yield Diagnostic(
                "E203",
                f"`{predicate}` has {arity} argument{'s' if arity != 1 else ''} here and {known} in {where}",
                place_of(span),
                f"{arity} argument{'s' if arity != 1 else ''}",
                helps=(f"write `{predicate}` with {known} argument{'s' if known != 1 else ''}",),
            )


def _group_arities(program: Program, vocabulary: Vocabulary) -> Iterator[Diagnostic]:
    for declaration in program.declarations:
        yield from two_arities(declaration, vocabulary.arity)


def two_arities(declaration: Declaration, arity_of: Callable[[str], int | None]) -> Iterator[Diagnostic]:
    """An error if incompatible predicates have different numbers of arguments."""
    predicates = named_predicates(declaration) if isinstance(declaration, Refuting) and declaration.opposing else ()
    arities = {predicate: arity for predicate in predicates if (arity := arity_of(predicate)) is not None}
    if len(set(arities.values())) > 1:
        yield Diagnostic(
            "E203",
            "incompatible predicates must have one number of arguments",
            place_of(declaration.span),
            notes=(", ".join(f"`{predicate}` has {arity}" for predicate, arity in arities.items()),),
        )


def _function_names(program: Program, functions: Iterable[str], elsewhere: Callable[[str], bool]) -> Iterator[Diagnostic]:
    """Problems of registered predicates whose names are taken."""
    named = {name for statement in program.statements for name in named_predicates(statement)}
    for name in functions:
        if name in TESTS or gives_value(name):
            yield Diagnostic("E210", f"`{name}` is built in and cannot be registered", helps=("register it under another name",))
        elif name in named and not elsewhere(name):
            yield Diagnostic(
                "W208",
                f"the registered predicate `{name}` is never asked: the data have a predicate of that name",
                helps=("register it under another name",),
                severity=Severity.WARNING,
            )


def _unknown_predicates(
    program: Program,
    vocabulary: Vocabulary,
    declared: set[str],
    elsewhere: Callable[[str], bool],
    tests: set[str],
    left_out: tuple[str, ...],
) -> Iterator[Diagnostic]:
    known = {p.name for p in vocabulary.predicates.values() if p.occurs} | declared
    spellings = Spellings(known | tests)
    arities = used_arities(program)
    asked: set[str] = set()
    for statement in program.statements:
        for predicate in named_predicates(statement):
            if predicate in asked or elsewhere(predicate) or (predicate in known and _has_facts(vocabulary, predicate)):
                continue
            close = None if predicate in known else spellings.closest(predicate)
            if close is None and not isinstance(statement, Rule):
                continue
            asked.add(predicate)
            span = span_of(predicate, statement)
            if close is not None:
                yield Diagnostic(
                    "E205",
                    f"predicate `{predicate}` has no facts anywhere",
                    place_of(span),
                    f"did you mean `{close}`?",
                    notes=left_out,
                    helps=(f"if the name is right, declare it: `predicate {predicate}/{arities.get(predicate, 2)}.`",),
                )
            else:
                yield Diagnostic(
                    "W203",
                    f"predicate `{predicate}` has no facts in the data or in any model's predictions",
                    place_of(span),
                    notes=left_out,
                    severity=Severity.WARNING,
                )


def _has_facts(vocabulary: Vocabulary, predicate: str) -> bool:
    found = vocabulary.predicates.get(predicate)
    return bool(found and (found.observed or found.predicted))


def literal_positions(statement: Rule | Refute) -> Iterator[tuple[Atom, int, Constant]]:
    """The constants of a statement, each with every position of an atom that holds it or a variable compared with it."""
    atoms = list(used_atoms(statement))
    for atom in atoms:
        for position, term in enumerate(atom.terms):
            if isinstance(term, Constant):
                yield atom, position, term
    for literal in statement.body.conditions:
        match literal:
            case Comparison(_, Variable(name), Constant() as constant) | Comparison(_, Constant() as constant, Variable(name)):
                for atom in atoms:
                    for position, term in enumerate(atom.terms):
                        if isinstance(term, Variable) and term.name == name:
                            yield atom, position, constant
            case _:
                pass


def _constant_types(program: Program, types: TypesAt) -> Iterator[Diagnostic]:
    reported: set[int] = set()
    for statement in program.statements:
        if types and isinstance(statement, Rule | Refute):
            for atom, position, term in literal_positions(statement):
                here = types.get((atom.predicate, position))
                if here and id(term) not in reported and not may_equal(type_of_value(term.value), here):
                    reported.add(id(term))
                    yield wrong_type(term, print_argument(atom.predicate, position), here)


def _unused(program: Program) -> Iterator[Diagnostic]:
    heads = {name for rule in program.rules for name in _head_predicates(rule)}
    anywhere = {atom.predicate for s in program.statements for atom in used_atoms(s)}
    checked = {id(rule.span) for rule in program.rules if rule.span}
    for statement in program.declarations:
        # An ontology declares for all rules, whichever the user has.
        if statement.span is not None and (statement.span.source.converted or id(statement.span) in checked):
            continue
        match statement:
            case Refuting():
                about, concerned = statement.refuted, heads
            case PredicateDeclaration(predicate):
                about, concerned = (predicate,), anywhere
            case ExtractIncompatible():
                continue
        if None not in about and not concerned.intersection(about):
            yield Diagnostic(
                "W202",
                "no rule's head is concerned by this declaration" if concerned is heads else f"no rule uses `{about[0]}`",
                place_of(statement.span),
                helps=_how_to_check(statement),
                severity=Severity.WARNING,
            )


def _how_to_check(statement: Declaration) -> tuple[str, ...]:
    if not isinstance(statement, Refuting) or not statement.checkable:
        return ()
    return (f"a declaration refutes heads, and flags no facts by itself; as a rule, too: `@check {print_statement(statement)}`",)


def _head_predicates(rule: Rule) -> Iterator[str]:
    """The predicates that the head of a rule names. A row's attributes are predicates: `table.attribute`."""
    for node in nodes_in(rule.head):
        match node:
            case Atom(predicate):
                yield predicate
            case RowAtom(table, arguments):
                yield from (f"{table}.{attribute}" for attribute, _ in arguments)
            case _:
                pass
