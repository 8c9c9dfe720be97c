"""`rulescore load`: writes facts and predictions into the user's own database, in the published layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rulescore.cli import options
from rulescore.cli.output import show, show_warnings

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.published.layout import WrittenSchema
    from rulescore.reporting.listing import Listing


@click.command(
    cls=options.Command,
    examples=(
        "rulescore load --facts facts.csv --engine postgresql://user@host/database",
        "rulescore load rulescore.toml --schema family --replace",
    ),
)
@options.setting_options(options.PROJECT + options.FACTS + options.NEGATIVES + options.PREDICTIONS + options.ENGINE)
@options.schema_option
@click.option("--replace", is_flag=True, help="First drop the tables that this command made in the schema before.")
@options.quiet_option
def load(choice: options.SettingChoice, schema: str, replace: bool, quiet: bool) -> None:
    """Write facts and predictions into PostgreSQL.

    Writes one table for each predicate.
    """
    from rulescore.cli.setting import load_data
    from rulescore.engines.base import connect
    from rulescore.published.layout import write_published

    setting = load_data(choice)
    engine = connect(setting.engine)
    try:
        written = write_published(engine, setting, schema, replace=replace)
    finally:
        engine.close()
    show_warnings(written.warnings, quiet=quiet)
    show(_listing(written), "table")


def _listing(written: WrittenSchema) -> Listing:
    from rulescore.reporting.listing import CellKind, Column, Listing

    columns = (
        Column("of", "predicate or table"),
        Column("table", "written to"),
        *(Column(key, key, CellKind.COUNT) for key in ("observed", "predicted", "hidden")),
    )
    rows = tuple((table.of, table.table, table.observed, table.predicted, table.hidden) for table in written.tables)
    return Listing("load", f"Written to schema {written.schema}", columns, rows)
