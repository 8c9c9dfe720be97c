"""Options that several commands share, and what was chosen with them, as data. Loads nothing but click."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rulescore.cli.progress import still
from rulescore.language.formats.names import FormatName, WeighBy
from rulescore.reporting.format import Format
from rulescore.setting.choices import AT_LEAST_ONE, NOT_NEGATIVE, SECONDS, SHARE, THREADS, Bounds, Convention, FileFormat

CURVES = ("rank", "score")
LAYOUTS = ("published",)
RULE_FORMATS = tuple(one.value for one in FormatName)
_FACT_FORMATS = tuple(one.value for one in FileFormat)
DEFAULT_SCHEMA = "rulescore"
_QUIET = "rulescore.quiet"
_SPREADSHEET = "rulescore.spreadsheet"
_PATH = click.Path(path_type=Path)

Function = Callable[..., None]
Decorator = Callable[[Function], Function]


def _option(group: str, explained: str, *flags: str, **look: Any) -> Any:
    """A field of `SettingChoice`: its default, and its option, which belongs to a group. Without `flags` the field names it."""
    default = () if look.get("multiple") else look.get("default")
    return field(default=default, metadata={"group": group, "flags": flags, "look": {"help": explained, **look}})


def _whole(bounds: Bounds) -> click.IntRange:
    return click.IntRange(bounds.words["ge"], bounds.words.get("le"))


def _number(bounds: Bounds) -> click.FloatRange:
    words = bounds.words
    return click.FloatRange(words.get("ge", words.get("gt")), words.get("le"), min_open="gt" in words)


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """What a user said about the setting, and how it is said; None and () if an option is not given."""

    project: Path | None = None
    project_option: Path | None = _option(  # noqa: RUF009  # it returns a field
        "project", "The project file, as an option. [default: ./rulescore.toml]", "--project", "project_option", type=_PATH
    )
    trust: bool = _option("project", "Trust the project file for this run: it may run code and SQL.", is_flag=True, default=False)
    facts: tuple[str, ...] = _option(
        "facts", "Observed facts: triples, or one predicate's facts.", multiple=True, metavar="PATH|NAME=PATH"
    )
    facts_format: str | None = _option(
        "facts",
        "The format of files of facts. [default: by ending and content]",
        type=click.Choice(_FACT_FORMATS),
        metavar="NAME",
    )
    delimiter: str | None = _option(
        "facts", "The separator of columns in text files: a character, `tab` or `space`.", metavar="TEXT"
    )
    header: bool | None = _option(
        "facts", "Whether text files begin with a line of column names.", "--header/--no-header", default=None
    )
    negatives: tuple[str, ...] = _option("negatives", "Facts known to be false.", multiple=True, metavar="PATH|NAME=PATH")
    predictions: tuple[str, ...] = _option(
        "predictions", "A model's predictions; a plain path names the model.", multiple=True, metavar="MODEL=PATH|PATH"
    )
    predictions_format: str | None = _option(
        "predictions",
        "The format of files of predictions. [default: by ending and content]",
        type=click.Choice(_FACT_FORMATS),
        metavar="NAME",
    )
    top_k: int | None = _option("predictions", "How many of the best answers to each query we keep.", type=_whole(AT_LEAST_ONE))
    rules: tuple[Path, ...] = _option("rules", "A rule file, ours or another tool's.", multiple=True, type=_PATH, metavar="FILE")
    rules_format: str | None = _option(
        "rules", "The format of rule files. [default: by content]", type=click.Choice(RULE_FORMATS), metavar="NAME"
    )
    min_confidence: float | None = _option(
        "rule choices", "Only rules with at least this confidence from their miner.", type=_number(SHARE), metavar="X"
    )
    min_support: int | None = _option(
        "rule choices", "Only rules with at least this support from their miner.", type=_whole(NOT_NEGATIVE), metavar="N"
    )
    max_length: int | None = _option(
        "rule choices", "Only rules with at most N atoms in the body.", type=_whole(AT_LEAST_ONE), metavar="N"
    )
    head: tuple[str, ...] = _option(
        "rule choices", "Only rules with this predicate in the head; repeatable.", multiple=True, metavar="PREDICATE"
    )
    weigh_by: str | None = _option(
        "rules",
        "Take the tool's confidence or weight of each rule as its weight. [default: 1]",
        type=click.Choice([one.value for one in WeighBy]),
    )
    convention: str | None = _option(
        "scoring", "The way of counting. [default: definition]", type=click.Choice([one.value for one in Convention])
    )
    distinct_variables: bool | None = _option(
        "scoring",
        "Whether two variables must have different constants. [default: the convention's]",
        "--distinct-variables/--no-distinct-variables",
        default=None,
    )
    roles: str | None = _option(
        "scoring", "Roles in which predictions count: body, head, refuter. [default: the convention's]", metavar="ROLE,…"
    )
    hard_needs: int | None = _option(
        "scoring",
        "Rules that the data never break are hard only with N evaluable groundings. [default: 1]",
        type=_whole(AT_LEAST_ONE),
        metavar="N",
    )
    engine: str | None = _option("engine", "The database that counts. [default: duckdb]", metavar="URL")
    memory_limit: str | None = _option(
        "engine",
        "The most memory to take, such as 2GB: on DuckDB that of the whole process. [DuckDB: half of the machine's]",
        metavar="SIZE",
    )
    threads: int | None = _option("engine", "How many threads the engine may use.", type=_whole(THREADS))
    spill_folder: Path | None = _option("engine", "The folder for data that do not fit into memory.", type=_PATH)  # noqa: RUF009
    timeout: float | None = _option(
        "engine", "The longest time for one statement, or for planning.", type=_number(SECONDS), metavar="SECONDS"
    )
    allow_unrefutable: bool | None = _option(
        "allowance",
        "Score even if no declaration could refute any rule: a warning instead of an error.",
        is_flag=True,
        default=None,
    )
    truth: tuple[str, ...] = _option(
        "truth",
        "Held-out facts, or a table's true values: accuracy beside the scores.",
        multiple=True,
        metavar="PATH|NAME=PATH",
    )
    domains: str | None = _option(
        "truth",
        "Domains and ranges of relations, or `observed`: adds Sem@k.",
        metavar="PATH|observed",
    )


def _options(*groups: str) -> tuple[Decorator, ...]:
    chosen = (one for one in fields(SettingChoice) if one.metadata.get("group") in groups)
    return tuple(
        click.option(*(one.metadata["flags"] or [f"--{one.name.replace('_', '-')}"]), **one.metadata["look"]) for one in chosen
    )


def _log_statements(context: click.Context, parameter: click.Parameter, chosen: bool) -> None:
    if chosen or os.environ.get("RULESCORE_LOG"):
        still()  # a line that moves would break those of the log
    if chosen:
        from rulescore.engines.log import log_no_more, log_to_stderr

        log_to_stderr()
        context.call_on_close(log_no_more)


PROJECT: tuple[Decorator, ...] = (click.argument("project", required=False, type=_PATH), *_options("project"))
FACTS = _options("facts")
NEGATIVES = _options("negatives")
PREDICTIONS = _options("predictions")
RULE_CHOICES = _options("rule choices")
RULES = _options("rules", "rule choices")
SCORING = _options("scoring")
ALLOWANCE = _options("allowance")
TRUTH = _options("truth")
ENGINE: tuple[Decorator, ...] = (
    *_options("engine"),
    click.option(
        "--log-sql",
        is_flag=True,
        expose_value=False,
        callback=_log_statements,
        help="Write every statement to stderr, with its time and rows.",
    ),
)
ALL = PROJECT + FACTS + NEGATIVES + PREDICTIONS + RULES + SCORING + ENGINE


def setting_options(decorators: tuple[Decorator, ...]) -> Decorator:
    """Adds the options and hands what was chosen to the command as `choice`."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def gathered(**given: Any) -> None:
            chosen = {one.name: given.pop(one.name) for one in fields(SettingChoice) if one.name in given}
            function(choice=SettingChoice(**chosen), **given)

        command: Function = gathered
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


_format = click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    default=Format.TABLE.value,
    show_default=True,
    help="The format of the output.",
)
_spreadsheet = click.option(
    "--spreadsheet",
    is_flag=True,
    expose_value=False,
    callback=lambda context, parameter, chosen: context.meta.__setitem__(_SPREADSHEET, chosen),
    help="CSV that a spreadsheet does not compute: text that begins with = + - @ gets an apostrophe.",
)


def format_option(function: Function) -> Function:
    return _format(_spreadsheet(function))


output_option = click.option("--output", type=_PATH, metavar="FOLDER", help="Also write the results as files into this folder.")
plots_option = click.option(
    "--plots", type=_PATH, metavar="FOLDER", help="Also draw figures, as SVG, PNG and PDF files of this folder."
)
schema_option = click.option(
    "--schema",
    default=DEFAULT_SCHEMA,
    show_default=True,
    metavar="NAME",
    help="The schema of the published layout.",
)
EXPLAIN, DRY_RUN = "--explain", "--dry-run"


def explain_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`explain` is the option that was given, if one was."""
    for option, printed in ((DRY_RUN, "shapes and estimated groundings"), (EXPLAIN, "shapes, estimated groundings and statements")):
        decorate = click.option(option, "explain", flag_value=option, help=f"Print {printed} instead of counting.")
        command = decorate(command)
    return command


def is_for_spreadsheets(context: click.Context | None) -> bool:
    """Whether CSV is to be written so that a spreadsheet computes nothing of it."""
    return context is not None and bool(context.meta.get(_SPREADSHEET))


def is_quiet(context: click.Context) -> bool:
    """Whether the command that ran in this context, or in one within it, was asked to print no warnings."""
    return bool(context.meta.get(_QUIET))


def _remember_quiet(context: click.Context, parameter: click.Parameter, quiet: bool) -> bool:
    context.meta[_QUIET] = quiet
    if quiet:
        still()
    return quiet


quiet_option = click.option("-q", "--quiet", is_flag=True, callback=_remember_quiet, help="Print no warnings.")


def refuse_output_choices(option: str, *besides: str) -> None:
    """Refuses options for results beside one that prints something else; those `besides` are for that, too."""
    context = click.get_current_context()
    others = ("--format", "--output", "--plots", "--table", "--detail", "--curve", "--fail-if", "--junit", "--summary")
    for other in (one for one in others if one not in {option, *besides}):
        name = "form" if other == "--format" else other.removeprefix("--").replace("-", "_")
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            what = "prints no results" if option in {EXPLAIN, DRY_RUN} else "prints a table of its own"
            raise click.UsageError(f"`{option}` {what}: it cannot be combined with `{other}`")
