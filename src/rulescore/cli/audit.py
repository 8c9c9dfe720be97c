"""`rulescore audit`: the rules over the observed facts alone."""

from __future__ import annotations

from pathlib import Path

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


@click.command()
@setting_options(ALL)
@explain_option
@format_option
@output_option
@quiet_option
def audit(choice: SettingChoice, explain: bool, form: str, output: Path | None, quiet: bool) -> None:
    """Rank rules by how often the data contradict them.

    Flags rules that are vacuous, near 1, near 0.5, or rest on fewer than 5 groundings.
    """
    from rulescore.cli.setting import load
    from rulescore.evaluate import Session
    from rulescore.reporting.files import write_listing
    from rulescore.reporting.findings import audit_listing

    if explain:
        refuse_output_choices("--explain")
    chosen = load(choice)
    with Session(chosen.setting) as session:
        if explain:
            show_explanations(session.explain())
            return
        evaluation = session.audit()
    listing = audit_listing(evaluation.rule_results)
    show_warnings(evaluation.warnings, quiet=quiet)
    show(listing, form)
    if output is not None:
        show_written(write_listing(listing, output, chosen.formats), quiet=quiet)
