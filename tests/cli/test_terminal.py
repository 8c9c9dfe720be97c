"""What a terminal sees: colours that say no more than the figures, nothing that steers it; a pipe gets everything exact."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import rulescore
from terminal import on_a_terminal

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(rulescore.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "100"}
# Under load everything takes its time, and what it is doing would be shown.
ENVIRONMENT["RULESCORE_PROGRESS"] = "0"
ENVIRONMENT.pop("NO_COLOR", None)
SCORE = ("score", "family.toml")
OURS = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(*arguments: str, start: Sequence[str] = ("-m", "rulescore"), **environment: str) -> str:
    """What a terminal gets of stdout and stderr."""
    return on_a_terminal([sys.executable, *start, *arguments], {**ENVIRONMENT, **environment})[1]


def through_pipe(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rulescore", *arguments], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )


def test_a_terminal_gets_colours_for_results_and_problems(family: Path) -> None:
    shown = on_terminal(*SCORE)
    assert "\x1b[31m" in shown
    problem = on_terminal("score", "--facts", "no.tsv", "--rules", "family.rules")
    assert problem.startswith("\x1b[31m\x1b[1merror[E301]\x1b[0m: ")
    assert "\x1b" not in on_terminal(*SCORE, NO_COLOR="1")
    assert "\x1b" not in on_terminal("score", "--facts", "no.tsv", "--rules", "family.rules", NO_COLOR="1")
    assert "\x1b" not in through_pipe(*SCORE).stdout


def test_warnings_come_after_the_table_a_line_for_each_code(family: Path) -> None:
    rules = family / "family.rules"
    rules.write_text(rules.read_text() + "false <- mother(X, Y).\nfalse <- mother(Y, X).\n")
    shown = on_terminal(*SCORE, NO_COLOR="1")
    assert shown.index("Violations of each rule") < shown.index("warning[W501]")
    assert shown.count("warning[W501]") == 1
    assert "(and 1 more)" in shown
    assert "`--detail`" in shown.splitlines()[-1]
    assert on_terminal(*SCORE, "--detail", NO_COLOR="1").count("warning[W501]") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        SCORE,
        (*SCORE, "--detail"),
        (*SCORE, "--explain"),
        (*SCORE, "--output", "results"),
        *((*SCORE, "--format", form) for form in ("csv", "json", "markdown", "latex")),
        (*SCORE, "--table", "violations"),
        ("audit", "family.toml"),
        ("rules", "family.toml", "--format", "csv"),
        ("sql", "bad", "family.toml"),
        ("incompatibilities", "family.toml"),
        ("violations", "family.toml", "--model", "nobody"),
    ],
    ids=" ".join,
)
def test_no_name_steers_a_terminal(family: Path, arguments: tuple[str, ...]) -> None:
    hostile = "\x1b]0;stolen\x07\x9b2J\u202egnp\u200b"
    (family / "train.tsv").write_text(f"alice\tmother\tbob\nalice\tp{hostile}\tbob\n", encoding="utf-8")
    written = "".join(f"\\u{ord(character):04x}" for character in hostile)
    rules = [
        f"bad: mother(X, Y) <- `p{written}`(X, Y).",
        f'`n{written}`: false <- mother(X, "c{written}"), wife(X, Y).',
        "incompatible mother, wife.",
    ]
    (family / "family.rules").write_text("\n".join(rules), encoding="utf-8")
    (family / "bad.tsv").write_text(f"alice\twife\tbob\nalice\tp{hostile}\tbob\nalice\tmother\tc{hostile}\n", encoding="utf-8")
    project = f'facts = "train.tsv"\nrules = "family.rules"\n[predictions]\ngood = "good.tsv"\n"m{written}" = "bad.tsv"\n'
    (family / "family.toml").write_text(project, encoding="utf-8")
    shown = OURS.sub("", on_terminal(*arguments))
    assert "Traceback" not in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u200b"} & set(shown)


def test_a_pipe_gets_names_as_they_are(family: Path) -> None:
    (family / "train.tsv").write_text("alice\tmother\tbob\nalice\tp\u202e\tbob\n", encoding="utf-8")
    (family / "family.rules").write_text("bad: mother(X, Y) <- `p\\u202e`(X, Y).\nincompatible mother, wife.\n", encoding="utf-8")
    assert "\u202e" in through_pipe("sql", "bad", "--facts", "train.tsv", "--rules", "family.rules").stdout


IMPATIENT = ("-c", "from rulescore.cli import main, progress; progress._PATIENCE = 0; main.main()")


def test_long_work_shows_what_it_does_until_there_is_something_to_read(family: Path) -> None:
    shown = on_terminal(*SCORE, start=IMPATIENT, RULESCORE_PROGRESS="1", COLUMNS="200")
    working, _, result = shown.rpartition("\x1b[1A\x1b[2K")
    assert re.search(r"counting .* (over the data|with predictions), \d+ of \d+, about [\d,]+ groundings ", working)
    assert "reading " in working
    assert "RVS hard" in result
    assert "counting" not in result
    for arguments in ((*SCORE, "--quiet"), ("score", "--facts", "no.tsv", "--rules", "family.rules")):
        assert "\x1b[2K" not in on_terminal(*arguments, start=IMPATIENT, RULESCORE_PROGRESS="1")
