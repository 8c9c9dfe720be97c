"""Describes rules in the form that scoring and listings use."""

from __future__ import annotations

from collections.abc import Sequence

from rulescore.language.printer import print_rule
from rulescore.language.syntax import Falsity, Program, Rule
from rulescore.logic.checks import is_tautology
from rulescore.scoring.results import RuleInfo
from rulescore.setting.model import SqlRule
from rulescore.setting.options import ScoringOptions


def described_rules(
    program: Program, names: Sequence[str], options: ScoringOptions, further: Sequence[SqlRule] = ()
) -> tuple[RuleInfo, ...]:
    """The rules of a program in order, with these names, then those in SQL, with weights and kinds as the options set them."""
    described = [_described(rule, name, options) for rule, name in zip(program.rules, names, strict=True)]
    return (*described, *(_described_sql(rule, options) for rule in further))


def _described_sql(rule: SqlRule, options: ScoringOptions) -> RuleInfo:
    kind = options.kinds.get(rule.name, rule.kind)
    return RuleInfo(
        name=rule.name,
        text=" ".join(rule.statement.split()),
        declared_kind=None if kind is None else str(kind),
        weight=options.weights.get(rule.name, rule.weight),
        description=rule.description,
        tags=rule.tags,
        place=str(rule.place) if rule.place else None,
    )


def _described(rule: Rule, name: str, options: ScoringOptions) -> RuleInfo:
    kind = options.kinds.get(name, rule.kind)
    return RuleInfo(
        name=name,
        text=print_rule(rule),
        declared_kind=kind.value if kind is not None else None,
        weight=options.weights.get(name, rule.weight),
        denial=isinstance(rule.head, Falsity),
        description=rule.description,
        tags=rule.tags,
        place=rule.span.place_text if rule.span else None,
        tautology=is_tautology(rule),
        confidence=rule.confidence,
        support=rule.support,
    )
