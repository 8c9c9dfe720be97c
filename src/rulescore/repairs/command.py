"""`rulescore repairs`: judges each repaired cell by rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import ALL, Command, SettingChoice, format_option, quiet_option, setting_options
from rulescore.cli.output import show, tell
from rulescore.errors import Diagnostic, InputError

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.repairs.judging import JudgedRepair
    from rulescore.reporting.listing import Listing


@click.command(
    cls=Command,
    examples=(
        "rulescore repairs --table sales.csv --rules sales.rules --predictions tool=repairs.csv",
        "rulescore repairs --table sales.csv --rules dc.txt --predictions tool=repairs.csv --format csv > judged.csv",
    ),
)
@setting_options(ALL)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="List at most N repairs. [default: 20, or all as CSV and JSON]"
)
@format_option
@quiet_option
def repairs(choice: SettingChoice, limit: int | None, form: str, quiet: bool) -> None:
    """Judge the repaired cells of a table, one by one.

    A file of repairs has three columns: the key of a row, `attribute`, and the value. The rules judge a repair and
    the value that it replaces.
    """
    from rulescore.cli.setting import COUNTING, load
    from rulescore.readers.row_streams import read_cells
    from rulescore.readers.sources import files_by_model
    from rulescore.repairs.judging import judge_repairs

    if not choice.predictions:
        helps = ("give `--predictions NAME=FILE`",)
        raise InputError(Diagnostic("E404", "there are no repairs to judge", helps=helps))
    setting = load(replace(choice, predictions=()), COUNTING).setting
    judged: list[JudgedRepair] = []
    for model, paths in files_by_model(choice.predictions).items():
        for path in paths:
            cells = read_cells(Path(path))
            if cells is None:
                notes = ("it has three columns: the key of a row, `attribute`, and the value",)
                raise InputError(Diagnostic("E320", f"`{path}` is no file of repairs", notes=notes))
            judged += judge_repairs(setting, model, cells, path)
    most = limit or (20 if form == "table" else None)
    show(_listing(judged, most), form)
    if not quiet and most is not None and len(judged) > most:
        tell(f"{len(judged) - most:,} more repairs are not shown; `--limit N` shows more, and `--format csv` all")


def _listing(judged: list[JudgedRepair], most: int | None) -> Listing:
    """All repairs in the order of their files. If only some are shown, repairs that break most come first."""
    from rulescore.repairs.judging import Verdict
    from rulescore.reporting.listing import Audience, CellKind, Column, Listing, counted, filled

    several = len({repair.model for repair in judged}) > 1
    shown = judged if most is None else sorted(judged, key=lambda repair: list(Verdict).index(repair.verdict))[:most]
    columns, rows = filled(
        shown,
        (Column("model", "model", audience=Audience.EVERYONE if several else Audience.PROGRAMS), lambda repair: repair.model),
        (Column("id", "row"), lambda repair: repair.key),
        (Column("attribute", "attribute"), lambda repair: repair.column),
        (Column("old", "old", audience=Audience.PROGRAMS), lambda repair: repair.old),
        (Column("value", "value", audience=Audience.PROGRAMS), lambda repair: repair.new),
        (Column("shown_old", "old", audience=Audience.PEOPLE), lambda repair: _near_the_change(repair.old, repair.new)[0]),
        (Column("shown_value", "value", audience=Audience.PEOPLE), lambda repair: _near_the_change(repair.old, repair.new)[1]),
        (Column("verdict", "verdict"), lambda repair: repair.verdict.value),
        (Column("refuted_before", "refuted", CellKind.COUNT), lambda repair: repair.before.refuted),
        (Column("refuted", "then", CellKind.COUNT), lambda repair: repair.after.refuted),
        (Column("evaluable", "of", CellKind.COUNT), lambda repair: repair.after.evaluable),
        (Column("rules", "breaks"), lambda repair: ", ".join(repair.rules) or None),
    )
    notes = [_WORDS] if judged else []
    for model in dict.fromkeys(repair.model for repair in judged):
        verdicts = Counter(repair.verdict for repair in judged if repair.model == model)
        told = ", ".join(f"{verdicts[verdict]:,} {verdict}" for verdict in Verdict if verdicts[verdict])
        notes.append(f"{model}: {counted(verdicts.total(), 'repair')}: {told}")
    return Listing("repairs", "Repairs, one by one", columns, rows, notes=tuple(notes))


_WORDS = (
    "refuted: cases of rules that the old value breaks; then: cases that the repair breaks, of all its cases; fixes: none is left; "
    "agrees: neither value breaks any; not judged: no rule has a case"
)
_LONG = 40
"""Of longer values people see the part around the change."""


def _near_the_change(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """The old and the new value, cut where they are alike if one of them is long."""
    if max(len(old or ""), len(new or "")) <= _LONG:
        return old, new
    pairs = enumerate(zip(old or "", new or "", strict=False))
    change = next((place for place, (before, after) in pairs if before != after), min(len(old or ""), len(new or "")))
    start = max(0, change - _LONG // 2)
    return _cut(old, start), _cut(new, start)


def _cut(value: str | None, start: int) -> str | None:
    if value is None:
        return None
    before, after = "…" if start else "", "…" if len(value) > start + _LONG else ""
    return f"{before}{value[start : start + _LONG]}{after}"
