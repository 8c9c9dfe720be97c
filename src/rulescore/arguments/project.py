"""The project file `rulescore.toml`, a setting on disk, and the deeds for which the user must trust it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from rulescore.arguments.project_file import Location, ProjectFile, read_project
from rulescore.arguments.rule_sources import imported, rule_sources
from rulescore.arguments.sections import (
    GateSection,
    PredictionsSection,
    RefutationSection,
    SourceSection,
)
from rulescore.arguments.tables import (
    keyed_tables,
    predicts_values,
    table_predictions,
    target_table,
    the_target_table,
    unnamed_target,
)
from rulescore.arguments.truth import held_out
from rulescore.errors import Diagnostic, InputError, Place, Source, Span, attempt, masked, masked_address, refuse
from rulescore.errors.texts import visible
from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.incompatible import IncompatibleGroup
from rulescore.language.printer import print_statement
from rulescore.language.syntax import ExtractIncompatible
from rulescore.readers.labels import labels_of
from rulescore.readers.sources import observed_streams, prediction_streams
from rulescore.setting.choices import Arrangement, Deed, OutputFormat
from rulescore.setting.model import (
    ColumnChoice,
    DatabaseTable,
    FactFile,
    FactSource,
    FactTable,
    Function,
    GateText,
    HeldOut,
    KeyedTable,
    ModelPredictions,
    Request,
    Setting,
    TablePredictions,
)

ALL_DEEDS = frozenset(Deed)

VARIABLE = "RULESCORE_TRUST"
"""The environment variable: if it is 1, every project file is trusted."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a project file asks for."""

    deed: Deed
    words: str
    place: Place | None

    @property
    def line(self) -> str:
        """Its place in the file, for the beginning of a line of a message."""
        return "" if self.place is None or self.place.line is None else f"line {self.place.line}: "


def refuse_untrusted(file: ProjectFile, does: Collection[Deed]) -> None:
    """Raises an error that lists the wishes of an untrusted file, as far as this command would fulfil them."""
    wanted = [wish for wish in wishes(file) if wish.deed in does]
    if not wanted or os.environ.get(VARIABLE) == "1":
        return
    helps = (
        f"read it and the files it names; if you trust them: `--trust`, or `{VARIABLE}=1` in the environment; in Python, "
        "`trusted=True`",
    )
    notes = tuple(f"{wish.line}it {wish.words}" for wish in wanted)
    message = "the project file is not trusted, but asks for something that only a trusted one may do"
    raise InputError(Diagnostic("E411", message, Place(str(file.path)), notes=notes, helps=helps))


def wishes(file: ProjectFile) -> list[Wish]:
    """Everything a project file asks for that needs trust, in the order of its lines."""
    return sorted(_wishes(file), key=lambda wish: wish.place.line or 0 if wish.place is not None else 0)


def _wishes(file: ProjectFile) -> Iterator[Wish]:
    sections, place = file.sections, file.place
    for name, function in sections.functions.items():
        words = f"imports a module and calls {_quoted(function.call)}, for the predicate {_quoted(name)}"
        yield Wish(Deed.CODE, words, place(("functions", name)))
    for number, rule in enumerate(sections.sql_rules):
        yield Wish(Deed.SQL, f"runs the SQL of the rule {_quoted(rule.name)}", place(("sql_rules", number, "name")))
    if sections.engine.url != "duckdb":
        yield Wish(Deed.ENGINE, f"works on the server {_quoted(masked_address(sections.engine.url))}", place(("engine", "url")))
    for name, table in sections.tables.items():
        for section, keys in ((table, ()), (table.hidden, ("hidden",))):
            if section is not None and section.database is not None:
                words = f"opens the database file {_quoted(section.database)}"
                yield Wish(Deed.DATABASE, words, place(("tables", name, *keys, "database")))
    engine, output = sections.engine, sections.output
    folders: tuple[tuple[Deed, str, str | Path | None, Location], ...] = (
        (Deed.SPILL, "puts what does not fit into memory into", engine.spill_folder, ("engine", "spill_folder")),
        (Deed.OUTPUT, "writes results into", output.folder, ("output", "folder")),
        (Deed.PLOTS, "writes figures into", output.plots, ("output", "plots")),
    )
    for deed, does, path, location in folders:
        if path is not None and _is_outside(file.folder, path):
            target = _followed(file.folder, path)
            leads = "" if Path(path) == target else f": {_quoted(str(target))}"
            yield Wish(deed, f"{does} {_quoted(str(path))}, outside its own folder{leads}", place(location))


def _quoted(text: str) -> str:
    return f"`{visible(masked(text))}`"


def folder_to_write(folder: Path, path: str | Path) -> Path:
    """A folder that a project file writes to. If it is outside, we follow links now, when we check trust, because they may lead
    elsewhere later."""
    return _followed(folder, path) if _is_outside(folder, path) else folder / path


def _followed(folder: Path, path: str | Path) -> Path:
    """Where a path leads after its links; the path itself, if the links lead nowhere."""
    try:
        return (folder / path).resolve()
    except (OSError, RuntimeError, ValueError):
        return folder / path


def _is_outside(folder: Path, path: str | Path) -> bool:
    """Whether a path leads out of a folder once links are followed."""
    return not _followed(folder, path).is_relative_to(folder.resolve())


_INLINE_RULES = re.compile(r"""^[ \t]*(?:rules[ \t]*\.[ \t]*)?text[ \t]*=[ \t]*(?:\"{3}|'{3})\r?\n""", re.MULTILINE)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Project:
    """What a project file describes: a setting, where and how to write results, and the gates that results must meet."""

    setting: Setting
    output_folder: Path | None = None
    plots_folder: Path | None = None
    formats: tuple[OutputFormat, ...] = ()
    gates: tuple[GateText, ...] = ()


def load_project(path: Path | str, *, trusted: bool = False, does: Collection[Deed] = ALL_DEEDS, rules: bool = True) -> Project:
    """Reads a project file; paths in it are relative to it. One error names all problems. `trusted`: the caller allows all that the
    file asks for. `does`: the deeds that the caller is going to do. If the caller runs no code, we know functions by name alone.
    `rules`: whether its rules are read."""
    file = read_project(Path(path))
    if not trusted:
        refuse_untrusted(file, does)
    return _SettingBuilder(file, calls=Deed.CODE in does).build(rules=rules)


def stored_facts(
    table: str,
    *,
    predicate: str | None = None,
    layout: Arrangement | str | None = None,
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]] | None = None,
    model: str | None = None,
) -> FactTable:
    """Facts in a table of the engine's own database. Without a predicate the columns' names decide: triples, or facts of the
    predicate that the table is named after. `model`: they are its predictions. If there is a column `model`, only its rows."""
    file = FactFile(table, layout=layout, columns=columns or {}, predicate=predicate)
    stem = table.rpartition(".")[2]
    return FactTable(table, Request(table, file, model is not None, by_names=True, stem=stem, stored=True), model=model)


def project_gates(file: ProjectFile) -> tuple[GateText, ...]:
    return tuple(_gate(file, name, section) for name, section in file.sections.gates.items())


def _gate(file: ProjectFile, name: str, section: GateSection) -> GateText:
    text, place = section.fail_if, file.place(("gates", name, "fail_if"))
    span = Span(Source(f"{file.path} (gates.{name})", text), 0, len(text))
    if place is not None and place.line is not None and place.text is not None:
        # If the file holds the text unchanged behind its key, problems point to that place.
        column = place.text.find(text, (place.column or 0) + place.length)
        start = sum(len(line) + 1 for line in file.text.split("\n")[: place.line - 1]) + column
        span = Span(Source(str(file.path), file.text), start, start + len(text)) if column >= 0 else span
    return GateText(text, span, name, section.severity, section.models, file.place(("gates", name, "models")), file.folder)


class _SettingBuilder:
    """Turns checked sections into a project, gathering the problems of all of them."""

    def __init__(self, file: ProjectFile, *, calls: bool) -> None:
        self._file, self._calls = file, calls
        self._path, self._folder, self._sections, self._place = file.path, file.folder, file.sections, file.place
        self._problems: list[Diagnostic] = []

    def build(self, *, rules: bool) -> Project:
        sections = self._sections
        if not sections.facts and not sections.tables:
            helps = ("give `facts`, or `tables`",)
            self._problems.append(Diagnostic("E404", "`facts` is missing", self._place(()), helps=helps))
        described = {name: section.described(self._folder) for name, section in sections.tables.items()}
        placed = partial(keyed_tables, described, lambda location: self._place(location) or Place(str(self._path)))
        self._tables = self._attempt(("tables",), placed)
        spill, results, plots = (
            None if folder is None else folder_to_write(self._folder, folder)
            for folder in (sections.engine.spill_folder, sections.output.folder, sections.output.plots)
        )
        setting = Setting(
            observed=self._streams("facts", sections.facts),
            rules=tuple(self._rules()) if rules else (),
            predictions=tuple(self._model(name, parts) for name, parts in sections.predictions.items()),
            negatives=self._streams("negatives", sections.negatives),
            scoring=sections.scoring,
            engine=replace(sections.engine, spill_folder=spill),
            tables=self._tables,
            functions=tuple(self._functions()),
            sql_rules=tuple(
                replace(rule, place=self._place(("sql_rules", number, "name"))) for number, rule in enumerate(sections.sql_rules)
            ),
            truth=self._truth(),
            labels=self._labels(),
        )
        refuse(self._problems)
        return Project(setting, results, plots, sections.output.formats, project_gates(self._file))

    def _truth(self) -> HeldOut | None:
        section = self._sections.truth
        if section is None or len(self._tables) < len(self._sections.tables):
            return None
        described = section.described(self._folder)
        truth = self._attempt(("truth",), lambda: (held_out(described, self._tables, facts=bool(self._sections.facts)),))
        return next(iter(truth), None)

    def _labels(self) -> dict[str, str]:
        paths = [self._folder / path for path in self._sections.labels.path]
        return dict(self._attempt(("labels",), lambda: tuple(labels_of(paths).items())))

    def _streams(self, key: str, sections: Sequence[SourceSection]) -> tuple[FactSource, ...]:
        files = [file for number, section in enumerate(sections) for file in self._files((key, number), section)]
        streams = self._attempt((key,), partial(observed_streams, files)) if files else ()
        tables = [table for number, section in enumerate(sections) for table in self._stored((key, number), section)]
        published = [facts for section in sections for facts in section.published()]
        if published and key != "facts":
            message = "`database_schema` is for facts: it has observed ones and predictions"
            self._problems.append(Diagnostic("E402", message, self._place((key,))))
        return (*streams, *tables, *published)

    def _functions(self) -> Iterator[Function]:
        for name, section in self._sections.functions.items():
            folder = self._folder if self._calls else None
            yield from self._attempt(("functions", name), partial(imported, name, section.call, section.arrow, folder))

    def _model(self, name: str, sections: Sequence[PredictionsSection]) -> ModelPredictions:
        """The union of a model's parts."""
        parts = [self._part(name, ("predictions", name, number), section) for number, section in enumerate(sections)]
        chosen = {part.top_k: number for number, part in enumerate(parts) if part.top_k is not None}
        if len(chosen) > 1:
            (first, _), (other, number), *_ = chosen.items()
            message = f"`top_k` of model `{name}` is {first} in one part and {other} in another"
            self._problems.append(Diagnostic("E402", message, self._place(("predictions", name, number, "top_k"))))
        streams = tuple(stream for part in parts for stream in part.streams)
        return ModelPredictions(name, streams, next(iter(chosen), None), tuple(table for part in parts for table in part.tables))

    def _part(self, name: str, location: Location, section: PredictionsSection) -> ModelPredictions:
        if len(self._tables) < len(self._sections.tables):  # if a table could not be read, we do not know every target
            return ModelPredictions(name, ())
        if (table := self._table_of(location, section)) is not None:
            return self._table_model(name, location, section, table)
        if section.table is None and self._tables and any(predicts_values(self._folder / path) for path in section.path or ()):
            self._problems.append(replace(unnamed_target(name, self._tables), place=self._place(location)))
            return ModelPredictions(name, ())
        files = self._files(location, section)
        streams = self._attempt(location, partial(prediction_streams, files)) if files else ()
        if section.database_schema is not None:
            message = "`database_schema` has models of its own"
            helps = ("give it in `facts`",)
            self._problems.append(Diagnostic("E402", message, self._place((*location, "database_schema")), helps=helps))
        return ModelPredictions(name, (*streams, *self._stored(location, section, name)), section.top_k)

    def _stored(self, location: Location, section: SourceSection, model: str | None = None) -> Iterator[FactTable]:
        for predicate, table in section.tables():
            stored = stored_facts(table, predicate=predicate, layout=section.layout, columns=section.columns, model=model)
            yield replace(stored, place=self._named_at(location, predicate))

    def _named_at(self, location: Location, predicate: str | None = None) -> Place | None:
        """Where a table of the engine's database is named."""
        return self._place((*location, "database_table") if predicate is None else (*location, "database_predicates", predicate))

    def _table_of(self, location: Location, section: PredictionsSection) -> KeyedTable | None:
        """The table whose target a model predicts: the table that it names or, if there are no facts to predict, the only table."""
        if section.table is not None:
            name = section.table
            return next(iter(self._attempt((*location, "table"), lambda: (target_table(name, self._tables),))), None)
        return None if self._sections.facts else the_target_table(self._tables)

    def _table_model(self, name: str, location: Location, section: PredictionsSection, table: KeyedTable) -> ModelPredictions:
        others = ("predicates", "layout", "header", "types", "columns", "database_predicates", "database_schema", "tags")
        for key in section.given_keys(*others):
            message = f"`{key}` says nothing of predictions for a table"
            notes = ("they have the columns of its key, and `prediction`",)
            self._problems.append(Diagnostic("E402", message, self._place((*location, key)), notes=notes))
        if section.path is None and section.database_table is None:
            helps = ("give `path`, or `database_table`",)
            self._problems.append(Diagnostic("E404", "`predictions` names no file", self._place(location), helps=helps))
        streams = tuple(
            stream
            for path in section.path or ()
            for stream in self._attempt(location, partial(_predicted, table, self._folder / path, section))
        )
        if section.database_table is not None:
            stored = DatabaseTable(None, section.database_table, place=self._named_at(location))
            streams += (TablePredictions(table.name, stored),)
        return ModelPredictions(name, (), section.top_k, streams)

    def _files(self, location: Location, section: SourceSection) -> list[object]:
        files = section.files(self._folder)
        if section.in_database:
            self._refuse_file_keys(location, section)
        if not files and not section.in_database:
            message = f"`{location[0]}` names no file"
            helps = ("give `path`, or `predicates` with a path for each predicate",)
            self._problems.append(Diagnostic("E404", message, self._place(location), helps=helps))
        return list(files)

    def _refuse_file_keys(self, location: Location, section: SourceSection) -> None:
        """Report keys that describe files: tables have names and types of their own."""
        keys = ["path", "predicates", "format", "delimiter", "header", "types"]
        keys += ["layout", "columns"] if section.database_schema is not None else ["tags"]
        for key in section.given_keys(*keys):
            message = f"`{key}` says nothing of tables of the engine's database"
            helps = ("describe files and tables apart",)
            self._problems.append(Diagnostic("E402", message, self._place((*location, key)), helps=helps))

    def _rules(self) -> Iterator[Source]:
        section = self._sections.rules
        for file in section.files(self._folder):
            yield from self._attempt(("rules",), partial(rule_sources, file))
        if section.text is not None:
            if (match := _INLINE_RULES.search(self._file.text)) is None:
                yield Source(f"{self._path} (rules.text)", section.text, self._folder)
            else:
                # Rules in the project file keep the lines they stand on, so problems point into that file.
                lines_before = self._file.text.count("\n", 0, match.end())
                yield Source(str(self._path), "\n" * lines_before + section.text, self._folder)
        if section.checks:
            statements = [_statement("", text) for text in section.checks]
            yield Source(f"{self._path} (rules.checks)", "\n".join(statements) + "\n")
        if statements := list(_refutation_statements(self._sections.refutation)):
            yield Source(f"{self._path} (refutation)", "\n".join(statements) + "\n")

    def _attempt(self, location: Location, make: Callable[[], tuple[Found, ...]]) -> tuple[Found, ...]:
        """What `make` makes. We keep its problems. A problem without a place gets the place of its key."""
        return attempt(self._problems, make, (), lambda: self._place(location))


def _predicted(table: KeyedTable, path: Path, section: PredictionsSection) -> tuple[TablePredictions]:
    return (table_predictions(table, path, str(path), section.delimiter, section.format),)


def _refutation_statements(section: RefutationSection) -> Iterator[str]:
    """The declarations as the rule language writes them."""
    for group in section.incompatible:
        yield _statement("incompatible", group) if isinstance(group, str) else print_statement(IncompatibleGroup(tuple(group)))
    if section.extract_incompatible:
        yield print_statement(ExtractIncompatible())
    for predicate in section.closed:
        yield print_statement(Closed(None if predicate == "*" else predicate))
    for keyword in ("functional", "pca", "refute"):
        for text in getattr(section, keyword):
            yield _statement(keyword, text)


def _statement(keyword: str, text: str) -> str:
    return f"{keyword} {text.strip().removesuffix('.')}.".strip()
