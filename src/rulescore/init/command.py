"""`rulescore init`: writes the files of a first session. The user tries them and then replaces them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from rulescore.cli.options import Command, SettingChoice
from rulescore.errors import InputError
from rulescore.errors.texts import visible

if TYPE_CHECKING:
    # Loading it takes longer than `--help` may.
    from rulescore.discovery.result import Discovered
    from rulescore.setting.model import KeyedTable

_Commands: TypeAlias = tuple[tuple[str, str], ...]

_NAMES = ("facts.csv", "family.rules", "careful.csv", "careless.csv", "rulescore.toml")
FILES = {name: resources.files("rulescore.init").joinpath("files", name).read_text(encoding="utf-8") for name in _NAMES}

_NEXT = (
    ("rulescore score", "how far both models respect the rules"),
    ("rulescore audit", "the rules over the facts alone"),
    ("rulescore violations --model careless", "which predictions break rules, and why"),
)


PROJECT_OF_FACTS = """\
# The project file: `rulescore` reads it in this folder. Paths are relative to this file; an unknown key is an error.

facts = {facts}
# What `rulescore discover` found in them: look through the rules before you trust their scores.
rules = "found.rules"

# One line for each model.
# [predictions]
# mine = "predictions.csv"
"""

_NEXT_OF_FACTS = (
    ("rulescore audit", "how often the facts break each rule"),
    ("rulescore score --predictions FILE", "how far a model respects the rules"),
    ("rulescore discover --all", "everything that was found, and what was left out"),
)


@click.command(cls=Command, examples=("rulescore init first-look", "rulescore init --facts facts.csv mine"))
@click.argument("folder", required=False, type=click.Path(path_type=Path), default=Path())
@click.option("--facts", multiple=True, metavar="PATH", help="Use your own facts, and discover rules in them.")
@click.option(
    "--table", "tables", multiple=True, metavar="NAME=PATH|PATH", help="Use your own tables: files, folders or SQLite files."
)
@click.option("--key", "keys", multiple=True, metavar="NAME=COLUMN,…", help="The key of a table that `--table` names.")
@click.option("--engine", metavar="URL", help="Use the tables of your own server that have a primary key.")
def init(folder: Path, facts: tuple[str, ...], tables: tuple[str, ...], keys: tuple[str, ...], engine: str | None) -> None:
    """Write the files of a first session.

    The files are facts, rules, predictions of two models, and a project file; with `--facts`, `--table` or `--engine`, a project
    file for your own data and the rules that `rulescore discover` finds in them.

    FOLDER is the current folder unless given. Existing files are never overwritten.
    """
    from rulescore.reporting.files import require_absent, write_files

    if sum(map(bool, (facts, tables, engine))) > 1 or (keys and not tables):
        raise click.UsageError("give `--facts`, or `--engine`, or `--table` and its `--key`")
    names = ("found.rules", "rulescore.toml") if facts or tables or engine else tuple(FILES)
    given = (("--facts", facts), ("--table", tables), ("--key", keys), ("--engine", (engine,) if engine else ()))
    again = shlex.join(["rulescore", "init", *(word for flag, values in given for value in values for word in (flag, value))])
    require_absent(*(folder / name for name in names), help=f"name another folder: `{again} FOLDER`")
    files: Mapping[str, str] = FILES
    following: _Commands = _NEXT
    if engine:
        files, following = _with_rules(*_of_server(folder, engine), _next_of_tables)
    elif tables:
        files, following = _with_rules(*_of_tables(folder, tables, keys), _next_of_tables)
    elif facts:
        files, following = _with_rules(*_of_facts(folder, facts), lambda project: _NEXT_OF_FACTS)
    write_files(folder, files)
    here = folder == Path()
    click.echo(f"wrote {', '.join(files)}{'' if here else f' to {click.format_filename(folder)}'}\n\nType next:")
    if not here:
        click.echo(f"  cd {click.format_filename(folder)}")
    width = max(len(command) for command, _ in following)
    for command, meaning in following:
        click.echo(f"  {command:<{width}}  {meaning}")


def _with_rules(discovered: Discovered, project: str, following: Callable[[str], _Commands]) -> tuple[Mapping[str, str], _Commands]:
    """The files of a project with discovered rules, and the commands to type next. Without rules or checks, the commands would
    count nothing."""
    from rulescore.cli.output import tell

    for reason in discovered.discovery.reasons:
        tell(visible(reason))
    files = {"found.rules": discovered.rules, "rulescore.toml": project}
    if discovered.listed or "\nchecks = [\n" in project:
        return files, following(project)
    tell("no rule was found: write your own into found.rules, because without rules nothing can be counted")
    return files, _next_without_rules(project)


def _of_tables(folder: Path, tables: tuple[str, ...], keys: tuple[str, ...]) -> tuple[Discovered, str]:
    """The rules that were discovered in the tables, and a project file."""
    from rulescore.cli.setting import load_data
    from rulescore.discovery.model import DiscoverOptions
    from rulescore.discovery.result import Discovered, discover_data
    from rulescore.init.tables import project_of_tables

    setting = load_data(SettingChoice(tables=tables, keys=keys))
    project = project_of_tables(folder, tables, keys)
    while True:
        try:
            return Discovered(discover_data(setting, DiscoverOptions(), ())), project
        except InputError as error:
            setting = replace(setting, tables=_readable(setting.tables, error))


def _readable(tables: Sequence[KeyedTable], error: InputError) -> tuple[KeyedTable, ...]:
    """The tables that can be read, if others can. We say which are left out of the search, and why: SQLite keeps values of several
    types in one column."""
    from rulescore.cli.output import tell

    wrong = {problem.place.name: problem for problem in error.problems if problem.place is not None}
    left_out = {table.name: wrong[table.origin] for table in tables if table.origin in wrong}
    if not left_out or len(left_out) == len(tables):
        raise error
    for name, problem in left_out.items():
        tell(visible(f"table `{name}` is left out of the search for rules: {problem.message}"))
    return tuple(table for table in tables if table.name not in left_out)


def _of_server(folder: Path, url: str) -> tuple[Discovered, str]:
    """The rules that were discovered in the tables of a server, and a project file for them."""
    from rulescore.arguments.python import make_setting
    from rulescore.cli.output import tell
    from rulescore.discovery.model import DiscoverOptions
    from rulescore.discovery.result import Discovered, discover_data
    from rulescore.init.tables import tables_of_server

    server = tables_of_server(url)
    if server.left_out:
        tell(visible(f"left out, since they have no primary key: {', '.join(server.left_out)}"))
    setting = make_setting(None, None, (), tables=server.tables, engine=url)
    return Discovered(discover_data(setting, DiscoverOptions(), ())), server.project(folder)


def _trust(project: str) -> str:
    """A project that opens a database file or works on a server needs trust."""
    return " --trust" if "\ndatabase = " in project or "\n[engine]\n" in project else ""


def _next_without_rules(project: str) -> _Commands:
    trust = _trust(project)
    return (
        (f"rulescore discover{trust} --all", "what was left out, and why"),
        (f"rulescore discover{trust} --min-support 2", "rules that two groundings confirm"),
    )


def _next_of_tables(project: str) -> _Commands:
    trust = _trust(project)
    return (
        (f"rulescore audit{trust}", "how often rules are broken"),
        (f"rulescore violations{trust} --dataset --by cell", "which cells break rules"),
        ("rulescore rules", "the rules, and the checks"),
    )


def _of_facts(folder: Path, facts: tuple[str, ...]) -> tuple[Discovered, str]:
    """The rules that were discovered in the facts, and a project file."""
    from rulescore.arguments.python import make_setting
    from rulescore.discovery.discovering import discover_graph
    from rulescore.discovery.model import DiscoverOptions
    from rulescore.discovery.result import Discovered

    discovered = Discovered(discover_graph(make_setting([Path(path) for path in facts], None, ()), DiscoverOptions()))
    paths = [json.dumps(os.path.relpath(path, folder), ensure_ascii=False) for path in facts]
    listed = paths[0] if len(paths) == 1 else f"[{', '.join(paths)}]"
    return discovered, PROJECT_OF_FACTS.format(facts=listed)
