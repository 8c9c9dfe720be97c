"""Estimates how many groundings a body has from the sizes of its relations, before any statement that counts runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    spreads: dict[int, list[int]] = {}
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
    for found in spreads.values():
        for spread in sorted(found)[1:]:
            estimate /= spread
    return estimate


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
