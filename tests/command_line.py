"""A small family in files, and the command line run in the folder that holds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rulescore.cli.main import program

FACTS = """\
alice\tmother\tbob
christopher\tfather\tbob
alice\tsister\tdaniel
alice\tmother\temma
frank\tfather\temma
"""
RULES = """\
@description("nobody marries a sibling") @tags(kinship, law)
no_incest: false <- sister(X, Y), wife(X, Y).

@hard @weight(2) @tags(kinship)
mothers: mother(X, Y) <- wife(X, Z), father(Z, Y).

father(X, Y) <- mother(X, Y).
incompatible mother, father.
"""
PROJECT = """\
facts = "train.tsv"
rules = "family.rules"

[predictions]
good = "good.tsv"
bad = "bad.tsv"
"""

Run = Callable[..., Result]


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "train.tsv": FACTS,
        "family.rules": RULES,
        "family.toml": PROJECT,
        "good.tsv": "alice\twife\tchristopher\n",
        "bad.tsv": "alice\twife\tdaniel\nalice\twife\tdaniel\nalice\tmother\tbob\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*arguments: str) -> Result:
    """What a command line does; an exception that is no exit fails the test with its own traceback."""
    result = CliRunner().invoke(program, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def run(family: Path) -> Run:
    """Runs a command line in the folder of the family."""
    return called
