"""Help is short, grouped, and has examples that name what there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

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


def found(words: tuple[str, ...]) -> click.Command:
    """A command, by the words that call it."""
    command: click.Command = program
    for word in words:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


def calls(group: click.Group = program, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that call each command, those of groups included."""
    for name, command in sorted(group.commands.items()):
        yield (*before, name)
        if isinstance(command, click.Group):
            yield from calls(command, (*before, name))


@pytest.mark.parametrize("words", list(calls()), ids=" ".join)
def test_every_command_has_two_examples_that_can_be_parsed(words: tuple[str, ...]) -> None:
    examples = shown(*words).partition("Examples:\n")[2].splitlines()
    assert len(examples) == 2
    for example in examples:
        command, *called = shlex.split(example.partition(" > ")[0])
        assert (command, *called[: len(words)]) == ("rulescore", *words)
        found(words).make_context(words[-1], called[len(words) :], resilient_parsing=True)


def test_options_stand_in_groups() -> None:
    text = shown("score")
    groups = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert groups == ["Data", "Counting", "Engine", "Output", "Examples"]
    for group, option in (("Data", "--facts"), ("Counting", "--roles"), ("Engine", "--threads"), ("Output", "--table")):
        assert option in text.partition(f"{group}:\n")[2].partition("\n\n")[0]


@pytest.mark.parametrize("words", list(calls()), ids=" ".join)
def test_every_option_is_shown(words: tuple[str, ...]) -> None:
    text = shown(*words)
    for parameter in found(words).params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in text
