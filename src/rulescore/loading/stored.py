"""The user's own tables in the engine's database: found in its catalogue, and read in place by statements alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.engines.catalogue import Catalogue, Path, listed, refuse_unreadable
from rulescore.errors import Diagnostic, InputError, Place, located, meant
from rulescore.loading.samples import counted
from rulescore.readers.layout import model_column
from rulescore.readers.selection import unranked
from rulescore.setting.model import ColumnIn, DatabaseTable, FactTable, Guess
from rulescore.sql import stored as sql
from rulescore.sql.query import Query, select
from rulescore.sql.stored import StoredFacts, StoredType
from rulescore.sql.tables.rows import StoredTable, any_row
from rulescore.sql.words import count_rows


@dataclass(frozen=True, slots=True)
class InPlace:
    """Rows of a user's table, and a query for them: `rows` is how many there are, `kept` how many of them the query returns.
    `predicate`: their predicate, if all have the same."""

    arity: int
    rows: int
    kept: int
    query: Query
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
    """The predictions of the model with a number. `top_k` chooses among them as `PredictionReader` does."""
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

    chosen = sql.predicted_rows(
        stored, model, best_rank=best if by_rank else None, best_of_query=best if by_query and not by_rank else None
    )
    kept = rows
    if by_rank or by_query:
        counting = select(n=count_rows()).from_(chosen.as_("k"))
        kept = engine.query(counting)["n"][0].as_py()
    floats = _floats(engine, stored)
    return InPlace(len(stored.arguments), rows, kept, chosen, floats, stored.predicate, stored.guess)


def _floats(engine: Engine, stored: StoredFacts) -> frozenset[tuple[str, int]]:
    if not stored.floats:
        return frozenset()
    names = [str(stored.predicate)]
    if stored.relation is not None:
        names = engine.query(sql.different_values(stored.path, stored.relation))[stored.relation].to_pylist()
    return frozenset((name, place) for name in names for place in stored.floats)


def refuse_unknown_model(engine: Engine, name: str, tables: Sequence[FactTable]) -> None:
    """Called if tables have no predictions of a model. Raises InputError if they have a column that tells models apart."""
    for facts in tables:
        stored = _stored(engine, facts)
        for told in (one.column for one in stored.only if one.values == (facts.model,)):
            raise InputError(_no_rows_of(engine, stored.path, told, name, facts.origin))


def _no_rows_of(engine: Engine, path: Path, told: str, name: str, origin: str) -> Diagnostic:
    rows = engine.query(sql.different_values(path, told))
    known = sorted(one for one in rows[told].to_pylist() if one is not None)
    helps = meant(name, known) or ("leave the source out if that is meant",)
    notes = (f"models in its column `{told}` are {listed(known)}", "capital letters count")
    return Diagnostic("E304", f"there are no predictions of `{name}`", Place(origin), notes=notes, helps=helps)


def catalogue_of(engine: Engine, what: str) -> Catalogue:
    """The tables of the engine's own database. InputError if the engine has none; it says that we look for `what`."""
    found = engine.catalogue()
    if found is None:
        helps = ("give `--engine postgresql://…` or `--engine spark://…`, or `url` in the section `engine` of the project file",)
        message = f"{what} lies in the engine's own database, and this engine has none"
        raise InputError(Diagnostic("E921", message, helps=helps))
    return found


def _stored(engine: Engine, facts: FactTable) -> StoredFacts:
    with located(facts.place):
        return catalogue_of(engine, f"table `{facts.table}`").stored(facts)


def _checked(engine: Engine, facts: FactTable, stored: StoredFacts) -> dict[str, int]:
    """The `fault_counts` of a table. Raises one InputError for all rows that are not facts."""
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
            what = "is in no year from 1 to 9999" if timed else "is not a constant"
            add("E314", name, what, counts[f"w_{i}"], "NaN and infinite values are not constants")
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
class StoredRows:
    """Ids or predictions that the engine reads in place. `columns`: their names and types, as statements know them."""

    origin: str
    columns: pa.Schema
    table: StoredTable
    text = False

    def schema(self) -> pa.Schema:
        return self.columns


def stored_rows(engine: Engine, table: DatabaseTable, model: str | None = None) -> StoredRows:
    """Ids or predictions in a table of the engine's database: only those of `model`, if a column of a user's table tells models
    apart."""
    catalogue = catalogue_of(engine, f"table `{table.table}`")
    with located(table.place):
        path = catalogue.find(table.table)
    schema = catalogue.schema(path)
    told = None if model is None or table.native_origin is not None else model_column(schema.names)
    if told is not None:
        refuse_unreadable(told, catalogue.columns(path)[told], table.table, table.origin)
    only = () if model is None or told is None else (ColumnIn(told, (model,)),)
    found = StoredRows(table.origin, schema, stored_table(path, schema, only))
    if model is not None and told is not None and not engine.query(any_row(found.table)).num_rows:
        raise InputError(_no_rows_of(engine, path, told, model, table.origin))
    return found


def stored_table(path: Path, schema: pa.Schema, only: tuple[ColumnIn, ...] = ()) -> StoredTable:
    """A table of the user's with all its columns."""
    return StoredTable(path, {one: one for one in schema.names}, dict(zip(schema.names, schema.types, strict=True)), only)
