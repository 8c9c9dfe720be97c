"""Help is short, grouped, and has examples that name what there is."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from click.testing import CliRunner

from rulescore.cli.main import program


def shown(*arguments: str) -> str:
    return CliRunner().invoke(program, [*arguments, "--help"], prog_name="rulescore", terminal_width=80).stdout


def test_the_summary_of_every_command_fits() -> None:
    text = shown()
    assert "..." not in text.partition("Commands:")[2]
    for name in program.commands:
        assert re.search(rf"^  {name}  +\S", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(program.commands))
def test_every_command_has_two_examples_that_can_be_parsed(name: str) -> None:
    examples = shown(name).partition("Examples:\n")[2].splitlines()
    assert len(examples) == 2
    for example in examples:
        command, chosen, *arguments = shlex.split(example.partition(" > ")[0])
        assert (command, chosen) == ("rulescore", name)
        program.commands[name].make_context(name, arguments, resilient_parsing=True)


def test_options_stand_in_groups() -> None:
    text = shown("score")
    groups = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert groups == ["Data", "Counting", "Engine", "Output", "Examples"]
    for group, option in (("Data", "--facts"), ("Counting", "--roles"), ("Engine", "--threads"), ("Output", "--table")):
        assert option in text.partition(f"{group}:\n")[2].partition("\n\n")[0]


@pytest.mark.parametrize("name", sorted(program.commands))
def test_every_option_is_shown(name: str) -> None:
    text = shown(name)
    for parameter in program.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in text
