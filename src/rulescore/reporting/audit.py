"""An audit as a listing, and rules or pairs of predicates as a rule file that a person can edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from rulescore.language.declarations.incompatible import IncompatibleGroup
from rulescore.language.printer import print_statement
from rulescore.language.syntax import Program, Rule
from rulescore.reporting.audit_filter import EVERY_RULE, MEANINGS, AuditFilter, Flag, Order, flags, in_order
from rulescore.reporting.listing import Audience, CellKind, Column, Listing, counted, filled, shown
from rulescore.reporting.sentences import of_the_data
from rulescore.reporting.tables import count_columns, group_listings, has_bounds, notes_on_counts
from rulescore.scoring.pairs import PairCount
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.score import UNREFUTABLE

_EXPLAINED = (
    "# `expected`: how often the two would meet if neither cared about the other, among tuples whose constants stand in one fact.",
    "# `probability`: how likely it is that they would then meet so seldom. The most surprising pairs come first.",
)


def incompatibilities_text(pairs: Sequence[PairCount], others: Sequence[PairCount], *, at_most: int) -> str:
    """A rule file that declares the pairs; the others are comments, for the user to uncomment."""
    often = "never meet" if at_most == 0 else f"meet at most {counted(at_most, 'time')}"
    rare = sum(1 for pair in pairs if pair.expected < 1)
    lines = [
        f"# {counted(len(pairs), 'pair')} of predicates that {often}: two meet at a tuple if there is a fact of each.",
        "# That is a heuristic: remove the pairs that could well meet.",
        *_EXPLAINED,
        *([f"# {rare:,} of them would be expected to meet less than once: `--min-expected 1` leaves those out."] if rare else []),
        "",
        *(_statement(pair) for pair in pairs),
    ]
    if others:
        lines += ["", "# Other pairs:", *(f"# {_statement(pair)}" for pair in others)]
    return "\n".join(lines) + "\n"


def shown_probability(pair: PairCount) -> str:
    """Two digits; or the power of ten, if it is too small for a float."""
    return f"{pair.probability:.2g}" if pair.surprise < 300 else f"1e-{pair.surprise:.0f}"


def _statement(pair: PairCount) -> str:
    expected = shown(pair.expected, CellKind.SCORE)
    facts = f"{pair.left_facts:,} and {counted(pair.right_facts, 'fact')}"
    how_often = f"together {counted(pair.together, 'time')}, expected {expected}, probability {shown_probability(pair)}"
    return f"{print_statement(IncompatibleGroup((pair.left, pair.right)))}  # {how_often}; {facts}"


_WORDS = (
    "confirmed, refuted: groundings (cases of the rule) in which what it demands is known to hold, or to be false, so the data "
    "break it; evaluable: either; rate: refuted of evaluable"
)
_CLAIMED = "confidence and support: as the rule files say, whatever the data"


def audit_listing(
    rules: Sequence[RuleResult],
    wanted: AuditFilter = EVERY_RULE,
    order: Order = Order.RATE,
    *,
    reverse: bool = False,
    limit: int | None = None,
) -> Listing:
    """The rules that pass, in order, at most `limit`; then tolerances from the data and largest groups. People see
    confidence and support if some rule states them."""
    passed = in_order(filter(wanted.passes, rules), order, reverse=reverse)
    listed = passed[:limit]
    claimed = any(rule.info.confidence is not None or rule.info.support is not None for rule in listed)
    audience = Audience.EVERYONE if claimed else Audience.PROGRAMS
    bounds = Audience.EVERYONE if has_bounds(listed) else Audience.PROGRAMS
    share = Column("largest_group_share", "its share", CellKind.RATE, Audience.PROGRAMS)
    columns, rows = filled(
        listed,
        (Column("rule", "rule"), lambda rule: rule.info.name),
        (Column("text", "text", audience=Audience.PROGRAMS), lambda rule: rule.info.text),
        (Column("kind", "kind", audience=Audience.PROGRAMS), lambda rule: rule.kind.value),
        (Column("shown_kind", "kind", audience=Audience.PEOPLE), _kind),
        (Column("kind_reason", "why", audience=Audience.PROGRAMS), lambda rule: rule.kind_reason),
        *count_columns(attrgetter("dataset")),
        (Column("rate_bound", "at most", CellKind.RATE, bounds, spare=True), lambda rule: rule.rate_bound.value),
        (Column("rate_bound_reason", "why", audience=Audience.PROGRAMS), lambda rule: rule.rate_bound.reason),
        (Column("confidence", "confidence", CellKind.RATE, audience, spare=True), lambda rule: rule.info.confidence),
        (Column("support", "support", CellKind.COUNT, audience, spare=True), lambda rule: rule.info.support),
        (Column("flagged", "flags", CellKind.TEXTS), flags),
        (Column("tolerance", "tolerance", CellKind.VALUE, Audience.PROGRAMS), lambda rule: rule.tolerance),
        (Column("largest_group", "largest group", CellKind.COUNT, Audience.PROGRAMS), lambda rule: rule.largest_group),
        (share, lambda rule: rule.largest_group_share.value),
        (Column("largest_group_share_reason", "why", audience=Audience.PROGRAMS), lambda rule: rule.largest_group_share.reason),
        (Column("shown_text", "text", CellKind.CODE, Audience.PEOPLE, whole=True), lambda rule: rule.info.text),
    )
    return Listing(
        "audit",
        "Audit of the rules over the observed facts",
        columns,
        rows,
        figures=(("total", len(rules)), ("passed", len(passed)), ("shown", len(listed))),
        notes=(
            *([_WORDS] if listed else []),
            *_notes(rules, len(passed), len(listed)),
            *flag_notes(listed),
            *notes_on_counts(listed),
            *([_CLAIMED] if claimed else []),
        ),
        beside=group_listings(listed),
        lead=(of_the_data(rules).text,),
    )


def kept_text(program: Program, results: Sequence[RuleResult], wanted: AuditFilter) -> str:
    """A rule file of all declarations and of the rules that pass. Each keeps its text, but not its layout."""
    rules_left = iter(results)
    lines = []
    kept = 0
    for statement in program.statements:
        result = next(rules_left) if isinstance(statement, Rule) else None
        if result is None:
            lines.append(print_statement(statement))
        elif wanted.passes(result):
            kept += 1
            lines.append(f"{print_statement(statement)}  # {result.dataset.refuted:,} of {result.dataset.evaluable:,} refuted")
    header = f"# {kept:,} of {counted(len(program.rules), 'rule')}: those that passed an audit, with all declarations."
    return "\n".join([header, "", *lines]) + "\n"


def _kind(rule: RuleResult) -> str:
    """A rule that nothing can refute is not counted among the hard ones, since the data could never break it."""
    return UNREFUTABLE if rule.kind is not RuleKind.SOFT and rule.info.unrefutable else rule.kind.value


def _notes(rules: Sequence[RuleResult], passed: int, shown: int) -> list[str]:
    """All rules by kind and by flag on one line; then how many of them are here."""
    kinds = Counter(map(_kind, rules))
    flags_of_rules = [flags(rule) for rule in rules]
    flagged = sum(1 for rule_flags in flags_of_rules if rule_flags)
    times = Counter(flag for rule_flags in flags_of_rules for flag in rule_flags)
    by_kind = ", ".join(f"{kinds[kind]:,} {kind}" for kind in ("hard", UNREFUTABLE, "soft", "undetermined") if kinds[kind])
    by_flag = ", ".join(f"{times[flag]:,} {flag}" for flag in Flag if times[flag])
    summary = f"{counted(len(rules), 'rule')}{_listed(by_kind)}; {flagged:,} flagged{_listed(by_flag)}"
    fewer = [f"{passed:,} of {counted(len(rules), 'rule')} pass the filters"] if passed < len(rules) else []
    return [summary, *fewer, *([f"{shown:,} of {passed:,} shown"] if shown < passed else [])]


def flag_notes(rules: Sequence[RuleResult]) -> list[str]:
    """What the flags that stand in the table mean."""
    raised = {flag for rule in rules for flag in flags(rule)}
    return ["; ".join(f"{flag}: {meaning}" for flag, meaning in MEANINGS.items() if flag in raised)] if raised else []


def _listed(text: str) -> str:
    return f": {text}" if text else ""
