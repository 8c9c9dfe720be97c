"""`rulescore incompatibilities`: pairs of predicates that never meet, as a rule file."""

from __future__ import annotations

from pathlib import Path

import click

from rulescore.cli.options import ENGINE, FACTS, PROJECT, SettingChoice, quiet_option, setting_options
from rulescore.cli.output import show
from rulescore.reporting.format import Format


@click.command()
@setting_options(PROJECT + FACTS + ENGINE)
@click.option("--all", "with_meeting", is_flag=True, help="Also list the pairs that do meet: as comments in a rule file.")
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
def incompatibilities(choice: SettingChoice, with_meeting: bool, form: str, output: Path | None, force: bool, quiet: bool) -> None:
    """Write the pairs of predicates that share no tuple of the observed facts, as an editable rule file."""
    from rulescore.cli.setting import load_facts
    from rulescore.evaluate import Session
    from rulescore.reporting.files import require_absent, write_files
    from rulescore.reporting.findings import incompatibilities_listing
    from rulescore.reporting.rulefile import incompatibilities_text

    if output is not None and form != "rules":
        raise click.UsageError("`--output` takes a rule file: it cannot be combined with another `--format`")
    if output is not None and not force:
        require_absent(output)
    with Session(load_facts(choice)) as session:
        pairs = session.incompatibilities()
    if form != "rules":
        show(incompatibilities_listing(pair for pair in pairs if with_meeting or not pair.together), form)
        return
    text = incompatibilities_text(pairs, with_meeting=with_meeting)
    if output is None:
        click.echo(text, nl=False)
        return
    write_files(output.parent, {output.name: text})
    if not quiet:
        click.echo(f"wrote {output}", err=True)
