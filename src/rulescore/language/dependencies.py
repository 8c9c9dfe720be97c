"""Denial constraints that say of two values that they never differ."""

from __future__ import annotations

from dataclasses import replace

from rulescore.language.syntax import And, Comparison, Falsity, Operator, Rule


def dependency(rule: Rule) -> Rule | None:
    """`false <- …, X != Y` as `X = Y <- …`: the same groundings are refuted, and the others are confirmed, so that the rule has a
    rate. None if the rule is not a denial constraint with one `!=`."""
    different = [one for one in rule.body.conditions if isinstance(one, Comparison) and one.operator is Operator.DIFFERENT]
    others = tuple(one for one in rule.body.conditions if one not in different)
    if not isinstance(rule.head, Falsity) or len(different) != 1 or not others:
        return None
    return replace(rule, head=replace(different[0], operator=Operator.EQUAL), body=And(others, rule.body.span))
