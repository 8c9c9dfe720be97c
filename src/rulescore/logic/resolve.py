"""Rules and refutations of any form, resolved against the schema: names become relations, disjuncts are spelt out, variables
that abbreviate are replaced, aggregates become measures. Problems are collected with their places."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from rulescore.data.relations import Relation, Schema
from rulescore.data.setting import ValueType
from rulescore.errors import Diagnostic, Span, suggestion
from rulescore.language.printer import print_term
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
from rulescore.language.trees import Node, nodes_in, parts, variables_in
from rulescore.logic.formula import Disjunct, Measure
from rulescore.logic.tolerances import as_comparison
from rulescore.logic.types import TESTS, Typing, agree, type_of_value, wider, with_article

CODES = {
    "E274": "a variable of an aggregate is used elsewhere, or an aggregate stands within another",
    "E275": "a table or an attribute is unknown",
    "E276": "a head does not name the key of its row",
    "E277": "a variable stands for values of two types",
    "E278": "an atom has an expression for an argument",
}

Substitution = Mapping[str, Expression]

_FRESH = "_."
"""How variables for `_` begin; none that a rule names has a dot."""

DECIDABLE = frozenset({*TESTS, "within"})
"""Tests that are built in."""


def is_test(atom: Atom | Test, schema: Schema, functions: Iterable[str]) -> bool:
    """Whether what is written like an atom is a test: predicates of the data come first."""
    if schema.positions(atom.predicate) is not None:
        return False
    return atom.predicate in DECIDABLE or atom.predicate in functions


@dataclass
class Resolver:
    """Resolves the parts of one statement. `prefix` keeps the variables of a refutation apart from those of the rule."""

    schema: Schema
    functions: frozenset[str]
    problems: list[Diagnostic]
    prefix: str = ""
    types: dict[str, ValueType | None] = field(default_factory=dict)
    measures: dict[str, Measure] = field(default_factory=dict)
    _homes: dict[str, set[int]] = field(default_factory=dict)
    _fresh: dict[tuple[int, str], str] = field(default_factory=dict)
    _measured: dict[tuple[int, str], str] = field(default_factory=dict)

    def body(self, body: And, outer: Substitution, head: Head | None = None) -> tuple[tuple[Disjunct, ...], Substitution]:
        """The disjuncts of a body, and the variables that abbreviate the same expression in all of them. `outer`: variables
        bound already, with what they stand for."""
        self._find_homes(body, head)
        parts = [self._bind(conditions, outer) for conditions in self._ways(body, outer)]
        common = _common(parts)
        self._check_bound(parts, body)
        return tuple(self._disjunct(part, common, outer) for part in parts), self._known(common, outer)

    def condition(self, condition: Condition, known: Substitution) -> Condition:
        """A condition that binds nothing."""
        match condition:
            case Atom() | Test():
                if is_test(condition, self.schema, self.functions):
                    return self._test(condition, known)
                if isinstance(condition, Test):
                    self._expression_in_atom(condition)
                    return Test(condition.predicate, (), condition.span)
                return self.atom(condition, known)
            case RowAtom():
                return self.atom(condition, known)
            case Comparison(operator, left, right, span):
                found = Comparison(operator, self.expression(left, known), self.expression(right, known), span)
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
            self._note_types(relation, converted)
        # Arguments of resolved atoms may be whole expressions: an abbreviation stands in an atom like any other term.
        name = relation.name if relation is not None else ""
        return RowAtom(name, converted, atom.span)  # type: ignore[arg-type]

    def name(self, predicate: str, span: Span | None) -> None:
        """A predicate that is named without arguments: it may be an attribute that its table does not have."""
        table = predicate.partition(".")[0]
        if table in self.schema.relations and self.schema.positions(predicate) is None:
            self._unknown_predicate(Atom(predicate, (), span))

    def stands_outside(self, name: str) -> bool:
        """Whether a variable occurs outside of all aggregates."""
        return 0 in self._homes.get(name, {0})

    # Names

    def _arguments(self, atom: Atom | RowAtom) -> tuple[Relation | None, tuple[tuple[str, Term], ...]]:
        match atom:
            case Atom(predicate, terms):
                found = self.schema.positions(predicate)
                if found is None or len(found[1]) != len(terms):
                    self._unknown_predicate(atom)
                    return None, ()
                return found[0], tuple(zip(found[1], terms, strict=True))
            case RowAtom(table, arguments):
                relation = self.schema.relations.get(table)
                if relation is None or not relation.is_table:
                    self._unknown_table(atom)
                    return None, arguments
                for attribute, _ in arguments:
                    if attribute not in relation.columns:
                        self._unknown_attribute(atom, relation, attribute)
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
            self._note_types(relation, converted)
        return RowAtom(relation.name if relation else "", converted, atom.span)  # type: ignore[arg-type]

    def _fresh_variable(self, atom: Atom | RowAtom, column: str) -> Variable:
        name = self._fresh.setdefault((id(atom), column), f"{self.prefix}{_FRESH}{len(self._fresh) + 1}")
        return Variable(name, atom.span)

    def _term(self, term: Term, known: Substitution) -> Expression | Wildcard:
        return term if isinstance(term, Wildcard) else self.expression(term, known)

    def _test(self, atom: Atom | Test, known: Substitution) -> Condition:
        arguments: list[Expression] = []
        for term in atom.terms if isinstance(atom, Atom) else atom.arguments:
            if isinstance(term, Wildcard):
                self._problem("E202", "`_` in a test is unsafe: it is bound by nothing", term.span, "name the variable and bind it")
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
        used = {name: value for name, value in known.items() if name in set(_names(aggregate))}
        key = (id(aggregate), repr(sorted((name, repr(value)) for name, value in used.items())))
        if key not in self._measured:
            name = f"{self.prefix}measure {len(self._measured)}"
            self._measured[key] = name
            outer = {*known, *self.outside_aggregates()}
            parts = [self._bind(conditions, outer) for conditions in self._ways(aggregate.condition, outer)]
            common = _common(parts)
            if len(parts) > 1:
                self._check_wildcards(parts)
            for part in parts:
                for variable in _in_order(aggregate, inner - part.bound - set(part.values)):
                    self._unsafe(variable, "the aggregate does not bind it")
            disjuncts = tuple(self._disjunct(part, common, known) for part in parts)
            value = self.expression(aggregate.value, self._known(common, known))
            variables = tuple(self.prefix + one for one in sorted(inner - set(common)))
            wild = tuple(dict.fromkeys(v for d in disjuncts for v in bound_variables(d) if self._is_fresh(v)))
            self.types[name] = self._typing().expression(Aggregate(aggregate.function, value, aggregate.condition, aggregate.span))
            self.measures[name] = Measure(aggregate.function, value, (*variables, *wild), disjuncts)
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
        for name, home, span in _places(nodes):
            if home is None:
                self._problem("E274", "an aggregate cannot stand within another", span, "give the inner one a rule of its own")
            else:
                self._homes.setdefault(name, set()).add(home)
        for name, homes in self._homes.items():
            if len(homes) > 1 and 0 not in homes:
                occurrences = [(home, span) for one, home, span in _places(nodes) if one == name]
                span = next(span for home, span in occurrences if home != occurrences[0][0])
                message = f"variable `{name}` occurs in two aggregates and nowhere else"
                self._problem("E274", message, span, "give it another name in one of them")

    # Disjuncts

    def _ways(self, condition: And, outer: Iterable[str]) -> list[list[Condition]]:
        """The disjuncts of a condition. An `or` that binds nothing is a test: spelt out, each would double them."""
        certain = self._bind([one for one in _conjuncts(condition) if not isinstance(one, Or)], outer)
        bound = certain.bound | certain.values.keys()
        return disjunctions(condition, lambda one: not self._binds_nothing(one, bound))

    def _binds_nothing(self, condition: Or, bound: Collection[str]) -> bool:
        """Whether the atoms and equations of an `or` have no variable but those that are bound anyway."""
        for node in nodes_in(condition, negations=False, aggregates=False):
            match node:
                case Atom() | RowAtom():
                    free = [term for term in _terms(node) if isinstance(term, Wildcard | Variable)]
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

    def _bind(self, conditions: Sequence[Condition], outer: Iterable[str]) -> _Part:
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
        bound = {term.name for atom in atoms for term in _terms(atom) if isinstance(term, Variable)} | set(outer)
        bound.update(self._meant_to_be_bound(tests))
        values, rest = self._abbreviations(equations, bound)
        return _Part(tuple(atoms), (*tests, *rest), values, bound, tuple(conditions))

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
        return {name for name in _names(expression) if name in outside or self.stands_outside(name)}

    def _check_bound(self, parts: Sequence[_Part], body: And) -> None:
        """Every variable must be bound in every disjunct, and every `_` of an atom must be in all of them."""
        reported: set[str] = set()
        for part in parts:
            for variable in _in_order(body, self.outside_aggregates() - part.bound - set(part.values) - reported):
                reported.add(variable.name)
                self._unsafe(variable, "one side of `or` does not bind it" if len(parts) > 1 else _why_unbound(body, variable.name))
        if len(parts) > 1:
            self._check_wildcards(parts)

    def _check_wildcards(self, parts: Sequence[_Part]) -> None:
        for part in parts:
            for atom in part.atoms:
                if all(any(one is atom for one in other.atoms) for other in parts):
                    continue
                relation, named = self._arguments(atom)
                unnamed = relation is not None and any(k not in {c for c, _ in named} for k in relation.key)
                if unnamed or any(isinstance(term, Wildcard) for term in _terms(atom)):
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

    def _disjunct(self, part: _Part, common: Substitution, outer: Substitution) -> Disjunct:
        """A variable that equations bind here and something else elsewhere stays a variable: its name means the same in all
        disjuncts, whichever of them a grounding comes from."""
        # Atoms first: they tell the types of the variables that expressions are made of.
        atoms = tuple(self._binding_atom(atom, outer) for atom in part.atoms)
        known = self._known(common, outer)
        values = []
        for name, value in part.values.items():
            if name not in common:
                found = self.expression(value, known)
                self._note_type(self.prefix + name, self._typing().expression(found), None)
                values.append((self.prefix + name, found))
        tests = tuple(self.condition(test, known) for test in part.tests)
        return Disjunct(atoms, tests, tuple(values))

    def _known(self, common: Substitution, outer: Substitution) -> dict[str, Expression]:
        """What variables that abbreviate the same everywhere stand for."""
        known: dict[str, Expression] = dict(outer)
        for name, value in common.items():
            known[name] = self.expression(value, known)
        return known

    # Types

    def _typing(self) -> Typing:
        return Typing(lambda variable: self.types.get(variable.name), self.problems)

    def _note_types(self, relation: Relation, arguments: Iterable[tuple[str, Expression | Wildcard]]) -> None:
        for column, term in arguments:
            here = relation.columns[column].type
            match term:
                case Wildcard():
                    pass
                case Variable(name):
                    self._note_type(name, here, term.span)
                case Constant(value):
                    self._typing().constant(term)
                    if not agree(here, type_of_value(value)) or isinstance(value, datetime.timedelta):
                        self._wrong_type(relation, column, term, here)
                case _:
                    if not agree(here, self._typing().expression(term)):
                        self._two_types(print_column(relation, column), term.span)

    def _note_type(self, name: str, found: ValueType | None, span: Span | None) -> None:
        known = self.types.get(name)
        if not agree(known, found):
            self._two_types(f"`{name.removeprefix(self.prefix)}`", span, (known, found))
            return
        self.types[name] = wider(known, found)

    # Problems

    def _two_types(self, what: str, span: Span | None, types: tuple[ValueType | None, ...] = ()) -> None:
        shown = " and ".join(with_article(one) for one in types)
        message = f"{what} would have to be {shown} at once" if shown else f"{what} has another type than what is written here"
        self._problem("E277", message, span, "values of different types are never equal: convert one where it is read")

    def _wrong_type(self, relation: Relation, column: str, term: Constant, here: ValueType | None) -> None:
        own = with_article(type_of_value(term.value))
        if isinstance(term.value, datetime.timedelta):
            message, advice = f"`{print_term(term)}` is {own}, which no fact holds", "compare the difference of two dates with it"
        else:
            message = f"`{print_term(term)}` is {own}, but {print_column(relation, column)} is {with_article(here)}"
            advice = "write a constant of that type, or declare the column's type where it is read"
        self._problem("E206", message, term.span, advice)

    def _unsafe(self, variable: Variable, why: str) -> None:
        self.problems.append(
            Diagnostic(
                "E202",
                f"variable `{variable.name}` is unsafe: {why}",
                variable.span.place() if variable.span else None,
                "not bound",
                notes=("in every part of an `or`, a variable is bound by a positive atom, or by `=` or `let` to bound variables",),
                helps=(f"add an atom that mentions `{variable.name}`",),
            )
        )

    def _unknown_predicate(self, atom: Atom) -> None:
        table, dot, attribute = atom.predicate.partition(".")
        relation = self.schema.relations.get(table)
        if dot and relation is not None:
            if attribute in relation.columns:
                message = f"`{atom.predicate}` has {len(relation.key) + 1} arguments, the key and the value, not {atom.arity}"
                self._problem("E203", message, atom.span, None)
            else:
                self._unknown_attribute(atom, relation, attribute)
        elif relation is not None and relation.is_table:
            columns = ", ".join(f"{one}: {one[:1].upper()}" for one in relation.attributes[:3])
            self._problem("E275", f"`{table}` is a table: its attributes are named", atom.span, f"write `{table}({columns})`")

    def _unknown_table(self, atom: RowAtom) -> None:
        span = _part_of(atom.span, r"[^(]*")
        if atom.table in self.schema.relations:
            message = f"`{atom.table}` is a predicate of facts, whose arguments have no names"
            self._problem("E275", message, span, "write the arguments in their order, without names")
            return
        tables = [one.name for one in self.schema.relations.values() if one.is_table]
        meant = suggestion(atom.table, tables)
        known = f"the tables are {', '.join(f'`{one}`' for one in tables)}" if tables else "no table with a key is given"
        self._problem("E275", f"there is no table `{atom.table}`", span, f"did you mean `{meant}`?" if meant else known)

    def _unknown_attribute(self, atom: Atom | RowAtom, relation: Relation, attribute: str) -> None:
        meant = suggestion(attribute, relation.attributes)
        known = f"its attributes are {', '.join(f'`{one}`' for one in relation.attributes)}"
        message = f"table `{relation.name}` has no attribute `{attribute}`"
        named = rf"(?<!\w){re.escape(attribute)}(?=[`\"]?\s*:)" if isinstance(atom, RowAtom) else re.escape(atom.predicate)
        self._problem("E275", message, _part_of(atom.span, named), f"did you mean `{meant}`?" if meant else known)

    def _expression_in_atom(self, test: Test) -> None:
        if self.schema.positions(test.predicate) is not None:
            computed = next(one for one in test.arguments if not isinstance(one, Variable | Constant))
            message = f"an argument of `{test.predicate}` is computed: those of atoms are variables and constants"
            self._problem("E278", message, computed.span, "name the value in the body, `let V = …`, and write `V` here")
            return
        meant = suggestion(test.predicate, [*DECIDABLE, *self.functions])
        advice = f"did you mean `{meant}`?" if meant else "only tests and registered functions take computed arguments"
        message = f"`{test.predicate}` is no predicate of the data, no test and no registered function"
        self._problem("E278", message, _part_of(test.span, r"[^(]*"), advice)

    def _problem(self, code: str, message: str, span: Span | None, advice: str | None) -> None:
        place = span.place() if span is not None else None
        problem = Diagnostic(code, message, place, helps=(advice,) if advice else ())
        if problem not in self.problems:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class _Part:
    """One disjunct before resolution."""

    atoms: tuple[Atom | RowAtom, ...]
    tests: tuple[Condition, ...]
    values: dict[str, Expression]
    bound: set[str]
    conditions: tuple[Condition, ...]


def is_fresh(variable: str) -> bool:
    """Whether a variable of a rule stands for `_` or for a key that is not named."""
    return variable.startswith(_FRESH)


def disjunctions(condition: Condition, spelt_out: Callable[[Or], bool]) -> list[list[Condition]]:
    """The ways for the positive part of a condition to hold, each as a conjunction; an `or` that is not to be spelt out stays."""
    match condition:
        case And(conditions):
            ways = [disjunctions(one, spelt_out) for one in conditions]
            return [[one for part in parts for one in part] for parts in product(*ways)]
        case Or(conditions) if spelt_out(condition):
            return [part for one in conditions for part in disjunctions(one, spelt_out)]
        case _:
            return [[condition]]


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And):
        for one in condition.conditions:
            yield from _conjuncts(one)
    else:
        yield condition


def bound_variables(disjunct: Disjunct) -> Iterator[str]:
    """Variables that a disjunct's atoms bind, in the order of their first use."""
    seen: dict[str, None] = {}
    for atom in disjunct.atoms:
        for _, term in atom.arguments:
            if isinstance(term, Variable):
                seen.setdefault(term.name)
    yield from seen


def print_column(relation: Relation, column: str) -> str:
    if relation.is_table:
        return f"`{relation.name}.{column}`"
    return f"argument {list(relation.columns).index(column) + 1} of `{relation.name}`"


def _common(parts: Sequence[_Part]) -> dict[str, Expression]:
    """Variables that stand for one expression in every disjunct."""
    first, *others = parts
    return {
        name: value
        for name, value in first.values.items()
        if all(other.values.get(name) == value and _same_values(value, first, other) for other in others)
    }


def _same_values(value: Expression, one: _Part, other: _Part) -> bool:
    """Whether what an expression is made of stands for the same in two disjuncts."""
    return all(one.values.get(name) == other.values.get(name) for name in _names(value))


def _terms(atom: Atom | RowAtom) -> Iterator[Term]:
    match atom:
        case Atom(_, terms):
            yield from terms
        case RowAtom(_, arguments):
            yield from (term for _, term in arguments)


def _names(node: Node) -> Iterator[str]:
    for one in nodes_in(node):
        if isinstance(one, Variable):
            yield one.name


def _in_order(node: Node, names: set[str]) -> Iterator[Variable]:
    """Where variables occur first, in the order written."""
    first: dict[str, Variable] = {}
    for one in variables_in(node):
        first.setdefault(one.name, one)
    yield from (one for name, one in first.items() if name in names)


def _why_unbound(body: And, name: str) -> str:
    for condition in body.conditions:
        if name in {variable.name for variable in variables_in(condition, aggregates=False)}:
            match condition:
                case Not():
                    return "`not` binds nothing"
                case Membership():
                    return "`in` binds nothing"
                case Let():
                    return "what `let` makes of it is not bound"
                case Comparison():
                    return "a comparison binds nothing"
                case _:
                    return "a test binds nothing"
    return "an aggregate binds nothing outside of itself"


def _part_of(span: Span | None, pattern: str) -> Span | None:
    """The part of a span that matches; all of it where nothing does, as in a template."""
    found = re.search(pattern, span.source.text[span.start : span.end]) if span is not None else None
    if span is None or found is None:
        return span
    return Span(span.source, span.start + found.start(), span.start + found.end())


def _places(nodes: Sequence[Node]) -> Iterator[tuple[str, int | None, Span | None]]:
    """Every occurrence of a variable with the aggregate it stands in (0: none); None for an aggregate within another."""
    waiting: list[tuple[Node, int]] = [(node, 0) for node in reversed(nodes)]
    while waiting:
        node, home = waiting.pop()
        if isinstance(node, Variable):
            yield node.name, home, node.span
        if isinstance(node, Aggregate):
            if home:
                yield "", None, node.span
            home = home or id(node)
        waiting.extend((child, home) for child in reversed(parts(node)))
