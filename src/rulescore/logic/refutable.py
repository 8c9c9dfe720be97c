"""Which rules could ever be refuted, whatever the facts, and which predictions a rule concerns. What is declared decides both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rulescore.data.constants import key_of
from rulescore.errors import Diagnostic, Severity
from rulescore.language.syntax import (
    And,
    Atom,
    Closed,
    Comparison,
    Condition,
    Constant,
    Declaration,
    ExtractIncompatible,
    Falsity,
    Functional,
    Head,
    IncompatibleGroup,
    IncompatiblePair,
    Let,
    Membership,
    Not,
    Or,
    PredicateDeclaration,
    Refute,
    RowAtom,
    Rule,
    Term,
    Test,
    Variable,
    Wildcard,
)
from rulescore.language.trees import nodes_in
from rulescore.logic.usage import named_in_rule, named_predicates

CODES = {"W211": "rules that nothing declared could ever refute"}

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Refuters:
    """What refutes atoms. `every`: all predicates are closed. `predicates`: those whose every atom something can refute. `heads`:
    those of `refute` statements, by predicate. `tests`: says whether what is written like an atom is a test, which decides itself.
    `keys`: the key attributes of each table."""

    every: bool
    predicates: frozenset[str]
    heads: Mapping[str, Sequence[Atom]]
    tests: Callable[[str], bool]
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def could_refute(self, head: Head) -> bool:
        """Whether the head of a rule could be refuted."""
        return isinstance(head, Falsity) or self._answers(head)[1]

    def _answers(self, head: Condition) -> tuple[bool, bool]:
        """Whether it could be confirmed, and whether it could be refuted."""
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
        if self.every or atom.predicate in self.predicates:
            return True
        return any(_agree(atom.terms, head.terms) for head in self.heads.get(atom.predicate, ()))

    def _attribute_atoms(self, atom: RowAtom) -> Iterator[Atom]:
        """`sale(id: A, zip: Z, price: P)` says `sale.zip(A, Z)` and `sale.price(A, P)`."""
        given = dict(atom.arguments)
        key = self.keys[atom.table]
        for attribute, term in atom.arguments:
            if attribute not in key:
                yield Atom(f"{atom.table}.{attribute}", (*(given[one] for one in key), term))


def refuters(
    declarations: Iterable[Declaration],
    extracted: Iterable[tuple[str, str]],
    negative: Iterable[str],
    tests: Callable[[str], bool],
    keys: Mapping[str, tuple[str, ...]],
) -> Refuters:
    """`extracted`: incompatible pairs that the data gave. `negative`: the predicates with negative facts."""
    every = False
    predicates = set(negative)
    heads: defaultdict[str, list[Atom]] = defaultdict(list)
    for pair in extracted:
        predicates.update(pair)
    for declaration in declarations:
        match declaration:
            case Closed(None):
                every = True
            case Closed(predicate=str(predicate)) | Functional(predicate=predicate):
                predicates.add(predicate)
            case IncompatibleGroup(named):
                predicates.update(named)
            case IncompatiblePair(left, right):
                predicates.update((left.predicate, right.predicate))
            case Refute(head):
                heads[head.predicate].append(head)
            case Closed() | ExtractIncompatible() | PredicateDeclaration():
                pass
    return Refuters(every, frozenset(predicates), heads, tests, keys)


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
    """None: it may be anything."""
    match term:
        case Variable(name):
            return side, name
        case Constant(value):
            return key_of(value)
        case Wildcard():
            return None


@dataclass(frozen=True, slots=True)
class Concerned:
    """The predicates that stand in some rule, and in some rule that can be refuted."""

    by_any: frozenset[str]
    by_refutable: frozenset[str]


def concerned(
    rules: Iterable[Rule],
    unrefutable: Sequence[bool],
    declarations: Iterable[Declaration],
    extracted: Iterable[tuple[str, str]],
    *,
    targets: Mapping[str, str],
    in_sql: Iterable[str],
    refuting: bool,
) -> Concerned:
    """`unrefutable`: of each rule. `targets`: attributes that change with the target of their table, and the predicate of its
    predictions. `in_sql`: the predicates whose predictions rules in SQL read. `refuting`: predictions take part as refuters too,
    so that what refutes a head belongs to its rule."""
    every: set[str] = set(in_sql)
    of_refutable = set(every)
    heads: set[str] = set()
    for rule, exempt in zip(rules, unrefutable, strict=True):
        names = {targets.get(name, name) for name in named_in_rule(rule)}
        every |= names
        if not exempt:
            of_refutable |= names
            heads |= set(_in_the_head(rule.head))
    if refuting:
        found = {targets.get(name, name) for name in _refuting(heads, declarations, extracted)}
        every |= found
        of_refutable |= found
    return Concerned(frozenset(every), frozenset(of_refutable))


def _refuting(heads: set[str], declarations: Iterable[Declaration], extracted: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The predicates of facts that refute one of these heads."""
    for pair in extracted:
        if not heads.isdisjoint(pair):
            yield from pair
    for declaration in declarations:
        match declaration:
            case Refute(head):
                if head.predicate in heads:
                    yield from named_in_rule(declaration)
                continue
            case IncompatibleGroup() | IncompatiblePair() | Functional():
                refuted = set(named_predicates(declaration))
            case Closed() | ExtractIncompatible() | PredicateDeclaration():
                continue
        if heads & refuted:
            yield from named_predicates(declaration)


def _in_the_head(head: Head | Condition) -> Iterator[str]:
    """The predicates of the atoms of a head, those of aggregates in it left out."""
    match head:
        case Atom(predicate) | Test(predicate):
            yield predicate
        case RowAtom(table, arguments):
            yield from (f"{table}.{attribute}" for attribute, _ in arguments)
        case Not(inner):
            yield from _in_the_head(inner)
        case And(conditions) | Or(conditions):
            for one in conditions:
                yield from _in_the_head(one)
        case Comparison() | Membership() | Let() | Falsity():
            return


def unrefutable_rules(exempt: Sequence[tuple[str, Rule]], rules: int, offered: tuple[str, ...] = ()) -> Diagnostic:
    """The warning that counts the rules, with their names, that can never be refuted. `rules`: how many there are. `offered`: what
    to declare, by what the data look like."""
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
    "`functional p(X -> Y).`, a `refute` statement, or negative facts"
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
