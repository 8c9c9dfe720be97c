"""The sections of a project file. Those of options are made of the options themselves."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from rulescore.arguments.checking import STRICT, written_as
from rulescore.arguments.rule_sources import RuleFile
from rulescore.arguments.tables import Table
from rulescore.arguments.truth import OBSERVED, Truth
from rulescore.errors import Place
from rulescore.language.formats.names import FormatName, WeighBy
from rulescore.setting.choices import AS_WRITTEN, AT_LEAST_ONE, NOT_NEGATIVE, SHARE, FileFormat, OutputFormat
from rulescore.setting.gates import GateSeverity
from rulescore.setting.model import PublishedFacts, SqlRule, Ties, ValueTask
from rulescore.setting.options import Delimiter, EngineOptions, KindWord, ScoringOptions, Weight
from rulescore.setting.request import Arrangement, ColumnType, FactFile


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _numbers(value: object) -> object:
    return [value] if isinstance(value, int) else value


def _column_choice(value: object) -> object:
    """A name, a number from 1, or a list of those."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, bool) or not isinstance(one, str | int) or one == "":
            raise ValueError("expected the name of a column, its number counted from 1, or a list of those")
    return value


def _as_table(value: object) -> object:
    """A path or a list of paths is short for a table with nothing but `path`."""
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        return {"path": value}
    if not isinstance(value, dict):
        raise ValueError("expected a path, a list of paths or a table")
    return value


def _as_tables(value: object) -> object:
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return [_as_table(one) for one in value]
    return [_as_table(value)]


def _as_call(value: object) -> object:
    """`"module:function"` is short for a table with nothing but `call`."""
    return {"call": value} if isinstance(value, str) else value


def _as_gate(value: object) -> object:
    """`"hard > 0"` is short for a table with nothing but `fail_if`."""
    return {"fail_if": value} if isinstance(value, str) else value


def _constant(value: object) -> object:
    if not isinstance(value, str | int | float | datetime.date):
        raise ValueError("expected a text, a number, true or false, a date or a date-time")
    return value


def _group(value: object) -> object:
    if not isinstance(value, str) and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise ValueError("expected a list of predicates, or a text like `p(X, Y), q(Y, X)`")
    return value


Name = Annotated[str, Field(min_length=1)]
Paths = Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)]
Numbers = Annotated[list[int], BeforeValidator(_numbers), Field(min_length=1)]
AtLeastOne = Annotated[int, AT_LEAST_ONE]
FormatWord = Annotated[FileFormat, AS_WRITTEN]
TypeWord = Annotated[ColumnType, AS_WRITTEN]


class Section(BaseModel):
    model_config = STRICT


class TagsSection(Section):
    """The numbers that say in a published layout which rows are observed and which predicted."""

    observed: Numbers = [0]
    predicted: Numbers = [1]


class SourceSection(Section):
    """Where facts are and how they are written; or which tables of the engine's own database hold them."""

    path: Paths | None = None
    predicates: dict[str, Paths] = {}
    format: FormatWord | None = None
    layout: Annotated[Arrangement, AS_WRITTEN] | None = None
    delimiter: Delimiter | None = None
    header: bool | None = None
    types: dict[str, TypeWord] = {}
    columns: dict[str, Annotated[Any, BeforeValidator(_column_choice)]] = {}
    graph: str | None = None
    database_table: Name | None = None
    database_predicates: dict[str, Name] = {}
    database_schema: Name | None = None
    tags: TagsSection | None = None

    @property
    def in_database(self) -> bool:
        return self.database_table is not None or self.database_schema is not None or bool(self.database_predicates)

    def tables(self) -> list[tuple[str | None, str]]:
        """Tables of the engine's own database, each with the predicate it is of."""
        plain = [] if self.database_table is None else [(None, self.database_table)]
        return [*plain, *self.database_predicates.items()]

    def published(self) -> list[PublishedFacts]:
        if self.database_schema is None:
            return []
        tags = self.tags or TagsSection()
        return [PublishedFacts(self.database_schema, tuple(tags.observed), tuple(tags.predicted))]

    def files(self, folder: Path) -> list[FactFile]:
        plain = [(None, path) for path in self.path or ()]
        named = [(name, path) for name, paths in self.predicates.items() for path in paths]
        return [self._file(folder / path, predicate) for predicate, path in (*plain, *named)]

    def _file(self, path: Path, predicate: str | None) -> FactFile:
        chosen = (self.format, self.layout, self.delimiter, self.header, self.types, self.columns)
        return FactFile(path, *chosen, predicate, self.graph)


class PredictionsSection(SourceSection):
    """`table`: these are predictions of that table's target, rows of ids and values."""

    top_k: AtLeastOne | None = None
    table: str | None = None


class HiddenSection(Section):
    """Which rows of a table have a hidden target: by a column's values, by a condition, or listed in a file or a table."""

    column: str | None = None
    values: Annotated[list[Annotated[Any, BeforeValidator(_constant)]], BeforeValidator(_listed), Field(min_length=1)] | None = None
    where: str | None = None
    path: str | None = None
    database: str | None = None
    table: str | None = None

    def given(self, folder: Path) -> dict[str, object]:
        """The keys that are given, with paths that begin at a folder."""
        said: dict[str, object] = {key: value for key, value in self if value is not None}
        return said | {key: folder / str(said[key]) for key in ("path", "database") if key in said}


class TableSection(Section):
    """A table with a key: where its rows are and what its columns mean."""

    path: Name | None = None
    database: Name | None = None
    table: str | None = None
    key: Annotated[list[str], BeforeValidator(_listed)] = []
    target: str | None = None
    hidden: HiddenSection | None = None
    types: dict[str, TypeWord] = {}
    derived: dict[str, str] = {}
    reached: dict[str, str] = {}
    delimiter: Delimiter | None = None
    format: FormatWord | None = None

    def described(self, folder: Path) -> Table:
        return Table(
            rows=None if self.path is None else folder / self.path,
            key=tuple(self.key),
            target=self.target,
            hidden=None if self.hidden is None else self.hidden.given(folder),
            derived=self.derived,
            reached=self.reached,
            types=self.types,
            database=None if self.database is None else folder / self.database,
            table=self.table,
            delimiter=self.delimiter,
            format=self.format,
        )


class FunctionSection(Section):
    """A registered predicate: `module:function`, and whether it takes Arrow arrays."""

    call: str
    arrow: bool = False


class SqlRuleSection(Section):
    """A rule in SQL."""

    name: Name
    statement: Name
    kind: KindWord | None = None
    weight: Weight = 1.0
    description: str | None = None
    tags: list[str] = []

    def rule(self, place: Place | None) -> SqlRule:
        return SqlRule(self.name, self.statement, self.kind, self.weight, self.description, tuple(self.tags), place)


class RulesSection(Section):
    """`format` and the keys after it describe the files; `text` is in our own language, and all of its rules count."""

    path: Paths | None = None
    text: str | None = None
    format: Annotated[FormatName, AS_WRITTEN] | None = None
    min_confidence: Annotated[float, SHARE] | None = None
    min_support: Annotated[int, NOT_NEGATIVE] | None = None
    max_length: AtLeastOne | None = None
    head: Annotated[list[str], BeforeValidator(_listed)] = []
    weigh_by: Annotated[WeighBy, AS_WRITTEN] | None = None

    def files(self, folder: Path) -> list[RuleFile]:
        wanted = (self.format, self.min_confidence, self.min_support, self.max_length, self.head, self.weigh_by)
        return [RuleFile(folder / path, *wanted) for path in self.path or ()]


class RefutationSection(Section):
    """Declarations of the rule language, as lists."""

    incompatible: list[Annotated[Any, BeforeValidator(_group)]] = []
    extract_incompatible: bool = False
    closed: Annotated[list[str], BeforeValidator(_listed)] = []
    functional: list[str] = []
    pca: Annotated[list[str], BeforeValidator(_listed)] = []
    refute: list[str] = []


class GateSection(Section):
    """What a model must not do: the text of a gate, how much that matters, and the models it is for."""

    fail_if: Name
    severity: Annotated[GateSeverity, AS_WRITTEN] = GateSeverity.ERROR
    models: Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)] | None = None


class TruthSection(Section):
    """What is held out, and how ranks are counted."""

    path: Paths | None = None
    tables: dict[str, Name] = {}
    known: Annotated[list[Name], BeforeValidator(_listed)] = []
    filter: bool = True
    ties: Annotated[Ties, AS_WRITTEN] | None = None
    hits: Annotated[list[AtLeastOne], BeforeValidator(_numbers), Field(min_length=1)] = [1, 3, 10]
    task: Annotated[ValueTask, AS_WRITTEN] | None = None
    domains: Name | None = None
    types: Annotated[list[Name], BeforeValidator(_listed)] = []

    def described(self, folder: Path) -> Truth:
        """The same, with paths that begin at a folder."""
        sources: list[object] = [folder / path for path in self.path or ()]
        sources += [{name: folder / path} for name, path in self.tables.items()]
        known = [folder / path for path in self.known]
        types = [folder / path for path in self.types]
        return Truth(
            sources or None,
            known=known or None,
            filter=self.filter,
            ties=self.ties,
            hits=self.hits,
            task=self.task,
            domains=folder / self.domains if self.domains not in (None, OBSERVED) else self.domains,
            types=types or None,
        )


class OutputSection(Section):
    folder: str | None = None
    plots: str | None = None
    formats: list[Annotated[OutputFormat, AS_WRITTEN]] = []


Tables = Annotated[list[SourceSection], BeforeValidator(_as_tables)]


class ProjectSections(Section):
    facts: Tables = []
    negatives: Tables = []
    predictions: dict[str, Annotated[list[PredictionsSection], BeforeValidator(_as_tables)]] = {}
    tables: dict[str, TableSection] = {}
    functions: dict[str, Annotated[FunctionSection, BeforeValidator(_as_call)]] = {}
    rules: Annotated[RulesSection, BeforeValidator(_as_table)] = RulesSection()
    sql_rules: list[SqlRuleSection] = []
    refutation: RefutationSection = RefutationSection()
    scoring: Annotated[ScoringOptions, written_as(ScoringOptions)] = ScoringOptions()
    engine: Annotated[EngineOptions, written_as(EngineOptions)] = EngineOptions()
    output: OutputSection = OutputSection()
    gates: dict[str, Annotated[GateSection, BeforeValidator(_as_gate)]] = {}
    truth: Annotated[TruthSection, BeforeValidator(_as_table)] | None = None
