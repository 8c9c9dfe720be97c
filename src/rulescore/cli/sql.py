"""`rulescore sql`: the statement that counts a rule, or the published queries for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from rulescore.cli.options import ALL, LAYOUTS, Command, SettingChoice, schema_option, setting_options
from rulescore.cli.output import write

if TYPE_CHECKING:
    # Loading this takes longer than `--help` may.
    from rulescore.published.statements import PublishedQuery


@click.command(
    cls=Command,
    examples=(
        "rulescore sql aunt_by_father rulescore.toml",
        "rulescore sql family.rules:12 rulescore.toml --plan",
    ),
)
@click.argument("rule")
@setting_options(ALL)
@click.option("--plan", is_flag=True, help="Print the engine's query plan below the statement.")
@click.option(
    "--layout", type=click.Choice(LAYOUTS), help="Print the published queries instead, for the tables that `load` writes."
)
@schema_option
@click.option("--model", help="With `--layout`: print only the queries of this model.")
def sql(rule: str, choice: SettingChoice, plan: bool, layout: str | None, schema: str, model: str | None) -> None:
    """Print the SQL that counts the rule named RULE."""
    from rulescore.cli.setting import LOOKING, load, require_rule
    from rulescore.session.session import Session

    if layout is None:
        _refuse_without_layout()
    elif plan:
        raise click.UsageError("`--plan` shows the plan of the statement that we run: leave out `--layout`")
    with Session(load(choice, LOOKING).setting) as session:
        require_rule(rule, [info.name for info in session.rules])
        if layout is None:
            statement = session.statement(rule)
            write(f"{statement}\n")
            if plan and not _counts_nothing(statement):
                write("\n" + "".join(f"-- {line}".rstrip() + "\n" for line in session.plan_of(statement).splitlines()))
            return
        statements = session.published_statements(rule, schema, model)
    if not statements:
        write("-- nothing to count: a predicate of the body has no facts and no table\n")
    write("\n\n".join(f"-- {_title(query)}\n{statement};" for query, statement in statements) + "\n")


def _counts_nothing(statement: str) -> bool:
    return all(line.startswith("--") for line in statement.splitlines())


def _refuse_without_layout() -> None:
    context = click.get_current_context()
    for name in ("schema", "model"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"`--{name}` is an option of the published queries: give `--layout published` too")


def _title(query: PublishedQuery) -> str:
    """A title for a query, on one line even if a name holds line ends."""
    verb = "confirms" if query.confirms else "refutes"
    who = "observed facts" if query.model is None else f"model {query.model}"
    return " ".join(f"{who}: {query.evidence.predicate} {verb} the head".split())
