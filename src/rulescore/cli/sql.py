"""`rulescore sql`: the statement a rule becomes."""

from __future__ import annotations

import click

from rulescore.cli.options import ALL, SettingChoice, setting_options


@click.command()
@click.argument("rule")
@setting_options(ALL)
def sql(rule: str, choice: SettingChoice) -> None:
    """Print the statement that counts the groundings of RULE, a rule's name."""
    from rulescore.cli.setting import load, require_rule
    from rulescore.evaluate import Session

    with Session(load(choice).setting) as session:
        require_rule(rule, [info.name for info in session.rules])
        click.echo(session.statement(rule))
