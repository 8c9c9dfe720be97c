"""Which rules some facts could refute, and which predictions a rule concerns. The declarations decide both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rulescore.errors import Diagnostic, Severity
from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Condition,
    Constant,
    Falsity,
    Head,
    Let,
    Membership,
    Not,
    Or,
    RowAtom,
    Rule,
    Term,
    Test,
    Variable,
    Wildcard,
)
from rulescore.language.trees import nodes_in
from rulescore.logic.refutation import Declared
from rulescore.logic.schema import NEGATIVE
from rulescore.logic.vocabulary import named_in_rule
from rulescore.values.keys import key_of

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Refuters:
    """What refutes atoms. `tests`: whether the name of an atom is that of a test, which needs no declaration. `keys`: the key
    attributes of each table."""

    declared: Declared
    tests: Callable[[str], bool]
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def could_refute(self, head: Head) -> bool:
        """Whether some facts could refute the head of a rule."""
        return isinstance(head, Falsity) or self._answers(head)[1]

    def _answers(self, head: Condition) -> tuple[bool, bool]:
        """Whether some facts could confirm the head, and whether some could refute it."""
        match head:
            case Atom(predicate):
                return True, self.tests(predicate) or self._refuted(head)
            case RowAtom():
                return True, any(map(self._refuted, self._attribute_atoms(head)))
            case Comparison() | Membership() | Test() | Let():
                return True, True
            case Not(inner):
                confirmed, refuted = self._answers(inner)
                return refuted, confirmed
            case And(conditions):
                found = [self._answers(one) for one in conditions]
                return all(c for c, _ in found), any(r for _, r in found)
            case Or(conditions):
                found = [self._answers(one) for one in conditions]
                return any(c for c, _ in found), all(r for _, r in found)

    def _refuted(self, atom: Atom) -> bool:
        ways = self.declared.ways(atom.predicate, atom.arity, grouped=False)
        return self.declared.in_a_group(atom.predicate) or any(_agree(atom.terms, way.head.terms) for way in ways)

    def _attribute_atoms(self, atom: RowAtom) -> Iterator[Atom]:
        """`sale(id: A, zip: Z, price: P)` says `sale.zip(A, Z)` and `sale.price(A, P)`."""
        given = dict(atom.arguments)
        key = self.keys[atom.table]
        for attribute, term in atom.arguments:
            if attribute not in key:
                yield Atom(f"{atom.table}.{attribute}", (*(given[one] for one in key), term))


_Node = str | tuple[int, str]
"""A constant, by its key, or a variable of one of two atoms."""


def _agree(terms: Sequence[Term], others: Sequence[Term]) -> bool:
    """Whether two atoms of one predicate could be the same fact. Their variables are different ones, whatever their names."""
    stands_for: dict[_Node, _Node] = {}
    for term, other in zip(terms, others, strict=True):
        left, right = _node(0, term), _node(1, other)
        if left is None or right is None:
            continue
        while left in stands_for:
            left = stands_for[left]
        while right in stands_for:
            right = stands_for[right]
        if left == right:
            continue
        if isinstance(left, tuple):
            stands_for[left] = right
        elif isinstance(right, tuple):
            stands_for[right] = left
        else:
            return False
    return True


def _node(side: int, term: Term) -> _Node | None:
    """The node of a term; None for `_`, which may be anything."""
    match term:
        case Variable(name):
            return side, name
        case Constant(value):
            return key_of(value)
        case Wildcard():
            return None


@dataclass(frozen=True, slots=True)
class Concerned:
    """The predicates that stand in some rule, and in some rule that can be refuted; and those of each denial constraint, by the
    number of the rule."""

    by_any: frozenset[str]
    by_refutable: frozenset[str]
    by_denial: Mapping[int, frozenset[str]]


def concerned(
    rules: Iterable[Rule],
    unrefutable: Sequence[bool],
    declared: Declared,
    *,
    keys: Mapping[str, tuple[str, ...]],
    targets: Mapping[str, str],
    in_sql: Iterable[str],
    refuting: bool,
) -> Concerned:
    """`unrefutable`: whether each rule is. `keys`: the key attributes of each table. `targets`: for each attribute that changes
    with its table's target, the predicate of the predictions. `in_sql`: the predicates whose predictions rules in SQL read.
    `refuting`: predictions take part as refuters, so the predicates that refute a head count as predicates of its rule."""
    every: set[str] = set(in_sql)
    of_refutable = set(every)
    heads: set[tuple[str, int]] = set()
    by_denial: dict[int, frozenset[str]] = {}
    for number, (rule, exempt) in enumerate(zip(rules, unrefutable, strict=True)):
        names = {targets.get(name, name) for name in named_in_rule(rule)}
        every |= names
        if isinstance(rule.head, Falsity):
            by_denial[number] = frozenset(names)
        if not exempt:
            of_refutable |= names
            heads |= set(_in_the_head(rule.head, keys))
    if refuting:
        found = {targets.get(name, name) for name in _refuting(heads, declared)}
        every |= found
        of_refutable |= found
    return Concerned(frozenset(every), frozenset(of_refutable), by_denial)


def _refuting(heads: set[tuple[str, int]], declared: Declared) -> Iterator[str]:
    """The predicates of facts that refute one of these heads. `heads`: predicates with their numbers of arguments."""
    predicates = {predicate for predicate, _ in heads}
    for group in declared.groups:
        if not predicates.isdisjoint(group):
            yield from group
    for predicate, arity in heads:
        for way in declared.ways(predicate, arity, grouped=False):
            yield from (name.removeprefix(NEGATIVE) for name in named_in_rule(way))


def _in_the_head(head: Head | Condition, keys: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, int]]:
    """The predicates of the atoms of a head, with their numbers of arguments; without the atoms in aggregates."""
    match head:
        case Atom(predicate, arguments) | Test(predicate, arguments):
            yield predicate, len(arguments)
        case RowAtom(table, named):
            yield from ((f"{table}.{attribute}", len(keys[table]) + 1) for attribute, _ in named)
        case Not(inner):
            yield from _in_the_head(inner, keys)
        case And(conditions) | Or(conditions):
            for one in conditions:
                yield from _in_the_head(one, keys)
        case Comparison() | Membership() | Let() | Falsity():
            return


def unrefutable_rules(exempt: Sequence[tuple[str, Rule]], rules: int, offered: tuple[str, ...] = ()) -> Diagnostic:
    """The warning about the rules, given with their names, that nothing can refute. `rules`: how many there are in all. `offered`:
    the declarations that the data suggest."""
    number = f"{len(exempt):,} of {rules:,} rules" if rules > 1 else "the only rule"
    return Diagnostic(
        "W211",
        f"{number} can never be refuted, so that 0 violations say nothing",
        notes=what_is_exempt(exempt),
        helps=offered or (WHAT_TO_DECLARE,),
        severity=Severity.WARNING,
    )


WHAT_TO_DECLARE = (
    "say what makes a conclusion `p(a, b)` wrong: `extract incompatible.`, `incompatible p, q.`, `closed p.`, "
    "`functional p(X -> Y).`, `pca p(X -> Y).`, a `refute` statement, or negative facts"
)


def what_is_exempt(exempt: Sequence[tuple[str, Rule]]) -> tuple[str, ...]:
    """The rules that nothing could refute, and the predicates of their heads."""
    return f"rules: {_first([name for name, _ in exempt])}", f"nothing declared refutes {_first(head_predicates(exempt))}"


def head_predicates(rules: Iterable[tuple[str, Rule]]) -> list[str]:
    """The predicates of the heads of rules, each once."""
    return list(dict.fromkeys(name for _, rule in rules for name in _head_predicates(rule)))


def _head_predicates(rule: Rule) -> Iterator[str]:
    for node in nodes_in(rule.head):
        match node:
            case Atom(predicate):
                yield predicate
            case RowAtom(table):
                yield table
            case _:
                pass


def _first(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f", and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(f"`{name}`" for name in names[:_MOST_NAMES]) + more
