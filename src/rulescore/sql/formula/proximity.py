"""Statements for pairs within a distance: the values of each group in order."""

from __future__ import annotations

from sqlglot import exp

from rulescore.language.syntax import Variable
from rulescore.logic.proximity import Proximity
from rulescore.sql.formula.scope import FormulaContext, Joins, RowSource, Scope
from rulescore.sql.moments import days, first_day
from rulescore.sql.names import name
from rulescore.sql.query import Create, Select, create, row, same, select, union_all
from rulescore.sql.words import row_number, sql
from rulescore.values.types import ValueType

GROUPS = name("proximity_groups")


def create_groups(context: FormulaContext, form: Proximity, *, predictions: bool) -> Create:
    """Every group gets a number."""
    fields = _fields(form)
    sources = [RowSource.OBSERVED, RowSource.PREDICTED] if predictions else [RowSource.OBSERVED]
    rows = union_all([_rows(context, form, source).distinct() for source in sources])
    u = rows.as_("u")
    d = select(*u[fields]).distinct().from_(u).as_("d")
    return create(GROUPS, select(row_number(*d[fields]).named("id"), *d[fields]).from_(d))


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
        found["prediction"] = scope.prediction
    for test in form.tests:
        joins.condition(scope.judgement(test))
    joins.condition(found["value"].paren().is_known())
    return joins.query(*(found[field].named(field) for field in (*_fields(form), *wanted)))


def _with_numbers(rows: Select, form: Proximity, *wanted: str) -> Select:
    r, k = rows.as_("r"), row(GROUPS, "k")
    if not form.groups:
        return select(sql(0).named("id"), *r[wanted]).from_(r)
    return select(k.id, *r[wanted]).from_(r).join(k, *same(k, r, _fields(form)))
