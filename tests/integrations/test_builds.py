"""The pre-commit hook and the commands of the GitHub workflow, run as those who use them do: in processes of their own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "continuous-integration.md").read_text(encoding="utf-8")
WORKFLOW = next(block for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "jobs:" in block)
COMMANDS = re.findall(r"^ +- run: (.+)$", WORKFLOW, re.MULTILINE)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One in which pip installs a wheel of this package into a folder of its own, and programs are found there."""
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_NO_DEPS": "1", "PIP_TARGET": str(site), "PIP_UPGRADE": "1"}
    paths = os.pathsep.join([str(site / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = {**kept, **pip, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PATH": paths, "PYTHONPATH": str(site)}
    subprocess.run(["bash", "-ec", COMMANDS[0]], check=True, capture_output=True, env=found)
    assert (site / "bin" / "rulescore").exists()
    return found


def run(command: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-ec", command], cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_the_commands_of_the_workflow_do_what_the_page_says(tmp_path: Path, environment: dict[str, str]) -> None:
    assert [command.split()[:2] for command in COMMANDS] == [["pip", "install"], ["rulescore", "check"], ["rulescore", "score"]]
    for name, text in re.findall(r"^\$ cat (\S+\.(?:csv|rules|toml))\n(.*?)\n(?=\n\$)", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    environment = {**environment, "GITHUB_STEP_SUMMARY": str(tmp_path / "the summary.md")}
    checked = run(COMMANDS[1], tmp_path, environment)
    assert checked.returncode == 0, checked.stderr
    scored = run(COMMANDS[2], tmp_path, environment)
    assert scored.returncode == 1, scored.stderr
    assert "gate `no_impossible: hard > 0` failed by `careless`: hard is 1" in scored.stderr
    assert "### rulescore: 1 of 2 gates failed, 1 warning" in (tmp_path / "the summary.md").read_text(encoding="utf-8")
    assert ElementTree.parse(tmp_path / "gates.xml").getroot().get("failures") == "1"
    (tmp_path / "careless.csv").write_text((tmp_path / "careful.csv").read_text(encoding="utf-8"), encoding="utf-8")
    assert run(COMMANDS[2], tmp_path, environment).returncode == 0
    (tmp_path / "family.rules").write_text("aunt(X, Z) <- sister(X, Y.\n", encoding="utf-8")
    assert run(COMMANDS[1], tmp_path, environment).returncode == 2


def test_the_hook_checks_the_files_that_it_is_handed(tmp_path: Path, environment: dict[str, str]) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hook = dict(re.findall(r"^[- ] (\w+): (.+)$", text, re.MULTILINE))
    assert f"id: {hook['id']}" in PAGE
    assert hook["language"] == "python"
    names = {
        "good.rules": "p(X) <- q(X).\n",
        "sub/other.rules": "p(X) <- q(X).\n",
        "notes.txt": "no rules",
        "a b.rules": "p(X) <- q(X).\n",
    }
    for name, content in names.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    # As pre-commit does: the files whose names match, behind the entry.
    files = [name for name in names if re.search(hook["files"], name)]
    assert len(files) == 3
    passed = run(shlex.join([*shlex.split(hook["entry"]), *files]), tmp_path, environment)
    assert passed.returncode == 0, passed.stderr
    (tmp_path / "a b.rules").write_text("p(X, Y) <- q(X).\n", encoding="utf-8")
    failed = run(shlex.join([*shlex.split(hook["entry"]), *files]), tmp_path, environment)
    assert failed.returncode == 2
    assert " --> a b.rules:1:6" in failed.stderr
