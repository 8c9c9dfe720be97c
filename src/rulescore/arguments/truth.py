"""Reads the truth that users give: held-out facts, or the true values of a table's hidden targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from rulescore.arguments.tables import rows_of, table_predictions, the_target_table
from rulescore.errors import Diagnostic, InputError, Place, ticked
from rulescore.readers.files import ending_of
from rulescore.readers.frames import is_frame
from rulescore.readers.layout import PREDICTION
from rulescore.readers.rdf import RDF_ENDINGS
from rulescore.readers.sources import FactsLike, observed_streams
from rulescore.setting.choices import Ties, ValueTask
from rulescore.setting.model import (
    DeclaredSides,
    FactFile,
    FactStream,
    HeldOut,
    KeyedTable,
    ObservedSides,
    RowStream,
    TableTruth,
    chosen,
)

TRUTH = "truth"
OBSERVED = "observed"
RELATION, DOMAIN, RANGE = "relation", "domain", "range"


@dataclass(frozen=True, slots=True)
class Truth:
    """Held-out facts or values, for `score(…, truth=…)`.

    Args:
        facts: Held-out facts, as `observed` takes them; or the true values of a table's hidden targets: a file or frame with the
            key and the target, a mapping from keys to values, or a mapping from names of tables to any of these.
        known: Further true facts. Rankings leave out answers that are observed, held out or known.
        filter: False: rankings leave out no answer.
        ties: How equal scores rank: "optimistic", "realistic" or "pessimistic". None: realistic.
        hits: The k of Hits@k.
        task: "regression" or "classification". None: we see it from the values.
        domains: For Sem@k, an ontology; or a file, a frame or rows with the columns `relation`, `domain` and `range`, whose
            classes are unary predicates or objects of `type` facts; or "observed": entities observed on a side fit there.
        types: Further facts that say of which class an entity is.
    """

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
    """The truth as data. `facts`: there are observed facts, so the truth may be facts as well."""
    truth = what if isinstance(what, Truth) else Truth(what)
    targets = {table.name: table for table in tables if table.target is not None}
    only = None if facts else the_target_table(tables)
    found_facts: list[FactStream] = []
    found_tables: list[TableTruth] = []
    for source in () if truth.facts is None else _sources(truth.facts):
        by_table = _by_table(source, targets, only)
        found_tables += [TableTruth(table.name, _truth_rows(table, rows, delimiter)) for table, rows in by_table]
        found_facts += () if by_table else _streams(source, delimiter)
    for true_values in found_tables:
        truth_column(targets[true_values.table], true_values.rows)
    hits = tuple(sorted(set(truth.hits)))
    if not hits or any(isinstance(k, bool) or not isinstance(k, int) or k < 1 for k in hits):
        raise InputError(Diagnostic("E402", f"`hits` is `{truth.hits}`", notes=("it has whole numbers from 1, the k of Hits@k",)))
    return HeldOut(
        tuple(found_facts),
        tuple(found_tables),
        () if truth.known is None else tuple(_streams(truth.known, delimiter)),
        truth.filter,
        chosen(Ties, truth.ties, "ties"),
        hits,
        chosen(ValueTask, truth.task, "task"),
        _domains(truth.domains, delimiter),
        () if truth.types is None else tuple(_streams(truth.types, delimiter)),
    )


def _domains(what: object, delimiter: str | None) -> RowStream | ObservedSides | DeclaredSides | None:
    if what is None or (isinstance(what, str) and what == OBSERVED):
        return None if what is None else ObservedSides()
    if isinstance(what, str | Path) and ending_of(Path(what)) in RDF_ENDINGS:
        from rulescore.ontologies.domains import declared_domains
        from rulescore.ontologies.from_rdf import read_triples

        declared = declared_domains(read_triples(Path(what)))
        if not declared:
            notes = ("`rdfs:domain`, `rdfs:range`, and those of schema.org are read",)
            raise InputError(Diagnostic("E320", f"`{what}` declares no domains and ranges of classes", notes=notes))
        return DeclaredSides(declared)
    rows = rows_of(what, "<domains>", delimiter=delimiter)
    names = rows.schema().names
    if RELATION not in names or not {DOMAIN, RANGE} & set(names):
        notes = (f"the columns are {ticked(names)}",)
        helps = (f"its first line is `{RELATION} {DOMAIN} {RANGE}`; a relation with several classes has several rows",)
        raise InputError(
            Diagnostic("E320", "there are no columns of domains and ranges", Place(rows.origin), notes=notes, helps=helps)
        )
    return rows


def truth_column(table: KeyedTable, rows: RowStream) -> str:
    """The column of the true values: named after the target, else `truth`."""
    names = rows.schema().names
    likely = [str(table.target), TRUTH, PREDICTION] if rows.origin.startswith("<") else [str(table.target), TRUTH]
    column = next((name for name in likely if name in names), None)
    if column is None:
        notes = (f"the columns are {ticked(names)}",)
        helps = (f"name the column of true values `{table.target}`, as in table `{table.name}`, or `{TRUTH}`",)
        message = f"there is no column `{table.target}`, the target of table `{table.name}`"
        raise InputError(Diagnostic("E320", message, Place(rows.origin), notes=notes, helps=helps))
    return column


def _sources(what: object) -> Iterator[object]:
    """The members of a list of sources; anything else is one."""
    kinds = (str, Path, FactFile, Mapping)
    if isinstance(what, list | tuple) and what and all(isinstance(source, kinds) or is_frame(source) for source in what):
        yield from what
    else:
        yield what


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


def _truth_rows(table: KeyedTable, what: object, delimiter: str | None) -> RowStream:
    origin = f"<truth of {table.name}>"
    rows = table_predictions(table, what, origin, delimiter).rows
    assert isinstance(rows, RowStream)
    return rows


def _streams(what: object, delimiter: str | None) -> Iterator[FactStream]:
    for stream in observed_streams(what, delimiter=delimiter):
        if not isinstance(stream, FactStream) or (stream.native is not None and stream.native.frame is not None):
            helps = ("give files, frames or rows",)
            raise InputError(Diagnostic("E363", f"`{stream.origin}` cannot be used to measure accuracy", helps=helps))
        yield stream
