"""Links names of predictions to names of the facts, if the user asks for it: ignoring the case of letters, or by a file of
pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.sources import observed_streams
from rulescore.setting.model import FactBatch, FactSource, FactStream
from rulescore.values import MARKER

EXACT, CASEFOLD = "exact", "casefold"


@dataclass(frozen=True, slots=True)
class Links:
    """What is linked, as keys of constants: the names of predictions with the names that they become. `how`: what people call
    it. `ambiguous`: names that could mean several names of the facts. `predicates`: names of relations are linked, too."""

    how: str
    names: Mapping[str, str]
    ambiguous: Mapping[str, tuple[str, ...]]
    predicates: bool = False


def find_links(link: str | Path, predictions: Iterable[FactBatch], observed: Sequence[FactSource]) -> Links:
    """How the names of predictions are linked.

    Args:
        link: `exact`, `casefold`, or a file with two columns: names of predictions, and the names of the facts that they stand for.
        predictions: The predictions as they were read.
        observed: The observed facts.

    Raises:
        InputError: If the file cannot be used, or the facts are in a database, because we do not read all of its names.
    """
    if link == EXACT:
        return Links(EXACT, {}, {})
    if link == CASEFOLD:
        return _casefolded(predictions, observed)
    return Links(str(link), _pairs(Path(link)), {}, predicates=True)


def _pairs(path: Path) -> dict[str, str]:
    """The pairs of a file, which is read like the facts of one predicate."""
    pairs: dict[str, str] = {}
    for stream in observed_streams({"link": path}):
        assert isinstance(stream, FactStream)
        for batch in stream.open():
            if batch.arity != 2:
                message = f"links are pairs, and the file has {batch.arity} columns"
                helps = ("the first column has names of predictions, the second the names of the facts that they stand for",)
                raise InputError(Diagnostic("E363", message, Place(str(path)), helps=helps))
            for name, meant in zip(*(batch.rows.column(f"a{place}").to_pylist() for place in (0, 1)), strict=True):
                if pairs.setdefault(name, meant) != meant:
                    message = f"`{name}` is linked to `{pairs[name]}` and to `{meant}`"
                    raise InputError(Diagnostic("E327", message, Place(str(path)), helps=("keep one of the two",)))
    return pairs


def _casefolded(predictions: Iterable[FactBatch], observed: Sequence[FactSource]) -> Links:
    wanted: dict[str, set[str]] = {}
    for name in _names(predictions):
        wanted.setdefault(name.casefold(), set()).add(name)
    known: dict[str, set[str]] = {}
    for source in observed:
        if not isinstance(source, FactStream):
            message = "names are linked to the facts of files and frames, and these facts are in a database"
            helps = ("give a file of pairs: `--link FILE`", "or link the names in the database")
            raise InputError(Diagnostic("E347", message, Place(source.origin), helps=helps))
        for name in _names(source.open()):
            if (folded := name.casefold()) in wanted:
                known.setdefault(folded, set()).add(name)
    strangers = {name: sorted(known[folded]) for folded in known for name in wanted[folded] - known[folded]}
    names = {name: meant[0] for name, meant in strangers.items() if len(meant) == 1}
    return Links(CASEFOLD, names, {name: tuple(meant) for name, meant in strangers.items() if len(meant) > 1})


def _names(batches: Iterable[FactBatch]) -> Iterator[str]:
    """The texts among the arguments of facts; each batch gives each of them once in a place."""
    for batch in batches:
        for place in range(batch.arity):
            yield from (key for key in pc.unique(batch.rows.column(f"a{place}")).to_pylist() if not key.startswith(MARKER))


def linked(batch: FactBatch, links: Links) -> FactBatch:
    """The facts with the names that theirs stand for."""
    rows = batch.rows
    places = [f"a{place}" for place in range(batch.arity)]
    if links.predicates and batch.predicate is None:
        places.append("predicate")
    for name in places:
        column = pa.array([links.names.get(key, key) for key in rows.column(name).to_pylist()], pa.string())
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    predicate = batch.predicate
    if links.predicates and predicate is not None:
        predicate = links.names.get(predicate, predicate)
    floats = frozenset((links.names.get(name, name), place) for name, place in batch.floats) if links.predicates else batch.floats
    return replace(batch, rows=rows, predicate=predicate, floats=floats)
