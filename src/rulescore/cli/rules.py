"""`rulescore rules`: lists the rules, all or those that pass a filter. Reads no data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import click

from rulescore.cli.convert import convert
from rulescore.cli.help import Command
from rulescore.cli.options import PROJECT, RULES, SettingChoice, format_option, quiet_option, setting_options
from rulescore.cli.output import show, show_warnings
from rulescore.language.syntax import Atom, Program, RowAtom, Rule, Test
from rulescore.language.trees import Node, nodes_in
from rulescore.logic.described import described_rules
from rulescore.scoring.results import RuleInfo
from rulescore.setting.model import SqlRule
from rulescore.setting.options import ScoringOptions
from rulescore.sql.sql_rules import relations_named


class RulesCommand(Command):
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
@setting_options(PROJECT + RULES)
@click.option("--name", metavar="PATTERN", help="List rules whose name matches; * and ? as in file names.")
@click.option("--tag", multiple=True, help="List rules with this tag; repeat it to ask for several tags at once.")
@click.option("--kind", type=click.Choice(["hard", "soft"]), help="List rules declared hard, or soft.")
@click.option("--predicate", multiple=True, help="List rules that mention this predicate; repeat it to ask for several at once.")
@format_option
@quiet_option
def rules(
    choice: SettingChoice,
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
    from rulescore.language.formats.base import TableName
    from rulescore.language.reading import read_rules
    from rulescore.reporting.findings import rules_listing

    wanted = RuleFilter(name, frozenset(tag), kind, frozenset(predicate))
    setting = load_rules(choice)
    reading = read_rules(setting.rules, [TableName(table.name, table.key) for table in setting.tables])
    show_warnings(reading.told, quiet=quiet)
    show(rules_listing(listed_rules(reading.program, setting.sql_rules, setting.scoring, wanted)), form)


# Selects the rules that a user wants to see.


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Conditions on a rule. A rule passes if it meets all of them."""

    name: str | None = None
    tags: frozenset[str] = frozenset()
    kind: str | None = None
    predicates: frozenset[str] = frozenset()


def listed_rules(program: Program, sql_rules: Sequence[SqlRule], options: ScoringOptions, wanted: RuleFilter) -> Iterator[RuleInfo]:
    named = [predicates_of(rule) for rule in program.rules] + [relations_named(rule.statement) for rule in sql_rules]
    for info, predicates in zip(described_rules(program, options, sql_rules), named, strict=True):
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
