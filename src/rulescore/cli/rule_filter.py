"""Selects the rules that a user wants to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rulescore.language.syntax import Atom, Program, RowAtom, Rule, Test
from rulescore.language.trees import Node, nodes_in
from rulescore.logic.described import described_rules
from rulescore.scoring.results import RuleInfo
from rulescore.setting.model import SqlRule
from rulescore.setting.options import ScoringOptions
from rulescore.sql.sql_rules import relations_named


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Conditions on a rule. A rule passes if it meets all of them."""

    name: str | None = None
    tags: frozenset[str] = frozenset()
    kind: str | None = None
    predicates: frozenset[str] = frozenset()


def listed_rules(program: Program, sql_rules: Sequence[SqlRule], options: ScoringOptions, wanted: RuleFilter) -> Iterator[RuleInfo]:
    named = [predicates_of(rule) for rule in program.rules] + [relations_named(rule.statement) for rule in sql_rules]
    for info, predicates in zip(described_rules(program, options, sql_rules), named, strict=True):
        if _matches(info, wanted) and wanted.predicates <= predicates:
            yield info


def predicates_of(rule: Rule) -> frozenset[str]:
    """The predicates, tables and attributes of tables that a rule names anywhere, also under `not` and in aggregates."""
    return frozenset(name for condition in (rule.head, rule.body) for node in nodes_in(condition) for name in _named(node))


def _named(node: Node) -> Iterator[str]:
    match node:
        case Atom(predicate=predicate) | Test(predicate=predicate):
            yield predicate
            yield from [predicate.partition(".")[0]] if "." in predicate else []
        case RowAtom(table=table, arguments=arguments):
            yield table
            yield from (f"{table}.{attribute}" for attribute, _ in arguments)
        case _:
            return


def _matches(info: RuleInfo, wanted: RuleFilter) -> bool:
    return (
        (wanted.name is None or fnmatchcase(info.name, wanted.name))
        and (wanted.kind is None or info.declared_kind == wanted.kind)
        and wanted.tags <= set(info.tags)
    )
