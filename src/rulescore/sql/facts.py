"""Statements that turn rows of text keys into numbered, distinct, sorted facts."""

from __future__ import annotations

from collections.abc import Sequence

from rulescore.logic.refutation import Order, inverse
from rulescore.sql.keys import type_letter
from rulescore.sql.names import argument, arguments, candidate_table, fact_table, name
from rulescore.sql.query import Create, Query, Select, create, row, same, select, union_all
from rulescore.sql.words import Sql, all_of, call, count_rows, row_number, sql, when

CONSTANT = name("constant")
PREDICATE = name("predicate")
ANSWER = name("answer")


def raw_table(kind: str, arity: int) -> str:
    return name(f"raw_{kind}_{arity}")


def raw_counts(tables: Sequence[str]) -> Query:
    """Rows per raw table and predicate."""

    def counts(raw: str) -> Select:
        r = row(raw, "r")
        return select(sql(raw).named("source"), r.predicate, n=count_rows()).from_(r).group_by(r.predicate)

    return union_all([counts(raw) for raw in tables])


def raw_letters(tables: Sequence[str], position: int) -> Query:
    """The letters of the types of constants at an argument, for each predicate."""
    rows = [row(raw, "r") for raw in tables]
    return union_all([select(r.predicate, letter=type_letter(r[argument(position)])).distinct().from_(r) for r in rows])


def create_constants(
    observed: Sequence[tuple[str, int]], others: Sequence[tuple[str, int]], extra: str, in_tables: Sequence[Select] = ()
) -> Create:
    """Every key that occurs in raw tables, given with their arities, gets a number; `extra` is a table of further keys. `linked` is
    1 if the key occurs in an observed fact, or among the keys that `in_tables` select: those get no number for that alone."""
    places = [_keys_at(raw, place, linked=1) for raw, arity in observed for place in arguments(arity)]
    places += [_keys_at(raw, place, linked=0) for raw, arity in others for place in arguments(arity)]
    places.append(_keys_at(extra, "key", linked=0))
    places += [query.select(linked=1, occurs=0) for query in in_tables]
    k = union_all(places).as_("k")
    keys = select(k.key, linked=k.linked.max()).from_(k).group_by(k.key)
    d = (keys.having(k.occurs.max() == 1) if in_tables else keys).as_("d")
    return create(CONSTANT, select(numbered([d.key]).named("id"), d.key, d.linked).from_(d))


def _keys_at(source: str, place: str, *, linked: int) -> Select:
    r = row(source, "r")
    return select(key=r[place], linked=linked, occurs=1).from_(r)


def numbered(order: Sequence[Sql], offset: int = 0) -> Sql:
    """The numbers of rows in this order, from `offset` on."""
    return (row_number(*order).paren() + (offset - 1)).integer()


def encoded(raw: str, arity: int, extra: Sequence[Sql] = ()) -> Select:
    """Rows `r` of a raw table with numbers in place of names: `predicate`, `a0`, …"""
    r, p = row(raw, "r"), row(PREDICATE, "p")
    constants = [row(CONSTANT, f"c{i}") for i in range(arity)]
    query = select(p.id.named("predicate"), *(c.id.named(argument(i)) for i, c in enumerate(constants)), *extra)
    query = query.from_(r).join(p, p.name == r.predicate)
    for i, c in enumerate(constants):
        query = query.join(c, c.key == r[argument(i)])
    return query


def _in_order(
    source: str, arity: int, order: Order, index: int, stride: int, extra: tuple[str, ...] = (), beyond: int = 0
) -> Select:
    """Rows of a base table with their arguments reordered, so that `predicate(a[order[0]], …)` is the fact; `index` is the order's.
    `beyond` is added to the literal."""
    b, turned = row(source, "b"), inverse(order)
    literal = b.predicate * stride + index
    values = (b[argument(turned[i])].named(argument(i)) for i in range(arity))
    return select(*b[extra], (literal + beyond if beyond else literal).integer().named("literal"), *values).from_(b)


def create_base(target: str, raw: str, arity: int) -> Create:
    """Distinct facts of one arity, in the order written."""
    return create(target, encoded(raw, arity).distinct())


def create_facts(
    arity: int, observed: str | None, negative: str | None, orders: Sequence[Order], stride: int, predicates: int
) -> Create:
    """All literals of one arity: observed facts in every order in use, negative facts likewise as literals of their own; sorted."""
    parts: list[Query] = []
    for source, beyond in ((observed, 0), (negative, stride * predicates)):
        if source is not None:
            parts += [_in_order(source, arity, order, i, stride, beyond=beyond) for i, order in enumerate(orders)]
    f = union_all(parts).as_("f")
    fields = f[["literal", *arguments(arity)]]
    return create(fact_table(arity), select(*fields).from_(f).order_by(*fields))


def create_candidate_base(target: str, raw: str, arity: int, offset: int, observed: str | None) -> Create:
    """Distinct predicted facts of one arity, numbered, and whether each is observed already, and linked."""
    fields = ["predicate", *arguments(arity)]
    linked = when(all_of(*(row(CONSTANT, f"c{i}").linked == 1 for i in range(arity))), 1, 0)
    d = encoded(raw, arity, [linked.named("linked")]).distinct().as_("d")
    predicted = select(numbered(d[fields], offset).named("prediction"), *d[fields], d.linked).from_(d)
    if observed is None:
        return create(target, predicted.select(observed=0))
    # Facts are distinct. `EXISTS` would put all of them into a hash table, and there are far fewer predictions.
    o = row(observed, "o")
    return create(target, predicted.select(observed=when(~o.predicate.is_null(), 1, 0)).left_join(o, *same(o, d, fields)))


def create_candidates(arity: int, base: str, orders: Sequence[Order], stride: int) -> Create:
    further = ("prediction", "observed")
    return create(
        candidate_table(arity), union_all([_in_order(base, arity, order, i, stride, further) for i, order in enumerate(orders)])
    )


def answers(raw: str, arity: int, base: str) -> Select:
    """Which model predicted what, with the best score and rank. Of several queries that one prediction answers, the first by their
    texts stands for all."""
    e = encoded(raw, arity, row(raw, "r")["model", "score", "rank", "query"]).as_("e")
    b = row(base, "b")
    keys = [e.model, b.prediction, b.observed, b.linked]
    query = select(*keys, score=e.score.max(), rank=e.rank.min(), query=e.query.min()).from_(e)
    return query.join(b, *same(b, e, ["predicate", *arguments(arity)])).group_by(*keys)


def create_answers(parts: Sequence[Query]) -> Create:
    return create(ANSWER, union_all(parts))


def model_counts() -> Select:
    """By model: how many distinct predictions it has, how many of them are observed, and how many have no known query."""
    x = row(ANSWER, "x")
    observed, alone = x.observed.sum().big(), when(x.query.is_null(), 1, 0).sum().big()
    query = select(x.model, distinct=count_rows(), already_observed=observed, without_query=alone)
    return query.from_(x).group_by(x.model)


def query_counts(raw: Sequence[str]) -> Select:
    """By model: how many queries its predictions answer, those of repeated predictions included."""
    rows = [row(source, "r") for source in raw]
    q = union_all([select(r.model, r.query).from_(r) for r in rows]).as_("q")
    return select(q.model, queries=q.query.count_distinct().big()).from_(q).group_by(q.model)


def overlap(negative: str, observed: str, arity: int) -> Select:
    """How many negative facts are also observed."""
    x, y = row(negative, "x"), row(observed, "y")
    return select(n=count_rows()).from_(x).join(y, *same(x, y, ["predicate", *arguments(arity)]))


def predicate_counts(bases: Sequence[str]) -> Query:
    """Rows per base table, by its place among all, and predicate."""

    def counts(place: int, base: str) -> Select:
        b = row(base, "b")
        return select(sql(place).named("place"), b.predicate, n=count_rows()).from_(b).group_by(b.predicate)

    return union_all([counts(place, base) for place, base in enumerate(bases)])


def constants_by_key(keys: str) -> Select:
    c, k = row(CONSTANT, "c"), row(keys, "k")
    return select(c.id, c.key).from_(c).join(k, k.key == c.key)


def engine_version() -> Select:
    """The engine's own description of its version, by a function that every engine has."""
    return select(version=call("version"))
