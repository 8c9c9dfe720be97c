"""Horn rules over binary predicates as data, read from other tools' files and written in the package's rule language.

The benchmarks have readers of their own so that the contenders share no code with the package they are compared with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_CLAUSE_ATOM = re.compile(r"(!?)(\S+)\((\w+), ?(\w+)\)")
_ANYBURL_ATOM = re.compile(r"([^\s(]+)\(([^\s,]+),([^\s,]+)\)")
# AnyBURL's name for "the same entity as the variable beside it".
MYSELF = "me_myself_i"


@dataclass(frozen=True, slots=True)
class Term:
    """A variable when `variable` holds, else a constant of that name."""

    name: str
    variable: bool = True


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    first: Term
    second: Term

    @property
    def terms(self) -> tuple[Term, Term]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class Rule:
    head: Atom
    body: tuple[Atom, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The rule's variables, each once, in the order of their first occurrence in the body."""
        return tuple(dict.fromkeys(t.name for atom in self.body for t in atom.terms if t.variable))


def read_clauses(path: Path) -> list[Rule]:
    """The rules of a file of weighted clauses, `1.0 !p(A, B) v !q(B, C) v h(A, C)`."""
    return [_clause(line) for line in path.read_text().splitlines() if line.strip()]


def _clause(line: str) -> Rule:
    atoms = [(negated == "!", Atom(name, Term(a), Term(b))) for negated, name, a, b in _CLAUSE_ATOM.findall(line)]
    (head,) = (atom for negated, atom in atoms if not negated)
    return Rule(head, tuple(atom for negated, atom in atoms if negated))


def read_anyburl(lines: Iterable[str]) -> Iterator[Rule]:
    """The rules of an AnyBURL file. A rule with an empty body has no meaning here and is left out."""
    for line in lines:
        head, body = line.rstrip("\n").split("\t")[3].split(" <= ")
        if body:
            yield Rule(_anyburl_atoms(head)[0], _anyburl_atoms(body))


def _anyburl_atoms(text: str) -> tuple[Atom, ...]:
    return tuple(_anyburl_atom(*found) for found in _ANYBURL_ATOM.findall(text))


def _anyburl_atom(predicate: str, first: str, second: str) -> Atom:
    a = second if first == MYSELF else first
    b = first if second == MYSELF else second
    return Atom(predicate, *(Term(name, variable=len(name) == 1 and name.isupper()) for name in (a, b)))


def is_chain(rule: Rule) -> bool:
    """Whether a rule is h(X, Y) <- b1(X, Z), b2(Z, Y), each atom in either direction."""
    if len(rule.body) != 2 or not all(t.variable for atom in (rule.head, *rule.body) for t in atom.terms):
        return False
    left, right = ({t.name for t in atom.terms} for atom in rule.body)
    ends = {t.name for t in rule.head.terms}
    return len(left & right) == 1 and len(left) == len(right) == len(ends) == 2 and ends == left ^ right


def program(rules: Iterable[Rule], incompatible: Iterable[str]) -> str:
    """The rules, named r0, r1, … in order, and one group of incompatible predicates, in the package's rule language."""
    lines = [f"r{i}: {_atom_text(r.head)} <- {', '.join(map(_atom_text, r.body))}." for i, r in enumerate(rules)]
    lines.append(f"incompatible {', '.join(f'`{name}`' for name in incompatible)}.")
    return "\n".join(lines) + "\n"


def _atom_text(atom: Atom) -> str:
    return f"`{atom.predicate}`({', '.join(t.name if t.variable else json.dumps(t.name) for t in atom.terms)})"


def to_json(rules: Iterable[Rule]) -> str:
    return json.dumps([[_atom_json(r.head), *map(_atom_json, r.body)] for r in rules])


def _atom_json(atom: Atom) -> list[object]:
    return [atom.predicate, *([t.name, t.variable] for t in atom.terms)]


def from_json(text: str) -> list[Rule]:
    return [Rule(head, tuple(body)) for head, *body in (list(map(_json_atom, atoms)) for atoms in json.loads(text))]


def _json_atom(atom: tuple[str, tuple[str, bool], tuple[str, bool]]) -> Atom:
    predicate, first, second = atom
    return Atom(predicate, Term(*first), Term(*second))
