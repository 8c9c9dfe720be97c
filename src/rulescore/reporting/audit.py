"""An audit as a listing, and the rules that passed it as a rule file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rulescore.language.printer import print_statement
from rulescore.language.syntax import Program, Rule
from rulescore.reporting.audit_filter import EVERY_RULE, AuditFilter, Flag, Order, flags, in_order
from rulescore.reporting.cells import counted
from rulescore.reporting.listing import Audience, Cell, CellKind, Column, Listing
from rulescore.reporting.tables import group_listings, has_bounds, notes_on_counts
from rulescore.scoring.results import RuleKind, RuleResult

_UNREFUTABLE = "hard: nothing can refute it"
_CLAIMED = "confidence and support: as the rule files say, whatever the data"


def audit_listing(
    rules: Sequence[RuleResult],
    wanted: AuditFilter = EVERY_RULE,
    order: Order = Order.RATE,
    *,
    reverse: bool = False,
    limit: int | None = None,
) -> Listing:
    """The rules that pass, in order, at most `limit`; beside them tolerances from the data and largest groups. People see
    confidence and support if some rule states them."""
    passed = in_order(filter(wanted.passes, rules), order, reverse=reverse)
    listed = passed[:limit]
    claimed = any(rule.info.confidence is not None or rule.info.support is not None for rule in listed)
    told = Audience.EVERYONE if claimed else Audience.PROGRAMS
    columns = (
        Column("rule", "rule"),
        Column("text", "text", audience=Audience.PROGRAMS),
        Column("kind", "kind", audience=Audience.PROGRAMS),
        Column("shown_kind", "kind", audience=Audience.PEOPLE),
        Column("kind_reason", "why", audience=Audience.PROGRAMS),
        Column("confirmed", "confirmed", CellKind.COUNT),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("rate", "rate", CellKind.RATE),
        Column("rate_bound", "at most", CellKind.RATE, Audience.EVERYONE if has_bounds(listed) else Audience.PROGRAMS),
        Column("rate_bound_reason", "why", audience=Audience.PROGRAMS),
        Column("confidence", "confidence", CellKind.RATE, told),
        Column("support", "support", CellKind.COUNT, told),
        Column("flagged", "flags", CellKind.TEXTS),
        Column("tolerance", "tolerance", CellKind.VALUE, Audience.PROGRAMS),
        Column("largest_group", "largest group", CellKind.COUNT, Audience.PROGRAMS),
        Column("largest_group_share", "its share", CellKind.RATE, Audience.PROGRAMS),
        Column("largest_group_share_reason", "why", audience=Audience.PROGRAMS),
        Column("shown_text", "text", CellKind.CODE, Audience.PEOPLE, whole=True),
    )
    return Listing(
        "audit",
        "Audit of the rules over the observed facts",
        columns,
        tuple(_row(rule) for rule in listed),
        figures=(("total", len(rules)), ("passed", len(passed)), ("shown", len(listed))),
        notes=(*_notes(rules, len(passed), len(listed)), *notes_on_counts(listed), *([_CLAIMED] if claimed else [])),
        beside=group_listings(listed),
    )


def kept_text(program: Program, results: Sequence[RuleResult], wanted: AuditFilter) -> str:
    """A rule file of all declarations and of the rules that pass, each as it was written but for its layout."""
    found = iter(results)
    lines = []
    kept = 0
    for statement in program.statements:
        result = next(found) if isinstance(statement, Rule) else None
        if result is None:
            lines.append(print_statement(statement))
        elif wanted.passes(result):
            kept += 1
            lines.append(f"{print_statement(statement)}  # {result.dataset.refuted:,} of {result.dataset.evaluable:,} refuted")
    header = f"# {kept:,} of {counted(len(program.rules), 'rule')}: those that passed an audit, with all declarations."
    return "\n".join([header, "", *lines]) + "\n"


def _kind(rule: RuleResult) -> str:
    """A rule that is hard only because nothing can refute it is not counted among the hard ones."""
    return _UNREFUTABLE if rule.kind is RuleKind.HARD and rule.info.unrefutable else rule.kind.value


def _row(rule: RuleResult) -> tuple[Cell, ...]:
    counts = rule.dataset
    return (
        rule.info.name,
        rule.info.text,
        rule.kind.value,
        _kind(rule),
        rule.kind_reason,
        counts.confirmed,
        counts.refuted,
        counts.evaluable,
        counts.rate,
        rule.rate_bound.value,
        rule.rate_bound.reason,
        rule.info.confidence,
        rule.info.support,
        flags(rule),
        rule.tolerance,
        rule.largest_group,
        rule.largest_group_share.value,
        rule.largest_group_share.reason,
        rule.info.text,
    )


def _notes(rules: Sequence[RuleResult], passed: int, shown: int) -> list[str]:
    """All rules by kind and by flag on one line; then how many of them are here."""
    kinds = Counter(map(_kind, rules))
    found = [flags(rule) for rule in rules]
    flagged = sum(1 for one in found if one)
    times = Counter(flag for one in found for flag in one)
    by_kind = ", ".join(f"{kinds[kind]:,} {kind}" for kind in ("hard", _UNREFUTABLE, "soft", "undetermined") if kinds[kind])
    by_flag = ", ".join(f"{times[flag]:,} {flag}" for flag in Flag if times[flag])
    summary = f"{counted(len(rules), 'rule')}{_listed(by_kind)}; {flagged:,} flagged{_listed(by_flag)}"
    fewer = [f"{passed:,} of {counted(len(rules), 'rule')} pass the filters"] if passed < len(rules) else []
    return [summary, *fewer, *([f"{shown:,} of {passed:,} shown"] if shown < passed else [])]


def _listed(text: str) -> str:
    return f": {text}" if text else ""
