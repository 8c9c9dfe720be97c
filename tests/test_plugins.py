"""Other distributions can add engines, formats and commands: each test installs one of `docs/how-to/plugins.md` on the path."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import rulescore
from rulescore import plugins
from rulescore.cli.main import program
from rulescore.language.rule_formats import rule_formats
from rulescore.readers.foreign import readers

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "plugins.md"
_CODE, _ENTRY = r"^```python\n(.*?)^```$", r'^```toml\n\[project.entry-points."(.*?)"\]\n(\w+) = "(.*?)"'
PARTS = re.findall(f"{_CODE}.*?{_ENTRY}", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
ENGINE, RULES, FORMAT, COMMAND = PARTS

Install = Callable[[tuple[str, str, str, str]], None]
"""Installs a part: its source, and the group, name and value of its entry point."""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a module on the path, in a distribution that declares it as an entry point."""

    def write(part: tuple[str, str, str, str]) -> None:
        source, group, name, value = part
        (tmp_path / "toy_part.py").write_text(source, encoding="utf-8")
        about = tmp_path / "toy-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n", encoding="utf-8")
        (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n", encoding="utf-8")

    def forget() -> None:
        for cached in (plugins.plugins, plugins.load, readers, rule_formats):
            cached.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield write
    forget()
    sys.modules.pop("toy_part", None)


def test_an_engine_of_another_distribution_is_opened_by_its_scheme(install: Install) -> None:
    install(ENGINE)
    facts, rule = [("a", "q", "b"), ("a", "s", "b")], "p(X, Y) <- q(X, Y). incompatible p, s."
    result = rulescore.audit(facts, rule, engine="toy://anywhere")
    assert result.rules["dataset_refuted"].to_pylist() == [1]


def test_a_file_in_a_format_of_another_distribution_is_recognised(install: Install, tmp_path: Path) -> None:
    install(FORMAT)
    (tmp_path / "facts.arrows").write_text("a -q-> b\na -s-> b\n", encoding="utf-8")
    result = rulescore.audit(tmp_path / "facts.arrows", "p(X, Y) <- q(X, Y). incompatible p, s.")
    assert result.rules["dataset_refuted"].to_pylist() == [1]


@pytest.mark.parametrize("name", [None, "conditions"])
def test_rules_in_a_format_of_another_distribution_are_read(install: Install, tmp_path: Path, name: str | None) -> None:
    install(RULES)
    (tmp_path / "toy.rules").write_text("if q then p\n", encoding="utf-8")
    rules = rulescore.RuleFile(tmp_path / "toy.rules", format=name)
    result = rulescore.audit([("a", "q", "b"), ("a", "s", "b")], [rules, "incompatible p, s."])
    assert result.rules["dataset_refuted"].to_pylist() == [1]


def test_a_command_of_another_distribution_is_called_and_listed(install: Install) -> None:
    install(COMMAND)
    assert CliRunner().invoke(program, ["toy"]).output == "hello\n"
    assert "  toy " in CliRunner().invoke(program, ["--help"]).output


def test_an_engine_that_nobody_has_is_an_error() -> None:
    with pytest.raises(rulescore.InputError, match="there is no engine `toy://anywhere`"):
        rulescore.audit([("a", "q", "b")], "p(X, Y) <- q(X, Y). closed p.", engine="toy://anywhere")
