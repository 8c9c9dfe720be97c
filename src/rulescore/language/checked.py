"""`@check` before a declaration: it refutes heads as it does without, and is a rule, too."""

from __future__ import annotations

from collections.abc import Iterator

from rulescore.language.annotations import Annotations
from rulescore.language.syntax import And, Falsity, Kind, Refuting, Rule


def check_rules(declaration: Refuting, name: str | None, annotations: Annotations) -> Iterator[Rule]:
    """Denial constraints, hard unless annotated otherwise, that facts violate if the declaration is not true of them. Without a
    name, each is named after what it says; if there are several, all but the first have a number after the name."""
    for number, part in enumerate(declaration.parts(), start=1):
        given = name if number == 1 else f"{name} {number}"
        denied = part.example()
        if denied is None:  # a predicate with itself, which is reported already
            continue
        yield Rule(
            Falsity(),
            And((denied.head, *denied.body.conditions)),
            part.words if name is None else given,
            annotations.kind or Kind.HARD,
            annotations.weight,
            annotations.description,
            annotations.tags,
            annotations.confidence,
            annotations.support,
            declaration.span,
        )
