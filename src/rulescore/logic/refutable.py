"""Finds the rules that some facts could refute, the predictions that rules concern, and declarations that the data suggest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rulescore.errors import Diagnostic, Severity, ticked
from rulescore.language import syntax
from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.pca import PartiallyComplete
from rulescore.language.printer import print_statement
from rulescore.language.trees import named_in, nodes_in
from rulescore.logic.formula import NEGATIVE
from rulescore.logic.refutation import Declared
from rulescore.values import key_of

_MOST = 5


@dataclass(frozen=True, slots=True)
class ArgumentCounts:
    """How many facts a predicate of two arguments has, and how many different first and second arguments."""

    facts: int
    first: int
    second: int


def offers(
    heads: Sequence[str], pairs: Collection[tuple[str, str]], counts: Mapping[str, ArgumentCounts], observed: Collection[str]
) -> tuple[str, ...]:
    """Declarations that could refute heads, each with its support in the data. `pairs`: predicates that share no tuple of them."""
    concerned = sum(1 for pair in pairs if not set(heads).isdisjoint(pair))
    offers = []
    if keys := sum(counts[head].first for head in heads if head in counts):
        said = print_statement(PartiallyComplete(None))
        offers.append(
            f"as rule miners do, assume that the facts of a first argument are complete; the heads have {keys:,} of them: {said}"
        )
    if concerned:
        said = print_statement(syntax.ExtractIncompatible())
        offers.append(f"{concerned:,} pairs of a head's predicate and another never hold of the same arguments: {said}")
    if functional := list(_functional(heads, counts)):
        offers.append(
            f"all facts in the data agree with these ({_facts(functional)}): {_first_statements([text for text, _ in functional])}"
        )
    if known := [print_statement(Closed(head)) for head in heads if head in observed]:
        offers.append(f"if every fact that the data do not have is false: {_first_statements(known)}")
    return ("declare what is true of your data in another rule file; these declarations fit them:", *offers) if offers else ()


def _functional(heads: Sequence[str], counts: Mapping[str, ArgumentCounts]) -> Iterator[tuple[str, int]]:
    """`functional` statements that all facts agree with, and the number of these facts; the most first. One fact proves nothing."""
    known = sorted(((counts[head], head) for head in heads if head in counts), key=lambda pair: (-pair[0].facts, pair[1]))
    for counted, head in known:
        if counted.facts > 1 and counted.facts == counted.first:
            yield print_statement(Functional(head, 2, (0,), (1,))), counted.facts
        if counted.facts > 1 and counted.facts == counted.second:
            yield print_statement(Functional(head, 2, (1,), (0,))), counted.facts


def _facts(functional: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{facts:,}" for _, facts in functional[:_MOST]) + (", …" if len(functional) > _MOST else "")


def _first_statements(statements: Sequence[str]) -> str:
    # We add no backticks, because the name of a predicate may have its own.
    more = f" … and {len(statements) - _MOST:,} more" if len(statements) > _MOST else ""
    return " ".join(statements[:_MOST]) + more


_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Refuters:
    """What refutes atoms. `tests`: whether the name of an atom belongs to a test, which needs no declaration. `keys`: the key
    attributes of each table."""

    declared: Declared
    tests: Callable[[str], bool]
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def could_refute(self, head: syntax.Head) -> bool:
        """Whether some facts could refute the head of a rule."""
        return isinstance(head, syntax.Falsity) or self._verdicts(head)[1]

    def _verdicts(self, head: syntax.Condition) -> tuple[bool, bool]:
        """Whether some facts could confirm the head, and whether some could refute it."""
        match head:
            case syntax.Atom(predicate):
                return True, self._refuted(head) or self.tests(predicate)
            case syntax.RowAtom():
                return True, any(map(self._refuted, self._attribute_atoms(head)))
            case syntax.Comparison() | syntax.Membership() | syntax.Test() | syntax.Let():
                return True, True
            case syntax.Not(inner):
                confirmed, refuted = self._verdicts(inner)
                return refuted, confirmed
            case syntax.And(conditions):
                parts = [self._verdicts(part) for part in conditions]
                return all(c for c, _ in parts), any(r for _, r in parts)
            case syntax.Or(conditions):
                parts = [self._verdicts(part) for part in conditions]
                return any(c for c, _ in parts), all(r for _, r in parts)

    def _refuted(self, atom: syntax.Atom) -> bool:
        ways = self.declared.ways(atom.predicate, atom.arity, grouped=False)
        return self.declared.in_a_group(atom.predicate) or any(_agree(atom.terms, way.head.terms) for way in ways)

    def _attribute_atoms(self, atom: syntax.RowAtom) -> Iterator[syntax.Atom]:
        """`sale(id: A, zip: Z, price: P)` says `sale.zip(A, Z)` and `sale.price(A, P)`."""
        arguments = dict(atom.arguments)
        key = self.keys[atom.table]
        for attribute, term in atom.arguments:
            if attribute not in key:
                yield syntax.Atom(f"{atom.table}.{attribute}", (*(arguments[name] for name in key), term))


_Node = str | tuple[int, str]
"""A constant, by its key, or a variable of one of two atoms."""


def _agree(terms: Sequence[syntax.Term], others: Sequence[syntax.Term]) -> bool:
    """Whether two atoms of one predicate could be the same fact. Their variables are different, even if they have the same
    names."""
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


def _node(side: int, term: syntax.Term) -> _Node | None:
    """The node of a term; None for `_`, which may be anything."""
    match term:
        case syntax.Variable(name):
            return side, name
        case syntax.Constant(value):
            return key_of(value)
        case syntax.Wildcard():
            return None


@dataclass(frozen=True, slots=True)
class Concerned:
    """The predicates in some rule, in some rule that can be refuted, and in each denial constraint, by the number of the rule."""

    by_any: frozenset[str]
    by_refutable: frozenset[str]
    by_denial: Mapping[int, frozenset[str]]


def concerned(
    rules: Iterable[syntax.Rule],
    unrefutable: Sequence[bool],
    declared: Declared,
    *,
    keys: Mapping[str, tuple[str, ...]],
    targets: Mapping[str, str],
    in_sql: Iterable[str],
    refuting: bool,
) -> Concerned:
    """`unrefutable`: whether each rule is. `keys`: the key attributes of each table. `targets`: for each attribute that changes
    with its table's target, and for each defined predicate, the predicate of the predictions. `in_sql`: the predicates whose
    predictions rules in SQL read.
    `refuting`: predictions take part as refuters, so the predicates that refute a head count as predicates of its rule."""
    every: set[str] = set(in_sql)
    of_refutable = set(every)
    heads: set[tuple[str, int]] = set()
    by_denial: dict[int, frozenset[str]] = {}
    for number, (rule, exempt) in enumerate(zip(rules, unrefutable, strict=True)):
        names = set(named_in(rule))
        if not targets.keys().isdisjoint(names):
            names = {targets.get(name, name) for name in names}
        every |= names
        if isinstance(rule.head, syntax.Falsity):
            by_denial[number] = frozenset(names)
        if not exempt:
            of_refutable |= names
            heads |= set(_in_the_head(rule.head, keys))
    if refuting:
        refuting_predicates = {targets.get(name, name) for name in _refuting(heads, declared)}
        every |= refuting_predicates
        of_refutable |= refuting_predicates
    return Concerned(frozenset(every), frozenset(of_refutable), by_denial)


def _refuting(heads: set[tuple[str, int]], declared: Declared) -> Iterator[str]:
    """The predicates of facts that refute one of these heads. `heads`: predicates with their numbers of arguments."""
    predicates = {predicate for predicate, _ in heads}
    for group in declared.groups:
        if not predicates.isdisjoint(group):
            yield from group
    for predicate, arity in heads:
        for way in declared.ways(predicate, arity, grouped=False):
            yield from (name.removeprefix(NEGATIVE) for name in named_in(way))


def _in_the_head(head: syntax.Head | syntax.Condition, keys: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, int]]:
    """The predicates of the atoms of a head, with their numbers of arguments; without the atoms in aggregates."""
    match head:
        case syntax.Atom(predicate, arguments) | syntax.Test(predicate, arguments):
            yield predicate, len(arguments)
        case syntax.RowAtom(table, named):
            yield from ((f"{table}.{attribute}", len(keys[table]) + 1) for attribute, _ in named)
        case syntax.Not(inner):
            yield from _in_the_head(inner, keys)
        case syntax.And(conditions) | syntax.Or(conditions):
            for condition in conditions:
                yield from _in_the_head(condition, keys)
        case syntax.Comparison() | syntax.Membership() | syntax.Let() | syntax.Falsity():
            return


def unrefutable_rules(exempt: Sequence[tuple[str, syntax.Rule]], rules: int, offered: tuple[str, ...] = ()) -> Diagnostic:
    """The warning about the rules, given with their names, that nothing can refute. `rules`: how many there are in all. `offered`:
    the declarations that the data suggest."""
    number = f"{len(exempt):,} of {rules:,} rules" if rules > 1 else "the only rule"
    return Diagnostic(
        "W211",
        f"{number} can never be refuted, so 0 violations say nothing",
        notes=what_is_exempt(exempt),
        helps=offered or (WHAT_TO_DECLARE,),
        severity=Severity.WARNING,
    )


WHAT_TO_DECLARE = (
    "say what makes a conclusion `p(a, b)` wrong: `extract incompatible.`, `incompatible p, q.`, `closed p.`, "
    "`functional p(X -> Y).`, `pca p(X -> Y).`, a `refute` statement, or negative facts"
)


def what_is_exempt(exempt: Sequence[tuple[str, syntax.Rule]]) -> tuple[str, ...]:
    """The rules that nothing could refute, and the predicates of their heads."""
    return f"rules: {_first([name for name, _ in exempt])}", f"nothing declared refutes {_first(head_predicates(exempt))}"


def head_predicates(rules: Iterable[tuple[str, syntax.Rule]]) -> list[str]:
    """The predicates of the heads of rules, each once."""
    return list(dict.fromkeys(name for _, rule in rules for name in _head_predicates(rule)))


def _head_predicates(rule: syntax.Rule) -> Iterator[str]:
    for node in nodes_in(rule.head):
        match node:
            case syntax.Atom(predicate):
                yield predicate
            case syntax.RowAtom(table):
                yield table
            case _:
                pass


def _first(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f", and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ticked(names[:_MOST_NAMES]) + more
