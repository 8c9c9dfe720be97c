"""The one function for every format: takes an evaluation or a listing, returns text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.reporting.accuracy import accuracy_listings
from rulescore.reporting.html import render_html
from rulescore.reporting.json import render_json, render_listing_json, render_table_json
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import (
    AS_IT_IS,
    Appearance,
    Audience,
    Cell,
    CellKind,
    Column,
    ComparisonTable,
    Format,
    Listing,
    Shown,
    TableChoice,
    picked,
    render_csv,
    render_markdown,
    render_table_csv,
)
from rulescore.reporting.short import models_listing, rules_listing, short_listings
from rulescore.reporting.tables import detailed_listings
from rulescore.scoring.evaluation import Evaluation, Which
from rulescore.scoring.labels import Labels, rule_title

if TYPE_CHECKING:
    # We import this for type checkers only, so results without gates load no gates.
    from rulescore.scoring.gate_outcomes import Outcome


_PLAIN, _NO_LABELS = Appearance(), Labels()


_Table = TypeVar("_Table", Shown, ComparisonTable)


def shown_table(name: str, tables: type[_Table]) -> _Table:
    """The table of that name; raises an error if there is none."""
    if name in set(tables):
        return tables(name)
    notes = (f"the tables are {ticked(tables)}",)
    helps = meant(name, list(tables))
    raise InputError(Diagnostic("E502", f"no table is named `{name}`", notes=notes, helps=helps))


def render(
    result: Evaluation | Listing,
    form: Format,
    *,
    table: Shown | None = None,
    detail: bool = False,
    appearance: Appearance = _PLAIN,
    spreadsheet: bool = False,
    gates: Sequence[Outcome] = (),
    choice: TableChoice = AS_IT_IS,
    labels: Labels = _NO_LABELS,
) -> str:
    """The text of a result, ending with a line end. For an evaluation, people see the short listing, one table, or everything. JSON
    has everything, with the outcomes of `gates`. CSV and LaTeX hold one table: unless another is chosen, CSV the rules under each
    model, LaTeX the models. With columns of `choice`, every format holds one table: the models unless another is chosen. `labels`:
    the names that people see in a listing in place of ids. An evaluation has its own labels."""
    if choice.columns:
        table = table or Shown.MODELS
    match form:
        case Format.TABLE:
            from rulescore.reporting.terminal import render_terminal

            return render_terminal(_for_people(result, table, choice.columns, labels, detail=detail), appearance)
        case Format.MARKDOWN:
            return "\n".join(map(render_markdown, _for_people(result, table, choice.columns, labels, detail=detail)))
        case Format.LATEX:
            chosen = table if detail else table or Shown.MODELS
            listings = labelled(_for_people(result, chosen, choice.columns, labels, detail=detail, titled=True))
            return "\n".join(render_latex(listing, choice.caption, choice.label) for listing in listings)
        case Format.JSON:
            if isinstance(result, Listing):
                return render_listing_json(_for_programs(result))
            if table is None:
                return render_json(result, gates)
            name = Shown.MODELS if table is Shown.PUBLISHED else table
            return render_table_json(f"score_{name}", _arrow(result, table, choice.columns))
        case Format.CSV:
            if isinstance(result, Listing):
                return render_csv(_for_programs(result), spreadsheet=spreadsheet)
            return render_table_csv(_arrow(result, table or Shown.RULES, choice.columns), spreadsheet=spreadsheet)


def short_html(evaluation: Evaluation, table: Shown | None = None) -> str:
    """The short listing, or one table, for a notebook."""
    return render_html(_for_people(evaluation, table, (), evaluation.labels, detail=False))


def seen_by(audience: Audience, listing: Listing) -> Listing:
    """The listing with the columns that are for this audience."""
    return picked(listing, [n for n, column in enumerate(listing.columns) if column.audience in {audience, Audience.EVERYONE}])


def with_columns(listing: Listing, names: Sequence[str]) -> Listing:
    """The listing with these columns, in this order."""
    known = [column.key for column in listing.columns]
    refuse_columns(names, known)
    return picked(listing, [known.index(name) for name in names])


def refuse_columns(names: Sequence[str], known: Sequence[str]) -> None:
    """Raises an error for a column that a table does not have."""
    notes = (f"the columns are {ticked(known)}",)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            [Diagnostic("E502", f"the table has no column `{name}`", notes=notes, helps=meant(name, known)) for name in unknown]
        )


def _for_people(
    result: Evaluation | Listing, table: Shown | None, columns: Sequence[str], labels: Labels, *, detail: bool, titled: bool = False
) -> list[Listing]:
    """`titled`: rules without a name are shown by their texts."""
    if isinstance(result, Listing):
        return _named([seen_by(Audience.PEOPLE, listing) for listing in (result, *result.beside)], labels, {})
    titles = {rule.info.name: rule_title(rule.info, result.labels) for rule in result.rule_results} if titled else {}
    listings = _listings(result, table, columns, detail=detail)
    return _named([seen_by(Audience.PEOPLE, listing) for listing in listings], result.labels, titles)


def _named(listings: Sequence[Listing], labels: Labels, titles: Mapping[str, str]) -> list[Listing]:
    if labels == _NO_LABELS and not titles:
        return list(listings)
    return [with_labels(listing, labels, titles) for listing in listings]


def _listings(evaluation: Evaluation, table: Shown | None, columns: Sequence[str], *, detail: bool) -> Sequence[Listing]:
    if table is not None and columns:
        return [with_columns(listing, columns) for listing in _chosen(evaluation, table, detail=True)]
    if table is not None:
        return _chosen(evaluation, table)
    if not detail:
        return short_listings(evaluation)
    models = (models_listing(evaluation, detail=True),) if evaluation.model_results else ()
    accuracy = accuracy_listings(evaluation) if evaluation.accuracy_results else ()
    return (*models, *accuracy, rules_listing(evaluation), *detailed_listings(evaluation))


def _chosen(evaluation: Evaluation, table: Shown, *, detail: bool = False) -> Sequence[Listing]:
    match table:
        case Shown.MODELS:
            return (models_listing(evaluation, detail=detail),)
        case Shown.PUBLISHED:
            models = models_listing(evaluation, detail=detail)
            return (models if detail else with_columns(models, _as_published(models)),)
        case Shown.ACCURACY:
            return accuracy_listings(evaluation)
        case _:
            return (rules_listing(evaluation),)


def _as_published(models: Listing) -> list[str]:
    """The columns of a publication's table: Hits@k, other accuracy, RVS soft, RVS hard."""
    keys = [column.key for column in models.columns]
    accuracy = [key for key in keys if key not in {"model", "violating", "hard_score", "soft_score"}]
    hits = [key for key in accuracy if key.startswith("hits_at_")]
    return ["model", *hits, *(key for key in accuracy if key not in hits), "soft_score", "hard_score"]


def labelled(listings: Sequence[Listing]) -> Iterator[Listing]:
    """The listings, renamed if two have one name: their labels would be the same."""
    seen: Counter[str] = Counter()
    for listing in listings:
        seen[listing.name] += 1
        times = seen[listing.name]
        yield listing if times == 1 else replace(listing, name=f"{listing.name}-{times}")


def _for_programs(listing: Listing) -> Listing:
    return seen_by(Audience.PROGRAMS, listing)


def _arrow(evaluation: Evaluation, table: Shown, columns: Sequence[str]) -> Any:
    whole = _whole(evaluation, table)
    refuse_columns(columns, whole.column_names)
    return whole.select(columns) if columns else whole


def _whole(evaluation: Evaluation, table: Shown) -> Any:
    match table:
        case Shown.MODELS | Shown.PUBLISHED:
            return evaluation.table(Which.MODELS)
        case Shown.ACCURACY:
            accuracy_listings(evaluation)  # raises an error if there is none
            return evaluation.table(Which.ACCURACY)
        case _:
            return evaluation.table(Which.RULES)


# Listings as people read them, with labels in place of ids.


_TEXTS = frozenset(["title", "text", "sentence", "head", "body", "refuted_by", "compared", "aggregated", "prediction"])
_VALUES = frozenset(("entity", "binding"))
_PREDICATES = frozenset(["predicate", "refuter", "left", "right"])


def with_labels(listing: Listing, labels: Labels, titles: Mapping[str, str]) -> Listing:
    """The listing with labels in place of ids. `titles`: of rules, by their names."""
    return replace(listing, rows=tuple(_row(row, listing.columns, labels, titles) for row in listing.rows))


def _row(row: Sequence[Cell], columns: Sequence[Column], labels: Labels, titles: Mapping[str, str]) -> tuple[Cell, ...]:
    """A rule that its text names has no text besides."""
    cells = [_cell(cell, column, labels, titles) for cell, column in zip(row, columns, strict=True)]
    names = [cell for cell, column in zip(cells, columns, strict=True) if column.key == "rule"]
    return tuple("" if column.key == "text" and cell in names else cell for cell, column in zip(cells, columns, strict=True))


def _cell(cell: Cell, column: Column, labels: Labels, titles: Mapping[str, str]) -> Cell:
    is_text = column.key in _TEXTS or column.kind is CellKind.CODE
    match cell:
        case str() if column.key == "rule":
            return titles[cell] if cell in titles else labels.of_text(cell)
        case str() if is_text:
            return labels.of_text(cell)
        case str() if column.key in _VALUES:
            return labels.of_value(cell)
        case str() if column.key in _PREDICATES:
            return labels.of_predicate(cell)
        case tuple() if is_text:
            return tuple(map(labels.of_text, cell))
        case Mapping() if column.key in _VALUES:
            return {name: labels.of_value(value) for name, value in cell.items()}
        case _:
            return cell
