"""`rulescore audit`: the rules over the observed facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import (
    ALL,
    SettingChoice,
    explain_option,
    format_option,
    output_option,
    quiet_option,
    refuse_output_choices,
    setting_options,
)
from rulescore.cli.output import show, show_explanations, show_warnings, show_written
from rulescore.cli.tolerances import WrittenTolerance, problems_of, read_tolerances
from rulescore.errors import Diagnostic, InputError

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.evaluate import Session
    from rulescore.reporting.listing import Listing


@click.command()
@setting_options(ALL)
@click.option(
    "--tolerances", callback=read_tolerances, metavar="VALUE,…", help="Rates of rules that limit a distance, for these: 100,500,5%."
)
@explain_option
@format_option
@output_option
@quiet_option
def audit(
    choice: SettingChoice,
    tolerances: tuple[WrittenTolerance, ...] | None,
    explain: bool,
    form: str,
    output: Path | None,
    quiet: bool,
) -> None:
    """Rank rules by how often the data contradict them.

    Flags rules that are unrefutable, vacuous, near 1, near 0.5, or rest on fewer than 5 groundings.
    """
    from rulescore.cli.setting import COUNTING, load
    from rulescore.evaluate import Session
    from rulescore.reporting.files import write_listing
    from rulescore.reporting.folder import refuse_unswappable

    if explain and tolerances:
        raise click.UsageError("`--explain` counts nothing: it cannot be combined with `--tolerances`")
    if explain:
        refuse_output_choices("--explain")
    chosen = load(choice, COUNTING)
    if output is not None:
        refuse_unswappable(output)
    with Session(chosen.setting, grid=tolerances is not None) as session:
        if explain:
            show_explanations(session.explain())
            return
        listing, warnings = _audited(session) if tolerances is None else _over_grid(session, tolerances)
    show_warnings(warnings, quiet=quiet)
    show(listing, form)
    if output is not None:
        show_written(write_listing(listing, output, chosen.formats), quiet=quiet)


def _audited(session: Session) -> tuple[Listing, Sequence[Diagnostic]]:
    from rulescore.reporting.findings import audit_listing

    evaluation = session.audit()
    return audit_listing(evaluation.rule_results), evaluation.warnings


def _over_grid(session: Session, tolerances: Sequence[WrittenTolerance]) -> tuple[Listing, Sequence[Diagnostic]]:
    from rulescore.evaluate import Tolerance
    from rulescore.reporting.findings import tolerances_listing

    rows = session.tolerance_grid([Tolerance(one.value, one.relative) for one in tolerances])
    problems = list(problems_of(tolerances, rows))
    if not rows:
        raise InputError(problems)
    return tolerances_listing(rows), [*session.warnings, *problems]
