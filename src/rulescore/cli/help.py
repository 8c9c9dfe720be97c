"""The help of a command: its options in groups, and examples below them."""

from __future__ import annotations

from typing import Any

import click

_GROUPS = {
    "Data": "project project_option result trust facts facts_format test valid mined delimiter header negatives predictions "
    "predictions_format top_k truth domains rules source rules_format "
    "min_confidence min_support max_length head weigh_by",
    "Counting": "convention distinct_variables roles hard_needs allow_unrefutable tolerances",
    "Filters": "flag no_flag min_evaluable rate name tag kind predicate rule model models dataset prediction at_most min_expected",
    "Engine": "engine memory_limit jar memory threads seconds answers more spill_folder timeout log_sql schema",
}
_OTHERS = "Output"


class Command(click.Command):
    """A command whose help has the options in groups, and examples."""

    def __init__(self, *given: Any, examples: tuple[str, ...], **options: Any) -> None:
        super().__init__(*given, **options)
        self.examples = examples

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

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_examples(self.examples, formatter)


class OptionGroup(click.Group):
    """A group of commands, with examples."""

    def __init__(self, *given: Any, examples: tuple[str, ...], **options: Any) -> None:
        super().__init__(*given, **options)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_examples(self.examples, formatter)


def _write_examples(examples: tuple[str, ...], formatter: click.HelpFormatter) -> None:
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def _group(parameter: click.Parameter) -> str:
    return next((title for title, names in _GROUPS.items() if parameter.name in names.split()), _OTHERS)
