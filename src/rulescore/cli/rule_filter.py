"""Which rules of some rule files a user wants to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rulescore.data.setting import ScoringOptions
from rulescore.errors import Source
from rulescore.language.parser import parse_all
from rulescore.language.syntax import Atom, Not, Rule
from rulescore.scoring.described import described_rules
from rulescore.scoring.results import RuleInfo


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Every condition given has to hold."""

    name: str | None = None
    tags: frozenset[str] = frozenset()
    kind: str | None = None
    predicates: frozenset[str] = frozenset()


def listed_rules(sources: Sequence[Source], options: ScoringOptions, wanted: RuleFilter) -> Iterator[RuleInfo]:
    program = parse_all(sources)
    for rule, info in zip(program.rules, described_rules(program, options), strict=True):
        if _matches(info, wanted) and wanted.predicates <= predicates_of(rule):
            yield info


def predicates_of(rule: Rule) -> frozenset[str]:
    atoms = [part.condition if isinstance(part, Not) else part for part in (rule.head, *rule.body.conditions)]
    return frozenset(atom.predicate for atom in atoms if isinstance(atom, Atom))


def _matches(info: RuleInfo, wanted: RuleFilter) -> bool:
    return (
        (wanted.name is None or fnmatchcase(info.name, wanted.name))
        and (wanted.kind is None or info.declared_kind == wanted.kind)
        and wanted.tags <= set(info.tags)
    )
