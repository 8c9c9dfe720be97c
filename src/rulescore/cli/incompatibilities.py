"""`rulescore incompatibilities`: pairs of predicates that never or hardly ever meet, as a rule file."""

from __future__ import annotations

from pathlib import Path

import click

from rulescore.cli.options import ENGINE, FACTS, PROJECT, SettingChoice, quiet_option, setting_options
from rulescore.cli.output import show
from rulescore.reporting.format import Format


@click.command()
@setting_options(PROJECT + FACTS + ENGINE)
@click.option(
    "--at-most", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Pairs that meet no more than N times."
)
@click.option(
    "--min-expected",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    metavar="X",
    help="Pairs that would be expected to meet X times or more.",
)
@click.option("--all", "with_others", is_flag=True, help="Also list the other pairs: as comments in a rule file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["rules", *(form.value for form in Format)]),
    default="rules",
    show_default=True,
    help="A rule file, or how the pairs are printed.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the rule file here.")
@click.option("--force", is_flag=True, help="Overwrite the file that `--output` names.")
@quiet_option
def incompatibilities(
    choice: SettingChoice,
    at_most: int,
    min_expected: float,
    with_others: bool,
    form: str,
    output: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write the pairs of predicates that share no tuple of the observed facts, or hardly any, as an editable rule file.

    The most surprising pairs come first.
    """
    from rulescore.cli.setting import load_facts
    from rulescore.evaluate import Session
    from rulescore.reporting.files import require_absent, write_files
    from rulescore.reporting.findings import incompatibilities_listing
    from rulescore.reporting.rulefile import incompatibilities_text
    from rulescore.scoring.pairs import by_surprise

    if output is not None and form != "rules":
        raise click.UsageError("`--output` takes a rule file: it cannot be combined with another `--format`")
    if output is not None and not force:
        require_absent(output)
    with Session(load_facts(choice)) as session:
        found = by_surprise(session.incompatibilities())
    wanted = [pair.together <= at_most and pair.expected >= min_expected for pair in found]
    pairs = [pair for pair, one in zip(found, wanted, strict=True) if one]
    if form != "rules":
        show(incompatibilities_listing(found if with_others else pairs), form)
        return
    others = [pair for pair, one in zip(found, wanted, strict=True) if with_others and not one]
    text = incompatibilities_text(pairs, others, at_most=at_most)
    if output is None:
        click.echo(text, nl=False)
        return
    write_files(output.parent, {output.name: text})
    if not quiet:
        click.echo(f"wrote {output}", err=True)
