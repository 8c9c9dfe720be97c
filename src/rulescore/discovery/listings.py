"""Lists a discovery: for people the most useful rules, form by form; for programs a row for each rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from rulescore.discovery.model import DiscoveredRule, Discovery, Form
from rulescore.discovery.refine import RefinedRule, Refinement
from rulescore.discovery.refine_relations import RuleRelation
from rulescore.errors.texts import visible
from rulescore.language.terms import write_value
from rulescore.reporting.listing import Cell, CellKind, Column, Filled, Listing, counted, filled
from rulescore.scoring.results import Counts
from rulescore.setting.choices import Convention
from rulescore.version import __version__

_NAME = "discovery"
NULL_MODEL = (
    "lift: how many times more often than by chance a rule is confirmed, if the facts of its head were dealt anew among the tuples "
    "that carry a fact"
)
SHUFFLED = "lift: how many times more often than by chance a rule is confirmed, if every column were shuffled"
NOTHING_HELD_OUT = (
    "the rates are of the facts that the rules were picked by, and flatter them: `--valid FILE` or `--hold-out 0.1` gives rates on "
    "other facts"
)

NO_ROWS_HELD_OUT = (
    "the rates are of the rows that the rules were picked by, and flatter them: `--hold-out 0.1` gives rates on other rows"
)


def named(rules: Sequence[DiscoveredRule]) -> list[tuple[str, DiscoveredRule]]:
    """The rules, with names that are only their places in the list."""
    return [(f"d{number}", rule) for number, rule in enumerate(rules, 1)]


def for_people(discovery: Discovery, rules: Sequence[DiscoveredRule]) -> Listing:
    """The rules, a table for each form."""
    groups = [(form, list(group)) for form, group in groupby(rules, key=lambda rule: rule.form)]
    notes = tuple(_notes(discovery, rules))
    if not groups:
        return Listing(_NAME, "Nothing found", (), (), notes=notes)
    tables = [_of_form(discovery, form, group) for form, group in groups]
    last = tables[-1]
    told = Listing(last.name, last.title, last.columns, last.rows, notes=(*last.notes, *notes))
    first, *others = [*tables[:-1], told]
    return Listing(first.name, first.title, first.columns, first.rows, notes=first.notes, beside=tuple(others))


def _of_form(discovery: Discovery, form: Form, rules: Sequence[DiscoveredRule]) -> Listing:
    held = any(rule.held_out is not None for rule in rules)
    left_out = any(rule.left_out is not None for rule in rules)
    broken = _times if form.is_denial else broken_share
    cells: list[Filled[DiscoveredRule]] = [(Column("broken", "broken"), lambda rule: broken(rule.counts))]
    if held:
        cells.append((Column("held_out", "held out"), lambda rule: None if rule.held_out is None else broken(rule.held_out)))
    if form.is_denial:
        cells.append((Column("expected", "by chance", CellKind.SCORE), lambda rule: rule.expected))
    else:
        if not form.is_of_tables:
            cells.append((Column("coverage", "covers"), lambda rule: None if rule.coverage is None else f"{rule.coverage:.0%}"))
        cells.append((Column("lift", "lift", CellKind.SCORE), lambda rule: rule.lift))
    if left_out:
        cells.append((Column("left_out", "left out"), lambda rule: rule.left_out))
    cells.append((Column("text", "rule", CellKind.CODE, whole=True), lambda rule: rule.text))
    columns, rows = filled(rules, *cells)
    total = sum(1 for rule in discovery.rules if rule.form is form)
    more = f", {len(rules):,} of {total:,}" if total > len(rules) and not left_out else ""
    return Listing(_NAME, f"{form.heading}{more}", columns, rows)


def broken_share(counts: Counts) -> str:
    """How many of the groundings that can be judged break a rule, and the rate in percent."""
    share = f" ({_percent(counts.rate)}%)" if counts.rate else ""
    return f"{counts.refuted:,} of {counts.evaluable:,}{share}"


def _percent(rate: float) -> str:
    return f"{100 * rate:.2g}" if 100 * rate < 99.5 else f"{100 * rate:.0f}"


def _times(counts: Counts) -> str:
    return counted(counts.refuted, "time") if counts.refuted else "never"


def _notes(discovery: Discovery, rules: Sequence[DiscoveredRule]) -> Iterator[str]:
    yield from discovery.reasons
    shown = sum(1 for rule in rules if rule.left_out is None)
    if discovery.rules:
        more = "; `--all` lists all" if shown < len(discovery.rules) else ""
        source = counted(discovery.facts, discovery.unit)
        yield f"{shown:,} of {counted(len(discovery.rules), 'rule')} shown, found in {source}{more}"
    if any(rule.lift is not None and rule.form.is_of_tables for rule in rules):
        yield SHUFFLED
    if any(rule.lift is not None and not (rule.form.is_denial or rule.form.is_of_tables) for rule in rules):
        yield "covers: the share of its head's facts that a rule explains"
        yield NULL_MODEL
    if discovery.rules and discovery.held_out_facts:
        yield f"held out: {counted(discovery.held_out_facts, discovery.unit)} that no rule was picked by{_drawn(discovery)}"
    elif discovery.rules:
        yield NO_ROWS_HELD_OUT if discovery.unit == "row" else NOTHING_HELD_OUT
    yield from discovery.notes


def _drawn(discovery: Discovery) -> str:
    options = discovery.options
    return f", {options.hold_out:.0%} of the {discovery.unit}s, drawn with seed {options.seed}" if options.hold_out else ""


_PROGRAM_COLUMNS = (
    Column("form", "form"),
    Column("rule", "rule"),
    Column("text", "text"),
    Column("confirmed", "confirmed", CellKind.COUNT),
    Column("refuted", "refuted", CellKind.COUNT),
    Column("evaluable", "evaluable", CellKind.COUNT),
    Column("rate", "rate", CellKind.RATE),
    Column("support", "support", CellKind.COUNT),
    Column("expected", "by chance", CellKind.SCORE),
    Column("lift", "lift", CellKind.SCORE),
    Column("explained", "explained", CellKind.COUNT),
    Column("head_facts", "facts of the head", CellKind.COUNT),
    Column("coverage", "covers", CellKind.RATE),
    Column("held_out_confirmed", "held out: confirmed", CellKind.COUNT),
    Column("held_out_refuted", "held out: refuted", CellKind.COUNT),
    Column("held_out_evaluable", "held out: evaluable", CellKind.COUNT),
    Column("held_out_rate", "held out: rate", CellKind.RATE),
    Column("left_out", "left out"),
)


def for_programs(discovery: Discovery, rules: Iterable[DiscoveredRule]) -> Listing:
    """A row for each rule, with all its figures."""
    rows = tuple(tuple(_values(name, rule)) for name, rule in named(list(rules)))
    figures = (
        ("facts", discovery.facts),
        ("held_out_facts", discovery.held_out_facts),
        ("kept", len(discovery.rules)),
        ("left_out", len(discovery.left_out)),
        ("shown", len(rows)),
        ("nothing_because", "; ".join(discovery.reasons) or None),
    )
    return Listing(_NAME, "Rules that hold in the facts", _PROGRAM_COLUMNS, rows, figures=figures)


def _values(name: str, rule: DiscoveredRule) -> Iterator[Cell]:
    counts, held = rule.counts, rule.held_out
    yield from (rule.form.value, name, rule.text, counts.confirmed, counts.refuted, counts.evaluable, counts.rate)
    yield from (counts.confirmed, rule.expected, None if rule.form.is_denial else rule.lift)
    yield from (rule.explained, rule.head_facts, rule.coverage)
    if held is None:
        yield from (None, None, None, None)
    else:
        yield from (held.confirmed, held.refuted, held.evaluable, held.rate)
    yield rule.left_out


def refinement_listing(refinement: Refinement, related: Sequence[RuleRelation]) -> Listing:
    """The rules for people."""
    columns, rows = filled(
        (refinement.rule, *refinement.rules),
        (Column("broken", "broken"), lambda rule: broken_share(rule.counts)),
        (Column("held_out", "held out"), lambda rule: None if rule.held_out is None else broken_share(rule.held_out)),
        (Column("kept", "keeps"), partial(_kept, refinement.rule)),
        (Column("text", "rule", CellKind.CODE, whole=True), lambda rule: rule.text),
    )
    shown = tuple((relation.words,) for relation in related)
    relations = (Listing("relations", "How the given rules relate to each other", (Column("relation", "relation"),), shown),)
    return Listing(
        "refinement",
        "The rule, and with one more condition" if refinement.rules else "The rule",
        columns,
        rows,
        notes=tuple(_refined_notes(refinement)),
        beside=relations if related else (),
    )


def refinement_rows(refinement: Refinement, related: Sequence[RuleRelation]) -> Listing:
    """A row for each rule, with all its figures, for programs."""
    columns = (
        Column("text", "text"),
        *(Column(name, name, CellKind.COUNT) for name in ("confirmed", "refuted", "evaluable")),
        Column("rate", "rate", CellKind.RATE),
        *(Column(f"held_out_{name}", f"held out: {name}", CellKind.COUNT) for name in ("confirmed", "refuted", "evaluable")),
        Column("held_out_rate", "held out: rate", CellKind.RATE),
    )
    figures = (("tried", refinement.tried), ("relations", "; ".join(relation.words for relation in related) or None))
    rows = tuple(
        (rule.text, *_refined_values(rule.counts), *_refined_values(rule.held_out)) for rule in (refinement.rule, *refinement.rules)
    )
    return Listing("refinement", "The rule, and with one more condition", columns, rows, figures=figures)


def _kept(before: RefinedRule, rule: RefinedRule) -> str | None:
    return f"{rule.counts.confirmed / before.counts.confirmed:.0%}" if before.counts.confirmed else None


def _refined_values(counts: Counts | None) -> tuple[Cell, ...]:
    if counts is None:
        return (None, None, None, None)
    return (counts.confirmed, counts.refuted, counts.evaluable, counts.rate)


def _refined_notes(refinement: Refinement) -> Iterator[str]:
    yield f"keeps: the share of the confirmed groundings; {counted(refinement.tried, 'condition')} tried"
    if not refinement.rules:
        yield "no condition lowers the rate more than chance would, among so many"
    if refinement.rule.held_out is None:
        yield "the rates are of the data that the conditions were picked by, and flatter them: `--hold-out 0.2` gives others"
    yield from refinement.notes


def rule_text(discovery: Discovery, rules: Sequence[DiscoveredRule]) -> str:
    """The text of a rule file: the declarations that the rules need, then the rules with their figures as annotations."""
    lines = [*_told(discovery, rules), "", *discovery.declarations]
    for form, group in groupby(named(rules), key=lambda pair: pair[1].form):
        lines += ["", f"# {form.heading}"]
        for name, rule in group:
            lines += [_annotations(rule), f"{name}: {rule.text}."]
    return "\n".join(lines) + "\n"


def _told(discovery: Discovery, rules: Sequence[DiscoveredRule]) -> Iterator[str]:
    options = discovery.options
    yield f"# {counted(len(rules), 'rule')} found by rulescore {__version__} in {counted(discovery.facts, discovery.unit)}."
    if discovery.command:
        yield f"# Command: {visible(discovery.command)}"
    if discovery.digest:
        yield f"# Data: sha256 {discovery.digest}"
    said = [f"min_support {options.min_support:,}", f"max_rate {options.max_rate:g}", f"min_evaluable {options.min_evaluable:,}"]
    said += [] if options.convention is Convention.DEFINITION else [f"convention {options.convention}"]
    said += [] if options.distinct_variables is None else [f"distinct_variables {str(options.distinct_variables).lower()}"]
    said += [f"hold_out {options.hold_out:g} drawn with seed {options.seed}"] if options.hold_out else []
    yield f"# Options: {', '.join(said)}"
    yield "# `support`: confirmed groundings; `confidence`: the share of the evaluable groundings that do not break the rule."
    if discovery.held_out_facts:
        yield f"# `held out`: how often {counted(discovery.held_out_facts, discovery.unit)} that no rule was picked by break it."
    else:
        yield f"# No {discovery.unit}s were held out: these figures flatter the rules, which were picked by them."


def _annotations(rule: DiscoveredRule) -> str:
    tags = ["discovered"]
    if rule.held_out is not None:
        rate = "" if rule.held_out.rate is None else f", rate {rule.held_out.rate:.4f}"
        tags.append(f"held out {rule.held_out.refuted} of {rule.held_out.evaluable}{rate}")
    written = f"@tags({', '.join(map(write_value, tags))})"
    if rule.form.is_denial:
        return f"@hard {written}"
    confidence = 1 - (rule.counts.rate or 0.0)
    return f"@confidence({round(confidence, 6):g}) @support({rule.counts.confirmed}) {written}"
