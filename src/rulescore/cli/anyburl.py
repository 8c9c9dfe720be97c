"""`rulescore anyburl`: runs the user's own AnyBURL, and scores its predictions."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rulescore.characters import visible
from rulescore.cli.help import Command, OptionGroup
from rulescore.cli.options import Decorator, Function, format_option, quiet_option
from rulescore.cli.output import tell
from rulescore.cli.score import score
from rulescore.errors import Diagnostic, EngineError, InputError

_PACKAGE = "de.unima.ki.anyburl"
_LAST_LINES = 5
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_RULES = "rules"
_RANKING = "ranking"


@dataclass(frozen=True, slots=True)
class Runner:
    """The jar, the options and the folder with which we run AnyBURL."""

    jar: Path | None
    folder: Path
    memory: str | None
    threads: int | None
    more: tuple[str, ...]
    quiet: bool

    def run(self, program: str, properties: Mapping[str, object], outputs: Sequence[Path]) -> list[Path]:
        """Writes the properties to a file, runs a program of AnyBURL with it, and returns the `outputs` that it has written."""
        if self.jar is None or not self.jar.is_file():
            what = "we do not know where AnyBURL's jar is" if self.jar is None else f"there is no file `{self.jar}`"
            helps = (
                "give `--jar PATH`, or set RULESCORE_ANYBURL_JAR; download AnyBURL from https://web.informatik.uni-mannheim.de/AnyBURL",
            )
            raise InputError(Diagnostic("E580", what, helps=helps))
        java = shutil.which("java")
        if java is None:
            helps = (
                "install Java 8 or later, such as with `apt install openjdk-17-jre-headless`, so that `java` is found on PATH",
            )
            raise InputError(Diagnostic("E581", "AnyBURL needs Java, and there is no `java` on PATH", helps=helps))
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / f"config-{program.lower()}.properties"
        threads = {} if self.threads is None else {"WORKER_THREADS": self.threads}
        chosen = {**properties, **threads, **dict(one.split("=", 1) for one in self.more)}
        config.write_text("".join(f"{name} = {_escaped(str(value))}\n" for name, value in chosen.items()), encoding="ascii")
        memory = [] if self.memory is None else [f"-Xmx{self.memory}"]
        for path in outputs:
            # A file of an earlier run would look like a result of this one.
            path.unlink(missing_ok=True)
        self._follow([java, *memory, "-cp", str(self.jar), f"{_PACKAGE}.{program}", str(config)])
        written = [path for path in outputs if path.is_file()]
        if not written:
            notes = ("AnyBURL ended without reporting an error; its output above may show the reason",)
            raise InputError(Diagnostic("E583", f"AnyBURL has not written `{outputs[-1]}`", notes=notes))
        return written

    def _follow(self, command: list[str]) -> None:
        """Shows the output of a command while it runs. If it fails, the error message repeats the last lines."""
        last: deque[str] = deque(maxlen=_LAST_LINES)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
        ) as process:
            assert process.stdout is not None
            try:
                for line in map(str.rstrip, process.stdout):
                    last.append(line)
                    if not self.quiet:
                        tell(visible(line))
            except BaseException:
                process.terminate()
                raise
        if process.returncode:
            raise EngineError(f"AnyBURL ended with code {process.returncode}; its last lines were:\n" + "\n".join(last))


def _escaped(value: str) -> str:
    """A value as Java's property files spell it: backslashes doubled, and line ends and characters beyond ASCII as `\\uXXXX`."""
    doubled = value.replace("\\", "\\\\")
    units = doubled.encode("utf-16-be")
    codes = [units[i] << 8 | units[i + 1] for i in range(0, len(units), 2)]
    return "".join(chr(code) if 32 <= code < 127 else f"\\u{code:04x}" for code in codes)


def _settings(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for one in given:
        if not re.fullmatch(r"[A-Z0-9_]+=.+", one):
            raise click.BadParameter(f"`{one}` is not written `NAME=VALUE`, such as `MAX_LENGTH_CYCLIC=3`")
    return given


_RUNNING: tuple[Decorator, ...] = (
    click.option(
        "--jar",
        type=click.Path(path_type=Path),
        envvar="RULESCORE_ANYBURL_JAR",
        help="AnyBURL's jar. [default: RULESCORE_ANYBURL_JAR]",
    ),
    click.option(
        "--folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("anyburl"),
        show_default=True,
        help="The folder for AnyBURL's files.",
    ),
    click.option("--memory", metavar="SIZE", help="The most memory that Java may use, such as 12G."),
    click.option("--threads", type=click.IntRange(min=1), help="How many threads AnyBURL may use."),
    click.option(
        "--set",
        "more",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_settings,
        help="Set a property of AnyBURL's own; repeatable.",
    ),
)
_FACTS = click.option("--facts", type=_FILE, required=True, metavar="PATH", help="The triples that AnyBURL learns from.")


def _running(function: Function) -> Function:
    for decorator in reversed(_RUNNING):
        function = decorator(function)
    return function


@click.group(
    cls=OptionGroup,
    examples=(
        "rulescore anyburl learn --facts train.txt --jar AnyBURL-23-1.jar",
        "rulescore anyburl apply --facts train.txt --test test.txt --rules family.rules",
    ),
)
def anyburl() -> None:
    """Run AnyBURL, and score its predictions.

    AnyBURL is a separate Java program that you download. These commands write its configuration and run it.
    """


@anyburl.command(
    cls=Command,
    examples=(
        "rulescore anyburl learn --facts train.txt --jar AnyBURL-23-1.jar",
        "rulescore anyburl learn --facts train.txt --seconds 10 --seconds 100 --set MAX_LENGTH_CYCLIC=3",
    ),
)
@_FACTS
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    multiple=True,
    default=(100,),
    show_default=True,
    help="How long AnyBURL learns. Repeat the option to write the rules found by each of these times.",
)
@_running
@quiet_option
def learn(
    facts: Path,
    seconds: tuple[int, ...],
    jar: Path | None,
    folder: Path,
    memory: str | None,
    threads: int | None,
    more: tuple[str, ...],
    quiet: bool,
) -> None:
    """Mine rules from triples."""
    moments = sorted(set(seconds))
    properties = {
        "PATH_TRAINING": facts.absolute().as_posix(),
        "PATH_OUTPUT": (folder / _RULES).absolute().as_posix(),
        "SNAPSHOTS_AT": ",".join(map(str, moments)),
    }
    outputs = [folder / f"{_RULES}-{one}" for one in moments]
    for path in Runner(jar, folder, memory, threads, more, quiet).run("Learn", properties, outputs):
        click.echo(visible(str(path)))


@anyburl.command(
    cls=Command,
    examples=(
        "rulescore anyburl apply --facts train.txt --test test.txt --rules family.rules",
        "rulescore anyburl apply --facts train.txt --test test.txt --mined anyburl/rules-100",
    ),
)
@_FACTS
@click.option("--test", type=_FILE, required=True, metavar="PATH", help="The triples whose heads and tails AnyBURL predicts.")
@click.option("--valid", type=_FILE, metavar="PATH", help="Further known triples: AnyBURL leaves them out of its answers.")
@click.option("--mined", type=_FILE, metavar="FILE", help="The mined rules. [default: those of the longest run in the folder]")
@click.option(
    "--answers", type=click.IntRange(min=1), default=100, show_default=True, help="How many answers AnyBURL writes for each query."
)
@click.option("--rules", type=_FILE, multiple=True, metavar="FILE", help="Rules to score the predictions by.")
@click.option(
    "--top-k", type=click.IntRange(min=1), default=1, show_default=True, help="How many of the best answers to each query we score."
)
@_running
@format_option
@quiet_option
@click.pass_context
def apply(
    context: click.Context,
    facts: Path,
    test: Path,
    valid: Path | None,
    mined: Path | None,
    answers: int,
    rules: tuple[Path, ...],
    top_k: int,
    jar: Path | None,
    folder: Path,
    memory: str | None,
    threads: int | None,
    more: tuple[str, ...],
    form: str,
    quiet: bool,
) -> None:
    """Predict with mined rules, and score.

    Prints the path of the ranking that AnyBURL writes. With --rules, scores the ranking.
    """
    ranking = folder / _RANKING
    properties = {
        "PATH_TRAINING": facts.absolute().as_posix(),
        "PATH_TEST": test.absolute().as_posix(),
        **({} if valid is None else {"PATH_VALID": valid.absolute().as_posix()}),
        "PATH_RULES": (mined or _longest(folder)).absolute().as_posix(),
        "PATH_OUTPUT": ranking.absolute().as_posix(),
        "TOP_K_OUTPUT": answers,
    }
    Runner(jar, folder, memory, threads, more, quiet).run("Apply", properties, [ranking])
    predictions = f"anyburl={ranking}"
    if rules:
        tell(visible(f"AnyBURL has written {ranking}"))
        given = {"facts": (str(facts),), "predictions": (predictions,), "truth": (str(test),), "rules": rules}
        context.invoke(score, **given, top_k=top_k, form=form, quiet=quiet)
    else:
        click.echo(visible(str(ranking)))
        options = f"--facts {facts} --predictions {predictions} --truth {test} --top-k {top_k}"
        tell(visible(f"to score it: rulescore score {options} --rules FILE"))


def _longest(folder: Path) -> Path:
    """The rules of the longest run of `learn`."""
    found = {int(match[1]): path for path in folder.glob(f"{_RULES}-*") if (match := re.fullmatch(rf"{_RULES}-(\d+)", path.name))}
    if not found:
        helps = ("run `rulescore anyburl learn` first, or name a file of mined rules with `--mined`",)
        raise InputError(Diagnostic("E582", f"there are no mined rules in `{folder}`", helps=helps))
    return found[max(found)]
