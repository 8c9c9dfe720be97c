"""`rulescore compare`: two models, or two runs, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import Command, SettingChoice, format_option, is_for_spreadsheets, quiet_option
from rulescore.cli.output import appearance, put, show_warnings, show_written
from rulescore.errors import Diagnostic, InputError, ticked
from rulescore.reporting.listing import ComparisonTable, Format
from rulescore.setting.choices import OutputFormat

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.comparison.comparing import ComparedResults
    from rulescore.scoring.evaluation import Evaluation


_FORMATS = {
    ".json": OutputFormat.JSON,
    ".csv": OutputFormat.CSV,
    ".parquet": OutputFormat.PARQUET,
    ".md": OutputFormat.MARKDOWN,
    ".tex": OutputFormat.LATEX,
    ".txt": OutputFormat.TABLE,
}

_OF_RULES = {ComparisonTable.RULE_DIFFERENCES, ComparisonTable.CHANGES}
"""The tables that need the rules and changes of each pair."""

_PATH = click.Path(path_type=Path)


@click.command(
    cls=Command,
    examples=(
        "rulescore compare before/ after/",
        "rulescore compare careful careless --project rulescore.toml",
    ),
)
@click.argument("names", nargs=-1, metavar="[A] [B] …")
@click.option("--result", type=_PATH, help="A saved result; A and B name models in it.")
@click.option("--project", type=_PATH, help="A project file to score; A and B name models in it. [default: ./rulescore.toml]")
@click.option("--trust", is_flag=True, help="Trust the project file for this run: it may run code and SQL.")
@click.option(
    "--top-k", type=click.IntRange(min=1), metavar="N", help="If models are scored here, keep the N best answers to each query."
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Compare only this model of each result; repeatable.")
@click.option("--against", metavar="NAME", help="Compare all other models of a result with this one only.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence level of the intervals.")
@click.option("--draws", type=int, default=1000, show_default=True, help="How often the bootstrap draws the queries anew.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The seed of the random numbers.")
@click.option("--table", type=click.Choice([table.value for table in ComparisonTable]), help="Print only this table.")
@format_option
@click.option(
    "-o", "--output", type=_PATH, metavar="FOLDER|FILE", help="Write all tables into this folder, or into a .json, .csv, … file."
)
@click.option("--force", is_flag=True, help="Overwrite the file that `--output` names.")
@quiet_option
def compare(
    names: tuple[str, ...],
    result: Path | None,
    project: Path | None,
    trust: bool,
    top_k: int | None,
    models: tuple[str, ...],
    against: str | None,
    level: float,
    draws: int,
    seed: int,
    table: str | None,
    form: str,
    output: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Compare models or runs, with intervals.

    Prints scores and their differences with intervals, the rules that separate the models, and the changes from one run to the
    next. A and B are saved results, written by `rulescore score --output` or `result.save`. With --result they are models of one
    saved result; with --project, models of a project, which we score first.
    """
    from rulescore.comparison.comparing import compare as compared
    from rulescore.comparison.listings import render_comparison
    from rulescore.reporting.saved import load

    second = None
    saved = result is not None or (project is None and names and Path(names[0]).exists())
    if saved and top_k is not None:
        raise click.UsageError("`--top-k` limits predictions that are scored now: a saved result keeps its own")
    if saved and result is None:
        if len(names) > 2:
            raise click.UsageError("give two saved results at most: `compare` takes two at a time")
        first = load(Path(names[0]))
        second = load(Path(names[1])) if len(names) == 2 else None
    else:
        first = load(result) if result is not None else _scored(names, project, trust, top_k)
        models = (*names, *models)
    if output is not None:
        _refuse(output, force=force)
    chosen = None if table is None else ComparisonTable(table)
    by_rule = output is not None or (form != Format.CSV if chosen is None else chosen in _OF_RULES)
    brief = output is None and chosen is None and form not in {Format.JSON, Format.CSV}
    comparison = compared(
        first, second, models=models, against=against, level=level, draws=draws, seed=seed, by_rule=by_rule, brief=brief
    )
    show_warnings(comparison.warnings, quiet=quiet)
    spreadsheet = is_for_spreadsheets(click.get_current_context())
    if output is not None:
        show_written(_write(comparison, output, chosen, spreadsheet), quiet=quiet)
        return
    look = appearance()
    text = render_comparison(comparison, Format(form), chosen, appearance=look, spreadsheet=spreadsheet)
    put(text, form, look)


def _refuse(output: Path, *, force: bool) -> None:
    """Raises an error before we count if the output could not be written afterwards."""
    from rulescore.reporting.files import refuse_unswappable, require_absent

    if not output.suffix or output.is_dir():
        refuse_unswappable(output)
        return
    if output.suffix not in _FORMATS:
        helps = (f"end its name with {ticked(_FORMATS)}, or name a folder",)
        raise InputError(Diagnostic("E602", f"`{output}` has no ending that names a format for comparisons", helps=helps))
    if not force:
        require_absent(output)


def _write(comparison: ComparedResults, output: Path, table: ComparisonTable | None, spreadsheet: bool) -> Sequence[Path]:
    from rulescore.comparison.listings import comparison_file, write_comparison
    from rulescore.reporting.files import write_files

    if not output.suffix or output.is_dir():
        return write_comparison(comparison, output, spreadsheet=spreadsheet)
    content = comparison_file(comparison, _FORMATS[output.suffix], table, spreadsheet=spreadsheet)
    return write_files(output.parent, {output.name: content})


def _scored(names: Sequence[str], project: Path | None, trust: bool, top_k: int | None) -> Evaluation:
    from rulescore.cli.setting import COUNTING, PROJECT_FILE, load, require_predictions
    from rulescore.session.session import Session

    paths = [name for name in names if Path(name).name != name or Path(name).suffix in _FORMATS]
    if project is None and (paths or not PROJECT_FILE.exists()):
        raise InputError(_nothing_to_compare(paths or names))
    options = {} if top_k is None else {"top_k": top_k}
    setting = load(SettingChoice(project_option=project, trust=trust, options=options), COUNTING).setting
    require_predictions(setting)
    with Session(setting) as session:
        return session.evaluate(contributions=True)


def _nothing_to_compare(names: Sequence[str]) -> Diagnostic:
    if names:
        shown = ticked(names)
        message = f"there is no saved result {shown}"
    else:
        message = "there is nothing to compare"
    helps = (
        "give two saved results: `rulescore compare before/ after/`; `rulescore score --output before` writes one",
        "or models of one: `rulescore compare careful careless --result before/`",
        "or name a project file, whose models are then scored: `rulescore compare --project rulescore.toml`",
    )
    return Diagnostic("E507", message, notes=("without `--project`, we read `rulescore.toml` if this folder has one",), helps=helps)
