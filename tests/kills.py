"""Kills a process at each rename and each fsync of what writes files, and looks at what is left.

    python tests/kills.py score

runs one kind of writing as often as it takes, each time in a process of its own that is killed one step later, and prints how many
there were. After a kill the whole old result is there or the whole new one; the next run succeeds and leaves nothing half-written.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import rulescore
from rulescore.cli.main import program
from rulescore.datasets.catalogue import DATA_SETS, DataSet, Download, File
from rulescore.datasets.places import fetched
from servers.web import Site, running_site

STEPS = ("rename", "replace", "fsync")
RULES = "closed p.\np(X, Y) <- q(X, Y).\n"
FACTS = "a\tp\tb\na\tq\tb\n"
MODELS = {"old": "b\tq\tc\n", "new": "b\tq\tc\nc\tq\td\n"}

Work = Callable[[], object]


def in_process(work: Work, steps: int | None = None) -> int:
    """The exit code of a process that does the work, and is killed when it has gone so many steps."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if steps is not None:
            _kill_after(steps)
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill_after(steps: int) -> None:
    left = steps

    def counted(step: Callable[..., object]) -> Callable[..., object]:
        def deadly(*given: object, **more: object) -> object:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return step(*given, **more)

        return deadly

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))


def kill_everywhere(before: Work, work: Work, seen: Callable[[], object], clean: Work) -> int:
    """How often the work was killed. `seen` gives what is there, `clean` fails if anything else is."""
    for steps in range(1000):
        assert in_process(before) == 0
        old = seen()
        code = in_process(work, steps)
        found = seen()
        if code == 0:
            assert found != old
            return steps
        assert code == -signal.SIGKILL, code
        if found != old:
            assert in_process(work) == 0
            assert found == seen(), (steps, found)
        assert in_process(work) == 0
        clean()
    raise AssertionError("it never came to its end")


def score(folder: Path) -> int:
    """`score --output`, over the results of another run and beside a file of somebody else's."""
    for name, content in {"f.tsv": FACTS, "r.rules": RULES, **MODELS}.items():
        (folder / name).write_text(content)
    results = folder / "results"
    results.mkdir()
    (results / "notes.txt").write_text("mine")

    def run(model: str) -> Work:
        words = ["score", "--facts", "f.tsv", "--rules", "r.rules", "--predictions", f"m={model}", "--output", "results", "--quiet"]
        return lambda: program.main([*words, "--format", "csv"], standalone_mode=False)

    def seen() -> object:
        """Between two renames the folder is beside its place, whole; the next run puts it back."""
        (there,) = [results] if results.exists() else folder.glob(".results.*.old")
        assert (there / "notes.txt").read_text() == "mine"
        found = rulescore.load_result(there)
        assert found.contributions is not None
        counts = found.model_results[0].predictions.rows
        tables = {path.name: path.read_text().splitlines()[1] for path in there.glob("*.csv")}
        assert str(counts) in tables["models.csv"]
        return counts, sorted(path.name for path in there.iterdir()), tables

    def clean() -> None:
        left = {path.name for path in folder.iterdir()} - {"f.tsv", "r.rules", "results", *MODELS}
        assert all(name.startswith(".results.") and name.endswith(".partial") for name in left), left

    return kill_everywhere(run("old"), run("new"), seen, clean)


def save(folder: Path) -> int:
    """`result.save`, over another result: a file, and its contributions beside it."""
    made = {
        name: rulescore.score(
            [("a", "p", "b"), ("a", "q", "b")], {"m": [tuple(line.split("\t")) for line in text.splitlines()]}, RULES
        )
        for name, text in MODELS.items()
    }
    path = folder / "result.json"

    def seen() -> object:
        found = rulescore.load_result(path)
        return found.model_results[0].predictions.rows, found.contributions.num_rows

    def clean() -> None:
        left = {one.name for one in folder.iterdir()} - {"result.json", "result.contributions.parquet"}
        assert all(name.endswith(".partial") for name in left), left

    return kill_everywhere(lambda: made["old"].save(path), lambda: made["new"].save(path), seen, clean)


def fetch(folder: Path) -> int:
    """`datasets fetch`: files that are there are whole."""
    os.environ |= {"XDG_CACHE_HOME": str(folder), "no_proxy": "*"}
    with running_site() as site:
        offered = data_set(site)
        place = folder / "rulescore" / "datasets"

        def before() -> None:
            for path in place.rglob("*"):
                if path.is_file():
                    path.unlink()

        def seen() -> object:
            sizes = {file.name: file.size for file in offered.files}
            found = {path.name: path.stat().st_size for path in place.rglob("*") if path.name in sizes}
            assert all(size == sizes[name] for name, size in found.items())
            return len(found) == len(sizes)

        def clean() -> None:
            assert sorted(path.name for path in place.rglob("*") if path.is_file()) == sorted(file.name for file in offered.files)

        return kill_everywhere(before, lambda: fetched(offered), seen, clean)


def data_set(site: Site) -> DataSet:
    """A file, and one more in an archive."""
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("inside/test.txt", b"a\tp\tb\n")
    contents = {"train.txt": b"a\tq\tb\n", "test.zip": packed.getvalue(), "test.txt": b"a\tp\tb\n"}
    files = {name: File(name, len(content), sha256(content).hexdigest()) for name, content in contents.items()}
    site.files |= {name: contents[name] for name in ("train.txt", "test.zip")}
    downloads = (
        Download(site.url("train.txt"), files["train.txt"]),
        Download(site.url("test.zip"), files["test.zip"], (("inside/test.txt", files["test.txt"]),)),
    )
    return replace(DATA_SETS["family"], files=tuple(file for one in downloads for file in one.files), downloads=downloads)


KINDS = {"score": score, "save": save, "fetch": fetch}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="rulescore-kills-") as temporary:
        os.chdir(temporary)
        print(f"killed {KINDS[sys.argv[1]](Path(temporary))} times")
        os.chdir("/")
