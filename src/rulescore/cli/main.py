"""The entry: the group of commands, and the exit code and message of each error.

Exit codes: 0 done, 1 a gate of the user failed, 2 wrong use, wrong input or output that cannot be written, 3 an engine
failed, 129 the terminal was closed, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

import click

from rulescore import plugins
from rulescore.cli import progress
from rulescore.cli.audit import audit
from rulescore.cli.incompatibilities import incompatibilities
from rulescore.cli.options import is_quiet
from rulescore.cli.output import painter, tell, told
from rulescore.cli.rules import check, rules
from rulescore.cli.score import score
from rulescore.cli.sql import sql
from rulescore.cli.violations import violations
from rulescore.errors import Diagnostic, EngineError, InputError, RulescoreError, Severity, masked, render_all
from rulescore.version import __version__
from rulescore.waiting import ENGINE_THREAD, warning


class Failure(click.ClickException):
    """Wrong use or wrong input. The message is complete: click adds nothing to it."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        tell(self.message)


class EngineFailure(Failure):
    exit_code = 3


class Interruption(Failure):
    exit_code = 130


class Termination(Failure):
    exit_code = 143


class Closing(Failure):
    exit_code = 129


class CommandLine(click.Group):
    """The commands of the core, and the commands that other parts add to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *plugins.plugins(plugins.COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = super().get_command(ctx, cmd_name)
        if known is None and cmd_name in plugins.plugins(plugins.COMMANDS):
            command: click.Command = plugins.load(plugins.COMMANDS, cmd_name)
            return command
        return known

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _hearing_signals(), _without_passwords():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _hearing_signals():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            with _without_passwords(), progress.shown_on_terminal(), warning(lambda problem: _warn(ctx, problem)):
                return super().invoke(ctx)
        except EngineError as error:
            raise EngineFailure(f"error: {error}") from error
        except InputError as error:
            raise Failure(_told(error, quiet=is_quiet(ctx))) from error
        except RulescoreError as error:
            raise Failure(str(error)) from error
        except MemoryError as error:
            raise EngineFailure("error: this process ran out of memory") from error


@contextmanager
def _hearing_signals() -> Iterator[None]:
    """Context manager: a signal ends the program with its code, even if it comes to us as an error of another kind."""
    try:
        yield
    except BaseException as error:
        match progress.interruption(error):
            case progress.Terminated():
                raise Termination("terminated") from error
            case progress.TerminalClosed():
                raise Closing("the terminal was closed") from error
            case KeyboardInterrupt():
                raise Interruption("interrupted") from error
            case None:
                raise


def _warn(ctx: click.Context, problem: Diagnostic) -> None:
    if not is_quiet(ctx):
        progress.say_above(told(problem))


@contextmanager
def _without_passwords() -> Iterator[None]:
    """Context manager: masks passwords in click's messages, which repeat the user's arguments."""
    try:
        yield
    except click.ClickException as error:
        error.message = masked(error.message)  # type: ignore[misc]  # click declares it final; we raise the same error
        raise


_EXAMPLES = """\b
Examples:
  rulescore init
  rulescore score --facts facts.csv --rules family.rules --predictions model.csv
"""


@click.group(cls=CommandLine, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXAMPLES)
@click.version_option(__version__, prog_name="rulescore")
def program() -> None:
    """Measure how far a model's predictions respect logical rules: the Rule Violation Score.

    A command reads a project file (./rulescore.toml unless you name another), or options alone, or both. An option replaces the
    value in the project file.
    """


for command in (score, audit, check, sql, incompatibilities, rules, violations):
    program.add_command(command)


def main() -> None:
    if sys.stdout is None:
        click.echo("error: standard output is closed", err=True)
        sys.exit(2)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 # it stays open until the process ends
    progress.stop_on_signals()
    progress.prepare_stdout()
    try:
        program(prog_name="rulescore")
    except SystemExit as end:
        if any(thread.name == ENGINE_THREAD for thread in threading.enumerate()):
            _leave(end)
        raise
    except OSError as error:
        progress.abandon_stdout()
        tell(f"error: input or output failed: {(error.strerror or str(error)).lower()}")
        sys.exit(2)


def _leave(end: SystemExit) -> NoReturn:
    """Ends the process at once. Python would end the thread of a database that still works, in the midst of its C++, which aborts
    the process with a message and an exit code of its own."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(end.code if isinstance(end.code, int) else 0)


def _told(error: InputError, *, quiet: bool) -> str:
    problems = [problem for problem in error.problems if not quiet or problem.severity is Severity.ERROR]
    return f"{render_all(problems, painter())}\n\n{_page(problems)}"


def _page(problems: Sequence[Diagnostic]) -> str:
    """Where the documents explain these errors: each code has an anchor on one page."""
    codes = dict.fromkeys(problem.code for problem in problems if problem.severity is Severity.ERROR)
    return f"more in the documentation: reference/errors {' '.join(f'#{code.lower()}' for code in codes)}"
