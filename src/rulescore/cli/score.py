"""`rulescore score`: scores of every model."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import click

from rulescore.cli import options
from rulescore.cli.gates import (
    conclude,
    fail_if_option,
    given_gates,
    judged,
    junit_option,
    read_baselines,
    refuse_unknown,
    summary_option,
    write_reports,
)
from rulescore.cli.output import show, show_explanations, show_folded, show_violations, show_warnings, show_written
from rulescore.cli.plots import draw, draw_curve, refuse_folders
from rulescore.reporting.listing import Format, Shown, TableChoice

_SHOWN = click.Choice([shown.value for shown in Shown])
_DATA = "rulescore.tables"


def _read_table(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> str | None:
    """The table of the result to print. Tables of data are kept for the setting."""
    data = tuple(word for word in words if word not in _SHOWN.choices and ("=" in word or Path(word).exists()))
    context.meta[_DATA] = data
    shown = [_SHOWN.convert(word, parameter, context) for word in words if word not in data]
    if len(shown) > 1:
        raise click.BadParameter("print one table of the result, or all with `--detail`", context, parameter)
    return shown[0] if shown else None


class _Score(options.Command):
    """`--curve` may stand before PROJECT. If the word behind it is no kind of curve, the word is not its value."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        for place, (word, following) in enumerate(pairwise([*words, ""])):
            if word == "--curve" and following and following not in options.CURVES:
                words = [*words[:place], "--curve=rank", *words[place + 1 :]]
        return super().parse_args(context, words)


@click.command(
    cls=_Score,
    examples=(
        "rulescore score --facts facts.csv --rules family.rules --predictions model.csv",
        "rulescore score rulescore.toml --table models --format latex > models.tex",
    ),
)
@options.setting_options(
    options.PROJECT
    + options.FACTS
    + options.KEYS
    + options.NEGATIVES
    + options.PREDICTIONS
    + options.RULES
    + options.SCORING
    + options.ENGINE
    + options.ALLOWANCE
    + options.TRUTH
    + options.LABELS
)
@options.explain_option
@click.option("--detail", is_flag=True, help="Print everything: every rule for every model, reasons, full warnings.")
@click.option(
    "--table",
    multiple=True,
    callback=_read_table,
    metavar=f"NAME=PATH|{'|'.join(_SHOWN.choices)}",
    help="Print only this table of the result, with all its rows; or a table of data: rows of a file, a folder, SQLite.",
)
@click.option(
    "--columns",
    callback=lambda context, parameter, words: tuple(filter(None, map(str.strip, (words or "").split(",")))),
    metavar="NAME,…",
    help="Print only these columns of the table, in this order: model,mrr,hits_at_10,hard_score. [default table: models]",
)
@click.option("--caption", metavar="TEXT", help="The caption of a table in LaTeX.")
@click.option("--label", metavar="TEXT", help="The label of a table in LaTeX. [default: tab:rulescore-…]")
@click.option(
    "--curve",
    type=click.Choice(options.CURVES),
    is_flag=False,
    flag_value="rank",
    help="Print the scores as a curve: over the rank k, or over a threshold of the predictions' scores.",
)
@options.format_option
@options.output_option
@options.plots_option
@options.report_option
@fail_if_option
@junit_option
@summary_option
@options.quiet_option
def score(
    choice: options.SettingChoice,
    explain: str | None,
    detail: bool,
    table: str | None,
    columns: tuple[str, ...],
    caption: str | None,
    label: str | None,
    curve: str | None,
    form: str,
    output: Path | None,
    plots: Path | None,
    report: Path | None,
    fail_if: tuple[str, ...],
    junit: Path | None,
    summary: Path | None,
    quiet: bool,
) -> None:
    """Score models against rules."""
    from rulescore.cli.setting import COUNTING, DRAWING, load, require_predictions
    from rulescore.session.session import Session
    from rulescore.setting.choices import Deed

    choice = replace(choice, tables=click.get_current_context().meta[_DATA])
    if explain:
        options.refuse_output_choices(explain)
    if curve is not None:
        options.refuse_output_choices("--curve", "--format", "--plots")
        _show_curve(choice, curve, form, plots, quiet=quiet)
        return
    if detail and table is not None:
        raise click.UsageError("`--detail` prints every table: it cannot be combined with `--table`")
    if (caption or label) and form != Format.LATEX:
        raise click.UsageError("`--caption` and `--label` are for `--format latex`")
    if columns and (detail or table == Shown.VIOLATIONS):
        raise click.UsageError(
            f"`--columns` chooses columns of one table: it cannot be combined with `{'--detail' if detail else 'violations'}`"
        )
    look = TableChoice(columns, caption, label)
    said = {deed for deed, folder in ((Deed.OUTPUT, output), (Deed.PLOTS, plots)) if folder is not None}
    chosen = load(choice, COUNTING if explain else DRAWING - said)
    require_predictions(chosen.setting)
    gates = given_gates(chosen.gates, fail_if, junit)
    baselines = read_baselines(gates)
    folder, drawn = output or chosen.output_folder, plots or chosen.plots_folder
    if not explain:
        refuse_folders(folder, drawn)
    with Session(chosen.setting) as session:
        if explain:
            show_explanations(session.explain(), statements=explain == options.EXPLAIN)
            return
        refuse_unknown(gates, session)
        # Contributions are for the folder, and for the intervals of figures and of a report.
        are_read = any(path is not None for path in (folder, drawn, report))
        evaluation = session.evaluate(contributions=None if are_read else False)
        outcomes = judged(gates, evaluation, baselines)
        if table == Shown.VIOLATIONS:
            show_violations(session, Format(form))
        else:
            show(evaluation, form, table=table, detail=detail, gates=outcomes, choice=look)
        tell_warnings = show_warnings if detail else show_folded
        tell_warnings(evaluation.warnings, quiet=quiet)
        if folder is not None:
            from rulescore.reporting.files import write_outputs

            show_written(write_outputs(evaluation, folder, chosen.formats, session.write_contributions), quiet=quiet)
        if drawn is not None:
            draw(evaluation, drawn, quiet=quiet)
        if report is not None:
            from rulescore.report.command import write_report

            write_report(evaluation, session, choice, report, quiet=quiet)
        write_reports(outcomes, evaluation, session, junit, summary)
    conclude(outcomes)


def _show_curve(choice: options.SettingChoice, over: str, form: str, plots: Path | None, *, quiet: bool) -> None:
    from rulescore.cli.setting import COUNTING, load, require_predictions
    from rulescore.reporting.findings import curve_listing
    from rulescore.scoring.curve import CurveOver, curve_points
    from rulescore.session.session import Session
    from rulescore.setting.choices import EVERY_ANSWER

    setting = load(choice, COUNTING).setting
    require_predictions(setting)
    refuse_folders(None, plots)
    if over == CurveOver.RANK:
        models = (replace(prediction, top_k=prediction.top_k or EVERY_ANSWER) for prediction in setting.predictions)
        setting = replace(setting, predictions=tuple(models))
    with Session(setting) as session:
        evaluation = session.evaluate(contributions=True)
    points = curve_points(evaluation, CurveOver(over))
    show(curve_listing(points, CurveOver(over), Format(form)), form)
    show_folded(evaluation.warnings, quiet=quiet, where="`rulescore score --detail`")
    if plots is not None:
        draw_curve(evaluation, plots, CurveOver(over), quiet=quiet)
