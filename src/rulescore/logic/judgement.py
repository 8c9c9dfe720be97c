"""Rules of any form to formulas: the body's disjuncts, and for the head two independent answers, confirmed and refuted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

from rulescore.data.relations import NEGATIVE, Schema
from rulescore.data.setting import ValueType
from rulescore.errors import Diagnostic
from rulescore.language.printer import print_statement
from rulescore.language.syntax import (
    And,
    Atom,
    Closed,
    Comparison,
    Condition,
    Constant,
    Declaration,
    Expression,
    ExtractIncompatible,
    Falsity,
    Functional,
    Head,
    IncompatibleGroup,
    IncompatiblePair,
    Let,
    Membership,
    Not,
    Operator,
    Or,
    PredicateDeclaration,
    Refute,
    RowAtom,
    Rule,
    Test,
    Variable,
    Wildcard,
)
from rulescore.language.trees import atoms_in, variables_in
from rulescore.logic.computed import computed_variables
from rulescore.logic.disjuncts import bound_variables
from rulescore.logic.formula import FALSE, TRUE, All, Any, Disjunct, Exists, FormulaRule, Judgement, Leaf, Measure, Opposite
from rulescore.logic.ranges import may_be_missing
from rulescore.logic.refutation import inverse, pair_order
from rulescore.logic.resolve import Resolver, Substitution, is_test
from rulescore.logic.types import Typing, agree
from rulescore.logic.usage import named_in_rule, named_predicates

Arguments = tuple[Expression, ...]


@dataclass(frozen=True)
class Declared:
    """What can refute heads: the declarations, pairs that were extracted, and which functions are registered."""

    declarations: tuple[Declaration, ...]
    extracted: tuple[tuple[str, str], ...]
    functions: frozenset[str]

    def about(self, predicate: str) -> Iterator[Declaration]:
        """What can refute a predicate: extracted pairs first, what is said of all predicates last."""
        yield from self._by_predicate.get(predicate, ())
        yield from self._by_predicate.get(None, ())

    @cached_property
    def _by_predicate(self) -> dict[str | None, list[Declaration]]:
        """Sorted once, so that a rule does not look through what concerns others. Under None stands what concerns all."""
        found: dict[str | None, list[Declaration]] = {}
        for declaration in (*map(IncompatibleGroup, self.extracted), *self.declarations):
            for predicate in dict.fromkeys(_refutes(declaration)):
                found.setdefault(predicate, []).append(declaration)
        return found


def _refutes(declaration: Declaration) -> tuple[str | None, ...]:
    match declaration:
        case IncompatibleGroup(predicates):
            return predicates
        case IncompatiblePair(left, right):
            return left.predicate, right.predicate
        case Functional(predicate=predicate) | Closed(predicate):
            return (predicate,)
        case Refute(head):
            return (head.predicate,)
        case ExtractIncompatible() | PredicateDeclaration():
            return ()


def formula(rule: Rule, schema: Schema, declared: Declared, problems: list[Diagnostic]) -> FormulaRule:
    """A rule as a formula. Where problems are reported, the result is of no use."""
    resolver = Resolver(schema, declared.functions, problems, computed=_computed(rule, declared))
    disjuncts, known = resolver.body(rule.body, {}, rule.head)
    body_measures = tuple(resolver.measures)
    head = _Head(resolver, schema, declared, known)
    confirmed, refuted = head.judge(rule.head)
    _check_head(rule, resolver)
    head_measures = tuple(name for name in resolver.measures if name not in body_measures)
    ways = _Refuted(schema, declared, problems, resolver)
    refuted, confirmed = ways.spell_out(refuted), ways.spell_out(confirmed)
    values = dict.fromkeys(name for disjunct in disjuncts for name, _ in disjunct.values)
    variables = dict.fromkeys(name for disjunct in disjuncts for name in bound_variables(disjunct)) | values
    return FormulaRule(
        variables=tuple(variables),
        types={**resolver.types, **ways.types},
        disjuncts=disjuncts,
        head_atoms=tuple(head.atoms),
        confirmed=confirmed,
        refuted=refuted,
        measures={**resolver.measures, **ways.measures},
        body_measures=body_measures,
        head_measures=head_measures,
        doubles=tuple(dict.fromkeys([*resolver.doubles, *ways.doubles])),
    )


def _computed(rule: Rule, declared: Declared) -> frozenset[str]:
    """The variables that the rule computes with, or what refutes its head."""
    others: set[str] = set()
    for atom in () if isinstance(rule.head, Falsity) else atoms_in(rule.head):
        if any(_computes_with_head(one) for name in _predicates_of(atom) for one in declared.about(name)):
            others.update(variable.name for variable in variables_in(atom))
    return computed_variables(rule, others)


def _computes_with_head(declaration: Declaration) -> bool:
    if not isinstance(declaration, Refute):
        return False
    return not computed_variables(declaration).isdisjoint(variable.name for variable in variables_in(declaration.head))


def _predicates_of(atom: Atom | RowAtom) -> list[str]:
    return [atom.predicate] if isinstance(atom, Atom) else [f"{atom.table}.{name}" for name, _ in atom.arguments]


def _check_head(rule: Rule, resolver: Resolver) -> None:
    """Variables of the head that the body does not have; those it has but does not bind are reported there."""
    if isinstance(rule.head, Falsity):
        return
    body = {variable.name for variable in variables_in(rule.body)}
    wanted = resolver.outside_aggregates() - body
    unbound: dict[str, Variable] = {}
    for variable in variables_in(rule.head):
        if variable.name in wanted:
            unbound.setdefault(variable.name, variable)
    resolver.problems.extend(map(_unbound, unbound.values()))


def _unbound(variable: Variable) -> Diagnostic:
    return Diagnostic(
        "E201",
        f"head variable `{variable.name}` is not bound by the body",
        variable.span.place() if variable.span else None,
        "not bound",
        notes=("every head variable must occur in the body",),
        helps=(f"add a body atom that mentions `{variable.name}`, or use a constant",),
    )


@dataclass(frozen=True, slots=True)
class Refutable:
    """A placeholder for all that refutes an atom of the head, spelt out once the head is resolved."""

    predicate: str
    arguments: Arguments
    atom: RowAtom


class _Head:
    """The two answers of a head, by the table of the definition."""

    def __init__(self, resolver: Resolver, schema: Schema, declared: Declared, known: Substitution) -> None:
        self._resolver, self._schema, self._declared, self._known = resolver, schema, declared, known
        self.atoms: list[RowAtom] = []

    def judge(self, head: Condition | Head) -> tuple[Judgement, Judgement]:
        """Confirmed, refuted."""
        match head:
            case Atom() | Test() if is_test(head, self._schema, self._declared.functions):
                return self._decided(head)
            case Atom():
                return self._atom(head)
            case RowAtom():
                parts = [self._atom(one) for one in self._attribute_atoms(head)]
                return All(tuple(c for c, _ in parts)), Any(tuple(r for _, r in parts))
            case Comparison() | Membership() | Test() | Let():
                return self._decided(head)
            case Not(inner):
                confirmed, refuted = self.judge(inner)
                return refuted, confirmed
            case And(conditions):
                parts = [self.judge(one) for one in conditions]
                return All(tuple(c for c, _ in parts)), Any(tuple(r for _, r in parts))
            case Or(conditions):
                parts = [self.judge(one) for one in conditions]
                return Any(tuple(c for c, _ in parts)), All(tuple(r for _, r in parts))
            case Falsity():
                return FALSE, TRUE

    def _decided(self, condition: Condition) -> tuple[Judgement, Judgement]:
        found = Leaf(self._resolver.condition(condition, self._known))
        return found, Opposite(found)

    def _atom(self, atom: Atom) -> tuple[Judgement, Judgement]:
        self._check_terms(atom)
        found = self._resolver.atom(atom, self._known)
        self.atoms.append(found)
        arguments = tuple(term for _, term in found.arguments)
        return Leaf(found), Refutable(atom.predicate, arguments, found)  # type: ignore[return-value, arg-type]

    def _check_terms(self, atom: Atom) -> None:
        for term in atom.terms:
            if isinstance(term, Wildcard):
                self._resolver.problems.append(
                    Diagnostic(
                        "E208",
                        "a head cannot have `_`",
                        term.span.place() if term.span else None,
                        "stands for nothing the body binds",
                        helps=("name the variable and bind it in the body",),
                    )
                )

    def _attribute_atoms(self, atom: RowAtom) -> Iterator[Atom]:
        """`sale(id: A, zip: Z, price: P)` is `sale.zip(A, Z)` and `sale.price(A, P)`."""
        relation = self._schema.relations.get(atom.table)
        given = dict(atom.arguments)
        if relation is None or not relation.is_table or any(one not in relation.columns for one in given):
            self._resolver.atom(atom, self._known)  # reports what is unknown
            return
        missing = [one for one in relation.key if one not in given]
        if missing or len(given) == len(relation.key):
            what = f"does not name the key `{missing[0]}`" if missing else "names nothing but the key"
            place = atom.span.place() if atom.span else None
            helps = ("a head says which attribute of which row follows: name the key and the attribute",)
            self._resolver.problems.append(Diagnostic("E276", f"the head {what} of `{atom.table}`", place, helps=helps))
            return
        for attribute, term in atom.arguments:
            if attribute not in relation.key:
                terms = (*(given[one] for one in relation.key), term)
                yield Atom(f"{atom.table}.{attribute}", terms, atom.span)


class _Refuted:
    """Spells out what refutes an atom: conditions on its arguments over the same facts."""

    def __init__(self, schema: Schema, declared: Declared, problems: list[Diagnostic], rule: Resolver) -> None:
        self._schema, self._declared, self._problems, self._rule = schema, declared, problems, rule
        self._numbers = count()
        self.types: dict[str, ValueType | None] = {}
        self.measures: dict[str, Measure] = {}
        self.doubles: list[tuple[str, str]] = []

    def spell_out(self, judgement: Judgement | Refutable) -> Judgement:
        match judgement:
            case Refutable():
                return self._of_known_arguments(judgement, Any(tuple(self._ways(judgement))))
            case All(parts):
                return All(tuple(self.spell_out(part) for part in parts))
            case Any(parts):
                return Any(tuple(self.spell_out(part) for part in parts))
            case Opposite(part):
                return Opposite(self.spell_out(part))
            case Leaf() | Exists():
                return judgement

    def _of_known_arguments(self, head: Refutable, ways: Any) -> Judgement:
        """Nothing refutes an atom with a missing argument, be it one that a way to refute does not look at."""
        if not ways.parts:
            return ways
        missing = [one for one in head.arguments if may_be_missing(one, self._type, self._rule.is_grounded)]
        known = tuple(Leaf(Comparison(Operator.EQUAL, one, one)) for one in missing)
        return All((*known, ways)) if known else ways

    def _ways(self, head: Refutable) -> Iterator[Judgement]:
        name, arity = head.predicate, len(head.arguments)
        if f"{NEGATIVE}{name}" in self._schema.relations:
            yield from self._opponent(f"{NEGATIVE}{name}", head.arguments)
        for declaration in self._declared.about(name):
            match declaration:
                case IncompatibleGroup(predicates):
                    yield from self._group(predicates, head)
                case IncompatiblePair() if declaration.left.arity == arity:
                    yield from self._pair(declaration, head)
                case Functional() if declaration.arity == arity:
                    yield from self._functional(declaration, head)
                case Closed():
                    yield Opposite(Leaf(head.atom))
                case Refute(refuted) if refuted.arity == arity:
                    yield self._auxiliary(declaration, head)
                case IncompatiblePair() | Functional() | Refute() | ExtractIncompatible() | PredicateDeclaration():
                    pass

    def _group(self, predicates: Iterable[str], head: Refutable) -> Iterator[Judgement]:
        for other in predicates:
            if other != head.predicate:
                yield from self._opponent(other, head.arguments)

    def _pair(self, declaration: IncompatiblePair, head: Refutable) -> Iterator[Judgement]:
        left, right = declaration.left, declaration.right
        order = pair_order(left, right)
        if left.predicate == head.predicate:
            yield from self._opponent(right.predicate, tuple(head.arguments[i] for i in order))
        if right.predicate == head.predicate:
            yield from self._opponent(left.predicate, tuple(head.arguments[i] for i in inverse(order)))

    def _opponent(self, predicate: str, arguments: Arguments) -> Iterator[Judgement]:
        """Nothing, where types say that no such fact can hold."""
        found = self._schema.positions(predicate)
        if found is None or len(found[1]) != len(arguments):
            return
        relation, columns = found
        pairs = tuple(zip(columns, arguments, strict=True))
        if all(agree(relation.columns[c].type, self._type(a)) for c, a in pairs):
            yield Leaf(RowAtom(relation.name, pairs))  # type: ignore[arg-type]  # see Resolver.atom

    def _type(self, argument: Expression) -> ValueType | None:
        return Typing(lambda variable: self._rule.types.get(variable.name), []).expression(argument)

    def _functional(self, declaration: Functional, head: Refutable) -> Iterator[Judgement]:
        """A fact that agrees on the keys and differs at a value."""
        found = self._schema.positions(head.predicate)
        assert found is not None
        relation, columns = found
        for value in declaration.values:
            prefix = f"functional {next(self._numbers)} "
            others = {i: Variable(f"{prefix}{i}") for i in range(declaration.arity) if i not in declaration.keys}
            terms = tuple(others.get(i, head.arguments[i]) for i in range(declaration.arity))
            self.types.update({one.name: relation.columns[columns[i]].type for i, one in others.items()})
            atom = RowAtom(relation.name, tuple(zip(columns, terms, strict=True)))  # type: ignore[arg-type]
            differs = Comparison(Operator.DIFFERENT, others[value], head.arguments[value])
            yield Exists((Disjunct((atom,), (differs,)),), print_statement(declaration).removesuffix("."))

    def _auxiliary(self, declaration: Refute, head: Refutable) -> Judgement:
        prefix = f"refutation {next(self._numbers)} "
        known: dict[str, Expression] = {}
        extra: list[Comparison] = []
        for term, argument in zip(declaration.head.terms, head.arguments, strict=True):
            match term:
                case Variable(name) if name not in known:
                    known[name] = argument
                case Variable(name):
                    extra.append(Comparison(Operator.EQUAL, known[name], argument, term.span))
                case Constant():
                    extra.append(Comparison(Operator.EQUAL, argument, term, term.span))
                case Wildcard():
                    pass
        if not all(agree(self._type(one.left), self._type(one.right)) for one in extra):
            return FALSE
        resolver = Resolver(
            self._schema,
            self._declared.functions,
            self._problems,
            prefix,
            dict(self._rule.types),
            computed_variables(declaration),
            mixtures=dict(self._rule.mixtures),
        )
        disjuncts, _ = resolver.body(declaration.body, known, declaration.head)
        self.types.update({name: found for name, found in resolver.types.items() if name not in self._rule.types})
        self.measures.update(resolver.measures)
        self.doubles += resolver.doubles
        title = print_statement(declaration).removesuffix(".")
        return Exists(tuple(replace(one, tests=(*extra, *one.tests)) for one in disjuncts), title)


def formula_predicates(
    rules: Iterable[Rule], declarations: Iterable[Declaration], extracted: Iterable[tuple[str, str]]
) -> set[str]:
    """The predicates that rules outside the fast family read, with those that can refute their heads."""
    named = {name for rule in rules for name in named_in_rule(rule)}
    found = set(named)
    for declaration in declarations:
        mentioned = set(named_predicates(declaration))
        if mentioned & named:
            found |= mentioned
    for pair in extracted:
        if named.intersection(pair):
            found.update(pair)
    return found
