"""The program as a process: what it loads, how it is interrupted, what it leaves behind."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rulescore

pytestmark = pytest.mark.slow

# The package under test, wherever the process is started.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(rulescore.__file__).parents[1])}
START = "from rulescore.__main__ import main; main()"


def command(*arguments: str, start: str = START) -> list[str]:
    return [sys.executable, "-c", start, *arguments]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, encoding="utf-8", check=False, env={**ENVIRONMENT, **environment}
    )


def test_help_loads_neither_engine_nor_tables() -> None:
    check = "import sys; from rulescore.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    result = subprocess.run(command("--help", start=check), capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert "violations" in result.stdout
    assert {"duckdb", "pyarrow", "sqlglot", "rich", "numpy"}.isdisjoint(result.stderr.split())


WITH_WHAT_IS_LOADED = """
import sys
from rulescore.__main__ import main
try: main()
finally: print(*sys.modules, file=sys.stderr)
"""


def loaded_by(*arguments: str) -> set[str]:
    result = subprocess.run(
        command(*arguments, start=WITH_WHAT_IS_LOADED), capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert result.returncode == 0, result.stderr
    return set(result.stderr.splitlines()[-1].split())


def test_a_score_of_text_files_loads_only_what_it_needs(family: Path) -> None:
    given = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "good.tsv")
    loaded = loaded_by("score", *given, "--format", "json", "--quiet")
    assert {"duckdb", "pyarrow", "sqlglot", "rulescore.session.session"} <= loaded
    ours = ("accuracy.reading", "reporting.terminal", "reporting.files", "reporting.saved", "scoring.gates")
    others = {"pyarrow.parquet", "rich", "tomllib", *(f"rulescore.{one}" for one in ours)}
    assert loaded & others == set()


def test_a_mistake_is_told_without_a_traceback(family: Path) -> None:
    result = run("score", "--facts", "no.tsv", "--rules", "family.rules")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error[E301]")
    assert "Traceback" not in result.stderr


def test_output_is_the_same_through_a_pipe_with_and_without_colour(family: Path) -> None:
    plain = run("score", "family.toml", NO_COLOR="1")
    assert plain.returncode == 0
    assert "\x1b" not in plain.stdout
    assert run("score", "family.toml").stdout == plain.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        "--facts <(cat facts.tsv) --rules <(cat p.rules)",
        "--facts <(gzip -c facts.tsv) --rules p.rules",
        "--facts /dev/stdin --rules p.rules < facts.tsv",
        "--facts - --rules p.rules < <(cat facts.tsv)",
        "--facts p=- --rules p.rules < <(cut -f1,3 facts.tsv)",
        "--facts facts.tsv --rules - < p.rules",
        "--facts <(head -n 5 facts.tsv) --facts <(tail -n +6 facts.tsv) --rules p.rules",
    ],
)
def test_every_fact_of_a_pipe_is_read(tmp_path: Path, arguments: str) -> None:
    # 16 bytes a line: a line that was lost would leave no half of it behind.
    (tmp_path / "facts.tsv").write_text("".join(f"e{i:05d}\tp\tf{i:05d}\n" for i in range(20_000)))
    (tmp_path / "p.rules").write_text("p(X, Y) <- p(Y, X).\n")
    line = f"{shlex.join(command('check', '--format', 'csv'))} {arguments}"
    result = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    assert "observed facts,20000" in result.stdout.splitlines()


def test_standard_input_is_for_one_source(family: Path) -> None:
    result = run("score", "--facts", "-", "--rules", "family.rules", "--predictions", "m=/dev/stdin")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error[E327]")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs names for open files")
@pytest.mark.parametrize("facts", ["/dev/stdin", "-", "/dev/fd/0", "mother=/dev/fd/0"])
def test_standard_input_has_several_names(family: Path, facts: str) -> None:
    arguments = ("score", "--facts", facts, "--rules", "family.rules", "--predictions", "m=/dev/fd/0")
    line = f"cat train.tsv | {shlex.join(command(*arguments))}"
    result = subprocess.run(["bash", "-c", line], cwd=family, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error[E327]")


def test_a_file_that_is_also_standard_input_can_be_read_again(family: Path) -> None:
    arguments = ("check", "--facts", "-", "--facts", "train.tsv", "--rules", "family.rules")
    line = f"{shlex.join(command(*arguments))} < train.tsv"
    result = subprocess.run(["bash", "-c", line], cwd=family, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert result.returncode == 0, result.stderr


def opened_for_writing(pipe: str, process: subprocess.Popen[str]) -> int:
    """The pipe's other end, as soon as the process reads from it."""
    while process.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.05)
    raise AssertionError(process.communicate())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX pipe and signal")
def test_ctrl_c_exits_with_130_and_one_line_and_leaves_nothing(family: Path) -> None:
    """The predictions are a pipe that nobody writes to, so that the program surely waits when it is interrupted."""
    os.mkfifo("endless.tsv")
    process = subprocess.Popen(
        command("score", "--facts", "train.tsv", "--rules", "family.rules", "--predictions", "endless.tsv", "--output", "out"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    writer = opened_for_writing("endless.tsv", process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    os.close(writer)
    assert (process.returncode, stdout) == (130, "")
    assert stderr.strip() == "interrupted"
    assert not Path("out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX pipe")
def test_a_reader_that_stops_early_causes_no_traceback(family: Path) -> None:
    many = "".join(f"r{number}: mother(X, Y) <- father(X, Y).\n" for number in range(20_000))
    Path("many.rules").write_text(many)
    process = subprocess.Popen(
        command("rules", "--rules", "many.rules", "--format", "csv"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_an_encoding_without_lines_and_dashes_gets_hyphens(family: Path, encoding: str) -> None:
    result = subprocess.run(
        command("score", "family.toml", "-q"), capture_output=True, check=False, env={**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"-----" in result.stdout
    assert "\u2500" not in result.stdout.decode(encoding)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("arguments", [("score", "-q"), ("rules",)])
def test_output_that_cannot_be_written_is_one_line_and_two(family: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command(*arguments, "family.toml"), stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=ENVIRONMENT
        )
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "no space left" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(("closed", "told"), [(">&-", "error: standard output is closed\n"), (">&- 2>&-", "")])
def test_a_closed_standard_output_is_one_line_and_two(closed: str, told: str, family: Path) -> None:
    words = ["sh", "-c", f'"$@" {closed}', "sh", *command("score", "family.toml")]
    result = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False, env=ENVIRONMENT)
    assert (result.returncode, result.stderr) == (2, told)


# Runs the program, which is interrupted when the data are read and once more while it closes the database.
INTERRUPTED_TWICE = """
import os, signal
from rulescore.session.session import Session
close = Session.close

def interrupted_close(self):
    os.kill(os.getpid(), signal.SIGINT)
    close(self)

Session.close = interrupted_close
Session.summary = property(lambda self: os.kill(os.getpid(), signal.SIGINT))
from rulescore.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
def test_a_second_ctrl_c_lets_the_first_be_handled(family: Path) -> None:
    result = subprocess.run(
        command("check", "family.toml", start=INTERRUPTED_TWICE), capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert (result.returncode, result.stderr.strip()) == (130, "interrupted")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX pipe and signal")
@pytest.mark.parametrize(
    ("number", "code", "told"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "the terminal was closed")]
)
def test_a_request_to_terminate_leaves_nothing(number: int, code: int, told: str, family: Path) -> None:
    """The process begins with signals as usual: under `nohup`, tests would hand on that the end of the terminal is ignored."""
    os.mkfifo("endless.tsv")
    Path("temporary").mkdir()
    arguments = ("score", "--facts", "train.tsv", "--rules", "family.rules", "--predictions", "endless.tsv", "--output", "out")
    process = subprocess.Popen(
        command(*arguments, start=f"import signal; signal.signal({int(number)}, signal.SIG_DFL); {START}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "TMPDIR": str(family / "temporary")},
    )
    writer = opened_for_writing("endless.tsv", process)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    os.close(writer)
    assert (process.returncode, stdout, stderr.strip()) == (code, "", told)
    assert list(Path("temporary").iterdir()) == []
    assert not Path("out").exists()


def test_a_rule_of_a_hundred_atoms_ends_at_the_timeout(family: Path) -> None:
    """The database hears nothing while it plans a join of a hundred tables."""
    body = ", ".join(f"sister(X{i}, X{i + 1})" for i in range(100))
    Path("long.rules").write_text(f"aunt(X0, X100) <- {body}. closed aunt.", encoding="utf-8")
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "rulescore",
            "audit",
            "--facts",
            "train.tsv",
            "--rules",
            "long.rules",
            "--timeout",
            "0.02",
            "--quiet",
        ],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        timeout=300,
    )
    assert (result.returncode, result.stdout) == (3, "")
    assert "was stopped after 0.02 seconds, the `timeout` of the engine" in result.stderr
    assert "Traceback" not in result.stderr


IMPORT_WITHOUT_ROOM = """
import sys
class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        if name == "click":
            raise {error}
sys.meta_path.insert(0, Finder)
from rulescore.__main__ import main
main()
"""


@pytest.mark.parametrize("error", ["MemoryError", "ImportError('failed to map segment')"])
def test_too_little_memory_for_imports_is_one_line_and_three(error: str) -> None:
    start = IMPORT_WITHOUT_ROOM.format(error=error)
    result = subprocess.run(command(start=start), capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)
    assert result.stderr.startswith("error: the program cannot be loaded")


# Python 3.11 raises a RuntimeError for whatever goes wrong in `__set_name__`.
INTERRUPTED_IMPORT = """
import os, signal, sys
class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        if name == "MODULE":
            class Table:
                derived = Field()
sys.meta_path.insert(0, Finder)
import runpy
runpy.run_module("rulescore", run_name="__main__")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
@pytest.mark.parametrize("module", ["click", "numpy", "rulescore.session.session"])
def test_ctrl_c_is_heard_while_the_program_is_imported(module: str, family: Path) -> None:
    words = command("score", "family.toml", start=INTERRUPTED_IMPORT.replace("MODULE", module))
    result = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (result.returncode, result.stderr.strip()) == (130, "interrupted")


INTERRUPTED_OUTSIDE_OF_COMMANDS = """
import os, signal
from rulescore.cli.main import CommandLine, main
CommandLine.parse_args = lambda self, *given: os.kill(os.getpid(), signal.SIGINT)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
def test_ctrl_c_before_a_command_begins_is_no_failed_gate() -> None:
    words = command(start=INTERRUPTED_OUTSIDE_OF_COMMANDS)
    assert subprocess.run(words, capture_output=True, check=False, env=ENVIRONMENT).returncode == 130


def test_the_current_folder_is_not_searched_for_libraries(family: Path) -> None:
    for name in ("click", "numpy", "duckdb", "pyarrow"):
        (family / f"{name}.py").write_text("print('somebody else')")
    words = [sys.executable, "-m", "rulescore", "score", "family.toml", "--quiet"]
    result = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (result.returncode, result.stderr) == (0, "")
    assert "somebody else" not in result.stdout


SIGNAL_WHILE_CONFIGURED = """
import os, signal, sys
from rulescore.engines import duckdb
configured = duckdb.DuckDBEngine._configure
def slowly(self, options):
    configured(self, options)
    os.kill(os.getpid(), signal.SIGTERM)
    self._connection.execute("SELECT COUNT(*) FROM range(1000000) a, range(1000000) b").fetchall()
duckdb.DuckDBEngine._configure = slowly
sys.argv[0] = "rulescore"
from rulescore.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
def test_a_signal_while_the_engine_is_set_up(family: Path) -> None:
    result = subprocess.run(
        command("check", "family.toml", start=SIGNAL_WHILE_CONFIGURED), capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert (result.returncode, result.stderr.strip()) == (143, "terminated")


# Runs the program with a database that does not hear that it shall stop, and ends its statement while Python ends.
DEAF = """
import os, signal, threading, time
from rulescore.engines import duckdb
from rulescore.session.session import Session

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(4)

def waits(self):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
    statement = "SELECT COUNT(*) FROM range(30000) a(x), range(30000) b(x) WHERE (a.x * b.x) % 7 = 3"
    return self.engine._interruptible(lambda: self.engine._connection.execute(statement).fetchall())

slow = Slow()
duckdb._PATIENCE = 0.2
duckdb.DuckDBEngine.cancel = lambda self: None
Session.summary = property(waits)
from rulescore.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
def test_a_database_that_does_not_hear_is_left_without_a_crash(family: Path) -> None:
    """Python would end the database's thread in the midst of C++, which ends the process by SIGABRT."""
    result = subprocess.run(
        command("check", "family.toml", start=DEAF), capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert (result.returncode, result.stderr.strip()) == (143, "terminated")


NO_MEMORY = """
import sys
def gone(*given, **more):
    raise MemoryError
sys.argv[0] = "rulescore"
from rulescore.cli import main
main.program.commands["check"].callback = gone
main.main()
"""


def test_too_little_memory_is_one_line(family: Path) -> None:
    result = subprocess.run(
        command("check", "family.toml", start=NO_MEMORY), capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert (result.returncode, result.stderr.strip()) == (3, "error: this process ran out of memory")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(("file", "code"), [("missing.tsv", 2), ("train.tsv", 0)])
def test_a_closed_standard_error_changes_no_exit_code(family: Path, file: str, code: int) -> None:
    words = command("check", "--facts", file, "--rules", "family.rules")
    result = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *words], capture_output=True, check=False, env=ENVIRONMENT)
    assert result.returncode == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_an_error_that_cannot_be_told_keeps_its_exit_code(family: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command("score", "--facts", "missing.tsv", "--rules", "family.rules"), stderr=full, check=False, env=ENVIRONMENT
        )
    assert result.returncode == 2
