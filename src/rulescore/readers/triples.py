"""Triples as arrays: of names, of ids with their names, as PyKEEN's factories have them, and as OGB wants its answers.

We know the objects of libraries by their attributes, and never import the libraries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.frames import arrow_table

OGB_TASK = "h,r->t"
OGB_BEST, OGB_QUERIES = "t_pred_top10", "hr"
PARTS = ("head", "relation", "tail")
_NAMED = "`rulescore.Triples(array, entities=…, relations=…)`"

Array = np.ndarray[Any, Any]
Names = Mapping[Any, Any] | Sequence[str]


@dataclass(frozen=True, slots=True)
class Triples:
    """Triples by ids. `triples`: an array with a row (head, relation, tail) for each. `entities` and `relations`: names in the
    order of the ids, or a mapping from ids to names or from names to ids. Predictions may have `scores`, `ranks`, `queries`."""

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
    """Triples as a table with columns head, relation and tail, and those of score, rank and query if known."""
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
        shape = " × ".join(f"{one:,}" for one in array.shape)
        raise _problem(f"an array of {shape} holds no triples", origin, ("they are three columns: head, relation, tail",))
    if array.dtype.kind in "iuf":
        raise _problem(
            "the array holds numbers, and rules speak of relations by their names", origin, (f"give the names: {_NAMED}",)
        )
    names = (*PARTS, "score", "rank")[: array.shape[1]]
    kinds = {"score": pa.float64(), "rank": pa.int64()}
    columns = {name: _column(array[:, place].tolist(), origin, kinds.get(name)) for place, name in enumerate(names)}
    return pa.table(columns)


def _named_table(given: Triples, origin: str) -> pa.Table:
    array = array_of(given.triples)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise _problem(
            "`triples` are not three columns of ids", origin, ("an array of names is given as it is, without `Triples`",)
        )
    names = {"head": given.entities, "relation": given.relations, "tail": given.entities}
    columns = {part: pa.array(_names(array[:, place], names[part], part, origin), pa.string()) for place, part in enumerate(PARTS)}
    for name in ("score", "rank", "query"):
        values = getattr(given, "queries" if name == "query" else f"{name}s")
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
    unknown = [int(one) for one in different if int(one) not in known]
    if unknown:
        which = "relations" if part == "relation" else "entities"
        message = f"the id {unknown[0]:,} of a {part} has no name in `{which}`"
        raise _problem(message, origin, (f"`{which}` has {len(known):,} names; are they those of these ids?",))
    texts = [known[int(one)] for one in different]
    return [texts[place] for place in places.ravel()]


def _by_id(names: Names) -> dict[int, str]:
    if not isinstance(names, Mapping):
        return {number: str(name) for number, name in enumerate(names)}
    by_name = any(isinstance(one, str) for one in names)
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
    return InputError(Diagnostic("E364", message, Place(origin), helps=helps))
