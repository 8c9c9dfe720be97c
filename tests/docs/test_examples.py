"""What the documents show is what happens: their sessions are run again and have to come out the same.

In a `console` block, `$ rulescore …` or `$ python examples/…` is run and the lines below are its output. `$ cat NAME` shows a
file; the first time, it makes it. A `python` block is run as well, and a `text` block right behind it is what it prints. The
blocks of one document share a folder and one set of Python names. `RULESCORE_UPDATE_DOCS=1` writes what really happened into the
documents.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rulescore.cli.main import program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "docs/getting-started.md",
    "docs/numbers.md",
    "docs/conventions.md",
    "docs/violations.md",
    "docs/python-api.md",
    "docs/comparing.md",
    "docs/accuracy.md",
    "docs/plots.md",
    "docs/rule-language.md",
    "docs/formats.md",
    "docs/datasets.md",
    "docs/tables.md",
    "docs/databases.md",
    "docs/registered-predicates.md",
    "docs/sql-rules.md",
    "docs/security.md",
    "docs/continuous-integration.md",
    "docs/architecture.md",
    "docs/ontologies.md",
    "docs/predictions.md",
    "docs/examples/real-estate.md",
    "docs/examples/flights.md",
    "docs/examples/classification.md",
    "docs/models/anyburl.md",
    "docs/models/mlflow.md",
    "docs/models/rel-llm.md",
    "docs/models/scikit-learn.md",
)
# Those that import torch, in one process.
TORCH_DOCUMENTS = (
    "docs/models/expressgnn.md",
    "docs/models/graphsage.md",
    "docs/models/pykeen.md",
    "docs/models/pytorch.md",
    "docs/models/uniker.md",
)
RUN = [*DOCUMENTS, *(pytest.param(name, marks=pytest.mark.xdist_group("torch")) for name in TORCH_DOCUMENTS)]
FENCES = {"console", "python", "text", "sh", "rules", "toml", "yaml"}

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n^```text\n(?P<printed>.*?)^```$)?", re.MULTILINE | re.DOTALL)
EITHER = re.compile(f"(?P<console>{CONSOLE.pattern})|(?:{PYTHON.pattern})", re.MULTILINE | re.DOTALL)
# This line in a document stands for output that is left out.
LEFT_OUT = "…\n"


def parts(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the text shown below it; a blank line stands between two."""
    pieces = re.split(r"^\$ (.*\n(?:> .*\n)*)", text, flags=re.MULTILINE)
    assert not pieces[0], "a session begins with a command"
    return list(zip(pieces[1::2], pieces[2::2], strict=True))


class Replay:
    """Runs a document's blocks in the current folder and writes down what they really print."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.blocks = 0

    def document(self, text: str) -> str:
        return EITHER.sub(self._block, text)

    def _block(self, found: re.Match[str]) -> str:
        self.blocks += 1
        if found["console"]:
            shown = "\n".join(f"$ {command}{self._command(command, output)}" for command, output in parts(found[2]))
            return f"```console\n{shown}```"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], "<document>", "exec"), self.names)
        text = f"```python\n{found['code']}```"
        return text if not printed.getvalue() else f"{text}\n\n```text\n{abridged(printed.getvalue(), found['printed'])}```"

    def _command(self, command: str, shown: str) -> str:
        name, *arguments = shlex.split(re.sub(r"\\\n> ", " ", command))
        match name:
            case "cat":
                return self._file(Path(arguments[0]), shown)
            case "rulescore":
                return abridged(self._rulescore(arguments), shown)
            case "python":
                return abridged(self._script(arguments), shown)
            case _:
                raise AssertionError(f"a session cannot run `{name}`")

    def _file(self, path: Path, shown: str) -> str:
        if not path.exists():
            path.write_text(shown.rstrip("\n") + "\n", encoding="utf-8")
        return path.read_text(encoding="utf-8")

    def _rulescore(self, arguments: list[str]) -> str:
        result = CliRunner().invoke(program, arguments, prog_name="rulescore")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output

    def _script(self, arguments: list[str]) -> str:
        script, *options = arguments
        result = subprocess.run([sys.executable, ROOT / script, *options], capture_output=True, text=True, encoding="utf-8")
        assert result.returncode == 0, result.stderr
        return result.stdout


def abridged(printed: str, shown: str | None) -> str:
    """What was printed without trailing blanks, and with as much left out as the document leaves out."""
    lines = [line.rstrip() + "\n" for line in printed.rstrip("\n").split("\n")]
    wanted = [] if shown is None else (shown.rstrip("\n") + "\n").splitlines(keepends=True)
    if LEFT_OUT not in wanted:
        return "".join(lines)
    before, after = wanted.index(LEFT_OUT), len(wanted) - wanted.index(LEFT_OUT) - 1
    return "".join([*lines[:before], LEFT_OUT, *lines[len(lines) - after :]])


@pytest.mark.filterwarnings(
    # PyKEEN's own, and MLflow's.
    "ignore:Training instances are always shuffled:DeprecationWarning",
    "ignore:'pin_memory' argument is set as true:UserWarning",
    "ignore:The filesystem tracking backend:FutureWarning",
)
@pytest.mark.parametrize("name", RUN)
def test_every_session_of_the_documents_happens_as_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RULESCORE_DATA", "")
    replay = Replay()
    happened = replay.document(text)
    assert replay.blocks == len(re.findall(r"^```(?:console|python)$", text, re.MULTILINE)) > 0
    if os.environ.get("RULESCORE_UPDATE_DOCS"):
        path.write_text(happened, encoding="utf-8")
    assert happened == text


@pytest.mark.parametrize("name", [*DOCUMENTS, *TORCH_DOCUMENTS])
def test_every_block_of_the_documents_says_what_it_holds(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    opening = re.findall(r"^```(.*)$", text, re.MULTILINE)[::2]
    assert set(opening) <= FENCES


PAGES = sorted(["README.md", *(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))])


@pytest.mark.parametrize("name", PAGES)
def test_every_link_between_the_documents_leads_somewhere(name: str) -> None:
    page = ROOT / name
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]
    missing = [target for target in targets if target and not (page.parent / target).exists()]
    assert missing == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [page for page in PAGES if page.startswith("docs/") and page != "docs/README.md"]
    assert [page for page in pages if f"]({page.removeprefix('docs/')})" not in index] == []
