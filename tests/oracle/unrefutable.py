"""Rules that nothing declared could refute, whatever the facts."""

from __future__ import annotations

from itertools import product

from oracle.facts import Constant
from oracle.groundings import ground, matching
from oracle.normal import normal_head
from oracle.refutation import incompatible_pairs
from oracle.tree import And, Atom, Condition, Not, Or, Rule, Setting, Variable


def unrefutable(setting: Setting, rule: Rule) -> bool:
    head = normal_head(setting, rule.head)
    return head is not None and not possible(setting, head)[1]


def possible(setting: Setting, head: Condition) -> tuple[bool, bool]:
    """Whether some facts confirm a head, and whether some refute it."""
    match head:
        case Atom():
            return True, could_be_refuted(setting, head)
        case Not(inner):
            confirmed, refuted = possible(setting, inner)
            return refuted, confirmed
        case And(parts):
            found = [possible(setting, part) for part in parts]
            return all(c for c, _ in found), any(v for _, v in found)
        case Or(parts):
            found = [possible(setting, part) for part in parts]
            return any(c for c, _ in found), all(v for _, v in found)
        case _:
            return True, True


def could_be_refuted(setting: Setting, head: Atom) -> bool:
    predicate = head.predicate
    return (
        setting.is_closed(predicate)
        or any(one[0] == predicate for one in setting.negatives)
        or any(predicate in (pair.left.predicate, pair.right.predicate) for pair in incompatible_pairs(setting))
        or any(key.predicate == predicate for key in setting.functional)
        or bool(setting.completions(predicate, len(head.terms)))
        or any(could_be_one(head, auxiliary.head) for auxiliary in setting.auxiliary)
    )


def could_be_one(head: Atom, refuted: Atom) -> bool:
    """Some grounding of the head is a fact that the other atom matches. Its variables try every constant of both atoms, and for
    each variable one that stands in neither."""
    names = sorted({term.name for term in head.terms if isinstance(term, Variable)})
    constants = {term for term in (*head.terms, *refuted.terms) if isinstance(term, Constant)}
    constants |= {Constant("fresh", name) for name in names}
    tries = (ground(head, dict(zip(names, values, strict=True))) for values in product(constants, repeat=len(names)))
    return any(matching(refuted, one, {}) is not None for one in tries)
