"""`rulescore score`: everything, for every model."""

from __future__ import annotations

from pathlib import Path

import click

from rulescore.cli.options import (
    ALL,
    ALLOWANCE,
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
@setting_options(ALL + ALLOWANCE)
@explain_option
@format_option
@output_option
@quiet_option
def score(choice: SettingChoice, explain: bool, form: str, output: Path | None, quiet: bool) -> None:
    """Score models: rates, kinds, scores and aggregates of every rule."""
    from rulescore.cli.setting import COUNTING, WRITING, load, require_predictions
    from rulescore.evaluate import Session
    from rulescore.reporting.files import write_outputs
    from rulescore.reporting.folder import refuse_unswappable

    if explain:
        refuse_output_choices("--explain")
    chosen = load(choice, COUNTING if explain or output is not None else WRITING)
    require_predictions(chosen.setting)
    folder = output or chosen.output_folder
    if folder is not None and not explain:
        refuse_unswappable(folder)
    with Session(chosen.setting) as session:
        if explain:
            show_explanations(session.explain())
            return
        evaluation = session.evaluate()
        show_warnings(evaluation.warnings, quiet=quiet)
        show(evaluation, form)
        if folder is not None:
            show_written(write_outputs(evaluation, folder, chosen.formats, session.write_contributions), quiet=quiet)
