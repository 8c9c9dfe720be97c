"""A setting: everything one evaluation needs, as data. Streams are opened by the engine that loads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from rulescore.errors import Place, Source
from rulescore.language.syntax import And, Expression, Kind
from rulescore.setting.choices import Name, Weight
from rulescore.setting.options import UNWRITTEN, EngineOptions, ScoringOptions
from rulescore.setting.request import Request, chosen
from rulescore.values.types import Value, ValueType


@dataclass(frozen=True, slots=True)
class FirstLine:
    """We took the first line of a file for a fact. `names`: its fields, which may be names of columns."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OnePredicate:
    """We took all columns for arguments of the predicate that the table is named after. `names`: the names of the columns."""

    names: tuple[str, ...]
    in_folder: bool


@dataclass(frozen=True, slots=True)
class FirstRow:
    """We took the first row of a table, or of Python rows, for a fact, as we should. But it is a header if the program read it
    from a file without knowing that the file has one."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognised:
    """We recognised the format of a file as another tool's. `title`: its name for people."""

    format: str
    title: str
    names: tuple[str, ...] = ()


Guess = FirstLine | FirstRow | OnePredicate | Recognised
"""What a reader assumed. Only the other data and the rules can tell whether it is right."""


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts of one arity. Columns: `predicate` (string) unless the batch names its one predicate, then `a0`, `a1`, … (string
    keys of constants, never null), and for predictions `score` (float64), `rank` (int64) and `query` (string), each nullable.
    `floats`: predicates and argument numbers whose values are floats, since the key of a whole number does not say so.
    `declared_text`: those whose type the user declares to be string. `guess`: only in the first batch of a source. `negative`: a
    source of observed facts says that these are false."""

    arity: int
    rows: pa.RecordBatch
    predicate: str | None = None
    floats: frozenset[tuple[str, int]] = frozenset()
    guess: Guess | None = None
    negative: bool = False
    declared_text: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class NativeSource:
    """Rows that an engine may read itself, past our readers: those of a Parquet file or, if there is a `frame`, of a frame of the
    engine's own library."""

    request: Request
    frame: object | None = None


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was when we read it. Two readings with one version have the same bytes."""

    path: Path
    size: int
    time: int
    number: tuple[int, int]
    """Of its device, and of the file on it."""


@dataclass(frozen=True, slots=True)
class FactStream:
    """Facts from one place. `open` may be called once or more; each call reads from the beginning and raises InputError with
    file and line for rows it does not understand. `part_of`: the folder or mapping that the user named, if this is a part of it.
    `columns`: reads further columns of the same rows by their names; None if the columns have no names. `version`: tells which
    version of a file is read; None if the facts are not in a file."""

    origin: str
    open: Callable[[], Iterator[FactBatch]]
    native: NativeSource | None = None
    part_of: str | None = None
    columns: Callable[[Mapping[str, frozenset[str]]], pa.Table] | None = None
    version: Callable[[], FileVersion | None] | None = None


@dataclass(frozen=True, slots=True)
class ColumnIn:
    """Rows whose column, written as text, is one of these values."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactTable:
    """Facts in a table of the engine's own database, read in place. `table` may be qualified: `kg.wife`. `request` says which
    column plays which part. `only`: further conditions on rows. `keys`: texts are keys of constants, as `rulescore load` writes
    them. `model`: if the table has a column `model`, the engine reads only the rows of this model. `path`: the parts of its name,
    if known."""

    table: str
    request: Request
    only: tuple[ColumnIn, ...] = ()
    keys: bool = False
    model: str | None = None
    path: tuple[str, ...] | None = None
    place: Place | None = field(default=None, compare=False)
    """Where the user names it."""

    @property
    def origin(self) -> str:
        return self.request.origin


@dataclass(frozen=True, slots=True)
class PublishedFacts:
    """A schema of the engine's own database in the published layout: a table for each predicate, whose column `tag`
    tells observed rows from a model's predictions. The engine skips rows with any other tag."""

    schema: str
    observed: tuple[int, ...] = (0,)
    predicted: tuple[int, ...] = (1,)

    @property
    def origin(self) -> str:
        return f"{self.schema} (published layout)"


FactSource = FactStream | FactTable | PublishedFacts
"""Where facts come from. Published facts bring models of their own."""


class Infer(Protocol):
    """The types that all values of some columns have, or those of the first rows if not `whole`; None if there are no values."""

    def __call__(self, columns: Sequence[str], *, whole: bool) -> Mapping[str, ValueType | None]: ...


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The columns of a text file. `declared`: those whose type the user declares; the others are text. `infer`: the types that
    their values seem to have. `typed`: the same rows with such types; reading raises MisfitError if a value has another."""

    declared: Collection[str]
    infer: Infer
    typed: Callable[[Mapping[str, ValueType]], RowStream]


@dataclass(frozen=True, slots=True)
class RowStream:
    """Rows of a table. `schema`: its columns, with the types of their source. `open` reads the given columns as string, int64,
    float64, bool or date32, date-times as int64, missing values as null; callers may call both more than once. `text`: the rows
    come from a text file, so that texts take the type of the values they are compared with. `labels`: the index of a frame that
    has one beside its columns. `version`: as in `FactStream`."""

    origin: str
    schema: Callable[[], pa.Schema]
    open: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    text: TextColumns | None = None
    native: NativeSource | None = None
    labels: Callable[[], list[object]] | None = None
    version: Callable[[], FileVersion | None] | None = None


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table of an existing database, read in place: of a DuckDB file or, without one, of the engine's own database. `table` may
    be qualified: `main.sales`. `native_origin`: the user's name for a file or a frame that the engine itself reads as `table`."""

    database: Path | None
    table: str
    native_origin: str | None = None
    place: Place | None = field(default=None, compare=False)
    """Where the user names it."""

    @property
    def origin(self) -> str:
        if self.native_origin is not None:
            return self.native_origin
        return self.table if self.database is None else f"{self.database} ({self.table})"


@dataclass(frozen=True, slots=True)
class HiddenColumn:
    """The rows whose column has one of these values are hidden."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class HiddenWhere:
    """The rows for which a condition on their attributes is true are hidden."""

    condition: And


@dataclass(frozen=True, slots=True)
class HiddenIds:
    """The rows whose keys a table lists are hidden. `masked`: the user chose them by a mask, so that their order says nothing."""

    ids: RowStream | DatabaseTable
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """One join of a path to another table: a column here equals a column there."""

    column: str
    table: str
    other: str


@dataclass(frozen=True, slots=True)
class Reached:
    """An attribute that lies in another table: the joins that lead there, and its column at their end."""

    attribute: str
    hops: tuple[Hop, ...]
    column: str


@dataclass(frozen=True, slots=True)
class Derived:
    """An attribute computed from others of its row."""

    attribute: str
    value: Expression


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """A table whose rows are sets of attribute facts. Without a key it only serves to reach attributes through."""

    name: str
    rows: RowStream | DatabaseTable
    key: tuple[str, ...] = ()
    target: str | None = None
    hidden: HiddenColumn | HiddenWhere | HiddenIds | None = None
    reached: tuple[Reached, ...] = ()
    derived: tuple[Derived, ...] = ()
    place: Place | None = field(default=None, compare=False)
    """Where the user describes it."""

    @property
    def origin(self) -> str:
        """Where its rows come from."""
        return self.rows.origin


@dataclass(frozen=True, slots=True)
class TablePredictions:
    """One model's values for the target of a table: the table's key columns, then `prediction`. Columns of text files are
    strings and take the types of the table's columns when they are loaded."""

    table: str
    rows: RowStream | DatabaseTable


@dataclass(frozen=True, slots=True)
class Function:
    """A registered predicate: a Python function of values that answers True, False or None. `arrow`: it takes one Arrow array
    for each argument and answers with an array."""

    name: str
    call: Callable[..., object]
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class SqlRule:
    """A rule given as a statement that returns one row for each grounding: `prediction` (null over the data), `confirmed`,
    `refuted`. Run as it is, on the word of the user."""

    name: Name
    statement: Name
    kind: Kind | str | None = None
    weight: Weight = 1.0
    description: str | None = None
    tags: tuple[str, ...] = ()
    place: Place | None = field(default=None, metadata=UNWRITTEN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", chosen(Kind, self.kind, "kind"))


@dataclass(frozen=True, slots=True)
class ModelPredictions:
    """One model's answers. `top_k` keeps the best answers of each query; streams without query and rank stay whole."""

    model: str
    streams: tuple[FactSource, ...]
    top_k: int | None = None
    tables: tuple[TablePredictions, ...] = ()


def origins_of(predictions: ModelPredictions) -> list[str]:
    """Where a model's predictions come from. A folder, a mapping and the tables of one published schema are one source."""
    streams = [source for source in predictions.streams if isinstance(source, FactStream)]
    parts = dict.fromkeys(source.part_of for source in streams if source.part_of is not None)
    files = [*parts, *(source.origin for source in streams if source.part_of is None)]
    stored = dict.fromkeys(source.origin for source in predictions.streams if not isinstance(source, FactStream))
    return [*files, *stored, *(table.rows.origin for table in predictions.tables)]


class Ties(StrEnum):
    """The rank of an answer among answers of equal score: their best rank, the mean of best and worst, or their worst."""

    OPTIMISTIC = "optimistic"
    REALISTIC = "realistic"
    PESSIMISTIC = "pessimistic"


class ValueTask(StrEnum):
    """How predicted values are compared with true ones."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


@dataclass(frozen=True, slots=True)
class TableTruth:
    """The true values of a table's hidden targets: the columns of its key, and a column named after the target."""

    table: str
    rows: RowStream


@dataclass(frozen=True, slots=True)
class ObservedSides:
    """An entity fits on a side of a relation if it is observed there."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out truth, for accuracy alone: no engine ever loads it. `filtered`: rankings leave out answers that are observed, held
    out or in `known`. `ties`: None keeps the order of files that state one. `hits`: the k of Hits@k and Sem@k. `domains`: what fits
    on either side of relations. `types`: further facts that give the types of entities."""

    facts: tuple[FactStream, ...] = ()
    tables: tuple[TableTruth, ...] = ()
    known: tuple[FactStream, ...] = ()
    filtered: bool = True
    ties: Ties | None = None
    hits: tuple[int, ...] = (1, 3, 10)
    task: ValueTask | None = None
    domains: RowStream | ObservedSides | None = None
    types: tuple[FactStream, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    observed: tuple[FactSource, ...]
    rules: tuple[Source, ...]
    predictions: tuple[ModelPredictions, ...] = ()
    negatives: tuple[FactSource, ...] = ()
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    engine: EngineOptions = field(default_factory=EngineOptions)
    tables: tuple[KeyedTable, ...] = ()
    functions: tuple[Function, ...] = ()
    sql_rules: tuple[SqlRule, ...] = ()
    truth: HeldOut | None = None
