"""Statements that make the rows of tables with keys, and check the predictions of their targets."""

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
from rulescore.sql.expressions import Compiler, finite
from rulescore.sql.facts import numbered
from rulescore.sql.moments import stamped
from rulescore.sql.query import Create, Query, Row, Select, alias, create, exists, row, select, stored_row, union_all
from rulescore.sql.stored import kept
from rulescore.sql.values import cast, constant, converted, is_whole, key, text, try_cast
from rulescore.sql.words import FALSE, NULL, Sql, all_of, any_of, count_rows, identifier, sql, when
from rulescore.values import NUMBERS, ValueType

# How many faulty ids a message shows.
MOST_SHOWN = 5

_R, _P = alias("r"), alias("p")


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of the database: one of ours, or one of the user's. `fields`: its columns as statements name them. `kinds`: the types
    of columns that we must convert. `only`: conditions on the rows that we read."""

    path: tuple[str, ...]
    fields: Mapping[str, str]
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)
    only: tuple[ColumnIn, ...] = ()

    def row(self, name: str) -> Row:
        return kept(select("*"), self.path, self.only).as_(name) if self.only else stored_row(self.path, name)

    def value(self, row: Row, name: str) -> Sql:
        """A column's value in our type; NULL also if that cannot hold it."""
        return _converted(row[self.fields[name]], self.kinds.get(name))

    def fitted(self, row: Row, name: str, wanted: ValueType) -> Sql:
        """A column's value in the wanted type: its own, or the other type of numbers. NULL also if that cannot hold it."""
        value = self.value(row, name)
        if value_type(self.kinds[name]) is wanted:
            return value
        return cast(value, wanted) if wanted is ValueType.FLOAT else when(is_whole(value), cast(value, wanted))

    def may_lose(self, name: str) -> bool:
        kind = self.kinds.get(name)
        if kind is None or pa.types.is_signed_integer(kind):
            return False
        return pa.types.is_timestamp(kind) or value_type(kind) is ValueType.INTEGER


def _converted(value: Sql, kind: pa.DataType | None) -> Sql:
    if kind is None:
        return value
    if pa.types.is_timestamp(kind):
        return stamped(value, zoned=kind.tz is not None, fine=kind.unit == "ns")
    wanted = value_type(kind)
    assert wanted is not None
    if wanted is ValueType.STRING:
        return text(value)
    # Other types may have more than 64 bits, and some engines need long to check that.
    return cast(value, wanted) if pa.types.is_signed_integer(kind) else try_cast(value, wanted)


def stored_columns(stored: StoredTable) -> Select:
    """All columns, without rows."""
    return select("*").from_(stored.row("s")).limit(0)


def any_row(stored: StoredTable) -> Select:
    return select(n=1).from_(stored.row("s")).limit(1)


def schema_tables(database: str) -> Select:
    """The tables and views of a database."""
    schema, table, catalog = (Sql(exp.column(f"table_{part}")) for part in ("schema", "name", "catalog"))
    known = exp.Table(this=identifier("tables"), db=identifier("information_schema"))
    return select(schema, table).from_(known).where(catalog == database)


def lost_values(stored: StoredTable, name: str) -> Select:
    """The values of a column that our type for it cannot hold."""
    s = stored.row("s")
    raw = s[stored.fields[name]]
    lost = stored.value(s, name).paren().is_null()
    return shown(select(k0=cast(raw, ValueType.STRING)).from_(s).where(raw.is_known(), lost), 1)


def fitted(stored: StoredTable, fields: Mapping[str, tuple[str, ValueType]]) -> Select:
    """Columns under other names, each converted to a given type."""
    s = stored.row("s")
    values = (stored.fitted(s, name, wanted).named(field_name) for field_name, (name, wanted) in fields.items())
    return select(*values).from_(s)


def not_whole(stored: StoredTable, name: str) -> Select:
    """The values of a column of floats that are not whole numbers of 64 bits."""
    s = stored.row("s")
    value = stored.value(s, name)
    query = select(k0=cast(value, ValueType.STRING)).from_(s)
    return shown(query.where(value.paren().is_known(), ~is_whole(value)), 1)


def extremes(value: Sql, kind: ValueType | None) -> tuple[Sql, Sql]:
    """The least and the greatest value. We compare booleans as integers, since some engines have no order on them."""
    if kind is not ValueType.BOOLEAN:
        return value.min(), value.max()
    return cast(value.integer().min(), kind), cast(value.integer().max(), kind)


def create_reached(target: str, reached: Reached, tables: Mapping[str, StoredTable], kind: ValueType | None) -> Create:
    """For each value at the start of a path, the least and the greatest value at its end."""
    first, *others = reached.hops
    stored = tables[first.table]
    here = stored.row("h0")
    query = select(start=stored.value(here, first.other)).from_(here)
    for i, hop in enumerate(others, 1):
        there = tables[hop.table].row(f"h{i}")
        query = query.join(there, stored.value(here, hop.column) == tables[hop.table].value(there, hop.other))
        stored, here = tables[hop.table], there
    low, high = extremes(stored.value(here, reached.column), kind)
    return create(target, query.select(low=low, high=high).group_by(sql(1)))


@dataclass(frozen=True, slots=True)
class RowFields:
    """The base attributes of a table: the fields that hold them, and the tables of reached attributes."""

    fields: Mapping[str, str]
    reached: Mapping[str, str]


class Attributes(Compiler):
    """Attributes of the row `r` as SQL: columns by their fields, derived ones by their definitions. `target_type`: the type that
    holds the target, if not its own."""

    def __init__(
        self,
        shape: TableShape,
        fields: Mapping[str, str],
        target: Callable[[], Sql] | None = None,
        *,
        target_type: ValueType | None = None,
    ) -> None:
        self._shape, self._fields, self._target, self._target_type = shape, fields, target, target_type

    def column(self, variable: Variable | Attribute) -> Sql:
        name = variable.name
        if (definition := self._shape.derived.get(name)) is not None:
            return self.value(definition).paren()
        if name != self._shape.table.target:
            return _R[self._fields[name]]
        return _R[self._fields[name]] if self._target is None else self._target()

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
        type_ = Typing(self.type, problems).expression(definition)
        return (
            type_ is not None and not problems and all(self.can_compute(attribute.name) for attribute in attributes_in(definition))
        )

    def registered(self, test: Test) -> Sql:
        """The test `within`, the only test on rows that is not built in."""
        comparison = as_comparison(test, [])
        assert comparison is not None
        return self.condition(comparison)

    def attribute(self, name: str) -> Sql:
        """An attribute's value in the attribute's type."""
        value = self.column(Attribute(name))
        wanted = self.type(Attribute(name))
        return cast(value, wanted) if name in self._shape.derived and wanted is not None else value


def create_rows(target: str, shape: TableShape, stored: StoredTable, rows: RowFields, ids: str | None) -> Create:
    """Every row with its base attributes, and whether its target is hidden."""
    s = stored.row("s")
    query = select().from_(s)
    for name, part in rows.fields.items():
        if name in rows.reached:
            m = row(rows.reached[name], f"m{part}")
            start = stored.value(s, shape.reached[name].hops[0].column)
            query = query.select(m.low.named(part)).left_join(m, m.start == start)
        else:
            query = query.select(stored.value(s, name).named(part))
    r = query.as_("r")
    hidden = _is_hidden(shape, rows, ids).or_else(FALSE)
    return create(target, select(*r[list(rows.fields.values())], hidden=hidden).from_(r))


def _is_hidden(shape: TableShape, rows: RowFields, ids: str | None) -> Sql:
    """Whether the target of a row `r` is hidden."""
    compiler = Attributes(shape, rows.fields)
    match shape.table.hidden:
        case HiddenColumn(name, values):
            return compiler.attribute(name).is_in(map(constant, values))
        case HiddenWhere(condition):
            return compiler.condition(condition)
        case HiddenIds():
            assert ids is not None
            i = row(ids, "i")
            return exists(i, *(i[f"k{n}"] == _R[rows.fields[name]] for n, name in enumerate(shape.table.key)))
        case None:
            predicted = shape.table.target
            return FALSE if predicted is None else _R[rows.fields[predicted]].is_null()


def same_id(r: Row, fields: Sequence[str], other: Row) -> list[Sql]:
    """A condition: the key of a row equals the fields `k0`, … of another row."""
    return [r[field] == other[f"k{i}"] for i, field in enumerate(fields)]


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """Rows to be checked: their table, the fields of their key, and the fields that hold floats."""

    rows: str
    keys: Sequence[str]
    floats: Sequence[str]


def findings(tables: Sequence[CheckedRows]) -> Query:
    """For each table, by its place: how many rows it has, how many of them are hidden, lack a key, or have a float that is not
    finite, and how many keys are repeated."""
    return union_all([_findings(place, checked) for place, checked in enumerate(tables)])


def _findings(place: int, checked: CheckedRows) -> Select:
    r = row(checked.rows, "r")
    keys = r[list(checked.keys)]
    wrong = any_of(*map(is_not_finite, r[list(checked.floats)]))
    query = select(
        rows=count_rows(),
        hidden=when(r.hidden, 1, 0).sum(),
        not_finite=when(wrong, 1, 0).sum(),
        missing=when(any_of(*(key.is_null() for key in keys)), 1, 0),
    )
    k = query.from_(r).group_by(*keys).as_("k")
    counts = {
        "rows": k.rows,
        "hidden": k.hidden,
        "not_finite": k.not_finite,
        "missing": k.missing * k.rows,
        "repeated": when(k.rows > 1, 1, 0),
    }
    return select(place=place, **{name: count.sum().or_else(0).big() for name, count in counts.items()}).from_(k)


def key_fields(width: int) -> list[str]:
    return [f"k{i}" for i in range(width)]


def shown(keys: Select, width: int) -> Select:
    """A few of the different keys `k0`, … of a query, and how many there are."""
    o = keys.distinct().as_("o")
    fields = o[key_fields(width)]
    return select(*fields, n=exp.Window(this=count_rows().node)).from_(o).order_by(*fields).limit(MOST_SHOWN)


def _keys(r: Row, fields: Sequence[str]) -> dict[str, Sql]:
    return {f"k{i}": r[field] for i, field in enumerate(fields)}


def repeated_keys(rows: str, fields: Sequence[str]) -> Select:
    r = row(rows, "r")
    keys = _keys(r, fields)
    return shown(select(**keys).from_(r).group_by(*keys.values()).having(count_rows() > 1), len(fields))


def not_finite(rows: str, field_name: str, keys: Sequence[str]) -> Select:
    r = row(rows, "r")
    return shown(select(**_keys(r, keys)).from_(r).where(is_not_finite(r[field_name])), len(keys))


def is_not_finite(value: Sql) -> Sql:
    """Whether a float is NaN or infinite."""
    return all_of(value.is_known(), finite(value).is_null())


def several_values(reached: str, stored: StoredTable, start: str, keys: Sequence[str]) -> Select:
    """The rows from which a path leads to different values."""
    s, m = stored.row("s"), row(reached, "m")
    query = select(**{f"k{i}": stored.value(s, name) for i, name in enumerate(keys)}).from_(s)
    return shown(query.join(m, m.start == stored.value(s, start)).where(m.low != m.high), len(keys))


def values_of(rows: str, value: Sql) -> Select:
    """A few values of an attribute."""
    return shown(select(k0=value).from_(row(rows, "r")).where(value.paren().is_known()), 1)


def unknown_ids(ids: str, rows: str, fields: Sequence[str]) -> Select:
    """Ids that no row has."""
    i, r = row(ids, "i"), row(rows, "r")
    return shown(select(*i[key_fields(len(fields))]).from_(i).where(~exists(r, *same_id(r, fields, i))), len(fields))


def create_observed(target: str, rows: str, kept: Mapping[str, str], attributes: Attributes) -> Create:
    return create(target, select(*_attributes(kept, attributes)).from_(row(rows, "r")))


def _attributes(kept: Mapping[str, str], attributes: Attributes) -> list[Sql]:
    return [attributes.attribute(name).named(part) for name, part in kept.items()]


def keys_in(rows: str, field_name: str, kind: ValueType) -> Select:
    """The keys of the constants in a column."""
    r = row(rows, "r")
    return select(key=key(r[field_name], kind)).distinct().from_(r).where(~r[field_name].is_null())


def observed_target(field_name: str, type_: ValueType, held: ValueType) -> Sql:
    return converted(when(~_R.hidden, _R[field_name]), type_, held)


def create_predicted(
    target: str, rows: str, staged: str, keys: Sequence[str], kept: Mapping[str, str], attributes: Attributes, first: int
) -> Create:
    """One row per distinct prediction, numbered from `first` on: the hidden row with the predicted value of its target, and
    attributes computed from that. `keys`: the fields of the key."""
    p, r = _numbered(staged, len(keys), first).as_("p"), row(rows, "r")
    query = select(p.prediction, *_attributes(kept, attributes)).from_(p)
    return create(target, query.join(r, *same_id(r, keys, p)))


def _numbered(staged: str, width: int, first: int) -> Select:
    """The distinct predictions, numbered in the order of their keys and values."""
    s, fields = row(staged, "s"), [*key_fields(width), "value"]
    d = select(*s[fields]).distinct().from_(s).as_("d")
    return select(numbered(d[fields], first).named("prediction"), *d[fields]).from_(d)


def predicted_value() -> Sql:
    return _P.value


FAULTS = ("no_id", "no_value", "not_finite", "unknown", "not_hidden")


@dataclass(frozen=True, slots=True)
class CheckedPredictions:
    """Staged predictions to be checked, the table of the rows they are for, and the fields of its key."""

    staged: str
    rows: str
    fields: Sequence[str]
    target_type: ValueType

    @property
    def keys(self) -> list[str]:
        return key_fields(len(self.fields))

    def joined(self) -> tuple[Row, Row, Select]:
        """A prediction, the row of its id, if there is one, and the query that reads both."""
        p, r = row(self.staged, "p"), row(self.rows, "r")
        return p, r, select().from_(p).left_join(r, *same_id(r, self.fields, p))

    def faults(self, p: Row, r: Row) -> dict[str, Sql]:
        """The condition of each fault of a prediction, joined with the row of its id."""
        no_id = any_of(*(key.is_null() for key in p[self.keys]))
        wrong = is_not_finite(p.value) if self.target_type is ValueType.FLOAT else FALSE
        unknown = all_of(~no_id, r[self.fields[0]].is_null())
        return dict(zip(FAULTS, (no_id, p.value.is_null(), wrong, unknown, ~r.hidden), strict=True))


def prediction_findings(tables: Sequence[CheckedPredictions]) -> Query:
    """For each table, by its place, and each model: how many predictions there are, how many of them have each fault, how many ids
    they predict, and how many of the ids with different values."""
    return union_all([_findings_of_predictions(place, checked) for place, checked in enumerate(tables)])


def _findings_of_predictions(place: int, checked: CheckedPredictions) -> Select:
    p, r, query = checked.joined()
    counts = {name: when(fault, 1, 0).sum() for name, fault in checked.faults(p, r).items()}
    low, high = extremes(p.value, checked.target_type)
    query = query.select(p.model, rows=count_rows(), **counts, several=when(low != high, 1, 0))
    d = query.group_by(p.model, *p[checked.keys]).as_("d")
    totals = {name: d[name].sum().big() for name in ("rows", *FAULTS, "several")}
    return select(sql(place).named("place"), d.model, ids=count_rows(), **totals).from_(d).group_by(d.model)


def faulty(checked: CheckedPredictions, model: int, fault: str) -> Select:
    """The ids of a model's predictions that have a fault."""
    p, r, query = checked.joined()
    query = query.select(**{key: p[key] for key in checked.keys})
    return shown(query.where(p.model == model, checked.faults(p, r)[fault]), len(checked.keys))


def conflicting(staged: str, width: int, model: int, target_type: ValueType) -> Select:
    """The ids for which a model predicts different values."""
    p = row(staged, "p")
    keys = p[key_fields(width)]
    low, high = extremes(p.value, target_type)
    return shown(select(*keys).from_(p).where(p.model == model).group_by(*keys).having(low != high), width)


def not_all_whole(predictions: Query) -> Select:
    """One row if some predicted float is not a whole number."""
    p = predictions.as_("p")
    return select(n=1).from_(p).where(~is_whole(p.value)).limit(1)


def not_all_finite(predictions: Query, field: str = "value") -> Select:
    """One row if some prediction, or another field of one, is NaN or infinite."""
    p = predictions.as_("p")
    return select(n=1).from_(p).where(is_not_finite(cast(p[field], ValueType.FLOAT))).limit(1)


def observed_values(rows: str, field: str) -> Select:
    """The target of every row that is not hidden."""
    r = row(rows, "r")
    return select(value=r[field]).from_(r).where(~r.hidden)


def integers_of(predictions: Query) -> Select:
    """Predictions as integers, if all are whole."""
    p = predictions.as_("p")
    return select(value=cast(p.value, ValueType.INTEGER)).from_(p)


def of_model(predictions: Query, width: int, model: int, type_: ValueType, held: ValueType) -> Select:
    """Predictions of type `type_` as rows of the staged table, in type `held`."""
    p = predictions.as_("p")
    value = converted(cast(p.value, type_) if type_ in NUMBERS else p.value, type_, held)
    return select(*p[key_fields(width)], value=value, score=p.score, model=sql(model).integer()).from_(p)


def unscored(predictions: Query, fields: Sequence[str]) -> Select:
    """Predictions with an unknown score."""
    p = predictions.as_("p")
    return select(*p[fields], score=NULL.cast("DOUBLE")).from_(p)


def target_predictions(staged: str, predicted: str, fields: Sequence[str]) -> Select:
    """Which model predicted what, with its best score. `predicted`: the table of numbered predictions, `fields`: its columns for
    the key and the target."""
    key_and_value = [*key_fields(len(fields) - 1), "value"]
    s, p = row(staged, "s"), row(predicted, "p")
    keys = [s.model, *s[key_and_value]]
    m = select(*keys, score=s.score.max()).from_(s).group_by(*keys).as_("m")
    unknown = {"rank": NULL.cast("BIGINT"), "query": NULL.cast("TEXT")}
    query = select(m.model, p.prediction, observed=0, linked=1, score=m.score, **unknown).from_(m)
    return query.join(p, *(p[field] == m[value] for field, value in zip(fields, key_and_value, strict=True)))
