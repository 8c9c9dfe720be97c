"""One entry for every format: an evaluation or a listing in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rulescore.reporting.csv import render_csv, render_table_csv
from rulescore.reporting.format import Format
from rulescore.reporting.json import render_json, render_listing_json
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import Audience, Listing
from rulescore.reporting.markdown import render_markdown
from rulescore.reporting.tables import listings
from rulescore.reporting.terminal import Appearance, render_terminal
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.gate_outcomes import Outcome

_PLAIN = Appearance()


def render(result: Evaluation | Listing, form: Format, *, appearance: Appearance = _PLAIN, gates: Sequence[Outcome] = ()) -> str:
    """The text of a result, ending with a line end. CSV of an evaluation is its `rules` table: one row per rule and model.
    `gates`: outcomes that JSON has beside it."""
    match form:
        case Format.TABLE:
            return render_terminal(_for_people(result), appearance)
        case Format.MARKDOWN:
            return "\n".join(render_markdown(listing) for listing in _for_people(result))
        case Format.LATEX:
            return "\n".join(render_latex(listing) for listing in _for_people(result))
        case Format.JSON:
            return render_listing_json(_for_programs(result)) if isinstance(result, Listing) else render_json(result, gates)
        case Format.CSV:
            return render_csv(_for_programs(result)) if isinstance(result, Listing) else render_table_csv(result.rules)


def seen_by(audience: Audience, listing: Listing) -> Listing:
    """The listing with the columns that are for this audience."""
    kept = [index for index, column in enumerate(listing.columns) if column.audience in {audience, Audience.EVERYONE}]
    rows = tuple(tuple(row[index] for index in kept) for row in listing.rows)
    return replace(listing, columns=tuple(listing.columns[index] for index in kept), rows=rows)


def _for_people(result: Evaluation | Listing) -> list[Listing]:
    shown = (result, *result.beside) if isinstance(result, Listing) else listings(result)
    return [seen_by(Audience.PEOPLE, listing) for listing in shown]


def _for_programs(listing: Listing) -> Listing:
    return seen_by(Audience.PROGRAMS, listing)
