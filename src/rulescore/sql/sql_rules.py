"""Rules that a user gives as a statement: run as they are, within a query that counts or lists their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp, tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from rulescore.logic.schema import Relation
from rulescore.sql.facts import ANSWER
from rulescore.sql.moments import written
from rulescore.sql.query import Create, Row, Select, no_row, row, select, view
from rulescore.sql.results import CONTRIBUTION
from rulescore.sql.words import FALSE, NULL, Sql, any_of, identifier, sql, when
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


def create_views(relation: Relation) -> Iterator[Create]:
    """Views on a relation with its attributes by name. Without predictions the second view is empty: statements stay the same."""
    r = row(relation.observed, "r")
    fields = [_native(r[stored.column], stored.type).named(name) for name, stored in relation.columns.items()]
    yield view(f"{OBSERVED}{relation.name}", select(*fields).from_(r))
    if relation.predicted is not None:
        predicted = select(r.prediction, *fields).from_(row(relation.predicted, "r"))
    else:
        predicted = select(NULL.integer().named("prediction"), *fields).from_(r).where(FALSE)
    yield view(f"{PREDICTED}{relation.name}", predicted)


def _native(value: Sql, kind: ValueType | None) -> Sql:
    """Date-times as the timestamps of the database, without a zone: instants as clocks of UTC show them."""
    return written(value, zoned=False).cast("TIMESTAMP") if kind in MOMENTS else value


def _rows(statement: str, alias: str = "s") -> Row:
    """The statement word for word."""
    name = exp.TableAlias(this=identifier(alias))
    return Row(alias, exp.Subquery(this=exp.Var(this=f"\n{unended(statement)}\n"), alias=name))


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
    s = _rows(statement)
    flags = {name: when(s[name].cast("BOOLEAN"), 1, 0) for name in ("confirmed", "refuted")}
    j = select(s.prediction, **flags).from_(s).where(_of(s.prediction, predictions)).as_("j")
    either = when(any_of(j.confirmed == 1, j.refuted == 1), 1, 0)
    sums = {"confirmed": j.confirmed, "refuted": j.refuted, "evaluable": either}
    query = select(rule=sql(rule).integer()).from_(j)
    if predictions:
        query = query.select(prediction=j.prediction.integer()).group_by(j.prediction).having(either.sum() > 0)
    return query.select(**{name: value.sum().or_else(0).big() for name, value in sums.items()})


def listed(statement: str, answer: str, *, predictions: bool) -> Select:
    """The rows that are `refuted`, or `confirmed`, with all their columns: over the data, or of predictions."""
    g = _rows(statement, "g")
    query = select(exp.Column(this=exp.Star(), table=identifier("g"))).from_(g)
    return query.where(_of(g.prediction, predictions), g[answer].cast("BOOLEAN"))


def values(statement: str, name: str) -> Select:
    """One row if a column of the statement has a value anywhere."""
    s = _rows(statement)
    return select(s[name]).from_(s).where(s[name].is_known()).limit(1)


def unknown_predictions(first: int) -> Select:
    """For each rule from number `first` on, a prediction that its contributions have and no model makes, if there is one."""
    a, c = row(ANSWER, "a"), row(CONTRIBUTION, "c")
    nobody = no_row(a, a.prediction == c.prediction)
    return select(c.rule, prediction=c.prediction.min()).from_(c).where(c.rule >= first, nobody).group_by(c.rule)


def _of(prediction: Sql, predictions: bool) -> Sql:
    return prediction.is_known() if predictions else prediction.is_null()
