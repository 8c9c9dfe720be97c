"""`rulescore audit --against`: compares how two versions of a table break the same rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.setting.model import KeyedTable, RowStream, Setting

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.reporting.listing import Listing
    from rulescore.scoring.dirt import Dirty, DirtyBy
    from rulescore.scoring.evaluation import Evaluation


def changes_listing(setting: Setting, against: str, by: str, limit: int | None) -> tuple[Listing, Sequence[Diagnostic]]:
    """Compares what breaks rules in the setting's data and in the same data with another version of a table, rule by rule, row by
    row or cell by cell. Warnings concern the setting's own data."""
    from rulescore.reporting.dirt import place_changes_listing, rule_changes_listing
    from rulescore.scoring.dirt import DirtyBy, place_changes, rule_changes

    second = _with_version(setting, against)
    wanted = [DirtyBy.ROWS, DirtyBy.ROW, DirtyBy.CELL] if by == "rule" else [DirtyBy(by)]
    evaluation, dirty = _judged(setting, wanted)
    other, other_dirty = _judged(second, wanted)
    if by != "rule":
        changes = place_changes(dirty[DirtyBy(by)], other_dirty[DirtyBy(by)])
        return place_changes_listing(by, changes, limit), evaluation.warnings
    rules = rule_changes(evaluation.rule_results, other.rule_results, dirty[DirtyBy.ROWS], other_dirty[DirtyBy.ROWS])
    places = {what: place_changes(dirty[what], other_dirty[what]) for what in (DirtyBy.ROW, DirtyBy.CELL)}
    return rule_changes_listing(rules, places, limit), evaluation.warnings


def _judged(setting: Setting, wanted: list[DirtyBy]) -> tuple[Evaluation, dict[DirtyBy, list[Dirty]]]:
    from rulescore.session.session import Session

    with Session(setting, horn=False) as session:
        return session.audit(), {by: session.dirt(by) for by in wanted}


def _with_version(setting: Setting, against: str) -> Setting:
    """The setting with another version of one of its tables: `PATH`, or `NAME=PATH` if there are several tables."""
    from rulescore.readers.sources import named_source

    named = named_source(against)
    keyed = {table.name: table for table in setting.tables if table.key}
    if isinstance(named, str):
        if len(keyed) != 1:
            helps = ("write `--against NAME=PATH`",)
            raise InputError(Diagnostic("E333", f"`--against` names none of the {len(keyed)} tables", helps=helps))
        named = {next(iter(keyed)): named}
    ((name, path),) = named.items()
    if name not in keyed:
        raise InputError(Diagnostic("E333", f"there is no table `{name}`", helps=meant(name, keyed)))
    changed = replace(keyed[name], rows=_version(keyed[name], Path(path)))
    return replace(setting, tables=tuple(changed if table.name == name else table for table in setting.tables))


def _version(table: KeyedTable, path: Path) -> RowStream:
    """The rows of a file. If the file lists cells, the rows of the table with these cells replaced."""
    from rulescore.arguments.tables import rows_of
    from rulescore.readers.row_streams import numbered, patched, read_cells

    cells = None if path.is_dir() or not path.exists() else read_cells(path)
    if cells is None:
        rows = rows_of(path, str(path))
        return numbered(rows) if isinstance(table.rows, RowStream) and table.rows.numbered else rows
    if not isinstance(table.rows, RowStream) or len(table.key) != 1:
        message = "a file of cells needs a table of a file, with a key of one column"
        raise InputError(Diagnostic("E333", message, helps=("give the whole table instead",)))
    return patched(table.rows, table.key[0], cells, str(path))
