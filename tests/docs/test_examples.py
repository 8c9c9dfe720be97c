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
DOCS = ROOT / "docs"
# Their blocks are run by tests of their own, or are parts of a program.
NOT_RUN = {"how-to/planning-large-data.md", "how-to/plugins.md", "reference/data-formats.md", "reference/json-schema.md"}
# They import torch, in one process.
TORCH = {"how-to/mending.md", *(f"how-to/models/{name}.md" for name in ("expressgnn", "graphsage", "pykeen", "pytorch", "uniker"))}


def names() -> list[str]:
    """README and the pages with sessions or Python."""
    pages = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
    run = sorted(name for name, text in pages.items() if re.search("^```(console|python)$", text, re.MULTILINE))
    assert set(run) > NOT_RUN | TORCH
    return ["README.md", *(f"docs/{name}" for name in run if name not in NOT_RUN)]


DOCUMENTS = names()
RUN = [
    pytest.param(name, marks=pytest.mark.xdist_group("torch")) if name.removeprefix("docs/") in TORCH else name
    for name in DOCUMENTS
]
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


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_block_of_the_documents_says_what_it_holds(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    opening = re.findall(r"^```(.*)$", text, re.MULTILINE)[::2]
    assert set(opening) <= FENCES


FIRST_PAGES = sorted(
    path.stem for path in (DOCS / "start").glob("*.md") if path.stem not in {"install", "first-score", "first-report"}
)


@pytest.mark.parametrize("name", FIRST_PAGES)
def test_a_first_page_needs_three_commands_and_no_project_file_by_hand(name: str) -> None:
    text = (DOCS / "start" / f"{name}.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ rulescore ", text, re.MULTILINE)
    assert 1 <= len(commands) <= 3
    written = re.search(r"^\$ cat rulescore.toml$", text, re.MULTILINE)
    made = re.search(r"^\$ rulescore init", text, re.MULTILINE)
    assert written is None or (made is not None and made.start() < written.start())


def test_there_is_a_first_page_for_each_kind_of_user() -> None:
    assert len(FIRST_PAGES) == 8


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{path.relative_to(DOCS).as_posix()}" for path in DOCS.rglob("*.md"))])
def test_there_is_one_way_to_install(name: str) -> None:
    """There is no release yet: a package index has nothing of that name, or something else."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(r"install '?rulescore\b(?! --find-links)", text) is None


PAGES = sorted(["README.md", *(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))])


@pytest.mark.parametrize("name", PAGES)
def test_every_link_between_the_documents_leads_somewhere(name: str) -> None:
    page = ROOT / name
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]
    missing = [target for target in targets if target and not (page.parent / target).exists()]
    assert missing == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page for page in PAGES if page.startswith("docs/") and page != "docs/index.md"]
    assert [page for page in pages if f"]({page.removeprefix('docs/')})" not in index] == []


def test_each_word_of_the_glossary_is_linked_from_another_page() -> None:
    words = re.findall(r'<a id="([a-z]+)"></a>', (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8"))
    linked = {
        word for page in DOCS.rglob("*.md") for word in re.findall(r"glossary\.md#([a-z]+)", page.read_text(encoding="utf-8"))
    }
    assert len(words) == 12
    assert linked == set(words)
