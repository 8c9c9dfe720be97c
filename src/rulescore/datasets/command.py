"""`rulescore datasets`: lists, finds and downloads public data sets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import Command, OptionGroup, format_option, quiet_option
from rulescore.cli.output import show, tell

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.datasets.download import Listener
    from rulescore.reporting.listing import Listing


@click.group(cls=OptionGroup, examples=("rulescore datasets list", "rulescore datasets fetch family"))
def datasets() -> None:
    """List, fetch and find public data sets."""


@datasets.command("list", cls=Command, examples=("rulescore datasets list", "rulescore datasets list --format json"))
@format_option
def list_data_sets(form: str) -> None:
    """List the data sets, and where they are on this machine."""
    show(_listing(), form)


@datasets.command(cls=Command, examples=("rulescore datasets fetch family", "rulescore datasets fetch fb15k-237 --quiet"))
@click.argument("name")
@quiet_option
def fetch(name: str, quiet: bool) -> None:
    """Download a data set from its makers.

    Prints the path of its folder. Resumes a download that broke off.
    """
    from rulescore import datasets

    with _progress(quiet=quiet) as listener:
        try:
            folder = datasets.fetch(name, listener)
        except KeyboardInterrupt:
            tell("we keep what has arrived: the same command resumes the download")
            raise
    click.echo(click.format_filename(folder))


@datasets.command(cls=Command, examples=("rulescore datasets path family", "rulescore datasets path fb15k-237"))
@click.argument("name")
def path(name: str) -> None:
    """Print the path of a data set's folder."""
    from rulescore import datasets

    click.echo(click.format_filename(datasets.path(name)))


def _listing() -> Listing:
    from rulescore.datasets.catalogue import DATA_SETS
    from rulescore.datasets.places import VARIABLE, find
    from rulescore.reporting.listing import Audience, CellKind, Column, Listing

    columns = (
        Column("name", "name"),
        Column("title", "what", CellKind.TEXT),
        Column("size", "bytes", CellKind.COUNT),
        Column("licence", "licence"),
        Column("where", "here"),
        Column("path", "path", audience=Audience.PROGRAMS),
        Column("page", "page", audience=Audience.PROGRAMS),
        Column("urls", "urls", CellKind.TEXTS, Audience.PROGRAMS),
        Column("sha256", "sha256", CellKind.BINDING, Audience.PROGRAMS),
    )
    rows = []
    for known in DATA_SETS.values():
        place = find(known)
        digests = {file.name: file.sha256 for file in known.files}
        urls = tuple(download.url for download in known.downloads)
        where = (None, None) if place is None else (str(place.origin), str(place.folder))
        rows.append((known.name, known.title, known.size, known.licence, *where, known.page, urls, digests))
    notes = (
        f"here: in the folder that {VARIABLE} names, in the cache, or in an installed PyKEEN; –: `rulescore datasets fetch NAME`",
        *(f"{known.name} cannot be fetched: nobody offers it for download" for known in DATA_SETS.values() if not known.downloads),
    )
    return Listing("datasets", "Public data sets", columns, tuple(rows), notes=notes)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Listener | None]:
    """Shows a bar for each file, if stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def told(name: str, here: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=size)
            bars.update(tasks[name], completed=here)

        yield told
