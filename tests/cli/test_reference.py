"""The reference of the command line cannot drift from the command line."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from inspect import signature
from pathlib import Path
from typing import get_args

import click
import pytest

from rulescore.arguments.python import ScoreOptions
from rulescore.cli.main import program
from rulescore.cli.options import OPTIONS, SettingChoice
from rulescore.session.api import score
from rulescore.setting.options import Options

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
SECTIONS = dict(zip(*[iter(re.split(r"^## (.+)$", REFERENCE, flags=re.MULTILINE)[1:])] * 2, strict=True))


def parameters(name: str) -> list[click.Parameter]:
    """Those of a command and, if it is a group, of the commands in it."""
    command = program.commands[name]
    within = command.commands.values() if isinstance(command, click.Group) else ()
    return [parameter for one in (command, *within) for parameter in one.params]


@pytest.mark.parametrize("name", sorted(program.commands))
def test_every_command_and_option_is_in_the_reference(name: str) -> None:
    section = SECTIONS[name]
    assert f"rulescore {name}" in section
    for parameter in parameters(name):
        if isinstance(parameter, click.Option):
            for option in [*parameter.opts, *parameter.secondary_opts]:
                assert re.search(rf"`{re.escape(option)}[` ]|\[{re.escape(option)} ", section), f"{name} {option}"


@pytest.mark.parametrize("name", sorted(program.commands))
def test_the_reference_names_no_option_that_is_not_there(name: str) -> None:
    known = {option for parameter in parameters(name) for option in [*parameter.opts, *parameter.secondary_opts]}
    assert set(re.findall(r"`(--?[a-z][a-z-]*)", SECTIONS[name])) <= known


def test_every_shared_option_is_explained() -> None:
    shared = {
        option
        for parameter in program.commands["score"].params
        if isinstance(parameter, click.Option)
        for option in [*parameter.opts, *parameter.secondary_opts]
    }
    missing = {option for option in shared if f"`{option}" not in SECTIONS["Options that commands share"]}
    assert missing == set()


def test_every_option_has_a_help_text() -> None:
    without = [
        (name, parameter.name)
        for name in program.commands
        for parameter in parameters(name)
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert without == []


@pytest.mark.parametrize("options", get_args(Options))
def test_every_option_is_one_of_python_and_of_commands(options: type[Options]) -> None:
    """Project files have them as well: their sections are the options."""
    names = {"engine" if one.name == "url" else one.name for one in fields(options)} - {"session"}
    assert names <= set(ScoreOptions.__annotations__)
    assert names - {"weights", "kinds"} <= set(OPTIONS)


def test_everything_that_can_be_chosen_has_an_option() -> None:
    names = {parameter.name for parameter in program.commands["score"].params}
    # `--table` names data and tables of the result there.
    assert {*SettingChoice.__slots__, *OPTIONS} - {"options", "tables"} | {"table"} <= names


def test_the_page_of_python_lists_the_options() -> None:
    page = (
        (Path(__file__).parents[2] / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8").partition("| option |")[2]
    )
    cells = re.findall(r"^\| (`.*?`) \|", page.partition("\n\n")[0], re.MULTILINE)
    listed = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert listed == {*ScoreOptions.__annotations__, "contributions"}


@pytest.mark.parametrize("options", get_args(Options))
def test_the_signature_of_a_call_shows_the_defaults(options: type[Options]) -> None:
    shown = signature(score).parameters
    for one in fields(options):
        name = "engine" if one.name == "url" else one.name
        if name in shown and one.default is not MISSING:
            assert shown[name].default == one.default
