"""A setting: everything one evaluation needs, as data. Streams are opened by the engine that loads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pyarrow as pa

from rulescore.data.request import Request, chosen
from rulescore.errors import Place, Source
from rulescore.language.syntax import And, Expression, Kind, Value


class Convention(StrEnum):
    DEFINITION = "definition"
    APPENDIX = "appendix"


class Role(StrEnum):
    """The places of a grounding in which a prediction can stand."""

    BODY = "body"
    HEAD = "head"
    REFUTER = "refuter"


@dataclass(frozen=True, slots=True)
class FirstLine:
    """The first line of a file was taken for a fact. `names`: its fields, which may be names of columns."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OnePredicate:
    """All columns were taken for arguments of the predicate that the table is named after. `names`: those that the columns have."""

    names: tuple[str, ...]
    in_folder: bool


@dataclass(frozen=True, slots=True)
class FirstRow:
    """The first row of a table, or of Python rows, was taken for a fact, as it should be. But a program that had read a file
    without knowing of its header would hand it over so."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file was recognised as another tool's: by its format, which people know as a `title`."""

    format: str
    title: str
    names: tuple[str, ...] = ()


Guess = FirstLine | FirstRow | OnePredicate | Recognised
"""What a reader took for granted. Only the other data and the rules can tell whether it is so."""


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts of one arity. Columns: `predicate` (string) unless the batch names its one predicate, then `a0`, `a1`, … (string
    keys of constants, never null), and for predictions `score` (float64), `rank` (int64) and `query` (string), each nullable.
    `floats`: predicates with the numbers of the arguments that were given as floats, which the keys of whole ones do not tell.
    `guess`: of the first batch of a source. `negative`: facts that a source of observed ones knows to be false."""

    arity: int
    rows: pa.RecordBatch
    predicate: str | None = None
    floats: frozenset[tuple[str, int]] = frozenset()
    guess: Guess | None = None
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Adoptable:
    """Rows that an engine may read by itself, without their passing through here: those of a Parquet file or, where there is a
    `frame`, of a frame of the engine's own library."""

    request: Request
    frame: object | None = None


@dataclass(frozen=True, slots=True)
class FactStream:
    """Facts from one place. `open` may be called once or more; each call reads from the beginning and raises InputError with
    file and line for rows it does not understand. `part_of`: the folder or mapping that the user named, if it is one of several.
    `columns`: what the same rows have in columns of these names, row by row; None if they have no names."""

    origin: str
    open: Callable[[], Iterator[FactBatch]]
    adoptable: Adoptable | None = None
    part_of: str | None = None
    columns: Callable[[Mapping[str, frozenset[str]]], pa.Table] | None = None


@dataclass(frozen=True, slots=True)
class Only:
    """Rows whose column, written as text, is one of these values."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactTable:
    """Facts in a table of the engine's own database, read in place. `table` may be qualified: `kg.wife`. `request` says which
    column plays which part. `only`: further conditions on rows. `keys`: texts are keys of constants, as `rulescore load` writes
    them. `model`: where the table has a column `model`, only the rows of this model are read. `path`: the parts of its name, where
    they are known."""

    table: str
    request: Request
    only: tuple[Only, ...] = ()
    keys: bool = False
    model: str | None = None
    path: tuple[str, ...] | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is named."""

    @property
    def origin(self) -> str:
        return self.request.origin


@dataclass(frozen=True, slots=True)
class PublishedFacts:
    """A schema of the engine's own database in the published layout: a table for each predicate, whose rows are observed or a
    model's predictions by the number in their column `tag`. Rows with any other tag are not read."""

    schema: str
    observed: tuple[int, ...] = (0,)
    predicted: tuple[int, ...] = (1,)

    @property
    def origin(self) -> str:
        return f"{self.schema} (published layout)"


FactSource = FactStream | FactTable | PublishedFacts
"""Where facts come from. Published ones bring models of their own."""


class ValueType(StrEnum):
    """Types of values. A DATETIME is what a clock on a wall shows, an INSTANT has a zone. A duration of days and a SPAN, which may
    be any duration, are values of expressions only; what is MIXED has values of several types, or integers that no
    double equals beside floats: keys of constants stand for them, and nothing can be computed with them."""

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "date-time"
    INSTANT = "instant"
    DURATION = "duration"
    SPAN = "time span"
    MIXED = "value of several types"


@dataclass(frozen=True, slots=True)
class RowStream:
    """Rows of a table. `schema` names its columns, with the types they have where they come from. `open` reads those it is asked
    for as string, int64, float64, bool or date32, date-times as int64, null where a value is missing; both may be called more than
    once. `text`: what is not declared is text, and takes the type of what it is compared with. `labels`: what names the rows of a
    frame that has an index beside its columns."""

    origin: str
    schema: Callable[[], pa.Schema]
    open: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    text: bool = False
    adoptable: Adoptable | None = None
    labels: Callable[[], list[object]] | None = None


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table of an existing database, read in place: of a DuckDB file or, without one, of the engine's own database. `table` may
    be qualified: `main.sales`. `adopted`: where the rows come from that the engine reads by itself, under this name."""

    database: Path | None
    table: str
    adopted: str | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is named."""

    @property
    def origin(self) -> str:
        if self.adopted is not None:
            return self.adopted
        return self.table if self.database is None else f"{self.database} ({self.table})"


@dataclass(frozen=True, slots=True)
class HiddenColumn:
    """The rows whose column has one of these values are hidden."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class HiddenWhere:
    """The rows of which a condition on their attributes is true are hidden."""

    condition: And


@dataclass(frozen=True, slots=True)
class HiddenIds:
    """The rows whose keys a table lists are hidden."""

    ids: RowStream | DatabaseTable


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
    """Where it is described."""

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

    name: str
    statement: str
    kind: Kind | str | None = None
    weight: float = 1.0
    description: str | None = None
    tags: tuple[str, ...] = ()
    place: Place | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", chosen(Kind, self.kind, "kind"))


EVERY_ANSWER = 2**62
"""The `top_k` that keeps all answers of each query. Like any other, it needs to know which are best."""


@dataclass(frozen=True, slots=True)
class ModelPredictions:
    """One model's answers. `top_k` keeps the best answers of each query; streams without query and rank are kept whole."""

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


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`timeout`: the most seconds that one statement may take. The address may hold a password, so it is not shown. `session`: a
    session of the caller's to work in, instead of one at an address."""

    url: str = field(default="duckdb", repr=False)
    memory_limit: str | None = None
    threads: int | None = None
    spill_folder: Path | None = None
    timeout: float | None = None
    session: object | None = None


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """What is counted. `distinct_variables` and `roles` are the convention's own unless given. `allow_unrefutable`: predictions are
    scored although no rule can be refuted."""

    convention: Convention = Convention.DEFINITION
    distinct_variables: bool | None = None
    roles: frozenset[Role] | None = None
    weights: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    allow_unrefutable: bool = False


class Ties(StrEnum):
    """The rank of an answer among others of its score: the best of theirs, the mean of best and worst, or the worst."""

    OPTIMISTIC = "optimistic"
    REALISTIC = "realistic"
    PESSIMISTIC = "pessimistic"


class ValueTask(StrEnum):
    """How predicted values are compared with true ones."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


@dataclass(frozen=True, slots=True)
class TableTruth:
    """The true values of a table's hidden targets: the columns of its key, and one that is named after the target."""

    table: str
    rows: RowStream


@dataclass(frozen=True, slots=True)
class ObservedSides:
    """An entity fits on a side of a relation if it is observed there."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What is held out, for accuracy alone: no engine ever loads it. Answers that are observed, held out or in `known` are left out
    of rankings if these are `filtered`. `ties`: None leaves the order of files that say it. `hits`: the k of Hits@k and Sem@k.
    `domains`: what may stand on either side of relations; `types`: further facts that say what entities are."""

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
    scoring: ScoringOptions = ScoringOptions()
    engine: EngineOptions = EngineOptions()
    tables: tuple[KeyedTable, ...] = ()
    functions: tuple[Function, ...] = ()
    sql_rules: tuple[SqlRule, ...] = ()
    truth: HeldOut | None = None
