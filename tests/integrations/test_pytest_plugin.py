"""The assertion for tests of models, and the plugin as pytest finds it: by the entry point, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import rulescore
from rulescore.errors import InputError, RulescoreWarning
from rulescore.testing import assert_complies

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

FACTS = [("alice", "sister", "daniel"), ("daniel", "father", "emma"), ("alice", "aunt", "emma"), ("fiona", "mother", "emma")]
RULES = """
aunts: aunt(X, Z) <- sister(X, Y), father(Y, Z).
no_incest: false <- sister(X, Y), wife(X, Y).
incompatible aunt, mother.
"""
ROW = "prediction wife(alice, daniel): sister(alice, daniel), wife(alice, daniel) → false"


def result(*predictions: tuple[str, str, str]) -> rulescore.Result:
    return rulescore.score(FACTS, {"model": predictions}, RULES)


BAD = ("alice", "wife", "daniel")


def test_a_result_that_complies_is_let_through() -> None:
    assert_complies(result(("fiona", "wife", "daniel")), "hard > 0", "violating > 1%")


def test_the_message_is_the_summary_with_a_row() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_complies(result(BAD), "hard > 0")
    message = str(caught.value)
    assert message.startswith("### rulescore: 1 of 1 gate failed\n")
    assert "- `no_incest` (hard rule, refuted in 1 of 1): `false <- sister(X, Y), wife(X, Y)`" in message
    assert f"  - `{ROW}`" in message


def test_a_result_from_a_file_has_no_rows_but_fails_all_the_same(tmp_path: Path) -> None:
    result(BAD).save(tmp_path / "result.json")
    with pytest.raises(AssertionError) as caught:
        assert_complies(rulescore.load_result(tmp_path / "result.json"), "hard > 0")
    assert "`no_incest` (hard rule, refuted in 1 of 1)" in str(caught.value)
    assert ROW not in str(caught.value)


def test_gates_that_warn_and_gates_of_a_project_file(tmp_path: Path) -> None:
    with pytest.warns(RulescoreWarning, match="gate `hard > 0` failed by `model` \\(a warning\\): hard is 0.5"):
        assert_complies(result(BAD), "violating > 1", warn_if="hard > 0")
    project = tmp_path / "rulescore.toml"
    project.write_text('facts = "f"\nrules = "r"\n[gates]\nlawful = "rule(no_incest).refuted > 0"\n', encoding="utf-8")
    with pytest.raises(AssertionError, match="lawful: rule"):
        assert_complies(result(BAD), project=project)


def test_a_gate_that_no_rule_is_above_the_data_of_has_rules_and_rows() -> None:
    """One of two aunts is a mother in the data, and one of three is predicted."""
    facts = [*FACTS, ("gina", "sister", "daniel"), ("gina", "mother", "emma")]
    predictions = [(person, "sister", "daniel") for person in ("fiona", "hana", "ina")]
    facts += [(person, "aunt", "emma") for person in ("hana", "ina")]
    with pytest.raises(AssertionError) as caught:
        assert_complies(rulescore.score(facts, {"model": predictions}, RULES), "violating_any > 0", "soft > 0.1")
    assert "- `aunts` (soft rule, refuted in 1 of 3, in the data 1 of 2)" in str(caught.value)
    assert "  - `prediction sister(fiona, daniel): sister(fiona, daniel), father(daniel, emma) → aunt(fiona, emma)" in str(
        caught.value
    )


def test_arguments_that_are_none_say_what_would_be() -> None:
    good = result(("fiona", "wife", "daniel"))
    for ask, help in (
        (lambda: assert_complies(good, ["hard > 1", "soft > 2"]), 'assert_complies(result, "hard > 1", "soft > 2")'),  # type: ignore[arg-type]
        (lambda: assert_complies(good, 0), 'assert_complies(result, "hard > 0")'),  # type: ignore[arg-type]
        (lambda: assert_complies(good, warn_if=3), "warn_if"),  # type: ignore[arg-type]
        (lambda: assert_complies(good, "hard > 0", models=3), "models"),  # type: ignore[arg-type]
        (lambda: assert_complies("result.json", "hard > 0"), 'rulescore.load_result("result.json")'),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match="E512") as caught:
            ask()
        assert help in str(caught.value)
    assert_complies(good, "hard > 0", models=["model"], warn_if=["violating > 1%"])
    with pytest.raises(AssertionError):
        assert_complies(result(BAD), "hard > 0", models=["model"])


def test_a_mistake_is_no_failure() -> None:
    good = result(("fiona", "wife", "daniel"))
    with pytest.raises(InputError, match="E404"):
        assert_complies(good)
    with pytest.raises(InputError, match="E520"):
        assert_complies(good, "hard")
    with pytest.raises(InputError, match="E261"):
        assert_complies(good, "rule(no_incset).score > 0")
    with pytest.raises(InputError, match="E261"):
        assert_complies(good, "hard > 0", models="modle")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel of the package unpacks."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run_pytest(folder: Path, installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.slow
def test_the_fixture_of_the_documents_fails_a_test_with_the_summary(tmp_path: Path, installed: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "continuous-integration.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(def test_.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "test_model.py").write_text(f"import rulescore\n\n{code}", encoding="utf-8")
    files = dict(re.findall(r"^\$ cat (\S+\.(?:csv|rules))\n(.*?)\n(?=\n)", page, re.MULTILINE | re.DOTALL))
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    (tmp_path / "new.csv").write_text(files["careful.csv"], encoding="utf-8")
    before = rulescore.score(tmp_path / "facts.csv", {"new": tmp_path / "new.csv"}, tmp_path / "family.rules")
    before.save(tmp_path / "baseline.json")
    passed = run_pytest(tmp_path, installed)
    assert (passed.returncode, "1 passed" in passed.stdout) == (0, True), passed.stdout + passed.stderr
    (tmp_path / "new.csv").write_text(files["careless.csv"], encoding="utf-8")
    failed = run_pytest(tmp_path, installed)
    assert failed.returncode == 1
    assert "### rulescore: 2 of 2 gates failed" in failed.stdout
    assert "hard is 1, was 0, may be 0" in failed.stdout
    assert "prediction wife(alice, daniel): sister(alice, daniel), wife(alice, daniel) → false" in failed.stdout


@pytest.mark.slow
def test_a_run_that_does_not_ask_for_the_fixture_loads_no_library(tmp_path: Path, installed: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n"
        "def test_nothing(request):\n"
        "    assert request.config.pluginmanager.has_plugin('rulescore')\n"
        "    assert {'duckdb', 'pyarrow', 'numpy', 'sqlglot', 'rich', 'click'}.isdisjoint(sys.modules)\n",
        encoding="utf-8",
    )
    passed = run_pytest(tmp_path, installed, "-p", "no:hypothesispytest", "-p", "no:xdist")
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_a_module_of_the_user_s_own_that_is_named_like_the_package_stops_no_test(tmp_path: Path, installed: Path) -> None:
    (tmp_path / "rulescore.py").write_text("")
    (tmp_path / "test_something.py").write_text("def test_something() -> None:\n    pass\n")
    passed = run_pytest(tmp_path, installed)
    assert (passed.returncode, "1 passed" in passed.stdout) == (0, True), passed.stdout + passed.stderr
