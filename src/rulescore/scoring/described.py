"""Rules as scoring and listings see them."""

from __future__ import annotations

from rulescore.data.setting import ScoringOptions
from rulescore.language.names import rule_names
from rulescore.language.printer import print_rule
from rulescore.language.syntax import Falsity, Program, Rule
from rulescore.scoring.results import RuleInfo


def described_rules(program: Program, options: ScoringOptions) -> tuple[RuleInfo, ...]:
    """The rules of a program, in order, with the names, weights and kinds that hold for them."""
    return tuple(_described(rule, name, options) for rule, name in zip(program.rules, rule_names(program), strict=True))


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
        place=str(rule.span.place()) if rule.span else None,
    )
