"""What a convention counts, and which rules it can count."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from rulescore.errors import Diagnostic
from rulescore.language.syntax import Atom, Falsity, Rule
from rulescore.logic.refutation import Declared, opposition
from rulescore.setting.choices import Convention, Role
from rulescore.setting.options import ScoringOptions

_ROLES = {
    Convention.DEFINITION: frozenset({Role.BODY, Role.HEAD}),
    Convention.APPENDIX: frozenset({Role.BODY, Role.HEAD, Role.REFUTER}),
}


def roles(options: ScoringOptions) -> frozenset[Role]:
    """The roles in which a prediction takes part."""
    return _ROLES[options.convention] if options.roles is None else options.roles


def distinct_variables(options: ScoringOptions) -> bool:
    """Whether any two variables must have different constants."""
    if options.distinct_variables is not None:
        return options.distinct_variables
    return options.convention is Convention.APPENDIX


def unsuitable(
    options: ScoringOptions, rules: Sequence[tuple[str, Rule]], declared: Declared, fast: Collection[int]
) -> Iterator[Diagnostic]:
    """Errors that list every rule that the convention cannot count. `fast`: the numbers of the Horn rules."""
    if options.convention is Convention.APPENDIX:

        @cache
        def refuted_otherwise(predicate: str, arity: int) -> str | None:
            found = [opposition(way) for way in declared.ways(predicate, arity, grouped=False)]
            if None in found:
                return f"`{predicate}` is refuted by more than incompatible predicates"
            return f"`{predicate}` is refuted by negative facts" if predicate in declared.negative else None

        reasons = {
            name: reason for i, (name, rule) in enumerate(rules) if (reason := _reason(rule, refuted_otherwise, horn=i in fast))
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


def _reason(rule: Rule, refuted_otherwise: Callable[[str, int], str | None], *, horn: bool) -> str | None:
    if not isinstance(rule.head, Atom):
        return "its head is `false`" if isinstance(rule.head, Falsity) else "its head is not one atom"
    more = "its body has more than positive atoms"
    if not all(isinstance(literal, Atom) for literal in rule.body.conditions):
        return more
    return refuted_otherwise(rule.head.predicate, rule.head.arity) or (None if horn else more)
