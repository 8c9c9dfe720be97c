"""`rulescore audit`: counts how often the observed facts break each rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from rulescore.cli import options
from rulescore.cli.gates import (
    conclude,
    given_gates,
    judged,
    junit_option,
    refuse_unknown,
    summary_option,
    write_reports,
)
from rulescore.cli.output import save, show, show_explanations, show_folded, show_written
from rulescore.cli.tolerances import WrittenTolerance, problems_of, read_tolerances
from rulescore.errors import Diagnostic, InputError
from rulescore.reporting.audit_filter import UNFLAGGED, AuditFilter, Flag, Order, RateRange, read_rate
from rulescore.reporting.listing import counted

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.language.syntax import Program
    from rulescore.reporting.listing import Listing
    from rulescore.scoring.results import RuleResult
    from rulescore.session.session import Session

_FLAGS = [flag.value for flag in Flag]
_CHOOSING = (
    *("flag", "no_flag", "min_evaluable", "rate", "sort", "reverse", "limit", "keep", "force"),
    *("fail_if", "junit", "summary", "report"),
)


def _read_rate(context: click.Context, parameter: click.Parameter, value: str | None) -> RateRange | None:
    limits = None if value is None else read_rate(value)
    if value is not None and limits is None:
        message = f'`{value}` is not a range of rates: write 0..0.1, ..10%, "<=0.05" or ">0"'
        raise click.BadParameter(message, context, parameter)
    return limits


@click.command(
    cls=options.Command,
    examples=(
        "rulescore audit --facts facts.csv --rules family.rules",
        "rulescore audit rulescore.toml --tolerances 100,500,5%",
    ),
)
@options.setting_options(options.ALL + options.LABELS)
@click.option(
    "--flag",
    multiple=True,
    type=click.Choice([*_FLAGS, UNFLAGGED]),
    help="List rules with this flag; `none`: without a flag; repeatable.",
)
@click.option("--no-flag", multiple=True, type=click.Choice(_FLAGS), help="List rules without this flag; repeatable.")
@click.option(
    "--min-evaluable", type=click.IntRange(min=0), default=0, metavar="N", help="List rules with at least N evaluable groundings."
)
@click.option(
    "--rate", callback=_read_rate, metavar="RANGE", help='List rules with a rate in RANGE: 0..0.1, ..10%, "<=0.05", ">0".'
)
@click.option(
    "--sort",
    type=click.Choice([order.value for order in Order]),
    default=Order.RATE.value,
    show_default=True,
    help="The column to sort rules by.",
)
@click.option("--reverse", is_flag=True, help="Reverse the order.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="List at most N rules.")
@options.file_option("Write the rules that pass the filters to this rule file.", "keep")
@click.option(
    "--tolerances",
    callback=read_tolerances,
    metavar="VALUE,…",
    help="Show the rates of rules that limit a distance, with each of these limits: 100,500,5%.",
)
@click.option(
    "--against",
    metavar="PATH|NAME=PATH",
    help="Compare with another version of a table: its rows, or repaired cells as `id, attribute, value`.",
)
@click.option(
    "--by",
    type=click.Choice(["rule", "row", "cell"]),
    default="rule",
    show_default=True,
    help="With `--against`: compare rows, or cells, instead of rules.",
)
@options.explain_option
@options.format_option
@options.output_option
@click.option(
    "--fail-if",
    multiple=True,
    metavar="GATE",
    help='Exit with code 1 if this is true of the data: "rate > 1%", "refuted > 0", "rule(NAME).refuted > 0".',
)
@junit_option
@summary_option
@options.report_option
@options.quiet_option
def audit(
    choice: options.SettingChoice,
    flag: tuple[str, ...],
    no_flag: tuple[str, ...],
    min_evaluable: int,
    rate: RateRange | None,
    sort: str,
    reverse: bool,
    limit: int | None,
    keep: Path | None,
    tolerances: tuple[WrittenTolerance, ...] | None,
    against: str | None,
    by: str,
    explain: str | None,
    form: str,
    output: Path | None,
    fail_if: tuple[str, ...],
    junit: Path | None,
    summary: Path | None,
    report: Path | None,
    quiet: bool,
) -> None:
    """Rank rules by how often the data break them.

    Flags rules that are unrefutable, tautologies or vacuous, whose rate is near 1 or near 0.5, or that rest on fewer than 5
    groundings.
    """
    from rulescore.cli.setting import COUNTING, load
    from rulescore.reporting.audit import audit_listing
    from rulescore.reporting.files import refuse_unswappable, write_listing
    from rulescore.reporting.tables import with_types
    from rulescore.session.session import Session

    _refuse_combinations(explain=explain, grid=tolerances is not None, against=against is not None)
    chosen = load(choice, COUNTING)
    if against is not None:
        from rulescore.cli.against import changes_listing

        listing, warnings = changes_listing(chosen.setting, against, by, limit)
        show(listing, form)
        show_folded(warnings, quiet=quiet, where="`rulescore check`")
        return
    if output is not None:
        refuse_unswappable(output)
    gates = given_gates((), fail_if, junit)
    wanted = AuditFilter(frozenset(flag), frozenset(no_flag), min_evaluable, rate)
    with Session(chosen.setting, grid=tolerances is not None) as session:
        if explain:
            show_explanations(session.explain(), statements=explain == options.EXPLAIN)
            return
        refuse_unknown(gates, session, of_data=True)
        if tolerances is not None:
            listing, warnings = _over_grid(session, tolerances)
        else:
            evaluation = session.audit()
            listing = audit_listing(evaluation.rule_results, wanted, Order(sort), reverse=reverse, limit=limit)
            listing = with_types(listing, evaluation.summary.tables)
            warnings = evaluation.warnings
            outcomes = judged(gates, evaluation, None)
            write_reports(outcomes, evaluation, session, junit, summary)
            if report is not None:
                from rulescore.report.command import write_report

                write_report(evaluation, session, choice, report, quiet=quiet)
    show(listing, form, labels=session.labels)
    show_folded(warnings, quiet=quiet, where="`rulescore check`")
    if output is not None:
        show_written(write_listing(listing, output, chosen.formats), quiet=quiet)
    if keep is not None:
        _keep(session.program, evaluation.rule_results, wanted, keep, quiet=quiet)
    if tolerances is None:
        conclude(outcomes)


def _refuse_combinations(*, explain: str | None, grid: bool, against: bool) -> None:
    if against and (explain or grid):
        raise click.UsageError(f"`--against` compares counts: it cannot be combined with `{explain or '--tolerances'}`")
    if explain and grid:
        raise click.UsageError(f"`{explain}` counts nothing: it cannot be combined with `--tolerances`")
    if explain:
        options.refuse_output_choices(explain)
    other = explain or ("--tolerances" if grid else "--against")
    context = click.get_current_context()
    if not against and context.get_parameter_source("by") is ParameterSource.COMMANDLINE:
        raise click.UsageError("`--by` says what `--against` compares: give both")
    for name in [name for name in _CHOOSING if not (against and name == "limit")] if explain or grid or against else ():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            if against and name == "fail_if":
                raise click.UsageError(
                    "`--against` compares two versions, `--fail-if` looks at one: audit the other version by itself"
                )
            raise click.UsageError(f"`{other}` lists no audited rules: it cannot be combined with `--{name.replace('_', '-')}`")


def _keep(program: Program, results: Sequence[RuleResult], wanted: AuditFilter, path: Path, *, quiet: bool) -> None:
    from rulescore.reporting.audit import kept_text

    rules = len(program.rules)
    kept = sum(1 for rule in results[:rules] if wanted.passes(rule))
    in_sql = sum(1 for rule in results[rules:] if wanted.passes(rule))
    left_out = f" ({counted(in_sql, 'rule')} in SQL left out)" if in_sql else ""
    said = f"{kept:,} of {counted(rules, 'rule')}{left_out} to "
    save(kept_text(program, results, wanted), path, quiet=quiet, said=said)


def _over_grid(session: Session, tolerances: Sequence[WrittenTolerance]) -> tuple[Listing, Sequence[Diagnostic]]:
    from rulescore.reporting.findings import tolerances_listing
    from rulescore.scoring.results import Tolerance

    rows = session.tolerance_grid([Tolerance(tolerance.value, tolerance.relative) for tolerance in tolerances])
    problems = list(problems_of(tolerances, rows))
    if not rows:
        raise InputError(problems)
    return tolerances_listing(rows), [*session.warnings, *problems]
