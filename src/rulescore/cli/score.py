"""`rulescore score`: scores of every model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from rulescore.cli.gates import (
    end_by,
    fail_if_option,
    given_gates,
    judged,
    junit_option,
    read_baselines,
    refuse_unknown,
    show_gates,
    summary_option,
    write_reports,
)
from rulescore.cli.help import Command
from rulescore.cli.options import (
    ALL,
    ALLOWANCE,
    CURVES,
    EXPLAIN,
    TRUTH,
    SettingChoice,
    explain_option,
    format_option,
    output_option,
    plots_option,
    quiet_option,
    refuse_output_choices,
    setting_options,
)
from rulescore.cli.output import show, show_explanations, show_folded, show_violations, show_warnings, show_written
from rulescore.cli.plots import draw, draw_curve, refuse_folders
from rulescore.reporting.cells import Shown


@click.command(
    cls=Command,
    examples=(
        "rulescore score --facts facts.csv --rules family.rules --predictions model.csv",
        "rulescore score rulescore.toml --table models --format latex > models.tex",
    ),
)
@setting_options(ALL + ALLOWANCE + TRUTH)
@explain_option
@click.option("--detail", is_flag=True, help="Print everything: every rule for every model, reasons, full warnings.")
@click.option("--table", type=click.Choice([one.value for one in Shown]), help="Print only this table, with all its rows.")
@click.option(
    "--curve",
    type=click.Choice(CURVES),
    is_flag=False,
    flag_value="rank",
    help="Print the scores as a curve: over the rank k, or over a threshold of the predictions' scores.",
)
@format_option
@output_option
@plots_option
@fail_if_option
@junit_option
@summary_option
@quiet_option
def score(
    choice: SettingChoice,
    explain: str | None,
    detail: bool,
    table: str | None,
    curve: str | None,
    form: str,
    output: Path | None,
    plots: Path | None,
    fail_if: tuple[str, ...],
    junit: Path | None,
    summary: Path | None,
    quiet: bool,
) -> None:
    """Score models against rules."""
    from rulescore.arguments.deeds import Deed
    from rulescore.cli.setting import COUNTING, DRAWING, load, require_predictions
    from rulescore.evaluate import Session
    from rulescore.reporting.cells import Format

    if explain:
        refuse_output_choices(explain)
    if curve is not None:
        refuse_output_choices("--curve", "--format", "--plots")
        _show_curve(choice, curve, form, plots, quiet=quiet)
        return
    if detail and table is not None:
        raise click.UsageError("`--detail` prints every table: it cannot be combined with `--table`")
    said = {deed for deed, folder in ((Deed.OUTPUT, output), (Deed.PLOTS, plots)) if folder is not None}
    chosen = load(choice, COUNTING if explain else DRAWING - said)
    require_predictions(chosen.setting)
    gates = given_gates(chosen.gates, fail_if)
    if junit is not None and not gates:
        raise click.UsageError("`--junit` writes the outcomes of gates, and there are no gates: give `--fail-if`")
    baselines = read_baselines(gates)
    folder, drawn = output or chosen.output_folder, plots or chosen.plots_folder
    if not explain:
        refuse_folders(folder, drawn)
    with Session(chosen.setting) as session:
        if explain:
            show_explanations(session.explain(), statements=explain == EXPLAIN)
            return
        refuse_unknown(gates, session)
        # Contributions are written to the folder only.
        evaluation = session.evaluate(contributions=None if folder is not None else False)
        outcomes = judged(gates, evaluation, baselines)
        if table == Shown.VIOLATIONS:
            show_violations(session, Format(form))
        else:
            show(evaluation, form, table=table, detail=detail, gates=outcomes)
        tell_warnings = show_warnings if detail else show_folded
        tell_warnings(evaluation.warnings, quiet=quiet)
        if folder is not None:
            from rulescore.reporting.files import write_outputs

            show_written(write_outputs(evaluation, folder, chosen.formats, session.write_contributions), quiet=quiet)
        if drawn is not None:
            draw(evaluation, drawn, quiet=quiet)
        write_reports(outcomes, evaluation, session, junit, summary)
    show_gates(outcomes, quiet=quiet)
    end_by(outcomes)


def _show_curve(choice: SettingChoice, over: str, form: str, plots: Path | None, *, quiet: bool) -> None:
    from rulescore.cli.setting import COUNTING, load, require_predictions
    from rulescore.evaluate import Session
    from rulescore.reporting.cells import Format
    from rulescore.reporting.curve import curve_listing
    from rulescore.scoring.curve import CurveOver, curve_points
    from rulescore.setting.choices import EVERY_ANSWER

    setting = load(choice, COUNTING).setting
    require_predictions(setting)
    refuse_folders(None, plots)
    if over == CurveOver.RANK:
        models = (replace(one, top_k=one.top_k or EVERY_ANSWER) for one in setting.predictions)
        setting = replace(setting, predictions=tuple(models))
    with Session(setting) as session:
        evaluation = session.evaluate(contributions=True)
    points = curve_points(evaluation, CurveOver(over))
    show(curve_listing(points, CurveOver(over), Format(form)), form)
    show_folded(evaluation.warnings, quiet=quiet, where="`rulescore score --detail`")
    if plots is not None:
        draw_curve(evaluation, plots, CurveOver(over), quiet=quiet)
