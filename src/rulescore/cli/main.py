"""The entry: the group of commands, and what errors become there.

Exit codes: 0 done, 1 a gate the user asked for was not met, 2 wrong use or wrong input, 3 an engine failed, 130 interrupted.
"""

from __future__ import annotations

from typing import IO, Any

import click

from rulescore.cli.audit import audit
from rulescore.cli.check import check
from rulescore.cli.demo import demo
from rulescore.cli.incompatibilities import incompatibilities
from rulescore.cli.rules import rules
from rulescore.cli.score import score
from rulescore.cli.sql import sql
from rulescore.cli.violations import violations
from rulescore.errors import EngineError, RulescoreError


class Failure(click.ClickException):
    """Wrong use or wrong input: a message that is complete as it is."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=file is None)


class EngineFailure(Failure):
    exit_code = 3


class Interruption(Failure):
    exit_code = 130


class Program(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except EngineError as error:
            raise EngineFailure(f"error: {error}") from error
        except RulescoreError as error:
            raise Failure(str(error)) from error
        except KeyboardInterrupt as error:
            raise Interruption("interrupted") from error


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rulescore")
def program() -> None:
    """Measure how far a model's predictions respect logical rules: the Rule Violation Score.

    Commands read a project file (./rulescore.toml unless another is named) or plain options; an option replaces what the
    project file says.
    """


for command in (demo, score, audit, check, sql, incompatibilities, rules, violations):
    program.add_command(command)


def main() -> None:
    program(prog_name="rulescore")
