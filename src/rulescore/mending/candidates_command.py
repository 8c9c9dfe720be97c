"""`rulescore candidates`: counts what every absent fact would contribute."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from rulescore.cli import options
from rulescore.cli.output import show, tell, write

_PATH = click.Path(path_type=Path)


@click.command(
    cls=options.Command,
    examples=(
        "rulescore candidates --facts train.txt --rules family.rules",
        "rulescore candidates --facts train.txt --rules family.rules --queries train.txt --output candidates.parquet",
    ),
)
@options.setting_options(options.PROJECT + options.FACTS + options.NEGATIVES + options.RULES + options.SCORING + options.ENGINE)
@click.option("--of", "lists", type=_PATH, metavar="LISTS", help="Only the candidates of these lists; rules may have any form.")
@click.option(
    "--queries", type=_PATH, metavar="FACTS", help="Only candidates that share predicate and one argument with these facts."
)
@click.option(
    "--valid", type=_PATH, metavar="FACTS", help="True facts that are not observed: show how many of them would be forbidden."
)
@click.option("--limit", type=click.IntRange(min=1), default=50_000_000, show_default=True, help="The most groundings to find.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Print how many groundings there are, and count nothing else.")
@click.option(
    "--trust-declared", is_flag=True, help="Treat rules as hard if they are declared hard, even if the data contradict them."
)
@options.file_option("Write all rows to this Parquet file.")
@options.format_option
@options.quiet_option
def candidates(
    choice: options.SettingChoice,
    lists: Path | None,
    queries: Path | None,
    valid: Path | None,
    limit: int,
    only_estimate: bool,
    trust_declared: bool,
    output: Path | None,
    form: str,
    quiet: bool,
) -> None:
    """Count what every candidate contributes.

    A candidate is a fact that is not observed. Prints for each rule how many candidates it concerns, and how many would break it.
    Contributions that are the same for every value of an argument count as one row.
    """
    from rulescore.cli.setting import COUNTING, load
    from rulescore.mending.enumeration import estimate
    from rulescore.mending.making import all_candidates, ask, listed_candidates
    from rulescore.mending.shown import candidates_listing
    from rulescore.mending.sources import unranked_predictions
    from rulescore.session.session import Session

    if lists is not None and queries is not None:
        raise click.UsageError("`--of` and `--queries` cannot be combined")
    setting = replace(load(choice, COUNTING).setting, predictions=(), truth=None)
    if only_estimate:
        with Session(setting) as session:
            if queries is not None:
                ask(session, str(queries))
            groundings = estimate(session, limit, asked=queries is not None)
        write(f"{'more than ' if groundings > limit else ''}{min(groundings, limit):,} groundings\n")
        return
    if lists is not None:
        table = listed_candidates(setting, unranked_predictions(str(lists)), trust_declared=trust_declared)
    else:
        with Session(setting) as session:
            table = all_candidates(
                session, limit=limit, trust_declared=trust_declared, queries=None if queries is None else str(queries)
            )
    if output is not None:
        table.write(output)
        if not quiet:
            tell(f"wrote {len(table.rows) + len(table.symbolic):,} rows to {output}")
    show(candidates_listing(table, None if valid is None else table.price(str(valid))), form)
