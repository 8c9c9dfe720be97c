"""`rulescore check`: rules and data, no scoring."""

from __future__ import annotations

import click

from rulescore.cli.options import ALL, SettingChoice, format_option, quiet_option, setting_options
from rulescore.cli.output import show, show_warnings


@click.command()
@setting_options(ALL)
@format_option
@quiet_option
def check(choice: SettingChoice, form: str, quiet: bool) -> None:
    """Check rules and data without scoring, and say what was read."""
    from rulescore.cli.setting import LOOKING, load
    from rulescore.evaluate import Session
    from rulescore.reporting.findings import check_listing

    setting = load(choice, LOOKING).setting
    with Session(setting) as session:
        listing = check_listing(session.summary, len(session.rules), session.predictions)
        show_warnings([*session.warnings, *session.told_pairs], quiet=quiet)
    show(listing, form)
