"""`rulescore rules`: the rules there are, filtered. Reads no data."""

from __future__ import annotations

import click

from rulescore.cli.help import Command
from rulescore.cli.options import PROJECT, RULES, SettingChoice, format_option, setting_options
from rulescore.cli.output import show


@click.command(
    cls=Command,
    examples=(
        "rulescore rules --rules family.rules --predicate wife",
        "rulescore rules rulescore.toml --kind hard --format csv",
    ),
)
@setting_options(PROJECT + RULES)
@click.option("--name", metavar="PATTERN", help="Rules whose name matches, with * and ? as in file names.")
@click.option("--tag", multiple=True, help="Rules with this tag; given twice, with both.")
@click.option("--kind", type=click.Choice(["hard", "soft"]), help="Rules declared so.")
@click.option("--predicate", multiple=True, help="Rules that mention this predicate; given twice, both.")
@format_option
def rules(
    choice: SettingChoice, name: str | None, tag: tuple[str, ...], kind: str | None, predicate: tuple[str, ...], form: str
) -> None:
    """List the rules."""
    from rulescore.cli.rule_filter import RuleFilter, listed_rules
    from rulescore.cli.setting import load_rules
    from rulescore.reporting.findings import rules_listing

    wanted = RuleFilter(name, frozenset(tag), kind, frozenset(predicate))
    setting = load_rules(choice)
    show(rules_listing(listed_rules(setting.rules, setting.sql_rules, setting.scoring, wanted)), form)
