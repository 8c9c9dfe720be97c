"""The rows of predictions with the fact of each, and a setting that scores exactly these rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.loading.table_values import prediction_columns
from rulescore.readers.own_rows import own_facts
from rulescore.readers.table_rows import value_type
from rulescore.session.session import Session
from rulescore.setting.model import FactBatch, FactSource, FactStream, OwnRows, RowStream, Setting, TablePredictions
from rulescore.values import ValueType, key_of, restored
from rulescore.verdicts.links import Links, find_links, linked

_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class RowFact:
    """The fact that a row states, as keys of constants. `asked`: the fact before names were linked. `score`: its confidence."""

    predicate: str
    keys: tuple[str, ...]
    asked: tuple[str, ...]
    score: float | None


@dataclass(frozen=True, slots=True)
class UserRows:
    """The rows of one source of one model. `facts`: of each row; None if it cannot be read. `unreadable`: why not, by row.
    `values`: they are values of a table's target. Their facts follow only when the table is loaded, since its types decide."""

    model: str
    origin: str
    table: pa.Table
    facts: Sequence[RowFact | None]
    unreadable: Mapping[int, Diagnostic]
    objects: Sequence[Mapping[str, object]] | None = None
    values: TablePredictions | None = None


@dataclass(frozen=True, slots=True)
class RowsToJudge:
    """All rows, how their names are linked, and the setting that scores their facts and no others."""

    rows: tuple[UserRows, ...]
    links: Links
    setting: Setting


def read_rows(setting: Setting, link: str | Path, *, skip_bad_rows: bool) -> RowsToJudge:
    """Every row of every model's predictions: ranks and queries choose none of them.

    Args:
        setting: The setting as for `score`.
        link: How names are linked: `exact`, `casefold`, or a file of pairs.
        skip_bad_rows: Whether rows that cannot be read get a verdict of their own, instead of an error.

    Raises:
        InputError: For rows that cannot be read, unless they are skipped, and for predictions in a database.
    """
    sources = [(model, source) for model in setting.predictions for source in model.streams]
    own = [_own(source) for _, source in sources]
    problems = [problem for rows in own for problem in rows.unreadable.values()]
    if problems and not skip_bad_rows:
        helps = ("`--skip-bad-rows` judges the others, and lists such rows as unreadable",)
        first = list(islice(problems, _MOST_PROBLEMS))
        raise InputError([*first[:-1], replace(first[-1], helps=(*first[-1].helps, *helps))])
    links = find_links(link, chain.from_iterable(rows.facts for rows in own), setting.observed)
    streams: dict[str, list[FactStream]] = {model.model: [] for model in setting.predictions}
    user_rows = []
    for (model, source), rows in zip(sources, own, strict=True):
        facts = tuple(linked(batch, links) for batch in rows.facts)
        streams[model.model].append(_stream(source, facts))
        readable = iter(zip(_row_facts(rows.facts), _row_facts(facts), strict=True))
        by_row = [None if row in rows.unreadable else _of_row(*next(readable)) for row in range(rows.table.num_rows)]
        user_rows.append(UserRows(model.model, source.origin, rows.table, by_row, rows.unreadable, rows.objects))
    user_rows += [_of_values(model.model, values) for model in setting.predictions for values in model.tables]
    models = tuple(replace(model, streams=tuple(streams[model.model]), top_k=None) for model in setting.predictions)
    return RowsToJudge(tuple(user_rows), links, replace(setting, predictions=models))


def _of_values(model: str, values: TablePredictions) -> UserRows:
    """The rows of values for a table's target, with all columns whose values we can read."""
    rows = values.rows
    if not isinstance(rows, RowStream):
        raise InputError(_in_database(rows.origin))
    names = [name for name, kind in zip(rows.schema().names, rows.schema().types, strict=True) if value_type(kind) is not None]
    table = pa.Table.from_batches(rows.open(names))
    return UserRows(model, rows.origin, _with_moments(table, rows.schema()), (), {}, values=values)


def _with_moments(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table whose date-times are such again: readers give microseconds."""
    for place, name in enumerate(table.column_names):
        kind = schema.field(name).type
        if pa.types.is_timestamp(kind):
            table = table.set_column(place, name, table[name].cast(pa.timestamp("us", kind.tz)))
    return table


def with_facts(rows: UserRows, session: Session) -> UserRows:
    """The rows with the fact of each, in the types of the loaded table."""
    if rows.values is None:
        return rows
    loaded = session.data.tables[rows.values.table]
    table = next(table for table in session.setting.tables if table.name == loaded.name)
    kinds = [kind for _, kind in loaded.arguments]
    wanted = ValueType.INTEGER if kinds[-1] is ValueType.MIXED else kinds[-1]
    assert isinstance(rows.values.rows, RowStream)
    columns, _ = prediction_columns(session.engine, rows.values.rows, table, kinds[:-1], wanted)
    assert isinstance(columns, pa.Table)
    facts = []
    for *values, score in zip(*(column.to_pylist() for column in columns.columns), strict=True):
        keys = tuple(key_of(restored(value, kind)) for value, kind in zip(values, [*kinds[:-1], wanted], strict=True))
        facts.append(RowFact(loaded.predicate, keys, (loaded.predicate, *keys), score))
    return replace(rows, facts=facts)


def _in_database(origin: str) -> Diagnostic:
    helps = ("write them to a file: `rulescore judge --predictions NAME=FILE`",)
    return Diagnostic("E347", "rows of a database are not judged one by one", Place(origin), helps=helps)


def _own(source: FactSource) -> OwnRows:
    if not isinstance(source, FactStream):
        raise InputError(_in_database(source.origin))
    return own_facts(source.open()) if source.own is None else source.own()


def _stream(source: FactSource, facts: Sequence[FactBatch]) -> FactStream:
    """The facts of the rows as a source. Without ranks and queries, all of them count."""
    assert isinstance(source, FactStream)
    unranked = [replace(batch, rows=_unranked(batch.rows)) for batch in facts]
    return FactStream(source.origin, lambda: iter(unranked), part_of=source.part_of)


def _unranked(rows: pa.RecordBatch) -> pa.RecordBatch:
    for name in ("rank", "query"):
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, pa.nulls(rows.num_rows, rows.schema.field(place).type))
    return rows


def _row_facts(batches: Sequence[FactBatch]) -> Iterator[tuple[str, tuple[str, ...], float | None]]:
    for batch in batches:
        number = batch.rows.num_rows
        names = [batch.predicate] * number if batch.predicate is not None else batch.rows.column("predicate").to_pylist()
        keys = zip(*(batch.rows.column(f"a{place}").to_pylist() for place in range(batch.arity)), strict=True)
        yield from zip(names, keys, batch.rows.column("score").to_pylist(), strict=True)


def _of_row(asked: tuple[str, tuple[str, ...], float | None], meant: tuple[str, tuple[str, ...], float | None]) -> RowFact:
    predicate, keys, score = meant
    return RowFact(predicate, keys, (asked[0], *asked[1]), score)
