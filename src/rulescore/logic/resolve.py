"""Resolves rules and refutations of any form against the schema: names become relations, disjuncts are spelt out, expressions
replace the variables that abbreviate them, aggregates become measures. It collects problems with their places."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rulescore.errors import Diagnostic, Span
from rulescore.language.cursor import DEEPEST
from rulescore.language.syntax import (
    Aggregate,
    Aggregation,
    And,
    Atom,
    Attribute,
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Head,
    Let,
    Membership,
    Negative,
    Not,
    Operation,
    Operator,
    Or,
    RowAtom,
    Term,
    Test,
    Variable,
    Wildcard,
)
from rulescore.logic.binding import Binder, DisjunctPart
from rulescore.logic.disjuncts import (
    FRESH,
    bound_variables,
    common_values,
    names_in,
)
from rulescore.logic.formula import (
    AggregateValue,
    All,
    AnyOf,
    Disjunct,
    Judgement,
    Leaf,
    Opposite,
    OrderedText,
    Relation,
    ResolvedAtom,
    Schema,
)
from rulescore.logic.places import BindingPlace, Places
from rulescore.logic.problems import DECIDABLE, MOST_NODES, Report, Size, print_column, size_of, sizes_of
from rulescore.logic.tolerances import as_comparison
from rulescore.logic.types import Mixture, Typing, type_of_value
from rulescore.values import ValueType

Substitution = Mapping[str, Expression]


def _are_variables(written: Comparison, resolved: Comparison) -> bool:
    """Whether a comparison for equality may compare values of any types. It has two variables, and either one of them stands for a
    constant of the head, or the comparison has no place in the text, since a declaration is short for it."""
    if written.operator not in {Operator.EQUAL, Operator.DIFFERENT} or not isinstance(written.left, Variable):
        return False
    sides = (resolved.left, resolved.right)
    terms = all(isinstance(side, Variable | Constant) for side in sides) and any(isinstance(side, Constant) for side in sides)
    return isinstance(written.right, Variable) and (terms or written.span is None)


def is_test(atom: Atom | Test, schema: Schema, functions: Iterable[str]) -> bool:
    """Whether an atom, by its syntax, is a test. If the data have a predicate of that name, it is no test."""
    if schema.positions(atom.predicate) is not None:
        return False
    return atom.predicate in DECIDABLE or atom.predicate in functions


@dataclass
class OrderedTexts:
    """Variables of text that a rule orders, with the word that does it, and the places that bind variables."""

    ordered: dict[str, tuple[str, Span | None]] = field(default_factory=dict)
    bound: dict[str, list[BindingPlace]] = field(default_factory=dict)

    @property
    def places(self) -> tuple[OrderedText, ...]:
        return tuple(
            OrderedText(place.relation.name, place.name, word, span)
            for variable, (word, span) in self.ordered.items()
            for place in self.bound.get(variable, ())
        )


@dataclass
class Resolver:
    """Resolves the parts of one statement. `prefix` keeps a refutation's variables apart from the rule's, whose `types` the caller
    gives. `computed`: the variables that the statement orders or computes with. If such a variable has integers in one part of an
    `or` and floats in another, the integers become doubles; `doubles`: the places of these integers. `texts`: what the statement
    orders as text."""

    schema: Schema
    functions: frozenset[str]
    problems: list[Diagnostic]
    prefix: str = ""
    types: dict[str, ValueType | None] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()
    mixtures: dict[str, Mixture] = field(default_factory=dict)
    doubles: dict[tuple[str, str], None] = field(default_factory=dict)
    texts: OrderedTexts = field(default_factory=OrderedTexts)
    measures: dict[str, AggregateValue] = field(default_factory=dict)
    _fresh: dict[tuple[int, str], str] = field(default_factory=dict)
    _measured: dict[tuple[int, str], str] = field(default_factory=dict)

    @cached_property
    def binder(self) -> Binder:
        def keys(table: str) -> tuple[str, ...] | None:
            relation = self.schema.relations.get(table)
            return relation.key if relation is not None and relation.is_table else None

        return Binder(lambda atom: is_test(atom, self.schema, self.functions), keys, self.problems)

    @property
    def _report(self) -> Report:
        return Report(self.schema, self.functions, self.problems)

    def body(self, body: And, outer: Substitution, head: Head | None = None) -> tuple[tuple[Disjunct, ...], Substitution]:
        """The disjuncts of a body, and the variables that abbreviate the same expression in all of them. `outer`: variables that
        are bound already, with their expressions."""
        parts = self._small(self.binder.body(body, outer, head), outer, head)
        common = common_values([part.values for part in parts])
        return self._disjuncts(parts, common, outer, set(self.types)), self._known(common, outer)

    def condition(self, condition: Condition, known: Substitution) -> Judgement:
        """Resolve a condition that binds nothing."""
        match condition:
            case Atom() | Test():
                if is_test(condition, self.schema, self.functions):
                    return self._test(condition, known)
                if isinstance(condition, Test):
                    self._report.expression_in_atom(condition)
                    return Leaf(Test(condition.predicate, (), condition.span))
                return Leaf(self.atom(condition, known))
            case RowAtom():
                return Leaf(self.atom(condition, known))
            case Comparison(operator, left, right, span):
                comparison = Comparison(operator, self.expression(left, known), self.expression(right, known), span)
                if not (self.prefix and _are_variables(condition, comparison)):
                    self._typing().comparison(comparison)
                if operator not in {Operator.EQUAL, Operator.DIFFERENT}:
                    self._order(operator, comparison.left, comparison.right)
                return Leaf(comparison)
            case Let(variable, value, span):
                return self.condition(Comparison(Operator.EQUAL, variable, value, span), known)
            case Membership(value, constants, span):
                member = Membership(self.expression(value, known), constants, span)
                self._typing().membership(member)
                return Leaf(member)
            case Not(inner):
                return Opposite(self.condition(inner, known))
            case And(conditions):
                return All(tuple(self.condition(part, known) for part in conditions))
            case Or(conditions):
                return AnyOf(tuple(self.condition(part, known) for part in conditions))

    def expression(self, expression: Expression, known: Substitution) -> Expression:
        match expression:
            case Variable(name):
                return known[name] if name in known else replace(expression, name=self.prefix + name)
            case Constant() | Attribute():
                return expression
            case Operation(operator, left, right, span):
                return Operation(operator, self.expression(left, known), self.expression(right, known), span)
            case Negative(operand, span):
                return Negative(self.expression(operand, known), span)
            case Call(function, arguments, span):
                return Call(function, tuple(self.expression(argument, known) for argument in arguments), span)
            case Aggregate():
                return self._measure(expression, known)

    def atom(self, atom: Atom | RowAtom, known: Substitution) -> ResolvedAtom:
        """Resolve an atom that binds nothing: `_` stays, and an unnamed key means some row."""
        relation, named = self._arguments(atom)
        converted = tuple((column, self._term(term, known)) for column, term in named)
        if relation is not None:
            self._check_types(relation, named, converted)
        return ResolvedAtom(relation.name if relation is not None else "", converted, atom)

    def bind(self, atom: Atom) -> None:
        """Take the types of an atom's variables from its columns."""
        places = Places(self.schema, self._report, {self.prefix + name for name in self.computed})
        places.read([self.atom(atom, {})], ())
        self._take_types(places)

    def name(self, predicate: str, span: Span | None) -> None:
        """Check a predicate named without arguments: report an attribute that its table does not have."""
        table = predicate.partition(".")[0]
        if table in self.schema.relations and self.schema.positions(predicate) is None:
            self._report.unknown_predicate(Atom(predicate, (), span))

    def is_grounded(self, name: str) -> bool:
        """Whether a variable belongs to groundings, and so has a value. A variable that stands for an aggregate may have no
        value."""
        return name not in self.measures

    # Names

    def _arguments(self, atom: Atom | RowAtom) -> tuple[Relation | None, tuple[tuple[str, Term], ...]]:
        match atom:
            case Atom(predicate, terms):
                relation_columns = self.schema.positions(predicate)
                if relation_columns is None or len(relation_columns[1]) != len(terms):
                    self._report.unknown_predicate(atom)
                    return None, ()
                return relation_columns[0], tuple(zip(relation_columns[1], terms, strict=True))
            case RowAtom(table, arguments):
                relation = self.schema.relations.get(table)
                if relation is None or not relation.is_table:
                    self._report.unknown_table(atom)
                    return None, arguments
                for attribute, _ in arguments:
                    if attribute not in relation.columns:
                        self._report.unknown_attribute(atom, relation, attribute)
                return relation, tuple(argument for argument in arguments if argument[0] in relation.columns)

    def _binding_atom(self, atom: Atom | RowAtom, known: Substitution) -> ResolvedAtom:
        """Resolve an atom that binds: `_` and unnamed keys become variables of their own."""
        relation, named = self._arguments(atom)
        if relation is not None and relation.is_table:
            named_columns = {column for column, _ in named}
            missing = tuple((column, Wildcard(atom.span)) for column in relation.key if column not in named_columns)
            named = (*missing, *named)
        converted = tuple(
            (column, self._fresh_variable(atom, column) if isinstance(term, Wildcard) else self._term(term, known))
            for column, term in named
        )
        if relation is not None:
            self._check_types(relation, named, converted)
        return ResolvedAtom(relation.name if relation else "", converted, atom)

    def _fresh_variable(self, atom: Atom | RowAtom, column: str) -> Variable:
        name = self._fresh.setdefault((id(atom), column), f"{self.prefix}{FRESH}{len(self._fresh) + 1}")
        return Variable(name, atom.span)

    def _term(self, term: Term, known: Substitution) -> Expression | Wildcard:
        return term if isinstance(term, Wildcard) else self.expression(term, known)

    def _test(self, atom: Atom | Test, known: Substitution) -> Judgement:
        arguments: list[Expression] = []
        for term in atom.terms if isinstance(atom, Atom) else atom.arguments:
            if isinstance(term, Wildcard):
                self._report.report(
                    "E201", "`_` in a test is unsafe: it is bound by nothing", term.span, "name the variable and bind it"
                )
                return Leaf(Test(atom.predicate, (), atom.span))
            arguments.append(term)
        if atom.predicate == "within":
            return self._within(Test("within", tuple(arguments), atom.span), known)
        test = Test(atom.predicate, tuple(self.expression(argument, known) for argument in arguments), atom.span)
        self._typing().test(test)
        return Leaf(test)

    def _within(self, test: Test, known: Substitution) -> Judgement:
        comparison = as_comparison(test, self.problems)
        if comparison is not None:
            left, right, tolerance = test.arguments
            relative = isinstance(tolerance, Call) and tolerance.function == "percent"
            values = self.expression(left, known), self.expression(right, known)
            if self._typing().distance(*values, test.span, relative=relative):
                return self.condition(comparison, known)
        return Leaf(Test("within", (), test.span))

    # Aggregates

    def _measure(self, aggregate: Aggregate, known: Substitution) -> Expression:
        used = {name: value for name, value in known.items() if name in set(names_in(aggregate))}
        key = (id(aggregate), repr(sorted((name, repr(value)) for name, value in used.items())))
        if key not in self._measured:
            name = f"{self.prefix}measure {len(self._measured)}"
            self._measured[key] = name
            outside = self.binder.outside_aggregates()
            parts = self._small(self.binder.aggregate(aggregate, {*known, *outside}), known)
            common = common_values([part.values for part in parts])
            around = {*self.types, *(self.prefix + name for name in outside)}
            disjuncts = self._disjuncts(parts, common, known, around)
            value = self.expression(aggregate.value, self._known(common, known))
            variables = tuple(self.prefix + name for name in sorted(self.binder.inner_variables(aggregate) - set(common)))
            wild = tuple(dict.fromkeys(v for d in disjuncts for v in bound_variables(d) if self._is_fresh(v)))
            if aggregate.function in {Aggregation.LEAST, Aggregation.GREATEST}:
                self._order(aggregate.function, value)
            self.types[name] = self._typing().expression(Aggregate(aggregate.function, value, aggregate.condition, aggregate.span))
            self.measures[name] = AggregateValue(aggregate.function, value, (*variables, *wild), disjuncts, aggregate)
        return Variable(self._measured[key], aggregate.span)

    def _is_fresh(self, name: str) -> bool:
        return name in self._fresh.values()

    # Disjuncts

    def _small(self, parts: list[DisjunctPart], outer: Substitution, head: Head | None = None) -> list[DisjunctPart]:
        """The parts, unless abbreviations make them or the head too large: then we report this, and return the parts without tests
        and abbreviations."""
        left = MOST_NODES
        for part in parts:
            sizes = {name: size_of(value, {}) for name, value in outer.items()} if part.values or part.tests else {}
            sizes_found: list[tuple[Condition | Expression, Size]]
            sizes_found = [(part.values[name], size) for name, size in sizes_of(part.values, sizes)]
            uses = (*part.tests, head) if isinstance(head, Condition) else part.tests
            sizes_found += [(test, size_of(test, sizes)) for test in uses]
            for node, size in sizes_found:
                left -= size.nodes
                if left < 0 or size.height > DEEPEST:
                    self._report.too_large(node)
                    return [replace(part, tests=(), values={}, bound=part.bound | part.values.keys()) for part in parts]
        return parts

    def _disjuncts(
        self, parts: Sequence[DisjunctPart], common: Substitution, outer: Substitution, bound: Collection[str]
    ) -> tuple[Disjunct, ...]:
        """Resolve the parts. `bound`: variables whose types we know. If equations bind a variable in one part and atoms in another,
        it stays a variable. Its name then means the same in all disjuncts."""
        # We resolve the atoms of all parts first, because they give the types of the variables in expressions.
        atoms = [tuple(self._binding_atom(atom, outer) for atom in part.atoms) for part in parts]
        places = Places(self.schema, self._report, {self.prefix + name for name in self.computed})
        for several in atoms:
            places.read(several, bound)
        self._take_types(places)
        known = self._known(common, outer)
        values = [tuple(self._part_values(part, common, known, places)) for part in parts]
        self.doubles.update(dict.fromkeys(places.doubles))
        return tuple(
            Disjunct(several, tuple(self.condition(test, known) for test in part.tests), computed)
            for part, several, computed in zip(parts, atoms, values, strict=True)
        )

    def _part_values(
        self, part: DisjunctPart, common: Substitution, known: Substitution, places: Places
    ) -> Iterator[tuple[str, Expression]]:
        """The variables that equations bind in this part, but not to the same expression in all parts."""
        for name, value in part.values.items():
            if name not in common:
                resolved = self.expression(value, known)
                places.compute(self.prefix + name, self._typing().expression(resolved))
                self._take_types(places)
                yield self.prefix + name, resolved

    def _order(self, word: str, *values: Expression) -> None:
        """Note variables of text that the statement orders."""
        for value in values:
            if isinstance(value, Variable) and self.types.get(value.name) is ValueType.STRING:
                self.texts.ordered.setdefault(value.name, (word, value.span))

    def _take_types(self, places: Places) -> None:
        self.types.update(places.types)
        self.texts.bound.update(places.binding)
        self.mixtures.update(places.mixtures)

    def _known(self, common: Substitution, outer: Substitution) -> dict[str, Expression]:
        """The resolved expressions of the variables that abbreviate the same expression in all parts, and of `outer`."""
        known: dict[str, Expression] = dict(outer)
        for name, value in common.items():
            known[name] = self.expression(value, known)
        return known

    # Types

    def _typing(self) -> Typing:
        return Typing(lambda variable: self.types.get(variable.name), self.problems, self.mixtures)

    def _check_types(
        self,
        relation: Relation,
        written: Iterable[tuple[str, Term]],
        arguments: Iterable[tuple[str, Expression | Wildcard]],
    ) -> None:
        """Report constants and expressions that an argument cannot equal. A variable may stand anywhere."""
        for (name, term), (_, written_term) in zip(arguments, written, strict=True):
            column = relation.columns[name]
            match term:
                case Wildcard() | Variable():
                    pass
                case Constant() if self.prefix and isinstance(written_term, Variable):
                    pass  # this value stands for a constant of the rule's head, which we check elsewhere
                case Constant(value):
                    if not column.may_hold(type_of_value(value)) or isinstance(value, datetime.timedelta):
                        self._report.wrong_type(relation, name, term)
                case _:
                    type_ = self._typing().expression(term)
                    if type_ is not None and not column.may_hold(type_):
                        self._report.two_types(print_column(relation, name), term.span)
