"""Refines a rule that is too broad: which condition, added to it, lowers its rate most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rulescore.discovery.discovering import EXTRACT, scoring_of
from rulescore.discovery.held_out import held_out_counts, split
from rulescore.discovery.model import DiscoverOptions
from rulescore.discovery.refine_conditions import Predicates, of_graph, of_table, predicates_of
from rulescore.discovery.refine_relations import RuleRelation, relations
from rulescore.discovery.table_rows import Rows, rows_of_tables
from rulescore.discovery.table_rows import split as split_rows
from rulescore.discovery.table_search import evidence
from rulescore.errors import Diagnostic, InputError, Source, meant
from rulescore.language.printer import print_rule, print_statement
from rulescore.language.syntax import Atom, Program, RowAtom, Rule
from rulescore.logic.rules import read
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import FactSource, Setting
from rulescore.waiting import tell

_MOST_TRIED = 5_000
_LEAST_EVIDENCE = 3.0
"""The evidence that a condition needs beyond the logarithm of how many we tried."""


@dataclass(frozen=True, slots=True)
class RefinedRule:
    """A rule with one more condition. `held_out`: its counts on data that did not pick it."""

    text: str
    counts: Counts
    held_out: Counts | None = None


@dataclass(frozen=True, slots=True)
class Refinement:
    """A rule, and the same with one more condition each, the best first. `tried`: how many conditions we tried."""

    rule: RefinedRule
    rules: tuple[RefinedRule, ...]
    tried: int
    notes: tuple[str, ...] = ()


def refine(setting: Setting, wanted: str, options: DiscoverOptions, valid: Sequence[FactSource] = ()) -> Refinement:
    """Find the conditions that lower the rate of a rule.

    Args:
        setting: The data, the rules and the declarations.
        wanted: The name of one of the rules, or the text of another rule.
        options: We read `min_support`, `limit`, `hold_out` and `seed`.
        valid: Facts to rate the rules on; they pick no condition.

    Returns:
        The rule without changes, and with each condition that lowers its rate more than chance would among so many tries.

    Raises:
        InputError: The rule is unknown, cannot be read, or is never broken.
    """
    program, rule = _rule(setting, wanted)
    rows = _rows(setting, rule, options)
    if rows and valid:
        helps = ("hold out a share of the rows: `--hold-out 0.1`",)
        raise InputError(Diagnostic("E327", "`--valid` names facts, and the rule reads a table", helps=helps))
    parts = _Parts(setting, program, rows, options, valid)
    text = print_rule(rule)
    with parts.session([text]) as session:
        before, declared = session.audit().rule_results[0].dataset, session.declared
    if not before.refuted:
        message = "the data never break the rule" if before.evaluable else "the data cannot judge the rule"
        helps = ("a rule is refined to be broken less often: choose one that is soft",)
        raise InputError(Diagnostic("E717", message, notes=(f"`{text}`: {before.refuted:,} of {before.evaluable:,}",), helps=helps))
    least = options.min_support
    refined = of_table(rule, rows[0], least) if rows else of_graph(rule, parts.predicates(), least, declared)
    texts = list(dict.fromkeys(map(print_rule, refined)))
    notes = (f"{len(texts) - _MOST_TRIED:,} of {len(texts):,} conditions were not tried",) if len(texts) > _MOST_TRIED else ()
    texts = texts[:_MOST_TRIED]
    tell(f"counting {len(texts):,} refined rules")
    counted = list(zip(texts, parts.counts(texts), strict=True))
    best = _best(before, counted, options)
    held = parts.held_out([text, *(refined for refined, _ in best)])
    rules = tuple(RefinedRule(text, counts, held_out) for (text, counts), held_out in zip(best, held[1:], strict=True))
    return Refinement(RefinedRule(text, before, held[0]), rules, len(texts), notes)


def given_relations(setting: Setting) -> tuple[RuleRelation, ...]:
    """How the rules of a setting relate to each other.

    Args:
        setting: The rules, the declarations, and the data for `extract incompatible`.

    Returns:
        The pairs of rules that repeat, subsume or contradict each other.

    Raises:
        InputError: Rules or data cannot be read.
    """
    if len(read(setting).program.rules) < 2:
        return ()
    with Session(replace(setting, predictions=(), truth=None)) as session:
        names = [rule.name for rule in session.rules]
        return tuple(relations(list(zip(names, session.program.rules, strict=False)), session.declared))


def _best(before: Counts, counted: Sequence[tuple[str, Counts]], options: DiscoverOptions) -> list[tuple[str, Counts]]:
    """The refined rules whose low rate is least likely by chance. If rules have the same counts, we keep the first. A further
    variable may multiply groundings. We leave out a rule that has more groundings than before."""
    worth = {
        text: evidence(counts.rate or 0.0, counts.evaluable, before.rate or 0.0)
        for text, counts in counted
        if options.min_support <= counts.confirmed <= before.confirmed and counts.refuted <= before.refuted
    }
    least = _LEAST_EVIDENCE + math.log(max(len(counted), 1))
    kept = sorted((text for text in worth if worth[text] >= least), key=lambda text: (-worth[text], len(text), text))
    counts = dict(counted)
    first = {counts[text]: text for text in reversed(kept)}
    return [(text, counts[text]) for text in kept if first[counts[text]] == text][: options.limit]


def _rule(setting: Setting, wanted: str) -> tuple[Program, Rule]:
    """The program of the setting, and the wanted rule, found by its name or read from its text."""
    if "<-" in wanted or ":-" in wanted or "←" in wanted:
        text = wanted.strip().removesuffix(".")
        alone = read(replace(setting, rules=(Source("<rule>", f"{text}.\n"),)))
        return read(setting).program, alone.program.rules[0]
    rules = read(setting)
    for name, rule in rules.named:
        if name == wanted:
            return rules.program, rule
    helps = (*meant(wanted, rules.names), "name a rule of the rule files, or write a rule with `<-`")
    raise InputError(Diagnostic("E717", f"there is no rule `{wanted}`", helps=helps))


def _rows(setting: Setting, rule: Rule, options: DiscoverOptions) -> tuple[Rows, Rows] | None:
    """The rows of the table that a rule reads, in two parts; None if it reads facts."""
    tables = [condition.table for condition in rule.body.conditions if isinstance(condition, RowAtom)]
    if not tables:
        if not any(isinstance(condition, Atom) for condition in rule.body.conditions):
            raise InputError(Diagnostic("E717", "the rule has no atom to which a condition could be added"))
        return None
    if set(tables) != {tables[0]}:
        helps = ("write the condition by hand, and count it with `rulescore audit`",)
        raise InputError(Diagnostic("E717", "the rule reads several tables, and we refine rules of one", helps=helps))
    named = (rows for rows in rows_of_tables(setting) if rows.table == tables[0])
    return split_rows(next(named), options.hold_out, options.seed)


class _Parts:
    """The data that pick the conditions, and the data held out."""

    def __init__(
        self,
        setting: Setting,
        program: Program,
        rows: tuple[Rows, Rows] | None,
        options: DiscoverOptions,
        valid: Sequence[FactSource],
    ) -> None:
        plain = replace(setting, rules=(), predictions=(), truth=None, sql_rules=(), scoring=scoring_of(options))
        self._held = valid
        self._other: Setting | None = None
        if rows is not None:
            self.picked = replace(plain, tables=(rows[0].keyed(),))
            self._other = replace(plain, tables=(rows[1].keyed(),)) if rows[1].count else None
        elif options.hold_out:
            picked, self._held = split(setting.observed, options.hold_out, options.seed)
            self.picked = replace(plain, observed=picked)
        else:
            self.picked = plain
        declared = [print_statement(declaration) for declaration in program.declarations]
        self._declarations = declared or ([] if rows is not None else [EXTRACT])

    def session(self, texts: Sequence[str]) -> Session:
        """A session that counts rules over the data that pick conditions."""
        return Session(replace(self.picked, rules=(self._source(texts),)))

    def predicates(self) -> Predicates:
        """The predicates of the facts that pick conditions."""
        with Session(self.picked) as session:
            return predicates_of(session)

    def counts(self, texts: Sequence[str]) -> list[Counts]:
        return self._audited(self.picked, texts)

    def held_out(self, texts: Sequence[str]) -> Sequence[Counts | None]:
        if self._other is not None:
            return self._audited(self._other, texts)
        if self._held:
            return held_out_counts(self.picked, self.picked.scoring, self._held, self._source(texts).text)[0]
        return [None] * len(texts)

    def _audited(self, setting: Setting, texts: Sequence[str]) -> list[Counts]:
        if not texts:
            return []
        with Session(replace(setting, rules=(self._source(texts),))) as session:
            return [result.dataset for result in session.audit().rule_results]

    def _source(self, texts: Sequence[str]) -> Source:
        return Source("<refined rules>", "\n".join([*self._declarations, *(f"{text}." for text in texts)]) + "\n")
