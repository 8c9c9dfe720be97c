"""Rules and refutations of any form, resolved against the schema: names become relations, disjuncts are spelt out, variables
that abbreviate are replaced, aggregates become measures. Problems are collected with their places."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rulescore.data.relations import Relation, Schema
from rulescore.data.setting import ValueType
from rulescore.errors import Diagnostic, Span
from rulescore.language.cursor import DEEPEST
from rulescore.language.syntax import (
    Aggregate,
    And,
    Atom,
    Attribute,
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Falsity,
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
from rulescore.language.trees import nodes_in, variables_in
from rulescore.logic.disjuncts import (
    FRESH,
    Part,
    bound_variables,
    common_values,
    conjuncts,
    disjunctions,
    first_uses,
    names_in,
    number_of_ways,
    places,
    terms_of,
    why_unbound,
)
from rulescore.logic.formula import Disjunct, Measure
from rulescore.logic.formula_problems import DECIDABLE, Report, print_column
from rulescore.logic.places import Places
from rulescore.logic.sizes import MOST_NODES, MOST_WAYS, Size, size_of, sizes_of
from rulescore.logic.tolerances import as_comparison
from rulescore.logic.types import Mixture, Typing, type_of_value

CODES = {
    "E274": "a variable of an aggregate is used elsewhere, or an aggregate stands within another",
    "E275": "a table or an attribute is unknown",
    "E276": "a head does not name the key of its row",
    "E277": "what is computed is compared with values of another type",
    "E278": "an atom has an expression for an argument",
    "E282": "a rule has too many ways to hold, or becomes too large once abbreviations are put in",
}

Substitution = Mapping[str, Expression]


def _are_variables(written: Comparison, found: Comparison) -> bool:
    """Whether a comparison asks for the equality of two variables, of which one stands for a constant of the head."""
    if written.operator not in {Operator.EQUAL, Operator.DIFFERENT} or not isinstance(written.left, Variable):
        return False
    sides = (found.left, found.right)
    terms = all(isinstance(one, Variable | Constant) for one in sides) and any(isinstance(one, Constant) for one in sides)
    return isinstance(written.right, Variable) and terms


def _first_ways(condition: Condition) -> Condition:
    """A condition with the first part of every `or` in it alone."""
    match condition:
        case And(conditions, span):
            return And(tuple(_first_ways(one) for one in conditions), span)
        case Or(conditions):
            return _first_ways(conditions[0])
        case _:
            return condition


def is_test(atom: Atom | Test, schema: Schema, functions: Iterable[str]) -> bool:
    """Whether what is written like an atom is a test: predicates of the data come first."""
    if schema.positions(atom.predicate) is not None:
        return False
    return atom.predicate in DECIDABLE or atom.predicate in functions


@dataclass
class Resolver:
    """Resolves the parts of one statement. `prefix` keeps the variables of a refutation apart from those of the rule, whose `types`
    are given. `computed`: the variables of the statement that are ordered or computed with: of these, integers of one part of an
    `or` are doubles beside floats of another, and `doubles` are their places."""

    schema: Schema
    functions: frozenset[str]
    problems: list[Diagnostic]
    prefix: str = ""
    types: dict[str, ValueType | None] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()
    mixtures: dict[str, Mixture] = field(default_factory=dict)
    doubles: dict[tuple[str, str], None] = field(default_factory=dict)
    measures: dict[str, Measure] = field(default_factory=dict)
    _homes: dict[str, set[int]] = field(default_factory=dict)
    _fresh: dict[tuple[int, str], str] = field(default_factory=dict)
    _measured: dict[tuple[int, str], str] = field(default_factory=dict)

    @property
    def _report(self) -> Report:
        return Report(self.schema, self.functions, self.problems)

    def body(self, body: And, outer: Substitution, head: Head | None = None) -> tuple[tuple[Disjunct, ...], Substitution]:
        """The disjuncts of a body, and the variables that abbreviate the same expression in all of them. `outer`: variables
        bound already, with what they stand for."""
        self._find_homes(body, head)
        parts = self._small([self._bind(conditions, outer) for conditions in self._ways(body, outer)], outer, head)
        common = common_values(parts)
        self._check_bound(parts, body)
        return self._disjuncts(parts, common, outer, set(self.types)), self._known(common, outer)

    def condition(self, condition: Condition, known: Substitution) -> Condition:
        """A condition that binds nothing."""
        match condition:
            case Atom() | Test():
                if is_test(condition, self.schema, self.functions):
                    return self._test(condition, known)
                if isinstance(condition, Test):
                    self._report.expression_in_atom(condition)
                    return Test(condition.predicate, (), condition.span)
                return self.atom(condition, known)
            case RowAtom():
                return self.atom(condition, known)
            case Comparison(operator, left, right, span):
                found = Comparison(operator, self.expression(left, known), self.expression(right, known), span)
                if not (self.prefix and _are_variables(condition, found)):
                    self._typing().comparison(found)
                return found
            case Let(variable, value, span):
                return self.condition(Comparison(Operator.EQUAL, variable, value, span), known)
            case Membership(value, constants, span):
                member = Membership(self.expression(value, known), constants, span)
                self._typing().membership(member)
                return member
            case Not(inner, span):
                return Not(self.condition(inner, known), span)
            case And(conditions, span):
                return And(tuple(self.condition(one, known) for one in conditions), span)
            case Or(conditions, span):
                return Or(tuple(self.condition(one, known) for one in conditions), span)

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
                return Call(function, tuple(self.expression(one, known) for one in arguments), span)
            case Aggregate():
                return self._measure(expression, known)

    def atom(self, atom: Atom | RowAtom, known: Substitution) -> RowAtom:
        """An atom that binds nothing: `_` stays, and a key that is not named means some row."""
        relation, named = self._arguments(atom)
        converted = tuple((column, self._term(term, known)) for column, term in named)
        if relation is not None:
            self._check_types(relation, named, converted)
        # Arguments of resolved atoms may be whole expressions: an abbreviation stands in an atom like any other term.
        name = relation.name if relation is not None else ""
        return RowAtom(name, converted, atom.span)  # type: ignore[arg-type]

    def bind(self, atom: Atom) -> None:
        """Take the types of an atom's variables from the places where they stand there."""
        places = Places(self.schema, self._report, {self.prefix + name for name in self.computed})
        places.read([self.atom(atom, {})], ())
        self._take_types(places)

    def name(self, predicate: str, span: Span | None) -> None:
        """A predicate that is named without arguments: it may be an attribute that its table does not have."""
        table = predicate.partition(".")[0]
        if table in self.schema.relations and self.schema.positions(predicate) is None:
            self._report.unknown_predicate(Atom(predicate, (), span))

    def stands_outside(self, name: str) -> bool:
        """Whether a variable occurs outside of all aggregates."""
        return 0 in self._homes.get(name, {0})

    def is_grounded(self, name: str) -> bool:
        """Whether a variable is one of a grounding, which has a value; one that stands for an aggregate may have none."""
        return name not in self.measures

    # Names

    def _arguments(self, atom: Atom | RowAtom) -> tuple[Relation | None, tuple[tuple[str, Term], ...]]:
        match atom:
            case Atom(predicate, terms):
                found = self.schema.positions(predicate)
                if found is None or len(found[1]) != len(terms):
                    self._report.unknown_predicate(atom)
                    return None, ()
                return found[0], tuple(zip(found[1], terms, strict=True))
            case RowAtom(table, arguments):
                relation = self.schema.relations.get(table)
                if relation is None or not relation.is_table:
                    self._report.unknown_table(atom)
                    return None, arguments
                for attribute, _ in arguments:
                    if attribute not in relation.columns:
                        self._report.unknown_attribute(atom, relation, attribute)
                return relation, tuple(one for one in arguments if one[0] in relation.columns)

    def _binding_atom(self, atom: Atom | RowAtom, known: Substitution) -> RowAtom:
        """An atom that binds: `_` and unnamed keys are variables of their own."""
        relation, named = self._arguments(atom)
        if relation is not None and relation.is_table:
            given = {column for column, _ in named}
            missing = tuple((column, Wildcard(atom.span)) for column in relation.key if column not in given)
            named = (*missing, *named)
        converted = tuple(
            (column, self._fresh_variable(atom, column) if isinstance(term, Wildcard) else self._term(term, known))
            for column, term in named
        )
        if relation is not None:
            self._check_types(relation, named, converted)
        return RowAtom(relation.name if relation else "", converted, atom.span)  # type: ignore[arg-type]

    def _fresh_variable(self, atom: Atom | RowAtom, column: str) -> Variable:
        name = self._fresh.setdefault((id(atom), column), f"{self.prefix}{FRESH}{len(self._fresh) + 1}")
        return Variable(name, atom.span)

    def _term(self, term: Term, known: Substitution) -> Expression | Wildcard:
        return term if isinstance(term, Wildcard) else self.expression(term, known)

    def _test(self, atom: Atom | Test, known: Substitution) -> Condition:
        arguments: list[Expression] = []
        for term in atom.terms if isinstance(atom, Atom) else atom.arguments:
            if isinstance(term, Wildcard):
                self._report.report(
                    "E202", "`_` in a test is unsafe: it is bound by nothing", term.span, "name the variable and bind it"
                )
                return Test(atom.predicate, (), atom.span)
            arguments.append(term)
        if atom.predicate == "within":
            return self._within(Test("within", tuple(arguments), atom.span), known)
        found = Test(atom.predicate, tuple(self.expression(one, known) for one in arguments), atom.span)
        self._typing().test(found)
        return found

    def _within(self, test: Test, known: Substitution) -> Condition:
        comparison = as_comparison(test, self.problems)
        if comparison is not None:
            left, right, tolerance = test.arguments
            relative = isinstance(tolerance, Call) and tolerance.function == "percent"
            values = self.expression(left, known), self.expression(right, known)
            if self._typing().distance(*values, test.span, relative=relative):
                return self.condition(comparison, known)
        return Test("within", (), test.span)

    # Aggregates

    def _measure(self, aggregate: Aggregate, known: Substitution) -> Expression:
        inner = self._inner_variables(aggregate)
        used = {name: value for name, value in known.items() if name in set(names_in(aggregate))}
        key = (id(aggregate), repr(sorted((name, repr(value)) for name, value in used.items())))
        if key not in self._measured:
            name = f"{self.prefix}measure {len(self._measured)}"
            self._measured[key] = name
            outer = {*known, *self.outside_aggregates()}
            parts = self._small([self._bind(conditions, outer) for conditions in self._ways(aggregate.condition, outer)], known)
            common = common_values(parts)
            if len(parts) > 1:
                self._check_wildcards(parts)
            for part in parts:
                for variable in first_uses(aggregate, inner - part.bound - set(part.values)):
                    self._report.unsafe(variable, "the aggregate does not bind it")
            around = {*self.types, *(self.prefix + one for one in self.outside_aggregates())}
            disjuncts = self._disjuncts(parts, common, known, around)
            value = self.expression(aggregate.value, self._known(common, known))
            variables = tuple(self.prefix + one for one in sorted(inner - set(common)))
            wild = tuple(dict.fromkeys(v for d in disjuncts for v in bound_variables(d) if self._is_fresh(v)))
            self.types[name] = self._typing().expression(Aggregate(aggregate.function, value, aggregate.condition, aggregate.span))
            self.measures[name] = Measure(aggregate.function, value, (*variables, *wild), disjuncts, aggregate)
        return Variable(self._measured[key], aggregate.span)

    def _is_fresh(self, name: str) -> bool:
        return name in self._fresh.values()

    def _inner_variables(self, aggregate: Aggregate) -> set[str]:
        own = [*variables_in(aggregate.value, aggregates=False), *variables_in(aggregate.condition, aggregates=False)]
        return {variable.name for variable in own if self._homes.get(variable.name) == {id(aggregate)}}

    def outside_aggregates(self) -> set[str]:
        """Variables that occur outside of aggregates: those of the rule itself."""
        return {name for name, homes in self._homes.items() if 0 in homes}

    def _find_homes(self, body: And, head: Head | None) -> None:
        """Where each variable occurs: in which aggregates, or (0) outside of all."""
        nodes: list[Condition] = [body]
        if head is not None and not isinstance(head, Falsity):
            nodes.append(head)
        for name, home, span in places(nodes):
            if home is None:
                self._report.report(
                    "E274", "an aggregate cannot stand within another", span, "give the inner one a rule of its own"
                )
            else:
                self._homes.setdefault(name, set()).add(home)
        for name, homes in self._homes.items():
            if len(homes) > 1 and 0 not in homes:
                occurrences = [(home, span) for one, home, span in places(nodes) if one == name]
                span = next(span for home, span in occurrences if home != occurrences[0][0])
                message = f"variable `{name}` occurs in two aggregates and nowhere else"
                self._report.report("E274", message, span, "give it another name in one of them")

    # Disjuncts

    def _ways(self, condition: And, outer: Iterable[str]) -> list[list[Condition]]:
        """The disjuncts of a condition. An `or` that binds nothing is a test: spelt out, each would double them."""
        certain = self._bind([one for one in conjuncts(condition) if not isinstance(one, Or)], outer)
        bound = certain.bound | certain.values.keys()
        ways = number_of_ways(condition, lambda one: not self._binds_nothing(one, bound))
        if ways <= MOST_WAYS:
            return disjunctions(condition, lambda one: not self._binds_nothing(one, bound))
        message = f"the condition has {ways:,} ways to hold, of which at most {MOST_WAYS:,} can be told apart"
        self._report.report("E282", message, condition.span, "an `or` that binds variables multiplies them: write several rules")
        return disjunctions(_first_ways(condition), lambda one: False)

    def _small(self, parts: list[Part], outer: Substitution, head: Head | None = None) -> list[Part]:
        """The parts, unless abbreviations make them or the head too large: then this is told, and nothing is computed in any of
        them."""
        left = MOST_NODES
        for part in parts:
            sizes = {name: size_of(value, {}) for name, value in outer.items()} if part.values or part.tests else {}
            found: list[tuple[Condition | Expression, Size]]
            found = [(part.values[name], size) for name, size in sizes_of(part.values, sizes)]
            uses = (*part.tests, head) if isinstance(head, Condition) else part.tests
            found += [(test, size_of(test, sizes)) for test in uses]
            for node, size in found:
                left -= size.nodes
                if left < 0 or size.height > DEEPEST:
                    self._report.too_large(node)
                    return [replace(one, tests=(), values={}, bound=one.bound | one.values.keys()) for one in parts]
        return parts

    def _binds_nothing(self, condition: Or, bound: Collection[str]) -> bool:
        """Whether the atoms and equations of an `or` have no variable but those that are bound anyway."""
        for node in nodes_in(condition, negations=False, aggregates=False):
            match node:
                case Atom() | RowAtom():
                    free = [term for term in terms_of(node) if isinstance(term, Wildcard | Variable)]
                    if self._leaves_key_open(node) or not all(isinstance(one, Variable) and one.name in bound for one in free):
                        return False
                case Comparison(Operator.EQUAL, left, right) | Let(left, right):
                    if any(isinstance(side, Variable) and side.name not in bound for side in (left, right)):
                        return False
                case _:
                    pass
        return True

    def _leaves_key_open(self, atom: Atom | RowAtom) -> bool:
        relation = self.schema.relations.get(atom.table) if isinstance(atom, RowAtom) else None
        return isinstance(atom, RowAtom) and not (relation and set(relation.key) <= {name for name, _ in atom.arguments})

    def _bind(self, conditions: Sequence[Condition], outer: Iterable[str]) -> Part:
        atoms: list[Atom | RowAtom] = []
        tests: list[Condition] = []
        equations: list[Comparison] = []
        for condition in conditions:
            match condition:
                case Atom() if not is_test(condition, self.schema, self.functions):
                    atoms.append(condition)
                case RowAtom():
                    atoms.append(condition)
                case Let(variable, value, span):
                    equations.append(Comparison(Operator.EQUAL, variable, value, span))
                case Comparison(operator=Operator.EQUAL):
                    equations.append(condition)
                case _:
                    tests.append(condition)
        bound = {term.name for atom in atoms for term in terms_of(atom) if isinstance(term, Variable)} | set(outer)
        bound.update(self._meant_to_be_bound(tests))
        values, rest = self._abbreviations(equations, bound)
        return Part(tuple(atoms), (*tests, *rest), values, bound, tuple(conditions))

    def _meant_to_be_bound(self, tests: Iterable[Condition]) -> Iterator[str]:
        """Variables of atoms that are none because of a computed argument, which is told once."""
        for test in tests:
            if isinstance(test, Test) and not is_test(test, self.schema, self.functions):
                yield from (one.name for one in test.arguments if isinstance(one, Variable))

    def _abbreviations(self, equations: Sequence[Comparison], bound: set[str]) -> tuple[dict[str, Expression], list[Comparison]]:
        """Variables that only an equation binds, with the expression they stand for, and the equations that are left."""
        values: dict[str, Expression] = {}
        left = list(equations)
        progress = True
        while progress:
            progress = False
            for equation in left:
                found = self._abbreviated(equation, bound | values.keys())
                if found is not None:
                    values[found[0]] = found[1]
                    left = [one for one in left if one is not equation]
                    progress = True
                    break
        return values, left

    def _abbreviated(self, equation: Comparison, known: Iterable[str]) -> tuple[str, Expression] | None:
        for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(side, Variable) and side.name not in known and self._free(other) <= set(known):
                return side.name, other
        return None

    def _free(self, expression: Expression) -> set[str]:
        """Variables of an expression but for those that belong to an aggregate within it."""
        outside = {variable.name for variable in variables_in(expression, aggregates=False)}
        return {name for name in names_in(expression) if name in outside or self.stands_outside(name)}

    def _check_bound(self, parts: Sequence[Part], body: And) -> None:
        """Every variable must be bound in every disjunct, and every `_` of an atom must be in all of them."""
        reported: set[str] = set()
        for part in parts:
            for variable in first_uses(body, self.outside_aggregates() - part.bound - set(part.values) - reported):
                reported.add(variable.name)
                self._report.unsafe(
                    variable, "one side of `or` does not bind it" if len(parts) > 1 else why_unbound(body, variable.name)
                )
        if len(parts) > 1:
            self._check_wildcards(parts)

    def _check_wildcards(self, parts: Sequence[Part]) -> None:
        for part in parts:
            for atom in part.atoms:
                if all(any(one is atom for one in other.atoms) for other in parts):
                    continue
                relation, named = self._arguments(atom)
                unnamed = relation is not None and any(k not in {c for c, _ in named} for k in relation.key)
                if unnamed or any(isinstance(term, Wildcard) for term in terms_of(atom)):
                    what = "a key that is not named" if unnamed else "`_`"
                    self.problems.append(
                        Diagnostic(
                            "E202",
                            f"{what} is unsafe here: it is a variable that only one side of `or` binds",
                            atom.span.place() if atom.span else None,
                            notes=("each value of it would be a grounding of its own",),
                            helps=("write two rules, or name it in every part of the `or`",),
                        )
                    )
                    return

    def _disjuncts(
        self, parts: Sequence[Part], common: Substitution, outer: Substitution, bound: Collection[str]
    ) -> tuple[Disjunct, ...]:
        """Parts resolved; `bound`: variables whose types are known. A variable that equations bind in one part and atoms in another
        stays a variable: its name means the same in all disjuncts, whichever of them a grounding comes from."""
        # Atoms first, and those of all parts: they tell the types of the variables that expressions are made of.
        atoms = [tuple(self._binding_atom(atom, outer) for atom in part.atoms) for part in parts]
        places = Places(self.schema, self._report, {self.prefix + name for name in self.computed})
        for several in atoms:
            places.read(several, bound)
        self._take_types(places)
        known = self._known(common, outer)
        values = [tuple(self._values(part, common, known, places)) for part in parts]
        self.doubles.update(dict.fromkeys(places.doubles))
        return tuple(
            Disjunct(several, tuple(self.condition(test, known) for test in part.tests), computed)
            for part, several, computed in zip(parts, atoms, values, strict=True)
        )

    def _values(self, part: Part, common: Substitution, known: Substitution, places: Places) -> Iterator[tuple[str, Expression]]:
        """Variables that equations bind in this part, and not alike in all."""
        for name, value in part.values.items():
            if name not in common:
                found = self.expression(value, known)
                places.compute(self.prefix + name, self._typing().expression(found))
                self._take_types(places)
                yield self.prefix + name, found

    def _take_types(self, places: Places) -> None:
        self.types.update(places.types)
        self.mixtures.update(places.mixtures)

    def _known(self, common: Substitution, outer: Substitution) -> dict[str, Expression]:
        """What variables that abbreviate the same everywhere stand for."""
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
        """What is written for an argument can be one; a variable can, whatever it stands for elsewhere."""
        for (name, term), (_, own) in zip(arguments, written, strict=True):
            column = relation.columns[name]
            match term:
                case Wildcard() | Variable():
                    pass
                case Constant() if self.prefix and isinstance(own, Variable):
                    pass  # a constant of the head in a refutation, which is checked by itself
                case Constant(value):
                    if not column.may_hold(type_of_value(value)) or isinstance(value, datetime.timedelta):
                        self._report.wrong_type(relation, name, term)
                case _:
                    found = self._typing().expression(term)
                    if found is not None and not column.may_hold(found):
                        self._report.two_types(print_column(relation, name), term.span)
