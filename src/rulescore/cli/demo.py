"""`rulescore demo`: a first look, on data made on the spot."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("rulescore-demo"),
    show_default=True,
    metavar="FOLDER",
    help="Where the data and the results are written.",
)
def demo(output: Path) -> None:
    """Score three models of a generated family, and show how it is done."""
    from rulescore.demo import run

    run(output)
