"""`rulescore rerank`: moves answers that some reason forbids behind the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import ALL, TRUTH, Command, SettingChoice, file_option, format_option, quiet_option, setting_options
from rulescore.cli.output import show, tell, write

if TYPE_CHECKING:
    # Loading it takes longer than `--help` may.
    from rulescore.mending.lists import Lists

_PATH = click.Path(path_type=Path)
_REASONS = ("breaks a rule", "pair is taken", "contradicts a conclusion", "reflexive")


@click.command(
    cls=Command,
    examples=(
        "rulescore rerank --facts train.txt --rules family.rules --predictions top10.tsv --truth test.txt --output better.tsv",
    ),
)
@setting_options(ALL + TRUTH)
@click.option(
    "--reason", "reasons", multiple=True, type=click.Choice(_REASONS), help="Move for this reason alone; repeatable. [default: all]"
)
@click.option("--valid", type=_PATH, metavar="FACTS", help="True facts that are not observed, to count the price with.")
@click.option(
    "--tune", type=_PATH, metavar="LISTS", help="Answers to validation queries: they tune a penalty by which soft rules count, too."
)
@click.option("--promote", is_flag=True, help="Put conclusions of hard rules first.")
@click.option(
    "--trust-declared", is_flag=True, help="Treat rules as hard if they are declared hard, even if the data contradict them."
)
@file_option("Write the lists to this file, in the layout in which they came.")
@format_option
@quiet_option
def rerank(
    choice: SettingChoice,
    reasons: tuple[str, ...],
    valid: Path | None,
    tune: Path | None,
    promote: bool,
    trust_declared: bool,
    output: Path | None,
    form: str,
    quiet: bool,
) -> None:
    """Move answers that rules speak against to the end.

    Reads the ranked answers of one model, prints the price first and then the figures before and after, and writes the lists.
    """
    from rulescore.cli.setting import COUNTING, load, require_predictions
    from rulescore.mending.rerank import rerank as reranked
    from rulescore.mending.shown import reranked_listing

    setting = load(choice, COUNTING).setting
    require_predictions(setting)
    outcome = reranked(
        replace(setting, predictions=()),
        _lists(choice),
        reasons=reasons or _REASONS,
        valid=None if valid is None else str(valid),
        tune=None if tune is None else _read(tune, choice),
        promote=promote,
        trust_declared=trust_declared,
    )
    if output is not None:
        outcome.lists.write(output)
        if not quiet:
            tell(f"wrote {outcome.lists.rows.num_rows:,} answers to {output}")
    if form == "table":
        sentences = [*outcome.price.sentences(), *outcome.penalty.sentences()]
        write("".join(f"{sentence}\n" for sentence in sentences) + "\n")
    show(reranked_listing(outcome), form)


def _lists(choice: SettingChoice) -> Lists:
    from rulescore.readers.sources import files_by_model

    files = [path for paths in files_by_model(choice.predictions).values() for path in paths]
    if len(files) != 1:
        raise click.UsageError("give one file of lists: `--predictions LISTS`")
    return _read(files[0], choice)


def _read(path: str | Path, choice: SettingChoice) -> Lists:
    from rulescore.cli.setting import columns_of, delimiter_of
    from rulescore.mending.list_files import read_lists
    from rulescore.setting.model import FactFile

    form, header = choice.predictions_format, choice.options.get("header")
    return read_lists(FactFile(path, format=form, delimiter=delimiter_of(choice), header=header, columns=columns_of(choice)))
