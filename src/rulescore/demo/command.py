"""`rulescore demo`: a first look at the package, on data of its own."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import Command
from rulescore.cli.output import show
from rulescore.reporting.listing import CellKind, Column, Format, Listing, shown

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.demo.files import Demo, Triple
    from rulescore.reporting.short import Beside

_WIDEST_TEXT = 100


@click.command(cls=Command, examples=("rulescore demo", "rulescore demo --folder first-look"))
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("rulescore-demo"),
    show_default=True,
    help="The folder for the data and the results.",
)
def demo(folder: Path) -> None:
    """Show the scores of example models on data of its own."""
    from rulescore.demo.files import run

    outcome = run(folder)
    _show_motivating_example(outcome)
    _show_kinship(outcome)
    _show_files(outcome)


def _show_motivating_example(outcome: Demo) -> None:
    from rulescore.demo.files import MOTIVATING_FACTS, MOTIVATING_PREDICTIONS, MOTIVATING_RULE
    from rulescore.reporting.tables import measure_cell

    _heading("1. Two answers and one rule")
    _say(f"We know {', '.join(_fact(fact) for fact in MOTIVATING_FACTS)}. One rule says that nobody marries a sibling:")
    click.echo(f"    {MOTIVATING_RULE}\n")
    columns = (Column("model", "model"), Column("prediction", "prediction"), Column("hard_score", "RVS hard", CellKind.SCORE))
    models = outcome.motivating.model_results
    rows = tuple((model.name, _fact(MOTIVATING_PREDICTIONS[model.name]), measure_cell(model.hard_score)) for model in models)
    _show(Listing("models", "Two models", columns, rows))
    _say(
        "Alice is Daniel's sister, so the second prediction violates the rule, and its score counts one violation. Nobody "
        "had to know whom Alice is really married to: the score needs facts and rules, but no right answers."
    )


def _show_kinship(outcome: Demo) -> None:
    from rulescore.reporting.short import short_listings

    people = {name for head, _, tail in (*outcome.observed, *outcome.held_out) for name in (head, tail)}
    _heading("2. A family and three models")
    _say(
        f"A made-up family: {len(people):,} people of 4 generations. {len(outcome.observed):,} facts are "
        f"observed, {len(outcome.held_out):,} are held out. Each held-out fact is a query such as “who is the aunt of …?”. Three "
        "models answer:"
    )
    _points(
        "careful: if it is wrong, it names a stranger of the right sex and age",
        "gender-blind: if it is wrong, it names the uncle for the aunt, the son for the daughter",
        "reckless: if it is wrong, it names anybody at all",
    )
    rules, models, _ = short_listings(outcome.kinship, _accuracy(outcome))
    _show(models)
    _say(_lesson(outcome))
    _show(replace(rules, lead=()))
    _say(
        "A hard rule is one that the observed facts never violate. A soft rule has exceptions: some widowed people married a "
        "brother or a sister of the person they lost. `rulescore score` prints these tables for your own data."
    )


def _lesson(outcome: Demo) -> str:
    careful, gender_blind, reckless = (shown(model.hard_score.value, CellKind.SCORE) for model in outcome.kinship.model_results)
    right = {model: f"{accuracy.share:.0%}" for model, accuracy in outcome.accuracies.items()}
    return (
        f"Accuracy cannot tell careful from gender-blind: both are right {right['careful']} of the time, at the very same "
        f"queries. The rules can: RVS hard is {careful} and {gender_blind}. And reckless, right only "
        f"{right['reckless']} of the time, breaks the rules less than gender-blind does, with {reckless}. How often a model is "
        "right and how far it respects rules are two questions."
    )


def _show_files(outcome: Demo) -> None:
    project = click.format_filename(outcome.project)
    folder = click.format_filename(outcome.project.parent)
    _heading("3. The same from files")
    _say(
        f"Facts, rules, predictions and results are in {folder}. The first of these commands "
        "computes the same scores from those files; the others show more:"
    )
    click.echo(f"  rulescore score {project}")
    click.echo(f"  rulescore audit {project}")
    click.echo(f"  rulescore violations {project} --model gender-blind --rule niece_by_brother")


def _accuracy(outcome: Demo) -> tuple[Beside, ...]:
    """A column that only the demo adds to the table of models: the demo knows the right answers."""
    from rulescore.reporting.short import Beside

    shares = {model: accuracy.share for model, accuracy in outcome.accuracies.items()}
    return (Beside(Column("accuracy", "accuracy", CellKind.RATE), shares),)


def _fact(triple: Triple) -> str:
    head, relation, tail = triple
    return f"{relation}({head}, {tail})"


def _heading(text: str) -> None:
    click.echo(f"{text}\n{'─' * len(text)}")


def _say(text: str) -> None:
    click.echo(textwrap.fill(text, _text_width(), break_on_hyphens=False) + "\n")


def _points(*texts: str) -> None:
    for text in texts:
        click.echo(textwrap.fill(text, _text_width(), initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False))
    click.echo()


def _show(listing: Listing) -> None:
    show(listing, Format.TABLE)
    click.echo()


def _text_width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST_TEXT)
