"""Options that several commands share, the choice that a user makes with them, and their form in the help. Loads nothing heavy."""

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
from rulescore.language.words import format_names
from rulescore.reporting.listing import Format
from rulescore.setting.choices import Bounds, FileFormat
from rulescore.setting.options import EngineOptions, ReadingOptions, RuleOptions, ScoringOptions, option, plain_type

_GROUPS = {
    "Data": "project project_option result trust facts facts_format tables keys targets test valid mined delimiter header "
    "negatives predictions predictions_format predictions_columns top_k truth domains labels rules source rules_format "
    "min_confidence min_support max_length head weigh_by link skip_bad_rows",
    "Counting": "convention distinct_variables roles hard_needs allow_unrefutable tolerances",
    "Filters": "flag no_flag min_evaluable rate name tag kind predicate rule model models dataset prediction at_most min_expected",
    "Engine": "engine memory_limit jar memory threads seconds answers more spill_folder timeout log_sql schema",
}
_OTHERS = "Output"


class _WithExamples(click.Command):
    """A command whose help has examples."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Command(_WithExamples):
    """A command whose help has the options in groups, and examples."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records: dict[str, list[tuple[str, str]]] = {title: [] for title in (*_GROUPS, _OTHERS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                records[_group(parameter)].append(record)
        for title, rows in records.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class OptionGroup(_WithExamples, click.Group):
    """A group of commands, with examples."""


def _group(parameter: click.Parameter) -> str:
    return next((title for title, names in _GROUPS.items() if parameter.name in names.split()), _OTHERS)


CURVES = ("rank", "score")
LAYOUTS = ("published",)
RULE_FORMATS = format_names()
DEFAULT_SCHEMA = "rulescore"
_QUIET = "rulescore.quiet"
_SPREADSHEET = "rulescore.spreadsheet"
_PATH = click.Path(path_type=Path)

Function = Callable[..., None]
Decorator = Callable[[Function], Function]


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """The options about the setting that a user gave; None or () for the others. `options`: the given options of `setting.options`,
    by name."""

    project: Path | None = None
    project_option: Path | None = option(
        "The project file, as an option. [default: ./rulescore.toml]", param_decls=("--project", "project_option")
    )
    trust: bool | None = option("Trust the project file for this run: it may run code and SQL.", is_flag=True)
    facts: tuple[str, ...] = option(
        "Observed facts: triples, or one predicate's facts.", (), multiple=True, metavar="PATH|NAME=PATH"
    )
    facts_format: FileFormat | None = option("The format of files of facts. [default: by ending and content]", metavar="NAME")
    tables: tuple[str, ...] = option(
        "A table: rows of a file, a folder, a pattern of names or a SQLite file.",
        (),
        multiple=True,
        param_decls=("--table", "tables"),
        metavar="NAME=PATH|PATH",
    )
    keys: tuple[str, ...] = option(
        "The key of a table that `--table` names. [default: the number of a row, or SQLite's primary key]",
        (),
        multiple=True,
        param_decls=("--key", "keys"),
        metavar="NAME=COLUMN,…",
    )
    targets: tuple[str, ...] = option(
        "The column of such a table that models predict. Its missing values are hidden.",
        (),
        multiple=True,
        param_decls=("--target", "targets"),
        metavar="NAME=COLUMN",
    )
    negatives: tuple[str, ...] = option("Facts known to be false.", (), multiple=True, metavar="PATH|NAME=PATH")
    predictions: tuple[str, ...] = option(
        "A model's predictions; a plain path names the model.", (), multiple=True, metavar="MODEL=PATH|PATH"
    )
    predictions_format: FileFormat | None = option(
        "The format of files of predictions. [default: by ending and content]", metavar="NAME"
    )
    predictions_columns: str | None = option(
        "Columns, or paths of fields, that play the parts of predictions.", metavar="head=NAME,relation=NAME,tail=NAME,…"
    )
    rules: tuple[Path, ...] = option("A rule file, ours or another tool's.", (), multiple=True, metavar="FILE")
    truth: tuple[str, ...] = option(
        "Held-out facts, or a table's true values: accuracy with the scores.", (), multiple=True, metavar="PATH|NAME=PATH"
    )
    labels: tuple[Path, ...] = option(
        "Show labels for ids, from a file of two columns, id and label.", (), multiple=True, metavar="FILE"
    )
    domains: str | None = option("Domains and ranges of relations, or `observed`: adds Sem@k.", metavar="PATH|observed")
    options: Mapping[str, Any] = field(default_factory=dict)


def _options(kind: type, *names: str) -> tuple[Decorator, ...]:
    """The options of click for the fields of a dataclass: the named fields, or all fields that have an option."""
    types = get_type_hints(kind, include_extras=True)
    shown = [field for field in fields(kind) if "help" in field.metadata and (not names or field.name in names)]
    return tuple(_option(field.name, types[field.name], dict(field.metadata)) for field in shown)


def _option(name: str, kind: Any, look: dict[str, Any]) -> Decorator:
    """An option. If the user does not give it, its value is None, or () if it is repeatable."""
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
        still()  # a progress line would get mixed up with the lines of the log
    if chosen:
        from rulescore.engines.base import log_no_more, log_to_stderr

        log_to_stderr()
        context.call_on_close(log_no_more)


PROJECT: tuple[Decorator, ...] = (
    click.argument("project", required=False, type=_PATH),
    *_options(SettingChoice, "project_option", "trust"),
)
FACTS = _options(SettingChoice, "facts", "facts_format") + _options(ReadingOptions, "delimiter", "header")
KEYS = _options(SettingChoice, "keys", "targets")
TABLES = _options(SettingChoice, "tables") + KEYS
NEGATIVES = _options(SettingChoice, "negatives")
PREDICTION_FILES = _options(SettingChoice, "predictions", "predictions_format", "predictions_columns")
PREDICTIONS = PREDICTION_FILES + _options(ReadingOptions, "top_k")
RULE_CHOICES = _options(RuleOptions, "min_confidence", "min_support", "max_length", "head")
RULE_FILES = _options(SettingChoice, "rules")
RULES = RULE_FILES + _options(RuleOptions)
SCORING = _options(ScoringOptions, "convention", "distinct_variables", "roles", "hard_needs")
ALLOWANCE = _options(ScoringOptions, "allow_unrefutable")
TRUTH = _options(SettingChoice, "truth", "domains")
LABELS = _options(SettingChoice, "labels")
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
ALL = PROJECT + FACTS + TABLES + NEGATIVES + PREDICTIONS + RULES + SCORING + ENGINE


OPTIONS = tuple(
    str(field.metadata.get("name", field.name))
    for options in (EngineOptions, ScoringOptions, ReadingOptions, RuleOptions)
    for field in fields(options)
    if "help" in field.metadata
)
"""The names of options on the command line."""


def setting_options(decorators: tuple[Decorator, ...]) -> Decorator:
    """Adds the options, and passes the user's choice to the command as `choice`."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def gathered(**values: Any) -> None:
            chosen = {field.name: values.pop(field.name) for field in fields(SettingChoice) if field.name in values}
            options = {name: values.pop(name) for name in OPTIONS if name in values}
            options = {name: value for name, value in options.items() if value not in (None, ())}
            function(choice=SettingChoice(**chosen, options=options), **values)

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
    help="Make CSV safe for spreadsheets: text that begins with = + - @ gets an apostrophe.",
)


def format_option(function: Function) -> Function:
    return _format(_spreadsheet(function))


output_option = click.option(
    "-o", "--output", type=_PATH, metavar="FOLDER", help="Also write the results as files into this folder."
)


def file_option(written: str, name: str = "output") -> Decorator:
    """An option for a file to write, which must not exist unless the user adds `--force`.

    Args:
        written: Says in the help what is written.
        name: The option; `output` is also `-o`.
    """
    flags = ("-o", "--output") if name == "output" else (f"--{name}",)

    def decorate(function: Function) -> Function:
        @wraps(function)
        def checked(**values: Any) -> None:
            force = values.pop("force")
            if (path := values[name]) is not None and not force:
                from rulescore.reporting.files import require_absent

                require_absent(path)
            function(**values)

        force = click.option("--force", is_flag=True, help=f"Overwrite the file that `--{name}` names.")
        return click.option(*flags, type=_PATH, metavar="FILE", help=written)(force(checked))

    return decorate


plots_option = click.option(
    "--plots", type=_PATH, metavar="FOLDER", help="Also draw figures, as SVG, PNG and PDF files in this folder."
)
report_option = click.option("--report", type=_PATH, metavar="FILE", help="Also write a report: one HTML file for people.")
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
    """Whether we write CSV so that spreadsheets take no cell for a formula."""
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
    """Refuses options for results, if `option` prints something else. The options `besides` may be combined with it."""
    context = click.get_current_context()
    others = ("--format", "--output", "--plots", "--table", "--detail", "--curve", "--fail-if", "--junit", "--summary", "--report")
    for other in (name for name in others if name not in {option, *besides}):
        name = "form" if other == "--format" else other.removeprefix("--").replace("-", "_")
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and context.params[name] is not None:
            what = "prints no results" if option in {EXPLAIN, DRY_RUN} else "prints a table of its own"
            raise click.UsageError(f"`{option}` {what}: it cannot be combined with `{other}`")
