"""What a convention asks of the rules it counts, and what it counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rulescore.data.setting import Convention, Role, ScoringOptions
from rulescore.errors import Diagnostic
from rulescore.language.syntax import Atom, Falsity, Rule
from rulescore.logic.refutation import Refutations

CODES = {
    "E251": "rules or refutations that the appendix convention cannot count",
}

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


def unsuitable(
    options: ScoringOptions, rules: Sequence[tuple[str, Rule]], ways: Refutations, fast: Collection[int]
) -> Iterator[Diagnostic]:
    """Problems that list every rule which the convention in use cannot count. `fast`: the rules of Horn form."""
    if options.convention is Convention.APPENDIX:
        negative = {one.head for one in ways.oppositions if one.negative}
        reasons = {
            name: reason for i, (name, rule) in enumerate(rules) if (reason := _reason(rule, ways, negative, horn=i in fast))
        }
        helps = (
            "it needs a head of one atom, a body of positive atoms, and refutation by incompatible predicates only; "
            'use convention "definition" for the others',
        )
        yield from _listed("E251", "the appendix convention", reasons, helps)


def _listed(code: str, what: str, reasons: Mapping[str, str], helps: tuple[str, ...]) -> Iterator[Diagnostic]:
    if reasons:
        message = f"{what} cannot count {len(reasons)} rule{'s' if len(reasons) != 1 else ''}"
        notes = tuple(f"`{name}`: {reason}" for name, reason in reasons.items())
        yield Diagnostic(code, message, notes=notes, helps=helps)


def _reason(rule: Rule, ways: Refutations, negative: Collection[str], *, horn: bool) -> str | None:
    if not isinstance(rule.head, Atom):
        return "its head is `false`" if isinstance(rule.head, Falsity) else "its head is not one atom"
    if not horn or not all(isinstance(literal, Atom) for literal in rule.body.conditions):
        return "its body has more than positive atoms"
    if ways.general(rule.head.predicate):
        return f"`{rule.head.predicate}` is refuted by more than incompatible predicates"
    if rule.head.predicate in negative:
        return f"`{rule.head.predicate}` is refuted by negative facts"
    return None
