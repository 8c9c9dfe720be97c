"""Aggregates by a join instead of a query about each row (decision 0019)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.language.syntax import Aggregation
from rulescore.logic.formula import AggregateValue
from rulescore.sql.formula.scope import Joins, Scope
from rulescore.sql.query import Select, name_of, select
from rulescore.sql.words import Sql


def with_aggregate(scope: Scope, rows: Select, fields: list[str], measure: AggregateValue, name: str) -> Select | None:
    """Rows `k`, which differ in their `fields` and which `scope` refers to, with the value of an aggregate as a further field, by a
    join with the facts it ranges over. None unless these are the facts of one atom that may be the prediction: in a query about
    each row that atom would stand beneath an OR, and Spark would compute the rows a second time to find their predictions."""
    context = scope.context
    disjuncts = context.possible(measure.disjuncts)
    atoms = disjuncts[0].atoms if len(disjuncts) == 1 else ()
    if measure.function is Aggregation.COUNT_DISTINCT or len(atoms) != 1 or not context.predictable(atoms[0]):
        return None
    joins = Joins(scope)
    joins.read_all(disjuncts[0])
    value = joins.scope.value(measure.value)
    facts, conditions = joins.only_atom(disjuncts[0].tests)
    if not _can_be_joined(value, conditions, name_of(facts)):
        return None
    if measure.function is Aggregation.COUNT:  # no argument of a fact is missing
        argument, _ = atoms[0].arguments[0]
        value = facts[context.relation(atoms[0]).columns[argument].column]
        found = value.count()
    else:
        found = scope.aggregated(measure, value)
    k = rows.as_("k")
    wider = select(*k[fields], found.named(name)).from_(k)
    return wider.left_join(facts, *conditions).group_by(*k[fields])


def _can_be_joined(value: Sql, conditions: Sequence[Sql], facts: str) -> bool:
    """Whether an outer join of rows `k` with `facts` can find an aggregate's value. Its conditions may not contain a query; the
    value has to be missing if there is no fact; and without an equation the join is slower than a query about each row."""
    if any(one.node.find(exp.Select) for one in (value, *conditions)):
        return False
    equates = any(isinstance(one.node, exp.EQ) and _tables(one) == {"k", facts} for one in conditions)
    return equates and facts in _tables(value)


def _tables(expression: Sql) -> set[str]:
    return {one.table for one in expression.node.find_all(exp.Column)}
