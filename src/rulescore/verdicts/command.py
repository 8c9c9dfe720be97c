"""`rulescore judge`: a verdict for every row of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli import options
from rulescore.cli.output import show, show_folded, tell, write
from rulescore.errors.texts import visible

if TYPE_CHECKING:
    # Loading it takes longer than `--help` may.
    from rulescore.verdicts.table import Verdicts


@click.command(
    cls=options.Command,
    examples=(
        "rulescore judge --facts facts.csv --rules checks.rules --predictions llm=answers.jsonl --output judged.jsonl",
        "rulescore judge rulescore.toml --link casefold --skip-bad-rows --output judged.csv",
    ),
)
@options.setting_options(
    options.PROJECT
    + options.FACTS
    + options.TABLES
    + options.NEGATIVES
    + options.PREDICTION_FILES
    + options.RULES
    + options.SCORING
    + options.ALLOWANCE
    + options.ENGINE
)
@click.option(
    "--link",
    default="exact",
    show_default=True,
    metavar="exact|casefold|FILE",
    help="How to link names of predictions to names of facts: exactly, in any case of letters, or by a file of pairs.",
)
@click.option("--all-rules", is_flag=True, help="Give a sentence for every rule that a row breaks.")
@click.option("--skip-bad-rows", is_flag=True, help="List rows that cannot be read as unreadable, and judge the others.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many rows to show.")
@options.file_option("Write all rows to this .csv, .jsonl or .parquet file.")
@options.format_option
@options.quiet_option
def judge(
    choice: options.SettingChoice,
    link: str,
    all_rules: bool,
    skip_bad_rows: bool,
    limit: int,
    output: Path | None,
    form: str,
    quiet: bool,
) -> None:
    """Judge every row of the predictions.

    Gives your rows, in their order and with all their columns, and for each a verdict, the rule and the reason: contradicted,
    supported, not judged, not linked, already known, or unreadable.
    """
    from rulescore.cli.setting import COUNTING, load, require_predictions
    from rulescore.verdicts.judging import judge as judged_rows
    from rulescore.verdicts.listing import counts_listing, rows_listing
    from rulescore.verdicts.table import require_ending, verdicts_table

    if output is not None:
        require_ending(output)
    setting = load(choice, COUNTING).setting
    require_predictions(setting)
    judged = judged_rows(setting, link=link, all_rules=all_rules, skip_bad_rows=skip_bad_rows)
    verdicts = verdicts_table(judged, all_rules=all_rules)
    if output is not None:
        verdicts.write(output, spreadsheet=options.is_for_spreadsheets(click.get_current_context()))
        show(counts_listing(verdicts), form)
        if not quiet:
            tell(visible(f"wrote {len(verdicts):,} rows to {output}"))
    elif form in {"json", "csv"}:
        write(_text(verdicts, form))
    else:
        show(rows_listing(verdicts, limit), form)
    show_folded(judged.evaluation.warnings, quiet=quiet, where="`rulescore check`")


def _text(verdicts: Verdicts, form: str) -> str:
    """The rows for programs; both formats have one row on each line."""
    if form == "json":
        return verdicts.to_jsonl()
    return verdicts.to_csv(spreadsheet=options.is_for_spreadsheets(click.get_current_context()))
