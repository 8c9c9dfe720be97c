"""AnyBURL is driven as its manual has it. The `java` here writes files as AnyBURL does, and tells what it was called with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for java is a script"),
]

JAVA = f"""#!{sys.executable}
import sys
from pathlib import Path

*options, program, config = sys.argv[1:]
lines = [line.split(" = ", 1) for line in Path(config).read_text().splitlines()]
given = {{name: value.encode().decode("unicode_escape") for name, value in lines}}
print(*options, program, flush=True)
if "FAIL" in given:
    print("Exception in thread main: OutOfMemoryError", file=sys.stderr)
    sys.exit(3)
output = given["PATH_OUTPUT"]
assert Path(given["PATH_TRAINING"]).read_text()
if program == "de.unima.ki.anyburl.Learn":
    for second in given["SNAPSHOTS_AT"].split(","):
        print(">>> CREATING SNAPSHOT after " + second + " seconds", flush=True)
        Path(output + "-" + second).write_text("443\\t167\\t0.37697516930022573\\thusband(X,Y) <= wife(Y,X)\\n")
elif program == "de.unima.ki.anyburl.Apply" and "SILENT" not in given:
    assert "<=" in Path(given["PATH_RULES"]).read_text()
    ranking = "1 husband 2\\nHeads: 1\\t0.9\\t5\\t0.5\\t\\nTails: 5\\t0.8\\t2\\t0.7\\t\\n"
    plain = "h\\tr\\tt\\tscore\\tquery\\n1\\thusband\\t2\\t.9\\th0\\n1\\thusband\\t5\\t.8\\tt0\\n1\\thusband\\t2\\t.7\\tt0\\n"
    Path(output).write_text(plain if "PLAIN" in given else ranking)
"""
RULES = "@hard one: false <- brother(X, Y), husband(X, Y).\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name is no ASCII, with data, a jar, and a `java` in `bin`."""
    here = tmp_path / "données"
    (here / "bin").mkdir(parents=True)
    (here / "bin" / "java").write_text(JAVA)
    (here / "bin" / "java").chmod(0o755)
    (here / "any.jar").touch()
    (here / "train.txt").write_text("2\twife\t1\n1\tbrother\t5\n", encoding="utf-8")
    (here / "test.txt").write_text("1\thusband\t2\n", encoding="utf-8")
    (here / "family.rules").write_text(RULES, encoding="utf-8")
    return here


def run(folder: Path, *arguments: str, path: str | None = None, jar: str | None = "any.jar") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path if path is not None else f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("RULESCORE_ANYBURL_JAR", None)
    if jar is not None:
        environment["RULESCORE_ANYBURL_JAR"] = jar
    command = [sys.executable, "-m", "rulescore", "anyburl", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")


LEARN = ("learn", "--facts", "train.txt")
APPLY = ("apply", "--facts", "train.txt", "--test", "test.txt")


def test_rules_are_mined(folder: Path) -> None:
    done = run(
        folder, *LEARN, "--seconds", "50", "--seconds", "10", "--threads", "2", "--memory", "3G", "--set", "MAX_LENGTH_CYCLIC=3"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "anyburl/rules-10\nanyburl/rules-50\n"
    assert "-Xmx3G -cp any.jar de.unima.ki.anyburl.Learn\n" in done.stderr
    assert ">>> CREATING SNAPSHOT after 10 seconds" in done.stderr
    escaped = str(folder).replace("é", "\\u00e9")
    assert (folder / "anyburl" / "config-learn.properties").read_text().splitlines() == [
        f"PATH_TRAINING = {escaped}/train.txt",
        f"PATH_OUTPUT = {escaped}/anyburl/rules",
        "SNAPSHOTS_AT = 10,50",
        "WORKER_THREADS = 2",
        "MAX_LENGTH_CYCLIC = 3",
    ]


def test_the_rules_of_the_longest_run_are_applied_and_the_ranking_is_named(folder: Path) -> None:
    run(folder, *LEARN, "--seconds", "9", "--seconds", "10", "-q")
    done = run(folder, *APPLY, "--valid", "test.txt", "--answers", "20", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "anyburl/ranking\n"
    options = "--facts train.txt --predictions anyburl=anyburl/ranking --truth test.txt --top-k 1"
    assert f"to score it: rulescore score {options} --rules FILE" in done.stderr
    assert "anyburl.Apply" not in done.stderr
    lines = (folder / "anyburl" / "config-apply.properties").read_text().splitlines()
    assert [line.partition(" = ")[0] for line in lines] == [
        "PATH_TRAINING",
        "PATH_TEST",
        "PATH_VALID",
        "PATH_RULES",
        "PATH_OUTPUT",
        "TOP_K_OUTPUT",
    ]
    assert lines[3].endswith("/anyburl/rules-10")


@pytest.mark.parametrize(("k", "kept"), [(1, 2), (2, 3)])
def test_what_is_written_is_scored(folder: Path, k: int, kept: int) -> None:
    run(folder, *LEARN)
    done = run(folder, *APPLY, "--rules", "family.rules", "--set", "PLAIN=1", "--top-k", str(k), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "AnyBURL has written anyburl/ranking" in done.stderr
    model = json.loads(done.stdout)["models"]["anyburl"]
    assert (model["kept"], model["hard_score"], model["violating"]) == (kept, 1, 1)


def test_a_ranking_is_scored_and_measured(folder: Path) -> None:
    """Of the answers 5 and 2 to husband(1, ?), the truth is the second."""
    run(folder, *LEARN)
    done = run(folder, *APPLY, "--rules", "family.rules", "--top-k", "2", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["models"]["anyburl"]["kept"], found["models"]["anyburl"]["violating"]) == (4, 1)
    mrr = {one["part"]: one["value"] for one in found["accuracy"][0]["measures"] if one["metric"] == "mrr"}
    assert mrr == {"both": 0.75, "head": 1.0, "tail": 0.5}


def test_a_failure_of_anyburl_is_told_with_its_last_words(folder: Path) -> None:
    done = run(folder, *LEARN, "--set", "FAIL=1", "-q")
    assert done.returncode == 3
    assert "AnyBURL ended with code 3" in done.stderr
    assert "OutOfMemoryError" in done.stderr


def test_an_older_ranking_is_not_taken_for_a_new_one(folder: Path) -> None:
    run(folder, *LEARN)
    assert run(folder, *APPLY).returncode == 0
    done = run(folder, *APPLY, "--set", "SILENT=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error[E583]: AnyBURL has not written `anyburl/ranking`" in done.stderr


def test_what_is_missing_is_told(folder: Path) -> None:
    done = run(folder, *LEARN, jar=None)
    assert done.returncode == 2
    assert "error[E580]: we do not know where AnyBURL's jar is" in done.stderr
    assert "`--jar PATH`" in done.stderr
    assert "error[E580]: there is no file `other.jar`" in run(folder, *LEARN, "--jar", "other.jar").stderr
    assert "error[E581]" in run(folder, *LEARN, path=str(folder)).stderr
    assert "error[E582]: there are no mined rules in `anyburl`" in run(folder, *APPLY).stderr
    assert "is not written `NAME=VALUE`" in run(folder, *LEARN, "--set", "WORKERS").stderr
    assert not (folder / "anyburl").exists()
