"""A schema of the user's database in the published layout, as tables of facts and of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from rulescore.engines.base import Engine
from rulescore.engines.catalogue import SchemaCatalogue, StoredColumn, listed, refuse_unreadable
from rulescore.errors import Diagnostic, InputError, meant
from rulescore.loading.stored import catalogue_of
from rulescore.readers.layout import MODEL
from rulescore.setting.model import ColumnIn, FactSource, FactTable, ModelPredictions, PublishedFacts, Setting
from rulescore.setting.request import FactFile, Request
from rulescore.sql import stored as sql
from rulescore.sql.published import HIDDEN, MADE_HERE, NAMES, OBSERVED, PREDICTED, PredicateTable, argument_columns
from rulescore.sql.query import alias, select
from rulescore.sql.stored import StoredFacts

# A column that tables of the published layout have beside their arguments.
_TAG = "tag"


@dataclass(frozen=True, slots=True)
class Expanded:
    """A setting in which published sources are tables and models. `tables`: the tables of the predicates, if all facts and
    predictions come from one published schema."""

    setting: Setting
    tables: Mapping[str, PredicateTable] | None = None


def expanded(engine: Engine, setting: Setting) -> Expanded:
    """The setting with its published sources replaced by their tables and models."""
    layouts = [one for one in setting.observed if isinstance(one, PublishedFacts)]
    if not layouts:
        return Expanded(setting)
    observed: list[FactSource] = [one for one in setting.observed if not isinstance(one, PublishedFacts)]
    models: dict[str, list[FactSource]] = {}
    tables: dict[str, PredicateTable] = {}
    for layout in layouts:
        found = _Published(engine, layout)
        tables |= found.tables()
        observed += found.observed()
        for model, sources in found.models().items():
            models.setdefault(model, []).extend(sources)
    predictions = (*setting.predictions, *(ModelPredictions(model, tuple(models[model])) for model in sorted(models)))
    alone = len(setting.observed) == 1 and not setting.predictions
    return Expanded(replace(setting, observed=tuple(observed), predictions=predictions), tables if alone else None)


class _Published:
    """A schema in the published layout: every table with a subject, a tag and a model is a predicate's."""

    def __init__(self, engine: Engine, layout: PublishedFacts) -> None:
        self._engine, self._layout = engine, layout
        catalogue = published_catalogue(engine, layout.schema)
        tables = catalogue.tables_of(layout.schema)
        self._arguments = {name: found for name, columns in tables.items() if (found := _arguments(columns)) is not None}
        made_here = {one.name for one in catalogue.relations if one.schema == layout.schema and one.comment.startswith(MADE_HERE)}
        self._made_here = made_here if NAMES in made_here else set()
        self.predicates = self._names()
        if not self.predicates:
            raise InputError(self._none(catalogue))
        for table in self.predicates.values():
            for name in (_TAG, MODEL):
                refuse_unreadable(name, tables[table][name], f"{layout.schema}.{table}", layout.origin)
        self._marks = {table: self._marked(table) for table in self.predicates.values()}
        self._refuse_tags()

    def _marked(self, table: str) -> list[tuple[str, str | None]]:
        """The different tags of a table as text, each with the models it occurs with."""
        rows = self._engine.query(sql.different_values((self._layout.schema, table), _TAG, MODEL)).to_pylist()
        return [(row[_TAG], row[MODEL]) for row in rows if row[_TAG] is not None]

    def _refuse_tags(self) -> None:
        """Raises InputError for tags that no row has. A schema may hold only facts or only predictions, if its tags are the usual
        ones and no row has an unknown tag."""
        layout = self._layout
        found = {tag for marks in self._marks.values() for tag, _ in marks}
        unread = {tag for tag in found if not _is_tag(tag, (*layout.observed, *layout.predicted, HIDDEN))}
        parts = (("observed", layout.observed, OBSERVED), ("predicted", layout.predicted, PREDICTED))
        lacking = [one for one in parts if not any(_is_tag(tag, one[1]) for tag in found)]
        for what, tags, usual in lacking:
            if unread or tags != (usual,) or len(lacking) == len(parts):
                message = f"no row of schema `{layout.schema}` has the tag of {what} facts, {_numbers(tags)}"
                notes = (f"tags of its rows are {listed(sorted(found))}",)
                raise InputError(Diagnostic("E923", message, notes=notes, helps=(f"give them as `tags = {{ {what} = … }}`",)))

    def _none(self, catalogue: SchemaCatalogue) -> Diagnostic:
        notes = ("a predicate's table has the columns `subject`, `object`, `tag` and `model`",)
        others = [one for one in catalogue.schemas() if one != self._layout.schema]
        helps = meant(self._layout.schema, others) or ("`rulescore load` writes this layout",)
        return Diagnostic("E923", f"schema `{self._layout.schema}` has no table of a predicate", notes=notes, helps=helps)

    def _names(self) -> dict[str, str]:
        """The table of each predicate. If `rulescore load` made it, a table of names says which; else it has the predicate's
        name."""
        own = {name: name for name in self._arguments if name not in self._made_here}
        if not self._made_here:
            return own
        path = (self._layout.schema, NAMES)
        s = alias("s")
        query = select(s.name, s.table_name).where(s.kind == "predicate")
        rows = self._engine.query(StoredFacts(path, (), {}).rows(query)).to_pylist()
        return own | {row["name"]: row["table_name"] for row in rows if row["table_name"] in self._arguments}

    def tables(self) -> dict[str, PredicateTable]:
        layout = self._layout
        return {
            predicate: PredicateTable((layout.schema, one), layout.observed, layout.predicted, one in self._made_here)
            for predicate, one in self.predicates.items()
        }

    def observed(self) -> Iterator[FactTable]:
        for predicate, table in self.predicates.items():
            if tags := self._tags(table, self._layout.observed):
                yield self._facts(predicate, table, (ColumnIn(_TAG, tags),), predictions=False)

    def models(self) -> dict[str, list[FactTable]]:
        found: dict[str, list[FactTable]] = {}
        for predicate, table in self.predicates.items():
            tags = self._tags(table, self._layout.predicted)
            for model in dict.fromkeys(model for tag, model in self._marks[table] if tag in tags):
                if model is None:
                    message = f"`{self._layout.schema}.{table}` has predictions whose `model` is missing"
                    notes = (f"predictions have the tag {_numbers(self._layout.predicted)}",)
                    raise InputError(Diagnostic("E923", message, notes=notes))
                only = (ColumnIn(_TAG, tags), ColumnIn(MODEL, (model,)))
                found.setdefault(model, []).append(self._facts(predicate, table, only, predictions=True))
        return found

    def _tags(self, table: str, numbers: Sequence[int]) -> tuple[str, ...]:
        """The tags of a table that equal one of the numbers."""
        return tuple(sorted({tag for tag, _ in self._marks[table] if _is_tag(tag, numbers)}))

    def _facts(self, predicate: str, table: str, only: tuple[ColumnIn, ...], *, predictions: bool) -> FactTable:
        file = FactFile(table, predicate=predicate, columns={"arguments": self._arguments[table]})
        request = Request(self._layout.origin, file, predictions)
        path = (self._layout.schema, table)
        return FactTable(".".join(path), request, only, keys=table in self._made_here, path=path)


def _is_tag(text: str, numbers: Sequence[int]) -> bool:
    """Whether a tag equals one of the numbers, however its column writes numbers."""
    try:
        return Decimal(text) in numbers
    except InvalidOperation:
        return False


def _numbers(tags: Sequence[int]) -> str:
    return ", ".join(map(str, tags))


def _arguments(columns: Mapping[str, StoredColumn]) -> list[str] | None:
    """The columns of a predicate's arguments; None for any other table."""
    if not {_TAG, MODEL} <= columns.keys():
        return None
    arity = len(columns)
    found = [name for name in argument_columns(arity) if name in columns]
    return found if found and found == argument_columns(len(found)) else None


def published_catalogue(engine: Engine, schema: str) -> SchemaCatalogue:
    """The catalogue of an engine that supports the published layout. InputError for any other engine."""
    found = catalogue_of(engine, f"schema `{schema}`")
    if not isinstance(found, SchemaCatalogue):
        helps = ("name its tables one by one: `database_table`, `database_predicates`",)
        raise InputError(Diagnostic("E923", f"schema `{schema}`: only PostgreSQL has the published layout", helps=helps))
    return found
