"""Tables with keys in an engine: what is observed of them and what is predicted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError
from rulescore.language.syntax import Attribute
from rulescore.loading.tables.inference import Inference
from rulescore.loading.tables.predictions import Staged, stage_predictions
from rulescore.loading.tables.rows import TableLoader, TableRows
from rulescore.setting.model import Setting
from rulescore.sql.query import Select, drop
from rulescore.sql.tables import rows as sql
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
    with one row per distinct prediction of its target, and its number; `staged`: the table of the predictions of each model, which
    `facts.load` drops. `from_target`: the attributes that change with the target. `made`: how many predictions each model makes, by
    its number, `covered`: of how many hidden rows; empty if no model predicts the target. `inexact`: an integer of the target that
    no float equals, if the target is mixed. `inferred`: the columns of a text file whose types nobody declares, with the types that
    we gave them."""

    name: str
    key: tuple[str, ...]
    target: str | None
    columns: Mapping[str, TableColumn]
    rows: int
    hidden: int
    observed: str
    from_target: frozenset[str]
    attributes: Mapping[str, ValueType | None]
    predicted: str | None = None
    staged: str | None = None
    made: Mapping[int, int] = field(default_factory=dict)
    covered: Mapping[int, int] = field(default_factory=dict)
    inexact: int | None = None
    inferred: Mapping[str, ValueType] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def predicate(self) -> str:
        """The predicate of its predictions."""
        return f"{self.name}.{self.target}"

    def constants(self) -> Iterator[Select]:
        """The keys of the constants in each loaded attribute."""
        for column in self.columns.values():
            yield sql.keys_in(self.observed, column.name, column.type)

    @property
    def arguments(self) -> list[tuple[str, ValueType]]:
        """The fields of a prediction's arguments, the key and the target, with their types."""
        return [(column.name, column.type) for column in map(self.columns.__getitem__, (*self.key, str(self.target)))]


def load_tables(
    engine: Engine, setting: Setting, used: Mapping[str, Collection[str]], inference: Inference | None = None
) -> dict[str, LoadedTable]:
    """Reads and checks every table with a key, and the predictions of its target. `used` are the attributes that rules name; we
    load those, the key and the target. The checks of rules report an attribute that a table does not have. `inference` finds the
    types of columns of text files."""
    if not setting.tables:
        return {}
    inference = inference or Inference()
    tables = TableLoader(engine, setting, used, inference).load()
    staged = stage_predictions(engine, setting, tables)
    found: dict[str, LoadedTable] = {}
    for name, rows in tables.items():
        loaded = _loaded(engine, rows, staged.get(name), first=predictions_made(found.values()))
        found[name] = replace(loaded, inferred=inference.found.get(name, {}))
    return found


def predictions_made(tables: Iterable[LoadedTable]) -> int:
    """How many predictions all models make of the targets of tables. None of them has a higher number."""
    return sum(sum(table.made.values()) for table in tables)


def _loaded(engine: Engine, rows: TableRows, staged: Staged | None, *, first: int) -> LoadedTable:
    """The table; its predictions are numbered from `first` on."""
    shape = rows.shape
    attributes = _observed_attributes(rows, staged)
    columns = {name: TableColumn(f"c{i}", _type(attributes, name)) for i, name in enumerate(rows.need.kept)}
    fields = {name: column.name for name, column in columns.items()}
    observed = f"{rows.stem}_observed"
    with _named_in_errors(rows):
        engine.run(sql.create_observed(observed, rows.table, fields, attributes))
        predicted = None if staged is None else _predicted(engine, rows, staged, fields, first)
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
        predicted=predicted,
        staged=None if staged is None else rows.staged,
        made={} if staged is None else staged.made,
        covered={} if staged is None else staged.covered,
        inexact=None if staged is None else staged.inexact,
        warnings=rows.warnings,
    )


def _predicted(engine: Engine, rows: TableRows, staged: Staged, fields: Mapping[str, str], first: int) -> str:
    predicted = f"{rows.stem}_predicted"
    attributes = sql.Attributes(rows.shape, rows.fields, sql.predicted_value, target_type=staged.target_type)
    engine.run(sql.create_predicted(predicted, rows.table, rows.staged, rows.keys, fields, attributes, first))
    return predicted


def _observed_attributes(rows: TableRows, staged: Staged | None) -> sql.Attributes:
    target, found = rows.shape.table.target, rows.target_type
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
