"""Options that several commands share, and what was chosen with them, as data.

Loads nothing but click: choices are spelt out here, and a test compares them with the enumerations they stand for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rulescore.cli.progress import still
from rulescore.reporting.format import Format

CONVENTIONS = ("definition", "appendix")
CURVES = ("rank", "score")
LAYOUTS = ("published",)
RULE_FORMATS = (
    "rulescore",
    "amie",
    "anyburl",
    "desbordante",
    "holoclean",
    "mln",
    "ncrl",
    "neural-lp",
    "prolog",
    "psl",
    "rnnlogic",
    "uniker",
)
FACT_FORMATS = (
    "text",
    "parquet",
    "ntriples",
    "nquads",
    "turtle",
    "trig",
    "rdfxml",
    "numpy",
    "amie",
    "anyburl",
    "neural-lp",
    "expressgnn",
    "psl",
)
WEIGHTS = ("confidence", "weight")
DEFAULT_SCHEMA = "rulescore"
_QUIET = "rulescore.quiet"
_SPREADSHEET = "rulescore.spreadsheet"

Function = Callable[..., None]
Decorator = Callable[[Function], Function]


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """What a user said about the setting; None and () where nothing was said."""

    project: Path | None = None
    project_option: Path | None = None
    facts: tuple[str, ...] = ()
    facts_format: str | None = None
    negatives: tuple[str, ...] = ()
    predictions: tuple[str, ...] = ()
    predictions_format: str | None = None
    rules: tuple[Path, ...] = ()
    rules_format: str | None = None
    min_confidence: float | None = None
    min_support: int | None = None
    max_length: int | None = None
    head: tuple[str, ...] = ()
    weigh_by: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    top_k: int | None = None
    convention: str | None = None
    distinct_variables: bool | None = None
    roles: str | None = None
    engine: str | None = None
    memory_limit: str | None = None
    threads: int | None = None
    spill_folder: Path | None = None
    timeout: float | None = None
    trust: bool = False
    allow_unrefutable: bool | None = None
    truth: tuple[str, ...] = ()
    domains: str | None = None


_PATH = click.Path(path_type=Path)

PROJECT: tuple[Decorator, ...] = (
    click.argument("project", required=False, type=_PATH),
    click.option("--project", "project_option", type=_PATH, help="The project file, as an option. [default: ./rulescore.toml]"),
    click.option("--trust", is_flag=True, help="Let the project file run code, SQL and whatever else it asks for, this once."),
)
FACTS: tuple[Decorator, ...] = (
    click.option("--facts", multiple=True, metavar="PATH|NAME=PATH", help="Observed facts: triples, or one predicate's facts."),
    click.option(
        "--facts-format",
        type=click.Choice(FACT_FORMATS),
        metavar="NAME",
        help="The format of files of facts. [default: by ending and content]",
    ),
    click.option("--delimiter", metavar="TEXT", help="What separates columns of text files: a character, `tab` or `space`."),
    click.option("--header/--no-header", default=None, help="Whether text files begin with a line of column names."),
)
NEGATIVES: tuple[Decorator, ...] = (
    click.option("--negatives", multiple=True, metavar="PATH|NAME=PATH", help="Facts known to be false."),
)
PREDICTIONS: tuple[Decorator, ...] = (
    click.option(
        "--predictions", multiple=True, metavar="MODEL=PATH|PATH", help="A model's predictions; a plain path names the model."
    ),
    click.option(
        "--predictions-format",
        type=click.Choice(FACT_FORMATS),
        metavar="NAME",
        help="The format of files of predictions. [default: by ending and content]",
    ),
    click.option("--top-k", type=click.IntRange(min=1), help="How many of the best answers to each query are kept."),
)
RULE_CHOICES: tuple[Decorator, ...] = (
    click.option(
        "--min-confidence", type=click.FloatRange(0, 1), metavar="X", help="Rules whose miner gives them as much confidence."
    ),
    click.option("--min-support", type=click.IntRange(min=0), metavar="N", help="Rules whose miner gives them as much support."),
    click.option("--max-length", type=click.IntRange(min=1), metavar="N", help="Rules with at most so many atoms in the body."),
    click.option("--head", multiple=True, metavar="PREDICATE", help="Rules about this predicate; repeatable."),
)
RULES: tuple[Decorator, ...] = (
    click.option("--rules", multiple=True, type=_PATH, metavar="FILE", help="A rule file, ours or another tool's."),
    click.option(
        "--rules-format", type=click.Choice(RULE_FORMATS), metavar="NAME", help="The format of rule files. [default: by content]"
    ),
    *RULE_CHOICES,
    click.option(
        "--weigh-by",
        type=click.Choice(WEIGHTS),
        help="What the rules' tool says of each becomes its weight. [default: weights are 1]",
    ),
)
SCORING: tuple[Decorator, ...] = (
    click.option("--convention", type=click.Choice(CONVENTIONS), help="The way of counting. [default: definition]"),
    click.option(
        "--distinct-variables/--no-distinct-variables",
        default=None,
        help="Whether two variables may not stand for one constant. [default: the convention's]",
    ),
    click.option(
        "--roles", metavar="ROLE,…", help="Roles in which predictions count: body, head, refuter. [default: the convention's]"
    ),
)
ALLOWANCE: tuple[Decorator, ...] = (
    click.option(
        "--allow-unrefutable",
        is_flag=True,
        default=None,
        help="Score although nothing declared could refute any rule: a warning instead of an error.",
    ),
)
TRUTH: tuple[Decorator, ...] = (
    click.option(
        "--truth",
        multiple=True,
        metavar="PATH|NAME=PATH",
        help="Held-out facts, or a table's true values: accuracy beside the scores.",
    ),
    click.option(
        "--domains",
        metavar="PATH|observed",
        help="Domains and ranges of relations, or those that are observed: Sem@k beside the scores.",
    ),
)


def _log_statements(context: click.Context, parameter: click.Parameter, chosen: bool) -> None:
    if chosen or os.environ.get("RULESCORE_LOG"):
        still()  # a line that moves would break those of the log
    if chosen:
        from rulescore.engines.log import log_no_more, log_to_stderr

        log_to_stderr()
        context.call_on_close(log_no_more)


ENGINE: tuple[Decorator, ...] = (
    click.option("--engine", metavar="URL", help="The database that counts. [default: duckdb]"),
    click.option(
        "--memory-limit",
        metavar="SIZE",
        help="The most memory to take, such as 2GB: on DuckDB this process with all it holds. [DuckDB: half of the machine's]",
    ),
    click.option("--threads", type=click.IntRange(1, 1_024), help="How many threads the engine may use."),
    click.option("--spill-folder", type=_PATH, help="Where the engine puts what does not fit into memory."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="The most that one statement, or planning, may take.",
    ),
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
            chosen = {field.name: given.pop(field.name) for field in fields(SettingChoice) if field.name in given}
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
    help="How results are printed.",
)
_spreadsheet = click.option(
    "--spreadsheet",
    is_flag=True,
    expose_value=False,
    callback=lambda context, parameter, chosen: context.meta.__setitem__(_SPREADSHEET, chosen),
    help="CSV of which a spreadsheet computes nothing: text that begins with = + - @ gets an apostrophe.",
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
