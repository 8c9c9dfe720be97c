"""A comparison in every format: for people, for programs, in Python and as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from rulescore.characters import visible
from rulescore.reporting.cells import DEFAULT_FILE_FORMATS, UNDEFINED, Appearance, ComparisonTable, Format, counted, shown
from rulescore.reporting.comparison_listings import MEASURES, comparison_listings, pairs_of, table_listings, with_interval
from rulescore.reporting.csv import render_table_csv
from rulescore.reporting.files import file_formats, write_all
from rulescore.reporting.folder import COMPARISON_FILES, ENDINGS, new_folder
from rulescore.reporting.html import render_html
from rulescore.reporting.json import PROGRAM, VERSION, json_text, render_table_json, warning_json
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import CellKind, Listing
from rulescore.reporting.markdown import render_markdown
from rulescore.reporting.render import labelled, shown_table
from rulescore.reporting.terminal import render_terminal
from rulescore.scoring.comparison import ComparedResults
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.setting.choices import OutputFormat

_PLAIN = Appearance()


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison(ComparedResults):
    """Models side by side, and their differences. Its tables are `models`, `differences`, `rules`, `rule_differences` and
    `changes`."""

    @classmethod
    def of(cls, compared: ComparedResults) -> Self:
        return cls(**{one.name: getattr(compared, one.name) for one in fields(compared)})

    def __repr__(self) -> str:
        return visible(f"<ModelComparison of {_in_a_line(self)}>")

    def _repr_html_(self) -> str:
        return render_html(comparison_listings(self))

    def to_text(self, table: str | None = None, *, width: int = 100) -> str:
        """What `rulescore compare` prints, or one table of it."""
        return render_comparison(self, Format.TABLE, _chosen(table), appearance=Appearance(width))

    def to_markdown(self, table: str | None = None) -> str:
        """The same as GitHub's pipe tables."""
        return render_comparison(self, Format.MARKDOWN, _chosen(table))

    def to_latex(self, table: str = ComparisonTable.MODELS) -> str:
        """One table, for the packages booktabs and longtable; if it is of pairs or of models, one for each."""
        return render_comparison(self, Format.LATEX, _chosen(table))

    def to_csv(self, table: str | None = None, *, spreadsheet: bool = False) -> str:
        """One table, exact: that of differences or, of a model alone, that of models, unless another is asked for. `spreadsheet`:
        text that a spreadsheet would compute gets an apostrophe before it."""
        return render_comparison(self, Format.CSV, _chosen(table), spreadsheet=spreadsheet)

    def to_json(self, table: str | None = None) -> str:
        """All tables, or one."""
        return render_comparison(self, Format.JSON, _chosen(table))

    def to_pandas(self, which: str = ComparisonTable.MODELS) -> Any:
        """A table as a pandas frame of nullable types."""
        return pandas_frame(getattr(self, shown_table(which, ComparisonTable)))

    def to_polars(self, which: str = ComparisonTable.MODELS) -> Any:
        """A table as a Polars frame."""
        return polars_frame(getattr(self, shown_table(which, ComparisonTable)))


def _chosen(table: str | None) -> ComparisonTable | None:
    return None if table is None else shown_table(table, ComparisonTable)


def _in_a_line(comparison: ComparedResults) -> str:
    """Which models, and the verdict: of one pair, of many, or of none."""
    level = f"{comparison.level:.0%} intervals"
    differences, pairs = comparison.differences.to_pylist(), pairs_of(comparison)
    if len(pairs) == 1:
        words = [f"by {MEASURES[row['measure']]}: {row[row['better']] if row['better'] else UNDEFINED}" for row in differences]
        return f"{' and '.join(pairs[0])}, {level}: better {', '.join(words)}"
    if pairs:
        told = sum(row["better"] is not None for row in differences)
        return f"{counted(len(pairs), 'pair')} of models, {level}: {told:,} of {len(differences):,} differences are told apart"
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
    """One table or, if none is chosen: for people what matters of all, as JSON all of them, as CSV the differences (of a model
    alone, the models), as LaTeX the models."""
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
    """Arguments one after the other, as the other listings write several texts."""
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
