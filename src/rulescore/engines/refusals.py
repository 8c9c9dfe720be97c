"""What an engine cannot do, told before anything is read."""

from __future__ import annotations

from collections.abc import Iterator

from rulescore.data.setting import DatabaseTable, FactTable, HiddenIds, Setting
from rulescore.engines.base import Engine, KeepingEngine
from rulescore.engines.in_place import catalogue_of
from rulescore.errors import Diagnostic, InputError, located
from rulescore.language.syntax import Program, Test
from rulescore.logic.tolerances import data_tolerance

CODES = {"E903": "a tolerance is to be taken from values that the engine keeps"}

_HELPS = ("write the tolerance as a number, or take another engine",)


def refuse_unable(engine: Engine, setting: Setting, program: Program, *, grid: bool) -> None:
    """Raises what a setting and its rules ask of the engine in vain. `grid`: counts with other tolerances are asked for, too."""
    for table in _own_tables(setting):
        with located(table.place):
            catalogue_of(engine, f"table `{table.table}`")
    if grid:
        refuse_grid(engine)
    if isinstance(engine, KeepingEngine) and (problems := list(_tolerances(program))):
        raise InputError(problems)


def refuse_grid(engine: Engine) -> None:
    """To be called where counts with other tolerances are asked for."""
    if isinstance(engine, KeepingEngine):
        message = "counts with other tolerances need the values of rows, which this engine keeps"
        raise InputError(Diagnostic("E903", message, helps=("take another engine",)))


def _own_tables(setting: Setting) -> Iterator[FactTable | DatabaseTable]:
    """The tables of the engine's own database that are to be read."""
    streams = [stream for one in setting.predictions for stream in one.streams]
    yield from (one for one in (*setting.observed, *setting.negatives, *streams) if isinstance(one, FactTable))
    rows = [table.rows for table in setting.tables]
    rows += [table.hidden.ids for table in setting.tables if isinstance(table.hidden, HiddenIds)]
    rows += [table.rows for one in setting.predictions for table in one.tables]
    yield from (one for one in rows if isinstance(one, DatabaseTable) and one.database is None)


def _tolerances(program: Program) -> Iterator[Diagnostic]:
    for rule in program.rules:
        if data_tolerance(rule, []) is not None and isinstance(rule.head, Test):
            place = rule.head.span.place() if rule.head.span is not None else None
            yield Diagnostic("E903", "this tolerance is taken from values of rows, which this engine keeps", place, helps=_HELPS)
