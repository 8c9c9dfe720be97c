"""What a convention asks of the rules it counts, and what it counts."""

from __future__ import annotations

from collections.abc import Iterable

from rulescore.data.setting import Convention, Role, ScoringOptions
from rulescore.errors import Diagnostic
from rulescore.language.syntax import Atom, Rule
from rulescore.logic.refutation import Refutations

CODES = {"E251": "rules or refutations that the appendix convention cannot count"}

_ROLES = {
    Convention.DEFINITION: frozenset({Role.BODY, Role.HEAD}),
    Convention.APPENDIX: frozenset({Role.BODY, Role.HEAD, Role.REFUTER}),
}


def roles(options: ScoringOptions) -> frozenset[Role]:
    """The roles in which a prediction takes part."""
    return _ROLES[options.convention] if options.roles is None else options.roles


def distinct_variables(options: ScoringOptions) -> bool:
    """Whether any two variables have to have different constants."""
    if options.distinct_variables is not None:
        return options.distinct_variables
    return options.convention is Convention.APPENDIX


def unsuitable(rules: Iterable[tuple[str, Rule]], ways: Refutations) -> Diagnostic | None:
    """The one problem that lists every rule the appendix convention has no SQL for."""
    reasons = {name: reason for name, rule in rules if (reason := _reason(rule, ways))}
    if not reasons:
        return None
    return Diagnostic(
        "E251",
        f"the appendix convention cannot count {len(reasons)} rule{'s' if len(reasons) != 1 else ''}",
        notes=tuple(f"`{name}`: {reason}" for name, reason in reasons.items()),
        helps=(
            "it needs a head of one atom, a body of positive atoms, and refutation by incompatible predicates only; "
            'use convention "definition" for the others',
        ),
    )


def _reason(rule: Rule, ways: Refutations) -> str | None:
    if not isinstance(rule.head, Atom):
        return "its head is `false`"
    if not all(isinstance(literal, Atom) for literal in rule.body.conditions):
        return "its body has more than positive atoms"
    if ways.general(rule.head.predicate):
        return f"`{rule.head.predicate}` is refuted by more than incompatible predicates"
    if any(one.negative and one.head == rule.head.predicate for one in ways.oppositions):
        return f"`{rule.head.predicate}` is refuted by negative facts"
    return None
