"""Listings as people read them, with labels in place of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rulescore.reporting.listing import Cell, CellKind, Column, Listing
from rulescore.scoring.labels import Labels

_TEXTS = frozenset(["title", "text", "sentence", "head", "body", "refuted_by", "compared", "aggregated", "prediction"])
_VALUES = frozenset(("entity", "binding"))
_PREDICATES = frozenset(["predicate", "refuter", "should", "against", "left", "right"])


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
