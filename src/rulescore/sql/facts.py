"""Statements that turn rows of text keys into numbered, distinct, sorted facts and predictions, and into relations of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.logic.refutation import Order, Orders
from rulescore.sql.names import argument, arguments, fact_table, name, prediction_table
from rulescore.sql.query import Create, Query, Row, Select, create, drop, exists, row, same, select, union_all, view
from rulescore.sql.values import NUMBER, constant_in, digits, is_fraction, is_no_integer, key, length, type_letter, typed_text, word
from rulescore.sql.words import Sql, all_of, call, case, count_rows, row_number, sql, when
from rulescore.values import Value, ValueType, key_of

CONSTANT = name("constant")
PREDICATE = name("predicate")
MODEL_PREDICTION = name("answer")


def raw_table(kind: str, arity: int) -> str:
    return name(f"raw_{kind}_{arity}")


def base_table(kind: str, arity: int) -> str:
    return name(f"base_{kind}_{arity}")


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
    """Rows of a base table with their arguments reordered, so `predicate(a[order[0]], …)` is the fact; `index` is the order's.
    `beyond` is added to the literal."""
    b = row(source, "b")
    literal = b.predicate * stride + index
    values = (b[argument(order.index(i))].named(argument(i)) for i in range(arity))
    return select(*b[extra], (literal + beyond if beyond else literal).integer().named("literal"), *values).from_(b)


def numbering(
    arities_of: Mapping[str, Sequence[int]],
    predicted_rows: Mapping[int, int],
    orders: Orders,
    stride: int,
    predicates: int,
    in_tables: Sequence[Select],
    offset: int,
    *,
    ordered: bool,
) -> Iterator[Create | exp.Drop]:
    """The statements that number staged facts of these kinds and arities, and note which model predicts what. `in_tables`: what
    models predict for tables. These predictions are numbered already, and predicted facts get the numbers from `offset` on.
    `ordered`: whether to sort the facts."""
    for arity in sorted({*arities_of["observed"], *arities_of["negative"]}):
        bases = {kind: base_table(kind, arity) for kind in ("observed", "negative") if arity in arities_of[kind]}
        for kind, base in bases.items():
            # Distinct facts, in the order written.
            yield create(base, encoded(raw_table(kind, arity), arity).distinct())
            yield drop(raw_table(kind, arity))
        literals = _literals(arity, bases.get("observed"), bases.get("negative"), orders[arity], stride, predicates)
        yield create(fact_table(arity), literals.order_by(*literals.fields) if ordered else literals)
    predictions = [*in_tables]
    for arity in arities_of["predicted"]:
        raw, base = raw_table("predicted", arity), base_table("predicted", arity)
        yield _create_prediction_base(base, raw, arity, offset, observed=arity in arities_of["observed"])
        yield _create_numbered_predictions(arity, base, orders[arity], stride)
        predictions.append(_model_predictions(raw, arity, base))
        offset += predicted_rows[arity]
    if predictions:
        yield create(MODEL_PREDICTION, union_all(predictions))


def _literals(
    arity: int, observed: str | None, negative: str | None, orders: Sequence[Order], stride: int, predicates: int
) -> Select:
    """All literals of one arity: observed facts in every order in use, and negative facts, which have literals of their own."""
    parts: list[Query] = []
    for source, beyond in ((observed, 0), (negative, stride * predicates)):
        if source is not None:
            parts += [_in_order(source, arity, order, i, stride, beyond=beyond) for i, order in enumerate(orders)]
    f = union_all(parts).as_("f")
    return select(*f[["literal", *arguments(arity)]]).from_(f)


def _create_prediction_base(target: str, raw: str, arity: int, offset: int, *, observed: bool) -> Create:
    """Distinct predicted facts of one arity, numbered, and whether each is observed already, and linked."""
    fields = ["predicate", *arguments(arity)]
    linked = when(all_of(*(row(CONSTANT, f"c{i}").linked == 1 for i in range(arity))), 1, 0)
    d = encoded(raw, arity, [linked.named("linked")]).distinct().as_("d")
    predicted = select(numbered(d[fields], offset).named("prediction"), *d[fields], d.linked).from_(d)
    if not observed:
        return create(target, predicted.select(observed=0))
    # Facts are distinct. `EXISTS` would put all facts into a hash table, and there are far fewer predictions.
    o = row(base_table("observed", arity), "o")
    return create(target, predicted.select(observed=when(~o.predicate.is_null(), 1, 0)).left_join(o, *same(o, d, fields)))


def _create_numbered_predictions(arity: int, base: str, orders: Sequence[Order], stride: int) -> Create:
    further = ("prediction", "observed")
    return create(
        # We store binary predictions in both orders, like facts, so a rule that reads them backwards keeps its shape (0006).
        prediction_table(arity),
        union_all([_in_order(base, arity, order, i, stride, further) for i, order in enumerate(orders)]),
    )


def _model_predictions(raw: str, arity: int, base: str) -> Select:
    """Which model predicted what, with the best score and rank. If a prediction answers several queries, we keep the first in the
    order of texts."""
    e = encoded(raw, arity, row(raw, "r")["model", "score", "rank", "query"]).as_("e")
    b = row(base, "b")
    keys = [e.model, b.prediction, b.observed, b.linked]
    query = select(*keys, score=e.score.max(), rank=e.rank.min(), query=e.query.min()).from_(e)
    return query.join(b, *same(b, e, ["predicate", *arguments(arity)])).group_by(*keys)


def summary(arities_of: Mapping[str, Sequence[int]], *, predicted: bool) -> dict[str, Query]:
    """The statements that count what `numbering` made, by what they count. `predicted`: whether models predict anything."""
    bases = [(kind, base_table(kind, arity)) for kind, arities in arities_of.items() for arity in arities]
    both = sorted({*arities_of["observed"]} & {*arities_of["negative"]})
    raw = [raw_table("predicted", arity) for arity in arities_of["predicted"]]
    c, x = row(CONSTANT, "c"), row(MODEL_PREDICTION, "x")
    k = select(mark=type_letter(c.key)).from_(c).as_("k")
    statements: dict[str, Query] = {"types": select(k.mark, n=count_rows()).from_(k).group_by(k.mark)}
    if bases:
        statements["facts"] = union_all([_facts_by_predicate(kind, base) for kind, base in bases])
    if both:
        statements["overlaps"] = union_all(list(map(_overlap, both)))
    if predicted:
        observed, alone = x.observed.sum().big(), when(x.query.is_null(), 1, 0).sum().big()
        counts = select(x.model, distinct=count_rows(), already_observed=observed, without_query=alone)
        statements["models"] = counts.from_(x).group_by(x.model)
    if raw:
        # Repeated predictions answer their queries, too.
        q = union_all([select(r.model, r.query).from_(r) for r in (row(source, "r") for source in raw)]).as_("q")
        statements["queries"] = select(q.model, queries=q.query.count_distinct().big()).from_(q).group_by(q.model)
    return statements


def _facts_by_predicate(kind: str, base: str) -> Select:
    b = row(base, "b")
    return select(sql(kind).named("kind"), b.predicate, n=count_rows()).from_(b).group_by(b.predicate)


def _overlap(arity: int) -> Select:
    """How many negative facts are also observed."""
    x, y = row(base_table("negative", arity), "x"), row(base_table("observed", arity), "y")
    return select(n=count_rows()).from_(x).join(y, *same(x, y, ["predicate", *arguments(arity)]))


def constants_by_key(keys: str) -> Select:
    c, k = row(CONSTANT, "c"), row(keys, "k")
    return select(c.id, c.key).from_(c).join(k, k.key == c.key)


def engine_version() -> Select:
    """The engine's own description of its version, by a function that every engine has."""
    return select(version=call("version"))


@dataclass(frozen=True, slots=True)
class PredictedFacts:
    """The predicted facts of one arity."""

    arity: int
    stride: int

    def literals(self) -> Select:
        """The number and the literal of each prediction, as it was read."""
        p = self._row()
        return select(p.prediction, p.literal).from_(p).where(self._as_read(p))

    def unlinked(self) -> Select:
        """The keys in each model's predictions that do not occur in the data."""
        u = union_all([self._unlinked_at(i) for i in range(self.arity)]).as_("u")
        return select(u.model, u.key).distinct().from_(u)

    def _unlinked_at(self, place: int) -> Select:
        p, a, c = self._row(), row(MODEL_PREDICTION, "a"), row(CONSTANT, "c")
        query = select(a.model, c.key).from_(p).join(a, a.prediction == p.prediction).join(c, c.id == p[argument(place)])
        return query.where(c.linked == 0, self._as_read(p))

    def with_keys(self, query: Select, prediction: Sql) -> Select:
        """A query with a prediction in each row: the rows whose prediction is one of these, with its `literal` and its keys."""
        p = self._row()
        query = query.join(p, p.prediction == prediction, self._as_read(p)).select(p.literal)
        for i in range(self.arity):
            c = row(CONSTANT, f"c{i}")
            query = query.join(c, c.id == p[argument(i)]).select(c.key.named(argument(i)))
        return query

    def with_values(self, literal: int, values: Sequence[Value]) -> Select | None:
        """The predictions of a literal whose first arguments are these values, and the models that make them; None if there can be
        no such prediction."""
        p = self._row()
        query = _with_query(p)
        for i, value in enumerate(values):
            c = row(CONSTANT, f"c{i}")
            query = query.join(c, c.id == p[argument(i)]).where(c.key == key_of(value))
        return query.where(p.literal == literal)

    def _row(self) -> Row:
        return row(prediction_table(self.arity), "p")

    def _as_read(self, p: Row) -> Sql:
        return p.literal % self.stride == 0


def _with_query(p: Row) -> Select:
    a = row(MODEL_PREDICTION, "a")
    return select(p.prediction, a.model).from_(p).join(a, a.prediction == p.prediction)


@dataclass(frozen=True, slots=True)
class PredictedTargets:
    """The predictions of a table's target. `source`: the table with a row for each, `fields`: its columns for the key and the
    target, with their types."""

    source: str
    fields: Sequence[tuple[str, ValueType]]
    literal: int

    @property
    def arity(self) -> int:
        return len(self.fields)

    def literals(self) -> Select:
        p = row(self.source, "p")
        return select(p.prediction, literal=sql(self.literal).integer()).from_(p)

    def with_keys(self, query: Select, prediction: Sql) -> Select:
        p = row(self.source, "p")
        keys = {argument(i): key(p[field], kind) for i, (field, kind) in enumerate(self.fields)}
        return query.join(p, p.prediction == prediction).select(literal=sql(self.literal).integer(), **keys)

    def with_values(self, literal: int, values: Sequence[Value]) -> Select | None:
        p = row(self.source, "p")
        wanted = [(field, constant_in(value, kind)) for (field, kind), value in zip(self.fields, values, strict=False)]
        same = [p[field] == value for field, value in wanted if value is not None]
        return _with_query(p).where(*same) if literal == self.literal and len(same) == len(values) else None


Predictions = PredictedFacts | PredictedTargets


WHOLE, OTHER = "i", "f"
"""The letters of integers of 64 bits, and of all other numbers."""

TYPES = {
    "s": ValueType.STRING,
    "b": ValueType.BOOLEAN,
    "d": ValueType.DATE,
    "t": ValueType.DATETIME,
    "z": ValueType.INSTANT,
    WHOLE: ValueType.INTEGER,
    OTHER: ValueType.FLOAT,
}
"""The types that `position_types` finds, by their letters."""

# Every integer of fewer digits equals a double.
_SURELY_EXACT = 15


@dataclass(frozen=True, slots=True)
class Position:
    """An argument of the literals of a table, or of some of them."""

    source: str
    number: int
    literals: Sequence[int] | None = None


def position_types(positions: Sequence[Position]) -> Select:
    """The types of constants at positions, for each literal: a letter, and the key of an example. `place` is the index of a
    position. We compute the types of constants before the join, since constants are far fewer than their occurrences."""
    c, p = row(CONSTANT, "c"), constants_at(positions)
    letter = type_letter(c.key)
    mark = case((letter != NUMBER, letter), (is_no_integer(c.key), OTHER), default=WHOLE)
    m = select(c.id, c.key, mark=mark).from_(c).as_("m")
    keys = [p.place, p.literal, m.mark]
    return select(*keys, example=m.key.min()).from_(p).join(m, m.id == p.constant).group_by(*keys)


def long_integers(positions: Sequence[Position]) -> Select:
    """The keys of whole numbers at positions that may be too long for a double, for each literal."""
    c, p = row(CONSTANT, "c"), constants_at(positions)
    wanted = type_letter(c.key) == NUMBER, ~is_fraction(c.key), length(digits(c.key)) > _SURELY_EXACT
    m = select(c.id, c.key).from_(c).where(*wanted).as_("m")
    return select(p.place, p.literal, m.key).distinct().from_(p).join(m, m.id == p.constant)


def constants_at(positions: Sequence[Position]) -> Row:
    """The constants of literals at positions: `place`, `literal` and `constant`."""
    return union_all([_constants_at(place, position) for place, position in enumerate(positions)]).as_("p")


def _constants_at(place: int, position: Position) -> Select:
    f = row(position.source, "f")
    query = select(sql(place).named("place"), f.literal, constant=f[argument(position.number)]).from_(f)
    return query if position.literals is None else query.where(f.literal.is_in(position.literals))


def relation_table(kind: str, index: int) -> str:
    return name(f"{kind}_relation_{index}")


def create_relation(target: str, source: str, literal: int, types: Sequence[ValueType], extra: tuple[str, ...] = ()) -> Create:
    """The facts of one literal, their constants decoded."""
    return create(target, _facts(source, [literal], types, extra))


def create_keys(target: str, source: str, arity: int, literals: Sequence[int], extra: tuple[str, ...] = ()) -> Create:
    """The facts of several literals with the keys of their constants."""
    return create(target, _facts(source, literals, [ValueType.MIXED] * arity, ("literal", *extra)))


def create_view(target: str, keys: str, literal: int, types: Sequence[ValueType], extra: tuple[str, ...] = ()) -> Create:
    """The facts of one literal as a view on `create_keys`, their constants decoded. A planner may decode constants before it drops
    the facts of other literals. These may have other types, so our casts give NULL instead of an error."""
    f = row(keys, "f")
    values = [_decoded(f[argument(i)], wanted).named(argument(i)).node.copy() for i, wanted in enumerate(types)]
    for value in values:
        for cast in list(value.find_all(exp.Cast)):
            cast.replace(exp.TryCast(this=cast.this, to=cast.to))
    return view(target, select(*f[extra], *values).from_(f).where(f.literal == literal))


@dataclass(frozen=True, slots=True)
class Part:
    """Some positions of the facts of a literal whose other positions have certain constants: `among` are their keys. `alike`: pairs
    of positions with one constant."""

    literal: int
    picked: tuple[int, ...]
    among: tuple[tuple[int, tuple[str, ...]], ...]
    alike: tuple[tuple[int, int], ...]

    def of(self, source: str, alias: str, extra: tuple[str, ...] = ()) -> Select:
        """The numbers of the constants that are picked from the rows of a table, as `a0`, `a1`, …"""
        f = row(source, alias)
        query = select(*f[extra], **{argument(i): f[argument(place)] for i, place in enumerate(self.picked)}).from_(f)
        for place, keys in self.among:
            c = row(CONSTANT, f"{alias}{place}")
            query = query.join(c, c.id == f[argument(place)], c.key.is_in(keys))
        equal = (f[argument(left)] == f[argument(right)] for left, right in self.alike)
        return query.where(f.literal == self.literal, *equal)


def part_of_facts(part: Part, source: str, types: Sequence[ValueType]) -> Select:
    """What a definition picks from the observed facts, each tuple once, its constants decoded."""
    return decoded_rows(part.of(source, "f").distinct(), types, ())


def part_of_predictions(part: Part, source: str, observed: str | None, types: Sequence[ValueType]) -> Select:
    """What a definition picks from the predictions. A tuple is observed if any observed fact gives it, even a fact other than the
    prediction."""
    p = part.of(source, "p", ("prediction",)).as_("p")
    there: Sql = sql(0)
    if observed is not None:
        names = arguments(len(part.picked))
        o = part.of(observed, "o").as_("o")
        there = when(exists(o, *same(o, p, names)), 1, 0)
    fields = p[["prediction", *arguments(len(part.picked))]]
    return decoded_rows(select(*fields, observed=there).distinct().from_(p), types, ("prediction", "observed"))


def decoded_rows(rows: Select, types: Sequence[ValueType], extra: tuple[str, ...]) -> Select:
    d = rows.as_("d")
    query = select(*d[extra]).from_(d)
    for i, wanted in enumerate(types):
        c = row(CONSTANT, f"c{i}")
        query = query.join(c, c.id == d[argument(i)]).select(_decoded(c.key, wanted).named(argument(i)))
    return query


def _facts(source: str, literals: Sequence[int], types: Sequence[ValueType], extra: tuple[str, ...]) -> Select:
    f = row(source, "f")
    query = select(*f[extra]).from_(f)
    for i, wanted in enumerate(types):
        c = row(CONSTANT, f"c{i}")
        query = query.join(c, c.id == f[argument(i)]).select(_decoded(c.key, wanted).named(argument(i)))
    return query.where(f.literal.is_in(literals))


def _decoded(key: Sql, wanted: ValueType) -> Sql:
    """A constant's value; its key if types are mixed."""
    if wanted is ValueType.MIXED:
        return key
    return typed_text(word(key), wanted)
