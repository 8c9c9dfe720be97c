"""Which rules of some rule files a user wants to see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rulescore.data.setting import ScoringOptions
from rulescore.errors import Source
from rulescore.language.parser import parse_all
from rulescore.language.printer import print_rule
from rulescore.language.syntax import Atom, Falsity, Not, Rule
from rulescore.scoring.results import RuleInfo


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Every condition given has to hold."""

    name: str | None = None
    tags: frozenset[str] = frozenset()
    kind: str | None = None
    predicates: frozenset[str] = frozenset()


def listed_rules(sources: Sequence[Source], options: ScoringOptions, wanted: RuleFilter) -> Iterator[RuleInfo]:
    repeated: Counter[str] = Counter()
    for rule in parse_all(sources).rules:
        info = _described(rule, options, repeated)
        if _matches(info, wanted) and wanted.predicates <= predicates_of(rule):
            yield info


def predicates_of(rule: Rule) -> frozenset[str]:
    atoms = [part.condition if isinstance(part, Not) else part for part in (rule.head, *rule.body.conditions)]
    return frozenset(atom.predicate for atom in atoms if isinstance(atom, Atom))


def _described(rule: Rule, options: ScoringOptions, repeated: Counter[str]) -> RuleInfo:
    text = print_rule(rule)
    name = _numbered(text, repeated) if rule.name is None else rule.name
    return RuleInfo(
        name,
        text,
        declared_kind=options.kinds.get(name, rule.kind),
        weight=options.weights.get(name, rule.weight),
        denial=isinstance(rule.head, Falsity),
        description=rule.description,
        tags=rule.tags,
        place=None if rule.span is None else str(rule.span.place()),
    )


def _numbered(text: str, repeated: Counter[str]) -> str:
    """A rule without a name is named by its text, with a number from its second occurrence on."""
    repeated[text] += 1
    return text if repeated[text] == 1 else f"{text} #{repeated[text]}"


def _matches(info: RuleInfo, wanted: RuleFilter) -> bool:
    return (
        (wanted.name is None or fnmatchcase(info.name, wanted.name))
        and (wanted.kind is None or info.declared_kind == wanted.kind)
        and wanted.tags <= set(info.tags)
    )
