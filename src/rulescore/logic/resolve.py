"""Resolves rules and refutations of any form against the schema: names become relations, disjuncts are spelt out, expressions
replace the variables that abbreviate them, aggregates become measures. It collects problems with their places."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rulescore.errors import Diagnostic, Span
from rulescore.language import syntax
from rulescore.language.cursor import DEEPEST
from rulescore.logic import formula
from rulescore.logic.binding import Binder, DisjunctPart
from rulescore.logic.disjuncts import (
    FRESH,
    bound_variables,
    common_values,
    names_in,
)
from rulescore.logic.places import BindingPlace, Places
from rulescore.logic.problems import DECIDABLE, MOST_NODES, Report, Size, print_column, size_of, sizes_of
from rulescore.logic.tolerances import as_comparison
from rulescore.logic.types import Mixture, Typing, type_of_value
from rulescore.values import ValueType

Substitution = Mapping[str, syntax.Expression]


def _are_variables(written: syntax.Comparison, resolved: syntax.Comparison) -> bool:
    """Whether a comparison for equality may compare values of any types. It has two variables, and either one of them stands for a
    constant of the head, or the comparison has no place in the text, since a declaration is short for it."""
    if written.operator not in {syntax.Operator.EQUAL, syntax.Operator.DIFFERENT} or not isinstance(written.left, syntax.Variable):
        return False
    sides = (resolved.left, resolved.right)
    terms = all(isinstance(side, syntax.Variable | syntax.Constant) for side in sides) and any(
        isinstance(side, syntax.Constant) for side in sides
    )
    return isinstance(written.right, syntax.Variable) and (terms or written.span is None)


def is_test(atom: syntax.Atom | syntax.Test, schema: formula.Schema, functions: Iterable[str]) -> bool:
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
    def places(self) -> tuple[formula.OrderedText, ...]:
        return tuple(
            formula.OrderedText(place.relation.name, place.name, word, span)
            for variable, (word, span) in self.ordered.items()
            for place in self.bound.get(variable, ())
        )


@dataclass
class Resolver:
    """Resolves the parts of one statement. `prefix` keeps a refutation's variables apart from the rule's, whose `types` the caller
    gives. `computed`: the variables that the statement orders or computes with. If such a variable has integers in one part of an
    `or` and floats in another, the integers become doubles; `doubles`: the places of these integers. `texts`: what the statement
    orders as text."""

    schema: formula.Schema
    functions: frozenset[str]
    problems: list[Diagnostic]
    prefix: str = ""
    types: dict[str, ValueType | None] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()
    mixtures: dict[str, Mixture] = field(default_factory=dict)
    doubles: dict[tuple[str, str], None] = field(default_factory=dict)
    texts: OrderedTexts = field(default_factory=OrderedTexts)
    measures: dict[str, formula.AggregateValue] = field(default_factory=dict)
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

    def body(
        self, body: syntax.And, outer: Substitution, head: syntax.Head | None = None
    ) -> tuple[tuple[formula.Disjunct, ...], Substitution]:
        """The disjuncts of a body, and the variables that abbreviate the same expression in all of them. `outer`: variables that
        are bound already, with their expressions."""
        parts = self._small(self.binder.body(body, outer, head), outer, head)
        common = common_values([part.values for part in parts])
        return self._disjuncts(parts, common, outer, set(self.types)), self._known(common, outer)

    def condition(self, condition: syntax.Condition, known: Substitution) -> formula.Judgement:
        """Resolve a condition that binds nothing."""
        match condition:
            case syntax.Atom() | syntax.Test():
                if is_test(condition, self.schema, self.functions):
                    return self._test(condition, known)
                if isinstance(condition, syntax.Test):
                    self._report.expression_in_atom(condition)
                    return formula.Leaf(syntax.Test(condition.predicate, (), condition.span))
                return formula.Leaf(self.atom(condition, known))
            case syntax.RowAtom():
                return formula.Leaf(self.atom(condition, known))
            case syntax.Comparison(operator, left, right, span):
                comparison = syntax.Comparison(operator, self.expression(left, known), self.expression(right, known), span)
                if not (self.prefix and _are_variables(condition, comparison)):
                    self._typing().comparison(comparison)
                if operator not in {syntax.Operator.EQUAL, syntax.Operator.DIFFERENT}:
                    self._order(operator, comparison.left, comparison.right)
                return formula.Leaf(comparison)
            case syntax.Let(variable, value, span):
                return self.condition(syntax.Comparison(syntax.Operator.EQUAL, variable, value, span), known)
            case syntax.Membership(value, constants, span):
                member = syntax.Membership(self.expression(value, known), constants, span)
                self._typing().membership(member)
                return formula.Leaf(member)
            case syntax.Not(inner):
                return formula.Opposite(self.condition(inner, known))
            case syntax.And(conditions):
                return formula.All(tuple(self.condition(part, known) for part in conditions))
            case syntax.Or(conditions):
                return formula.AnyOf(tuple(self.condition(part, known) for part in conditions))

    def expression(self, expression: syntax.Expression, known: Substitution) -> syntax.Expression:
        match expression:
            case syntax.Variable(name):
                return known[name] if name in known else replace(expression, name=self.prefix + name)
            case syntax.Constant() | syntax.Attribute():
                return expression
            case syntax.Operation(operator, left, right, span):
                return syntax.Operation(operator, self.expression(left, known), self.expression(right, known), span)
            case syntax.Negative(operand, span):
                return syntax.Negative(self.expression(operand, known), span)
            case syntax.Call(function, arguments, span):
                return syntax.Call(function, tuple(self.expression(argument, known) for argument in arguments), span)
            case syntax.Aggregate():
                return self._measure(expression, known)

    def atom(self, atom: syntax.Atom | syntax.RowAtom, known: Substitution) -> formula.ResolvedAtom:
        """Resolve an atom that binds nothing: `_` stays, and an unnamed key means some row."""
        relation, named = self._arguments(atom)
        converted = tuple((column, self._term(term, known)) for column, term in named)
        if relation is not None:
            self._check_types(relation, named, converted)
        return formula.ResolvedAtom(relation.name if relation is not None else "", converted, atom)

    def bind(self, atom: syntax.Atom) -> None:
        """Take the types of an atom's variables from its columns."""
        places = Places(self.schema, self._report, {self.prefix + name for name in self.computed})
        places.read([self.atom(atom, {})], ())
        self._take_types(places)

    def name(self, predicate: str, span: Span | None) -> None:
        """Check a predicate named without arguments: report an attribute that its table does not have."""
        table = predicate.partition(".")[0]
        if table in self.schema.relations and self.schema.positions(predicate) is None:
            self._report.unknown_predicate(syntax.Atom(predicate, (), span))

    def is_grounded(self, name: str) -> bool:
        """Whether a variable belongs to groundings, and so has a value. A variable that stands for an aggregate may have no
        value."""
        return name not in self.measures

    # Names

    def _arguments(self, atom: syntax.Atom | syntax.RowAtom) -> tuple[formula.Relation | None, tuple[tuple[str, syntax.Term], ...]]:
        match atom:
            case syntax.Atom(predicate, terms):
                relation_columns = self.schema.positions(predicate)
                if relation_columns is None or len(relation_columns[1]) != len(terms):
                    self._report.unknown_predicate(atom)
                    return None, ()
                return relation_columns[0], tuple(zip(relation_columns[1], terms, strict=True))
            case syntax.RowAtom(table, arguments):
                relation = self.schema.relations.get(table)
                if relation is None or not relation.is_table:
                    self._report.unknown_table(atom)
                    return None, arguments
                for attribute, _ in arguments:
                    if attribute not in relation.columns:
                        self._report.unknown_attribute(atom, relation, attribute)
                return relation, tuple(argument for argument in arguments if argument[0] in relation.columns)

    def _binding_atom(self, atom: syntax.Atom | syntax.RowAtom, known: Substitution) -> formula.ResolvedAtom:
        """Resolve an atom that binds: `_` and unnamed keys become variables of their own."""
        relation, named = self._arguments(atom)
        if relation is not None and relation.is_table:
            named_columns = {column for column, _ in named}
            missing = tuple((column, syntax.Wildcard(atom.span)) for column in relation.key if column not in named_columns)
            named = (*missing, *named)
        converted = tuple(
            (column, self._fresh_variable(atom, column) if isinstance(term, syntax.Wildcard) else self._term(term, known))
            for column, term in named
        )
        if relation is not None:
            self._check_types(relation, named, converted)
        return formula.ResolvedAtom(relation.name if relation else "", converted, atom)

    def _fresh_variable(self, atom: syntax.Atom | syntax.RowAtom, column: str) -> syntax.Variable:
        name = self._fresh.setdefault((id(atom), column), f"{self.prefix}{FRESH}{len(self._fresh) + 1}")
        return syntax.Variable(name, atom.span)

    def _term(self, term: syntax.Term, known: Substitution) -> syntax.Expression | syntax.Wildcard:
        return term if isinstance(term, syntax.Wildcard) else self.expression(term, known)

    def _test(self, atom: syntax.Atom | syntax.Test, known: Substitution) -> formula.Judgement:
        arguments: list[syntax.Expression] = []
        for term in atom.terms if isinstance(atom, syntax.Atom) else atom.arguments:
            if isinstance(term, syntax.Wildcard):
                self._report.report(
                    "E201", "`_` in a test is unsafe: it is bound by nothing", term.span, "name the variable and bind it"
                )
                return formula.Leaf(syntax.Test(atom.predicate, (), atom.span))
            arguments.append(term)
        if atom.predicate == "within":
            return self._within(syntax.Test("within", tuple(arguments), atom.span), known)
        test = syntax.Test(atom.predicate, tuple(self.expression(argument, known) for argument in arguments), atom.span)
        self._typing().test(test)
        return formula.Leaf(test)

    def _within(self, test: syntax.Test, known: Substitution) -> formula.Judgement:
        comparison = as_comparison(test, self.problems)
        if comparison is not None:
            left, right, tolerance = test.arguments
            relative = isinstance(tolerance, syntax.Call) and tolerance.function == "percent"
            values = self.expression(left, known), self.expression(right, known)
            if self._typing().distance(*values, test.span, relative=relative):
                return self.condition(comparison, known)
        return formula.Leaf(syntax.Test("within", (), test.span))

    # Aggregates

    def _measure(self, aggregate: syntax.Aggregate, known: Substitution) -> syntax.Expression:
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
            if aggregate.function in {syntax.Aggregation.LEAST, syntax.Aggregation.GREATEST}:
                self._order(aggregate.function, value)
            self.types[name] = self._typing().expression(
                syntax.Aggregate(aggregate.function, value, aggregate.condition, aggregate.span)
            )
            self.measures[name] = formula.AggregateValue(aggregate.function, value, (*variables, *wild), disjuncts, aggregate)
        return syntax.Variable(self._measured[key], aggregate.span)

    def _is_fresh(self, name: str) -> bool:
        return name in self._fresh.values()

    # Disjuncts

    def _small(self, parts: list[DisjunctPart], outer: Substitution, head: syntax.Head | None = None) -> list[DisjunctPart]:
        """The parts, unless abbreviations make them or the head too large: then we report this, and return the parts without tests
        and abbreviations."""
        left = MOST_NODES
        for part in parts:
            sizes = {name: size_of(value, {}) for name, value in outer.items()} if part.values or part.tests else {}
            sizes_found: list[tuple[syntax.Condition | syntax.Expression, Size]]
            sizes_found = [(part.values[name], size) for name, size in sizes_of(part.values, sizes)]
            uses = (*part.tests, head) if isinstance(head, syntax.Condition) else part.tests
            sizes_found += [(test, size_of(test, sizes)) for test in uses]
            for node, size in sizes_found:
                left -= size.nodes
                if left < 0 or size.height > DEEPEST:
                    self._report.too_large(node)
                    return [replace(part, tests=(), values={}, bound=part.bound | part.values.keys()) for part in parts]
        return parts

    def _disjuncts(
        self, parts: Sequence[DisjunctPart], common: Substitution, outer: Substitution, bound: Collection[str]
    ) -> tuple[formula.Disjunct, ...]:
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
            formula.Disjunct(several, tuple(self.condition(test, known) for test in part.tests), computed)
            for part, several, computed in zip(parts, atoms, values, strict=True)
        )

    def _part_values(
        self, part: DisjunctPart, common: Substitution, known: Substitution, places: Places
    ) -> Iterator[tuple[str, syntax.Expression]]:
        """The variables that equations bind in this part, but not to the same expression in all parts."""
        for name, value in part.values.items():
            if name not in common:
                resolved = self.expression(value, known)
                places.compute(self.prefix + name, self._typing().expression(resolved))
                self._take_types(places)
                yield self.prefix + name, resolved

    def _order(self, word: str, *values: syntax.Expression) -> None:
        """Note variables of text that the statement orders."""
        for value in values:
            if isinstance(value, syntax.Variable) and self.types.get(value.name) is ValueType.STRING:
                self.texts.ordered.setdefault(value.name, (word, value.span))

    def _take_types(self, places: Places) -> None:
        self.types.update(places.types)
        self.texts.bound.update(places.binding)
        self.mixtures.update(places.mixtures)

    def _known(self, common: Substitution, outer: Substitution) -> dict[str, syntax.Expression]:
        """The resolved expressions of the variables that abbreviate the same expression in all parts, and of `outer`."""
        known: dict[str, syntax.Expression] = dict(outer)
        for name, value in common.items():
            known[name] = self.expression(value, known)
        return known

    # Types

    def _typing(self) -> Typing:
        return Typing(lambda variable: self.types.get(variable.name), self.problems, self.mixtures)

    def _check_types(
        self,
        relation: formula.Relation,
        written: Iterable[tuple[str, syntax.Term]],
        arguments: Iterable[tuple[str, syntax.Expression | syntax.Wildcard]],
    ) -> None:
        """Report constants and expressions that an argument cannot equal. A variable may stand anywhere."""
        for (name, term), (_, written_term) in zip(arguments, written, strict=True):
            column = relation.columns[name]
            match term:
                case syntax.Wildcard() | syntax.Variable():
                    pass
                case syntax.Constant() if self.prefix and isinstance(written_term, syntax.Variable):
                    pass  # this value stands for a constant of the rule's head, which we check elsewhere
                case syntax.Constant(value):
                    if not column.may_hold(type_of_value(value)) or isinstance(value, datetime.timedelta):
                        self._report.wrong_type(relation, name, term)
                case _:
                    type_ = self._typing().expression(term)
                    if type_ is not None and not column.may_hold(type_):
                        self._report.two_types(print_column(relation, name), term.span)
