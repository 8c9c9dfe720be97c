"""`rulescore rules`: lists the rules, all or those that pass a filter. Reads no data."""

from __future__ import annotations

from typing import Any

import click

from rulescore.cli.convert import convert
from rulescore.cli.help import Command
from rulescore.cli.options import PROJECT, RULES, SettingChoice, format_option, quiet_option, setting_options
from rulescore.cli.output import show, show_warnings


class RulesCommand(Command):
    """The command `rules`. If its first argument is `convert`, the command `rules convert` runs instead."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["convert"]:
            return convert.make_context(f"{info_name} convert", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(
    cls=RulesCommand,
    examples=(
        "rulescore rules --rules family.rules --predicate wife",
        "rulescore rules rulescore.toml --kind hard --format csv",
    ),
)
@setting_options(PROJECT + RULES)
@click.option("--name", metavar="PATTERN", help="List rules whose name matches; * and ? as in file names.")
@click.option("--tag", multiple=True, help="List rules with this tag; repeat it to ask for several tags at once.")
@click.option("--kind", type=click.Choice(["hard", "soft"]), help="List rules declared hard, or soft.")
@click.option("--predicate", multiple=True, help="List rules that mention this predicate; repeat it to ask for several at once.")
@format_option
@quiet_option
def rules(
    choice: SettingChoice,
    name: str | None,
    tag: tuple[str, ...],
    kind: str | None,
    predicate: tuple[str, ...],
    form: str,
    quiet: bool,
) -> None:
    """List the rules, or convert a rule file.

    `rulescore rules convert FILE --to FORMAT` writes rules for another tool: see `rulescore rules convert --help`.
    """
    from rulescore.cli.rule_filter import RuleFilter, listed_rules
    from rulescore.cli.setting import load_rules
    from rulescore.language.formats.base import TableName
    from rulescore.language.reading import read_rules
    from rulescore.reporting.findings import rules_listing

    wanted = RuleFilter(name, frozenset(tag), kind, frozenset(predicate))
    setting = load_rules(choice)
    reading = read_rules(setting.rules, [TableName(table.name, table.key) for table in setting.tables])
    show_warnings(reading.told, quiet=quiet)
    show(rules_listing(listed_rules(reading.program, setting.sql_rules, setting.scoring, wanted)), form)
