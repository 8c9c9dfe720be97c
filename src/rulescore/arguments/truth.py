"""What a user calls the truth: held-out facts, or the true values of a table's hidden targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from rulescore.arguments.tables import PREDICTION, rows_of, table_predictions, the_target_table
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.frames import is_frame
from rulescore.readers.sources import FactsLike, observed_streams
from rulescore.setting.model import FactStream, HeldOut, KeyedTable, ObservedSides, RowStream, TableTruth, Ties, ValueTask
from rulescore.setting.request import FactFile, chosen

TRUTH = "truth"
OBSERVED = "observed"
RELATION, DOMAIN, RANGE = "relation", "domain", "range"


@dataclass(frozen=True, slots=True)
class Truth:
    """What is held out, for `score(…, truth=…)`.

    `facts`: held-out facts, as `observed` takes them; or the true values of a table's hidden targets: a file or frame with the key
    and the target, a mapping from keys to values, or a mapping from names of tables to those. Rankings leave out answers that are
    observed, held out or in `known`; with `filter=False` none. `ties`: `optimistic`, `realistic` or `pessimistic`. `hits`: the k of
    Hits@k. `task`: `regression` or `classification`, if values do not tell.

    `domains`, for Sem@k: a file, a frame or rows with the columns `relation`, `domain` and `range`, whose classes are unary
    predicates or objects of `type` facts, observed or in `types`; or `"observed"`: what is observed on a side fits there."""

    facts: object = None
    _: KW_ONLY
    known: FactsLike | None = None
    filter: bool = True
    ties: str | None = None
    hits: Sequence[int] = (1, 3, 10)
    task: str | None = None
    domains: object = None
    types: FactsLike | None = None


def held_out(what: object, tables: Sequence[KeyedTable], *, facts: bool, delimiter: str | None = None) -> HeldOut:
    """`facts`: there are observed facts, so that the truth may be facts as well."""
    given = what if isinstance(what, Truth) else Truth(what)
    targets = {table.name: table for table in tables if table.target is not None}
    only = None if facts else the_target_table(tables)
    found_facts: list[FactStream] = []
    found_tables: list[TableTruth] = []
    for source in () if given.facts is None else _sources(given.facts):
        by_table = _by_table(source, targets, only)
        found_tables += [TableTruth(table.name, _rows(table, rows, delimiter)) for table, rows in by_table]
        found_facts += () if by_table else _streams(source, delimiter)
    for one in found_tables:
        truth_column(targets[one.table], one.rows)
    hits = tuple(sorted(set(given.hits)))
    if not hits or any(isinstance(k, bool) or not isinstance(k, int) or k < 1 for k in hits):
        raise InputError(Diagnostic("E402", f"`hits` is `{given.hits}`", notes=("it has whole numbers from 1, the k of Hits@k",)))
    return HeldOut(
        tuple(found_facts),
        tuple(found_tables),
        () if given.known is None else tuple(_streams(given.known, delimiter)),
        given.filter,
        chosen(Ties, given.ties, "ties"),
        hits,
        chosen(ValueTask, given.task, "task"),
        _domains(given.domains, delimiter),
        () if given.types is None else tuple(_streams(given.types, delimiter)),
    )


def _domains(what: object, delimiter: str | None) -> RowStream | ObservedSides | None:
    if what is None or (isinstance(what, str) and what == OBSERVED):
        return None if what is None else ObservedSides()
    rows = rows_of(what, "<domains>", delimiter=delimiter)
    names = rows.schema().names
    if RELATION not in names or not {DOMAIN, RANGE} & set(names):
        notes = (f"the columns are {', '.join(f'`{name}`' for name in names)}",)
        helps = (f"its first line is `{RELATION} {DOMAIN} {RANGE}`; a relation with several classes has several rows",)
        raise InputError(
            Diagnostic("E557", "there are no columns of domains and ranges", Place(rows.origin), notes=notes, helps=helps)
        )
    return rows


def truth_column(table: KeyedTable, rows: RowStream) -> str:
    """The column of the true values: named after the target, else `truth`."""
    names = rows.schema().names
    candidates = [str(table.target), TRUTH, PREDICTION] if rows.origin.startswith("<") else [str(table.target), TRUTH]
    found = next((name for name in candidates if name in names), None)
    if found is None:
        notes = (f"the columns are {', '.join(f'`{name}`' for name in names)}",)
        helps = (f"name the column of true values `{table.target}`, as in table `{table.name}`, or `{TRUTH}`",)
        message = f"there is no column `{table.target}`, the target of table `{table.name}`"
        raise InputError(Diagnostic("E554", message, Place(rows.origin), notes=notes, helps=helps))
    return found


def _sources(what: object) -> Iterator[object]:
    """The members of a list of sources; anything else is one."""
    if isinstance(what, list | tuple) and what and all(_is_source(one) for one in what):
        yield from what
    else:
        yield what


def _is_source(what: object) -> bool:
    return isinstance(what, str | Path | FactFile | Mapping) or is_frame(what)


def _by_table(source: object, targets: Mapping[str, KeyedTable], only: KeyedTable | None) -> list[tuple[KeyedTable, object]]:
    """True values with the tables that they are for; none for facts."""
    if isinstance(source, Mapping) and source and set(source) <= targets.keys():
        return [(targets[name], rows) for name, rows in source.items()]
    if only is not None:
        return [(only, source)]
    return [(table, source) for table in targets.values() if _has_target(table, source)][:1]


def _has_target(table: KeyedTable, source: object) -> bool:
    """Whether something is a file or a frame with the key and the target of a table."""
    if not isinstance(source, str | Path) and not is_frame(source):
        return False
    try:
        names = rows_of(source, "").schema().names
    except InputError:
        return False
    return {*table.key, table.target} <= set(names)


def _rows(table: KeyedTable, what: object, delimiter: str | None) -> RowStream:
    origin = f"<truth of {table.name}>"
    rows = table_predictions(table, what, origin, delimiter).rows
    assert isinstance(rows, RowStream)
    return rows


def _streams(what: object, delimiter: str | None) -> Iterator[FactStream]:
    for one in observed_streams(what, delimiter=delimiter):
        if not isinstance(one, FactStream) or (one.native is not None and one.native.frame is not None):
            helps = ("give files, frames or rows",)
            raise InputError(Diagnostic("E555", f"`{one.origin}` is not read for accuracy", helps=helps))
        yield one
