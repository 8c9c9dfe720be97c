"""Statements that judge their claims alike become one, which judges the claims of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rulescore.sql import query
from rulescore.sql.query import Select, alias, select, union_all

# The names of the steps that find claims. What follows such a step judges each claim by itself, and adds up.
_CLAIMS = ("claims", "located")


def united(statements: Sequence[Select]) -> list[Select]:
    """Fewer statements with the same counts in all. They may give one rule's counts in fewer rows, added up already."""
    alike: dict[str, list[Select]] = {}
    for index, statement in enumerate(statements):
        alike.setdefault(_judgement(statement) or f"{index}", []).append(statement)
    return [_of_all(some) for some in alike.values()]


def _place(statement: Select) -> int:
    """Where among the steps the claims are."""
    return [step.alias in _CLAIMS for step in statement.steps].index(True)


def _judgement(statement: Select) -> str | None:
    """The text of what follows the claims, and the fields that these have; None if the statement finds no claims."""
    if not any(step.alias in _CLAIMS for step in statement.steps):
        return None
    place = _place(statement)
    claims = _step(statement, select(**dict.fromkeys(_fields(statement), 0)))
    return query.text(replace(statement, steps=(claims, *statement.steps[place + 1 :])), "duckdb")


def _fields(statement: Select) -> list[str]:
    return sorted(statement.steps[_place(statement)].this.named_selects)


def _of_all(statements: Sequence[Select]) -> Select:
    if len(statements) == 1:
        return statements[0]
    first = statements[0]
    claims = union_all([_claims(statement) for statement in statements])
    return replace(first, steps=(_step(first, claims), *first.steps[_place(first) + 1 :]))


def _claims(statement: Select) -> Select:
    """The claims of a statement with the steps before them."""
    place, fields = _place(statement), alias("q")[_fields(statement)]
    rows = exp.Subquery(this=statement.steps[place].this, alias=exp.TableAlias(this=exp.Identifier(this="q", quoted=False)))
    found = replace(select(*fields).from_(rows), steps=statement.steps[:place])
    return select(*fields).from_(found.as_("q"))


def _step(statement: Select, claims: query.Query) -> exp.CTE:
    """The step of the claims, with other claims."""
    step = statement.steps[_place(statement)]
    return exp.CTE(this=claims.tree(), alias=step.args["alias"], materialized=step.args.get("materialized"))
