"""A comparison in every format: listings for people, texts for programs, tables in Python, and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from rulescore.comparison.changes import Change
from rulescore.comparison.comparing import MOST_MODELS, ComparedResults, are_many, with_first
from rulescore.errors.texts import visible
from rulescore.reporting.files import COMPARISON_FILES, ENDINGS, file_formats, new_folder, write_all
from rulescore.reporting.html import render_html
from rulescore.reporting.json import PROGRAM, VERSION, json_text, render_table_json, warning_json
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import (
    DEFAULT_FILE_FORMATS,
    UNDEFINED,
    Appearance,
    Cell,
    CellKind,
    Column,
    ComparisonTable,
    Filled,
    Format,
    Listing,
    ListingLayout,
    counted,
    filled,
    of_all,
    render_markdown,
    render_table_csv,
    shown,
)
from rulescore.reporting.render import labelled, shown_table
from rulescore.reporting.terminal import render_terminal
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.setting.choices import OutputFormat

MOST_ROWS = 20
"""Rules that separate two models, and predictions that changed: so many of each are shown to people."""

MEASURES = {"violating": "violating a hard rule", "hard_score": "RVS hard", "soft_score": "RVS soft"}
_BETWEEN = " to "

Row = Mapping[str, Any]
_Pair = tuple[str, str]


def comparison_listings(comparison: ComparedResults) -> list[Listing]:
    """The most important tables: the models and what distinguishes them or, if there are no differences, the rules of the
    models."""
    told_apart = len(comparison.differences) > 0
    if told_apart and are_many(comparison.models["model"].to_pylist()):
        return [_models(comparison), _many_differences(comparison)]
    shown = [ComparisonTable.DIFFERENCES, ComparisonTable.RULE_DIFFERENCES] if told_apart else [ComparisonTable.RULES]
    tables = [ComparisonTable.MODELS, *shown, *([ComparisonTable.CHANGES] if comparison.two_runs else [])]
    return [listing for table in tables for listing in table_listings(comparison, table)]


def table_listings(comparison: ComparedResults, table: ComparisonTable) -> list[Listing]:
    """One table. If it has a part for each pair or model, a listing for each."""
    rows: list[Row] = getattr(comparison, table).to_pylist()
    match table:
        case ComparisonTable.MODELS:
            return [_models(comparison)]
        case ComparisonTable.DIFFERENCES:
            return [_differences(rows)]
        case ComparisonTable.RULES:
            models = dict.fromkeys((row["run"], row["model"]) for row in rows)
            return [_rules_alone([row for row in rows if (row["run"], row["model"]) == model], model) for model in models]
        case ComparisonTable.RULE_DIFFERENCES:
            listings = [_rules(of_pair, pair) for pair, of_pair in _by_pair(rows, pairs_of(comparison)).items()]
            changed = [row for row in rows if row["change"] == Change.CHANGED]
            return [*listings, *([_changed_rules(changed)] if changed else [])]
        case ComparisonTable.CHANGES:
            return [_changes(of_pair, pair) for pair, of_pair in _by_pair(rows, pairs_of(comparison)).items()]


def pairs_of(comparison: ComparedResults) -> list[_Pair]:
    """The names of models that are compared with each other."""
    return list(dict.fromkeys(map(_pair, comparison.differences.to_pylist())))


def _pair(row: Row) -> _Pair:
    return row["first"], row["second"]


def _by_pair(rows: Iterable[Row], pairs: Iterable[_Pair]) -> dict[_Pair, list[Row]]:
    by_pair: dict[_Pair, list[Row]] = {pair: [] for pair in pairs}
    for row in rows:
        by_pair[_pair(row)].append(row)
    return by_pair


def _models(comparison: ComparedResults) -> Listing:
    rows: dict[tuple[str | None, str], dict[str, Row]] = {}
    for row in comparison.models.to_pylist():
        rows.setdefault((row["run"], row["model"]), {})[row["measure"]] = row
    run: Filled[dict[str, Row]] = (Column("run", "run"), lambda row: row["violating"]["run"])
    columns, cells = filled(
        rows.values(),
        *([run] if comparison.two_runs else ()),
        (Column("model", "model"), lambda row: row["violating"]["model"]),
        (Column("violating", "violating a hard rule", CellKind.COUNT), lambda row: _of_all(row["violating"])),
        *(_measure_column(measure, heading) for measure, heading in (MEASURES | {"violating": "share"}).items()),
    )
    reasons = _reasons((MEASURES[row["measure"]], row["reason"]) for row in comparison.models.to_pylist())
    return Listing("models", "Models, with intervals", columns, cells, notes=(comparison.method, *reasons))


def _measure_column(measure: str, heading: str) -> Filled[dict[str, Row]]:
    return Column(measure, heading, CellKind.COUNT), lambda row: with_interval(row[measure], "value", _kind(measure))


def _of_all(row: Row) -> Cell:
    return None if row["violating"] is None or row["value"] is None else of_all(row["violating"], row["predictions"])


def _kind(measure: str) -> CellKind:
    return CellKind.RATE if measure == "violating" else CellKind.SCORE


def with_interval(row: Row, name: str, kind: CellKind) -> Cell:
    """1.00 (0.52 to 1.73); without the bracket if there is no interval."""
    value = row[name]
    if value is None:
        return None
    prefix = "" if name == "value" else f"{name}_"
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    return shown(value, kind) if low is None else f"{shown(value, kind)} ({shown(low, kind)}{_BETWEEN}{shown(high, kind)})"


def _reasons(explained: Iterable[tuple[str, str | None]]) -> list[str]:
    """Why numbers have no interval: each reason once."""
    reasons: Counter[tuple[str, str]] = Counter((what, why) for what, why in explained if why is not None)
    return [f"{what}, no interval for {counted(number, 'model')}: {why}" for (what, why), number in reasons.items()]


def _differences(rows: Sequence[Row]) -> Listing:
    difference = Column("difference", "first less second", CellKind.COUNT)
    columns, cells = filled(
        rows,
        (Column("first", "first"), itemgetter("first")),
        (Column("second", "second"), itemgetter("second")),
        (Column("measure", "of"), lambda row: MEASURES[row["measure"]]),
        (difference, lambda row: with_interval(row, "difference", _kind(row["measure"]))),
        (Column("better", "better"), _better),
    )
    notes = ("a model is called better if the interval of the difference does not hold 0; less is better",)
    return Listing("differences", "Differences", columns, cells, notes=notes)


def _many_differences(comparison: ComparedResults) -> Listing:
    """The differences that a person can read of many models, and where the others are."""
    rows = comparison.differences.to_pylist()
    pairs = with_first(pairs_of(comparison), len(comparison.models) // len(MEASURES))
    listing = _differences([row for row in rows if _pair(row) in set(pairs)])
    has_one_first = len({first for first, _ in pairs}) == 1
    against = [f"all are compared with {pairs[0][0]}: choose another with `--against NAME`; {_ALL_PAIRS}"] if has_one_first else []
    return replace(listing, notes=(*listing.notes, *against, _RULES_OF_MANY))


_ALL_PAIRS = "each with each: `--format csv --table differences`"
_RULES_OF_MANY = (
    f"rules and changes are shown of at most {MOST_MODELS} models: choose them with `--model NAME`; of all: "
    "`--format csv --table rule_differences`"
)


def _better(row: Row) -> str:
    if row["difference_low"] is None:
        return UNDEFINED
    return "not told apart" if row["better"] is None else str(row[row["better"]])


def _rules_alone(rows: Sequence[Row], name: tuple[str | None, str]) -> Listing:
    """The rules that a model breaks most often, if there is no other model to compare with."""
    columns, cells = filled(
        sorted(rows, key=lambda row: -row["refuted"])[:MOST_ROWS],
        (Column("rule", "rule"), itemgetter("rule")),
        (Column("kind", "kind"), itemgetter("kind")),
        (Column("refuted", "refuted", CellKind.COUNT), lambda row: of_all(row["refuted"], row["evaluable"])),
        (Column("rate", "share", CellKind.COUNT), lambda row: with_interval(row, "rate", CellKind.RATE)),
        (Column("score", "score", CellKind.COUNT), lambda row: with_interval(row, "score", CellKind.SCORE)),
    )
    more = len(rows) - MOST_ROWS
    notes = [f"{more:,} more rules: `--format csv --table rules`"] if more > 0 else []
    return Listing("rules", f"Rules of {': '.join(filter(None, name))}, with intervals", columns, cells, notes=tuple(notes))


def _rules(rows: Sequence[Row], pair: tuple[str, str]) -> Listing:
    first, second = pair
    compared = [row for row in rows if row["change"] != Change.CHANGED]
    telling = [row for row in compared if row["first_refuted"] or row["second_refuted"]]
    difference = Column("difference", "score, first less second", CellKind.COUNT)
    columns, cells = filled(
        telling[:MOST_ROWS],
        (Column("rule", "rule"), itemgetter("rule")),
        (Column("kind", "kind"), itemgetter("kind")),
        (Column("first_refuted", "refuted by first", CellKind.COUNT), itemgetter("first_refuted")),
        (Column("second_refuted", "by second", CellKind.COUNT), itemgetter("second_refuted")),
        (Column("only_first", "by first alone", CellKind.COUNT), itemgetter("only_first")),
        (Column("only_second", "by second alone", CellKind.COUNT), itemgetter("only_second")),
        (difference, lambda row: with_interval(row, "difference", CellKind.SCORE)),
        (Column("better", "better"), _better),
    )
    notes = [f"first: {first}; second: {second}; alone: predictions that break the rule under the one and not under the other"]
    if len(telling) > MOST_ROWS:
        notes.append(
            f"{len(telling) - MOST_ROWS:,} more rules are broken by one or the other: `--format csv --table rule_differences`"
        )
    if len(compared) > len(telling):
        notes.append(f"{counted(len(compared) - len(telling), 'rule')} that neither breaks")
    if len(rows) > len(compared):
        notes.append(f"{counted(len(rows) - len(compared), 'rule')} whose text has changed: not compared")
    if len(rows) >= MOST_ROWS:
        notes.append(f"each interval is for one rule alone: of {len(rows):,} rules, some seem to differ by chance alone")
    return Listing("rule_differences", f"Rules that separate {first} and {second} most", columns, cells, notes=tuple(notes))


def _changed_rules(rows: Sequence[Row]) -> Listing:
    """Each changed rule once, with its text before and after."""
    columns = (Column("rule", "rule"), Column("first_text", "before"), Column("second_text", "after"))
    cells = tuple(dict.fromkeys((row["rule"], row["first_text"], row["second_text"]) for row in rows))
    notes = ("their violations in the one result say nothing about those in the other",)
    return Listing("changed_rules", "Rules whose text has changed", columns, cells, notes=notes, layout=ListingLayout.BLOCKS)


def _changes(rows: Sequence[Row], pair: tuple[str, str]) -> Listing:
    columns, cells = filled(
        rows[:MOST_ROWS],
        (Column("change", "change"), itemgetter("change")),
        (Column("rule", "rule"), itemgetter("rule")),
        (Column("prediction", "prediction"), lambda row: f"{row['predicate']}({', '.join(row['arguments'])})"),
        (Column("first_refuted", "refuted before", CellKind.COUNT), itemgetter("first_refuted")),
        (Column("second_refuted", "after", CellKind.COUNT), itemgetter("second_refuted")),
    )
    number = Counter(row["change"] for row in rows)
    summary = ", ".join(f"{number[change.value]:,} {change.value}" for change in Change if number[change.value])
    notes = [f"violations of predictions: {summary or 'none has changed'}"]
    if len(rows) > MOST_ROWS:
        notes.append(f"{len(rows) - MOST_ROWS:,} more: `--format csv --table changes`")
    return Listing("changes", f"From {pair[0]} to {pair[1]}", columns, cells, notes=tuple(notes))


_PLAIN = Appearance()


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison(ComparedResults):
    """Models side by side, and their differences, as Arrow tables. Every number has `low` and `high`, null with a reason if it has
    no interval.

    Attributes:
        method: How intervals were found.
        level: The level of the intervals.
        draws: How many times predictions were drawn.
        seed: The seed of the draws.
        two_runs: Whether two results were compared.
        models: A row for each model and measure.
        rules: A row for each model and rule.
        differences: A row for each pair of models and each measure: the first less the second.
        rule_differences: The same for each rule.
        changes: For two results, each prediction under a rule whose violations changed.
        warnings: What deserves a look.
    """

    @classmethod
    def of(cls, compared: ComparedResults) -> Self:
        """The same comparison, with its texts.

        Args:
            compared: The comparison.
        """
        return cls(**{field.name: getattr(compared, field.name) for field in fields(compared)})

    def __repr__(self) -> str:
        return visible(f"<ModelComparison of {_in_a_line(self)}>")

    def _repr_html_(self) -> str:
        return render_html(comparison_listings(self))

    def to_text(self, table: str | None = None, *, width: int = 100) -> str:
        """Render what `rulescore compare` prints, or one table of it.

        Args:
            table: `models`, `differences`, `rules`, `rule_differences` or `changes`; None for all that it prints.
            width: The width of the text in columns.
        """
        return render_comparison(self, Format.TABLE, _chosen(table), appearance=Appearance(width))

    def to_markdown(self, table: str | None = None) -> str:
        """Render what `to_text` renders, as GitHub's pipe tables.

        Args:
            table: `models`, `differences`, `rules`, `rule_differences` or `changes`; None for all that it prints.
        """
        return render_comparison(self, Format.MARKDOWN, _chosen(table))

    def to_latex(self, table: str = ComparisonTable.MODELS) -> str:
        """Render one table for the packages booktabs and longtable. If it has a part for each pair or model, render one table for
        each.

        Args:
            table: `models`, `differences`, `rules`, `rule_differences` or `changes`.
        """
        return render_comparison(self, Format.LATEX, _chosen(table))

    def to_csv(self, table: str | None = None, *, spreadsheet: bool = False) -> str:
        """Render one table, exact.

        Args:
            table: `models`, `differences`, `rules`, `rule_differences` or `changes`; None for the differences or, of one
                model, the models.
            spreadsheet: Put an apostrophe before text that a spreadsheet would compute.
        """
        return render_comparison(self, Format.CSV, _chosen(table), spreadsheet=spreadsheet)

    def to_json(self, table: str | None = None) -> str:
        """Render all tables, or one.

        Args:
            table: `models`, `differences`, `rules`, `rule_differences` or `changes`; None for all.
        """
        return render_comparison(self, Format.JSON, _chosen(table))

    def to_pandas(self, which: str = ComparisonTable.MODELS) -> Any:
        """A table as a pandas frame of nullable types.

        Args:
            which: `models`, `differences`, `rules`, `rule_differences` or `changes`.
        """
        return pandas_frame(getattr(self, shown_table(which, ComparisonTable)))

    def to_polars(self, which: str = ComparisonTable.MODELS) -> Any:
        """A table as a Polars frame.

        Args:
            which: `models`, `differences`, `rules`, `rule_differences` or `changes`.
        """
        return polars_frame(getattr(self, shown_table(which, ComparisonTable)))


def _chosen(table: str | None) -> ComparisonTable | None:
    return None if table is None else shown_table(table, ComparisonTable)


def _in_a_line(comparison: ComparedResults) -> str:
    """Names the models, with the verdict if there is one pair, and the number of pairs otherwise."""
    level = f"{comparison.level:.0%} intervals"
    differences, pairs = comparison.differences.to_pylist(), pairs_of(comparison)
    if len(pairs) == 1:
        words = [f"by {MEASURES[row['measure']]}: {row[row['better']] if row['better'] else UNDEFINED}" for row in differences]
        return f"{' and '.join(pairs[0])}, {level}: better {', '.join(words)}"
    if pairs:
        separated = sum(row["better"] is not None for row in differences)
        return f"{counted(len(pairs), 'pair')} of models, {level}: {separated:,} of {len(differences):,} differences are told apart"
    rows = comparison.models.to_pylist()
    scores = [row for row in rows if row["measure"] != "violating"]
    names = list(dict.fromkeys(row["model"] for row in rows))
    if len(names) > 1:
        return f"{counted(len(names), 'model')}, {level}"
    words = [f"{MEASURES[row['measure']]} {shown(with_interval(row, 'value', CellKind.SCORE), CellKind.TEXT)}" for row in scores]
    return f"{names[0]} alone, {level}: {', '.join(words)}"


def render_comparison(
    comparison: ComparedResults,
    form: Format,
    table: ComparisonTable | None = None,
    *,
    appearance: Appearance = _PLAIN,
    spreadsheet: bool = False,
) -> str:
    """One table. If none is chosen: for people the most important parts, as JSON all tables, as CSV the differences (or the models,
    if there is only one), as LaTeX the models."""
    match form:
        case Format.JSON:
            return _json(comparison) if table is None else render_table_json(f"comparison_{table}", getattr(comparison, table))
        case Format.CSV:
            return render_table_csv(_flat(getattr(comparison, table or _table_of(comparison))), spreadsheet=spreadsheet)
        case Format.LATEX:
            return "\n".join(map(render_latex, labelled(table_listings(comparison, table or ComparisonTable.MODELS))))
        case Format.TABLE:
            return render_terminal(_listings(comparison, table), appearance)
        case Format.MARKDOWN:
            return "\n".join(map(render_markdown, _listings(comparison, table)))


def _listings(comparison: ComparedResults, table: ComparisonTable | None) -> Sequence[Listing]:
    return comparison_listings(comparison) if table is None else table_listings(comparison, table)


def _table_of(comparison: ComparedResults) -> ComparisonTable:
    return ComparisonTable.DIFFERENCES if len(comparison.differences) else ComparisonTable.MODELS


def _json(comparison: ComparedResults) -> str:
    document = {
        "program": PROGRAM,
        "version": VERSION,
        "listing": "comparison",
        "method": comparison.method,
        "level": comparison.level,
        "draws": comparison.draws,
        "seed": comparison.seed,
        "two_runs": comparison.two_runs,
        **{table.value: getattr(comparison, table).to_pylist() for table in ComparisonTable},
        "warnings": [warning_json(problem) for problem in comparison.warnings],
    }
    return json_text(document)


def _flat(table: Any) -> Any:
    """Arguments separated like other lists of texts."""
    if "arguments" not in table.column_names:
        return table
    place = table.column_names.index("arguments")
    texts = ["; ".join(words) for words in table["arguments"].to_pylist()]
    return table.set_column(place, "arguments", pa.array(texts, pa.string()))


def comparison_file(
    comparison: ComparedResults, form: OutputFormat, table: ComparisonTable | None = None, *, spreadsheet: bool = False
) -> str | Any:
    """What a file of this format holds: a text, or an Arrow table."""
    if form is OutputFormat.PARQUET:
        return getattr(comparison, table or _table_of(comparison))
    return render_comparison(comparison, Format(form), table, spreadsheet=spreadsheet)


def write_comparison(
    comparison: ComparedResults, folder: Path, formats: Iterable[str] = DEFAULT_FILE_FORMATS, *, spreadsheet: bool = False
) -> tuple[Path, ...]:
    """The files written: every table as CSV, LaTeX and Parquet, and one file as JSON, Markdown or text."""
    contents: dict[str, str | Any] = {}
    for form in file_formats(formats):
        contents |= _files(comparison, form, spreadsheet)
    with new_folder(folder, COMPARISON_FILES) as draft:
        return write_all(draft, folder, contents)


def _files(comparison: ComparedResults, form: OutputFormat, spreadsheet: bool) -> dict[str, str | Any]:
    if form not in {OutputFormat.CSV, OutputFormat.LATEX, OutputFormat.PARQUET}:
        return {f"comparison.{ENDINGS[Format(form)]}": comparison_file(comparison, form)}
    ending = "parquet" if form is OutputFormat.PARQUET else ENDINGS[Format(form)]
    return {
        f"comparison_{table}.{ending}": comparison_file(comparison, form, table, spreadsheet=spreadsheet)
        for table in ComparisonTable
    }
