"""Finds what binds the variables of a rule, an aggregate or a refutation, in every way for its condition to hold. Reports variables
that nothing binds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from rulescore.errors import Diagnostic, Span, place_of
from rulescore.language import syntax
from rulescore.language.declarations.refute import Refute
from rulescore.language.trees import nodes_in, variables_in
from rulescore.logic.disjuncts import (
    conjuncts,
    disjunctions,
    first_uses,
    most_atoms,
    names_in,
    number_of_ways,
    places,
    why_unbound,
)
from rulescore.logic.problems import MOST_JOINS, MOST_WAYS


@dataclass(frozen=True, slots=True)
class DisjunctPart:
    """One way for a body to hold, before names are resolved: the atoms that bind variables, the tests on these, and the variables
    that abbreviate expressions. `bound`: the variables that atoms bind, or that are bound outside."""

    atoms: tuple[syntax.Atom | syntax.RowAtom, ...]
    tests: tuple[syntax.Condition, ...]
    values: dict[str, syntax.Expression]
    bound: set[str]


def _name_set(expression: syntax.Expression) -> AbstractSet[str]:
    return set(names_in(expression))


def bind(
    conditions: Iterable[syntax.Condition],
    outer: Iterable[str] = (),
    is_test: Callable[[syntax.Atom | syntax.Test], bool] = lambda _: False,
    names: Callable[[syntax.Expression], AbstractSet[str]] = _name_set,
) -> DisjunctPart:
    """What a conjunction binds. `outer`: variables that are bound outside. `is_test`: whether an atom, by its syntax, is a test.
    `names`: the variables of an expression."""
    atoms: list[syntax.Atom | syntax.RowAtom] = []
    tests: list[syntax.Condition] = []
    equations: list[syntax.Comparison] = []
    for condition in conditions:
        match condition:
            case syntax.Atom() if not is_test(condition):
                atoms.append(condition)
            case syntax.RowAtom():
                atoms.append(condition)
            case syntax.Let(variable, value, span):
                equations.append(syntax.Comparison(syntax.Operator.EQUAL, variable, value, span))
            case syntax.Comparison(operator=syntax.Operator.EQUAL):
                equations.append(condition)
            case _:
                tests.append(condition)
    bound = {term.name for atom in atoms for term in atom.terms if isinstance(term, syntax.Variable)}
    bound.update(outer)
    for test in tests:
        # This is no atom, because an argument is computed. We report that elsewhere, and here treat the variables as bound, as the
        # user intended.
        if isinstance(test, syntax.Test) and not is_test(test):
            bound.update(argument.name for argument in test.arguments if isinstance(argument, syntax.Variable))
    values, rest = _abbreviations(equations, bound, names)
    return DisjunctPart(tuple(atoms), (*tests, *rest), values, bound)


def _abbreviations(
    equations: list[syntax.Comparison], bound: set[str], names: Callable[[syntax.Expression], AbstractSet[str]]
) -> tuple[dict[str, syntax.Expression], list[syntax.Comparison]]:
    """Variables that only an equation binds, with the expression they stand for, and the equations that are left."""
    values: dict[str, syntax.Expression] = {}
    left = equations
    while True:
        for equation in left:
            abbreviations = _abbreviated(equation, bound | values.keys(), names)
            if abbreviations is not None:
                values[abbreviations[0]] = abbreviations[1]
                left = [other for other in left if other is not equation]
                break
        else:
            return values, left


def _abbreviated(
    equation: syntax.Comparison, known: set[str], names: Callable[[syntax.Expression], AbstractSet[str]]
) -> tuple[str, syntax.Expression] | None:
    for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
        if isinstance(side, syntax.Variable) and side.name not in known and names(other) <= known:
            return side.name, other
    return None


def body_problems(body: syntax.And, parts: Sequence[DisjunctPart], names: AbstractSet[str] | None = None) -> Iterator[Diagnostic]:
    """Errors for variables that some part does not bind, one each. `names`: the variables of the rule itself; None: of tests."""
    reported: set[str] = set()
    for part in parts:
        wanted = {variable.name for test in part.tests for variable in variables_in(test)} if names is None else names
        missing = wanted - part.bound - part.values.keys() - reported
        for variable in first_uses(body, missing) if missing else ():
            reported.add(variable.name)
            why = "one side of `or` does not bind it" if len(parts) > 1 else why_unbound(body, variable.name)
            yield unsafe(variable, why, alternatives=len(parts) > 1)


def unsafe(variable: syntax.Variable, why: str, *, alternatives: bool = False) -> Diagnostic:
    """The error for an unbound variable. `alternatives`: the condition has an `or`."""
    where = "in every part of an `or`, " if alternatives else ""
    return Diagnostic(
        "E201",
        f"variable `{variable.name}` is unsafe: {why}",
        place_of(variable.span),
        "not bound",
        notes=(f"{where}a variable is bound by a positive atom, or by `=` or `let` to constants and bound variables",),
        helps=(f"add an atom that mentions `{variable.name}`",),
    )


def head_problems(head: syntax.Head, known: Collection[str]) -> Iterator[Diagnostic]:
    """Errors for variables of a head that are not `known`, one each."""
    unbound: dict[str, syntax.Variable] = {}
    for variable in () if isinstance(head, syntax.Falsity) else variables_in(head):
        if variable.name not in known:
            unbound.setdefault(variable.name, variable)
    for name, variable in unbound.items():
        yield Diagnostic(
            "E201",
            f"head variable `{name}` is not bound by the body",
            place_of(variable.span),
            "not bound",
            notes=("every head variable must occur in the body",),
            helps=(f"add a body atom that mentions `{name}`, or use a constant",),
        )


def wildcard_problems(head: syntax.Atom | syntax.RowAtom) -> Iterator[Diagnostic]:
    """An error for every `_` of an atom of a head."""
    for term in head.terms:
        if isinstance(term, syntax.Wildcard):
            yield Diagnostic(
                "E201",
                "a head cannot have `_`",
                place_of(term.span),
                "the body binds no value for it",
                helps=("name the variable and bind it in the body",),
            )


def safety(
    statement: syntax.Rule | Refute, is_test: Callable[[str], bool], keys: Callable[[str], Collection[str] | None]
) -> list[Diagnostic]:
    """Errors for variables and `_` of a rule or a refutation that nothing binds. `is_test`: whether a name belongs to a test. We do
    not report a condition with too many ways to hold: their number depends on the tables, which we may not know."""
    if isinstance(statement, syntax.Rule) and _is_safe_at_once(statement, is_test):
        return []
    outer = (
        [term.name for term in statement.head.terms if isinstance(term, syntax.Variable)] if isinstance(statement, Refute) else []
    )
    if all(map(_is_plain, statement.body.conditions)) and isinstance(statement.head, syntax.Atom | syntax.Falsity):
        return list(_plain_safety(statement, outer, is_test))
    binder = Binder(lambda atom: is_test(atom.predicate), keys)
    binder.body(statement.body, outer, statement.head)
    if isinstance(statement, syntax.Rule):
        binder.head(statement.head, statement.body)
    outside = {*outer, *binder.outside_aggregates()}
    for condition in (statement.body,) if isinstance(statement.head, syntax.Falsity) else (statement.body, statement.head):
        for node in nodes_in(condition):
            if isinstance(node, syntax.Aggregate):
                binder.aggregate(node, outside)
    return [] if any(problem.code in _NOT_OF_SAFETY for problem in binder.problems) else binder.problems


def _is_safe_at_once(rule: syntax.Rule, is_test: Callable[[str], bool]) -> bool:
    """Whether atoms alone bind all variables of the head, as in nearly all of a hundred thousand mined rules."""
    bound = set()
    for atom in rule.body.conditions:
        if not isinstance(atom, syntax.Atom) or is_test(atom.predicate):
            return False
        bound.update([term.name for term in atom.terms if isinstance(term, syntax.Variable)])
    return isinstance(rule.head, syntax.Falsity) or (
        isinstance(rule.head, syntax.Atom) and all(_is_known(term, bound) for term in rule.head.terms)
    )


def _is_plain(condition: syntax.Condition) -> bool:
    """Whether a condition is an atom, a negated atom or a comparison of terms, so it has no `or` and no aggregate in it."""
    match condition:
        case (
            syntax.Atom()
            | syntax.Not(syntax.Atom())
            | syntax.Comparison(_, syntax.Variable() | syntax.Constant(), syntax.Variable() | syntax.Constant())
        ):
            return True
        case _:
            return False


def _plain_safety(statement: syntax.Rule | Refute, outer: Sequence[str], is_test: Callable[[str], bool]) -> Iterator[Diagnostic]:
    """`safety` for bodies that hold in one way, quickly: there may be a hundred thousand of them."""
    head, body = statement.head, statement.body
    part = bind(body.conditions, outer, lambda atom: is_test(atom.predicate))
    if (
        isinstance(statement, syntax.Rule)
        and isinstance(head, syntax.Atom)
        and not all(_is_known(term, part.bound) for term in head.terms)
    ):
        yield from head_problems(head, {*part.bound, *part.values, *names_in(body)})
        yield from () if is_test(head.predicate) else wildcard_problems(head)
    if part.tests:
        yield from body_problems(body, [part])


def _is_known(term: syntax.Term, bound: Collection[str]) -> bool:
    return isinstance(term, syntax.Constant) or (isinstance(term, syntax.Variable) and term.name in bound)


_NOT_OF_SAFETY = {"E274", "E122"}


@dataclass
class Binder:
    """Examines one statement. `is_test`: whether an atom, by its syntax, is a test. `keys`: the key attributes of a table; None if
    we do not know the table. `homes`: the aggregates in which each variable occurs; 0: outside of all aggregates."""

    is_test: Callable[[syntax.Atom | syntax.Test], bool]
    keys: Callable[[str], Collection[str] | None]
    problems: list[Diagnostic] = field(default_factory=list)
    homes: dict[str, set[int]] = field(default_factory=dict)

    def body(self, body: syntax.And, outer: Iterable[str], head: syntax.Head | None) -> list[DisjunctPart]:
        """The ways for a body to hold. Each must bind every variable, and contain every atom with a `_`. `outer`: variables that
        are bound already."""
        self._find_homes(body, head)
        parts = self._parts(body, outer)
        self.problems.extend(body_problems(body, parts, self.outside_aggregates()))
        self._check_wildcards(parts)
        return parts

    def head(self, head: syntax.Head, body: syntax.And) -> None:
        """Report variables of the head that do not occur in the body. If a variable occurs there unbound, `body` reports it."""
        if isinstance(head, syntax.Falsity):
            return
        head_only = {variable.name for variable in variables_in(head)} - self.outside_aggregates()
        self.problems.extend(head_problems(head, {*head_only, *names_in(body)}))
        for node in nodes_in(head, aggregates=False):
            if isinstance(node, syntax.Atom | syntax.RowAtom) and not (isinstance(node, syntax.Atom) and self.is_test(node)):
                self.problems.extend(wildcard_problems(node))

    def aggregate(self, aggregate: syntax.Aggregate, outer: Collection[str]) -> list[DisjunctPart]:
        """The ways for the condition of an aggregate to hold. Each must bind the aggregate's own variables."""
        parts = self._parts(aggregate.condition, outer)
        self._check_wildcards(parts)
        inner = self.inner_variables(aggregate)
        for part in parts:
            for variable in first_uses(aggregate, inner - part.bound - part.values.keys()):
                self.problems.append(unsafe(variable, "the aggregate does not bind it", alternatives=len(parts) > 1))
        return parts

    def stands_outside(self, name: str) -> bool:
        """Whether a variable occurs outside all aggregates."""
        return 0 in self.homes.get(name, {0})

    def outside_aggregates(self) -> set[str]:
        """The variables of the rule itself: the variables that occur outside aggregates."""
        return {name for name, homes in self.homes.items() if 0 in homes}

    def inner_variables(self, aggregate: syntax.Aggregate) -> set[str]:
        inside = [*variables_in(aggregate.value, aggregates=False), *variables_in(aggregate.condition, aggregates=False)]
        return {variable.name for variable in inside if self.homes.get(variable.name) == {id(aggregate)}}

    def _find_homes(self, body: syntax.And, head: syntax.Head | None) -> None:
        nodes: list[syntax.Condition] = [body]
        if head is not None and not isinstance(head, syntax.Falsity):
            nodes.append(head)
        for name, home, span in places(nodes):
            if home is None:
                self._report("E274", "an aggregate cannot stand within another", span, "give the inner one a rule of its own")
            else:
                self.homes.setdefault(name, set()).add(home)
        for name, homes in self.homes.items():
            if len(homes) > 1 and 0 not in homes:
                occurrences = [(home, span) for other, home, span in places(nodes) if other == name]
                span = next(span for home, span in occurrences if home != occurrences[0][0])
                message = f"variable `{name}` occurs in two aggregates and nowhere else"
                self._report("E274", message, span, "give it another name in one of them")

    def _parts(self, condition: syntax.And, outer: Iterable[str]) -> list[DisjunctPart]:
        """The ways for a condition to hold. An `or` that binds nothing stays one test: spelt out, each would double the ways."""
        certain = self._bind([part for part in conjuncts(condition) if not isinstance(part, syntax.Or)], outer)
        # A variable that has only an equation outside an `or` is bound by an atom of that `or`, just as by an atom joined with
        # `and`.
        bound = certain.bound | {name for name, value in certain.values.items() if not isinstance(value, syntax.Variable)}

        def spelt_out(disjunction: syntax.Or) -> bool:
            return not self._binds_nothing(disjunction, bound)

        ways, atoms = number_of_ways(condition, spelt_out), most_atoms(condition, spelt_out)
        most = MOST_WAYS if atoms < 2 else max(1, min(MOST_WAYS, MOST_JOINS // atoms**2))
        if ways <= most:
            ways_to_hold = disjunctions(condition, spelt_out)
        else:
            message = f"the condition has {ways:,} ways to hold, of which at most {most:,} can be told apart"
            message += f" if they have {atoms:,} atoms" if most < MOST_WAYS else ""
            self._report("E122", message, condition.span, "each `or` that binds variables multiplies the ways: write several rules")
            ways_to_hold = disjunctions(_first_ways(condition), lambda _: False)
        return [self._bind(conditions, outer) for conditions in ways_to_hold]

    def _bind(self, conditions: Iterable[syntax.Condition], outer: Iterable[str]) -> DisjunctPart:
        return bind(conditions, outer, self.is_test, self._outer_names)

    def _outer_names(self, expression: syntax.Expression) -> set[str]:
        """The variables of an expression, except the inner variables of its aggregates."""
        outside = {variable.name for variable in variables_in(expression, aggregates=False)}
        return {name for name in names_in(expression) if name in outside or self.stands_outside(name)}

    def _binds_nothing(self, condition: syntax.Or, bound: Collection[str]) -> bool:
        """Whether all variables in the atoms and equations of an `or` are bound outside of it."""
        for node in nodes_in(condition, negations=False, aggregates=False):
            match node:
                case syntax.Atom() | syntax.RowAtom():
                    free = [term for term in node.terms if isinstance(term, syntax.Wildcard | syntax.Variable)]
                    if self._leaves_key_open(node) or not all(
                        isinstance(term, syntax.Variable) and term.name in bound for term in free
                    ):
                        return False
                case syntax.Comparison(syntax.Operator.EQUAL, left, right) | syntax.Let(left, right):
                    if any(isinstance(side, syntax.Variable) and side.name not in bound for side in (left, right)):
                        return False
                case _:
                    pass
        return True

    def _leaves_key_open(self, atom: syntax.Atom | syntax.RowAtom) -> bool:
        return isinstance(atom, syntax.RowAtom) and (self.keys(atom.table) is None or bool(self._unnamed(atom)))

    def _unnamed(self, atom: syntax.RowAtom) -> set[str]:
        """The key attributes that an atom does not name."""
        return set(self.keys(atom.table) or ()) - {name for name, _ in atom.arguments}

    def _check_wildcards(self, parts: Sequence[DisjunctPart]) -> None:
        """Report an atom with `_` or an unnamed key that binds in only some of the parts."""
        for atom in self._of_some(parts):
            unnamed = isinstance(atom, syntax.RowAtom) and bool(self._unnamed(atom))
            if unnamed or any(isinstance(term, syntax.Wildcard) for term in atom.terms):
                what = "a key that is not named" if unnamed else "`_`"
                problem = Diagnostic(
                    "E201",
                    f"{what} is unsafe here: it is a variable that only one side of `or` binds",
                    place_of(atom.span),
                    notes=("each value of it would be a grounding of its own",),
                    helps=("write two rules, or name it in every part of the `or`",),
                )
                self.problems.append(problem)
                return

    def _of_some(self, parts: Sequence[DisjunctPart]) -> Iterator[syntax.Atom | syntax.RowAtom]:
        """Atoms that some parts have and others do not."""
        for part in parts:
            for atom in part.atoms:
                if not all(any(other_atom is atom for other_atom in other.atoms) for other in parts):
                    yield atom

    def _report(self, code: str, message: str, span: Span | None, advice: str) -> None:
        problem = Diagnostic(code, message, place_of(span), helps=(advice,))
        if problem not in self.problems:
            self.problems.append(problem)


def _first_ways(condition: syntax.Condition) -> syntax.Condition:
    """The condition with every `or` in it replaced by its first part."""
    match condition:
        case syntax.And(conditions, span):
            return syntax.And(tuple(_first_ways(part) for part in conditions), span)
        case syntax.Or(conditions):
            return _first_ways(conditions[0])
        case _:
            return condition
