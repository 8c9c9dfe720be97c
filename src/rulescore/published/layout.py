"""A schema of the user's database in the published layout: read as tables of facts and of models, or written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.engines.catalogue import SchemaCatalogue, StoredColumn, listed, refuse_unreadable
from rulescore.errors import Diagnostic, EngineError, InputError, Severity, UncertainError, meant, ticked
from rulescore.loading import tables as loaded_tables
from rulescore.loading.facts import Staging, row_counts, stage, stage_predictions
from rulescore.loading.readings import occurrences, predicate_arities, reading_warnings
from rulescore.loading.stored import catalogue_of
from rulescore.loading.table_rows import TableLoader
from rulescore.loading.table_values import Inference
from rulescore.published import statements as sql
from rulescore.published.statements import HIDDEN, MADE_HERE, NAMES, OBSERVED, PREDICTED, PredicateTable, argument_columns
from rulescore.readers.layout import MODEL
from rulescore.setting.model import ColumnIn, FactFile, FactSource, FactTable, ModelPredictions, PublishedFacts, Request, Setting
from rulescore.sql import stored as stored
from rulescore.sql.names import name
from rulescore.sql.query import Create, alias, commit, select
from rulescore.sql.stored import StoredFacts
from rulescore.sql.values import SQL_TYPES

# A column of the published layout that is no argument.
_TAG = "tag"


def expanded(engine: Engine, setting: Setting) -> tuple[Setting, Mapping[str, PredicateTable] | None]:
    """The setting with its published sources replaced by their tables and models; and the tables of the predicates, if all facts
    and predictions come from one published schema."""
    layouts = [facts for facts in setting.observed if isinstance(facts, PublishedFacts)]
    observed: list[FactSource] = [facts for facts in setting.observed if not isinstance(facts, PublishedFacts)]
    models: dict[str, list[FactSource]] = {}
    tables: dict[str, PredicateTable] = {}
    for layout in layouts:
        published = _Published(engine, layout)
        tables |= published.tables()
        observed += published.observed()
        for model, sources in published.models().items():
            models.setdefault(model, []).extend(sources)
    predictions = (*setting.predictions, *(ModelPredictions(model, tuple(models[model])) for model in sorted(models)))
    alone = len(setting.observed) == 1 and not setting.predictions
    return replace(setting, observed=tuple(observed), predictions=predictions), tables if alone else None


class _Published:
    """A schema in the published layout. Each table with the columns subject, tag and model holds one predicate."""

    def __init__(self, engine: Engine, layout: PublishedFacts) -> None:
        self._engine, self._layout = engine, layout
        catalogue = published_catalogue(engine, layout.schema)
        tables = catalogue.tables_of(layout.schema)
        self._arguments = {name: arguments for name, columns in tables.items() if (arguments := _arguments(columns)) is not None}
        made_here = {
            relation.name
            for relation in catalogue.relations
            if relation.schema == layout.schema and relation.comment.startswith(MADE_HERE)
        }
        self._made_here = made_here if NAMES in made_here else set()
        self.predicates = self._table_names()
        if not self.predicates:
            raise InputError(self._none(catalogue))
        for table in self.predicates.values():
            for column in (_TAG, MODEL):
                refuse_unreadable(column, tables[table][column], f"{layout.schema}.{table}", layout.origin)
        self._marks = {table: self._marked(table) for table in self.predicates.values()}
        self._refuse_tags()

    def _marked(self, table: str) -> list[tuple[str, str | None]]:
        """The different tags of a table as text, each with the models of its rows."""
        rows = self._engine.query(stored.different_values((self._layout.schema, table), _TAG, MODEL)).to_pylist()
        return [(row[_TAG], row[MODEL]) for row in rows if row[_TAG] is not None]

    def _refuse_tags(self) -> None:
        """Raises InputError for tags that no row has. A schema may hold only facts or only predictions, if its tags are the usual
        ones and no row has an unknown tag."""
        layout = self._layout
        present = {tag for marks in self._marks.values() for tag, _ in marks}
        unread = {tag for tag in present if not _is_tag(tag, (*layout.observed, *layout.predicted, HIDDEN))}
        parts = (("observed", layout.observed, OBSERVED), ("predicted", layout.predicted, PREDICTED))
        lacking = [part for part in parts if not any(_is_tag(tag, part[1]) for tag in present)]
        for what, tags, usual in lacking:
            if unread or tags != (usual,) or len(lacking) == len(parts):
                message = f"no row of schema `{layout.schema}` has the tag of {what} facts, {_numbers(tags)}"
                notes = (f"tags of its rows are {listed(sorted(present))}",)
                raise InputError(Diagnostic("E923", message, notes=notes, helps=(f"give them as `tags = {{ {what} = … }}`",)))

    def _none(self, catalogue: SchemaCatalogue) -> Diagnostic:
        notes = ("a predicate's table has the columns `subject`, `object`, `tag` and `model`",)
        others = [schema for schema in catalogue.schemas() if schema != self._layout.schema]
        helps = meant(self._layout.schema, others) or ("`rulescore load` writes this layout",)
        return Diagnostic("E923", f"schema `{self._layout.schema}` has no table of a predicate", notes=notes, helps=helps)

    def _table_names(self) -> dict[str, str]:
        """The table of each predicate. If `rulescore load` made it, a table of names says which; else it has the predicate's
        name."""
        own = {name: name for name in self._arguments if name not in self._made_here}
        if not self._made_here:
            return own
        path = (self._layout.schema, NAMES)
        s = alias("s")
        query = select(s.name, s.table_name).where(s.kind == "predicate")
        rows = self._engine.query(StoredFacts(path, (), {}).rows(query)).to_pylist()
        return own | {row["name"]: row["table_name"] for row in rows if row["table_name"] in self._arguments}

    def tables(self) -> dict[str, PredicateTable]:
        layout = self._layout
        return {
            predicate: PredicateTable((layout.schema, table), layout.observed, layout.predicted, table in self._made_here)
            for predicate, table in self.predicates.items()
        }

    def observed(self) -> Iterator[FactTable]:
        for predicate, table in self.predicates.items():
            if tags := self._tags(table, self._layout.observed):
                yield self._facts(predicate, table, (ColumnIn(_TAG, tags),), predictions=False)

    def models(self) -> dict[str, list[FactTable]]:
        tables: dict[str, list[FactTable]] = {}
        for predicate, table in self.predicates.items():
            tags = self._tags(table, self._layout.predicted)
            for model in dict.fromkeys(model for tag, model in self._marks[table] if tag in tags):
                if model is None:
                    message = f"`{self._layout.schema}.{table}` has predictions whose `model` is missing"
                    notes = (f"predictions have the tag {_numbers(self._layout.predicted)}",)
                    raise InputError(Diagnostic("E923", message, notes=notes))
                only = (ColumnIn(_TAG, tags), ColumnIn(MODEL, (model,)))
                tables.setdefault(model, []).append(self._facts(predicate, table, only, predictions=True))
        return tables

    def _tags(self, table: str, numbers: Sequence[int]) -> tuple[str, ...]:
        """The tags of a table that equal one of the numbers."""
        return tuple(sorted({tag for tag, _ in self._marks[table] if _is_tag(tag, numbers)}))

    def _facts(self, predicate: str, table: str, only: tuple[ColumnIn, ...], *, predictions: bool) -> FactTable:
        file = FactFile(table, predicate=predicate, columns={"arguments": self._arguments[table]})
        request = Request(self._layout.origin, file, predictions)
        path = (self._layout.schema, table)
        return FactTable(".".join(path), request, only, keys=table in self._made_here, path=path)


def _is_tag(text: str, numbers: Sequence[int]) -> bool:
    """Whether a tag equals one of the numbers. `1` and `1.0` are equal."""
    try:
        return Decimal(text) in numbers
    except InvalidOperation:
        return False


def _numbers(tags: Sequence[int]) -> str:
    return ", ".join(map(str, tags))


def _arguments(columns: Mapping[str, StoredColumn]) -> list[str] | None:
    """The columns of a predicate's arguments; None for any other table."""
    if not {_TAG, MODEL} <= columns.keys():
        return None
    arity = len(columns)
    arguments = [name for name in argument_columns(arity) if name in columns]
    return arguments if arguments and arguments == argument_columns(len(arguments)) else None


def published_catalogue(engine: Engine, schema: str) -> SchemaCatalogue:
    """The catalogue of an engine that supports the published layout. InputError for any other engine."""
    catalogue = catalogue_of(engine, f"schema `{schema}`")
    if not isinstance(catalogue, SchemaCatalogue):
        helps = ("name its tables one by one: `database_table`, `database_predicates`",)
        raise InputError(Diagnostic("E923", f"schema `{schema}`: only PostgreSQL has the published layout", helps=helps))
    return catalogue


_MODELS = name("published_model")
_STAGED_NAMES = name("published_name")

# Servers reserve names of schemas with this prefix, and the schema of the SQL standard.
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
    """Writes facts and predictions into a schema, and makes the schema if need be. InputError if one of the tables exists. With
    `replace` we first drop the tables that we made before, but never other tables. We write all tables, or none."""
    _check_schema(schema)
    catalogue = published_catalogue(engine, schema)
    setting, _ = expanded(engine, setting)
    writer = _Writer(engine, setting, schema)
    there = {
        relation.name: relation.comment.startswith(sql.MADE_HERE) for relation in catalogue.relations if relation.schema == schema
    }
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
        raise EngineError(f"schema `{schema}` could not be written, and is unchanged: {error}") from error
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
        raise InputError(Diagnostic("E402", f"`{schema}` cannot be the name of a schema", notes=notes))


def _refuse_existing(schema: str, wanted: Iterable[str], there: Mapping[str, bool], *, replace: bool) -> None:
    clashes = sorted(table for table in wanted if table in there and not (replace and there[table]))
    if not clashes:
        return
    shown = ticked(clashes[:10]) + (f" and {len(clashes) - 10:,} more" if len(clashes) > 10 else "")
    own = all(there[table] for table in clashes)
    helps = (
        "give `--replace` to write them anew, or `--schema` for another place" if own else "choose another schema with `--schema`",
    )
    notes = () if own else ("tables that this command did not make are never replaced",)
    raise InputError(Diagnostic("E603", f"schema `{schema}` has tables {shown} already", notes=notes, helps=helps))


class _Writer:
    """Facts and predictions staged as rows of keys, then written table by table."""

    def __init__(self, engine: Engine, setting: Setting, schema: str) -> None:
        self._engine, self._setting, self._schema = engine, setting, schema
        self._keyed = TableLoader(engine, setting, {}, Inference(predictions=setting.predictions)).load()
        self._staged = loaded_tables.stage_predictions(engine, setting, self._keyed)
        self._observed: Staging = stage(engine, "observed", setting.observed)
        self._predicted, _, _ = stage_predictions(engine, setting)
        rows = row_counts(engine, {"observed": self._observed, "predicted": self._predicted})
        self._arities = predicate_arities(rows)
        readings = [*self._observed.readings, *self._predicted.readings]
        # We do not know the rules here. A predicate may occur in one file only, and rules may mention it.
        alone = {name for reading in readings if len(reading.predicates) == 1 for name in reading.predicates}
        self._misread = tuple(reading_warnings(readings, occurrences(rows, alone.__contains__)))
        predicates = sorted(self._arities)
        targets = [table for table, keyed in self._keyed.items() if keyed.shape.table.target is not None]
        names = sql.table_names([*predicates, *(f"{table}_predictions" for table in targets)])
        self._of_predicate = dict(zip(predicates, names, strict=False))
        self._of_target = dict(zip(targets, names[len(predicates) :], strict=True))

    def names(self) -> list[str]:
        return [sql.NAMES, *self._of_predicate.values(), *self._of_target.values()]

    def write(self, dropped: Iterable[str]) -> WrittenSchema:
        for table in dropped:
            self._engine.run(sql.drop_table((self._schema, table)))
        models = [prediction.model for prediction in self._setting.predictions]
        rows = {"id": pa.array(range(len(models)), pa.int32()), "name": pa.array(models, pa.string())}
        self._engine.load(_MODELS, pa.table(rows))
        for staging in (self._observed, self._predicted):
            for arity in staging.arities:
                self._engine.run(sql.index_staged(str(staging.table(arity))))
        written = [*self._predicates(), *self._predictions()]
        self._write_names()
        # We make indexes last, since the server gives an index a name that no existing table has.
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
        predicates = [(name, "predicate", table) for name, table in self._of_predicate.items()]
        targets = [(name, "predictions", table) for name, table in self._of_target.items()]
        columns = zip(*(*predicates, *targets), strict=True) if predicates or targets else ((), (), ())
        fields = ("name", "kind", "table_name")
        rows = {field: pa.array(list(values), pa.string()) for field, values in zip(fields, columns, strict=True)}
        self._engine.load(_STAGED_NAMES, pa.table(rows))
        path = (self._schema, sql.NAMES)
        self._engine.run(sql.create_names(path, _STAGED_NAMES))
        self._engine.run(sql.comment(path, "which table is whose"))

    def _warnings(self) -> Iterator[Diagnostic]:
        if self._setting.negatives:
            yield Diagnostic("W153", "negative facts have no place in the published layout", severity=Severity.WARNING)
        yield from (warning for table in self._keyed.values() for warning in table.warnings)
        yield from self._misread
