"""The sections of a project file, as dataclasses. A section of options is the options themselves."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from rulescore.arguments.rule_sources import RuleFile
from rulescore.arguments.tables import Table
from rulescore.arguments.truth import OBSERVED, Truth
from rulescore.setting import choices
from rulescore.setting.model import FactFile, PublishedFacts, SqlRule
from rulescore.setting.options import EngineOptions, RuleOptions, ScoringOptions


def _column_choice(value: object) -> object:
    """A name, a number from 1, or a list of names and numbers."""
    for column in value if isinstance(value, list) else [value]:
        if isinstance(column, bool) or not isinstance(column, str | int) or column == "":
            raise ValueError("expected the name of a column, its number counted from 1, or a list of those")
    return value


def _as_table(value: object) -> object:
    """A path or a list of paths is short for a table that has only `path`."""
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(path, str) for path in value)):
        return {"path": value}
    if not isinstance(value, dict):
        raise ValueError("expected a path, a list of paths or a table")
    return value


def _as_tables(value: object) -> object:
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return [_as_table(part) for part in value]
    return [_as_table(value)]


def _short_for(key: str) -> Callable[[object], object]:
    """A text is short for a table that has only this key."""
    return lambda value: {key: value} if isinstance(value, str) else value


def _constant(value: object) -> object:
    if not isinstance(value, str | int | float | datetime.date):
        raise ValueError("expected a text, a number, true or false, a date or a date-time")
    return value


def _group(value: object) -> object:
    if not isinstance(value, str) and not (isinstance(value, list) and all(isinstance(predicate, str) for predicate in value)):
        raise ValueError("expected a list of predicates, or a text like `p(X, Y), q(Y, X)`")
    return value


_SOME = choices.Form(len, "expected at least one")
Paths = Annotated[tuple[choices.Name, ...], _SOME]
Numbers = Annotated[tuple[int, ...], _SOME]


@dataclass(frozen=True, slots=True)
class TagsSection:
    """The numbers that mark observed and predicted rows in a published layout."""

    observed: Numbers = (0,)
    predicted: Numbers = (1,)


@dataclass(frozen=True, slots=True)
class SourceSection:
    """Where facts are and how they are written; or which tables of the engine's own database hold them."""

    path: Paths | None = None
    predicates: dict[str, Paths] = field(default_factory=dict)
    format: choices.FileFormat | None = None
    layout: choices.Arrangement | None = None
    delimiter: choices.Delimiter | None = None
    header: bool | None = None
    types: dict[str, choices.ColumnType] = field(default_factory=dict)
    columns: dict[str, Annotated[Any, _column_choice]] = field(default_factory=dict)
    graph: str | None = None
    database_table: choices.Name | None = None
    database_predicates: dict[str, choices.Name] = field(default_factory=dict)
    database_schema: choices.Name | None = None
    tags: TagsSection | None = None

    @property
    def in_database(self) -> bool:
        return self.database_table is not None or self.database_schema is not None or bool(self.database_predicates)

    def given_keys(self, *keys: str) -> list[str]:
        """The keys among these that have a value."""
        return [key for key in keys if getattr(self, key) not in (None, {})]

    def tables(self) -> list[tuple[str | None, str]]:
        """Tables of the engine's own database, each with its predicate."""
        plain = [] if self.database_table is None else [(None, self.database_table)]
        return [*plain, *self.database_predicates.items()]

    def published(self) -> list[PublishedFacts]:
        if self.database_schema is None:
            return []
        tags = self.tags or TagsSection()
        return [PublishedFacts(self.database_schema, tags.observed, tags.predicted)]

    def files(self, folder: Path) -> list[FactFile]:
        plain = [(None, path) for path in self.path or ()]
        named = [(name, path) for name, paths in self.predicates.items() for path in paths]
        said = (self.format, self.layout, self.delimiter, self.header, self.types, self.columns)
        return [FactFile(folder / path, *said, predicate, self.graph) for predicate, path in (*plain, *named)]


@dataclass(frozen=True, slots=True)
class PredictionsSection(SourceSection):
    """`table`: these are predictions of that table's target, rows of ids and values."""

    top_k: choices.TopK | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class HiddenSection:
    """Which rows of a table have a hidden target: by a column's values, by a condition, or listed in a file or a table."""

    column: str | None = None
    values: Annotated[tuple[Annotated[Any, _constant], ...], _SOME] | None = None
    where: str | None = None
    path: str | None = None
    database: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class TableSection:
    """A table with a key: where its rows are and what its columns mean."""

    path: choices.Name | None = None
    database: choices.Name | None = None
    table: str | None = None
    key: tuple[str, ...] = ()
    target: str | None = None
    hidden: HiddenSection | None = None
    types: dict[str, choices.ColumnType] = field(default_factory=dict)
    derived: dict[str, str] = field(default_factory=dict)
    reached: dict[str, str] = field(default_factory=dict)
    delimiter: choices.Delimiter | None = None
    format: choices.FileFormat | None = None

    def described(self, folder: Path) -> Table:
        said = _given(self, folder, "path", "database")
        hidden = None if self.hidden is None else _given(self.hidden, folder, "path", "database")
        return Table(said.pop("path", None), **(said | {"hidden": hidden}))


@dataclass(frozen=True, slots=True)
class FunctionSection:
    """A registered predicate: `module:function`, and whether it takes Arrow arrays."""

    call: str
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class RulesSection(RuleOptions):
    """The options describe the files of `path`; `text` is in our own language, and all of its rules count. `checks`: of columns."""

    path: Paths | None = None
    text: str | None = None
    checks: tuple[choices.Name, ...] = ()

    def files(self, folder: Path) -> list[RuleFile]:
        said = {option.name: getattr(self, option.name) for option in fields(RuleOptions)}
        return [RuleFile(folder / path, **said) for path in self.path or ()]


@dataclass(frozen=True, slots=True)
class RefutationSection:
    """Declarations of the rule language, as lists."""

    incompatible: tuple[Annotated[Any, _group], ...] = ()
    extract_incompatible: bool = False
    closed: tuple[str, ...] = ()
    functional: tuple[str, ...] = ()
    pca: tuple[str, ...] = ()
    refute: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateSection:
    """A gate: its condition, severity and models."""

    fail_if: choices.Name
    severity: choices.GateSeverity = choices.GateSeverity.ERROR
    models: Annotated[tuple[choices.Name, ...], _SOME] | None = None


@dataclass(frozen=True, slots=True)
class TruthSection:
    """The held-out facts or values, and how ranks are counted."""

    path: Paths | None = None
    tables: dict[str, choices.Name] = field(default_factory=dict)
    known: tuple[choices.Name, ...] = ()
    filter: bool = True
    ties: choices.Ties | None = None
    hits: Annotated[tuple[choices.AtLeastOne, ...], _SOME] = (1, 3, 10)
    task: choices.ValueTask | None = None
    domains: choices.Name | None = None
    types: tuple[choices.Name, ...] = ()

    def described(self, folder: Path) -> Truth:
        """These tables, with paths that begin at a folder."""
        sources: list[object] = [folder / path for path in self.path or ()]
        sources += [{name: folder / path} for name, path in self.tables.items()]
        return Truth(
            sources or None,
            known=[folder / path for path in self.known] or None,
            filter=self.filter,
            ties=self.ties,
            hits=self.hits,
            task=self.task,
            domains=folder / self.domains if self.domains not in (None, OBSERVED) else self.domains,
            types=[folder / path for path in self.types] or None,
        )


@dataclass(frozen=True, slots=True)
class LabelsSection:
    path: Paths = ()


@dataclass(frozen=True, slots=True)
class OutputSection:
    folder: str | None = None
    plots: str | None = None
    formats: tuple[choices.OutputFormat, ...] = ()


Sources = Annotated[tuple[SourceSection, ...], _as_tables]


@dataclass(frozen=True, slots=True)
class ProjectSections:
    facts: Sources = ()
    negatives: Sources = ()
    predictions: dict[str, Annotated[tuple[PredictionsSection, ...], _as_tables]] = field(default_factory=dict)
    tables: dict[str, TableSection] = field(default_factory=dict)
    functions: dict[str, Annotated[FunctionSection, _short_for("call")]] = field(default_factory=dict)
    rules: Annotated[RulesSection, _as_table] = RulesSection()
    sql_rules: tuple[SqlRule, ...] = ()
    refutation: RefutationSection = RefutationSection()
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    engine: EngineOptions = field(default_factory=EngineOptions)
    output: OutputSection = OutputSection()
    gates: dict[str, Annotated[GateSection, _short_for("fail_if")]] = field(default_factory=dict)
    truth: Annotated[TruthSection, _as_table] | None = None
    labels: Annotated[LabelsSection, _as_table] = LabelsSection()


def _given(section: TableSection | HiddenSection, folder: Path, *paths: str) -> dict[str, Any]:
    """The keys of a section that are given, with paths that begin at a folder."""
    said = {key.name: getattr(section, key.name) for key in fields(section)}
    return {key: folder / value if key in paths else value for key, value in said.items() if value is not None}
