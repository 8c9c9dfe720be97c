"""Plans normal rules: groups them by shape, and estimates how many groundings their bodies have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import cast

from rulescore.language.syntax import Atom, Constant, Program, Rule, Term, Variable
from rulescore.logic.formula import Disjunct, FormulaRule
from rulescore.logic.horn import Refutations
from rulescore.logic.normal import Bound, EqualityTest, Fixed, Free, NormalRule, PatternAtom, Refutation, Slot, normal_rule
from rulescore.logic.plan import (
    Body,
    ConditionRow,
    ConditionShape,
    Group,
    Head,
    Judge,
    LiteralName,
    Parameter,
    Plan,
    Shape,
    ShapeAtom,
    ShapeSlot,
    ShapeTest,
)
from rulescore.logic.refutation import Order, identity
from rulescore.values import key_of
from rulescore.waiting import look_at_the_clock


@dataclass(frozen=True, slots=True)
class RelationSize:
    """The facts of a literal, and how many different constants each of its positions holds."""

    facts: int
    constants: tuple[int, ...]


Sizes = Mapping[LiteralName, RelationSize]


def estimated_groundings(group: Group, sizes: Sizes) -> int:
    """The estimate for all rules of a group together, as if constants were spread evenly."""
    estimates = [_body(group.shape, body, sizes) for body in group.bodies]
    return round(sum(estimates[head.body] for head in group.heads))


def estimated_by_rule(group: Group, sizes: Sizes) -> dict[int, int]:
    """The estimate for each rule of a group, by its number."""
    estimates = [round(_body(group.shape, body, sizes)) for body in group.bodies]
    return {head.rule: estimates[head.body] for head in group.heads}


def _body(shape: Shape, body: Body, sizes: Sizes) -> float:
    estimate = 1.0
    spreads: dict[object, list[int]] = {}
    for atom, literal in zip(shape.atoms, body.literals, strict=False):
        size = sizes.get(literal)
        if size is None:
            return 0.0
        estimate *= size.facts
        for position, slot in enumerate(atom.slots):
            if isinstance(slot, Parameter):
                estimate /= size.constants[position]
            elif isinstance(slot, Bound):
                spreads.setdefault(slot.index, []).append(size.constants[position])
    return _joined(estimate, spreads)


def _joined(estimate: float, spreads: Mapping[object, list[int]]) -> float:
    """The share of all combinations of rows in which each variable has a single value. `spreads`: how many it has at each place."""
    for places in spreads.values():
        for spread in sorted(places)[1:]:
            estimate /= spread
    return estimate


def estimated_for_formula(rule: FormulaRule, sizes: Mapping[str, Mapping[str | None, int]]) -> int:
    """The estimate for a rule of any form. It assumes that all conditions other than atoms are true. `sizes`: for each relation,
    how many rows it has, by None, and how many different values each attribute."""
    return round(sum(_disjunct(disjunct, sizes) for disjunct in rule.disjuncts))


def _disjunct(disjunct: Disjunct, sizes: Mapping[str, Mapping[str | None, int]]) -> float:
    estimate = 1.0
    spreads: dict[object, list[int]] = {}
    for atom in disjunct.atoms:
        size = sizes[atom.relation]
        estimate *= size[None]
        for attribute, argument in atom.arguments:
            if isinstance(argument, Constant):
                estimate /= max(1, size[attribute])
            elif isinstance(argument, Variable):
                spreads.setdefault(argument.name, []).append(max(1, size[attribute]))
    return _joined(estimate, spreads)


_LETTERS = ("X", "Y", "Z", "A", "B", "C", "D")


def shape_text(shape: Shape) -> str:
    """A shape as a rule over nameless predicates: `h(X, Y) <- p1(X, Z), p2(Y, Z)`."""

    def term(slot: ShapeSlot, constants: str) -> str:
        match slot:
            case Bound(index):
                return _LETTERS[index] if index < len(_LETTERS) else f"V{index}"
            case Parameter(index):
                return f"{constants}{index + 1}"
            case _:
                return "_"

    def atom(name: str, slots: tuple[ShapeSlot, ...], constants: str = "c") -> str:
        return f"{name}({', '.join(term(slot, constants) for slot in slots)})"

    head = "false" if shape.head is None else atom("h", shape.head, "d")
    body = [atom(f"p{i + 1}", pattern.slots) for i, pattern in enumerate(shape.atoms)]
    body += [f"not {atom(f'p{len(shape.atoms) + i + 1}', pattern.slots)}" for i, pattern in enumerate(shape.negated)]
    body += [f"{term(t.left, 'c')} {'=' if t.equal else '!='} {term(t.right, 'c')}" for t in shape.tests]
    return f"{head} <- {', '.join(body)}"


# Bodies with more atoms keep the order in which they are written: trying all orders would cost more than a shared statement saves.
LARGEST_REORDERED_BODY = 5

# An atom's slots without names: the number of a variable, or None for a constant.
_Outline = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """How a rule fits its shape: the order of its atoms, which of them are reversed, and its variables' new numbers."""

    atoms: tuple[int, ...]
    reversed: tuple[bool, ...]
    numbers: tuple[int, ...]


@lru_cache(maxsize=65_536)
def _arrange(head: _Outline, atoms: tuple[_Outline, ...], variables: int) -> _Arrangement:
    """The arrangement with the least outline, so rules that differ in atom order, variable names or directions agree."""
    # We sort all ways to write a body and take the first. So more rules share a shape, and fewer statements run (0003).
    orders: Iterable[tuple[int, ...]] = [tuple(range(len(atoms)))]
    if 1 < len(atoms) <= LARGEST_REORDERED_BODY:
        orders = permutations(range(len(atoms)))
    return min((_numbered(head, atoms, order, variables) for order in orders), key=lambda numbered: numbered[0])[1]


def _numbered(
    head: _Outline, atoms: tuple[_Outline, ...], order: tuple[int, ...], variables: int
) -> tuple[tuple[tuple[int, ...], ...], _Arrangement]:
    numbers: dict[int, int] = {}
    for variable in head:
        if variable is not None:
            numbers.setdefault(variable, len(numbers))
    outline: list[tuple[int, ...]] = []
    turned: list[bool] = []
    constant = variables + 1
    for index in order:
        slots = atoms[index]
        ranks = [constant if v is None else numbers.get(v, variables) for v in slots]
        turn = len(slots) == 2 and ranks[1] < ranks[0]
        turned.append(turn)
        for variable in reversed(slots) if turn else slots:
            if variable is not None:
                numbers.setdefault(variable, len(numbers))
        seen = [constant if v is None else numbers[v] for v in slots]
        outline.append(tuple(reversed(seen) if turn else seen))
    for variable in range(variables):
        numbers.setdefault(variable, len(numbers))
    return tuple(outline), _Arrangement(order, tuple(turned), tuple(numbers[v] for v in range(variables)))


def _outline(atom: PatternAtom | None) -> _Outline:
    return tuple(slot.index if isinstance(slot, Bound) else None for slot in atom.slots) if atom else ()


class _Parameters:
    """Turns slots into shape slots, collecting constants as parameters."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.constants: list[str] = []
        self._numbers = numbers

    def slot(self, slot: Slot) -> ShapeSlot:
        match slot:
            case Bound(index):
                return Bound(self._numbers[index])
            case Free():
                return slot
            case Fixed(key):
                self.constants.append(key)
                return Parameter(len(self.constants) - 1)

    def atom(self, slots: Iterable[Slot]) -> ShapeAtom:
        return ShapeAtom(tuple(self.slot(slot) for slot in slots))

    def test(self, test: EqualityTest) -> ShapeTest:
        return ShapeTest(test.equal, self.slot(test.left), self.slot(test.right))


def shape_of(rule: NormalRule) -> tuple[Shape, Body, tuple[str, ...]]:
    """A rule's shape, its body's parameters and its head's constants."""
    pattern = rule.pattern
    outlines = tuple(_outline(atom) for atom in pattern.atoms)
    arrangement = _arrange(_outline(rule.head), outlines, len(pattern.variables))
    body = _Parameters(arrangement.numbers)
    atoms: list[ShapeAtom] = []
    literals: list[LiteralName] = []
    for index, turn in zip(arrangement.atoms, arrangement.reversed, strict=True):
        atom = pattern.atoms[index]
        atoms.append(body.atom(tuple(reversed(atom.slots)) if turn else atom.slots))
        literals.append(LiteralName(atom.predicate, (1, 0) if turn else identity(atom.arity)))
    negated = tuple(body.atom(atom.slots) for atom in pattern.negated)
    literals.extend(LiteralName(atom.predicate, identity(atom.arity)) for atom in pattern.negated)
    tests = tuple(body.test(test) for test in pattern.tests)
    head = _Parameters(arrangement.numbers)
    slots = tuple(head.slot(slot) for slot in rule.head.slots) if rule.head else None
    shape = Shape(tuple(atoms), negated, tests, len(pattern.variables), slots)
    return shape, Body(tuple(literals), tuple(body.constants)), tuple(head.constants)


def variable_numbers(rule: NormalRule) -> tuple[int, ...]:
    """For each variable of a rule, its number in the rule's shape."""
    outlines = tuple(_outline(atom) for atom in rule.pattern.atoms)
    return _arrange(_outline(rule.head), outlines, len(rule.pattern.variables)).numbers


def condition_shape(refutation: Refutation) -> tuple[ConditionShape, ConditionRow]:
    pattern = refutation.pattern
    parameters = _Parameters(range(len(pattern.variables)))
    atoms = tuple(parameters.atom(atom.slots) for atom in pattern.atoms)
    negated = tuple(parameters.atom(atom.slots) for atom in pattern.negated)
    tests = tuple(parameters.test(test) for test in pattern.tests)
    shape = ConditionShape(refutation.arity, atoms, negated, tests, len(pattern.variables))
    literals = tuple(LiteralName(atom.predicate, identity(atom.arity)) for atom in (*pattern.atoms, *pattern.negated))
    return shape, ConditionRow(refutation.predicate, literals, tuple(parameters.constants))


def _conditions(predicates: Iterable[str], ways: Refutations) -> tuple[tuple[ConditionShape, tuple[ConditionRow, ...]], ...]:
    by_shape: dict[ConditionShape, dict[ConditionRow, None]] = {}
    for predicate in predicates:
        for refutation in ways.general(predicate):
            shape, row = condition_shape(refutation)
            by_shape.setdefault(shape, {})[row] = None
    return tuple((shape, tuple(rows)) for shape, rows in by_shape.items())


class _GroupBuilder:
    """Rules of one shape and one judge. Rules name their literals by number: names of literals would be hashed for every rule."""

    def __init__(self, shape: Shape, judge: Judge) -> None:
        self.shape, self.judge = shape, judge
        self._bodies: dict[tuple[tuple[int, ...], tuple[str, ...]], int] = {}
        self._heads: list[Head] = []

    def add(
        self, rule: int, literals: tuple[int, ...], keys: tuple[str, ...], head: str | None, head_keys: tuple[str, ...]
    ) -> None:
        body = self._bodies.setdefault((literals, keys), len(self._bodies))
        self._heads.append(Head(rule, body, head, head_keys))

    def group(self, names: Sequence[LiteralName], ways: Refutations) -> Group:
        bodies = tuple(Body(tuple(names[literal] for literal in literals), keys) for literals, keys in self._bodies)
        predicates = dict.fromkeys(head.predicate for head in self._heads if head.predicate is not None)
        conditions = _conditions(predicates, ways) if self.judge is Judge.CONDITIONS else ()
        return Group(self.shape, shape_text(self.shape), self.judge, bodies, tuple(self._heads), conditions)


@dataclass(frozen=True, slots=True)
class _Form:
    """How rules of one outline fit their shape, with a builder for each judge. `literals`: the atoms of the body in the order of
    the shape, each with the order of its arguments. `constants`: where they stand in the body, by atom and argument, and in the
    head."""

    shape: Shape
    literals: tuple[tuple[int, Order], ...]
    constants: tuple[tuple[int, int], ...]
    head_constants: tuple[int, ...]
    builders: dict[Judge, _GroupBuilder]


def _key(term: Term) -> str:
    assert isinstance(term, Constant)
    return key_of(term.value)


class _Groups:
    """The groups of rules that one statement can count together."""

    def __init__(self, ways: Refutations) -> None:
        self._ways = ways
        self._builders: dict[tuple[Shape, Judge], _GroupBuilder] = {}
        self._literals: dict[tuple[str, Order], int] = {}
        self._forms: dict[tuple[object, ...], _Form] = {}

    def plan(self) -> Plan:
        names = [LiteralName(predicate, order) for predicate, order in self._literals]
        return Plan(tuple(builder.group(names, self._ways) for builder in self._builders.values()))

    def add_normal(self, number: int, rule: NormalRule) -> None:
        shape, body, constants = shape_of(rule)
        predicate = rule.head.predicate if rule.head else None
        literals = tuple(self._literal(name.predicate, name.order) for name in body.literals)
        self._builder(shape, predicate).add(number, literals, body.constants, predicate, constants)

    def add_plain(self, number: int, rule: Rule) -> None:
        """Add a rule of atoms alone. Of a hundred thousand rules, hundreds differ in more than predicates and constants: the others
        get no normal form of their own."""
        body = cast(tuple[Atom, ...], rule.body.conditions)
        head = rule.head if isinstance(rule.head, Atom) else None
        outline = (None if head is None else _outline_of(head), *map(_outline_of, body))
        form = self._forms.get(outline) or self._forms.setdefault(outline, self._form(rule, body))
        predicate = None if head is None else head.predicate
        builder = self._builder_of(form, predicate)
        literals = tuple(self._literal(body[atom].predicate, order) for atom, order in form.literals)
        constants = tuple(_key(body[atom].terms[argument]) for atom, argument in form.constants)
        of_head = () if head is None else tuple(_key(head.terms[argument]) for argument in form.head_constants)
        builder.add(number, literals, constants, predicate, of_head)

    def _form(self, rule: Rule, body: tuple[Atom, ...]) -> _Form:
        normal = normal_rule(rule)
        outlines = tuple(map(_outline, normal.pattern.atoms))
        arrangement = _arrange(_outline(normal.head), outlines, len(normal.pattern.variables))
        turns = zip(arrangement.atoms, arrangement.reversed, strict=True)
        literals = tuple((atom, (1, 0) if turned else identity(body[atom].arity)) for atom, turned in turns)
        constants = tuple((atom, i) for atom, order in literals for i in order if isinstance(body[atom].terms[i], Constant))
        terms = rule.head.terms if isinstance(rule.head, Atom) else ()
        of_head = tuple(i for i, term in enumerate(terms) if isinstance(term, Constant))
        return _Form(shape_of(normal)[0], literals, constants, of_head, {})

    def _builder_of(self, form: _Form, predicate: str | None) -> _GroupBuilder:
        judge = _judge(predicate, self._ways)
        if judge not in form.builders:
            form.builders[judge] = self._builder(form.shape, predicate)
        return form.builders[judge]

    def _builder(self, shape: Shape, predicate: str | None) -> _GroupBuilder:
        judge = _judge(predicate, self._ways)
        return self._builders.setdefault((shape, judge), _GroupBuilder(shape, judge))

    def _literal(self, predicate: str, order: Order) -> int:
        return self._literals.setdefault((predicate, order), len(self._literals))


def _outline_of(atom: Atom) -> tuple[str | int | None, ...]:
    """An atom without its names: of each term the name of a variable, None for a constant, 0 for `_`."""
    return tuple(term.name if isinstance(term, Variable) else None if isinstance(term, Constant) else 0 for term in atom.terms)


def _judge(predicate: str | None, ways: Refutations) -> Judge:
    if predicate is None:
        return Judge.DENIAL
    return Judge.CONDITIONS if ways.general(predicate) else Judge.EVIDENCE


def plan(rules: Iterable[tuple[int, NormalRule]], ways: Refutations) -> Plan:
    """Groups of rules that one statement can count together."""
    groups = _Groups(ways)
    for number, rule in rules:
        groups.add_normal(number, rule)
    return groups.plan()


def plan_program(program: Program, numbers: Collection[int], ways: Refutations) -> Plan:
    """The plan of the rules with these numbers, which passed the checks."""
    groups = _Groups(ways)
    plain = program.occurrences.plain
    for number in sorted(numbers):
        look_at_the_clock()
        if plain[number]:
            groups.add_plain(number, program.rules[number])
        else:
            groups.add_normal(number, normal_rule(program.rules[number]))
    return groups.plan()
