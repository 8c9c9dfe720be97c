"""What the statements of a program name, collected in one walk: every check asks, and mined rules are a hundred thousand."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from rulescore.errors import Span
from rulescore.language.syntax import Atom, Constant, Falsity, PredicateDeclaration, Program, Rule, Statement
from rulescore.language.trees import used_atoms
from rulescore.values import key_of

Argument = tuple[str, int, int]
"""A predicate, how many arguments it has, and the number of one of them."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """`first`: where a predicate is first used with so many arguments, in an atom or in its declaration. `plain`: for each rule,
    whether it is made of atoms alone. `constants`: those of plain rules by place and key, each where it first stands. `others`: the
    statements that are no plain rules."""

    first: dict[tuple[str, int], Span | None]
    plain: tuple[bool, ...]
    constants: dict[tuple[Argument, str], Constant]
    others: tuple[Statement, ...]


def occurrences(program: Program) -> Occurrences:
    """What the statements of a program name."""
    first: dict[tuple[str, int], Span | None] = {}
    plain: list[bool] = []
    constants: dict[tuple[Argument, str], Constant] = {}
    others: list[Statement] = []
    for statement in program.statements:
        atoms: Iterable[Atom] | None = _atoms(statement) if isinstance(statement, Rule) else None
        if isinstance(statement, Rule):
            plain.append(atoms is not None)
        if atoms is not None:
            _add_constants(constants, atoms)
        else:
            others.append(statement)
            atoms = used_atoms(statement)
        for atom in atoms:
            use = atom.predicate, len(atom.terms)
            if use not in first:
                first[use] = atom.span
        if isinstance(statement, PredicateDeclaration):
            first.setdefault((statement.predicate, statement.arity), statement.span)
    return Occurrences(first, tuple(plain), constants, tuple(others))


def _atoms(rule: Rule) -> list[Atom] | None:
    """The atoms of a plain rule. None for any other, also if it has a duration, which no fact holds, or is of a converted file,
    which may speak of what the data do not have."""
    if rule.span is not None and rule.span.source.converted:
        return None
    atoms = []
    for part in rule.body.conditions if isinstance(rule.head, Falsity) else (rule.head, *rule.body.conditions):
        if not isinstance(part, Atom):
            return None
        for term in part.terms:
            if isinstance(term, Constant) and isinstance(term.value, datetime.timedelta):
                return None
        atoms.append(part)
    return atoms


def _add_constants(constants: dict[tuple[Argument, str], Constant], atoms: Iterable[Atom]) -> None:
    for atom in atoms:
        for position, term in enumerate(atom.terms):
            if isinstance(term, Constant):
                assert not isinstance(term.value, datetime.timedelta)
                constants.setdefault(((atom.predicate, len(atom.terms), position), key_of(term.value)), term)
