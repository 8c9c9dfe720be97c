"""Statements for pairs within a distance: the values of each group in order."""

from __future__ import annotations

from sqlglot import exp

from rulescore.language.syntax import Variable
from rulescore.logic.proximity import Proximity
from rulescore.sql.build import Select, all_of, column, create, equal, name, named, number, select, table, union_all
from rulescore.sql.formula.scope import FormulaContext, Joins, RowSource, Scope
from rulescore.sql.moments import days, first_day
from rulescore.values.types import ValueType

GROUPS = name("proximity_groups")


def create_groups(context: FormulaContext, form: Proximity, *, predictions: bool) -> exp.Create:
    """Every group gets a number."""
    fields = _fields(form)
    sources = [RowSource.OBSERVED, RowSource.PREDICTED] if predictions else [RowSource.OBSERVED]
    rows = union_all([_rows(context, form, source).distinct() for source in sources])
    distinct = select(*(column("u", c) for c in fields)).distinct().from_(rows.subquery("u"))
    order = exp.Order(expressions=[exp.Ordered(this=column("d", c)) for c in fields])
    numbered = named(exp.Window(this=exp.RowNumber(), order=order), "id")
    return create(GROUPS, select(numbered, *(column("d", c) for c in fields)).from_(distinct.subquery("d")))


def ordered_values(context: FormulaContext, form: Proximity) -> Select:
    """The observed values with the numbers of their groups."""
    query = _with_numbers(_rows(context, form, RowSource.OBSERVED, "value"), form, "value")
    return query.order_by(exp.column("id", quoted=True), exp.column("value", quoted=True))


def predicted_values(context: FormulaContext, form: Proximity) -> Select:
    """The predicted values with the numbers of their groups."""
    return _with_numbers(_rows(context, form, RowSource.PREDICTED, "prediction", "value"), form, "prediction", "value")


def _fields(form: Proximity) -> list[str]:
    return [f"g{i}" for i in range(len(form.groups))]


def _rows(context: FormulaContext, form: Proximity, source: RowSource, *wanted: str) -> Select:
    """The rows to compare, with the columns of their groups and the `wanted` fields."""
    joins = Joins(Scope(context, {}, None))
    joins.read(form.row, source)
    scope = joins.scope
    found = {field: scope.column(Variable(one)) for field, one in zip(_fields(form), form.groups, strict=True)}
    found["value"] = scope.value(form.value)
    if scope.type_of(form.value) is ValueType.DATE:
        found["value"] = days(found["value"], first_day())
    if scope.prediction is not None:
        found["prediction"] = scope.prediction.copy()
    for test in form.tests:
        joins.condition(scope.judgement(test))
    joins.condition(exp.Not(this=exp.Is(this=exp.Paren(this=found["value"].copy()), expression=exp.null())))
    return joins.query(*(named(found[field], field) for field in (*_fields(form), *wanted)))


def _with_numbers(rows: Select, form: Proximity, *wanted: str) -> Select:
    source = rows.subquery("r")
    columns = [column("r", one) for one in wanted]
    if not form.groups:
        return select(named(number(0), "id"), *columns).from_(source)
    same = [equal(column("k", one), column("r", one)) for one in _fields(form)]
    return select(column("k", "id"), *columns).from_(source).join(table(GROUPS, "k"), on=all_of(same))
