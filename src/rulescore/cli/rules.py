"""`rulescore rules`, `rules convert` and `check`: lists, filters, converts and checks rules, without scoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rulescore.cli import options
from rulescore.cli.gates import given_gates, refuse_unknown
from rulescore.cli.output import save, show, show_warnings, write
from rulescore.language.syntax import Atom, Program, RowAtom, Rule, Test
from rulescore.language.trees import Node, nodes_in

if TYPE_CHECKING:
    # Help lists no rules, and loads no tables.
    from rulescore.scoring.results import RuleInfo
    from rulescore.setting.model import SqlRule
    from rulescore.setting.options import ScoringOptions


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Conditions on a rule. A rule passes if it meets every filter."""

    name: str | None = None
    tags: frozenset[str] = frozenset()
    kind: str | None = None
    predicates: frozenset[str] = frozenset()


def listed_rules(program: Program, sql_rules: Sequence[SqlRule], scoring: ScoringOptions, wanted: RuleFilter) -> Iterator[RuleInfo]:
    from rulescore.language.printer import rule_names
    from rulescore.logic.rules import described_rules
    from rulescore.sql.sql_rules import relations_named

    named = [predicates_of(rule) for rule in program.rules] + [relations_named(rule.statement) for rule in sql_rules]
    infos = described_rules(program, rule_names(program), scoring, sql_rules)
    for info, predicates in zip(infos, named, strict=True):
        if _matches(info, wanted) and wanted.predicates <= predicates:
            yield info


def predicates_of(rule: Rule) -> frozenset[str]:
    """The predicates, tables and attributes of tables that a rule names anywhere, also under `not` and in aggregates."""
    return frozenset(name for condition in (rule.head, rule.body) for node in nodes_in(condition) for name in _named(node))


def _named(node: Node) -> Iterator[str]:
    match node:
        case Atom(predicate=predicate) | Test(predicate=predicate):
            yield predicate
            yield from [predicate.partition(".")[0]] if "." in predicate else []
        case RowAtom(table=table, arguments=arguments):
            yield table
            yield from (f"{table}.{attribute}" for attribute, _ in arguments)
        case _:
            return


def _matches(info: RuleInfo, wanted: RuleFilter) -> bool:
    return (
        (wanted.name is None or fnmatchcase(info.name, wanted.name))
        and (wanted.kind is None or info.declared_kind == wanted.kind)
        and wanted.tags <= set(info.tags)
    )


@click.command(
    cls=options.Command,
    examples=(
        "rulescore rules convert family.rules.gz --to rulescore --min-confidence 0.5",
        "rulescore rules convert family.rules --to uniker --output MLN_rule.txt",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from", "source", type=click.Choice(options.RULE_FORMATS), metavar="NAME", help="The format of FILE. [default: by content]"
)
@click.option("--to", "target", type=click.Choice(options.RULE_FORMATS), metavar="NAME", required=True, help="The format to write.")
@options.setting_options(options.RULE_CHOICES)
@click.option("--table", metavar="NAME", help="The table of denial constraints from HoloClean or Desbordante.")
@click.option("--key", multiple=True, metavar="COLUMN", help="A key column of that table; repeatable.")
@options.file_option("The file to write. [default: stdout]")
@options.quiet_option
def convert(
    file: Path,
    source: str | None,
    target: str,
    choice: options.SettingChoice,
    table: str | None,
    key: tuple[str, ...],
    output: Path | None,
    quiet: bool,
) -> None:
    """Write the rules of FILE in another format.

    If a rule does not fit that format, writes nothing and names each such rule with the reason.
    """
    from rulescore.arguments.rule_sources import RuleFile, rule_sources
    from rulescore.language.reading import read_rules
    from rulescore.language.rule_formats import TableName, converted

    if (table is None) != (not key):
        raise click.UsageError("`--table` and `--key` belong together: give both or neither")
    wanted = RuleFile(file, source, **choice.options)
    reading = read_rules(rule_sources(wanted), [] if table is None else [TableName(table, key)])
    text, messages = converted(reading.program, target)
    show_warnings([*reading.told, *messages], quiet=quiet)
    if output is None:
        write(text)
    else:
        save(text, output, quiet=quiet, said=f"{len(reading.program.rules):,} rules to ")


@click.command(
    cls=options.Command,
    examples=(
        "rulescore check --facts facts.csv --rules family.rules",
        "rulescore check rulescore.toml --format json",
    ),
)
@options.setting_options(options.ALL)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--rules-only", is_flag=True, help="Check rule files without data. Every file named is a rule file.")
@options.format_option
@options.quiet_option
def check(choice: options.SettingChoice, files: tuple[Path, ...], rules_only: bool, form: str, quiet: bool) -> None:
    """Check rules and data; score nothing."""
    if rules_only:
        first = () if choice.project is None else (choice.project,)
        others = {name for name in choice.options if name != "rules_format"}
        if others or replace(choice, project=None, rules=(), options={}) != options.SettingChoice():
            raise click.UsageError("`--rules-only` reads whole rule files and nothing else: leave out the other options")
        _check_rule_files((*first, *files, *choice.rules), choice.options.get("rules_format"), form, quiet=quiet)
        return
    if files:
        raise click.UsageError(f"`{files[0]}` is one file too many: give `--rules-only` to check rule files without data")
    from rulescore.cli.setting import LOOKING, load
    from rulescore.reporting.findings import check_listing
    from rulescore.session.session import Session

    chosen = load(choice, LOOKING)
    gates = given_gates(chosen.gates)
    with Session(chosen.setting) as session:
        refuse_unknown(gates, session)
        listing = check_listing(session.summary, len(session.rules), session.predictions)
        # Some warnings come from counts over the data, which may need functions, and this command calls none.
        warnings = [*session.warnings, *session.told_pairs] if session.setting.functions else session.audit().warnings
    show(listing, form)
    show_warnings(warnings, quiet=quiet)


def _check_rule_files(files: tuple[Path, ...], written_in: str | None, form: str, *, quiet: bool) -> None:
    if not files:
        raise click.UsageError("`--rules-only` needs the names of rule files: give at least one")
    from rulescore.arguments.rule_sources import RuleFile, rule_sources
    from rulescore.logic.checks import check_rule_files
    from rulescore.reporting.findings import rule_files_listing

    rules, warnings = check_rule_files(rule_sources([RuleFile(file, written_in) for file in files]))
    show(rule_files_listing(len(files), rules), form)
    show_warnings(warnings, quiet=quiet)


class RulesCommand(options.Command):
    """The command `rules`. If its first argument is `convert`, the command `rules convert` runs instead."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["convert"]:
            return convert.make_context(f"{info_name} convert", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(
    cls=RulesCommand,
    examples=(
        "rulescore rules --rules family.rules --predicate wife",
        "rulescore rules rulescore.toml --kind hard --format csv",
    ),
)
@options.setting_options(options.PROJECT + options.TABLES + options.RULES)
@click.option("--name", metavar="PATTERN", help="List rules whose name matches; * and ? as in file names.")
@click.option("--tag", multiple=True, help="List rules with this tag; repeat it to ask for several tags at once.")
@click.option("--kind", type=click.Choice(["hard", "soft"]), help="List rules declared hard, or soft.")
@click.option("--predicate", multiple=True, help="List rules that mention this predicate; repeat it to ask for several at once.")
@options.format_option
@options.quiet_option
def rules(
    choice: options.SettingChoice,
    name: str | None,
    tag: tuple[str, ...],
    kind: str | None,
    predicate: tuple[str, ...],
    form: str,
    quiet: bool,
) -> None:
    """List the rules, or convert a rule file.

    `rulescore rules convert FILE --to FORMAT` writes rules for another tool: see `rulescore rules convert --help`.
    """
    from rulescore.cli.setting import load_rules
    from rulescore.language.reading import read_rules
    from rulescore.language.rule_formats import TableName
    from rulescore.reporting.findings import rules_listing
    from rulescore.session.session import labels_of

    wanted = RuleFilter(name, frozenset(tag), kind, frozenset(predicate))
    setting = load_rules(choice)
    reading = read_rules(setting.rules, [TableName(table.name, table.key) for table in setting.tables])
    show_warnings(reading.told, quiet=quiet)
    listing = rules_listing(listed_rules(reading.program, setting.sql_rules, setting.scoring, wanted))
    show(listing, form, labels=labels_of(setting))
