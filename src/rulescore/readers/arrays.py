"""Arrays. Reads triples of names, triples of ids with their names, PyKEEN's factories and answers in OGB's form. Matches values
without ids, as models return them, with the rows of a table.

We know the objects of libraries by their attributes, and never import the libraries.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, meant, ticked
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.frames import arrow_table, column_values, read_frame, series_index
from rulescore.readers.layout import key_columns
from rulescore.setting.model import FactBatch, HiddenColumn, HiddenIds, KeyedTable, Request, RowStream
from rulescore.values import ValueType

ENDINGS = (".npy", ".npz")
OGB_TASK = "h,r->t"
OGB_BEST, OGB_QUERIES = "t_pred_top10", "hr"
PARTS = ("head", "relation", "tail")
_RANKING = ("score", "rank", "query")
_NAMED = "`rulescore.Triples(array, entities=…, relations=…)`"

Array = np.ndarray[Any, Any]
Names = Mapping[Any, Any] | Sequence[str]


@dataclass(frozen=True, slots=True)
class Triples:
    """Triples by ids.

    Args:
        triples: An array with a row (head, relation, tail) for each.
        entities: Names in the order of the ids, or a mapping from ids to names or from names to ids.
        relations: The same for relations.
        scores: An array with the score of each prediction.
        ranks: An array with the rank of each prediction.
        queries: An array with the query of each prediction.
    """

    triples: object
    _: KW_ONLY
    entities: Names
    relations: Names
    scores: object = None
    ranks: object = None
    queries: object = None


def are_triples(what: object) -> bool:
    """Whether something is an array of triples, or an object that has one."""
    return isinstance(what, Triples) or is_array(what) or hasattr(what, "mapped_triples") or is_ogb(what) or _is_predictions(what)


def is_array(what: object) -> bool:
    """Whether something is an array of NumPy or a tensor of PyTorch."""
    return (
        type(what).__module__.partition(".")[0] in {"numpy", "torch"} and hasattr(what, "ndim") and bool(getattr(what, "ndim", 0))
    )


def _is_predictions(what: object) -> bool:
    """Whether something is a result of PyKEEN's functions for prediction: a frame, and the question."""
    return type(what).__module__.partition(".")[0] == "pykeen" and hasattr(what, "df")


def is_ogb(what: object) -> bool:
    return isinstance(what, Mapping) and OGB_TASK in what


def array_of(what: Any) -> Array:
    """A tensor as an array."""
    return np.asarray(what.detach().cpu().numpy() if hasattr(what, "detach") else what)


def triples_table(what: Any, origin: str) -> pa.Table:
    """Triples as a table with columns head, relation and tail, and with score, rank and query if known."""
    if is_ogb(what):
        return _ogb_table(what[OGB_TASK], origin)
    if isinstance(what, Triples):
        return _named_table(what, origin)
    if _is_predictions(what):
        return arrow_table(_asked(what, origin), origin)
    if not hasattr(what, "mapped_triples"):
        return _plain_table(array_of(what), origin)
    if not hasattr(what, "triples"):
        helps = (f"give the names as well: {_NAMED.replace('array', 'factory.mapped_triples')}",)
        raise _problem(f"a {type(what).__name__} holds ids, and no names of entities and relations", origin, helps)
    return _plain_table(array_of(what.triples), origin)


def _plain_table(array: Array, origin: str) -> pa.Table:
    """An array of names, with scores and ranks behind them if it holds objects."""
    if array.ndim == 1:
        helps = (
            'for values of a table\'s target give the table: `tables={"name": rulescore.Table(frame, key=…, target=…)}`',
            "triples are an array of three columns",
        )
        raise _problem("an array of one dimension holds no triples", origin, helps)
    if array.ndim != 2 or not 3 <= array.shape[1] <= 5:
        shape = " × ".join(f"{size:,}" for size in array.shape)
        raise _problem(f"an array of {shape} holds no triples", origin, ("they are three columns: head, relation, tail",))
    if array.dtype.kind in "iuf":
        raise _problem("the array holds numbers, but rules name relations", origin, (f"give the names: {_NAMED}",))
    names = (*PARTS, "score", "rank")[: array.shape[1]]
    kinds = {"score": pa.float64(), "rank": pa.int64()}
    columns = {name: _column(array[:, place].tolist(), origin, kinds.get(name)) for place, name in enumerate(names)}
    return pa.table(columns)


def _named_table(triples: Triples, origin: str) -> pa.Table:
    array = array_of(triples.triples)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise _problem(
            "`triples` are not three columns of ids", origin, ("an array of names is given as it is, without `Triples`",)
        )
    names = {"head": triples.entities, "relation": triples.relations, "tail": triples.entities}
    columns = {part: pa.array(_names(array[:, place], names[part], part, origin), pa.string()) for place, part in enumerate(PARTS)}
    for name in ("score", "rank", "query"):
        values = getattr(triples, "queries" if name == "query" else f"{name}s")
        if values is not None:
            columns[name] = _column(array_of(values).ravel().tolist(), origin, None)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{number:,} of `{name}`" for name, number in lengths.items())
        raise _problem(f"columns have different lengths: {shown}", origin, ("give one value for each triple",))
    return pa.table(columns)


def _names(ids: Array, names: Names, part: str, origin: str) -> list[str]:
    known = _by_id(names)
    different, places = np.unique(ids, return_inverse=True)
    unknown = [int(id_) for id_ in different if int(id_) not in known]
    if unknown:
        names_of = "relations" if part == "relation" else "entities"
        message = f"the id {unknown[0]:,} of a {part} has no name in `{names_of}`"
        raise _problem(message, origin, (f"`{names_of}` has {len(known):,} names; do they belong to these ids?",))
    texts = [known[int(id_)] for id_ in different]
    return [texts[place] for place in places.ravel()]


def _by_id(names: Names) -> dict[int, str]:
    if not isinstance(names, Mapping):
        return {number: str(name) for number, name in enumerate(names)}
    by_name = any(isinstance(name, str) for name in names)
    return {int(number): str(name) for name, number in names.items()} if by_name else {int(k): str(v) for k, v in names.items()}


def _asked(what: Any, origin: str) -> Any:
    """The frame of PyKEEN's predictions. If they answer one question, we add the two other parts of their triples as columns."""
    if not hasattr(what, "other_columns_fixed_ids"):
        return what.df
    if not hasattr(what.factory, "entity_labeling"):
        helps = ("give `predict_target` a `triples_factory` that has labels",)
        raise _problem("the predictions hold ids, and no names of entities and relations", origin, helps)
    fixed = [part for part in PARTS if part != what.target]
    labels = {
        part: (what.factory.relation_labeling if part == "relation" else what.factory.entity_labeling).id_to_label[number]
        for part, number in zip(fixed, what.other_columns_fixed_ids, strict=True)
    }
    return what.df.assign(**labels, query=f"{what.target} of {' '.join(labels.values())}")


def _ogb_table(task: Any, origin: str) -> pa.Table:
    """The best tails of OGB's queries. Answers as OGB defines them lack the heads and relations of the queries."""
    if not isinstance(task, Mapping) or OGB_BEST not in task or OGB_QUERIES not in task:
        missing = OGB_BEST if not isinstance(task, Mapping) or OGB_BEST not in task else OGB_QUERIES
        both = f'{{"{OGB_TASK}": {{"{OGB_QUERIES}": …, "{OGB_BEST}": …}}}}'
        helps = (f"give both: `{both}`, with the queries of the task as `{OGB_QUERIES}`",)
        raise _problem(f"answers for OGB without `{missing}`", origin, helps)
    queries, best = array_of(task[OGB_QUERIES]), array_of(task[OGB_BEST])
    if queries.ndim != 2 or best.ndim != 2 or queries.shape != (len(best), 2):
        message = f"`{OGB_QUERIES}` has the shape {queries.shape} and `{OGB_BEST}` {best.shape}"
        raise _problem(message, origin, ("there are two columns, head and relation, and as many rows as answers",))
    number, width = best.shape
    return pa.table(
        {
            "head": pa.array(np.repeat(queries[:, 0], width)),
            "relation": pa.array(np.repeat(queries[:, 1], width)),
            "tail": pa.array(best.ravel()),
            "rank": pa.array(np.tile(np.arange(1, width + 1), number)),
            "query": pa.array([f"tail {row}" for row in range(number) for _ in range(width)], pa.string()),
        }
    )


def _column(values: list[Any], origin: str, kind: pa.DataType | None) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise _problem(f"a column of the array holds values of several types: {error}", origin, ()) from None


def _problem(message: str, origin: str, helps: tuple[str, ...]) -> InputError:
    return InputError(Diagnostic("E322", message, Place(origin), helps=helps))


# Files of NumPy.


def is_array_file(path: object) -> bool:
    return isinstance(path, str | Path) and Path(path).name.removesuffix(".gz").endswith(ENDINGS)


def read_arrays(file: InputFile, request: Request) -> Iterator[FactBatch]:
    """The facts of an array of three columns of names; of arrays `head`, `relation` and `tail`; or of answers for OGB."""
    with file.opened() as opening:
        arrays = loaded_arrays(opening, request.origin)
    table = arrays_table(arrays, request.origin)
    return read_frame(table, request)


def arrays_table(arrays: dict[str, Array], origin: str) -> pa.Table:
    """The arrays of a file as a table of triples."""
    if arrays.keys() >= {OGB_BEST, OGB_QUERIES}:
        return triples_table({OGB_TASK: arrays}, origin)
    if arrays.keys() >= set(PARTS):
        return pa.table({name: pa.array(arrays[name].tolist()) for name in (*PARTS, *_RANKING) if name in arrays})
    return triples_table(_the_array(arrays, origin), origin)


def array_values(file: InputFile) -> Array:
    """The one array of a file."""
    with file.opened() as opening:
        return _the_array(loaded_arrays(opening, str(file.path)), str(file.path))


def _the_array(arrays: dict[str, Array], origin: str) -> Array:
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    notes = (f"they are {ticked(arrays)}",) if arrays else ()
    helps = (
        "save one array, or three, `head`, `relation` and `tail`; answers for OGB are "
        f"`{OGB_QUERIES}` and `{OGB_BEST}`, and ids need `rulescore.Triples` in Python",
    )
    raise InputError(
        Diagnostic(
            "E322",
            f"the file holds {len(arrays):,} arrays, and none of them holds triples",
            Place(origin),
            notes=notes,
            helps=helps,
        )
    )


def loaded_arrays(opening: Opening, origin: str) -> dict[str, Array]:
    """Arrays by name, which is empty for a `.npy` file. We never load objects of Python: doing so could run code."""
    try:
        reader: Any = gzip.GzipFile(fileobj=opening.reader()) if opening.compressed else opening.reader()
        if not reader.peek(6).startswith((b"\x93NUMPY", b"PK")):
            raise InputError(Diagnostic("E305", "the file is not an array of NumPy", Place(origin)))
        loaded: Any = np.load(reader, allow_pickle=False)
        arrays = {"": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except (ValueError, OSError, EOFError, KeyError, BadZipFile) as error:
        objects = "Object arrays" in str(error)
        message = "the file holds objects of Python, which are not loaded" if objects else "the file is damaged"
        helps = ("save names as text: `numpy.save(path, array.astype(str))`",) if objects else ()
        notes = () if objects else (str(error).partition(chr(10))[0],)
        raise InputError(Diagnostic("E305", message, Place(origin), notes=notes, helps=helps)) from None
    return {name: np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array for name, array in arrays.items()}


# Values without ids.


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
    plain = [value.item() if hasattr(value, "item") else value for value in what] if isinstance(what, list) else []
    return plain if plain and all(value is None or isinstance(value, bool | int | float | str) for value in plain) else None


def refuse_table_of_values(what: object, origin: str) -> None:
    """Raises InputError for an array of several columns: values are one column."""
    if is_array(what) and plain_values(what) is None:
        shape = " × ".join(f"{size:,}" for size in array_of(what).shape)
        helps = (
            "give one value for each row, such as the class and not the probabilities of all classes",
            "for a curve by threshold, give a frame with ids, `prediction` and `score`, the class of each row and its probability: "
            "`model.classes_[p.argmax(axis=1)]` and `p.max(axis=1)` of `p = model.predict_proba(…)`",
        )
        raise InputError(Diagnostic("E365", f"an array of {shape} is not one value for each row", Place(origin), helps=helps))


def mask_of(what: object) -> list[bool] | None:
    """A mask: a column of truth values. None for anything else."""
    values = plain_values(what)
    return values if values and all(isinstance(value, bool) for value in values) else None  # type: ignore[return-value]


def masked_ids(table: str, key: tuple[str, ...], rows: RowStream, mask: Sequence[bool], labels: list[object] | None) -> pa.Table:
    """The keys of the rows that a mask chooses. `labels`: the index of the mask, if it is a series."""
    ids = _columns(rows, key)
    row_labels = None if rows.labels is None else rows.labels()
    if labels is not None and row_labels is not None and labels != row_labels:
        if len(set(row_labels)) < len(row_labels) or set(labels) != set(row_labels):
            message = f"the mask has another index than the rows of table `{table}`"
            raise _misfit("E365", message, rows.origin, "make the mask from the same frame")
        by_label = dict(zip(labels, mask, strict=True))
        mask = [by_label[label] for label in row_labels]
    if len(mask) != ids.num_rows:
        message = f"the mask has {len(mask):,} values, and table `{table}` {ids.num_rows:,} rows"
        raise _misfit("E365", message, rows.origin, "give one truth value for each row, or the ids of the hidden rows")
    return ids.filter(pa.array(mask))


def aligned_ids(table: KeyedTable, number: int, origin: str) -> tuple[pa.Table, list[int] | None]:
    """The keys of the rows that `number` values are for: the hidden rows in their order. If the values are for all rows of the
    table, also the places of the hidden ones."""
    if not isinstance(table.rows, RowStream):
        raise _misfit("E365", "values without ids, for a table of a database, whose rows have no order", origin, _IDS)
    ids, hidden = _columns(table.rows, table.key), _hidden_rows(table, origin)
    masked = isinstance(table.hidden, HiddenIds) and table.hidden.masked
    if isinstance(table.hidden, HiddenIds) and isinstance(table.hidden.ids, RowStream):
        key = key_columns(table.hidden.ids.schema().names, table.key, listed=True)
        listed = _columns(table.hidden.ids, key).rename_columns(list(table.key))
        if listed.num_rows == number and not masked:
            return listed, None
        # We read ids of a text file as text, but the user may give numbers.
        wanted = {tuple(map(str, row.values())) for row in listed.to_pylist()}
        hidden = [tuple(map(str, row.values())) in wanted for row in ids.to_pylist()]
    places = [place for place, is_hidden in enumerate(hidden) if is_hidden]
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
    row_labels, keys = rows.labels(), _columns(rows, table.key).column(0).to_pylist()
    if not set(labels) <= set(row_labels):
        return None
    if len(set(row_labels)) < len(row_labels):
        raise _misfit("E365", f"the index of the frame of table `{table.name}` repeats labels", origin, _IDS)
    by_label = dict(zip(row_labels, keys, strict=True))
    keys_asked = [by_label[label] for label in labels]
    if keys_asked != labels and set(labels) <= set(keys):
        message = f"the index of the predictions may hold keys of table `{table.name}`, or labels of its frame"
        name = f'`series.index.name = "{table.key[0]}"`'
        keyed = f'`series.set_axis(frame.loc[series.index, "{table.key[0]}"])`'
        raise _misfit("E365", message, origin, f"if it holds keys, say so: {name}; if labels, give {keyed}")
    return keys_asked


def _hidden_rows(table: KeyedTable, origin: str) -> list[bool]:
    """The rows that are hidden, as far as the rows themselves show it."""
    rows = table.rows
    assert isinstance(rows, RowStream)
    names = rows.schema().names
    match table.hidden:
        case None:
            return [value is None for value in _columns(rows, (str(table.target),)).column(0).to_pylist()]
        case HiddenColumn(column, values) if column in names:
            if rows.text is not None and not any(isinstance(value, str) for value in values):
                kind = rows.text.infer([column], whole=True)[column]
                rows = rows.text.typed({column: kind or ValueType.STRING})
            return [value in values for value in _columns(rows, (column,)).column(0).to_pylist()]
        case HiddenIds(RowStream()):
            return []
        case _:
            message = f"values without ids, and `hidden` of table `{table.name}` is a condition or lies in a database"
            raise _misfit("E365", message, origin, _IDS, _LISTED)


def _columns(rows: RowStream, names: tuple[str, ...]) -> pa.Table:
    known = rows.schema().names
    missing = [name for name in names if name not in known]
    if missing:
        notes = (f"the columns are {ticked(known)}",)
        helps = meant(missing[0], known)
        raise InputError(Diagnostic("E320", f"there is no column `{missing[0]}`", Place(rows.origin), notes=notes, helps=helps))
    batches = list(rows.open(list(names)))
    table = pa.Table.from_batches(batches) if batches else pa.table({name: pa.nulls(0) for name in names})
    types = {name: rows.schema().field(name).type for name in names}
    # We read date-times as counts of microseconds.
    timed = {name: pa.timestamp("us", "UTC" if kind.tz else None) for name, kind in types.items() if pa.types.is_timestamp(kind)}
    return pa.table({name: table.column(name).cast(timed.get(name, table.column(name).type)) for name in names})


def _misfit(code: str, message: str, origin: str, *helps: str) -> InputError:
    return InputError(Diagnostic(code, message, Place(origin), helps=helps))
