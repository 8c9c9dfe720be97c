"""Reproductions as people read them, and as programs do."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

from rulescore.reporting.cells import Appearance, Format, shown
from rulescore.reporting.csv import render_csv
from rulescore.reporting.json import json_text
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import Cell as Shown
from rulescore.reporting.listing import CellKind, Column, Listing, Tone
from rulescore.reporting.markdown import escaped, render_markdown
from rulescore.reporting.render import labelled
from rulescore.reporting.terminal import render_terminal
from rulescore.reproduction.checks import checks_listing
from rulescore.reproduction.comparison import Cause, Cell, Compared, Reproduction, used
from rulescore.reproduction.experiments import ExperimentOutcome
from rulescore.reproduction.files import digest
from rulescore.reproduction.published import citation

_PLAIN = Appearance()


def render(found: ExperimentOutcome, form: Format, appearance: Appearance = _PLAIN, *, spreadsheet: bool = False) -> str:
    """Tables for people; JSON with all there is; CSV with a row for each published number, or of the checks if there is none."""
    checks = [checks_listing(found.checks)] if found.checks else []
    match form:
        case Format.TABLE:
            parts = [_terminal(one, appearance) for one in found.reproductions]
            return "\n".join([*parts, *(render_terminal([one], appearance) for one in checks)])
        case Format.MARKDOWN:
            return "\n".join([*map(_markdown, found.reproductions), *(f"## Checks\n\n{render_markdown(one)}" for one in checks)])
        case Format.LATEX:
            listings = [listing for one in found.reproductions for listing in _listings(one)]
            return "\n".join(map(render_latex, labelled([*listings, *checks])))
        case Format.CSV:
            listing = cell_listing(found.reproductions) if found.reproductions else checks_listing(found.checks)
            return render_csv(listing, spreadsheet=spreadsheet)
        case Format.JSON:
            documents = [_document(one) for one in found.reproductions]
            judged = [asdict(one) for one in found.checks]
            return json_text({"version": 1, "publication": citation(), "reproductions": documents, "checks": judged})


def cell_listing(found: Sequence[Reproduction]) -> Listing:
    """A row for each published number."""
    names = ("experiment", "table", "row", "measure", "published", "ours", "difference", "by_definition", "class", "why", "command")
    rows = tuple((one.name, *_row(table, cell)) for one in found for table, cell in one.cells)
    return Listing("reproduction", "Published numbers beside ours", tuple(Column(name, name) for name in names), rows)


def _row(table: Compared, one: Cell) -> tuple[Shown, ...]:
    reason = table.reasons.get(one.cause)
    why = (None, None) if reason is None else (reason.text, reason.command)
    numbers = (_plain(one.published), one.ours, one.difference, one.by_definition)
    return (table.name, one.row, one.measure, *numbers, one.cause.value, *why)


def _plain(number: int | Decimal) -> int | float:
    return number if isinstance(number, int) else float(number)


def _document(one: Reproduction) -> dict[str, object]:
    names = [column.key for column in cell_listing([]).columns[1:]]
    return {
        "experiment": one.name,
        "classes": {cause.value: one.causes[cause] for cause in Cause},
        "cells": [dict(zip(names, _row(table, cell), strict=True)) for table, cell in one.cells],
        "tables": {
            part.name: [dict(zip([column.key for column in part.columns], row, strict=True)) for row in part.rows]
            for part in one.parts
            if isinstance(part, Listing)
        },
        "run": dict(_versions()),
        "files": [{"file": path.name, "bytes": path.stat().st_size, "sha256": digest(path)} for path in one.files],
    }


def _terminal(one: Reproduction, appearance: Appearance) -> str:
    heading = f"{one.title}\n{'═' * len(one.title)}\n"
    remarks = "".join(f"{line}\n" for remark in one.remarks for line in _folded(remark, appearance.width))
    return "\n".join([heading + remarks, render_terminal(list(_listings(one)), appearance)])


def _folded(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, min(width, 100), break_on_hyphens=False)


def _markdown(one: Reproduction) -> str:
    remarks = "\n\n".join(escaped(remark) for remark in one.remarks)
    return "\n".join([f"## {escaped(one.title)}", "", remarks, "", *(render_markdown(listing) for listing in _listings(one))])


def _listings(one: Reproduction) -> Iterator[Listing]:
    yield _summary(one)
    for part in one.parts:
        yield part if isinstance(part, Listing) else table_listing(part)
    yield _read(one.files)


def _summary(one: Reproduction) -> Listing:
    columns = (Column("class", "class"), Column("cells", "cells", CellKind.COUNT), Column("tables", "tables"))
    found: dict[Cause, Counter[str]] = {cause: Counter() for cause in Cause}
    for table, cell in one.cells:
        found[cell.cause][table.title] += 1
    rows = tuple(
        (cause.value, tables.total(), "; ".join(f"{title}: {times}" for title, times in tables.items()))
        for cause, tables in found.items()
        if tables
    )
    notes = (f"published: {citation()}", "same: ours, rounded to the digits that were printed, is the published number")
    return Listing("classes", f"{len(one.cells):,} comparisons with published numbers", columns, rows, notes=notes)


def table_listing(table: Compared) -> Listing:
    """A published table beside ours; below it the reason of each class, with the command that shows it."""
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


def _texts(one: Cell) -> tuple[str, str, str, str]:
    """The numbers of a cell: the published one as it was printed."""
    printed = f"{one.published:,}"
    return printed, shown(one.ours, one.kind), _difference(one), shown(one.by_definition, one.kind)


def _difference(one: Cell) -> str:
    found = one.difference
    if found is None:
        return shown(None, one.kind)
    number = round(found) if one.kind is CellKind.COUNT else found
    text = shown(abs(number), one.kind)
    return text if not number or not text.strip("0.") else f"{'+' if number > 0 else '−'}{text}"


def _read(files: Iterable[Path]) -> Listing:
    columns = (Column("file", "file"), Column("bytes", "bytes", CellKind.COUNT), Column("sha256", "SHA-256", CellKind.CODE))
    rows = tuple((f"{path.parent.name}/{path.name}", path.stat().st_size, digest(path)) for path in files)
    notes = ("; ".join(f"{name} {value}" for name, value in _versions()),)
    return Listing("files", "What was read", columns, rows, notes=notes)


def _versions() -> tuple[tuple[str, str], ...]:
    packages = ("rulescore", "duckdb", "pyarrow", "numpy")
    python = ".".join(map(str, sys.version_info[:3]))
    today = datetime.now(UTC).date().isoformat()
    return (("date", today), ("Python", python), *((name, version(name)) for name in packages))
