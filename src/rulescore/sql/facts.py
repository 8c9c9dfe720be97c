"""Statements that turn rows of text keys into numbered, distinct, sorted facts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.logic.refutation import Order, inverse
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    argument,
    arguments,
    big,
    candidate_table,
    column,
    count_rows,
    create,
    equal,
    fact_table,
    integer,
    name,
    named,
    negation,
    number,
    one_if,
    select,
    table,
    union_all,
)
from rulescore.sql.keys import type_letter

CONSTANT = name("constant")
PREDICATE = name("predicate")
ANSWER = name("answer")


def raw_table(kind: str, arity: int) -> str:
    return name(f"raw_{kind}_{arity}")


def raw_counts(tables: Sequence[str]) -> Query:
    """Rows per raw table and predicate."""
    return union_all(
        [
            select(
                named(exp.Literal.string(raw), "source"),
                column("r", "predicate"),
                named(count_rows(), "n"),
            )
            .from_(table(raw, "r"))
            .group_by(column("r", "predicate"))
            for raw in tables
        ]
    )


def raw_letters(tables: Sequence[str], position: int) -> Query:
    """The letters of the types of constants at an argument, for each predicate."""
    letter = named(type_letter(column("r", argument(position))), "letter")
    return union_all([select(column("r", "predicate"), letter.copy()).distinct().from_(table(raw, "r")) for raw in tables])


def create_constants(
    observed: Sequence[tuple[str, int]], others: Sequence[tuple[str, int]], extra: str, in_tables: Sequence[Select] = ()
) -> exp.Create:
    """Every key that occurs in raw tables, given with their arities, gets a number; `extra` is a table of further keys. `linked` is
    1 if the key occurs in an observed fact, or among the keys that `in_tables` select: those get no number for that alone."""
    columns = [_keys_at(raw, place, linked=1) for raw, arity in observed for place in arguments(arity)]
    columns += [_keys_at(raw, place, linked=0) for raw, arity in others for place in arguments(arity)]
    columns.append(_keys_at(extra, "key", linked=0))
    columns += [query.select(named(number(1), "linked"), named(number(0), "occurs")) for query in in_tables]
    keys = select(column("k", "key"), named(exp.Max(this=column("k", "linked")), "linked")).from_(union_all(columns).subquery("k"))
    keys = keys.group_by(column("k", "key"))
    if in_tables:
        keys = keys.having(equal(exp.Max(this=column("k", "occurs")), number(1)))
    return create(CONSTANT, select(numbered(["key"], "d"), *(column("d", c) for c in ("key", "linked"))).from_(keys.subquery("d")))


def _keys_at(source: str, place: str, *, linked: int) -> Select:
    query = select(named(column("r", place), "key"), named(number(linked), "linked"), named(number(1), "occurs"))
    return query.from_(table(source, "r"))


def numbered(order: Sequence[str], source: str, alias: str = "id", offset: int = 0) -> exp.Expr:
    """The numbers of a source's rows in this order, from `offset` on."""
    window = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered(this=column(source, c)) for c in order]))
    return named(integer(exp.Add(this=exp.Paren(this=window), expression=number(offset - 1))), alias)


def encoded(raw: str, arity: int, extra: Sequence[exp.Expr] = ()) -> Select:
    """Rows of a raw table with numbers in place of names: `predicate`, `a0`, …"""
    query = (
        select(named(column("p", "id"), "predicate"), *(named(column(f"c{i}", "id"), argument(i)) for i in range(arity)), *extra)
        .from_(table(raw, "r"))
        .join(table(PREDICATE, "p"), on=equal(column("p", "name"), column("r", "predicate")))
    )
    for i in range(arity):
        query = query.join(table(CONSTANT, f"c{i}"), on=equal(column(f"c{i}", "key"), column("r", argument(i))))
    return query


def _in_order(source: str, arity: int, order: Order, literal: exp.Expr, extra: Sequence[str] = ()) -> Select:
    """Rows of a base table with their arguments reordered, so that `predicate(a[order[0]], …)` is the fact."""
    turned = inverse(order)
    return select(
        *(column("b", field) for field in extra),
        named(integer(literal), "literal"),
        *(named(column("b", argument(turned[i])), argument(i)) for i in range(arity)),
    ).from_(table(source, "b"))


def _literal(stride: int, index: int) -> exp.Expr:
    return exp.Add(this=exp.Mul(this=column("b", "predicate"), expression=number(stride)), expression=number(index))


def create_base(target: str, raw: str, arity: int) -> exp.Create:
    """Distinct facts of one arity, in the order written."""
    return create(target, encoded(raw, arity).distinct())


def create_facts(
    arity: int, observed: str | None, negative: str | None, orders: Sequence[Order], stride: int, predicates: int
) -> exp.Create:
    """All literals of one arity: observed facts in every order in use, negative facts likewise as literals of their own; sorted."""
    parts: list[Query] = []
    if observed is not None:
        parts.extend(_in_order(observed, arity, order, _literal(stride, i)) for i, order in enumerate(orders))
    if negative is not None:
        for i, order in enumerate(orders):
            shifted = exp.Add(this=_literal(stride, i), expression=number(stride * predicates))
            parts.append(_in_order(negative, arity, order, shifted))
    rows = union_all(parts).subquery("f")
    fields = ["literal", *arguments(arity)]
    return create(
        fact_table(arity), select(*(column("f", c) for c in fields)).from_(rows).order_by(*(column("f", c) for c in fields))
    )


def create_candidate_base(target: str, raw: str, arity: int, offset: int, observed: str | None) -> exp.Create:
    """Distinct predicted facts of one arity, numbered, and whether each is observed already, and linked."""
    fields = ["predicate", *arguments(arity)]
    predicted = select(numbered(fields, "d", "prediction", offset), *(column("d", c) for c in (*fields, "linked")))
    linked = one_if(all_of(equal(column(f"c{i}", "linked"), number(1)) for i in range(arity)))
    distinct = encoded(raw, arity, [named(linked, "linked")]).distinct().subquery("d")
    if observed is None:
        return create(target, predicted.select(named(number(0), "observed")).from_(distinct))
    # Facts are distinct. `EXISTS` would put all of them into a hash table, and there are far fewer predictions.
    twin = all_of(equal(column("o", c), column("d", c)) for c in fields)
    known = one_if(negation(exp.Is(this=column("o", "predicate"), expression=exp.null())))
    query = predicted.select(named(known, "observed")).from_(distinct)
    return create(target, query.join(table(observed, "o"), on=twin, join_type="left"))


def create_candidates(arity: int, base: str, orders: Sequence[Order], stride: int) -> exp.Create:
    parts = [_in_order(base, arity, order, _literal(stride, i), ("prediction", "observed")) for i, order in enumerate(orders)]
    return create(candidate_table(arity), union_all(parts))


def answers(raw: str, arity: int, base: str) -> Select:
    """Which model predicted what, with the best score and rank. Of several queries that one prediction answers, the first by their
    texts stands for all."""
    further = [column("r", field) for field in ("model", "score", "rank", "query")]
    rows = encoded(raw, arity, further).subquery("e")
    fields = ["predicate", *arguments(arity)]
    return (
        select(
            column("e", "model"),
            column("b", "prediction"),
            column("b", "observed"),
            column("b", "linked"),
            named(exp.Max(this=column("e", "score")), "score"),
            named(exp.Min(this=column("e", "rank")), "rank"),
            named(exp.Min(this=column("e", "query")), "query"),
        )
        .from_(rows)
        .join(table(base, "b"), on=all_of(equal(column("b", c), column("e", c)) for c in fields))
        .group_by(column("e", "model"), *(column("b", c) for c in ("prediction", "observed", "linked")))
    )


def create_answers(parts: Sequence[Query]) -> exp.Create:
    return create(ANSWER, union_all(parts))


def model_counts() -> Select:
    """By model: how many distinct predictions it has, how many of them are observed, and how many have no known query."""
    alone = one_if(exp.Is(this=column("x", "query"), expression=exp.null()))
    return (
        select(
            column("x", "model"),
            named(count_rows(), "distinct"),
            named(big(exp.Sum(this=column("x", "observed"))), "already_observed"),
            named(big(exp.Sum(this=alone)), "without_query"),
        )
        .from_(table(ANSWER, "x"))
        .group_by(column("x", "model"))
    )


def query_counts(raw: Sequence[str]) -> Select:
    """By model: how many queries its predictions answer, those of repeated predictions included."""
    rows = union_all([select(column("r", "model"), column("r", "query")).from_(table(one, "r")) for one in raw])
    number_of = exp.Count(this=exp.Distinct(expressions=[column("q", "query")]))
    return select(column("q", "model"), named(big(number_of), "queries")).from_(rows.subquery("q")).group_by(column("q", "model"))


def overlap(negative: str, observed: str, arity: int) -> Select:
    """How many negative facts are also observed."""
    fields = ["predicate", *arguments(arity)]
    return (
        select(named(count_rows(), "n"))
        .from_(table(negative, "x"))
        .join(table(observed, "y"), on=all_of(equal(column("x", c), column("y", c)) for c in fields))
    )


def predicate_counts(bases: Sequence[str]) -> Query:
    """Rows per base table, by its place among all, and predicate."""

    def counts(place: int, base: str) -> Select:
        query = select(named(number(place), "place"), column("b", "predicate"), named(count_rows(), "n"))
        return query.from_(table(base, "b")).group_by(column("b", "predicate"))

    return union_all([counts(place, base) for place, base in enumerate(bases)])


def constants_by_key(keys: str) -> Select:
    return (
        select(column("c", "id"), column("c", "key"))
        .from_(table(CONSTANT, "c"))
        .join(table(keys, "k"), on=equal(column("k", "key"), column("c", "key")))
    )


def engine_version() -> Select:
    """The engine's own description of its version, by a function that every engine has."""
    return select(named(exp.Anonymous(this="version"), "version"))
