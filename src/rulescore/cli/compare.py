"""`rulescore compare`: two models, or two runs, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.help import Command
from rulescore.cli.options import SettingChoice, format_option, quiet_option
from rulescore.cli.output import appearance, show_warnings
from rulescore.errors import Diagnostic, InputError

if TYPE_CHECKING:
    # Loading it takes longer than `--help` may.
    from rulescore.scoring.evaluation import Evaluation

CODES = {"E510": "nothing is given that could be compared"}

TABLES = ("models", "differences", "rules", "rule_differences", "changes")
_PATH = click.Path(path_type=Path)


@click.command(
    cls=Command,
    examples=(
        "rulescore compare before/ after/",
        "rulescore compare careful careless --project rulescore.toml",
    ),
)
@click.argument("names", nargs=-1, metavar="[A] [B] …")
@click.option("--result", type=_PATH, help="A saved result: A and B are models of it.")
@click.option("--project", type=_PATH, help="A project file to score: A and B are models of it. [default: ./rulescore.toml]")
@click.option("--trust", is_flag=True, help="Let the project file run code, SQL and whatever else it asks for, this once.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model of each result. Repeatable.")
@click.option("--level", type=float, default=0.95, show_default=True, help="How much intervals are to cover.")
@click.option("--draws", type=int, default=1000, show_default=True, help="How often queries are drawn.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Where the random numbers begin.")
@click.option("--table", type=click.Choice(TABLES), help="The table that CSV has. [default: differences or, of one model, models]")
@format_option
@quiet_option
def compare(
    names: tuple[str, ...],
    result: Path | None,
    project: Path | None,
    trust: bool,
    models: tuple[str, ...],
    level: float,
    draws: int,
    seed: int,
    table: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Compare models or runs, with intervals.

    Scores and their differences with intervals, the rules that separate models, and what changed from one run to the next. A and B
    are saved results (what `rulescore score --output` or `result.save` wrote), or else models: of a saved result, or of a project,
    which is scored.
    """
    from rulescore.reporting.comparison import ComparisonTable, render_comparison
    from rulescore.reporting.format import Format
    from rulescore.reporting.saved import load
    from rulescore.scoring.comparison import compare as compared

    second = None
    if result is None and project is None and names and Path(names[0]).exists():
        if len(names) > 2:
            raise click.UsageError("two results are compared at a time")
        first = load(Path(names[0]))
        second = load(Path(names[1])) if len(names) == 2 else None
    else:
        first = load(result) if result is not None else _scored(names, project, trust)
        models = (*names, *models)
    found = compared(first, second, models=models, level=level, draws=draws, seed=seed)
    show_warnings(found.warnings, quiet=quiet)
    look = appearance()
    text = render_comparison(found, Format(form), None if table is None else ComparisonTable(table), appearance=look)
    click.echo(text, nl=False, color=look.colour)


def _scored(names: Sequence[str], project: Path | None, trust: bool) -> Evaluation:
    from rulescore.cli.setting import COUNTING, PROJECT_FILE, load, require_predictions
    from rulescore.evaluate import Session

    if project is None and not PROJECT_FILE.exists():
        raise InputError(_nothing_to_compare(names))
    setting = load(SettingChoice(project_option=project, trust=trust), COUNTING).setting
    require_predictions(setting)
    with Session(setting) as session:
        return session.evaluate(contributions=True)


def _nothing_to_compare(names: Sequence[str]) -> Diagnostic:
    if names:
        shown = ", ".join(f"`{name}`" for name in names)
        message = f"there is no file or folder {shown}, and no project file whose model that could be"
    else:
        message = "nothing is given that could be compared"
    helps = (
        "give two saved results: `rulescore compare before/ after/`; `rulescore score --output before` writes one",
        "or models of one: `rulescore compare careful careless --result before/`",
        "or name a project file with models, which is scored: `rulescore compare --project rulescore.toml`",
    )
    return Diagnostic("E510", message, notes=("without `--project`, `rulescore.toml` is read if it is here",), helps=helps)
