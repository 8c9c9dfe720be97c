"""The user's own tables in the engine's database: found in its catalogue, and read where they are by statements alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

import pyarrow as pa
from sqlglot import exp

from rulescore.data.layout import MODEL, model_column
from rulescore.data.request import FactFile, Request
from rulescore.data.selection import unranked
from rulescore.data.setting import (
    DatabaseTable,
    FactSource,
    FactTable,
    Guess,
    ModelPredictions,
    Only,
    PublishedFacts,
    Setting,
)
from rulescore.engines.base import Engine
from rulescore.engines.catalogue import Catalogue, Path, StoredColumn, refuse_unreadable
from rulescore.engines.offenders import counted
from rulescore.errors import Diagnostic, InputError, Place, located, suggestion
from rulescore.sql import in_place as sql
from rulescore.sql.build import Select, column, count_rows, equal, named, select
from rulescore.sql.in_place import StoredFacts, StoredType
from rulescore.sql.published import HIDDEN, MADE_HERE, NAMES, OBSERVED, PREDICTED, PredicateTable, argument_columns
from rulescore.sql.tables import StoredTable, any_row

CODES = {
    "E921": "tables of the engine's own database are asked for, and the engine has none",
    "E922": "a table of the engine's database is not there, is not the only one of its name, or may not be read",
    "E923": "a schema is not in the published layout",
}

# What tables of the published layout have beside their arguments.
_TAG = "tag"

_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class _Relation:
    schema: str
    name: str
    readable: bool
    comment: str

    @property
    def full(self) -> str:
        return f"{self.schema}.{self.name}"


class PostgresCatalogue(Catalogue):
    """The tables and views of a PostgreSQL database, as the role sees them."""

    def __init__(self, engine: Engine, searched: Sequence[str]) -> None:
        """`searched`: the schemas in which the role searches for names, in their order. The session itself does so no more."""
        self._engine, self._searched = engine, searched
        self._known: list[_Relation] | None = None

    @property
    def relations(self) -> list[_Relation]:
        if self._known is None:
            rows = self._engine.query(sql.relations()).to_pylist()
            self._known = sorted((_Relation(**row) for row in rows), key=lambda one: one.full)
        return self._known

    def schemas(self) -> list[str]:
        names: list[str] = self._engine.query(sql.schemas())["schema"].to_pylist()
        return names

    def find(self, table: str) -> Path:
        """Schema and name of a table, which may be given by its name alone where the search path finds it."""
        found = [one for one in self.relations if one.full == table]
        if not found and (visible := self._visible().get(table)) is not None:
            found = [visible]
        if not found:
            raise InputError(self._unknown(table))
        if len(found) > 1:
            both = " and ".join(f"`{one.name}` of schema `{one.schema}`" for one in found)
            helps = ("give one of them another name by a view",)
            raise InputError(Diagnostic("E922", f"`{table}` may be {both}", helps=helps))
        if not found[0].readable:
            helps = ("grant it `SELECT` on the table, and `USAGE` on its schema",)
            raise InputError(Diagnostic("E922", f"the role may not read `{table}`", helps=helps))
        return found[0].schema, found[0].name

    def _visible(self) -> dict[str, _Relation]:
        """The tables that need no schema: of one name, that of the schema which is searched first."""
        return {one.name: one for schema in reversed(self._searched) for one in self.relations if one.schema == schema}

    def _unknown(self, table: str) -> Diagnostic:
        visible = self._visible()
        shown = [one.name if visible.get(one.name) is one else one.full for one in self.relations if one.readable]
        close = suggestion(table, dict.fromkeys([*shown, *(one.full for one in self.relations)]))
        helps = (f"did you mean `{close}`?",) if close else ()
        notes = (f"tables that can be read are {_listed(shown)}", "capital letters count")
        return Diagnostic("E922", f"the database has no table `{table}`", notes=notes, helps=helps)

    def columns(self, path: Path) -> dict[str, StoredColumn]:
        rows = self._engine.query(sql.columns_of(*path)).to_pylist()
        return {row["name"]: _column(row) for row in rows}

    def tables_of(self, schema: str) -> dict[str, dict[str, StoredColumn]]:
        """The columns of every table of a schema that can be read."""
        readable = {one.name for one in self.relations if one.schema == schema and one.readable}
        found: dict[str, dict[str, StoredColumn]] = {name: {} for name in sorted(readable)}
        for row in self._engine.query(sql.columns_of(schema)).to_pylist():
            if row["table"] in found:
                found[row["table"]][row["name"]] = _column(row)
        return found


def _column(row: Mapping[str, object]) -> StoredColumn:
    name, kind, modifier = str(row["type"]), row["kind"], row["modifier"]
    if row["cast_by_function"]:
        return StoredColumn(f"{name}, which a function of another schema converts", None)
    # Anybody may give a type of several fields the name of a plain one.
    found = StoredType.TEXT if kind == "e" else sql.STORED_TYPES.get(name) if kind == "b" else None
    # The lower 11 bits of a numeric's modifier are its scale, which may be negative; no modifier, no scale.
    scale = None if not isinstance(modifier, int) or modifier < 4 else ((modifier - 4 & 2047) ^ 1024) - 1024
    return StoredColumn(name, found, max(0, scale) if scale is not None else None)


@dataclass(frozen=True, slots=True)
class InPlace:
    """Rows of the user's, ready to be taken by a statement: how many there are, and how many of them the statement gives.
    `predicate`: the one that all of them are of, if they are of one."""

    arity: int
    rows: int
    kept: int
    query: exp.Query
    floats: frozenset[tuple[str, int]] = frozenset()
    """Predicates with the numbers of the arguments that are columns of floats."""
    predicate: str | None = None
    guess: Guess | None = None


def observed_in_place(engine: Engine, facts: FactTable) -> InPlace:
    stored = _stored(engine, facts)
    counts = _checked(engine, facts, stored)
    rows, floats = counts["rows"], _floats(engine, stored)
    return InPlace(len(stored.arguments), rows, rows, sql.observed_rows(stored), floats, stored.predicate, stored.guess)


def predicted_in_place(engine: Engine, facts: FactTable, model: int, name: str, top_k: int | None) -> InPlace:
    """The predictions of a model, by its number; those that `top_k` keeps, chosen as `PredictionReader` chooses them."""
    stored = _stored(engine, facts)
    counts = _checked(engine, facts, stored)
    rows = counts["rows"]
    for part in ("rank", "query"):
        if 0 < counts.get(part, 0) < rows:
            notes = ("the answers of one source are all chosen by rank, or all by query and score, or all kept",)
            message = f"some rows of `{facts.table}` have a {part} and others have none"
            raise InputError(Diagnostic("E331", message, Place(facts.origin), notes=notes))
    best = 1 if top_k is None else top_k
    by_rank, by_query = rows and counts.get("rank") == rows, rows and counts.get("query") == rows
    if by_query and not by_rank and counts.get("score", 0) < rows:
        helps = ("add a `rank` or `score` column, or leave `query` out",)
        message = f"neither rank nor score says which answers of `{facts.table}` are best"
        raise InputError(Diagnostic("E330", message, Place(facts.origin), helps=helps))
    if rows and top_k is not None and not by_rank and not by_query:
        raise InputError(unranked(name, top_k, facts.origin))

    def chosen() -> Select:
        return sql.predicted_rows(
            stored, model, best_rank=best if by_rank else None, best_of_query=best if by_query and not by_rank else None
        )

    kept = rows
    if by_rank or by_query:
        counting = select(named(count_rows(), "n")).from_(chosen().subquery(alias="k", copy=False))
        kept = engine.query(counting)["n"][0].as_py()
    floats = _floats(engine, stored)
    return InPlace(len(stored.arguments), rows, kept, chosen(), floats, stored.predicate, stored.guess)


def _floats(engine: Engine, stored: StoredFacts) -> frozenset[tuple[str, int]]:
    if not stored.floats:
        return frozenset()
    names = [str(stored.predicate)]
    if stored.relation is not None:
        names = engine.query(sql.different_values(stored.path, stored.relation))[stored.relation].to_pylist()
    return frozenset((name, place) for name in names for place in stored.floats)


def refuse_unknown_model(engine: Engine, name: str, tables: Sequence[FactTable]) -> None:
    """To be called where tables have no predictions of a model: raises where they have a column that tells models apart."""
    for facts in tables:
        stored = _stored(engine, facts)
        for told in (one.column for one in stored.only if one.values == (facts.model,)):
            raise InputError(_no_rows_of(engine, stored.path, told, name, facts.origin))


def _no_rows_of(engine: Engine, path: Path, told: str, name: str, origin: str) -> Diagnostic:
    rows = engine.query(sql.different_values(path, told))
    known = sorted(one for one in rows[told].to_pylist() if one is not None)
    close = suggestion(name, known)
    helps = (f"did you mean `{close}`?",) if close else ("leave the source out if that is meant",)
    notes = (f"models in its column `{told}` are {_listed(known)}", "capital letters count")
    return Diagnostic("E304", f"there are no predictions of `{name}`", Place(origin), notes=notes, helps=helps)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return (", ".join(f"`{one}`" for one in names[:_MOST_LISTED]) or "none") + more


def catalogue_of(engine: Engine, what: str) -> Catalogue:
    """The tables of the engine's own database, in which `what` is looked for."""
    found = engine.catalogue()
    if found is None:
        helps = ("give `--engine postgresql://…` or `--engine spark://…`, or `url` in the section `engine` of the project file",)
        message = f"{what} lies in the engine's own database, and this engine has none"
        raise InputError(Diagnostic("E921", message, helps=helps))
    return found


def published_catalogue(engine: Engine, schema: str) -> PostgresCatalogue:
    """The catalogue of an engine that has the published layout."""
    found = catalogue_of(engine, f"schema `{schema}`")
    if not isinstance(found, PostgresCatalogue):
        helps = ("name its tables one by one: `database_table`, `database_predicates`",)
        raise InputError(Diagnostic("E923", f"schema `{schema}`: only PostgreSQL has the published layout", helps=helps))
    return found


def _stored(engine: Engine, facts: FactTable) -> StoredFacts:
    with located(facts.place):
        return catalogue_of(engine, f"table `{facts.table}`").stored(facts)


def _checked(engine: Engine, facts: FactTable, stored: StoredFacts) -> dict[str, int]:
    """What is counted of a table; rows that are no facts are raised, all kinds of them together."""
    counts: dict[str, int] = engine.query(sql.fault_counts(stored)).to_pylist()[0]
    problems = []

    def add(code: str, name: str, what: str, count: int, *notes: str) -> None:
        message = f"`{name}` of `{facts.table}` {what} in {counted(count, 'row')}"
        problems.append(Diagnostic(code, message, Place(facts.origin), notes=notes))

    for i, name in enumerate(stored.arguments):
        if counts[f"m_{i}"]:
            add("E312", name, "is missing", counts[f"m_{i}"])
        if counts[f"w_{i}"]:
            timed = stored.types[name] in {StoredType.DATE, StoredType.TIMESTAMP, StoredType.INSTANT}
            what = "is in no year from 1 to 9999" if timed else "is no constant"
            add("E314", name, what, counts[f"w_{i}"], "NaN and infinite values are no constants")
    if stored.relation is not None and counts["m_relation"]:
        add("E312", stored.relation, "is missing", counts["m_relation"])
    if counts.get("w_score"):
        add("E316", str(stored.score), "is not a finite number", counts["w_score"])
    if counts.get("w_rank"):
        add("E316", str(stored.rank), "is less than 1", counts["w_rank"], "ranks count from 1")
    if problems:
        raise InputError(problems)
    return counts


@dataclass(frozen=True, slots=True)
class Expanded:
    """A setting in which published sources are tables and models. `tables`: those of the predicates, where all facts and
    predictions come from one published schema."""

    setting: Setting
    tables: Mapping[str, PredicateTable] | None = None


def expanded(engine: Engine, setting: Setting) -> Expanded:
    """Looks up what a published layout holds."""
    layouts = [one for one in setting.observed if isinstance(one, PublishedFacts)]
    if not layouts:
        return Expanded(setting)
    observed: list[FactSource] = [one for one in setting.observed if not isinstance(one, PublishedFacts)]
    models: dict[str, list[FactSource]] = {}
    tables: dict[str, PredicateTable] = {}
    for layout in layouts:
        found = _Published(engine, layout)
        tables |= found.tables()
        observed += found.observed()
        for model, sources in found.models().items():
            models.setdefault(model, []).extend(sources)
    predictions = (*setting.predictions, *(ModelPredictions(model, tuple(models[model])) for model in sorted(models)))
    alone = len(setting.observed) == 1 and not setting.predictions
    return Expanded(replace(setting, observed=tuple(observed), predictions=predictions), tables if alone else None)


class _Published:
    """A schema in the published layout: every table with a subject, a tag and a model is a predicate's."""

    def __init__(self, engine: Engine, layout: PublishedFacts) -> None:
        self._engine, self._layout = engine, layout
        catalogue = published_catalogue(engine, layout.schema)
        tables = catalogue.tables_of(layout.schema)
        self._arguments = {name: found for name, columns in tables.items() if (found := _arguments(columns)) is not None}
        made_here = {one.name for one in catalogue.relations if one.schema == layout.schema and one.comment.startswith(MADE_HERE)}
        self._made_here = made_here if NAMES in made_here else set()
        self.predicates = self._names()
        if not self.predicates:
            raise InputError(self._none(catalogue))
        for table in self.predicates.values():
            for name in (_TAG, MODEL):
                refuse_unreadable(name, tables[table][name], f"{layout.schema}.{table}", layout.origin)
        self._marks = {table: self._marked(table) for table in self.predicates.values()}
        self._refuse_tags()

    def _marked(self, table: str) -> list[tuple[str, str | None]]:
        """The tags of a table's rows as they are written in it, with the models they go with."""
        rows = self._engine.query(sql.different_values((self._layout.schema, table), _TAG, MODEL)).to_pylist()
        return [(row[_TAG], row[MODEL]) for row in rows if row[_TAG] is not None]

    def _refuse_tags(self) -> None:
        """Tags that no row has. A schema may hold facts alone or predictions alone, if nothing speaks against it."""
        layout = self._layout
        found = {tag for marks in self._marks.values() for tag, _ in marks}
        unread = {tag for tag in found if not _is_tag(tag, (*layout.observed, *layout.predicted, HIDDEN))}
        parts = (("observed", layout.observed, OBSERVED), ("predicted", layout.predicted, PREDICTED))
        lacking = [one for one in parts if not any(_is_tag(tag, one[1]) for tag in found)]
        for what, tags, usual in lacking:
            if unread or tags != (usual,) or len(lacking) == len(parts):
                message = f"no row of schema `{layout.schema}` has the tag of {what} facts, {_numbers(tags)}"
                notes = (f"tags of its rows are {_listed(sorted(found))}",)
                raise InputError(Diagnostic("E923", message, notes=notes, helps=(f"give them as `tags = {{ {what} = … }}`",)))

    def _none(self, catalogue: PostgresCatalogue) -> Diagnostic:
        close = suggestion(self._layout.schema, [one for one in catalogue.schemas() if one != self._layout.schema])
        notes = ("a predicate's table has the columns `subject`, `object`, `tag` and `model`",)
        helps = (f"did you mean `{close}`?",) if close else ("`rulescore load` writes this layout",)
        return Diagnostic("E923", f"schema `{self._layout.schema}` has no table of a predicate", notes=notes, helps=helps)

    def _names(self) -> dict[str, str]:
        """The tables of predicates. Where `rulescore load` made them, a table says which is whose; else a table has its name."""
        own = {name: name for name in self._arguments if name not in self._made_here}
        if not self._made_here:
            return own
        path = (self._layout.schema, NAMES)
        query = select(column("s", "name"), column("s", "table_name")).where(
            equal(column("s", "kind"), exp.Literal.string("predicate"))
        )
        rows = self._engine.query(StoredFacts(path, (), {}).rows(query)).to_pylist()
        return own | {row["name"]: row["table_name"] for row in rows if row["table_name"] in self._arguments}

    def tables(self) -> dict[str, PredicateTable]:
        layout = self._layout
        return {
            predicate: PredicateTable((layout.schema, one), layout.observed, layout.predicted, one in self._made_here)
            for predicate, one in self.predicates.items()
        }

    def observed(self) -> Iterator[FactTable]:
        for predicate, table in self.predicates.items():
            if tags := self._tags(table, self._layout.observed):
                yield self._facts(predicate, table, (Only(_TAG, tags),), predictions=False)

    def models(self) -> dict[str, list[FactTable]]:
        found: dict[str, list[FactTable]] = {}
        for predicate, table in self.predicates.items():
            tags = self._tags(table, self._layout.predicted)
            for model in dict.fromkeys(model for tag, model in self._marks[table] if tag in tags):
                if model is None:
                    message = f"`{self._layout.schema}.{table}` has predictions whose `model` is missing"
                    notes = (f"predictions have the tag {_numbers(self._layout.predicted)}",)
                    raise InputError(Diagnostic("E923", message, notes=notes))
                only = (Only(_TAG, tags), Only(MODEL, (model,)))
                found.setdefault(model, []).append(self._facts(predicate, table, only, predictions=True))
        return found

    def _tags(self, table: str, numbers: Sequence[int]) -> tuple[str, ...]:
        """Those of a table's tags that are some number."""
        return tuple(sorted({tag for tag, _ in self._marks[table] if _is_tag(tag, numbers)}))

    def _facts(self, predicate: str, table: str, only: tuple[Only, ...], *, predictions: bool) -> FactTable:
        file = FactFile(table, predicate=predicate, columns={"arguments": self._arguments[table]})
        request = Request(self._layout.origin, file, predictions)
        path = (self._layout.schema, table)
        return FactTable(".".join(path), request, only, keys=table in self._made_here, path=path)


def _is_tag(text: str, numbers: Sequence[int]) -> bool:
    """Whether a tag is one of some numbers, however its column writes numbers."""
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
    found = [name for name in argument_columns(arity) if name in columns]
    return found if found and found == argument_columns(len(found)) else None


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Ids or predictions that the engine reads where they are. `columns`: as statements know them."""

    origin: str
    columns: pa.Schema
    table: StoredTable
    text = False

    def schema(self) -> pa.Schema:
        return self.columns


def stored_rows(engine: Engine, table: DatabaseTable, model: str | None = None) -> StoredRows:
    """Ids or predictions in a table of the engine's database; of one model, where a table of the user's tells models apart."""
    catalogue = catalogue_of(engine, f"table `{table.table}`")
    with located(table.place):
        path = catalogue.find(table.table)
    schema = catalogue.schema(path)
    told = None if model is None or table.adopted is not None else model_column(schema.names)
    if told is not None:
        refuse_unreadable(told, catalogue.columns(path)[told], table.table, table.origin)
    only = () if model is None or told is None else (Only(told, (model,)),)
    found = StoredRows(table.origin, schema, stored_table(path, schema, only))
    if model is not None and told is not None and not engine.query(any_row(found.table)).num_rows:
        raise InputError(_no_rows_of(engine, path, told, model, table.origin))
    return found


def stored_table(path: Path, schema: pa.Schema, only: tuple[Only, ...] = ()) -> StoredTable:
    """A table of the user's with all its columns."""
    return StoredTable(path, {one: one for one in schema.names}, dict(zip(schema.names, schema.types, strict=True)), only)
