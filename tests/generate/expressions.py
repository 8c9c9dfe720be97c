"""Terms, expressions, conditions and aggregates over variables of known types."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from hypothesis import assume
from hypothesis import strategies as st

from generate.drawing import chance
from generate.schemas import NUMBERS, POOLS, VARIABLES, Schema
from oracle.facts import Constant, constant
from oracle.tree import (
    Aggregate,
    And,
    Atom,
    Call,
    Comparison,
    Condition,
    Expression,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    RowAtom,
    Term,
    Test,
    Variable,
    Wildcard,
)
from oracle.walks import conditions_of, terms_of

Scope = dict[str, list[Variable]]
Picked = TypeVar("Picked")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

# Nearest doubles whose sums and differences are not those of the decimals.
DECIMALS = (0.1, 0.2, 0.3, 0.4)


def days(number: int) -> Constant:
    return Constant("duration", datetime.timedelta(days=number))


def hours(number: float) -> Constant:
    return Constant("duration", datetime.timedelta(hours=number))


MOMENTS = ("datetime", "instant")
SPANS = ("duration", "span")


# Abbreviations by what they stand for: `A`: a value that is never missing, so that atoms may name it; `V`: any expression; `W`: one
# with an aggregate, which no other aggregate reads.
TOTAL, ANY, MEASURED = "A", "V", "W"


def abbreviation(prefix: str, kind: str) -> Variable:
    return Variable(f"{prefix}_{kind}")


def without(scope: Scope, *prefixes: str) -> Scope:
    return {kind: [v for v in names if not v.name.startswith(tuple(f"{p}_" for p in prefixes))] for kind, names in scope.items()}


def kind_of(variable: Variable) -> str:
    if variable.name[1:2] == "_":
        return variable.name[2:]
    # A variable of an aggregate has the name of one of its type, and a number.
    return next(kind for kind, names in VARIABLES.items() if Variable(variable.name.rstrip("0123456789")) in names)


def scope_of(conditions: Iterable[Condition], schema: Schema) -> Scope:
    """The variables that atoms of the positive tree name, by their types."""
    found: Scope = {kind: [] for kind in VARIABLES}
    for condition in conditions:
        if isinstance(condition, Not):
            continue
        for term in terms_of(condition):
            if isinstance(term, Variable):
                kind = kind_of(term)
                found[kind] = [*found[kind], *([] if term in found[kind] else [term])]
        for kind, names in scope_of(conditions_of(condition), schema).items():
            found[kind] = list(dict.fromkeys([*found[kind], *names]))
    return found


class ExpressionMaker:
    def __init__(self, draw: st.DrawFn, schema: Schema, numbers: Iterator[int]) -> None:
        self.draw = draw
        self.schema = schema
        self.numbers = numbers

    def pick(self, values: Sequence[Picked]) -> Picked:
        return self.draw(st.sampled_from(values))

    def chance(self, percent: int) -> bool:
        return chance(self.draw, percent)

    # Atoms

    def term(self, kind: str, scope: Scope, *, wildcards: bool) -> Term:
        if wildcards and self.chance(10):
            return Wildcard()
        # A literal of a type that no fact has at its place is an error.
        if not scope[kind] or (kind != "mixed" and self.chance(10)):
            return self.pick(self.schema.constants(kind))
        return self.pick(scope[kind])

    def plain_atom(self, scope: Scope, *, wildcards: bool, bound: bool = False) -> Atom:
        """Of a predicate, or of an attribute as a predicate. `bound`: it binds no variable, so that one of any type may stand at a
        place of several types."""
        scope = without(scope, ANY, MEASURED)
        attributes = self.schema.attribute_signatures()
        predicates = self.usable(self.schema.predicates, scope)
        signatures = attributes if attributes and (not predicates or self.chance(40)) else predicates
        assume(signatures)
        name = self.pick(sorted(signatures))
        everything = [one for names in scope.values() for one in names]
        terms: list[Term] = []
        for place, kind in enumerate(signatures[name]):
            literals = self.schema.literals.get((name, place), ())
            if literals and self.chance(15):
                terms.append(self.pick(literals))
            elif kind == "mixed" and bound and self.chance(30):
                terms.append(self.pick(everything))
            else:
                terms.append(self.term(kind, scope, wildcards=wildcards))
        return Atom(name, tuple(terms))

    def usable(self, signatures: Mapping[str, tuple[str, ...]], scope: Scope) -> dict[str, tuple[str, ...]]:
        """Predicates that an atom can be made of: a place of several types needs a variable."""
        return {name: kinds for name, kinds in signatures.items() if scope["mixed"] or "mixed" not in kinds}

    def row_atom(self, scope: Scope, *, named: bool, wildcards: bool = True, head: bool = False) -> RowAtom:
        """`named`: every part of the key is named, by a variable where there is one."""
        scope = without(scope, ANY, MEASURED)
        table = self.schema.table
        assert table is not None
        others = [name for name in self.schema.attributes if name not in table.key and name != table.hidden]
        chosen = self.draw(st.lists(st.sampled_from(others), min_size=1 if head else 0, max_size=3, unique=True))
        key = [name for name in table.key if named or not chosen or self.chance(75)]
        arguments = [(name, self.key_term(self.schema.attributes[name], scope)) for name in key]
        free = wildcards and not named
        arguments += [(name, self.term(self.schema.attributes[name], scope, wildcards=free)) for name in chosen]
        return RowAtom(table.name, tuple(arguments))

    def key_term(self, kind: str, scope: Scope) -> Term:
        return self.pick(scope[kind]) if scope[kind] and not self.chance(8) else self.pick(self.schema.constants(kind))

    def positive(self, scope: Scope, *, named: bool = False, bound: bool = False) -> Condition:
        """An atom. `named`: no `_` and no unnamed key, which every disjunct would have to bind. `bound`: it binds nothing."""
        usable = self.usable(self.schema.predicates, scope)
        if self.schema.table is not None and (not usable or self.chance(50)):
            return self.row_atom(scope, named=named)
        return self.plain_atom(scope, wildcards=not named, bound=bound)

    # Expressions

    def expression(self, kind: str, scope: Scope, depth: int, *, aggregates: bool = False) -> Expression:
        """Of the type. Integers and floats are exact; a ratio may be anything."""
        if kind == "number":
            return self.leaf(kind, scope)
        if aggregates and kind != "boolean" and self.chance(20):
            return self.aggregate(kind, scope)
        if depth == 0 or self.chance(35):
            return self.leaf(kind, scope)
        inner = depth - 1
        match kind:
            case "string":
                return Call(self.pick(("lower", "upper")), (self.expression("string", scope, inner),))
            case "date":
                operator = self.pick(("+", "-"))
                moments = [one for kind in MOMENTS for one in scope[kind]]
                if moments and self.chance(50):
                    return Call("date", (self.pick(moments),))
                return Operation(operator, self.expression("date", scope, inner), days(self.pick((1, 29, 30))))
            case "datetime" | "instant":
                gap = self.pick((hours(6), hours(0.5), days(29), Constant("duration", datetime.timedelta(microseconds=1))))
                return Operation(self.pick(("+", "-")), self.expression(kind, scope, inner), gap)
            case "span":
                of = self.pick(MOMENTS)
                left, right = (self.expression(of, scope, inner) for _ in range(2))
                gap = Operation("-", left, right)
                return self.pick((gap, gap, Call("abs", (gap,)), Operation("*", gap, constant(2)), Operation("+", gap, days(1))))
            case "duration":
                left, right = (self.expression("date", scope, inner) for _ in range(2))
                gap = Operation("-", left, right)
                return Call("abs", (gap,)) if self.chance(50) else gap
            case "boolean":
                return self.leaf(kind, scope)
            case _:
                return self.number(kind, scope, inner, aggregates=aggregates)

    def leaf(self, kind: str, scope: Scope) -> Expression:
        if kind == "duration":
            return days(self.pick((0, 1, 29, 30)))
        if kind == "span":
            return self.pick((hours(18), hours(6), days(29), days(0), Constant("duration", datetime.timedelta(microseconds=1))))
        if kind == "ratio" and self.chance(25):
            return constant(self.pick(DECIMALS))
        if scope[kind] and not self.chance(20):
            return self.pick(scope[kind])
        return self.pick(self.schema.constants(kind))

    def number(self, kind: str, scope: Scope, depth: int, *, aggregates: bool) -> Expression:
        part = "integer" if kind == "integer" else self.pick(("integer", kind))
        left, right = (self.expression(k, scope, depth, aggregates=aggregates) for k in (kind, part))
        if kind == "integer":
            return self.integer(left, right, scope)
        choices: list[Expression] = [*self.exact(left, right), Call("round", (left, constant(1)))] if kind == "ratio" else []
        choices = choices or self.exact(left, right)
        if kind == "ratio":
            divided = Operation("/", left, right)
            choices.append(Call(self.pick(("days", "hours", "minutes", "seconds")), (self.expression("span", scope, 1),)))
            choices += [divided, divided, Call("sqrt", (left,)), Call("ln", (left,)), Call("power", (left, constant(2)))]
        return self.pick(choices)

    def exact(self, left: Expression, right: Expression) -> list[Expression]:
        operations: list[Expression] = [Operation(operator, left, right) for operator in ("+", "-", "*")]
        return [*operations, Call("abs", (left,)), Call("min", (left, right)), Call("max", (left, right)), Negative(left)]

    def integer(self, left: Expression, right: Expression, scope: Scope) -> Expression:
        choices = [*self.exact(left, right), Operation("mod", left, right)]
        if scope["float"]:
            choices += [Call(name, (self.pick(scope["float"]),)) for name in ("round", "floor", "ceil")]
        if scope["string"]:
            choices.append(Call("length", (self.pick(scope["string"]),)))
        if scope["date"]:
            choices += [Call(name, (self.pick(scope["date"]),)) for name in ("year", "month", "day")]
        for moment in (one for kind in MOMENTS for one in scope[kind]):
            choices += [Call(name, (moment,)) for name in ("year", "month", "day")]
        return self.pick(choices)

    # Aggregates

    def aggregate(self, kind: str, scope: Scope) -> Expression:
        """Of the type, over inner variables that occur nowhere else."""
        scope = without(scope, MEASURED)
        number = next(self.numbers)
        inner = {k: [Variable(f"{v.name}{number}") for v in names] for k, names in VARIABLES.items()}
        mixed = {k: [*inner[k], *scope[k]] for k in inner}
        atoms: list[Condition] = [self.positive(mixed) for _ in range(self.pick((1, 1, 1, 2)))]
        bound = scope_of(atoms, self.schema)
        own = {k: [v for v in names if v in inner[k]] for k, names in bound.items()}
        if not any(own.values()):
            name = self.pick(sorted(self.schema.predicates))
            signature = self.schema.predicates[name]
            atoms.append(Atom(name, tuple(inner[k][0] for k in signature)))
            own = {k: [inner[k][0]] if k in signature else [] for k in inner}
        known = {k: [*own[k], *scope[k]] for k in own}
        parts = [*atoms, *([self.condition(known, 1, aggregates=False)] if self.chance(45) else [])]
        function, value = self.aggregated(kind, own, known)
        return Aggregate(function, value, And(tuple(parts)))

    def aggregated(self, kind: str, own: Scope, known: Scope) -> tuple[str, Expression]:
        """What is summed has exact sums."""
        if kind == "integer" and (not own["integer"] or self.chance(50)):
            typed = [v for k, names in own.items() for v in names if k != "mixed"]
            return (self.pick(("count", "count_distinct")), self.pick(typed)) if typed else ("count", self.pick(own["mixed"]))
        if kind == "ratio":
            exact = [k for k in ("integer", "float") if own[k]]
            if exact:
                return "avg", self.expression(self.pick(exact), known, 1)
            return self.pick(("min", "max")), self.expression("ratio", known, 1)
        functions = ("sum", "min", "max") if kind in ("integer", "float") else ("min", "max")
        if not own.get(kind):
            return self.pick(functions), self.expression(kind, known, 1)
        value = self.expression(kind, known, 1) if self.chance(25) else self.pick(own[kind])
        return self.pick(functions), value

    # Conditions

    def condition(self, scope: Scope, depth: int, *, aggregates: bool = True) -> Condition:
        """One that binds nothing."""
        kind = self.pick(("simple", "simple", "simple", "simple", "atom", "not", "not", "and", "or", "or"))
        if kind == "atom" or (depth == 0 and kind != "simple"):
            # An atom stands where it binds nothing: under `not`, or with every variable bound.
            atom = self.positive(scope, named=True, bound=True)
            return Not(self.positive(scope, bound=True)) if self.chance(50) else atom
        if kind == "simple":
            return self.simple_condition(scope, aggregates=aggregates)
        if kind == "not":
            return Not(self.negated(scope, depth - 1, aggregates=aggregates))
        parts = tuple(self.condition(scope, depth - 1, aggregates=aggregates) for _ in range(2))
        return And(parts) if kind == "and" else Or(parts)

    def negated(self, scope: Scope, depth: int, *, aggregates: bool) -> Condition:
        return self.positive(scope, bound=True) if self.chance(40) else self.condition(scope, depth, aggregates=aggregates)

    def simple_condition(self, scope: Scope, *, aggregates: bool = True) -> Condition:
        kind = self.pick(("comparison", "comparison", "comparison", "member", "test"))
        if kind == "member":
            of = self.pick([k for k in POOLS if k not in ("ratio", "mixed")])
            values = self.draw(st.lists(st.sampled_from(self.schema.constants(of)), min_size=1, max_size=3, unique=True))
            return Member(self.expression(of, scope, 1, aggregates=aggregates), tuple(values))
        if kind == "test":
            return self.test(scope, aggregates=aggregates)
        return self.comparison(scope, aggregates=aggregates)

    def comparison(self, scope: Scope, *, aggregates: bool) -> Comparison:
        kind = self.pick([k for k in POOLS if scope[k]] + ["integer", "float", "ratio", "duration", "span"])
        if kind == "mixed":
            others = [one for k in ("mixed", "mixed", "string", "integer") for one in without(scope, ANY, MEASURED)[k]]
            return Comparison(self.pick(OPERATORS[:2]), self.pick(scope["mixed"]), self.pick(others))
        if kind == "number":
            others = [one for k in ("number", "number", "integer", "float") for one in without(scope, ANY, MEASURED)[k]]
            return Comparison(
                self.pick(OPERATORS[:2]), self.pick(scope["number"]), self.pick([*others, *self.schema.constants(kind)])
            )
        other = self.pick(NUMBERS) if kind in NUMBERS else self.pick(SPANS) if kind in SPANS else kind
        operators = OPERATORS if kind != "boolean" else OPERATORS[:2]
        left = self.expression(kind, scope, 2, aggregates=aggregates and kind not in SPANS)
        right = self.expression(other, scope, 1, aggregates=aggregates and kind not in SPANS)
        if isinstance(left, Variable) and self.pick((True, False)):
            left, right = right, left
        return Comparison(self.pick(operators), left, right)

    def test(self, scope: Scope, *, aggregates: bool) -> Condition:
        def of(kind: str) -> Expression:
            return self.expression(kind, scope, 1, aggregates=aggregates)

        match self.pick(("text", "within", "share", "even", "modest", "same_letter")):
            case "text":
                name = self.pick(("starts_with", "ends_with", "contains"))
                return Test(name, (of("string"), constant(self.pick(("a", "b", "A", "")))))
            case "within":
                return Test("within", (of("float"), of("float"), constant(self.pick((0, 0.75, 1)))))
            case "share":
                return Test("within", (of("float"), of("float"), Call("percent", (constant(self.pick((10, 150))),))))
            case "even":
                return Test("even", (of("integer"),))
            case "modest":
                return Test("modest", (of("float"),))
            case _:
                return Test("same_letter", (of("string"), of("string")))
