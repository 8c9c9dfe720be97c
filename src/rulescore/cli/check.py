"""`rulescore check`: rules and data, no scoring."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from rulescore.cli.gates import given_gates, refuse_unknown
from rulescore.cli.help import Command
from rulescore.cli.options import ALL, SettingChoice, format_option, quiet_option, setting_options
from rulescore.cli.output import show, show_warnings


@click.command(
    cls=Command,
    examples=(
        "rulescore check --facts facts.csv --rules family.rules",
        "rulescore check rulescore.toml --format json",
    ),
)
@setting_options(ALL)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--rules-only", is_flag=True, help="Check rule files without data. Every file named is a rule file.")
@format_option
@quiet_option
def check(choice: SettingChoice, files: tuple[Path, ...], rules_only: bool, form: str, quiet: bool) -> None:
    """Check rules and data; score nothing."""
    if rules_only:
        first = () if choice.project is None else (choice.project,)
        others = {name for name in choice.options if name != "rules_format"}
        if others or replace(choice, project=None, rules=(), options={}) != SettingChoice():
            raise click.UsageError("`--rules-only` reads whole rule files and nothing else: leave out the other options")
        _check_rule_files((*first, *files, *choice.rules), choice.options.get("rules_format"), form, quiet=quiet)
        return
    if files:
        raise click.UsageError(f"`{files[0]}` is one file too many: give `--rules-only` to check rule files without data")
    from rulescore.cli.setting import LOOKING, load
    from rulescore.evaluate import Session
    from rulescore.reporting.findings import check_listing

    chosen = load(choice, LOOKING)
    gates = given_gates(chosen.gates)
    with Session(chosen.setting) as session:
        refuse_unknown(gates, session)
        listing = check_listing(session.summary, len(session.rules), session.predictions)
        # Some warnings come from counts over the data, which may need functions, and this command calls none.
        warnings = [*session.warnings, *session.told_pairs] if session.setting.functions else session.audit().warnings
    show(listing, form)
    show_warnings(warnings, quiet=quiet)


def _check_rule_files(files: tuple[Path, ...], written_in: str | None, form: str, *, quiet: bool) -> None:
    if not files:
        raise click.UsageError("`--rules-only` needs the names of rule files: give at least one")
    from rulescore.arguments.rule_sources import RuleFile, rule_sources
    from rulescore.logic.rule_files import check_rule_files
    from rulescore.reporting.findings import rule_files_listing

    rules, warnings = check_rule_files(rule_sources([RuleFile(file, written_in) for file in files]))
    show(rule_files_listing(len(files), rules), form)
    show_warnings(warnings, quiet=quiet)
