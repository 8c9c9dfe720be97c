"""Tables with keys in an engine: what is observed of them and what is predicted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError
from rulescore.language.syntax import Attribute
from rulescore.loading.stored import InPlace
from rulescore.loading.tables.predictions import Staged, stage_predictions
from rulescore.loading.tables.rows import TableLoader, TableRows
from rulescore.logic.plan import LiteralName
from rulescore.logic.refutation import identity
from rulescore.setting.model import Setting
from rulescore.sql.build import Select, drop, union_all
from rulescore.sql.tables import rows as sql
from rulescore.sql.tables.predictions import facts
from rulescore.values.types import ValueType


@dataclass(frozen=True, slots=True)
class TableColumn:
    """An attribute in the database: the field that holds it, and its type."""

    name: str
    type: ValueType


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table in the database. `columns`: the loaded attributes, `attributes` all that it has (None: a type that has no values).
    `observed`: the table of its rows, in which hidden targets and attributes computed from them are NULL. `predicted`: the table
    with one row per prediction, numbered as the fact it is. `from_target`: the attributes that change with the target. `made`: how
    many predictions each model makes, by its number, `covered`: of how many hidden rows; empty if no model predicts the target.
    `inexact`: an integer of the target that no float equals, if the target is mixed."""

    name: str
    key: tuple[str, ...]
    target: str | None
    columns: Mapping[str, TableColumn]
    rows: int
    hidden: int
    observed: str
    from_target: frozenset[str]
    attributes: Mapping[str, ValueType | None]
    made_from: TableRows
    predicted: str | None = None
    made: Mapping[int, int] = field(default_factory=dict)
    covered: Mapping[int, int] = field(default_factory=dict)
    inexact: int | None = None
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def predicate(self) -> str:
        """The predicate of its predictions."""
        return f"{self.name}.{self.target}"


def load_tables(engine: Engine, setting: Setting, used: Mapping[str, Collection[str]]) -> dict[str, LoadedTable]:
    """Reads and checks every table with a key, and the predictions of its target. `used` are the attributes that rules name; we
    load those, the key and the target. The checks of rules report an attribute that a table does not have."""
    if not setting.tables:
        return {}
    rows = TableLoader(engine, setting, used).load()
    staged = stage_predictions(engine, setting, rows)
    return {name: _loaded(engine, table, staged.get(name)) for name, table in rows.items()}


def _loaded(engine: Engine, rows: TableRows, staged: Staged | None) -> LoadedTable:
    shape = rows.shape
    attributes = _observed_attributes(rows, staged)
    columns = {name: TableColumn(f"c{i}", _type(attributes, name)) for i, name in enumerate(rows.need.kept)}
    observed = f"{rows.stem}_observed"
    with _named_in_errors(rows):
        engine.run(sql.create_observed(observed, rows.table, _fields(columns), attributes))
    engine.run(sql.create_hidden(hidden_table(rows), rows.table, list(rows.fields.values())))
    engine.run(drop(rows.table))
    return LoadedTable(
        name=shape.table.name,
        key=shape.table.key,
        target=shape.table.target,
        columns=columns,
        rows=rows.rows,
        hidden=rows.hidden,
        observed=observed,
        from_target=shape.from_target,
        attributes=shape.attributes,
        made_from=rows,
        made={} if staged is None else staged.made,
        covered={} if staged is None else staged.covered,
        inexact=None if staged is None else staged.inexact,
        warnings=rows.warnings,
    )


def _observed_attributes(rows: TableRows, staged: Staged | None) -> sql.Attributes:
    target = rows.shape.table.target
    found = rows.shape.attributes[target] if target is not None else None
    if target is None or found is None:
        return sql.Attributes(rows.shape, rows.fields)
    held = found if staged is None else staged.target_type
    return sql.Attributes(rows.shape, rows.fields, lambda: sql.observed_target(rows.fields[target], found, held), target_type=held)


@contextmanager
def _named_in_errors(rows: TableRows) -> Iterator[None]:
    """Context manager: a database error says which attributes were being computed."""
    try:
        yield
    except EngineError as error:
        shown = ", ".join(f"`{name}`" for name in rows.need.kept if name in rows.shape.derived)
        if not shown:
            raise
        raise EngineError(f"{error}\nwhile computing {shown} of table `{rows.shape.table.name}`") from error


def _type(attributes: sql.Attributes, name: str) -> ValueType:
    found = attributes.type(Attribute(name))
    assert found is not None
    return found


def hidden_table(rows: TableRows) -> str:
    """The name of the table of hidden rows, which we keep until predictions have their numbers."""
    return f"{rows.stem}_hidden"


def _fields(columns: Mapping[str, TableColumn]) -> dict[str, str]:
    return {name: column.name for name, column in columns.items()}


def predicted_facts(tables: Iterable[LoadedTable]) -> list[InPlace]:
    """The predictions of all models as facts `table.target(key, value)`, by one statement for each arity. Repeated predictions stay
    repeated."""
    by_arity: dict[int, list[tuple[int, Select]]] = {}
    for table in tables:
        if table.target is not None and table.made:
            types = [*table.made_from.key_types(), table.columns[table.target].type]
            query = facts(table.made_from.staged, table.predicate, types)
            by_arity.setdefault(len(types), []).append((sum(table.made.values()), query))
    return [
        InPlace(arity, made := sum(rows for rows, _ in found), made, union_all([query for _, query in found]))
        for arity, found in by_arity.items()
    ]


def predicted_tables(
    engine: Engine, tables: Mapping[str, LoadedTable], literal: Callable[[LiteralName], int]
) -> dict[str, LoadedTable]:
    """The tables with their predicted rows, once predictions are numbered. `literal` gives the number of a predicate: it is
    `Loaded.literal`. Drops the tables from which we make those rows."""
    return {name: _with_predictions(engine, table, literal) for name, table in tables.items()}


def _with_predictions(engine: Engine, table: LoadedTable, literal: Callable[[LiteralName], int]) -> LoadedTable:
    rows = table.made_from
    predicted = f"{rows.stem}_predicted" if table.covered else None
    if predicted is not None and table.target is not None:
        target_type = table.columns[table.target].type
        attributes = sql.Attributes(rows.shape, rows.fields, sql.predicted_value, target_type=target_type)
        keyed = list(zip(rows.keys, rows.key_types(), strict=True))
        hidden = hidden_table(rows)
        number = literal(LiteralName(table.predicate, identity(len(keyed) + 1)))
        with _named_in_errors(rows):
            engine.run(sql.create_predicted(predicted, hidden, _fields(table.columns), attributes, number, keyed, target_type))
        engine.run(drop(rows.staged))
    engine.run(drop(hidden_table(rows)))
    return replace(table, predicted=predicted)
