"""Values without ids, as models return them, matched with the rows of a table: by their order, or by a frame's index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, suggestion
from rulescore.readers.frames import column_values, series_index
from rulescore.readers.triples import array_of, is_array
from rulescore.setting.model import HiddenColumn, HiddenIds, KeyedTable, RowStream
from rulescore.values.types import ValueType

_SERIES = "give a Series with the index of the rows that were predicted: `pandas.Series(model.predict(test), index=test.index)`"
_LISTED = "or let `hidden` list the ids, in the order of the values"
_IDS = "give ids and values: a frame with the key and `prediction`, or a mapping from ids to values"


def plain_values(what: object) -> list[object] | None:
    """The values of an array, a tensor, a column or a list, in their order; None for anything else."""
    if is_array(what):
        array = array_of(what)
        return list(array.ravel().tolist()) if array.ndim == 1 or array.shape[1:] == (1,) else None
    if (values := column_values(what)) is not None:
        return values
    plain = [one.item() if hasattr(one, "item") else one for one in what] if isinstance(what, list) else []
    return plain if plain and all(one is None or isinstance(one, bool | int | float | str) for one in plain) else None


def refuse_table_of_values(what: object, origin: str) -> None:
    """Raises InputError for an array of several columns: values are one column."""
    if is_array(what) and plain_values(what) is None:
        shape = " × ".join(f"{one:,}" for one in array_of(what).shape)
        helps = ("give one value for each row, such as the class and not the probabilities of all classes",)
        raise InputError(Diagnostic("E365", f"an array of {shape} is not one value for each row", Place(origin), helps=helps))


def mask_of(what: object) -> list[bool] | None:
    """A mask: a column of truth values. None for anything else."""
    values = plain_values(what)
    return values if values and all(isinstance(one, bool) for one in values) else None  # type: ignore[return-value]


def masked_ids(table: str, key: tuple[str, ...], rows: RowStream, mask: Sequence[bool], labels: list[object] | None) -> pa.Table:
    """The keys of the rows that a mask chooses. `labels`: the index of the mask, if it is a series."""
    ids = _columns(rows, key)
    own = None if rows.labels is None else rows.labels()
    if labels is not None and own is not None and labels != own:
        if len(set(own)) < len(own) or set(labels) != set(own):
            message = f"the index of the mask is not that of the rows of table `{table}`"
            raise _misfit("E367", message, rows.origin, "make the mask from the same frame")
        by_label = dict(zip(labels, mask, strict=True))
        mask = [by_label[one] for one in own]
    if len(mask) != ids.num_rows:
        message = f"the mask has {len(mask):,} values, and table `{table}` {ids.num_rows:,} rows"
        raise _misfit("E367", message, rows.origin, "give one truth value for each row, or the ids of the hidden rows")
    return ids.filter(pa.array(mask))


def aligned_ids(table: KeyedTable, number: int, origin: str) -> tuple[pa.Table, list[int] | None]:
    """The keys of the rows that `number` values are for: the hidden rows in their order. If the values are for all rows of the
    table, also the places of the hidden ones."""
    if not isinstance(table.rows, RowStream):
        raise _misfit("E365", "values without ids, for a table of a database, whose rows have no order", origin, _IDS)
    ids, hidden = _columns(table.rows, table.key), _hidden_rows(table, origin)
    masked = isinstance(table.hidden, HiddenIds) and table.hidden.masked
    if isinstance(table.hidden, HiddenIds) and isinstance(table.hidden.ids, RowStream):
        listed = _columns(table.hidden.ids, _key_of(table.hidden.ids, table.key)).rename_columns(list(table.key))
        if listed.num_rows == number and not masked:
            return listed, None
        # Of a text file we have read ids as text, which the user may give as numbers.
        wanted = {tuple(map(str, row.values())) for row in listed.to_pylist()}
        hidden = [tuple(map(str, row.values())) in wanted for row in ids.to_pylist()]
    places = [place for place, one in enumerate(hidden) if one]
    if len(places) == number and masked and number < ids.num_rows:
        message = f"{number:,} values without ids, and `hidden` of table `{table.name}` is a mask, which does not say their order"
        raise _misfit("E365", message, origin, _SERIES, _LISTED)
    if len(places) == number:
        return ids.take(pa.array(places, pa.int64())), None
    if ids.num_rows == number:
        return ids.take(pa.array(places, pa.int64())), places
    message = f"{number:,} values without ids, and table `{table.name}` has {len(places):,} hidden rows of {ids.num_rows:,}"
    raise _misfit("E365", message, origin, _IDS, "give one value for each hidden row, in the order of the table")


def labelled_ids(table: KeyedTable, series: Any, origin: str) -> list[object] | None:
    """The keys of the rows that a pandas series names by the index of the frame; None if its index holds the keys themselves."""
    labels, rows = series_index(series), table.rows
    if labels is None or not isinstance(rows, RowStream) or rows.labels is None or len(table.key) != 1:
        return None
    if series.index.name in table.key:
        return None
    own, keys = rows.labels(), _columns(rows, table.key).column(0).to_pylist()
    if not set(labels) <= set(own):
        return None
    if len(set(own)) < len(own):
        raise _misfit("E366", f"the index of the frame of table `{table.name}` repeats labels", origin, _IDS)
    by_label = dict(zip(own, keys, strict=True))
    found = [by_label[one] for one in labels]
    if found != labels and set(labels) <= set(keys):
        message = f"the index of the predictions may hold keys of table `{table.name}`, or labels of its frame"
        name = f'`series.index.name = "{table.key[0]}"`'
        keyed = f'`series.set_axis(frame.loc[series.index, "{table.key[0]}"])`'
        raise _misfit("E366", message, origin, f"if it holds keys, say so: {name}; if labels, give {keyed}")
    return found


def _hidden_rows(table: KeyedTable, origin: str) -> list[bool]:
    """Which rows are hidden, as far as the rows alone tell."""
    rows = table.rows
    assert isinstance(rows, RowStream)
    names = rows.schema().names
    match table.hidden:
        case None:
            return [one is None for one in _columns(rows, (str(table.target),)).column(0).to_pylist()]
        case HiddenColumn(column, values) if column in names:
            if rows.text is not None and not any(isinstance(one, str) for one in values):
                kind = rows.text.infer([column], whole=True)[column]
                rows = rows.text.typed({column: kind or ValueType.STRING})
            return [one in values for one in _columns(rows, (column,)).column(0).to_pylist()]
        case HiddenIds(RowStream()):
            return []
        case _:
            message = f"values without ids, and `hidden` of table `{table.name}` is a condition or lies in a database"
            raise _misfit("E365", message, origin, _IDS, _LISTED)


def _key_of(ids: RowStream, key: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a list of ids: those of the key, `id`, or the only one."""
    names = ids.schema().names
    if len(key) == 1 and key[0] not in names:
        return ("id",) if "id" in names else (names[0],)
    return key


def _columns(rows: RowStream, names: tuple[str, ...]) -> pa.Table:
    known = rows.schema().names
    missing = [one for one in names if one not in known]
    if missing:
        notes = (f"the columns are {', '.join(f'`{one}`' for one in known)}",)
        close = next((one for one in known if one.lower() == missing[0].lower()), None) or suggestion(missing[0], known)
        helps = () if close is None else (f"did you mean `{close}`?",)
        raise InputError(Diagnostic("E320", f"there is no column `{missing[0]}`", Place(rows.origin), notes=notes, helps=helps))
    batches = list(rows.open(list(names)))
    found = pa.Table.from_batches(batches) if batches else pa.table({name: pa.nulls(0) for name in names})
    return pa.table({name: _with_time(found.column(name), rows.schema().field(name).type) for name in names})


def _with_time(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of date-times, which we read as counts of microseconds, as date-times again."""
    return column.cast(pa.timestamp("us", "UTC" if kind.tz else None)) if pa.types.is_timestamp(kind) else column


def _misfit(code: str, message: str, origin: str, *helps: str) -> InputError:
    return InputError(Diagnostic(code, message, Place(origin), helps=helps))
