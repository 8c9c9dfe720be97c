"""Finds rules that repeat, subsume or contradict each other, from their text and the declarations alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from rulescore.language.printer import print_term
from rulescore.language.syntax import Atom, Condition, Constant, Falsity, Rule, Term, Variable, Wildcard
from rulescore.logic.checks import opposed
from rulescore.logic.refutation import Declared


class RelationKind(StrEnum):
    """How one rule relates to another."""

    REPEATS = "repeats"
    SUBSUMES = "subsumes"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class RuleRelation:
    """How the first rule relates to the second, both by name."""

    first: str
    kind: RelationKind
    second: str

    @property
    def words(self) -> str:
        return f"`{self.first}` {_WORDS[self.kind].format(self.second)}"


_WORDS = {
    RelationKind.REPEATS: "says the same as `{}`",
    RelationKind.SUBSUMES: "says all that `{}` says: its body asks for less",
    RelationKind.CONTRADICTS: "contradicts `{}`: if the body of that rule holds, so does its own, and both heads cannot be true",
}


def relations(rules: Sequence[tuple[str, Rule]], declared: Declared) -> Iterator[RuleRelation]:
    """The relations among rules whose heads and bodies are atoms.

    Args:
        rules: The rules with their names.
        declared: What refutes heads.

    Yields:
        At most one relation for each pair of rules. A repetition is not listed as a subsumption, too.
    """
    plain = [(name, rule) for name, rule in rules if _is_plain(rule)]
    for (name, rule), (other_name, other) in combinations(plain, 2):
        first, second = _covers(rule, other), _covers(other, rule)
        if first and second:
            yield RuleRelation(other_name, RelationKind.REPEATS, name)
        elif first:
            yield RuleRelation(name, RelationKind.SUBSUMES, other_name)
        elif second:
            yield RuleRelation(other_name, RelationKind.SUBSUMES, name)
        elif _contradicts(rule, other, declared):
            yield RuleRelation(name, RelationKind.CONTRADICTS, other_name)
        elif _contradicts(other, rule, declared):
            yield RuleRelation(other_name, RelationKind.CONTRADICTS, name)


def _is_plain(rule: Rule) -> bool:
    return isinstance(rule.head, Atom | Falsity) and all(isinstance(condition, Atom) for condition in rule.body.conditions)


def _covers(rule: Rule, other: Rule) -> bool:
    """Whether a substitution makes the heads equal, and the first body a part of the second body."""
    if type(rule.head) is not type(other.head):
        return False
    return next(_substitutions(rule, other, fixed=rule.head), None) is not None


def _contradicts(rule: Rule, other: Rule, declared: Declared) -> bool:
    """Whether the first body holds if the second body does, and the heads are then incompatible."""
    if not isinstance(rule.head, Atom) or not isinstance(other.head, Atom):
        return False
    head = other.head
    for names in _substitutions(rule, other, fixed=None):
        own = Atom(rule.head.predicate, tuple(_replaced(term, names) for term in rule.head.terms))
        if opposed(own, head, declared):
            return True
    return False


def _substitutions(rule: Rule, other: Rule, fixed: object) -> Iterator[dict[str, Term]]:
    """The substitutions that make the first body a part of the second body."""
    atoms = [condition for condition in other.body.conditions if isinstance(condition, Atom)]

    def matched(waiting: Sequence[Condition], names: dict[str, Term]) -> Iterator[dict[str, Term]]:
        if not waiting:
            yield names
            return
        for atom in atoms:
            wider = _unified(waiting[0], atom, names)
            if wider is not None:
                yield from matched(waiting[1:], wider)

    start: dict[str, Term] | None = {}
    if isinstance(fixed, Atom):
        start = _unified(fixed, other.head, {})
    return iter(()) if start is None else matched(rule.body.conditions, start)


def _unified(pattern: object, atom: object, names: dict[str, Term]) -> dict[str, Term] | None:
    """The substitution, extended to make a pattern equal to an atom; None if that is impossible."""
    if not isinstance(pattern, Atom) or not isinstance(atom, Atom):
        return None
    if (pattern.predicate, pattern.arity) != (atom.predicate, atom.arity):
        return None
    wider = dict(names)
    for own, other in zip(pattern.terms, atom.terms, strict=True):
        match own:
            case Wildcard():
                continue
            case Variable(name) if wider.setdefault(name, other) == other and not isinstance(other, Wildcard):
                continue
            case Variable():
                return None
            case Constant():  # Python takes 1 and true for equal; their texts differ
                if own != other or print_term(own) != print_term(other):
                    return None
    return wider


def _replaced(term: Term, names: Mapping[str, Term]) -> Term:
    return names.get(term.name, term) if isinstance(term, Variable) else term
