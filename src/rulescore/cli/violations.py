"""`rulescore violations`: lists the groundings that a count of violations counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli import options
from rulescore.cli.output import show, show_folded, tell, write

if TYPE_CHECKING:
    # Loading it takes longer than `--help` may.
    from rulescore.reporting.violations import ViolationTable

_DIRTY = ("row", "cell", "rows")
_BY = ("rule", "predicate", "refuter", "entity", "prediction", "pattern", *_DIRTY)
_ENDINGS = (".csv", ".json", ".parquet")


@click.command(
    cls=options.Command,
    examples=(
        "rulescore violations rulescore.toml --model careless --rule aunt_by_father",
        "rulescore violations --table sales.csv --rules sales.rules --dataset --by cell --output cells.csv",
    ),
)
@options.setting_options(options.ALL + options.LABELS)
@click.option("--rule", metavar="NAME", help="Show only violations of this rule.")
@click.option("--model", metavar="NAME", help="Show only violations with predictions of this model. [default: all models]")
@click.option("--dataset", is_flag=True, help="Show violations in the observed facts alone, without predictions.")
@click.option("--prediction", metavar="ATOM", help='Show only violations with this prediction: "wife(alice, daniel)".')
@click.option("--by", type=click.Choice(_BY), help="Count violations by this instead of listing them.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many violations to show.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Show a random sample of N violations.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the random sample.")
@options.file_option("Write violations to this .csv, .json or .parquet file.")
@options.format_option
@options.quiet_option
def violations(
    choice: options.SettingChoice,
    rule: str | None,
    model: str | None,
    dataset: bool,
    prediction: str | None,
    by: str | None,
    limit: int,
    sample: int | None,
    seed: int,
    output: Path | None,
    form: str,
    quiet: bool,
) -> None:
    """Show the groundings that violate rules.

    Shows for each its rule, the prediction and its roles, the body, the head, and the facts that refute the head.
    """
    if dataset and (model or prediction):
        raise click.UsageError("`--dataset` cannot be combined with `--model` or `--prediction`")
    if by is not None and (prediction or sample):
        raise click.UsageError("`--by` counts all violations: it cannot be combined with `--prediction` or `--sample`")
    from rulescore.cli.setting import COUNTING, load, require_rule, the_models
    from rulescore.language.parser import parse_atom
    from rulescore.reporting.dirt import dirt_listing, dirt_table
    from rulescore.reporting.findings import violation_counts_listing, violations_listing
    from rulescore.reporting.patterns import pattern_rows, patterns_listing
    from rulescore.reporting.tables import with_types
    from rulescore.reporting.violations import count_table, violation_table
    from rulescore.scoring.dirt import DirtyBy
    from rulescore.scoring.labels import rule_title
    from rulescore.session.session import Session

    if by in _DIRTY and not dataset:
        raise click.UsageError(f"`--by {by}` counts violations of the data: give `--dataset`")
    if output is not None:
        _require_ending(output)
    atom = None if prediction is None else parse_atom(prediction)
    # Without `--limit`, we write all violations to a file, and all counts to a table for programs.
    programs = output is not None or (by is not None and form in {"json", "csv"})
    most = None if programs and _is_default("limit") else limit
    with Session(load(choice, COUNTING).setting, horn=by not in _DIRTY) as session:
        # We ask the session for the models, since only the database knows the models of a published layout.
        source = None if dataset else the_models(model, [prediction.model for prediction in session.setting.predictions])
        if rule is not None:
            require_rule(rule, [info.name for info in session.rules])
        if by in _DIRTY:
            places = session.dirt(DirtyBy(by), rule)
            total = session.violations(rule=rule, limit=0).total
            counted = dirt_table(by, places, total, most)
            listing = with_types(dirt_listing(by, places, total, most), session.summary.tables)
        elif by is not None:
            counts = session.violation_counts(by, rule=rule, model=source)
            total = session.violations(rule=rule, model=source, limit=0).total
            counted = count_table(by, counts, session.prediction_keys, total, most)
            if by == "pattern":
                titles = {info.name: rule_title(info, session.labels) for info in session.rules}
                patterns = pattern_rows(counts, source or (), session.labels, titles)
                listing = patterns_listing(patterns, source or (), total, most)
            else:
                listing = violation_counts_listing(by, counts, total, most, session.rules)
            listing = with_types(listing, session.summary.tables)
        else:
            rows = session.violations(rule=rule, model=source, prediction=atom, limit=most, sample=sample, seed=seed)
            counted, listing = violation_table(rows, session.labels), with_types(violations_listing(rows), session.summary.tables)
        warnings, labels = session.warnings, session.labels
    if output is not None:
        _write(counted, output, by)
        if not quiet:
            tell(f"wrote {len(counted):,} of {counted.total:,} violations to {output}" if by is None else f"wrote {output}")
    elif form in {"json", "csv"}:
        if counted.says_nothing is not None and form == "csv" and not quiet:
            tell(counted.says_nothing)
        write(_text(counted, form, by))
    else:
        show(listing, form, labels=labels)
    show_folded(warnings, quiet=quiet, where="`rulescore check`")


def _is_default(option: str) -> bool:
    from click.core import ParameterSource

    return click.get_current_context().get_parameter_source(option) is ParameterSource.DEFAULT


def _require_ending(path: Path) -> None:
    from rulescore.errors import Diagnostic, InputError, ticked

    if path.suffix not in _ENDINGS:
        helps = (f"end its name with {ticked(_ENDINGS)}",)
        raise InputError(Diagnostic("E602", f"`{path}` has no ending that names a format for violations", helps=helps))


def _text(table: ViolationTable, form: str, by: str | None) -> str:
    from rulescore.reporting.violations import render_violations_csv, render_violations_json

    if form == "json":
        return render_violations_json(table, by)
    return render_violations_csv(table, spreadsheet=options.is_for_spreadsheets(click.get_current_context()))


def _write(table: ViolationTable, path: Path, by: str | None) -> None:
    from rulescore.reporting.files import write_files

    form = path.suffix.removeprefix(".")
    write_files(path.parent, {path.name: table.table if form == "parquet" else _text(table, form, by)})
