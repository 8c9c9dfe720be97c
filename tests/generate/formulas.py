"""Settings of formula rules to compare an engine with the oracle on: typed and safe by construction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from hypothesis import strategies as st

from case_tables import FUNCTIONS
from generate import schemas as formula_schemas
from generate.drawing import Generated, chance, kinds, some, weights
from generate.expressions import ANY, MEASURED, TOTAL, ExpressionMaker, Scope, abbreviation, scope_of
from generate.schemas import UNCOMPUTED, VARIABLES, Schema
from oracle.tree import (
    And,
    Atom,
    Comparison,
    Condition,
    Functional,
    Incompatible,
    Let,
    Not,
    Operation,
    Or,
    Refutation,
    Rule,
    Setting,
    Variable,
)
from oracle.walks import aggregates_of, terms_of


class RuleMaker(ExpressionMaker):
    """Draws one rule. Aggregates get numbers, so that no two of them share a variable."""

    def __init__(self, draw: st.DrawFn, schema: Schema) -> None:
        super().__init__(draw, schema, count(1))

    # Bodies

    def body(self) -> tuple[Condition, Scope]:
        every = {kind: list(names) for kind, names in VARIABLES.items()}
        size = self.pick((2, 1, 1, 2, 2, 3))
        parts: list[Condition] = [self.positive(every) for _ in range(size)]
        if self.chance(35):
            alternatives = self.alternatives(every, scope_of(parts, self.schema))
            parts.append(alternatives)
        scope = scope_of(parts, self.schema)
        if self.chance(25):
            parts.append(self.abbreviation(scope))
        for _ in range(self.pick((1, 0, 0, 1, 2))):
            parts.append(self.condition(scope, 2))
        return And(tuple(self.draw(st.permutations(parts)))), scope

    def alternatives(self, every: Scope, bound: Scope) -> Condition:
        """Disjuncts that bind the same variables. The first chooses them."""
        first = [self.positive(every, named=True) for _ in range(self.pick((1, 1, 2)))]
        wanted = [v for names in scope_of(first, self.schema).values() for v in names]
        open_ones = [v for v in wanted if all(v not in names for names in bound.values())]
        everything = {kind: [*bound[kind], *scope_of(first, self.schema)[kind]] for kind in bound}
        parts: list[Condition] = [conjoined([*first, *self.extra(everything)])]
        for _ in range(self.pick((1, 1, 1, 2))):
            others = self.covering(open_ones, everything, bound)
            parts.append(conjoined([*others, *self.extra(everything)]))
        return Or(tuple(parts))

    def extra(self, scope: Scope) -> list[Condition]:
        return [self.condition(scope, 1)] if self.chance(40) else []

    def covering(self, variables: Sequence[Variable], scope: Scope, bound: Scope) -> list[Condition]:
        """Conditions that bind these variables and no others."""
        found: list[Condition] = []
        for variable in variables:
            if any(variable in terms_of(one) for one in found):
                continue
            kind = next(kind for kind, names in scope.items() if variable in names)
            if bound[kind] and self.chance(25):
                plain = kind in UNCOMPUTED or self.chance(50)
                value = self.pick(bound[kind]) if plain else self.expression(kind, bound, 1, aggregates=True)
                found.append(Comparison("=", variable, value))
                continue
            named = self.usable(self.schema.signatures(), {**scope, kind: [variable]})
            places = [(n, i) for n, signature in named.items() for i, k in enumerate(signature) if k == kind]
            if places:
                name, place = self.pick(places)
                signature = self.schema.signatures()[name]
                known = {**scope, kind: [*scope[kind], variable]}
                terms = [variable if i == place else self.term(k, known, wildcards=False) for i, k in enumerate(signature)]
                found.append(Atom(name, tuple(terms)))
            else:
                # Only the key has this type.
                found.append(self.row_atom({**scope, kind: [variable]}, named=True))
        return found or [self.condition(scope, 1)]

    def abbreviation(self, scope: Scope) -> Condition:
        """Binds one more variable, of which the scope then knows."""
        kind = self.pick(("integer", "float", "ratio", "string", "date", "datetime", "instant"))
        prefix = self.pick((TOTAL, ANY, ANY))
        value = self.leaf(kind, scope) if prefix == TOTAL else self.expression(kind, scope, 2, aggregates=True)
        if prefix == TOTAL and kind in ("integer", "float") and self.chance(50):
            value = Operation(self.pick(("+", "-", "*")), value, self.leaf(kind, scope))
        variable = abbreviation(MEASURED if any(True for _ in aggregates_of(value)) else prefix, kind)
        scope[kind] = [*scope[kind], variable]
        if self.chance(50):
            return Let(variable, value)
        return Comparison("=", variable, value) if self.chance(70) else Comparison("=", value, variable)

    # Heads

    def head(self, scope: Scope, depth: int) -> Condition:
        kind = self.pick(("or", "condition", "condition", "condition", "atom", "atom", "row", "not", "and", "or"))
        if kind == "row" and self.schema.table is not None:
            return self.row_atom(scope, named=True, wildcards=False, head=True)
        if depth == 0 or kind in ("atom", "row"):
            return self.plain_atom(scope, wildcards=False, bound=True)
        if kind == "condition":
            return self.simple_condition(scope)
        if kind == "not":
            return Not(self.head(scope, depth - 1))
        parts = tuple(self.head(scope, depth - 1) for _ in range(self.pick((2, 2, 3))))
        return And(parts) if kind == "and" else Or(parts)

    def rule(self, name: str) -> Rule:
        body, scope = self.body()
        head = None if self.chance(15) else self.head(scope, 2)
        return Rule(name, head, body, self.draw(kinds()), self.draw(weights()))

    # Refutations

    def refutation(self) -> Refutation:
        head = self.plain_atom({kind: list(names[:2]) for kind, names in VARIABLES.items()}, wildcards=False)
        scope = scope_of([head], self.schema)
        parts: list[Condition] = []
        if self.chance(40):
            everything = {kind: list(names) for kind, names in VARIABLES.items()}
            parts.append(self.positive(everything))
            scope = scope_of([head, *parts], self.schema)
        parts += [self.condition(scope, 1) for _ in range(self.pick((1, 1, 2)))]
        return Refutation(head, And(tuple(parts)))

    def functional(self) -> Functional | None:
        name = self.pick(sorted(self.schema.signatures()))
        columns = self.draw(st.permutations(range(len(self.schema.signatures()[name]))))
        if len(columns) == 1:
            return None
        keys = self.draw(st.integers(1, len(columns) - 1))
        return Functional(name, tuple(columns[:keys]), tuple(columns[keys:]))

    def incompatible(self) -> Incompatible | None:
        left, right = self.pick(sorted(self.schema.signatures())), self.pick(sorted(self.schema.signatures()))
        signature = self.schema.signatures()[left]
        if left == right or self.schema.signatures()[right] != signature:
            return None
        terms = tuple(Variable(f"X{i}") for i in range(len(signature)))
        swapped = terms[::-1] if signature == signature[::-1] and self.chance(30) else terms
        return Incompatible(Atom(left, terms), Atom(right, swapped))


_ROLE_SETS = (("body", "head", "refuter"), ("refuter",), ("body",), ("head",), ("body", "refuter"), ("head", "refuter"))
ROLES = tuple(map(frozenset, _ROLE_SETS))


def conjoined(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


@st.composite
def rules(draw: st.DrawFn, schema: Schema, name: str) -> Rule:
    return RuleMaker(draw, schema).rule(name)


@st.composite
def settings(draw: st.DrawFn, *, most_rules: int = 4, models: int = 2, large_integers: bool = False) -> Generated:
    """`large_integers`: some settings have integers that an engine may refuse to compute with."""
    schema = draw(formula_schemas.schemas(large_integers=large_integers))
    observed = draw(formula_schemas.facts(schema, least=draw(st.sampled_from((14, 0, 8, 18))), most=24))
    schema = formula_schemas.with_literals(schema, observed)
    predictions = {f"model{i}": draw(formula_schemas.predictions(schema, observed)) for i in range(draw(st.integers(1, models)))}
    number = min(most_rules, draw(st.sampled_from((3, 1, 2, 4))))
    made = tuple(draw(rules(schema, f"rule{i}")) for i in range(number))
    setting = Setting(
        observed=observed,
        rules=made,
        predictions=predictions,
        tables=() if schema.table is None else (schema.table,),
        functions=FUNCTIONS,
        extract=chance(draw, 10),
        distinct_variables=True if chance(draw, 8) else None,
        roles=draw(st.sampled_from(ROLES)) if chance(draw, 25) else None,
        hard_needs=draw(st.sampled_from((1, 1, 1, 3))),
        **draw(refutations(schema)),
    )
    arities = {name: len(kinds) for name, kinds in schema.signatures().items()}
    return Generated(setting, arities, may_leave_64_bits=schema.may_leave_64_bits)


@st.composite
def refutations(draw: st.DrawFn, schema: Schema) -> dict:  # type: ignore[type-arg]
    maker = RuleMaker(draw, schema)
    found: dict[str, object] = {}
    if draw(st.integers(0, 3)):
        names = sorted(schema.signatures())
        found["closed"] = draw(st.frozensets(st.sampled_from(names), min_size=1, max_size=5))
    if chance(draw, 5):
        found["closed_all"] = True
    if chance(draw, 25):
        found["negatives"] = draw(formula_schemas.facts(schema, least=1, most=4))
    if chance(draw, 40):
        found["functional"] = some([maker.functional() for _ in range(2)])
    if chance(draw, 40):
        found["complete"] = some([maker.functional() for _ in range(2)])
        found["complete_all"] = chance(draw, 20)
    if chance(draw, 40):
        found["incompatible"] = some([maker.incompatible() for _ in range(3)])
    if chance(draw, 40):
        found["auxiliary"] = some([maker.refutation() for _ in range(draw(st.integers(1, 2)))])
    return found
