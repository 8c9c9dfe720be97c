"""Rules that a user gives as a statement: run as they are, within a query that counts or lists their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp, tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from rulescore.logic.schema import Relation
from rulescore.sql.build import (
    Select,
    any_of,
    big,
    column,
    equal,
    exists,
    identifier,
    named,
    number,
    one_if,
    select,
    table,
    total,
    view,
)
from rulescore.sql.facts import ANSWER
from rulescore.sql.moments import written
from rulescore.sql.results import CONTRIBUTION
from rulescore.values.types import MOMENTS, ValueType

OBSERVED, PREDICTED = "observed_", "predicted_"
"""The prefixes of the views that a statement may read; the name of a predicate or table follows."""

_NAMES = re.compile(rf'"((?:{OBSERVED}|{PREDICTED})(?:[^"]|"")+)"|\b((?:{OBSERVED}|{PREDICTED})\w+)')
_WORDS = re.compile(r'"((?:[^"]|"")+)"|(\w+)')


def views_named(statement: str) -> set[str]:
    """The views that a statement seems to read."""
    return {(quoted or word).replace('""', '"') for quoted, word in _NAMES.findall(statement)}


def relations_named(statement: str) -> set[str]:
    """The predicates and tables of the views that a statement seems to read."""
    return {view.removeprefix(OBSERVED).removeprefix(PREDICTED) for view in views_named(statement)}


def words(statement: str) -> set[str]:
    """Every word of a statement that may be the name of a column."""
    return {(quoted or word).replace('""', '"') for quoted, word in _WORDS.findall(statement)}


def create_views(relation: Relation) -> Iterator[exp.Create]:
    """Views on a relation with its attributes by name. Without predictions the second view is empty: statements stay the same."""
    fields = [named(_native(column("r", stored.column), stored.type), name) for name, stored in relation.columns.items()]
    yield view(f"{OBSERVED}{relation.name}", select(*fields).from_(table(relation.observed, "r")))
    others = [field.copy() for field in fields]
    if relation.predicted is not None:
        predicted = select(column("r", "prediction"), *others).from_(table(relation.predicted, "r"))
    else:
        nothing = named(exp.cast(exp.null(), "INT", copy=False), "prediction")
        predicted = select(nothing, *others).from_(table(relation.observed, "r")).where(exp.false())
    yield view(f"{PREDICTED}{relation.name}", predicted)


def _native(value: exp.Expr, kind: ValueType | None) -> exp.Expr:
    """Date-times as the timestamps of the database, without a zone: instants as clocks of UTC show them."""
    return exp.cast(written(value, zoned=False), "TIMESTAMP", copy=False) if kind in MOMENTS else value


def _rows(statement: str, alias: str = "s") -> exp.Subquery:
    """The statement word for word."""
    return exp.Subquery(this=exp.Var(this=f"\n{unended(statement)}\n"), alias=exp.TableAlias(this=identifier(alias)))


def has_user_sql(statement: exp.Expr) -> bool:
    """Whether a statement contains the user's own SQL, which may call any function."""
    return any(isinstance(one.this, exp.Var) for one in statement.find_all(exp.Subquery))


def unended(statement: str) -> str:
    """A statement without the semicolon at its end, which comments may follow."""
    try:
        tokens = tokenize(statement, read="duckdb")
    except TokenError:  # the database will report what is wrong
        return statement
    end = len(tokens)
    while end and tokens[end - 1].token_type is TokenType.SEMICOLON:
        end -= 1
    return statement[: tokens[end].start] if end < len(tokens) else statement


def sample(statement: str) -> Select:
    """The columns of a statement, without its rows."""
    return select("*").from_(_rows(statement)).limit(0)


def counts(statement: str, rule: int, *, predictions: bool) -> Select:
    """The counts of confirmed, refuted and evaluable rows: one row over the data, or one per prediction."""
    flags = {c: one_if(exp.cast(column("s", c), "BOOLEAN", copy=False)) for c in ("confirmed", "refuted")}
    rows = select(column("s", "prediction"), *(named(flag, c) for c, flag in flags.items())).from_(_rows(statement))
    rows = rows.where(_of(predictions))
    either = one_if(any_of([equal(column("j", c), number(1)) for c in flags]))
    sums = {**{c: column("j", c) for c in flags}, "evaluable": either}
    query = select(
        named(exp.cast(number(rule), "INT", copy=False), "rule"),
        *([named(exp.cast(column("j", "prediction"), "INT", copy=False), "prediction")] if predictions else []),
        *(named(big(exp.Coalesce(this=total(value), expressions=[number(0)])), c) for c, value in sums.items()),
    ).from_(rows.subquery("j"))
    if predictions:
        query = query.group_by(column("j", "prediction"))
        query = query.having(exp.GT(this=total(either.copy()), expression=number(0)))
    return query


def listed(statement: str, answer: str, *, predictions: bool) -> Select:
    """The rows that are `refuted`, or `confirmed`, with all their columns: over the data, or of predictions."""
    holds = exp.cast(column("g", answer), "BOOLEAN", copy=False)
    null = exp.Is(this=column("g", "prediction"), expression=exp.null())
    return (
        select(exp.Column(this=exp.Star(), table=identifier("g")))
        .from_(_rows(statement, "g"))
        .where(exp.Not(this=null) if predictions else null, holds)
    )


def values(statement: str, name: str) -> Select:
    """One row if a column of the statement has a value anywhere."""
    known = exp.Not(this=exp.Is(this=column("s", name), expression=exp.null()))
    return select(column("s", name)).from_(_rows(statement)).where(known).limit(1)


def unknown_predictions(first: int) -> Select:
    """For each rule from number `first` on, a prediction that its contributions have and no model makes, if there is one."""
    nobody = exp.Not(this=exists(select(number(1)).from_(table(ANSWER, "a")).where(_same_prediction())))
    later = exp.GTE(this=column("c", "rule"), expression=number(first))
    query = select(column("c", "rule"), named(exp.Min(this=column("c", "prediction")), "prediction")).from_(
        table(CONTRIBUTION, "c")
    )
    return query.where(later, nobody).group_by(column("c", "rule"))


def _same_prediction() -> exp.Expr:
    return equal(column("a", "prediction"), column("c", "prediction"))


def _of(predictions: bool) -> exp.Expr:
    null = exp.Is(this=column("s", "prediction"), expression=exp.null())
    return exp.Not(this=null) if predictions else null
