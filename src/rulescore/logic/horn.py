"""Decides which rules are Horn rules, so the fast plans can count them, and what a convention counts."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from rulescore.errors import Diagnostic
from rulescore.language import syntax
from rulescore.language.declarations.refute import Refute
from rulescore.language.trees import named_predicates
from rulescore.logic.normal import Refutation, normal_refutation
from rulescore.logic.refutation import Declared, Opposition, identity, numbered, opposition
from rulescore.logic.vocabulary import Vocabulary
from rulescore.setting.choices import Convention, Role
from rulescore.setting.options import ScoringOptions

IsPredicate = Callable[[str], bool]
"""Whether a name is a predicate of plain facts, not an attribute of a table and not a test."""


def is_horn_literal(condition: syntax.Condition, is_predicate: IsPredicate) -> bool:
    match condition:
        case (syntax.Atom() as atom) | syntax.Not(syntax.Atom() as atom):
            return is_horn_atom(atom, is_predicate)
        case syntax.Comparison(
            syntax.Operator.EQUAL | syntax.Operator.DIFFERENT,
            syntax.Variable() | syntax.Constant(),
            syntax.Variable() | syntax.Constant(),
        ):
            return not _has_duration((condition.left, condition.right))
        case _:
            return False


def is_horn_atom(atom: syntax.Atom, is_predicate: IsPredicate) -> bool:
    # We look at rules as written: resolving names and types first would take two fifths longer for all rules (0017).
    return is_predicate(atom.predicate) and not _has_duration(atom.terms)


def _has_duration(values: Iterable[object]) -> bool:
    """Whether a duration is among the constants. No fact holds one, so the fast plans have no key for it; formulas report it."""
    return any(isinstance(value, syntax.Constant) and isinstance(value.value, datetime.timedelta) for value in values)


def is_horn_body(body: syntax.And, is_predicate: IsPredicate) -> bool:
    return all(is_horn_literal(condition, is_predicate) for condition in body.conditions)


def is_horn_refutation(statement: Refute, is_predicate: IsPredicate) -> bool:
    return is_horn_atom(statement.head, is_predicate) and is_horn_body(statement.body, is_predicate)


def is_horn_rule(rule: syntax.Rule, is_predicate: IsPredicate, general: Collection[str | None]) -> bool:
    """`general`: the predicates that some declaration not of Horn form can refute."""
    match rule.head:
        case syntax.Falsity():
            fits = True
        case syntax.Atom() as atom:
            fits = is_horn_atom(atom, is_predicate) and atom.predicate not in general
        case _:
            fits = False
    return fits and is_horn_body(rule.body, is_predicate)


def horn_program(program: syntax.Program, is_predicate: IsPredicate) -> tuple[syntax.Program, frozenset[int]]:
    """The statements of Horn form, and the numbers of the Horn rules. If a declaration that is not of Horn form can refute the head
    of a rule, the rule is not a Horn rule."""
    others = [declaration for declaration in program.declarations if not _is_horn(declaration, is_predicate)]
    general = {name for declaration in others if isinstance(declaration, syntax.Refuting) for name in declaration.refuted}
    used = program.occurrences
    # Usually all names are predicates. Then rules that consist of atoms are Horn rules, and need no further check.
    surely = not general and all(is_predicate(name) for name, _ in used.first)
    fast = frozenset(
        number
        for number, (rule, plain) in enumerate(zip(program.rules, used.plain, strict=True))
        if (surely and plain) or is_horn_rule(rule, is_predicate, general)
    )
    if len(fast) == len(program.rules) and not others:
        return program, fast
    left_out = {id(rule) for i, rule in enumerate(program.rules) if i not in fast}.union(map(id, others))
    return syntax.Program(tuple(statement for statement in program.statements if id(statement) not in left_out)), fast


def _is_horn(declaration: syntax.Declaration, is_predicate: IsPredicate) -> bool:
    """Whether the plans of Horn rules can look up a declaration: it is about plain facts and compares nothing but terms."""
    # The statements that a declaration is short for differ in names and places only, so one is enough.
    statement = declaration.example() if isinstance(declaration, syntax.Refuting) else None
    fits = statement is None or is_horn_refutation(statement, is_predicate)
    return fits and all(map(is_predicate, named_predicates(declaration)))


# Finds the refuters of heads of Horn rules, in the form in which plans look them up.


@dataclass(frozen=True, slots=True)
class Refutations:
    """All ways to refute. `groups` are sets of predicates that are pairwise incompatible on the same arguments. `general`: the
    conditions beyond oppositions that can refute a predicate, which we normalise when somebody asks for them."""

    groups: tuple[tuple[str, ...], ...] = ()
    oppositions: tuple[Opposition, ...] = ()
    general: Callable[[str], tuple[Refutation, ...]] = field(default=lambda _: (), compare=False, repr=False)


def opposed_both_ways(ways: Refutations) -> bool:
    """Whether one predicate opposes some head in two argument orders, so one fact may oppose it twice."""
    if not ways.oppositions:
        return False
    seen: set[tuple[str, str]] = set()
    groups = numbered(ways.groups)
    for against in ways.oppositions:
        pair = (against.head, against.opponent)
        straight = against.order == identity(len(against.order))
        if pair in seen or (not straight and not groups.get(against.head, set()).isdisjoint(groups.get(against.opponent, set()))):
            return True
        seen.add(pair)
    return False


def refutations(declared: Declared, vocabulary: Vocabulary, is_predicate: IsPredicate = lambda _: True) -> Refutations:
    """What refutes each known predicate, for predicates that Horn rules can have in their heads."""

    @cache
    def general(predicate: str) -> tuple[Refutation, ...]:
        arity = vocabulary.arity(predicate)
        ways = () if arity is None else declared.ways(predicate, arity, grouped=False)
        return tuple(normal_refutation(way) for way in ways if opposition(way) is None and is_horn_refutation(way, is_predicate))

    is_known = cache(is_predicate)
    groups = (tuple(dict.fromkeys(filter(is_known, group))) for group in declared.declared_groups)
    pairs = (pair for pair in declared.extracted if is_known(pair[0]) and is_known(pair[1]))
    ways = (way for known in vocabulary.predicates.values() for way in declared.ways(known.name, known.arity, grouped=False))
    opposed = dict.fromkeys(against for way in ways if (against := opposition(way)) and is_known(against.opponent))
    return Refutations((*groups, *pairs), tuple(opposed), general)


_ROLES = {
    Convention.DEFINITION: frozenset({Role.BODY, Role.HEAD}),
    Convention.APPENDIX: frozenset({Role.BODY, Role.HEAD, Role.REFUTER}),
}


def roles(options: ScoringOptions) -> frozenset[Role]:
    """The roles in which a prediction takes part."""
    return _ROLES[options.convention] if options.roles is None else options.roles


def distinct_variables(options: ScoringOptions) -> bool:
    """Whether any two variables must have different constants."""
    if options.distinct_variables is not None:
        return options.distinct_variables
    return options.convention is Convention.APPENDIX


def unsuitable(
    options: ScoringOptions, rules: Sequence[tuple[str, syntax.Rule]], declared: Declared, fast: Collection[int]
) -> Iterator[Diagnostic]:
    """Errors that list every rule that the convention cannot count. `fast`: the numbers of the Horn rules."""
    if options.convention is Convention.APPENDIX:

        @cache
        def refuted_otherwise(predicate: str, arity: int) -> str | None:
            oppositions = [opposition(way) for way in declared.ways(predicate, arity, grouped=False)]
            if None in oppositions:
                return f"`{predicate}` is refuted by more than incompatible predicates"
            return f"`{predicate}` is refuted by negative facts" if predicate in declared.negative else None

        reasons = {
            name: reason for i, (name, rule) in enumerate(rules) if (reason := _reason(rule, refuted_otherwise, horn=i in fast))
        }
        helps = (
            "it needs a head of one atom, a body of positive atoms, and refutation by incompatible predicates only; "
            'use convention "definition" for the others',
        )
        yield from _listed("E251", "the appendix convention", reasons, helps)


def _listed(code: str, what: str, reasons: Mapping[str, str], helps: tuple[str, ...]) -> Iterator[Diagnostic]:
    if reasons:
        message = f"{what} cannot count {len(reasons)} rule{'s' if len(reasons) != 1 else ''}"
        notes = tuple(f"`{name}`: {reason}" for name, reason in reasons.items())
        yield Diagnostic(code, message, notes=notes, helps=helps)


def _reason(rule: syntax.Rule, refuted_otherwise: Callable[[str, int], str | None], *, horn: bool) -> str | None:
    if not isinstance(rule.head, syntax.Atom):
        return "its head is `false`" if isinstance(rule.head, syntax.Falsity) else "its head is not one atom"
    more = "its body has more than positive atoms"
    if not all(isinstance(literal, syntax.Atom) for literal in rule.body.conditions):
        return more
    return refuted_otherwise(rule.head.predicate, rule.head.arity) or (None if horn else more)
