"""Options and the sections of a project file, checked by pydantic and reported in this package's own way."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from rulescore.arguments.rule_sources import RuleFile
from rulescore.arguments.tables import Table
from rulescore.arguments.truth import OBSERVED, Truth
from rulescore.errors import Diagnostic, Place, masked, meant
from rulescore.language.formats.base import FormatName
from rulescore.language.sources import WeighBy
from rulescore.language.syntax import Kind
from rulescore.setting.gates import GateSeverity
from rulescore.setting.model import Convention, EngineOptions, PublishedFacts, Role, ScoringOptions, SqlRule, Ties, ValueTask
from rulescore.setting.outputs import OutputFormat
from rulescore.setting.request import DELIMITERS_ARE, Arrangement, ColumnType, FactFile, FileFormat, is_delimiter


def _memory(text: str) -> str:
    if not re.fullmatch(r"\d+(\.\d+)? ?([KMGT]i?)?B", text):
        raise ValueError("expected an amount like `4GB` or `512MiB`")
    return text


def _one_character(text: str) -> str:
    if not is_delimiter(text):
        raise ValueError(DELIMITERS_ARE)
    return text


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


Memory = Annotated[str, AfterValidator(_memory)]
Delimiter = Annotated[str, AfterValidator(_one_character)]
Paths = Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_listed), Field(min_length=1)]
Name = Annotated[str, Field(min_length=1)]
Numbers = Annotated[list[int], BeforeValidator(_numbers), Field(min_length=1)]
AtLeastOne = Annotated[int, Field(ge=1)]
Threads = Annotated[int, Field(ge=1, le=1_024)]
"""Bounded because an engine starts more threads than the machine has cores, until the system refuses."""
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]

# The words of a choice arrive as text; everything else must be of its own type.
_Word = Field(strict=False)
ConventionWord = Annotated[Convention, _Word]
RoleWord = Annotated[Role, _Word]
KindWord = Annotated[Kind, _Word]
FormatWord = Annotated[FileFormat, _Word]
LayoutWord = Annotated[Arrangement, _Word]
TypeWord = Annotated[ColumnType, _Word]
GateSeverityWord = Annotated[GateSeverity, _Word]
TiesWord = Annotated[Ties, _Word]
ValueTaskWord = Annotated[ValueTask, _Word]
WeighByWord = Annotated[WeighBy, _Word]
RuleFormatWord = Annotated[FormatName, _Word]
OutputWord = Annotated[OutputFormat, _Word]


class Section(BaseModel):
    """Keys that are not listed are errors, and nothing is converted from one type to another."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TagsSection(Section):
    """The numbers that say in a published layout which rows are observed and which predicted."""

    observed: Numbers = [0]
    predicted: Numbers = [1]


class SourceSection(Section):
    """Where facts are and how they are written; or which tables of the engine's own database hold them."""

    path: Paths | None = None
    predicates: dict[str, Paths] = {}
    format: FormatWord | None = None
    layout: LayoutWord | None = None
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

    path: Annotated[str, Field(min_length=1)] | None = None
    database: Annotated[str, Field(min_length=1)] | None = None
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

    name: Annotated[str, Field(min_length=1)]
    statement: Annotated[str, Field(min_length=1)]
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
    format: RuleFormatWord | None = None
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    min_support: Annotated[int, Field(ge=0)] | None = None
    max_length: AtLeastOne | None = None
    head: Annotated[list[str], BeforeValidator(_listed)] = []
    weigh_by: WeighByWord | None = None

    def files(self, folder: Path) -> list[RuleFile]:
        wanted = (self.format, self.min_confidence, self.min_support, self.max_length, self.head, self.weigh_by)
        return [RuleFile(folder / path, *wanted) for path in self.path or ()]


class RefutationSection(Section):
    """Declarations of the rule language, as lists."""

    incompatible: list[Annotated[Any, BeforeValidator(_group)]] = []
    extract_incompatible: bool = False
    closed: Annotated[list[str], BeforeValidator(_listed)] = []
    functional: list[str] = []
    refute: list[str] = []


class ScoringSection(Section):
    convention: ConventionWord = Convention.DEFINITION
    distinct_variables: bool | None = None
    roles: list[RoleWord] | None = None
    weights: dict[str, Weight] = {}
    kinds: dict[str, KindWord] = {}
    allow_unrefutable: bool = False

    def options(self) -> ScoringOptions:
        roles = None if self.roles is None else frozenset(self.roles)
        weights, kinds = dict(self.weights), dict(self.kinds)
        return ScoringOptions(self.convention, self.distinct_variables, roles, weights, kinds, self.allow_unrefutable)


class EngineSection(Section):
    url: str = "duckdb"
    memory_limit: Memory | None = None
    threads: Threads | None = None
    spill_folder: str | None = None
    timeout: Seconds | None = None

    def options(self, folder: Path) -> EngineOptions:
        spill = None if self.spill_folder is None else folder / self.spill_folder
        return EngineOptions(self.url, self.memory_limit, self.threads, spill, self.timeout)


class GateSection(Section):
    """What a model must not do: the text of a gate, how much that matters, and the models it is for."""

    fail_if: Name
    severity: GateSeverityWord = GateSeverity.ERROR
    models: Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)] | None = None


class TruthSection(Section):
    """What is held out, and how ranks are counted."""

    path: Paths | None = None
    tables: dict[str, Name] = {}
    known: Annotated[list[Name], BeforeValidator(_listed)] = []
    filter: bool = True
    ties: TiesWord | None = None
    hits: Annotated[list[AtLeastOne], BeforeValidator(_numbers), Field(min_length=1)] = [1, 3, 10]
    task: ValueTaskWord | None = None
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
    formats: list[OutputWord] = []


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
    scoring: ScoringSection = ScoringSection()
    engine: EngineSection = EngineSection()
    output: OutputSection = OutputSection()
    gates: dict[str, Annotated[GateSection, BeforeValidator(_as_gate)]] = {}
    truth: Annotated[TruthSection, BeforeValidator(_as_table)] | None = None


class CallOptions(Section):
    """The options of the Python functions that belong to no section."""

    top_k: AtLeastOne | None = None
    delimiter: Delimiter | None = None
    header: bool | None = None


SectionType = TypeVar("SectionType", bound=Section)
Location = tuple[int | str, ...]
Placer = Callable[[Location], Place | None]


def checked(
    section: type[SectionType], values: Mapping[str, Any], problems: list[Diagnostic], place: Placer = lambda _: None
) -> SectionType | None:
    """A section of these values; None if they are wrong: then each problem goes to `problems`, with its place."""
    try:
        return section.model_validate(dict(values))
    except ValidationError as error:
        problems.extend(_diagnose(item, section, place) for item in error.errors())
        return None


def _diagnose(item: ErrorDetails, section: type[Section], place: Placer) -> Diagnostic:
    location = item["loc"]
    words = [part for part in location if isinstance(part, str)]
    key = words[-1] if words else ""
    where = place(location)
    match item["type"]:
        case "extra_forbidden":
            known = _keys_beside(section, location)
            helps = (_TRUST_ELSEWHERE,) if key in ("trust", "trusted") else meant(key, known)
            within = f" in `{'.'.join(words[:-1])}`" if words[:-1] else ""
            notes = (f"known keys are {', '.join(known)}",)
            return Diagnostic("E401", f"unknown key `{key}`{within}", where, notes=notes, helps=helps)
        case "missing":
            return Diagnostic("E404", f"`{'.'.join(words)}` is missing", where)
        case "enum":
            allowed = re.findall(r"'([^']*)'", str(item.get("ctx", {}).get("expected", "")))
            helps = meant(str(item["input"]), allowed)
            message = f"`{'.'.join(words)}` is `{_shown(item['input'])}`"
            return Diagnostic("E402", message, where, notes=(f"it is one of {', '.join(allowed)}",), helps=helps)
        case _:
            said = "not what it should be" if _may_be_secret(words, item["input"]) else f"`{_shown(item['input'])}`"
            message = f"`{'.'.join(words)}` is {said}"
            return Diagnostic("E402", message, where, notes=(_expectation(item),))


_TRUST_ELSEWHERE = (
    "a file cannot say that it is trusted: leave the key out, and say it where you run the file, with `rulescore trust`, `--trust` "
    "or `RULESCORE_TRUST=1`"
)

_EXPECTATIONS = {
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "finite_number": "expected a finite number",
    "string_too_short": "expected some text",
    "too_short": "expected at least one",
}


def _expectation(item: ErrorDetails) -> str:
    if item["type"] == "greater_than_equal":
        return f"expected a number from {item['ctx']['ge']:g}"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    return _EXPECTATIONS.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])


def _may_be_secret(words: Sequence[str], value: object) -> bool:
    """Whether a value may be an address with a password, or hold one, in whatever form it is given."""
    return words[:1] == ["engine"] and (words[-1] in {"engine", "url"} or isinstance(value, list | dict))


def _shown(value: object) -> str:
    # We mask passwords before we cut the text: we would not recognise an address without its end.
    text = masked(value if isinstance(value, str) else repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _keys_beside(section: type[Section], location: Location) -> list[str]:
    """The known keys of the section in which an unknown key stands."""
    for part in location[:-1]:
        if isinstance(part, str) and part in section.model_fields:
            section = _section_within(section.model_fields[part].annotation) or section
    return list(section.model_fields)


def _section_within(annotation: object) -> type[Section] | None:
    if isinstance(annotation, type) and not isinstance(annotation, UnionType) and not get_args(annotation):
        return annotation if issubclass(annotation, Section) else None
    return next((found for part in get_args(annotation) if (found := _section_within(part)) is not None), None)
