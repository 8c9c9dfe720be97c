"""Judges heads by evidence: the numbered sets of literals that hold of tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from sqlglot import exp

from rulescore.logic.refutation import Order
from rulescore.sql.horn.claims import HornContext, flipped, head_argument, own_argument, own_readings
from rulescore.sql.names import argument, arguments, fact_table, name, prediction_table, tuple_table
from rulescore.sql.query import Create, Query, Row, Select, alias, create, exists, row, same, select, union_all
from rulescore.sql.words import Sql, all_of, any_of, count_rows, greatest, identifier, row_number, sorted_list, sql, when

SIGNATURE = name("signature")
MEMBER = name("member")
INVERSE = name("inverse_signature")


def _extremes(arity: int) -> str:
    return name(f"extremes_{arity}")


def _sets(arity: int) -> str:
    return name(f"signature_set_{arity}")


def _literals(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> Row:
    """Literals on tuples. `marked` adds a mark if two orders read a tuple alike. The mark distinguishes one fact that is read both
    ways from two facts."""
    if not marked:
        return row(fact_table(arity), "f")
    x = row(fact_table(arity), "x")
    parts: list[Query] = [select(*x[arguments(arity)], x.literal).from_(x)]
    for (i, first), (j, second) in combinations(enumerate(orders), 2):
        alike = [x[argument(a)] == x[argument(b)] for a, b in zip(first, second, strict=True) if a != b]
        mark = sql(order_mark(i, j, stride)).integer()
        parts.append(select(*x[arguments(arity)], literal=mark).distinct().from_(x).where(*alike))
    return union_all(parts).as_("f")


def order_mark(first: int, second: int, stride: int) -> int:
    """The mark of two orders that read a tuple alike; no literal is negative."""
    return -1 - (first * stride + second)


def create_extremes(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> Create:
    """Each tuple that carries a fact, with the least and the greatest of its literals."""
    f = _literals(arity, orders, stride, marked=marked)
    keys = f[arguments(arity)]
    return create(_extremes(arity), select(*keys, least=f.literal.min(), greatest=f.literal.max()).from_(f).group_by(*keys))


def create_sets(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> Create:
    """Each tuple that carries several literals, with the sorted list of them."""
    f, x = _literals(arity, orders, stride, marked=marked), row(_extremes(arity), "x")
    keys = arguments(arity)
    query = select(*f[keys], members=sorted_list(f.literal)).from_(f).join(x, *same(x, f, keys), x.least < x.greatest)
    return create(_sets(arity), query.group_by(*f[keys]))


def create_signatures(arities: Sequence[int], literals: int) -> Create:
    """A number for each set of several literals, beyond the numbers of single literals."""
    rows = [row(_sets(arity), "t") for arity in arities]
    s = union_all([select(t.members).distinct().from_(t) for t in rows]).as_("s")
    return create(SIGNATURE, select((row_number() + literals).integer().named("signature"), s.members).from_(s))


def create_tuples(arity: int, *, facts: bool, predictions: bool) -> Create:
    """Every tuple of a fact or a prediction, with its signature; 0 if no fact holds of it."""
    keys = arguments(arity)
    x, t, s, c = row(_extremes(arity), "x"), row(_sets(arity), "t"), row(SIGNATURE, "s"), row(prediction_table(arity), "c")
    parts: list[Query] = []
    if facts:
        parts.append(select(*x[keys], signature=_single(x.least)).from_(x).where(x.least == x.greatest))
        parts.append(select(*t[keys], s.signature).from_(t).join(s, s.members == t.members))
    if predictions:
        fresh = select(*c[keys], signature=sql(0).integer()).distinct().from_(c)
        parts.append(fresh.where(~exists(x, *same(x, c, keys))) if facts else fresh)
    return create(tuple_table(arity), union_all(parts))


def _single(literal: Sql) -> Sql:
    return (literal + 1).integer()


def create_members(arities: Sequence[int]) -> Create:
    """Signatures and the literals in them."""
    s = row(SIGNATURE, "s")
    literal = exp.Unnest(expressions=[s.members.node], alias=identifier("literal"))
    several = select(s.signature, literal).from_(s)
    rows = [row(_extremes(arity), "x") for arity in arities]
    singles = [select(signature=_single(x.least), literal=x.least).distinct().from_(x).where(x.least == x.greatest) for x in rows]
    return create(MEMBER, union_all([several, *singles]))


def create_inverses(stride: int) -> Create:
    """The signature of each binary tuple with its arguments exchanged: the same literals, each reversed."""
    m, s, x = row(MEMBER, "m"), row(SIGNATURE, "s"), row("turned", "x")
    # A mark for both orders of a tuple is negative.
    literal = when(m.literal < 0, m.literal, flipped(m.literal, stride))
    turned = select(m.signature, members=sorted_list(literal.integer()), n=count_rows()).from_(m).group_by(m.signature)
    several = select(x.signature, inverse=s.signature).from_(x).join(s, s.members == x.members)
    single = select(x.signature, inverse=_single(flipped(m.literal, stride))).from_(x)
    single = single.join(m, m.signature == x.signature).where(x.n == 1)
    return create(INVERSE, select("*").with_step("turned", turned).from_(union_all([several, single]).as_("b")))


def intermediate_tables(arity: int) -> tuple[str, ...]:
    """Tables to drop once signatures are numbered."""
    return (_extremes(arity), _sets(arity))


def cooccurrences(arity: int, stride: int, predicates: int) -> Select:
    """Pairs of literals of observed facts, arguments in the order written, and the number of tuples they share."""
    t, x, y = row(tuple_table(arity), "t"), row(MEMBER, "x"), row(MEMBER, "y")
    w = select(t.signature, n=count_rows()).from_(t).group_by(t.signature).as_("w")
    return (
        select(left=x.literal, right=y.literal, n=w.n.sum())
        .from_(w)
        .join(x, x.signature == w.signature)
        .join(y, y.signature == w.signature, x.literal < y.literal)
        .where(*_as_written(x, stride, predicates), *_as_written(y, stride, predicates))
        .group_by(x.literal, y.literal)
    )


def _as_written(fact: Row, stride: int, predicates: int) -> tuple[Sql, Sql]:
    """A literal of an observed fact, arguments in the order written."""
    return fact.literal % stride == 0, _observed(fact, stride, predicates)


def _observed(fact: Row, stride: int, predicates: int) -> Sql:
    return fact.literal.between(0, stride * predicates - 1)


def tuples_with_facts(arity: int, arities: Sequence[int], stride: int, predicates: int) -> Select:
    """The number of constants in observed facts of any arity, of pairs that have a fact in either order, of longer tuples that have
    one as written."""
    places = [(n, [position]) for n in arities for position in range(n)] if arity == 1 else [(arity, list(range(arity)))]
    parts: list[Query] = []
    for width, positions in places:
        f = row(fact_table(width), "f")
        tuples = select(**{argument(place): f[argument(position)] for place, position in enumerate(positions)}).from_(f)
        wanted = [_observed(f, stride, predicates)] if arity == 2 else _as_written(f, stride, predicates)
        parts.append(tuples.where(*wanted))
    u = union_all(parts).as_("u")
    d = select(*u[arguments(arity)]).from_(u).distinct().as_("d")
    return select(n=count_rows()).from_(d)


OPPOSES = name("opposes")
COUNTS = ("confirmed", "refuted", "evaluable")

_LOCATED, _VERDICT = row("located", "l"), row("verdict", "v")


def _read_before(stride: int, o: Row, m: Row) -> Sql:
    """Whether a refuting literal `o` is the same fact as another refuting literal of a lower number."""
    q, y = row(OPPOSES, "q"), row(MEMBER, "y")
    order, other_order = (o.l0 % stride).paren(), (q.l0 % stride).paren()
    mark = sql(-1) - (other_order * stride + order)
    same_predicate = q.l0 - other_order == o.l0 - order
    earlier = select(1).from_(q).join(y, y.literal == mark)
    return exists(earlier.where(q.head == o.head, same_predicate, q.l0 < o.l0, y.signature == m.signature))


def read_alike_before(orders: Sequence[Order], stride: int, values: Sequence[Sql]) -> Sql:
    """Whether the tuple `values` reads a refuting literal `o` as the same fact as another refuting literal of a lower number."""
    q, o = row(OPPOSES, "q"), alias("o")
    choices = []
    for (i, first), (j, second) in combinations(enumerate(orders), 2):
        alike = [values[a] == values[b] for a, b in zip(first, second, strict=True) if a != b]
        choices.append(all_of(*alike, q.l0 == o.l0 - (j - i), o.l0 % stride == j))
    return exists(q, q.head == o.head, any_of(*choices))


def with_verdicts(query: Select, context: HornContext) -> Select:
    """Add the step `verdict`: the verdicts of the signatures of `located` on its heads; no row if there is no verdict.

    The definition asks whether facts confirm or refute a head; the appendix counts the facts that do."""
    o, m = row(OPPOSES, "o"), row(MEMBER, "m")
    p = select(_LOCATED.head, _LOCATED.signature).distinct().from_(_LOCATED).as_("p")
    refutes = ~o.head.is_null()
    if context.ambiguous:
        refutes = all_of(refutes, ~_read_before(context.stride, o, m))
    verdicts = select(p.head, p.signature, c=when(m.literal == p.head, 1, 0), v=when(refutes, 1, 0)).from_(p)
    verdicts = verdicts.join(m, m.signature == p.signature).left_join(o, o.head == p.head, o.l0 == m.literal)
    e = verdicts.as_("e")
    counts = [e.c.sum(), e.v.sum(), e.c.sum() + e.v.sum()] if context.appendix else [e.c.max(), e.v.max(), sql(1)]
    verdict = select(e.head, e.signature, **{name: count.integer() for name, count in zip(COUNTS, counts, strict=True)})
    return query.with_step("verdict", verdict.from_(e).where(any_of(e.c == 1, e.v == 1)).group_by(e.head, e.signature))


def verdict_of(name: str) -> Sql:
    return all_of(*same(_VERDICT, alias(name), ["head", "signature"]))


def weighed(query: Select, keys: Sequence[str], context: HornContext) -> Select:
    """Counts of `located` claims (`head`, `signature`, `n` and the keys), judged by observed facts alone."""
    weights = _LOCATED[keys]
    counts = {count: (_LOCATED.n * _VERDICT[count]).sum() for count in COUNTS}
    query = with_verdicts(query, context).select(*weights, **counts)
    return query.from_(_LOCATED).join(_VERDICT, verdict_of("l")).group_by(*weights)


def observed_counts(located: Select, context: HornContext, keys: Sequence[str]) -> Select:
    """Counts per rule (and prediction) of claims that observed facts alone judge."""
    return weighed(select().with_step("located", located), keys, context)


def plain_counts(claims: Select, keys: Sequence[str], *, confirmed: bool, refuted: bool, steps: Select | None = None) -> Select:
    """Counts of claims that all get the same verdict. The claims of a denial are refuted; the claims of a predicted head are
    confirmed. `steps` precede the query."""
    k = row("claims", "k")
    n = k.n.sum()
    query = (steps or select()).select(*k[keys], confirmed=n if confirmed else 0, refuted=n if refuted else 0, evaluable=n)
    return query.with_named("claims", claims).from_(k).group_by(*k[keys])


def claim_readings(context: HornContext, arity: int) -> list[tuple[Sql, Sql]]:
    """The ways in which a claim's own prediction can be a literal on the head's tuple."""
    k = alias("k")
    own = [k[own_argument(i)] for i in range(arity)]
    return own_readings(context, k.own, own, [k[head_argument(i)] for i in range(arity)])


def is_head(readings: Sequence[tuple[Sql, Sql]]) -> Sql:
    """Whether the prediction is the head itself."""
    return any_of(*(all_of(holds, literal == alias("k").head) for holds, literal in readings))


def prediction_counts(
    located: Query, context: HornContext, readings: int, *, keep: Sequence[str] | None, steps: Select | None = None
) -> Select:
    """Counts per rule and prediction over the observed facts and the prediction together.

    `readings`: how many columns `reading0` … of `located` hold the prediction as a literal on the head's tuple. `keep` restricts to
    claims in which the prediction also plays one of these roles. `steps` precede the query."""
    claim, verdict = _LOCATED, _VERDICT
    query = with_verdicts((steps or select()).with_step("located", located), context)
    query = query.select(claim.rule, claim.prediction, claim.n).from_(claim).left_join(verdict, verdict_of("l"))
    readings_given = [claim[f"reading{index}"] for index in range(readings)]
    opposed: list[Sql] = []
    for index, reading in enumerate(readings_given):
        p = row(OPPOSES, f"p{index}")
        query = query.left_join(p, p.head == claim.head, p.l0 == reading)
        opposed.append(~p.head.is_null())
    itself = any_of(*(reading == claim.head for reading in readings_given))
    confirmed, refuted = any_of(verdict.confirmed == 1, itself), any_of(verdict.refuted == 1, *opposed)
    query = query.select(confirmed=when(confirmed, 1, 0), refuted=when(refuted, 1, 0))
    if keep is not None:
        roles = {"head": itself, "refuter": any_of(*opposed)}
        query = query.where(any_of(*(roles[role] for role in keep)))
    return count_judged(query, ("rule", "prediction"))


def count_judged(judged: Select, keys: Sequence[str]) -> Select:
    """Add up claims that carry `n`, `confirmed` and `refuted` (0 or 1); a claim that is both is evaluable once."""
    j = replace(judged, steps=()).as_("j")
    evaluable = greatest(j.confirmed, j.refuted)
    values = zip(COUNTS, (j.confirmed, j.refuted, evaluable), strict=True)
    query = select(*j[keys], **{count: (j.n * value).sum() for count, value in values}).from_(j)
    return replace(query, steps=judged.steps).where(evaluable > 0).group_by(*j[keys])
