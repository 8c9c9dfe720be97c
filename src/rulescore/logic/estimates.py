"""Estimates how many groundings a body has from the sizes of its relations, before any statement that counts runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rulescore.language.syntax import Constant, Variable
from rulescore.logic.formula import Disjunct, FormulaRule
from rulescore.logic.plan import Body, Bound, Group, LiteralName, Parameter, Shape, ShapeSlot


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
    """The part of the combinations of rows in which each variable has one value. `spreads`: how many it has at each place."""
    for found in spreads.values():
        for spread in sorted(found)[1:]:
            estimate /= spread
    return estimate


def estimated_for_formula(rule: FormulaRule, sizes: Mapping[str, Mapping[str | None, int]]) -> int:
    """The estimate for a rule of any form, whose conditions other than atoms may all be true. `sizes`: for each relation, how many
    rows it has, by None, and how many different values each attribute."""
    return round(sum(_disjunct(one, sizes) for one in rule.disjuncts))


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
    body = [atom(f"p{i + 1}", one.slots) for i, one in enumerate(shape.atoms)]
    body += [f"not {atom(f'p{len(shape.atoms) + i + 1}', one.slots)}" for i, one in enumerate(shape.negated)]
    body += [f"{term(t.left, 'c')} {'=' if t.equal else '!='} {term(t.right, 'c')}" for t in shape.tests]
    return f"{head} <- {', '.join(body)}"
