"""`rulescore incompatibilities`: pairs of predicates that share no tuple, or hardly any, as a rule file."""

from __future__ import annotations

from pathlib import Path

import click

from rulescore.cli.options import ENGINE, FACTS, PROJECT, Command, SettingChoice, file_option, quiet_option, setting_options
from rulescore.cli.output import save, show, write
from rulescore.reporting.listing import Format


@click.command(
    cls=Command,
    examples=(
        "rulescore incompatibilities --facts facts.csv --output pairs.rules",
        "rulescore incompatibilities rulescore.toml --all --format csv",
    ),
)
@setting_options(PROJECT + FACTS + ENGINE)
@click.option(
    "--at-most",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Take pairs that share at most N tuples.",
)
@click.option(
    "--min-expected",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    metavar="X",
    help="Take pairs expected by chance to share X tuples or more.",
)
@click.option("--all", "with_others", is_flag=True, help="Also list all other pairs; in a rule file, as comments.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["rules", *(form.value for form in Format)]),
    default="rules",
    show_default=True,
    help="Print a rule file, or the pairs in this format.",
)
@file_option("Write the rule file here.")
@quiet_option
def incompatibilities(
    choice: SettingChoice,
    at_most: int,
    min_expected: float,
    with_others: bool,
    form: str,
    output: Path | None,
    quiet: bool,
) -> None:
    """Find pairs of predicates that never meet.

    Two predicates meet if some tuple has an observed fact of each. Writes the pairs that share no tuple, or hardly any, as a rule
    file for you to edit, the most surprising pairs first.
    """
    from rulescore.cli.setting import load_facts
    from rulescore.reporting.audit import incompatibilities_text
    from rulescore.reporting.findings import incompatibilities_listing
    from rulescore.scoring.pairs import by_surprise
    from rulescore.session.session import Session

    if output is not None and form != "rules":
        raise click.UsageError("`--output` writes a rule file: it cannot be combined with another `--format`")
    with Session(load_facts(choice)) as session:
        surprising = by_surprise(session.incompatibilities())
    wanted = [pair.together <= at_most and pair.expected >= min_expected for pair in surprising]
    pairs = [pair for pair, is_wanted in zip(surprising, wanted, strict=True) if is_wanted]
    if form != "rules":
        show(incompatibilities_listing(surprising if with_others else pairs), form)
        return
    others = [pair for pair, is_wanted in zip(surprising, wanted, strict=True) if with_others and not is_wanted]
    text = incompatibilities_text(pairs, others, at_most=at_most)
    if output is None:
        write(text)
    else:
        save(text, output, quiet=quiet)
