"""A setting: everything one evaluation needs, as data. The engine that loads a stream opens it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeVar

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, Source, Span, meant
from rulescore.language.syntax import And, Expression, Kind
from rulescore.setting.choices import Arrangement, ColumnType, FileFormat, GateSeverity, Name, Ties, ValueTask, Weight
from rulescore.setting.options import UNWRITTEN, EngineOptions, ScoringOptions
from rulescore.values import Value, ValueType

Choice = TypeVar("Choice", bound=StrEnum)


def declaration(kind: ValueType) -> str:
    """The word by which users declare a type."""
    return ColumnType[kind.name].value


def chosen(choices: type[Choice], word: Choice | str | None, key: str) -> Choice | None:
    """The choice that the user gave, as itself or as its text. InputError for any other text."""
    if word is None or word in list(choices):
        return None if word is None else choices(word)
    helps = meant(str(word), list(choices))
    notes = (f"it is one of {', '.join(choices)}",)
    raise InputError(Diagnostic("E402", f"`{key}` cannot be `{word}`", notes=notes, helps=helps))


ColumnChoice = str | int
"""A column by its name, or by its number counted from 1."""


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file or folder and how to read it. If a field is None or empty, we find it out from the file.

    Args:
        path: The file or folder.
        format: The format, such as "parquet" or "jsonl".
        layout: Whether rows are triples or arguments of one predicate.
        delimiter: The delimiter of a text file.
        header: Whether a text file has a header.
        types: Types of argument columns of a text file, by part, by `a0`, `a1`, … or by the header's name.
        columns: Which column plays which part: `head`, `relation`, `tail`, `score`, `rank`, `query`, or `arguments` with a list.
        predicate: The predicate, if the file holds facts of one.
        graph: The named graph of an RDF file to read, or `default` for the statements outside all of them.
    """

    path: str | Path
    format: FileFormat | str | None = None
    layout: Arrangement | str | None = None
    delimiter: str | None = None
    header: bool | None = None
    types: Mapping[str, ColumnType | str] = field(default_factory=dict)
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]] = field(default_factory=dict)
    predicate: str | None = None
    graph: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", chosen(FileFormat, self.format, "format"))
        object.__setattr__(self, "layout", chosen(Arrangement, self.layout, "layout"))


@dataclass(frozen=True, slots=True)
class Request:
    """One table to read: the user's description, whether it holds predictions, and what its columns mean if they have no names.

    `by_names` lets the columns' names decide between triples and one predicate, as in a folder; `stem` then names that
    predicate. `rows`: the table has a key, and its rows are not facts. `stored`: a table of a database, which may have columns
    that are no arguments. `in_folder`: a file of a folder that the user named."""

    origin: str
    file: FactFile
    predictions: bool = False
    by_names: bool = False
    stem: str | None = None
    rows: bool = False
    stored: bool = False
    in_folder: bool = False

    @property
    def in_memory(self) -> bool:
        """Whether it is a frame or a list in Python, which no project file can describe."""
        return self.origin.startswith("<")

    @property
    def path(self) -> Path:
        return Path(self.file.path)


@dataclass(frozen=True, slots=True)
class GateText:
    """`span`: where its text stands. `place`: where its models' names stand. `folder`: paths of saved results begin there."""

    text: str
    span: Span
    name: str | None = None
    severity: GateSeverity = GateSeverity.ERROR
    models: tuple[str, ...] | None = None
    place: Place | None = None
    folder: Path = Path()


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
    """We took the first row of a table, or of Python rows, for a fact. That is right, unless the user's program read a file without
    knowing that its first line is a header."""

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
    """Facts of one arity. Columns: `predicate` (string) unless the batch names its one predicate, then `a0`, `a1`, … (string keys
    of constants, never null), and for predictions `score` (float64), `rank` (int64) and `query` (string), each nullable. `floats`:
    predicates and argument numbers whose values are floats, since the key of a whole number does not say so. `declared_text`: the
    same for values that the user declares to be string. `guess`: only in the first batch of a source. `negative`: a source of
    observed facts says that these are false."""

    arity: int
    rows: pa.RecordBatch
    predicate: str | None = None
    floats: frozenset[tuple[str, int]] = frozenset()
    guess: Guess | None = None
    negative: bool = False
    declared_text: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class NativeSource:
    """Rows that an engine may read itself, without our readers: rows of a Parquet file or, if there is a `frame`, of a frame of the
    engine's own library."""

    request: Request
    frame: object | None = None


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A version of a file that we read. Two readings with one version have the same bytes."""

    path: Path
    size: int
    time: int
    number: tuple[int, int]
    """Of its device, and of the file on it."""


@dataclass(frozen=True, slots=True)
class OwnRows:
    """The user's rows of a source, with all columns. `facts`: what can be read of them, each the fact of one row, in their order.
    `unreadable`: what is wrong with each of the other rows, by their numbers. `objects`: the lines of a file of JSON Lines."""

    table: pa.Table
    facts: tuple[FactBatch, ...]
    unreadable: Mapping[int, Diagnostic] = field(default_factory=dict)
    objects: Sequence[Mapping[str, object]] | None = None


@dataclass(frozen=True, slots=True)
class FactStream:
    """Facts from one place. `open` may be called once or more; each call reads from the beginning and raises InputError with
    file and line for rows it does not understand. `part_of`: the folder or mapping that the user named, if this is a part of it.
    `columns`: reads further columns of the same rows by their names; None if the columns have no names. `version`: tells which
    version of a file is read; None if the facts are not in a file. `own`: reads whole rows, and tells wrong rows apart; None if
    rows have nothing but their facts. `prefixes`: reads which prefixes a file of RDF declares, by the IRIs they stand for. `kinds`:
    which terms of RDF stand for constants, by their keys; None if the facts are not RDF."""

    origin: str
    open: Callable[[], Iterator[FactBatch]]
    native: NativeSource | None = None
    part_of: str | None = None
    columns: Callable[[Mapping[str, frozenset[str]]], pa.Table] | None = None
    version: Callable[[], FileVersion | None] | None = None
    own: Callable[[], OwnRows] | None = None
    prefixes: Callable[[], Mapping[str, str]] | None = None
    kinds: Callable[[], Mapping[str, frozenset[str]]] | None = None


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
    """The types that all values of some columns have, or the first values if not `whole`; None if there are no values."""

    def __call__(self, columns: Sequence[str], *, whole: bool) -> Mapping[str, ValueType | None]: ...


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The columns of a text file. `declared`: columns whose type the user declares; the others are text. `infer`: the types that
    their values seem to have. `typed`: the same rows with such types; reading raises MisfitError if a value has another."""

    declared: Collection[str]
    infer: Infer
    typed: Callable[[Mapping[str, ValueType]], RowStream]


@dataclass(frozen=True, slots=True)
class RowStream:
    """Rows of a table. `schema`: its columns, with the types of their source. `open` reads the given columns as string, int64,
    float64, bool or date32, date-times as int64, missing values as null; callers may call both more than once. `text`: the rows
    come from a text file, so texts take the type of the values they are compared with. `labels`: the index of a frame that
    has one in addition to its columns. `version`: as in `FactStream`. `numbered`: its column `row` is ours."""

    origin: str
    schema: Callable[[], pa.Schema]
    open: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    text: TextColumns | None = None
    native: NativeSource | None = None
    labels: Callable[[], list[object]] | None = None
    version: Callable[[], FileVersion | None] | None = None
    numbered: bool = False


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
    """Hides the rows for which a condition on their attributes is true."""

    condition: And


@dataclass(frozen=True, slots=True)
class HiddenIds:
    """The rows whose keys a table lists are hidden. `masked`: the user chose them by a mask, so their order says nothing."""

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
    """A registered predicate.

    Args:
        name: The predicate.
        call: A Python function of values that returns True, False or None.
        arrow: Whether it takes one Arrow array for each argument and returns an array.
    """

    name: str
    call: Callable[..., object]
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class SqlRule:
    """A rule in SQL. We run its statement unchanged, and trust the user.

    Args:
        name: The rule's name.
        statement: Returns one row for each grounding: `prediction` (null over the data), `confirmed`, `refuted`.
        kind: "hard" or "soft". None: as the data say.
        weight: The weight of the rule in scores.
        description: The meaning of the rule, in words.
        tags: Words to find it by.
        place: Where it is written, for messages.
    """

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
    """One model's predictions. `top_k` keeps the best ones of each query; streams without query and rank stay whole."""

    model: str
    streams: tuple[FactSource, ...]
    top_k: int | None = None
    tables: tuple[TablePredictions, ...] = ()


@dataclass(frozen=True, slots=True)
class TableTruth:
    """The true values of a table's hidden targets: the columns of its key, and a column named after the target."""

    table: str
    rows: RowStream


@dataclass(frozen=True, slots=True)
class ObservedSides:
    """An entity fits a side of a relation if some observed fact has it there."""


@dataclass(frozen=True, slots=True)
class DeclaredSides:
    """Sets of classes for each side of a relation; the key is true for tails. An entity fits if it is an instance of a class of
    every set."""

    classes: Mapping[tuple[str, bool], tuple[frozenset[str], ...]]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out truth, for accuracy alone: no engine ever loads it. `filtered`: rankings leave out answers that are observed, held
    out or in `known`. `ties`: None takes the order that a file states. `hits`: the k of Hits@k and Sem@k. `domains`: the entities
    that fit each side of relations. `types`: further facts that give the types of entities."""

    facts: tuple[FactStream, ...] = ()
    tables: tuple[TableTruth, ...] = ()
    known: tuple[FactStream, ...] = ()
    filtered: bool = True
    ties: Ties | None = None
    hits: tuple[int, ...] = (1, 3, 10)
    task: ValueTask | None = None
    domains: RowStream | ObservedSides | DeclaredSides | None = None
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
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names for ids, which people see instead."""
