"""Writing a setting in the published layout into the user's own database: only ever into tables that we make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError, InputError, Severity, UncertainError
from rulescore.loading.facts import Staging, occurrences, predicate_arities, row_counts, stage, stage_predictions
from rulescore.loading.published_tables import expanded, published_catalogue
from rulescore.loading.readings import reading_warnings
from rulescore.loading.tables import predictions as table_predictions
from rulescore.loading.tables.inference import Inference
from rulescore.loading.tables.rows import TableLoader
from rulescore.setting.model import Setting
from rulescore.sql import published as sql
from rulescore.sql.names import name
from rulescore.sql.query import Create, commit
from rulescore.sql.values import SQL_TYPES

_MODELS = name("published_model")
_STAGED_NAMES = name("published_name")

# Names of schemas that servers reserve: those with this prefix, and that of the SQL standard.
_RESERVED = "pg_"
_STANDARD = "information_schema"


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A table that we wrote: the predicate or table it is `of`, and how many rows have each tag."""

    of: str
    table: str
    observed: int
    predicted: int
    hidden: int


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    schema: str
    tables: tuple[WrittenTable, ...]
    warnings: tuple[Diagnostic, ...] = ()


def write_published(engine: Engine, setting: Setting, schema: str, *, replace: bool = False) -> WrittenSchema:
    """Writes facts and predictions into a schema, and makes the schema if need be. InputError if one of the tables exists; with
    `replace` we first drop those that we made before, but never others. We write all tables, or none."""
    _check_schema(schema)
    catalogue = published_catalogue(engine, schema)
    setting = expanded(engine, setting).setting
    writer = _Writer(engine, setting, schema)
    there = {one.name: one.comment.startswith(sql.MADE_HERE) for one in catalogue.relations if one.schema == schema}
    _refuse_existing(schema, writer.names(), there, replace=replace)
    try:
        if schema not in catalogue.schemas():
            engine.run(sql.create_schema(schema))
        written = writer.write([table for table, made_here in there.items() if made_here and replace])
        engine.run(commit())
    except UncertainError as error:
        told = f"it is not known whether schema `{schema}` was written; look, or run this again with `--replace`"
        raise EngineError(f"{told}: {error}") from error
    except EngineError as error:
        raise EngineError(f"schema `{schema}` could not be written, and is as it was: {error}") from error
    return written


def _check_schema(schema: str) -> None:
    if (
        not schema
        or len(schema.encode()) > sql.MOST_BYTES
        or schema.startswith(_RESERVED)
        or schema == _STANDARD
        or "\x00" in schema
    ):
        notes = (f"a name has 1 to {sql.MOST_BYTES} bytes, does not begin with `{_RESERVED}`, and is not `{_STANDARD}`",)
        raise InputError(Diagnostic("E925", f"`{schema}` cannot be the name of a schema", notes=notes))


def _refuse_existing(schema: str, wanted: Iterable[str], there: Mapping[str, bool], *, replace: bool) -> None:
    clashes = sorted(table for table in wanted if table in there and not (replace and there[table]))
    if not clashes:
        return
    shown = ", ".join(f"`{one}`" for one in clashes[:10]) + (f" and {len(clashes) - 10:,} more" if len(clashes) > 10 else "")
    own = all(there[table] for table in clashes)
    helps = (
        "give `--replace` to write them anew, or `--schema` for another place" if own else "choose another schema with `--schema`",
    )
    notes = () if own else ("tables that this command did not make are never replaced",)
    raise InputError(Diagnostic("E924", f"schema `{schema}` has tables {shown} already", notes=notes, helps=helps))


class _Writer:
    """Facts and predictions staged as rows of keys, then written table by table."""

    def __init__(self, engine: Engine, setting: Setting, schema: str) -> None:
        self._engine, self._setting, self._schema = engine, setting, schema
        self._keyed = TableLoader(engine, setting, {}, Inference(predictions=setting.predictions)).load()
        self._staged = table_predictions.stage_predictions(engine, setting, self._keyed)
        self._observed: Staging = stage(engine, "observed", setting.observed)
        self._predicted, _, _ = stage_predictions(engine, setting)
        rows = row_counts(engine, {"observed": self._observed, "predicted": self._predicted})
        self._arities = predicate_arities(rows)
        readings = [*self._observed.readings, *self._predicted.readings]
        # We do not know the rules here: they may mention a predicate that is the only one of a file.
        alone = {name for one in readings if len(one.predicates) == 1 for name in one.predicates}
        self._misread = tuple(reading_warnings(readings, occurrences(rows, alone.__contains__)))
        predicates = sorted(self._arities)
        targets = [table for table, found in self._keyed.items() if found.shape.table.target is not None]
        names = sql.table_names([*predicates, *(f"{table}_predictions" for table in targets)])
        self._of_predicate = dict(zip(predicates, names, strict=False))
        self._of_target = dict(zip(targets, names[len(predicates) :], strict=True))

    def names(self) -> list[str]:
        return [sql.NAMES, *self._of_predicate.values(), *self._of_target.values()]

    def write(self, dropped: Iterable[str]) -> WrittenSchema:
        for table in dropped:
            self._engine.run(sql.drop_table((self._schema, table)))
        models = [one.model for one in self._setting.predictions]
        rows = {"id": pa.array(range(len(models)), pa.int32()), "name": pa.array(models, pa.string())}
        self._engine.load(_MODELS, pa.table(rows))
        for staging in (self._observed, self._predicted):
            for arity in staging.arities:
                self._engine.run(sql.index_staged(str(staging.table(arity))))
        written = [*self._predicates(), *self._predictions()]
        self._write_names()
        # Last, since the server names an index so that it differs from the tables there are.
        for predicate, arity in self._arities.items():
            self._index((self._schema, self._of_predicate[predicate]), sql.argument_columns(arity))
        return WrittenSchema(self._schema, tuple(written), tuple(self._warnings()))

    def _predicates(self) -> Iterator[WrittenTable]:
        for predicate, arity in sorted(self._arities.items()):
            path = (self._schema, self._of_predicate[predicate])
            observed, predicted = self._observed.table(arity), self._predicted.table(arity)
            self._engine.run(sql.create_predicate(path, predicate, arity, observed, predicted, _MODELS))
            yield self._finished(path, predicate, f"facts of {predicate}")

    def _index(self, path: tuple[str, str], columns: Sequence[str]) -> None:
        """Makes an index for each argument, which comes first in it; none if an index could not hold some row."""
        if (
            len(columns) > sql.MOST_INDEXED
            or self._engine.query(sql.longest_row(path, columns))["n"][0].as_py() > sql.MOST_INDEXED_BYTES
        ):
            return
        for i in range(len(columns)):
            self._engine.run(sql.create_index(path, [*columns[i:], *columns[:i]]))

    def _predictions(self) -> Iterator[WrittenTable]:
        for table, written in self._of_target.items():
            path = (self._schema, written)
            self._engine.run(self._create_predictions(path, table))
            yield self._finished(path, table, f"predictions of {table}")

    def _create_predictions(self, path: tuple[str, str], table: str) -> Create:
        rows, staged = self._keyed[table], self._staged.get(table)
        held = rows.target_type if staged is None else staged.target_type
        assert held is not None
        predicted = None if staged is None else rows.staged
        return sql.create_predictions(path, rows.table, rows.keys, SQL_TYPES[held], predicted, _MODELS)

    def _finished(self, path: tuple[str, str], of: str, what: str) -> WrittenTable:
        self._engine.run(sql.comment(path, what))
        self._engine.run(sql.analyze(path))
        counts = {row["tag"]: row["n"] for row in self._engine.query(sql.row_counts(path)).to_pylist()}
        return WrittenTable(of, path[1], *(counts.get(tag, 0) for tag in (sql.OBSERVED, sql.PREDICTED, sql.HIDDEN)))

    def _write_names(self) -> None:
        predicates = [(one, "predicate", table) for one, table in self._of_predicate.items()]
        targets = [(one, "predictions", table) for one, table in self._of_target.items()]
        columns = zip(*(*predicates, *targets), strict=True) if predicates or targets else ((), (), ())
        fields = ("name", "kind", "table_name")
        rows = {field: pa.array(list(values), pa.string()) for field, values in zip(fields, columns, strict=True)}
        self._engine.load(_STAGED_NAMES, pa.table(rows))
        path = (self._schema, sql.NAMES)
        self._engine.run(sql.create_names(path, _STAGED_NAMES))
        self._engine.run(sql.comment(path, "which table is whose"))

    def _warnings(self) -> Iterator[Diagnostic]:
        if self._setting.negatives:
            yield Diagnostic("W921", "negative facts have no place in the published layout", severity=Severity.WARNING)
        yield from (warning for table in self._keyed.values() for warning in table.warnings)
        yield from self._misread
