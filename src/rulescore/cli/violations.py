"""`rulescore violations`: the groundings behind a count."""

from __future__ import annotations

import click

from rulescore.cli.options import ALL, SettingChoice, format_option, quiet_option, setting_options
from rulescore.cli.output import show, show_warnings


@click.command()
@setting_options(ALL)
@click.option("--rule", metavar="NAME", help="Violations of this rule only.")
@click.option("--model", metavar="NAME", help="Violations that this model's predictions take part in.")
@click.option("--dataset", is_flag=True, help="Violations in the observed facts.")
@click.option("--prediction", metavar="ATOM", help='Violations that one prediction takes part in: "wife(alice, daniel)".')
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many are shown.")
@format_option
@quiet_option
def violations(
    choice: SettingChoice,
    rule: str | None,
    model: str | None,
    dataset: bool,
    prediction: str | None,
    limit: int,
    form: str,
    quiet: bool,
) -> None:
    """Show violations: rule, grounding, prediction and its roles, body, head and what refutes it."""
    if dataset and (model or prediction):
        raise click.UsageError("`--dataset` cannot be combined with `--model` or `--prediction`")
    from rulescore.cli.setting import COUNTING, load, require_rule, the_model
    from rulescore.evaluate import Session
    from rulescore.language.parser import parse_atom
    from rulescore.reporting.findings import violations_listing

    atom = None if prediction is None else parse_atom(prediction)
    with Session(load(choice, COUNTING).setting) as session:
        # Asked of the session: a published layout has models that only the database knows.
        source = None if dataset else the_model(model, [one.model for one in session.setting.predictions])
        if rule is not None:
            require_rule(rule, [info.name for info in session.rules])
        found = session.violations(rule=rule, model=source, prediction=atom, limit=limit)
        show_warnings(session.warnings, quiet=quiet)
    show(violations_listing(found), form)
