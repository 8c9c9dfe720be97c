"""`rulescore report`: writes one HTML file about a project, a saved result, or two saved results."""

from __future__ import annotations

import shlex
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rulescore.cli.options import ALL, ALLOWANCE, LABELS, TRUTH, Command, SettingChoice, quiet_option, setting_options
from rulescore.cli.output import show_folded, show_written
from rulescore.errors import masked

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.report.make import Report, ReportChoice
    from rulescore.scoring.evaluation import Evaluation
    from rulescore.session.session import Session

_PATH = click.Path(path_type=Path)
_PROJECT_FILE = Path("rulescore.toml")


@click.command(
    cls=Command,
    examples=(
        "rulescore report rulescore.toml --output report.html",
        "rulescore report before/ after/ --output changes.html",
    ),
)
@setting_options(ALL + ALLOWANCE + TRUTH + LABELS)
@click.argument("later", required=False, type=_PATH)
@click.option(
    "-o", "--output", type=_PATH, default="report.html", show_default=True, metavar="FILE", help="Write the report to this file."
)
@click.option(
    "--rows", type=click.IntRange(min=0), default=20_000, show_default=True, help="Show at most N violations in the report."
)
@click.option("--title", metavar="TEXT", help="The title of the report.")
@click.option("--open", "opens", is_flag=True, help="Open the report in the browser.")
@quiet_option
def report(
    choice: SettingChoice,
    later: Path | None,
    output: Path,
    rows: int,
    title: str | None,
    opens: bool,
    quiet: bool,
) -> None:
    """Write a report: one HTML file that opens anywhere.

    Says who breaks which rules, whether it matters, and shows violations. PROJECT is a project file, or the folder or file of a
    saved result; with two saved results, the report says what changed from the first to the second.
    """
    from rulescore.readers.labels import labels_of
    from rulescore.report.make import ReportChoice

    chosen = ReportChoice(title, rows, labels_of(choice.labels), setting_words(choice), _report_words(choice))
    if later is not None:
        made = _of_two(choice, later, chosen)
    elif choice.project is not None and _is_saved(choice.project):
        made = _of_saved(choice.project, chosen)
    else:
        made = _scored(choice, chosen, quiet=quiet)
    written = made.save(output)
    if not quiet:
        show_written([written], quiet=quiet)
    if opens:
        webbrowser.open(written.resolve().as_uri())


def _is_saved(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".json"


def _of_saved(path: Path, chosen: ReportChoice) -> Report:
    from rulescore.report.make import report_of
    from rulescore.reporting.saved import load

    return report_of(load(path), None, chosen)


def _of_two(choice: SettingChoice, later: Path, chosen: ReportChoice) -> Report:
    from rulescore.report.two_runs import report_of_two
    from rulescore.reporting.saved import load

    if choice.project is None or not _is_saved(choice.project):
        raise click.UsageError("to compare two results, give the folder or the file of each saved one")
    title = chosen.title or f"From {choice.project.name} to {later.name}"
    return report_of_two(load(choice.project), load(later), replace(chosen, title=title))


def _scored(choice: SettingChoice, chosen: ReportChoice, *, quiet: bool) -> Report:
    from rulescore.cli.setting import COUNTING, load
    from rulescore.report.make import report_of
    from rulescore.session.session import Session

    with Session(load(choice, COUNTING).setting) as session:
        evaluation: Evaluation = session.evaluate() if session.predictions else session.audit()
        made = report_of(evaluation, session, chosen)
    show_folded(evaluation.warnings, quiet=quiet, where="the report")
    return made


def write_report(evaluation: Evaluation, session: Session, choice: SettingChoice, path: Path, *, quiet: bool) -> None:
    """Write the report of an evaluation while its session is open."""
    from rulescore.report.make import ReportChoice, report_of

    written = report_of(evaluation, session, ReportChoice(source=setting_words(choice), more=_report_words(choice))).save(path)
    show_written([written], quiet=quiet)


def setting_words(choice: SettingChoice) -> str:
    """The words that name the same setting on a command line."""
    words = [str(path) for path in (choice.project, choice.project_option) if path is not None]
    for name in ("facts", "tables", "keys", "targets", "negatives", "predictions", "rules", "labels"):
        words += _words(_SINGULAR.get(name, name), getattr(choice, name))
    for name in ("facts_format", "predictions_format", "predictions_columns"):
        words += _words(name, getattr(choice, name))
    words += [word for name, value in choice.options.items() if name != _ALLOWANCE for word in _words(name, value)]
    return shlex.join(words) or str(_PROJECT_FILE)


def _report_words(choice: SettingChoice) -> str:
    """The words that `report` takes in addition, and `violations` does not."""
    words = [word for name in ("truth", "domains") for word in _words(name, getattr(choice, name))]
    return shlex.join([*words, *_words(_ALLOWANCE, choice.options.get(_ALLOWANCE))])


_ALLOWANCE = "allow_unrefutable"
_SINGULAR = {"tables": "table", "keys": "key", "targets": "target"}


def _words(name: str, value: Any) -> list[str]:
    """An option with its value, as often as it has values; nothing if it was not given."""
    match value:
        case None:
            return []
        case bool():
            return [_flag(name) if value else _flag(f"no_{name}")]
        case tuple():
            return [word for part in value for word in (_flag(name), masked(str(part)))]
        case _:
            return [_flag(name), masked(str(value))]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
