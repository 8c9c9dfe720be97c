"""Statements that make the rows of tables with keys: observed, hidden and predicted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from rulescore.errors import Diagnostic
from rulescore.language.syntax import Attribute, Test, Variable
from rulescore.logic.tables import TableShape, attributes_in
from rulescore.logic.tolerances import as_comparison
from rulescore.logic.types import Typing
from rulescore.readers.table_rows import value_type
from rulescore.setting.model import ColumnIn, HiddenColumn, HiddenIds, HiddenWhere, Reached
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    big,
    column,
    count_rows,
    create,
    different,
    equal,
    exists,
    identifier,
    integer,
    named,
    negation,
    number,
    one_if,
    product,
    select,
    stored_table,
    table,
    total,
    union_all,
)
from rulescore.sql.expressions import Compiler, finite, when
from rulescore.sql.facts import numbered
from rulescore.sql.keys import key, text
from rulescore.sql.moments import stamped
from rulescore.sql.stored import kept
from rulescore.sql.values import cast, constant, converted, is_whole, try_cast
from rulescore.values.types import ValueType

# How many faulty ids a message shows.
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as the database has it: one of ours, or the user's own. `fields`: its columns as statements name them. `kinds`:
    the types of columns that we must convert. `only`: conditions on the rows that we read."""

    path: tuple[str, ...]
    fields: Mapping[str, str]
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)
    only: tuple[ColumnIn, ...] = ()

    def source(self, alias: str) -> exp.Expr:
        if not self.only:
            return stored_table(self.path, alias)
        return kept(select(exp.Star()).from_(stored_table(self.path, "s")), self.only).subquery(alias)

    def value(self, alias: str, name: str) -> exp.Expr:
        """A column's value in our type; NULL also if that cannot hold it."""
        return _converted(column(alias, self.fields[name]), self.kinds.get(name))

    def fitted(self, alias: str, name: str, wanted: ValueType) -> exp.Expr:
        """A column's value in the wanted type: its own, or the other type of numbers. NULL also if that cannot hold it."""
        value = self.value(alias, name)
        found = value_type(self.kinds[name])
        if found is wanted:
            return value
        return cast(value, wanted) if wanted is ValueType.FLOAT else when(is_whole(value), cast(value.copy(), wanted))

    def may_lose(self, name: str) -> bool:
        kind = self.kinds.get(name)
        if kind is None or pa.types.is_signed_integer(kind):
            return False
        return pa.types.is_timestamp(kind) or value_type(kind) is ValueType.INTEGER


def _converted(value: exp.Expr, kind: pa.DataType | None) -> exp.Expr:
    if kind is None:
        return value
    if pa.types.is_timestamp(kind):
        return stamped(value, zoned=kind.tz is not None, fine=kind.unit == "ns")
    wanted = value_type(kind)
    assert wanted is not None
    if wanted is ValueType.STRING:
        return text(value)
    # Other types may have more than 64 bits, which takes some engines long to check.
    return cast(value, wanted) if pa.types.is_signed_integer(kind) else try_cast(value, wanted)


def stored_columns(stored: StoredTable) -> Select:
    """All columns, without rows."""
    return select(exp.Star()).from_(stored.source("s")).limit(0)


def any_row(stored: StoredTable) -> Select:
    return select(named(number(1), "n")).from_(stored.source("s")).limit(1)


def schema_tables(database: str) -> Select:
    """The tables and views of a database."""
    known = exp.Table(this=identifier("tables"), db=identifier("information_schema"))
    return (
        select(exp.column("table_schema"), exp.column("table_name"))
        .from_(known)
        .where(equal(exp.column("table_catalog"), exp.Literal.string(database)))
    )


def lost_values(stored: StoredTable, name: str) -> Select:
    """The values of a column that our type for it cannot hold."""
    raw = column("s", stored.fields[name])
    known = exp.Not(this=exp.Is(this=raw.copy(), expression=exp.null()))
    lost = exp.Is(this=exp.Paren(this=stored.value("s", name)), expression=exp.null())
    return shown(select(named(cast(raw, ValueType.STRING), "k0")).from_(stored.source("s")).where(all_of([known, lost])), 1)


def fitted(stored: StoredTable, fields: Mapping[str, tuple[str, ValueType]]) -> Select:
    """Columns under other names, each in a type to which its own can be converted."""
    values = [named(stored.fitted("s", name, wanted), field_name) for field_name, (name, wanted) in fields.items()]
    return select(*values).from_(stored.source("s"))


def not_whole(stored: StoredTable, name: str) -> Select:
    """The values of a column of floats that are not whole numbers of 64 bits."""
    value = stored.value("s", name)
    known = exp.Not(this=exp.Is(this=exp.Paren(this=value), expression=exp.null()))
    lost = negation(is_whole(value.copy()))
    return shown(
        select(named(cast(value.copy(), ValueType.STRING), "k0")).from_(stored.source("s")).where(all_of([known, lost])), 1
    )


def extremes(value: exp.Expr, kind: ValueType | None) -> tuple[exp.Expr, exp.Expr]:
    """The least and the greatest value. We compare booleans as integers, since some engines have no order on them."""
    if kind is not ValueType.BOOLEAN:
        return exp.Min(this=value), exp.Max(this=value.copy())
    found = integer(value)
    return cast(exp.Min(this=found), kind), cast(exp.Max(this=found.copy()), kind)


def create_reached(target: str, reached: Reached, tables: Mapping[str, StoredTable], kind: ValueType | None) -> exp.Create:
    """For each value at the start of a path, the least and the greatest value at its end."""
    first, *others = reached.hops
    here = tables[first.table]
    query = select(named(here.value("h0", first.other), "start")).from_(here.source("h0"))
    for i, hop in enumerate(others, 1):
        there = tables[hop.table]
        query = query.join(there.source(f"h{i}"), on=equal(here.value(f"h{i - 1}", hop.column), there.value(f"h{i}", hop.other)))
        here = there
    low, high = extremes(here.value(f"h{len(others)}", reached.column), kind)
    query = query.select(named(low, "low"), named(high, "high"))
    return create(target, query.group_by(number(1)))


@dataclass(frozen=True, slots=True)
class RowFields:
    """The base attributes of a table: the fields that hold them, and the tables of those that are reached."""

    fields: Mapping[str, str]
    reached: Mapping[str, str]


class Attributes(Compiler):
    """Attributes of the row `r` as SQL: columns by their fields, derived ones by their definitions. `target_type`: the type that
    holds the target, if not its own."""

    def __init__(
        self,
        shape: TableShape,
        fields: Mapping[str, str],
        target: Callable[[], exp.Expr] | None = None,
        *,
        target_type: ValueType | None = None,
    ) -> None:
        self._shape, self._fields, self._target, self._target_type = shape, fields, target, target_type

    def column(self, variable: Variable | Attribute) -> exp.Expr:
        name = variable.name
        if (definition := self._shape.derived.get(name)) is not None:
            return exp.Paren(this=self.value(definition))
        if name != self._shape.table.target:
            return column("r", self._fields[name])
        return column("r", self._fields[name]) if self._target is None else self._target()

    def type(self, variable: Variable | Attribute) -> ValueType | None:
        name = variable.name
        if (definition := self._shape.derived.get(name)) is not None:
            return self.type_of(definition)
        if name == self._shape.table.target and self._target_type is not None:
            return self._target_type
        return self._shape.attributes[name]

    def can_compute(self, name: str) -> bool:
        """Whether we can compute an attribute, given the types of the attributes in its definition."""
        definition = self._shape.derived.get(name)
        if definition is None:
            return True
        problems: list[Diagnostic] = []
        found = Typing(self.type, problems).expression(definition)
        return found is not None and not problems and all(self.can_compute(one.name) for one in attributes_in(definition))

    def registered(self, test: Test) -> exp.Expr:
        """The test `within`, the only test on rows that is not built in."""
        comparison = as_comparison(test, [])
        assert comparison is not None
        return self.condition(comparison)

    def attribute(self, name: str) -> exp.Expr:
        """An attribute's value in the attribute's type."""
        found = self.column(Attribute(name))
        wanted = self.type(Attribute(name))
        return cast(found, wanted) if name in self._shape.derived and wanted is not None else found


def create_rows(target: str, shape: TableShape, stored: StoredTable, rows: RowFields, ids: str | None) -> exp.Create:
    """Every row with its base attributes, and whether its target is hidden."""
    query = select().from_(stored.source("s"))
    for name, part in rows.fields.items():
        if name in rows.reached:
            query = query.select(named(column(f"m{part}", "low"), part))
            start = stored.value("s", shape.reached[name].hops[0].column)
            query = query.join(
                table(rows.reached[name], f"m{part}"), on=equal(column(f"m{part}", "start"), start), join_type="left"
            )
        else:
            query = query.select(named(stored.value("s", name), part))
    compiler = Attributes(shape, rows.fields)
    match shape.table.hidden:
        case HiddenColumn(name, values):
            hidden: exp.Expr = exp.In(this=compiler.attribute(name), expressions=[constant(one) for one in values])
        case HiddenWhere(condition):
            hidden = compiler.condition(condition)
        case HiddenIds():
            assert ids is not None
            same = all_of(equal(column("i", f"k{i}"), column("r", rows.fields[one])) for i, one in enumerate(shape.table.key))
            hidden = exists(select(number(1)).from_(table(ids, "i")).where(same))
        case None:
            predicted = shape.table.target
            hidden = exp.false() if predicted is None else exp.Is(this=column("r", rows.fields[predicted]), expression=exp.null())
    flag = named(exp.Coalesce(this=hidden, expressions=[exp.false()]), "hidden")
    return create(target, select(*(column("r", part) for part in rows.fields.values()), flag).from_(query.subquery("r")))


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """Rows to be checked: their table, the fields of their key, and the fields that hold floats."""

    rows: str
    keys: Sequence[str]
    floats: Sequence[str]


def findings(tables: Sequence[CheckedRows]) -> Query:
    """For each table, by its place: how many rows it has, how many of them are hidden, lack a key, or have a float that is not
    finite, and how many keys are repeated."""
    return union_all([_findings(place, one) for place, one in enumerate(tables)])


def _findings(place: int, checked: CheckedRows) -> Select:
    keys = [column("r", one) for one in checked.keys]
    wrong = any_of(is_not_finite(column("r", one)) for one in checked.floats)
    by_key = (
        select(
            named(count_rows(), "rows"),
            named(total(one_if(column("r", "hidden"))), "hidden"),
            named(total(one_if(wrong)), "not_finite"),
            named(one_if(any_of(exp.Is(this=one.copy(), expression=exp.null()) for one in keys)), "missing"),
        )
        .from_(table(checked.rows, "r"))
        .group_by(*keys)
    )
    counts = {
        "rows": column("k", "rows"),
        "hidden": column("k", "hidden"),
        "not_finite": column("k", "not_finite"),
        "missing": product(column("k", "missing"), column("k", "rows")),
        "repeated": one_if(exp.GT(this=column("k", "rows"), expression=number(1))),
    }
    found = [named(big(exp.Coalesce(this=total(one), expressions=[number(0)])), name) for name, one in counts.items()]
    return select(named(number(place), "place"), *found).from_(by_key.subquery("k"))


def shown(keys: Select, width: int) -> Select:
    """A few of the different keys `k0`, … of a query, and how many there are."""
    fields = [f"k{i}" for i in range(width)]
    return (
        select(*(column("o", one) for one in fields), named(exp.Window(this=count_rows()), "n"))
        .from_(keys.distinct().subquery("o"))
        .order_by(*(column("o", one) for one in fields))
        .limit(MOST_SHOWN)
    )


def _keys(fields: Sequence[str], alias: str = "r") -> list[exp.Expr]:
    return [named(column(alias, one), f"k{i}") for i, one in enumerate(fields)]


def repeated_keys(rows: str, fields: Sequence[str]) -> Select:
    several = exp.GT(this=count_rows(), expression=number(1))
    query = select(*_keys(fields)).from_(table(rows, "r")).group_by(*(column("r", one) for one in fields))
    return shown(query.having(several), len(fields))


def not_finite(rows: str, field_name: str, keys: Sequence[str]) -> Select:
    return shown(select(*_keys(keys)).from_(table(rows, "r")).where(is_not_finite(column("r", field_name))), len(keys))


def is_not_finite(value: exp.Expr) -> exp.Expr:
    """Whether a float is NaN or infinite."""
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return all_of([known, exp.Is(this=finite(value), expression=exp.null())])


def several_values(reached: str, stored: StoredTable, start: str, keys: Sequence[str]) -> Select:
    """The rows from which a path leads to different values."""
    query = (
        select(*(named(stored.value("s", one), f"k{i}") for i, one in enumerate(keys)))
        .from_(stored.source("s"))
        .join(table(reached, "m"), on=equal(column("m", "start"), stored.value("s", start)))
    )
    return shown(query.where(different(column("m", "low"), column("m", "high"))), len(keys))


def values_of(rows: str, value: exp.Expr) -> Select:
    """A few values of an attribute."""
    query = select(named(value, "k0")).from_(table(rows, "r"))
    return shown(query.where(exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.null()))), 1)


def unknown_ids(ids: str, rows: str, fields: Sequence[str]) -> Select:
    """Ids that no row has."""
    names = [f"k{i}" for i in range(len(fields))]
    same = all_of(equal(column("r", one), column("i", f"k{i}")) for i, one in enumerate(fields))
    query = select(*(column("i", one) for one in names)).from_(table(ids, "i"))
    return shown(query.where(negation(exists(select(number(1)).from_(table(rows, "r")).where(same)))), len(names))


def create_observed(target: str, rows: str, kept: Mapping[str, str], attributes: Attributes) -> exp.Create:
    query = select(*(named(attributes.attribute(name), part) for name, part in kept.items()))
    return create(target, query.from_(table(rows, "r")))


def keys_in(rows: str, field_name: str, kind: ValueType) -> Select:
    """The keys of the constants in a column."""
    query = select(named(key(column("r", field_name), kind), "key")).distinct().from_(table(rows, "r"))
    return query.where(negation(exp.Is(this=column("r", field_name), expression=exp.null())))


def observed_target(field_name: str, found: ValueType, held: ValueType) -> exp.Expr:
    return converted(when(negation(column("r", "hidden")), column("r", field_name)), found, held)


def create_predicted(
    target: str, rows: str, staged: str, keys: Sequence[str], kept: Mapping[str, str], attributes: Attributes, first: int
) -> exp.Create:
    """One row per distinct prediction, numbered from `first` on: the hidden row with the predicted value of its target, and
    attributes computed from that. `keys`: the fields of the key."""
    same = all_of(equal(column("r", part), column("p", f"k{i}")) for i, part in enumerate(keys))
    query = select(column("p", "prediction"), *(named(attributes.attribute(name), part) for name, part in kept.items()))
    return create(target, query.from_(_numbered(staged, len(keys), first).subquery("p")).join(table(rows, "r"), on=same))


def _numbered(staged: str, width: int, first: int) -> Select:
    """The distinct predictions, numbered in the order of their keys and values."""
    fields = [*(f"k{i}" for i in range(width)), "value"]
    distinct = select(*(column("s", one) for one in fields)).distinct().from_(table(staged, "s")).subquery("d")
    return select(numbered(fields, "d", "prediction", first), *(column("d", one) for one in fields)).from_(distinct)


def predicted_value() -> exp.Expr:
    return column("p", "value")
