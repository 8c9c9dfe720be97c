"""The attributes of tables with keys: their types, their definitions, and the columns that we must read for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.errors import Diagnostic, Span, meant, ticked
from rulescore.language.syntax import Attribute, Comparison, Condition, Expression, Membership, Test, Variable
from rulescore.language.trees import conditions_in, nodes_in
from rulescore.logic.tolerances import as_comparison
from rulescore.logic.types import Typing, agree, type_of_value, with_article
from rulescore.readers.table_rows import value_type
from rulescore.setting.model import HiddenColumn, HiddenIds, HiddenWhere, KeyedTable, Reached
from rulescore.values import DURATIONS, ValueType


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table and its attributes. `stored`: its columns, with their stored types. `attributes`: columns, reached and derived
    attributes, with the types of their values; None if a value cannot have the type."""

    table: KeyedTable
    stored: Mapping[str, pa.DataType]
    attributes: Mapping[str, ValueType | None]

    @property
    def reached(self) -> dict[str, Reached]:
        return {reached.attribute: reached for reached in self.table.reached}

    @property
    def derived(self) -> dict[str, Expression]:
        return {derived.attribute: derived.value for derived in self.table.derived}

    @property
    def from_target(self) -> frozenset[str]:
        """The attributes that change with the target: the target itself, and those computed from it."""
        target = self.table.target
        return frozenset(name for name in self.attributes if target in self.base_of(name)) if target else frozenset()

    def base_of(self, attribute: str, above: tuple[str, ...] = ()) -> Iterator[str]:
        """The columns and reached attributes from which an attribute is computed. If it is a column or reached: itself. `above`:
        the attributes that are computed from it, which come up again if a definition is circular."""
        definition = self.derived.get(attribute)
        if definition is None:
            yield attribute
            return
        for part in attributes_in(definition):
            if part.name not in above:
                yield from self.base_of(part.name, (*above, attribute))

    def hidden_by(self) -> Iterator[str]:
        """The attributes that tell which rows are hidden."""
        match self.table.hidden:
            case HiddenColumn(column):
                yield column
            case HiddenWhere(condition):
                yield from (attribute.name for attribute in attributes_in(condition))
            case HiddenIds() | None:
                return


@dataclass(frozen=True, slots=True)
class Need:
    """What we read of a table. `kept`: the attributes that stay, in this order: the key, the target, the attributes that rules
    name. `base`: the columns and reached attributes from which we compute these and the hidden rows. `columns`: all columns that we
    read, also for other tables."""

    kept: tuple[str, ...]
    base: tuple[str, ...]
    columns: tuple[str, ...]


def attributes_in(node: Condition | Expression) -> Iterator[Attribute]:
    return (part for part in nodes_in(node) if isinstance(part, Attribute))


def needs(shapes: Mapping[str, TableShape], used: Mapping[str, Collection[str]]) -> dict[str, Need]:
    """What we must read of each table that has a key, or that leads to a reached attribute. `used`: the attributes that rules name;
    if one does not exist, the check of the rule reports it."""
    bases: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    columns: dict[str, dict[str, None]] = {}
    for name, shape in shapes.items():
        table = shape.table
        if not table.key:
            continue
        target = (table.target,) if table.target else ()
        named = sorted(set(used.get(name, ())) & shape.attributes.keys())
        kept = tuple(dict.fromkeys((*table.key, *target, *named)))
        base = tuple(dict.fromkeys(part for name in (*kept, *shape.hidden_by()) for part in shape.base_of(name)))
        bases[name] = (kept, base)
        columns.setdefault(name, {}).update(dict.fromkeys(part for part in base if part in shape.stored))
        for part in base:
            if part in shape.reached:
                _passed(name, shape.reached[part], columns)
    return {name: Need(*bases.get(name, ((), ())), tuple(stored)) for name, stored in columns.items()}


def _passed(table: str, reached: Reached, columns: dict[str, dict[str, None]]) -> None:
    for hop in reached.hops:
        columns.setdefault(table, {})[hop.column] = None
        columns.setdefault(hop.table, {})[hop.other] = None
        table = hop.table
    columns[table][reached.column] = None


def untyped_shapes(tables: Sequence[KeyedTable], schemas: Mapping[str, pa.Schema]) -> dict[str, TableShape]:
    """The shapes of tables whose types and definitions we have not checked yet."""
    shapes = {}
    for table in tables:
        stored = _stored(schemas[table.name])
        names = (*stored, *(part.attribute for part in table.reached), *(part.attribute for part in table.derived))
        shapes[table.name] = TableShape(table, stored, dict.fromkeys(names))
    return shapes


def table_shapes(tables: Sequence[KeyedTable], schemas: Mapping[str, pa.Schema]) -> tuple[dict[str, TableShape], list[Diagnostic]]:
    """The shapes of tables with these columns, and the errors of their definitions."""
    problems = [
        Diagnostic("E204", f"two tables are named `{name}`")
        for name in dict.fromkeys(table.name for table in tables)
        if sum(table.name == name for table in tables) > 1
    ]
    known = {table.name: table for table in tables}
    shapes = {
        name: TableShape(table, stored := _stored(schemas[name]), {column: value_type(kind) for column, kind in stored.items()})
        for name, table in known.items()
    }
    checks = {name: _Check(shape, shapes, problems, _repeated(schemas[name])) for name, shape in shapes.items()}
    return {name: check.run() for name, check in checks.items()}, problems


def _stored(schema: pa.Schema) -> dict[str, pa.DataType]:
    """The columns by name. If several columns have one name, we leave them out, because we cannot tell which a user means."""
    return {name: kind for name, kind in zip(schema.names, schema.types, strict=True) if schema.names.count(name) == 1}


def _repeated(schema: pa.Schema) -> frozenset[str]:
    return frozenset(name for name in schema.names if schema.names.count(name) > 1)


class _Check:
    """Finds the attributes of one table and all its errors. `columns`: all tables, with only their columns as attributes.
    `repeated`: the names that several columns of this table have."""

    def __init__(
        self, shape: TableShape, columns: Mapping[str, TableShape], problems: list[Diagnostic], repeated: frozenset[str]
    ) -> None:
        self._shape, self._columns, self._problems, self._repeated = shape, columns, problems, repeated
        self._table = shape.table
        self._types: dict[str, ValueType | None] = dict(shape.attributes)

    def run(self) -> TableShape:
        self._key_and_target()
        self._refuse_repeated_names()
        for reached in self._table.reached:
            self._types[reached.attribute] = self._reached_type(reached)
        if not self._cycles():
            for attribute in self._shape.derived:
                self._derived_type(attribute)
            self._hidden()
        return TableShape(self._table, self._shape.stored, self._types)

    def _problem(self, code: str, message: str, span: Span | None = None, *helps: str, notes: tuple[str, ...] = ()) -> None:
        place = self._table.place if span is None else span.place()
        self._problems.append(Diagnostic(code, message, place, notes=notes, helps=helps))

    def _key_and_target(self) -> None:
        table = self._table
        for what, column in (*(("key", name) for name in table.key), *((("target", table.target),) if table.target else ())):
            if column not in self._shape.stored:
                self._problem(
                    "E320",
                    f"table `{table.name}` has no column `{column}` for its {what}",
                    None,
                    *meant(column, self._shape.stored),
                    notes=self._those_there(column, self._shape.stored),
                )
            elif self._shape.attributes[column] is None:
                self._unusable(column)
        if len(set(table.key)) < len(table.key) or table.target in table.key:
            message = f"a column of `{table.name}` is named twice in its key, or is key and target"
            self._problem("E204", message, None, "a column can have only one of these roles")

    def _unusable(self, column: str) -> None:
        kind = self._shape.stored[column]
        note = "columns of text, whole numbers, floats, booleans, dates and date-times can be used"
        self._problem("E321", f"column `{column}` of table `{self._table.name}` is of type {kind}", notes=(note,))

    def _refuse_repeated_names(self) -> None:
        seen = set(self._shape.stored)
        for name in (*(part.attribute for part in self._table.reached), *(part.attribute for part in self._table.derived)):
            if name in seen:
                message = f"table `{self._table.name}` has two attributes `{name}`"
                self._problem("E204", message, None, "give the reached or derived one another name")
            seen.add(name)

    def _reached_type(self, reached: Reached) -> ValueType | None:
        here = self._shape
        for hop in reached.hops:
            there = self._columns.get(hop.table)
            if there is None:
                close = meant(hop.table, self._columns)
                self._problem(
                    "E341",
                    f"`{reached.attribute}` is reached through table `{hop.table}`, but there is no such table",
                    None,
                    *close,
                )
                return None
            if not self._join_column(reached, here, hop.column) or not self._join_column(reached, there, hop.other):
                return None
            left, right = here.attributes[hop.column], there.attributes[hop.other]
            if not agree(left, right):
                first = f"`{hop.column}` of `{here.table.name}` is {named_type(left)}"
                message = f"{first}, and `{hop.other}` of `{hop.table}` {named_type(right)}"
                self._problem("E341", message, None, "declare the columns' types alike", notes=("they are never equal",))
                return None
            here = there
        return here.attributes[reached.column] if self._join_column(reached, here, reached.column) else None

    def _join_column(self, reached: Reached, where: TableShape, column: str) -> bool:
        """Whether a column on the way to a reached attribute exists, has values, and is not a target: we cannot look up hidden
        values from another table."""
        table = where.table
        if column not in where.stored:
            self._problem(
                "E320",
                f"table `{table.name}` has no column `{column}`, by which `{reached.attribute}` is reached",
                None,
                *meant(column, where.stored),
                notes=_listed(where.stored),
            )
        elif where.attributes[column] is None:
            self._problem("E321", f"column `{column}` of table `{table.name}` is of type {where.stored[column]}")
        elif column == table.target:
            message = f"`{reached.attribute}` is reached through `{column}`, which is the target of `{table.name}`"
            self._problem("E341", message, notes=("a hidden value cannot be looked up from another table",))
        else:
            return True
        return False

    def _cycles(self) -> bool:
        """Whether some attribute is computed from itself or from an unknown name. Reports all of these."""
        derived = self._shape.derived
        known = {*self._types, *derived}
        finished: set[str] = set()
        circular = False

        def visit(name: str, path: tuple[str, ...]) -> None:
            nonlocal circular
            for part in attributes_in(derived[name]):
                if part.name in (*path, name):
                    circular = True
                    circle = " from ".join(
                        f"`{step}`"
                        for step in (*path, name, part.name)[path.index(part.name) if part.name in path else len(path) :]
                    )
                    self._problem("E343", f"`{name}` is computed from itself: {circle}", part.span)
                elif part.name in derived and part.name not in finished:
                    visit(part.name, (*path, name))
                elif part.name not in known:
                    self._unknown(part, known)
                    circular = True
            finished.add(name)

        for name in derived:
            if name not in finished:
                visit(name, ())
        return circular

    def _unknown(self, attribute: Attribute, known: Collection[str]) -> None:
        message = f"table `{self._table.name}` has no attribute `{attribute.name}`"
        notes = self._those_there(attribute.name, known)
        self._problem("E320", message, attribute.span, *meant(attribute.name, known), notes=notes)

    def _those_there(self, name: str, known: Collection[str]) -> tuple[str, ...]:
        """Notes for an unknown name."""
        several = ("several columns have this name, and none of them can be meant",) if name in self._repeated else ()
        return (*several, *_listed(known))

    def _derived_type(self, attribute: str) -> ValueType | None:
        """The type of a derived attribute. Checks it once, after the attributes that it is computed from."""
        if attribute not in self._types:
            definition = self._shape.derived[attribute]
            for part in attributes_in(definition):
                if part.name in self._shape.derived:
                    self._derived_type(part.name)
            type_ = self._typing().expression(definition)
            if type_ in DURATIONS:
                self._problem(
                    "E343",
                    f"`{attribute}` would be a duration",
                    definition.span,
                    "compute durations in the rules that compare them",
                )
            self._types[attribute] = type_
        return self._types[attribute]

    def _typing(self) -> Typing:
        def lookup(part: Variable | Attribute) -> ValueType | None:
            type_ = self._types.get(part.name)
            if type_ is None and part.name in self._shape.stored:
                self._unusable(part.name)
            return type_

        return Typing(lookup, self._problems)

    def _hidden(self) -> None:
        match self._table.hidden:
            case HiddenColumn(column, values):
                self._hidden_column(column, values)
            case HiddenWhere(condition):
                self._condition(condition)
            case HiddenIds() | None:
                return

    def _hidden_column(self, column: str, values: Sequence[object]) -> None:
        name = self._table.name
        if column not in self._types:
            message = f"table `{name}` has no attribute `{column}`, which is to tell the hidden rows"
            self._problem("E320", message, None, *meant(column, self._types), notes=self._those_there(column, self._types))
        elif self._types[column] is None:
            self._unusable(column)
        else:
            for value in values:
                if not agree(self._types[column], type_of_value(value)):
                    type_, value_type = named_type(self._types[column]), named_type(type_of_value(value))
                    message = f"`{column}` of table `{name}` is {type_}, and `{value}` is {value_type}"
                    self._problem("E335", message, None, "declare the column's type, or write a value of that type")

    def _condition(self, condition: Condition) -> None:
        """Check the types in a condition. We refused all other wrong types when we read the definition."""
        unknown = [attribute for attribute in attributes_in(condition) if attribute.name not in self._types]
        for attribute in unknown:
            self._unknown(attribute, self._types)
        for part in () if unknown else conditions_in(condition):
            match part:
                case Comparison():
                    self._typing().comparison(part)
                case Membership():
                    self._typing().membership(part)
                case Test("within"):
                    if (comparison := as_comparison(part, self._problems)) is not None:
                        self._typing().comparison(comparison)
                case Test():
                    self._typing().test(part)
                case _:
                    pass


def named_type(kind: ValueType | None) -> str:
    """A type as a sentence names it."""
    return "of a type without values" if kind is None else with_article(kind)


def _listed(known: Collection[str]) -> tuple[str, ...]:
    shown = ticked(sorted(known)[:20])
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return (f"there are {shown}{more}",)
