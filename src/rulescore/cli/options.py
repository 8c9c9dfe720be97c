"""Options that several commands share, and what was chosen with them, as data. Loads nothing but click."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
from click.core import ParameterSource

from rulescore.cli.progress import still
from rulescore.language.formats.names import FormatName
from rulescore.reporting.cells import Format
from rulescore.setting.choices import Bounds, FileFormat
from rulescore.setting.options import EngineOptions, ReadingOptions, RuleOptions, ScoringOptions, option, plain_type

CURVES = ("rank", "score")
LAYOUTS = ("published",)
RULE_FORMATS = tuple(one.value for one in FormatName)
DEFAULT_SCHEMA = "rulescore"
_QUIET = "rulescore.quiet"
_SPREADSHEET = "rulescore.spreadsheet"
_PATH = click.Path(path_type=Path)

Function = Callable[..., None]
Decorator = Callable[[Function], Function]


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """What a user said about the setting; None and () if an option is not given. `options`: those of `setting.options` that are
    given, by their names."""

    project: Path | None = None
    project_option: Path | None = option(
        "The project file, as an option. [default: ./rulescore.toml]", param_decls=("--project", "project_option")
    )
    trust: bool | None = option("Trust the project file for this run: it may run code and SQL.", is_flag=True)
    facts: tuple[str, ...] = option(
        "Observed facts: triples, or one predicate's facts.", (), multiple=True, metavar="PATH|NAME=PATH"
    )
    facts_format: FileFormat | None = option("The format of files of facts. [default: by ending and content]", metavar="NAME")
    negatives: tuple[str, ...] = option("Facts known to be false.", (), multiple=True, metavar="PATH|NAME=PATH")
    predictions: tuple[str, ...] = option(
        "A model's predictions; a plain path names the model.", (), multiple=True, metavar="MODEL=PATH|PATH"
    )
    predictions_format: FileFormat | None = option(
        "The format of files of predictions. [default: by ending and content]", metavar="NAME"
    )
    rules: tuple[Path, ...] = option("A rule file, ours or another tool's.", (), multiple=True, metavar="FILE")
    truth: tuple[str, ...] = option(
        "Held-out facts, or a table's true values: accuracy beside the scores.", (), multiple=True, metavar="PATH|NAME=PATH"
    )
    domains: str | None = option("Domains and ranges of relations, or `observed`: adds Sem@k.", metavar="PATH|observed")
    options: Mapping[str, Any] = field(default_factory=dict)


def _options(kind: type, *names: str) -> tuple[Decorator, ...]:
    """The options of click for the fields of a dataclass: those named, or all that have one."""
    types = get_type_hints(kind, include_extras=True)
    shown = [one for one in fields(kind) if "help" in one.metadata and (not names or one.name in names)]
    return tuple(_option(one.name, types[one.name], dict(one.metadata)) for one in shown)


def _option(name: str, kind: Any, look: dict[str, Any]) -> Decorator:
    """An option that is None, or () if it is repeatable, unless it is given."""
    flag = f"--{look.pop('name', name).replace('_', '-')}"
    plain, marks = plain_type(kind)
    declared = look.pop("param_decls", (f"{flag}/--no-{flag[2:]}" if plain is bool and "is_flag" not in look else flag,))
    plain = get_args(plain)[0] if look.get("multiple") else plain
    bounds = next((mark for mark in marks if isinstance(mark, Bounds)), None)
    if bounds is not None and plain is int:
        look["type"] = click.IntRange(int(bounds.least), None if bounds.most is None else int(bounds.most))
    elif bounds is not None:
        look["type"] = click.FloatRange(bounds.least, bounds.most, min_open=bounds.open)
    elif plain is Path:
        look["type"] = _PATH
    elif isinstance(plain, type) and issubclass(plain, StrEnum):
        look["type"] = click.Choice([choice.value for choice in plain])
    return click.option(*declared, **{"default": () if look.get("multiple") else None} | look)


def _log_statements(context: click.Context, parameter: click.Parameter, chosen: bool) -> None:
    if chosen or os.environ.get("RULESCORE_LOG"):
        still()  # a line that moves would break those of the log
    if chosen:
        from rulescore.engines.log import log_no_more, log_to_stderr

        log_to_stderr()
        context.call_on_close(log_no_more)


PROJECT: tuple[Decorator, ...] = (
    click.argument("project", required=False, type=_PATH),
    *_options(SettingChoice, "project_option", "trust"),
)
FACTS = _options(SettingChoice, "facts", "facts_format") + _options(ReadingOptions, "delimiter", "header")
NEGATIVES = _options(SettingChoice, "negatives")
PREDICTIONS = _options(SettingChoice, "predictions", "predictions_format") + _options(ReadingOptions, "top_k")
RULE_CHOICES = _options(RuleOptions, "min_confidence", "min_support", "max_length", "head")
RULES = _options(SettingChoice, "rules") + _options(RuleOptions)
SCORING = _options(ScoringOptions, "convention", "distinct_variables", "roles", "hard_needs")
ALLOWANCE = _options(ScoringOptions, "allow_unrefutable")
TRUTH = _options(SettingChoice, "truth", "domains")
ENGINE: tuple[Decorator, ...] = (
    *_options(EngineOptions),
    click.option(
        "--log-sql",
        is_flag=True,
        expose_value=False,
        callback=_log_statements,
        help="Write every statement to stderr, with its time and rows.",
    ),
)
ALL = PROJECT + FACTS + NEGATIVES + PREDICTIONS + RULES + SCORING + ENGINE


OPTIONS = tuple(
    str(one.metadata.get("name", one.name))
    for options in (EngineOptions, ScoringOptions, ReadingOptions, RuleOptions)
    for one in fields(options)
    if "help" in one.metadata
)
"""The names of options on the command line."""


def setting_options(decorators: tuple[Decorator, ...]) -> Decorator:
    """Adds the options and hands what was chosen to the command as `choice`."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def gathered(**given: Any) -> None:
            chosen = {one.name: given.pop(one.name) for one in fields(SettingChoice) if one.name in given}
            options = {name: given.pop(name) for name in OPTIONS if name in given}
            options = {name: value for name, value in options.items() if value not in (None, ())}
            function(choice=SettingChoice(**chosen, options=options), **given)

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
    for flag, printed in ((DRY_RUN, "shapes and estimated groundings"), (EXPLAIN, "shapes, estimated groundings and statements")):
        decorate = click.option(flag, "explain", flag_value=flag, help=f"Print {printed} instead of counting.")
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
