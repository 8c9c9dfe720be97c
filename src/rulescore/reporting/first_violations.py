"""The first violations of each model, in every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rulescore.reporting.findings import violations_listing
from rulescore.reporting.format import Appearance, Format
from rulescore.reporting.render import render
from rulescore.reporting.violations import render_violations_csv, render_violations_json, violation_table
from rulescore.scoring.violation import FindsViolations

_MOST_SHOWN = 20
_PLAIN = Appearance()


def first_violations(
    session: FindsViolations, models: Sequence[str], form: Format, *, appearance: Appearance = _PLAIN, spreadsheet: bool = False
) -> str:
    """The first violations of each model, or of the data if there are no models, as a text. `rulescore violations` finds the
    others."""
    found = [session.violations(model=model, limit=_MOST_SHOWN) for model in models] or [session.violations(limit=_MOST_SHOWN)]
    nothing = "; ".join(dict.fromkeys(one.says_nothing for one in found if one.says_nothing))
    rows = [row for one in found for row in one.rows]
    counts = {key: n for one in found for key, n in one.counts.items()}
    every = replace(found[0], total=sum(one.total for one in found), rows=rows, counts=counts, says_nothing=nothing or None)
    if form is Format.JSON:
        return render_violations_json(violation_table(every))
    if form is Format.CSV:
        return render_violations_csv(violation_table(every), spreadsheet=spreadsheet)
    return render(violations_listing(every), form, appearance=appearance)
