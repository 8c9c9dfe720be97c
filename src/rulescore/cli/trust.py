"""`rulescore trust`: remembers, forgets and lists the project files that the user trusts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.help import Command

if TYPE_CHECKING:
    # Loading this takes longer than `--help` may.
    from rulescore.arguments.project_file import ProjectFile


@click.command(
    cls=Command,
    examples=("rulescore trust rulescore.toml", "rulescore trust --list"),
)
@click.argument("project", type=click.Path(path_type=Path), default=Path("rulescore.toml"))
@click.option("--yes", is_flag=True, help="Trust the file without asking.")
@click.option("--forget", "forgets", is_flag=True, help="No longer trust the project file.")
@click.option("--list", "lists", is_flag=True, help="List the trusted files.")
def trust(project: Path, yes: bool, forgets: bool, lists: bool) -> None:
    """Trust a project file as it is now.

    Shows what the file wants to do beyond reading data, and asks whether you trust it.
    """
    from rulescore.arguments.project_file import read_project

    if forgets and lists:
        raise click.UsageError("`--forget` cannot be combined with `--list`")
    if lists:
        _list()
    elif forgets:
        _forget(project)
    else:
        _trust(read_project(project), yes=yes)


def _trust(file: ProjectFile, *, yes: bool) -> None:
    from rulescore.arguments.trust import digest, remember, shown_path, wishes

    # We remember the digest of the file that we show: it may change before the user answers.
    seen, found = digest(file), wishes(file)
    name = shown_path(file.path)
    if not found:
        click.echo(f"{name} asks for nothing that needs trust")
        return
    click.echo(f"{name} asks for this:")
    for wish in found:
        click.echo(f"  {wish.line}it {wish.words}{':' if wish.details else ''}")
        for line in wish.details:
            click.echo(f"      {line}")
    if not yes and not click.confirm("Do you trust it?", err=True):
        click.echo("it is not trusted", err=True)
        click.get_current_context().exit(1)
    remember(file, seen)
    click.echo(f"{name} is trusted until it changes", err=True)


def _forget(project: Path) -> None:
    from rulescore.arguments.trust import forget, shown_path

    name = shown_path(project)
    click.echo(f"{name} is no longer trusted" if forget(project) else f"{name} was not trusted", err=True)


def _list() -> None:
    from rulescore.arguments.trust import is_remembered, remembered, shown_path

    for path, known in remembered().items():
        click.echo(shown_path(Path(path)) + ("" if is_remembered(Path(path), known) else " (changed or gone: not trusted)"))
