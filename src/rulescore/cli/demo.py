"""`rulescore demo`: a first look, on data made on the spot."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.output import show
from rulescore.reporting.cells import UNDEFINED, shown
from rulescore.reporting.format import Format
from rulescore.reporting.listing import Cell, CellKind, Column, Listing

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.demo import Demo, Triple
    from rulescore.scoring.results import Counts, ModelResult, RuleResult

_WIDEST_TEXT = 100


@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("rulescore-demo"),
    show_default=True,
    help="Where the data and the results are written.",
)
def demo(folder: Path) -> None:
    """Score the smallest example there is, then three models of a generated family."""
    from rulescore.demo import run

    found = run(folder)
    _show_motivating_example(found)
    _show_kinship(found)
    _show_files(found)


def _show_motivating_example(found: Demo) -> None:
    from rulescore.demo import MOTIVATING_FACTS, MOTIVATING_PREDICTIONS, MOTIVATING_RULE
    from rulescore.reporting.tables import measure_cell

    _heading("1. Two answers and one rule")
    _say(f"We know {', '.join(_fact(fact) for fact in MOTIVATING_FACTS)}. One rule says that nobody marries a sibling:")
    click.echo(f"    {MOTIVATING_RULE}\n")
    columns = (Column("model", "model"), Column("prediction", "prediction"), Column("hard_score", "hard score", CellKind.SCORE))
    models = found.motivating.model_results
    rows = tuple((model.name, _fact(MOTIVATING_PREDICTIONS[model.name]), measure_cell(model.hard_score)) for model in models)
    _show(Listing("models", "Two models", columns, rows))
    _say(
        "Alice is Daniel's sister, so the second prediction violates the rule, and its score counts one violation. Nobody "
        "had to know whom Alice is really married to: the score needs facts and rules, and no right answers."
    )


def _show_kinship(found: Demo) -> None:
    graph = found.graph
    generations = len({person.generation for person in graph.people})
    _heading("2. A family and three models")
    _say(
        f"A made-up family: {len(graph.people):,} people of {generations} generations. {len(graph.observed):,} facts are "
        f"observed; {len(graph.held_out):,} are held out and asked for, as in “who is the aunt of …?”. Three models answer:"
    )
    _points(
        "careful: where it is wrong, it names a stranger of the right sex and age",
        "gender-blind: where it is wrong, it names the uncle for the aunt, the son for the daughter",
        "reckless: where it is wrong, it names anybody at all",
    )
    _show(_models_listing(found))
    _say(_lesson(found))
    _show(_rules_listing(found))
    _say(
        "“2 of 30” are 2 violations in 30 groundings of the rule that can be judged; – says that there are none. A hard rule, "
        "which the observed facts never violate, scores its violations, and the hard score is their mean over the hard rules. "
        "A soft rule has exceptions: some of the widowed married a brother or a sister of the one they lost. It scores the "
        "model's rate divided by that of the observed facts, so that 1 is as often as the facts themselves. The soft score "
        "weighs these by each rule's share of all groundings, hard rules included; the soft mean by its share among soft rules."
    )


def _lesson(found: Demo) -> str:
    careful, gender_blind, reckless = (shown(model.hard_score.value, CellKind.SCORE) for model in found.kinship.model_results)
    right = {model: f"{accuracy.share:.0%}" for model, accuracy in found.accuracies.items()}
    return (
        f"Accuracy cannot tell careful from gender-blind: both are right {right['careful']} of the time, at the very same "
        f"queries. The rules can: the hard scores are {careful} and {gender_blind}. And reckless, right only "
        f"{right['reckless']} of the time, breaks the rules less than gender-blind does, with {reckless}: how often a model is "
        "right and how far it respects rules are two questions."
    )


def _show_files(found: Demo) -> None:
    project = click.format_filename(found.project)
    _heading("3. The same from files")
    _say(
        f"Facts, rules, predictions and results are in {click.format_filename(found.project.parent)}. From them the first of "
        "these commands makes the same scores again, the others show more:"
    )
    click.echo(f"  rulescore score {project}")
    click.echo(f"  rulescore audit {project}")
    click.echo(f"  rulescore violations {project} --model gender-blind --rule niece_by_brother")


def _models_listing(found: Demo) -> Listing:
    columns = (
        Column("model", "model"),
        Column("queries", "queries", CellKind.COUNT),
        Column("right", "right", CellKind.COUNT),
        Column("accuracy", "accuracy", CellKind.RATE),
        Column("violating", "violating a hard rule", CellKind.COUNT),
        Column("hard_score", "hard score", CellKind.SCORE),
        Column("soft_score", "soft score", CellKind.SCORE),
        Column("soft_mean", "soft mean", CellKind.SCORE),
    )
    rows = tuple(_model_row(found, model) for model in found.kinship.model_results)
    return Listing("models", "Accuracy and rule violation scores", columns, rows)


def _model_row(found: Demo, model: ModelResult) -> tuple[Cell, ...]:
    from rulescore.reporting.tables import measure_cell, violating_cell

    accuracy = found.accuracies[model.name]
    scores = (measure_cell(measure) for measure in (model.hard_score, model.soft_score, model.soft_mean))
    violating = violating_cell(model, found.kinship.rule_results)
    return model.name, accuracy.queries, accuracy.right, accuracy.share, violating, *scores


def _rules_listing(found: Demo) -> Listing:
    """Rules in their order, hard ones first: violations in the observed facts and under each model."""
    models = [model.name for model in found.kinship.model_results]
    columns = (Column("rule", "rule"), Column("kind", "kind"), *(Column(name, name) for name in ("observed", *models)))
    ordered = sorted(found.kinship.rule_results, key=lambda rule: rule.kind)
    return Listing("rules", "Violations of each rule", columns, tuple(_rule_row(rule) for rule in ordered))


def _rule_row(rule: RuleResult) -> tuple[Cell, ...]:
    counts = (rule.dataset, *(found.counts for found in rule.models.values()))
    return rule.info.name, rule.kind.value, *(_violations(count) for count in counts)


def _violations(counts: Counts) -> str:
    return f"{counts.refuted:>3,} of {counts.evaluable:>3,}" if counts.evaluable else f"{UNDEFINED:>3}"


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
