"""The published experiments by name, and their results for people and for programs."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

from rulescore.reporting.json import json_text
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import (
    Appearance,
    CellKind,
    Column,
    Format,
    Listing,
    Tone,
    escaped,
    render_csv,
    render_markdown,
    shown,
)
from rulescore.reporting.listing import Cell as Shown
from rulescore.reporting.render import labelled
from rulescore.reporting.terminal import render_terminal
from rulescore.reproduction import family, fb15k_237, real_estate
from rulescore.reproduction.checks import Check, checks_listing, run_checks
from rulescore.reproduction.comparison import Cause, Cell, Compared, Reproduction, used
from rulescore.reproduction.published import citation, digest

EXPERIMENTS: dict[str, Callable[[], Reproduction]] = {
    "family": family.reproduce,
    "fb15k-237": fb15k_237.reproduce,
    "real-estate": real_estate.reproduce,
}
CHECKS, ALL = "checks", "all"


@dataclass(frozen=True, slots=True)
class ExperimentOutcome:
    """The experiments to show, and the checks."""

    reproductions: tuple[Reproduction, ...]
    checks: tuple[Check, ...] = ()


def run(name: str) -> ExperimentOutcome:
    """Runs one experiment, the checks, or everything."""
    if name in EXPERIMENTS:
        return ExperimentOutcome((EXPERIMENTS[name](),))
    reproductions = {name: reproduce() for name, reproduce in EXPERIMENTS.items()}
    return ExperimentOutcome(tuple(reproductions.values()) if name == ALL else (), tuple(run_checks(reproductions)))


_PLAIN = Appearance()


def render(outcome: ExperimentOutcome, form: Format, appearance: Appearance = _PLAIN, *, spreadsheet: bool = False) -> str:
    """Tables for people; JSON with everything; CSV with a row for each published number or, if there is none, for each check."""
    checks = [checks_listing(outcome.checks)] if outcome.checks else []
    match form:
        case Format.TABLE:
            parts = [_terminal(reproduction, appearance) for reproduction in outcome.reproductions]
            return "\n".join([*parts, *(render_terminal([check], appearance) for check in checks)])
        case Format.MARKDOWN:
            titled = (f"## Checks\n\n{render_markdown(table)}" for table in checks)
            return "\n".join([*map(_markdown, outcome.reproductions), *titled])
        case Format.LATEX:
            listings = [listing for reproduction in outcome.reproductions for listing in _listings(reproduction)]
            return "\n".join(map(render_latex, labelled([*listings, *checks])))
        case Format.CSV:
            listing = cell_listing(outcome.reproductions) if outcome.reproductions else checks_listing(outcome.checks)
            return render_csv(listing, spreadsheet=spreadsheet)
        case Format.JSON:
            documents = [_document(reproduction) for reproduction in outcome.reproductions]
            judged = [asdict(check) for check in outcome.checks]
            return json_text({"version": 1, "publication": citation(), "reproductions": documents, "checks": judged})


def cell_listing(reproductions: Sequence[Reproduction]) -> Listing:
    """A row for each published number."""
    names = ("experiment", "table", "row", "measure", "published", "ours", "difference", "by_definition", "class", "why", "command")
    rows = tuple((part.name, *_row(table, cell)) for part in reproductions for table, cell in part.cells)
    return Listing("reproduction", "Published numbers beside ours", tuple(Column(name, name) for name in names), rows)


def _row(table: Compared, cell: Cell) -> tuple[Shown, ...]:
    reason = table.reasons.get(cell.cause)
    why = (None, None) if reason is None else (reason.text, reason.command)
    numbers = (_plain(cell.published), cell.ours, cell.difference, cell.by_definition)
    return (table.name, cell.row, cell.measure, *numbers, cell.cause.value, *why)


def _plain(number: int | Decimal) -> int | float:
    return number if isinstance(number, int) else float(number)


def _document(reproduction: Reproduction) -> dict[str, object]:
    names = [column.key for column in cell_listing([]).columns[1:]]
    return {
        "experiment": reproduction.name,
        "classes": {cause.value: reproduction.causes[cause] for cause in Cause},
        "cells": [dict(zip(names, _row(table, cell), strict=True)) for table, cell in reproduction.cells],
        "tables": {
            part.name: [dict(zip([column.key for column in part.columns], row, strict=True)) for row in part.rows]
            for part in reproduction.parts
            if isinstance(part, Listing)
        },
        "run": dict(_versions()),
        "files": [{"file": path.name, "bytes": path.stat().st_size, "sha256": digest(path)} for path in reproduction.files],
    }


def _terminal(reproduction: Reproduction, appearance: Appearance) -> str:
    heading = f"{reproduction.title}\n{'═' * len(reproduction.title)}\n"
    remarks = "".join(f"{line}\n" for remark in reproduction.remarks for line in _folded(remark, appearance.width))
    return "\n".join([heading + remarks, render_terminal(list(_listings(reproduction)), appearance)])


def _folded(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, min(width, 100), break_on_hyphens=False)


def _markdown(reproduction: Reproduction) -> str:
    remarks = "\n\n".join(escaped(remark) for remark in reproduction.remarks)
    return "\n".join([f"## {escaped(reproduction.title)}", "", remarks, "", *map(render_markdown, _listings(reproduction))])


def _listings(reproduction: Reproduction) -> Iterator[Listing]:
    yield _summary(reproduction)
    for part in reproduction.parts:
        yield part if isinstance(part, Listing) else table_listing(part)
    yield _files_listing(reproduction.files)


def _summary(reproduction: Reproduction) -> Listing:
    columns = (Column("class", "class"), Column("cells", "cells", CellKind.COUNT), Column("tables", "tables"))
    numbers: dict[Cause, Counter[str]] = {cause: Counter() for cause in Cause}
    for table, cell in reproduction.cells:
        numbers[cell.cause][table.title] += 1
    rows = tuple(
        (cause.value, tables.total(), "; ".join(f"{title}: {times}" for title, times in tables.items()))
        for cause, tables in numbers.items()
        if tables
    )
    notes = (f"published: {citation()}", "same: ours, rounded to the digits that were printed, is the published number")
    return Listing("classes", f"{len(reproduction.cells):,} comparisons with published numbers", columns, rows, notes=notes)


def table_listing(table: Compared) -> Listing:
    """A published table with ours; below it the reason of each class, with the command that shows it."""
    reasons = [f"{cause}: {reason.text}. Shown by: {reason.command}" for cause, reason in used(table.reasons, table.cells)]
    if table.wide is not None:
        return replace(table.wide, notes=(*table.wide.notes, *table.notes, *reasons))
    several = len({cell.measure for cell in table.cells}) > 1
    by_definition = table.both and any(cell.by_definition is not None for cell in table.cells)
    columns = [
        Column("row", table.of),
        *([Column("measure", "measure")] if several else []),
        *(Column(key, heading, CellKind.VALUE) for key, heading in _NUMBERS if by_definition or key != "by_definition"),
        Column("class", "class"),
    ]
    rows = tuple(
        (
            cell.row,
            *([cell.measure] if several else []),
            *(text for (key, _), text in zip(_NUMBERS, _texts(cell), strict=True) if by_definition or key != "by_definition"),
            cell.cause.value,
        )
        for cell in table.cells
    )
    place = len(columns) - 1
    tones = {(row, place): Tone.GOOD for row, cell in enumerate(table.cells) if cell.cause is Cause.SAME}
    return Listing(table.name, table.title, tuple(columns), rows, notes=(*table.notes, *reasons), tones=tones)


_NUMBERS = (("published", "published"), ("ours", "ours"), ("difference", "difference"), ("by_definition", "by definition"))


def _texts(cell: Cell) -> tuple[str, str, str, str]:
    """The numbers of a cell: the published one as it was printed."""
    printed = f"{cell.published:,}"
    return printed, shown(cell.ours, cell.kind), _difference(cell), shown(cell.by_definition, cell.kind)


def _difference(cell: Cell) -> str:
    difference = cell.difference
    if difference is None:
        return shown(None, cell.kind)
    number = round(difference) if cell.kind is CellKind.COUNT else difference
    text = shown(abs(number), cell.kind)
    return text if not number or not text.strip("0.") else f"{'+' if number > 0 else '−'}{text}"


def _files_listing(files: Iterable[Path]) -> Listing:
    columns = (Column("file", "file"), Column("bytes", "bytes", CellKind.COUNT), Column("sha256", "SHA-256", CellKind.CODE))
    rows = tuple((f"{path.parent.name}/{path.name}", path.stat().st_size, digest(path)) for path in files)
    notes = ("; ".join(f"{name} {value}" for name, value in _versions()),)
    return Listing("files", "What was read", columns, rows, notes=notes)


def _versions() -> tuple[tuple[str, str], ...]:
    packages = ("rulescore", "duckdb", "pyarrow", "numpy")
    python = ".".join(map(str, sys.version_info[:3]))
    today = datetime.now(UTC).date().isoformat()
    return (("date", today), ("Python", python), *((name, version(name)) for name in packages))
