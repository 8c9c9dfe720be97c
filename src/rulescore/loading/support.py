"""Refuses settings and rules that the engine does not support, before we read any data."""

from __future__ import annotations

from collections.abc import Iterator

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, located, place_of
from rulescore.language.syntax import Program, Test
from rulescore.loading.stored import catalogue_of
from rulescore.logic.tolerances import data_tolerance
from rulescore.setting.model import DatabaseTable, FactTable, HiddenIds, Setting

_HELPS = ("write the tolerance as a number, or take another engine",)


def refuse_unable(engine: Engine, setting: Setting, program: Program, *, grid: bool) -> None:
    """Raises InputError for every feature of the setting and its rules that this engine does not support. `grid`: the caller will
    ask for counts with other tolerances."""
    for table in _own_tables(setting):
        with located(table.place):
            catalogue_of(engine, f"table `{table.table}`")
    if grid:
        refuse_grid(engine)
    if not engine.capabilities.fetches_rows and (problems := list(_tolerances(program))):
        raise InputError(problems)


def refuse_grid(engine: Engine) -> None:
    """Raises InputError if the engine cannot count with other tolerances."""
    if not engine.capabilities.fetches_rows:
        message = "counts with other tolerances need the values of rows, which stay in this engine"
        raise InputError(Diagnostic("E903", message, helps=("take another engine",)))


def _own_tables(setting: Setting) -> Iterator[FactTable | DatabaseTable]:
    """The tables of the engine's own database that the setting reads."""
    streams = [stream for one in setting.predictions for stream in one.streams]
    yield from (one for one in (*setting.observed, *setting.negatives, *streams) if isinstance(one, FactTable))
    rows = [table.rows for table in setting.tables]
    rows += [table.hidden.ids for table in setting.tables if isinstance(table.hidden, HiddenIds)]
    rows += [table.rows for one in setting.predictions for table in one.tables]
    yield from (one for one in rows if isinstance(one, DatabaseTable) and one.database is None)


def _tolerances(program: Program) -> Iterator[Diagnostic]:
    for rule in program.rules:
        if data_tolerance(rule) is not None and isinstance(rule.head, Test):
            place = place_of(rule.head.span)
            yield Diagnostic("E903", "this tolerance is taken from values of rows, which stay in this engine", place, helps=_HELPS)
