"""Turns rules of any form into formulas: the body's disjuncts, and two independent verdicts on the head. Also finds the calls of
registered predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeGuard

from rulescore.errors import Diagnostic, place_of
from rulescore.language import syntax
from rulescore.language.declarations.refute import Refute
from rulescore.language.trees import atoms_in, named_in, named_predicates, variables_in
from rulescore.logic.disjuncts import bound_variables
from rulescore.logic.formula import (
    FALSE,
    TRUE,
    AggregateValue,
    All,
    AnyOf,
    Disjunct,
    Exists,
    FormulaRule,
    Judgement,
    Leaf,
    Opposite,
    Resolved,
    ResolvedAtom,
    Schema,
    asked_in,
    nodes_of,
    parts_of,
    variables_of,
)
from rulescore.logic.places import computed_variables, typed_by_body
from rulescore.logic.refutation import Declared, opposition
from rulescore.logic.resolve import Resolver, Substitution, is_test
from rulescore.logic.types import TESTS, Typing, agree, may_be_missing
from rulescore.values import ValueType


@dataclass(frozen=True, slots=True)
class Question:
    """A registered predicate and the types of its arguments. Calls with other types are another question, with its own answers."""

    function: str
    types: tuple[ValueType | None, ...]


def question(rule: FormulaRule, test: syntax.Test) -> Question:
    typing = Typing(lambda variable: rule.types.get(variable.name), [])
    return Question(test.predicate, tuple(map(typing.expression, test.arguments)))


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """A place at which a test is called. `disjunct`: the disjunct of the body whose bindings it uses; None: any of them. `inner`:
    the disjuncts of aggregates or refutations around it."""

    test: syntax.Test
    disjunct: Disjunct | None
    inner: tuple[Disjunct, ...]


def rounds_before(rule: FormulaRule, place: QuestionPlace) -> int:
    """How many rounds of answers we need before we know all arguments of a test. 0, unless the arguments depend on aggregates that
    contain registered tests."""
    disjuncts = (place.disjunct,) if place.disjunct is not None else rule.disjuncts
    asked = (Leaf(place.test), *_parts_of(place.inner))
    return max((_rounds(rule, asked, _values_of((disjunct, *place.inner))) for disjunct in disjuncts), default=0)


def _rounds(rule: FormulaRule, parts: Iterable[Resolved], values: Mapping[str, syntax.Expression]) -> int:
    names = {variable.name for part in parts for variable in variables_of(part)}
    return max((_rounds_of(rule, name, values) for name in names), default=0)


def _rounds_of(rule: FormulaRule, name: str, values: Mapping[str, syntax.Expression]) -> int:
    if name in values:
        return _rounds(rule, (values[name],), values)
    if name not in rule.measures:
        return 0
    rounds = 0
    for inner in rule.measures[name].disjuncts:
        asked = any(map(_is_asked, asked_in(inner)))
        rounds = max(rounds, asked + _rounds(rule, _parts_of((inner,)), {**values, **_values_of((inner,))}))
    return rounds


def is_registered(node: object) -> TypeGuard[syntax.Test]:
    """Whether a node is a test that the user has registered."""
    return isinstance(node, syntax.Test) and node.predicate not in TESTS


def _is_asked(part: Resolved) -> bool:
    """Whether a part contains a registered test."""
    return any(map(is_registered, nodes_of(part)))


def _parts_of(disjuncts: Iterable[Disjunct]) -> tuple[Resolved, ...]:
    return tuple(part for disjunct in disjuncts for part in parts_of(disjunct))


def _values_of(disjuncts: Iterable[Disjunct]) -> dict[str, syntax.Expression]:
    """The expressions that equations bind variables to."""
    return {name: value for disjunct in disjuncts for name, value in disjunct.values}


def questions(rule: FormulaRule) -> tuple[Question, ...]:
    """The registered predicates that a rule uses."""
    return tuple(dict.fromkeys(question(rule, place.test) for place in test_places(rule) if place.test.predicate not in TESTS))


def asks(test: Judgement, rule: FormulaRule, disjunct: Disjunct) -> bool:
    """Whether a test of a disjunct contains a registered test, itself or in an aggregate."""
    return _is_asked(test) or _rounds(rule, (test,), _values_of((disjunct,))) > 0


def test_places(rule: FormulaRule) -> Iterator[QuestionPlace]:
    for disjunct in rule.disjuncts:
        yield from _places_in(rule, asked_in(disjunct), disjunct, ())
    # We need to know that a prediction is in an aggregate even if nothing depends on the aggregate's value.
    for name in (*rule.body_measures, *rule.head_measures):
        for within in rule.measures[name].disjuncts:
            yield from _places_in(rule, asked_in(within), None, (within,))
    yield from _judgement_places(rule, rule.confirmed)
    yield from _judgement_places(rule, rule.refuted)


def _places_in(
    rule: FormulaRule, tests: Sequence[Judgement | syntax.Expression], disjunct: Disjunct | None, inner: tuple[Disjunct, ...]
) -> Iterator[QuestionPlace]:
    for test in tests:
        for node in nodes_of(test):
            if isinstance(node, syntax.Test):
                yield QuestionPlace(node, disjunct, inner)
            elif isinstance(node, syntax.Variable) and node.name in rule.measures:
                for within in rule.measures[node.name].disjuncts:
                    yield from _places_in(rule, asked_in(within), disjunct, (*inner, within))


def _judgement_places(rule: FormulaRule, judgement: Judgement, inner: tuple[Disjunct, ...] = ()) -> Iterator[QuestionPlace]:
    match judgement:
        case Leaf():
            yield from _places_in(rule, (judgement,), None, inner)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _judgement_places(rule, part, inner)
        case Opposite(part):
            yield from _judgement_places(rule, part, inner)
        case Exists(disjuncts):
            for disjunct in disjuncts:
                yield from _places_in(rule, asked_in(disjunct), None, (*inner, disjunct))


Arguments = tuple[syntax.Expression, ...]


def formula(rule: syntax.Rule, schema: Schema, declared: Declared, problems: list[Diagnostic]) -> FormulaRule:
    """A rule as a formula. If it adds errors to `problems`, do not use the result."""
    resolver = Resolver(schema, declared.functions, problems, computed=_computed(rule, schema, declared))
    disjuncts, known = resolver.body(rule.body, {}, rule.head)
    body_measures = tuple(resolver.measures)
    ways = _Refuted(schema, declared, problems, resolver)
    head = _Head(resolver, schema, ways, known)
    confirmed, refuted = head.judge(rule.head)
    resolver.binder.head(rule.head, rule.body)
    head_measures = tuple(name for name in resolver.measures if name not in body_measures)
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
        ordered_texts=resolver.texts.places,
    )


def _computed(rule: syntax.Rule, schema: Schema, declared: Declared) -> frozenset[str]:
    """The variables that the rule, or a refutation of its head, computes with."""
    others: set[str] = set()
    for atom in () if isinstance(rule.head, syntax.Falsity) else atoms_in(rule.head):
        known = ((name, relation[1]) for name in _predicates_of(atom) if (relation := schema.positions(name)))
        ways = (way for name, columns in known for way in declared.ways(name, len(columns), grouped=False))
        if any(map(_computes_with_head, ways)):
            others.update(variable.name for variable in variables_in(atom))
    return computed_variables(rule, others)


def _computes_with_head(statement: Refute) -> bool:
    return not computed_variables(statement).isdisjoint(variable.name for variable in variables_in(statement.head))


def _predicates_of(atom: syntax.Atom | syntax.RowAtom) -> list[str]:
    return [atom.predicate] if isinstance(atom, syntax.Atom) else [f"{atom.table}.{name}" for name, _ in atom.arguments]


class _Head:
    """The two verdicts on a head, by the table of the definition."""

    def __init__(self, resolver: Resolver, schema: Schema, ways: _Refuted, known: Substitution) -> None:
        self._resolver, self._schema, self._ways, self._known = resolver, schema, ways, known
        self.atoms: list[ResolvedAtom] = []

    def judge(self, head: syntax.Condition | syntax.Head) -> tuple[Judgement, Judgement]:
        """Confirmed, refuted."""
        match head:
            case syntax.Atom() | syntax.Test() if is_test(head, self._schema, self._resolver.functions):
                return self._decided(head)
            case syntax.Atom():
                return self._atom(head)
            case syntax.RowAtom():
                parts = [self._atom(atom) for atom in self._attribute_atoms(head)]
                return All(tuple(c for c, _ in parts)), AnyOf(tuple(r for _, r in parts))
            case syntax.Comparison() | syntax.Membership() | syntax.Test() | syntax.Let():
                return self._decided(head)
            case syntax.Not(inner):
                confirmed, refuted = self.judge(inner)
                return refuted, confirmed
            case syntax.And(conditions):
                parts = [self.judge(part) for part in conditions]
                return All(tuple(c for c, _ in parts)), AnyOf(tuple(r for _, r in parts))
            case syntax.Or(conditions):
                parts = [self.judge(part) for part in conditions]
                return AnyOf(tuple(c for c, _ in parts)), All(tuple(r for _, r in parts))
            case syntax.Falsity():
                return FALSE, TRUE

    def _decided(self, condition: syntax.Condition) -> tuple[Judgement, Judgement]:
        resolved = self._resolver.condition(condition, self._known)
        return resolved, Opposite(resolved)

    def _atom(self, atom: syntax.Atom) -> tuple[Judgement, Judgement]:
        resolved = self._resolver.atom(atom, self._known)
        self.atoms.append(resolved)
        return Leaf(resolved), self._ways.of(atom.predicate, resolved)

    def _attribute_atoms(self, atom: syntax.RowAtom) -> Iterator[syntax.Atom]:
        """`sale(id: A, zip: Z, price: P)` is `sale.zip(A, Z)` and `sale.price(A, P)`."""
        relation = self._schema.relations.get(atom.table)
        arguments = dict(atom.arguments)
        if relation is None or not relation.is_table or any(name not in relation.columns for name in arguments):
            self._resolver.atom(atom, self._known)  # reports unknown names
            return
        missing = [name for name in relation.key if name not in arguments]
        if missing or len(arguments) == len(relation.key):
            what = f"does not name the key `{missing[0]}`" if missing else "names nothing but the key"
            place = place_of(atom.span)
            helps = ("a head says which attribute of which row follows: name the key and the attribute",)
            self._resolver.problems.append(Diagnostic("E120", f"the head {what} of `{atom.table}`", place, helps=helps))
            return
        for attribute, term in atom.arguments:
            if attribute not in relation.key:
                terms = (*(arguments[name] for name in relation.key), term)
                yield syntax.Atom(f"{atom.table}.{attribute}", terms, atom.span)


class _Refuted:
    """Spells out what refutes an atom: conditions on its arguments over the same facts."""

    def __init__(self, schema: Schema, declared: Declared, problems: list[Diagnostic], rule: Resolver) -> None:
        self._schema, self._declared, self._problems, self._rule = schema, declared, problems, rule
        self._numbers = count()
        self.types: dict[str, ValueType | None] = {}
        self.measures: dict[str, AggregateValue] = {}
        self.doubles: list[tuple[str, str]] = []

    def of(self, predicate: str, atom: ResolvedAtom) -> Judgement:
        """The judgement that something refutes an atom of the head. Nothing refutes an atom with a missing argument, even if the
        refutation does not use that argument. Other checks report an argument `_`."""
        arguments = tuple(term for _, term in atom.arguments if not isinstance(term, syntax.Wildcard))
        if len(arguments) < len(atom.arguments):
            return FALSE
        ways = AnyOf(tuple(self._ways(predicate, arguments, atom)))
        missing = (
            [argument for argument in arguments if may_be_missing(argument, self._type, self._rule.is_grounded)]
            if ways.parts
            else []
        )
        known = tuple(Leaf(syntax.Comparison(syntax.Operator.EQUAL, argument, argument)) for argument in missing)
        return All((*known, ways)) if known else ways

    def _ways(self, name: str, arguments: Arguments, atom: ResolvedAtom) -> Iterator[Judgement]:
        for way in self._declared.ways(name, len(arguments)):
            opposed = opposition(way)
            if opposed is not None:
                yield from self._opponent(way, tuple(arguments[i] for i in opposed.order))
                continue
            match self._stated(way, arguments):
                case Exists((Disjunct((), (Opposite(Leaf(absent)) as closed,)),)) if way.said and absent == atom:
                    # Only the head's own absence refutes it. Listings show the absence only if no fact refutes the head.
                    yield closed
                case judgement:
                    yield judgement

    def _opponent(self, statement: Refute, arguments: Arguments) -> Iterator[Judgement]:
        """The atom of an opposing fact; nothing if, by the types, no such fact can hold."""
        (fact,) = statement.body.conditions
        assert isinstance(fact, syntax.Atom)
        relation_columns = self._schema.positions(fact.predicate)
        if relation_columns is None or len(relation_columns[1]) != len(arguments):
            return
        relation, columns = relation_columns
        pairs = tuple(zip(columns, arguments, strict=True))
        if all(agree(relation.columns[c].type, self._type(a)) for c, a in pairs):
            yield Leaf(ResolvedAtom(relation.name, pairs))

    def _type(self, argument: syntax.Expression) -> ValueType | None:
        return Typing(lambda variable: self._rule.types.get(variable.name), []).expression(argument)

    def _stated(self, written: Refute, arguments: Arguments) -> Judgement:
        """The body of a statement about these arguments, in the words of what the user declared."""
        declaration = typed_by_body(written)
        prefix = f"refutation {next(self._numbers)} "
        known: dict[str, syntax.Expression] = {}
        extra: list[syntax.Comparison] = []
        for term, argument in zip(declaration.head.terms, arguments, strict=True):
            match term:
                case syntax.Variable(name) if name not in known:
                    known[name] = argument
                case syntax.Variable(name):
                    extra.append(syntax.Comparison(syntax.Operator.EQUAL, known[name], argument, term.span))
                case syntax.Constant():
                    extra.append(syntax.Comparison(syntax.Operator.EQUAL, argument, term, term.span))
                case syntax.Wildcard():
                    pass
        if not all(agree(self._type(comparison.left), self._type(comparison.right)) for comparison in extra):
            return FALSE
        resolver = Resolver(
            self._schema,
            self._declared.functions,
            self._problems,
            prefix,
            dict(self._rule.types),
            computed_variables(declaration),
            mixtures=dict(self._rule.mixtures),
            texts=self._rule.texts,
        )
        disjuncts, _ = resolver.body(declaration.body, known, declaration.head)
        self.types.update({name: type_ for name, type_ in resolver.types.items() if name not in self._rule.types})
        self.measures.update(resolver.measures)
        self.doubles += resolver.doubles
        tested = tuple(replace(disjunct, tests=(*map(Leaf, extra), *disjunct.tests)) for disjunct in disjuncts)
        return Exists(tested, (written.said or written).words)


def formula_predicates(rules: Iterable[syntax.Rule], declared: Declared) -> set[str]:
    """The predicates that rules other than Horn rules read, and the predicates that can refute their heads. These predicates may be
    defined or have facts."""
    named = {name for rule in rules for name in named_in(rule)}
    predicates = set(named)
    for declaration in declared.declarations:
        mentioned = set(named_predicates(declaration))
        if mentioned & named:
            predicates |= mentioned
    for pair in declared.extracted:
        if named.intersection(pair):
            predicates.update(pair)
    return predicates
