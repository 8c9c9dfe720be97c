"""Finds rules of tables with keys: a few statements propose candidates, and an audit counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rulescore.discovery.model import DiscoveredRule, DiscoverOptions, Discovery, Form
from rulescore.discovery.table_comparisons import comparisons, sums
from rulescore.discovery.table_dependencies import dependencies
from rulescore.discovery.table_groups import averages, groupings, tolerances
from rulescore.discovery.table_rows import Rows, rows_of_tables, split
from rulescore.discovery.table_search import Candidate, Search, searched, shuffled
from rulescore.discovery.table_values import allowed_values, bounds, conditional_values
from rulescore.engines.base import connect
from rulescore.errors import Source
from rulescore.language.printer import print_rule
from rulescore.language.syntax import RowAtom, Rule
from rulescore.language.trees import atoms_in
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import Setting
from rulescore.setting.options import ScoringOptions

_MOST_OF_A_FORM = 100
_FEW_ROWS = 2


def discover_tables(setting: Setting, options: DiscoverOptions) -> Discovery:
    """Find the rules of the tables of a setting, each with the counts of an audit of its text.

    Args:
        setting: The tables and the engine; rules and predictions are ignored. We never read hidden targets.
        options: What to keep. The share `hold_out` of each table's rows picks no rule; we only count on it.

    Returns:
        The rules of all tables by form. Hard rules come first, and among them rules about a predicted column; then the rules that
        chance explains least.

    Raises:
        InputError: No table has a key, or one of them cannot be read.
    """
    counted = replace(setting, scoring=ScoringOptions(distinct_variables=options.distinct_variables))
    tables = rows_of_tables(setting)
    discoveries = [_of_table(counted, rows, options) for rows in tables]
    rules = [rule for discovery in discoveries for rule in discovery.rules]
    order = list(Form)
    return Discovery(
        options,
        tuple(sorted(rules, key=lambda rule: (order.index(rule.form), rule.counts.refuted > 0))),
        tuple(rule for discovery in discoveries for rule in discovery.left_out) if options.everything else (),
        reasons=tuple(reason for discovery in discoveries for reason in discovery.reasons),
        notes=tuple(note for discovery in discoveries for note in discovery.notes),
        facts=sum(discovery.facts for discovery in discoveries),
        held_out_facts=sum(discovery.held_out_facts for discovery in discoveries),
        digest=tables[0].digest,
    )


def _of_table(setting: Setting, rows: Rows, options: DiscoverOptions) -> Discovery:
    target = next(table.target for table in setting.tables if table.name == rows.table)
    picked, held_out = split(rows, options.hold_out, options.seed)
    engine = connect(setting.engine)
    try:
        search = searched(engine, picked, shuffled(picked, options.seed), options)
        candidates = sorted(_candidates(search), key=lambda candidate: not _is_about(candidate.rule, target))
    finally:
        engine.close()
    texts = [print_rule(candidate.rule) for candidate in candidates]
    counts = audited(setting, picked, texts)
    checks = audited(setting, held_out, texts) if held_out.count else [None] * len(texts)
    rules = [
        DiscoveredRule(
            candidate.form,
            text,
            of_picked,
            expected=None if candidate.chance is None else of_picked.evaluable * (1 - candidate.chance),
            held_out=of_held_out,
            left_out=candidate.left_out,
        )
        for candidate, text, of_picked, of_held_out in zip(candidates, texts, counts, checks, strict=True)
    ]
    # The grid of a tolerance also has values that rows break too often.
    rules = [rule for rule in rules if rule.form is Form.TOLERANCE or _is_kept(rule.counts, options)]
    kept = tuple(rule for rule in rules if rule.left_out is None)
    return Discovery(
        options,
        kept,
        tuple(rule for rule in rules if rule.left_out is not None),
        reasons=() if kept else (_why_nothing(search),),
        notes=tuple(search.told),
        facts=picked.count,
        held_out_facts=held_out.count,
    )


def _is_about(rule: Rule, attribute: str | None) -> bool:
    rows = (atom for atom in atoms_in(rule.body) if isinstance(atom, RowAtom))
    return any(name == attribute for row in rows for name, _ in row.arguments)


def audited(setting: Setting, rows: Rows, texts: Sequence[str]) -> list[Counts]:
    """The counts of rules over the rows; an audit gives the same."""
    if not texts:
        return []
    source = Source("<discovered>", "".join(f"{text}.\n" for text in texts))
    alone = Setting((), (source,), scoring=setting.scoring, engine=setting.engine, tables=(rows.keyed(),))
    with Session(alone) as session:
        return [result.dataset for result in session.audit().rule_results]


def _candidates(search: Search) -> Iterator[Candidate]:
    if search.rows < _FEW_ROWS:
        return
    wanted = search.options.forms or frozenset(Form)
    # The order matters: a dependency may make conditions superfluous, and both forms of rules about groups choose among the same
    # groups.
    needs_dependencies = wanted & {Form.DEPENDENCY, Form.CONDITIONAL_VALUES}
    deciding, decided = dependencies(search) if needs_dependencies else ([], set())
    groups = groupings(search) if wanted & {Form.TOLERANCE, Form.RELATIVE_BOUND} else []
    searches: dict[Form, Callable[[], list[Candidate]]] = {
        Form.BOUND: lambda: list(bounds(search)),
        Form.COMPARISON: lambda: comparisons(search),
        Form.DEPENDENCY: lambda: deciding,
        Form.ALLOWED_VALUES: lambda: list(allowed_values(search)),
        Form.CONDITIONAL_VALUES: lambda: conditional_values(search, decided),
        Form.SUM: lambda: sums(search),
        Form.TOLERANCE: lambda: tolerances(search, groups),
        Form.RELATIVE_BOUND: lambda: averages(search, groups),
    }
    for form in searches:
        candidates = searches[form]() if form in wanted else []
        if len(candidates) > _MOST_OF_A_FORM and not search.options.everything:
            what = f"of {len(candidates):,} rules of the form “{form.heading}” of `{search.table}`"
            search.told.append(f"{what} {_MOST_OF_A_FORM} are looked at: `--all` lists all")
            candidates = candidates[:_MOST_OF_A_FORM]
        yield from candidates


def _is_kept(counts: Counts, options: DiscoverOptions) -> bool:
    rate = counts.rate
    enough = counts.confirmed >= options.min_support and counts.evaluable >= options.min_evaluable
    return rate is not None and rate <= options.max_rate and enough


def _why_nothing(search: Search) -> str:
    options, table = search.options, f"table `{search.table}`"
    if search.rows < options.min_support:
        rows = {0: "no rows", 1: "1 row"}.get(search.rows, f"{search.rows:,} rows")
        return f"{table} has {rows}, and a rule needs {options.min_support:,} confirmed groundings"
    if not search.columns:
        return f"{table} has no column but its key"
    if all(column.is_constant for column in search.columns):
        return f"every column of {table} but its key has one value at most"
    needs = f"{options.min_support:,} confirmed groundings, a rate of {options.max_rate} at most, and less than chance would give"
    return f"no rule of {table} has {needs}"
