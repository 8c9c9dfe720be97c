"""`rulescore rules convert`: writes a rule file in another format."""

from __future__ import annotations

from pathlib import Path

import click

from rulescore.cli.help import Command
from rulescore.cli.options import RULE_CHOICES, RULE_FORMATS, SettingChoice, quiet_option, setting_options
from rulescore.cli.output import show_warnings, tell, write

WRITTEN_FORMATS = ("rulescore", "anyburl", "mln", "uniker")


@click.command(
    cls=Command,
    examples=(
        "rulescore rules convert family.rules.gz --to rulescore --min-confidence 0.5",
        "rulescore rules convert family.rules --to uniker --output MLN_rule.txt",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "source", type=click.Choice(RULE_FORMATS), metavar="NAME", help="The format of FILE. [default: by content]")
@click.option("--to", "target", type=click.Choice(WRITTEN_FORMATS), required=True, help="The format to write.")
@setting_options(RULE_CHOICES)
@click.option("--table", metavar="NAME", help="The table of denial constraints from HoloClean or Desbordante.")
@click.option("--key", multiple=True, metavar="COLUMN", help="A key column of that table; repeatable.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="The file to write. [default: stdout]")
@click.option("--force", is_flag=True, help="Overwrite the file that `--output` names.")
@quiet_option
def convert(
    file: Path,
    source: str | None,
    target: str,
    choice: SettingChoice,
    table: str | None,
    key: tuple[str, ...],
    output: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write the rules of FILE in another format.

    If a rule does not fit that format, writes nothing and names each such rule with the reason.
    """
    from rulescore.arguments.rule_sources import RuleFile, rule_sources
    from rulescore.characters import visible
    from rulescore.language.formats.base import TableName
    from rulescore.language.formats.names import FormatName
    from rulescore.language.formats.writing import converted
    from rulescore.language.reading import read_rules
    from rulescore.reporting.files import require_absent, write_files

    if (table is None) != (not key):
        raise click.UsageError("`--table` and `--key` belong together: give both or neither")
    if output is not None and not force:
        require_absent(output)
    wanted = RuleFile(file, source, **choice.options)
    reading = read_rules(rule_sources(wanted), [] if table is None else [TableName(table, key)])
    text, told = converted(reading.program, FormatName(target))
    show_warnings([*reading.told, *told], quiet=quiet)
    if output is None:
        write(text)
        return
    write_files(output.parent, {output.name: text})
    if not quiet:
        tell(visible(f"wrote {len(reading.program.rules):,} rules to {output}"))
