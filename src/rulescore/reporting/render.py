"""One entry for every format: an evaluation or a listing in, text out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.reporting.accuracies import accuracy_listings
from rulescore.reporting.cells import Appearance, ComparisonTable, Format, Shown
from rulescore.reporting.csv import render_csv, render_table_csv
from rulescore.reporting.html import render_html
from rulescore.reporting.json import render_json, render_listing_json, render_table_json
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import Audience, Listing
from rulescore.reporting.markdown import render_markdown
from rulescore.reporting.short import models_listing, rules_listing, short_listings
from rulescore.reporting.tables import detailed_listings
from rulescore.scoring.evaluation import Evaluation

if TYPE_CHECKING:
    # For type checkers only: results without gates load no gates.
    from rulescore.scoring.gate_outcomes import Outcome

_PLAIN = Appearance()


_Table = TypeVar("_Table", Shown, ComparisonTable)


def shown_table(name: str, tables: type[_Table]) -> _Table:
    """The table of that name; raises an error if there is none."""
    if name in set(tables):
        return tables(name)
    notes = (f"the tables are {', '.join(f'`{one}`' for one in tables)}",)
    helps = meant(name, list(tables))
    raise InputError(Diagnostic("E605", f"no table is named `{name}`", notes=notes, helps=helps))


def render(
    result: Evaluation | Listing,
    form: Format,
    *,
    table: Shown | None = None,
    detail: bool = False,
    appearance: Appearance = _PLAIN,
    spreadsheet: bool = False,
    gates: Sequence[Outcome] = (),
) -> str:
    """The text of a result, ending with a line end. Of an evaluation people see the short answer, one of its tables, or all there
    is; JSON has all of it, with the outcomes of `gates`. CSV and LaTeX hold one table: unless another is chosen, CSV the rules
    under each model, LaTeX the models."""
    match form:
        case Format.TABLE:
            from rulescore.reporting.terminal import render_terminal

            return render_terminal(_for_people(result, table, detail=detail), appearance)
        case Format.MARKDOWN:
            return "\n".join(render_markdown(listing) for listing in _for_people(result, table, detail=detail))
        case Format.LATEX:
            chosen = table if detail else table or Shown.MODELS
            return "\n".join(map(render_latex, labelled(_for_people(result, chosen, detail=detail))))
        case Format.JSON:
            if isinstance(result, Listing):
                return render_listing_json(_for_programs(result))
            return render_json(result, gates) if table is None else render_table_json(f"score_{table}", _arrow(result, table))
        case Format.CSV:
            if isinstance(result, Listing):
                return render_csv(_for_programs(result), spreadsheet=spreadsheet)
            return render_table_csv(_arrow(result, table or Shown.RULES), spreadsheet=spreadsheet)


def short_html(evaluation: Evaluation) -> str:
    """The short answer for a notebook."""
    return render_html(short_listings(evaluation))


def seen_by(audience: Audience, listing: Listing) -> Listing:
    """The listing with the columns that are for this audience."""
    kept = [index for index, column in enumerate(listing.columns) if column.audience in {audience, Audience.EVERYONE}]
    rows = tuple(tuple(row[index] for index in kept) for row in listing.rows)
    best = frozenset((row, kept.index(column)) for row, column in listing.best if column in kept)
    tones = {(row, kept.index(column)): tone for (row, column), tone in listing.tones.items() if column in kept}
    return replace(listing, columns=tuple(listing.columns[index] for index in kept), rows=rows, best=best, tones=tones)


def _for_people(result: Evaluation | Listing, table: Shown | None, *, detail: bool) -> list[Listing]:
    shown = (result, *result.beside) if isinstance(result, Listing) else _listings(result, table, detail=detail)
    return [seen_by(Audience.PEOPLE, listing) for listing in shown]


def _listings(evaluation: Evaluation, table: Shown | None, *, detail: bool) -> Sequence[Listing]:
    if table is not None:
        return _chosen(evaluation, table)
    if not detail:
        return short_listings(evaluation)
    models = (models_listing(evaluation),) if evaluation.model_results else ()
    accuracy = accuracy_listings(evaluation) if evaluation.accuracy_results else ()
    return (*models, *accuracy, rules_listing(evaluation), *detailed_listings(evaluation))


def _chosen(evaluation: Evaluation, table: Shown) -> Sequence[Listing]:
    match table:
        case Shown.MODELS:
            return (models_listing(evaluation),)
        case Shown.ACCURACY:
            return accuracy_listings(evaluation)
        case _:
            return (rules_listing(evaluation),)


def labelled(listings: Sequence[Listing]) -> Iterator[Listing]:
    """The listings, renamed so that no two have one name: their labels would be the same."""
    seen: Counter[str] = Counter()
    for listing in listings:
        seen[listing.name] += 1
        times = seen[listing.name]
        yield listing if times == 1 else replace(listing, name=f"{listing.name}-{times}")


def _for_programs(listing: Listing) -> Listing:
    return seen_by(Audience.PROGRAMS, listing)


def _arrow(evaluation: Evaluation, table: Shown) -> Any:
    match table:
        case Shown.MODELS:
            return evaluation.models
        case Shown.ACCURACY:
            accuracy_listings(evaluation)  # which refuses if there is none
            return evaluation.accuracy
        case _:
            return evaluation.rules
