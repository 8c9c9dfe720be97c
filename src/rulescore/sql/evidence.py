"""Evidence by numbers: the set of literals that hold of a tuple is its *signature*, and a signature judges every head at once.

Heads that only other facts of the same tuple can refute are judged by a lookup in a table of signatures and heads, and a body
grounding whose head tuple carries no fact is never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from rulescore.logic.refutation import Order
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    argument,
    arguments,
    candidate_table,
    column,
    count_rows,
    create,
    equal,
    exists,
    fact_table,
    integer,
    name,
    named,
    negation,
    number,
    one_if,
    product,
    select,
    table,
    total,
    tuple_table,
    union_all,
)
from rulescore.sql.claims import Context, flipped, head_argument, own_argument

SIGNATURE = name("signature")
MEMBER = name("member")
VERDICT = name("verdict")
OPPOSES = name("opposes")
JUDGED = name("judged_head")
COUNTS = ("confirmed", "refuted", "evaluable")


def _sets(arity: int) -> str:
    return name(f"signature_set_{arity}")


def create_tuple_sets(arity: int, orders: Sequence[Order], stride: int, *, marked: bool) -> exp.Create:
    """Each tuple that carries a fact, with the sorted list of its literals.

    `marked` adds a mark for every two orders that read the tuple alike, so that one fact read both ways can be told from two."""
    keys = [column("f", a) for a in arguments(arity)]
    members = exp.func("list_sort", exp.func("list", column("f", "literal")))
    source: exp.Expr = table(fact_table(arity), "f")
    if marked:
        fields = [*arguments(arity), "literal"]
        parts: list[exp.Query] = [select(*(column("x", c) for c in fields)).from_(table(fact_table(arity), "x"))]
        for (i, first), (j, second) in combinations(enumerate(orders), 2):
            alike = [
                equal(column("x", argument(a)), column("x", argument(b))) for a, b in zip(first, second, strict=True) if a != b
            ]
            mark = named(integer(number(_mark(i, j, stride))), "literal")
            part = select(*(column("x", a) for a in arguments(arity)), mark).distinct()
            parts.append(part.from_(table(fact_table(arity), "x")).where(*alike))
        source = union_all(parts).subquery(alias="f", copy=False)
    query = select(*keys, named(members, "members")).from_(source)
    return create(_sets(arity), query.group_by(*(key.copy() for key in keys)))


def _mark(first: int, second: int, stride: int) -> int:
    """The mark of two orders that read a tuple alike; no literal is negative."""
    return -1 - (first * stride + second)


def create_signatures(arities: Sequence[int]) -> exp.Create:
    """A number, from 1, for each set of literals that occurs."""
    sets = union_all([select(column("t", "members")).distinct().from_(table(_sets(n), "t")) for n in arities])
    number_of = named(integer(exp.Window(this=exp.RowNumber())), "signature")
    return create(SIGNATURE, select(number_of, column("s", "members")).from_(sets.subquery(alias="s", copy=False)))


def create_tuples(arity: int, *, facts: bool, candidates: bool) -> exp.Create:
    """Every tuple of a fact or a prediction, with its signature; 0 where no fact holds of it."""
    keys = arguments(arity)
    parts: list[exp.Query] = []
    if facts:
        parts.append(
            select(*(column("t", a) for a in keys), column("s", "signature"))
            .from_(table(_sets(arity), "t"))
            .join(table(SIGNATURE, "s"), on=equal(column("s", "members"), column("t", "members")))
        )
    if candidates:
        fresh = select(*(column("c", a) for a in keys), named(integer(number(0)), "signature"))
        fresh = fresh.distinct().from_(table(candidate_table(arity), "c"))
        if facts:
            known = select(number(1)).from_(table(_sets(arity), "t"))
            fresh = fresh.where(negation(exists(known.where(*(equal(column("t", a), column("c", a)) for a in keys)))))
        parts.append(fresh)
    return create(tuple_table(arity), union_all(parts))


def create_members() -> exp.Create:
    """Signatures and the literals in them."""
    literal = named(exp.Unnest(expressions=[column("s", "members")]), "literal")
    return create(MEMBER, select(column("s", "signature"), literal).from_(table(SIGNATURE, "s")))


def _read_before(stride: int) -> exp.Expr:
    """Whether a refuting literal is the same fact as another refuting literal of a lower number."""

    def order(alias: str) -> exp.Expr:
        return exp.Paren(this=exp.Mod(this=column(alias, "l0"), expression=number(stride)))

    mark = exp.Sub(
        this=number(-1),
        expression=exp.Paren(this=exp.Add(this=exp.Mul(this=order("q"), expression=number(stride)), expression=order("o"))),
    )
    same_predicate = equal(
        exp.Sub(this=column("q", "l0"), expression=order("q")), exp.Sub(this=column("o", "l0"), expression=order("o"))
    )
    earlier = (
        select(number(1))
        .from_(table(OPPOSES, "q"))
        .join(table(MEMBER, "y"), on=equal(column("y", "literal"), mark))
        .where(
            equal(column("q", "head"), column("o", "head")),
            same_predicate,
            exp.LT(this=column("q", "l0"), expression=column("o", "l0")),
            equal(column("y", "signature"), column("m", "signature")),
        )
    )
    return exists(earlier)


def read_alike_before(orders: Sequence[Order], stride: int, values: Sequence[exp.Expr]) -> exp.Expr:
    """Whether the tuple `values` reads a refuting literal `o` as the same fact as another refuting literal of a lower number."""
    choices = []
    for (i, first), (j, second) in combinations(enumerate(orders), 2):
        alike = [equal(values[a].copy(), values[b].copy()) for a, b in zip(first, second, strict=True) if a != b]
        lower = equal(column("q", "l0"), exp.Sub(this=column("o", "l0"), expression=number(j - i)))
        of_order = equal(exp.Mod(this=column("o", "l0"), expression=number(stride)), number(j))
        choices.append(all_of([*alike, lower, of_order]))
    earlier = select(number(1)).from_(table(OPPOSES, "q")).where(equal(column("q", "head"), column("o", "head")), any_of(choices))
    return exists(earlier)


def create_verdicts(*, appendix: bool, ambiguous: bool, stride: int) -> exp.Create:
    """What each signature says of each head that is judged by evidence; no row where it says nothing.

    `ambiguous` says that one predicate opposes a head in two orders, so that one fact can be read as two literals."""
    confirmed = (
        select(column("m", "signature"), named(column("h", "literal"), "head"), named(number(1), "c"), named(number(0), "v"))
        .from_(table(MEMBER, "m"))
        .join(table(JUDGED, "h"), on=equal(column("h", "literal"), column("m", "literal")))
    )
    refuted = (
        select(column("m", "signature"), column("o", "head"), named(number(0), "c"), named(number(1), "v"))
        .from_(table(MEMBER, "m"))
        .join(table(OPPOSES, "o"), on=equal(column("o", "l0"), column("m", "literal")))
    )
    if ambiguous:
        refuted = refuted.where(negation(_read_before(stride)))
    c, v = column("e", "c"), column("e", "v")
    if appendix:
        counts = [total(c), total(v), exp.Add(this=total(c.copy()), expression=total(v.copy()))]
    else:
        counts = [exp.Max(this=c), exp.Max(this=v), number(1)]
    selected = [named(integer(value), alias) for value, alias in zip(counts, COUNTS, strict=True)]
    query = select(column("e", "signature"), column("e", "head"), *selected)
    query = query.from_(union_all([confirmed, refuted]).subquery(alias="e", copy=False))
    return create(VERDICT, query.group_by(column("e", "signature"), column("e", "head")))


def cooccurrences(arity: int, stride: int, predicates: int) -> Select:
    """Pairs of literals of observed facts, arguments in the order written, and the number of tuples they share."""
    weights = select(column("t", "signature"), named(count_rows(), "n")).from_(table(tuple_table(arity), "t"))
    weights = weights.group_by(column("t", "signature"))
    as_written = [
        condition
        for alias in ("x", "y")
        for condition in (
            equal(exp.Mod(this=column(alias, "literal"), expression=number(stride)), number(0)),
            exp.LT(this=column(alias, "literal"), expression=number(stride * predicates)),
        )
    ]
    return (
        select(named(column("x", "literal"), "left"), named(column("y", "literal"), "right"), named(total(column("w", "n")), "n"))
        .from_(weights.subquery(alias="w", copy=False))
        .join(table(MEMBER, "x"), on=equal(column("x", "signature"), column("w", "signature")))
        .join(
            table(MEMBER, "y"),
            on=all_of(
                (
                    equal(column("y", "signature"), column("w", "signature")),
                    exp.LT(this=column("x", "literal"), expression=column("y", "literal")),
                )
            ),
        )
        .where(*as_written)
        .group_by(column("x", "literal"), column("y", "literal"))
    )


def _tuple_of_claim(arity: int) -> exp.Expr:
    return all_of(equal(column("t", argument(i)), column("k", head_argument(i))) for i in range(arity))


def _verdict_of_claim() -> exp.Expr:
    signature = equal(column("v", "signature"), column("t", "signature"))
    return all_of((signature, equal(column("v", "head"), column("k", "head"))))


def _weighted() -> list[exp.Expr]:
    return [named(total(product(column("k", "n"), column("v", c))), c) for c in COUNTS]


def observed_counts(claims: Select, arity: int, keys: Sequence[str]) -> Select:
    """Counts per rule (and prediction) where observed facts alone confirm and refute."""
    return (
        select(*(column("k", c) for c in keys), *_weighted())
        .with_("claims", as_=claims)
        .from_(table("claims", "k"))
        .join(table(tuple_table(arity), "t"), on=_tuple_of_claim(arity))
        .join(table(VERDICT, "v"), on=_verdict_of_claim())
        .group_by(*(column("k", c) for c in keys))
    )


def plain_counts(claims: Select, keys: Sequence[str], *, confirmed: bool, refuted: bool) -> Select:
    """Counts where every claim is judged alike: a denial's are refuted, a predicted head's are confirmed."""
    n = total(column("k", "n"))
    values = [n if confirmed else number(0), n.copy() if refuted else number(0), n.copy()]
    return (
        select(*(column("k", c) for c in keys), *(named(value, c) for value, c in zip(values, COUNTS, strict=True)))
        .with_("claims", as_=claims)
        .from_(table("claims", "k"))
        .group_by(*(column("k", c) for c in keys))
    )


def own_readings(context: Context, arity: int) -> list[tuple[exp.Expr, exp.Expr]]:
    """The ways in which a claim's own prediction can be a literal on the head's tuple: a condition, and that literal."""
    own = column("k", "own")
    if arity == 2:
        straight = all_of(equal(column("k", own_argument(i)), column("k", head_argument(i))) for i in (0, 1))
        turned = all_of(equal(column("k", own_argument(i)), column("k", head_argument(1 - i))) for i in (0, 1))
        return [(straight, own), (turned, flipped(own.copy(), context.stride))]
    readings: list[tuple[exp.Expr, exp.Expr]] = []
    for index, order in enumerate(context.orders_of(arity)):
        holds = all_of(equal(column("k", head_argument(order[j])), column("k", own_argument(j))) for j in range(arity))
        readings.append((holds, exp.Add(this=own.copy(), expression=number(index))))
    return readings


def is_head(readings: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    """Whether the prediction is the head itself."""
    return any_of(all_of((holds.copy(), equal(literal.copy(), column("k", "head")))) for holds, literal in readings)


def prediction_counts(claims: Select, context: Context, arity: int, *, own: bool, keep: Sequence[str] | None) -> Select:
    """Counts per rule and prediction over the observed facts and the prediction together.

    `own` says that predictions have the head's arity, so that they can confirm or refute it. `keep` restricts to claims in
    which the prediction also plays one of these roles."""
    readings = own_readings(context, arity) if own else []
    query = (
        select(column("k", "rule"), column("k", "prediction"), column("k", "n"))
        .from_(table("claims", "k"))
        .join(table(tuple_table(arity), "t"), on=_tuple_of_claim(arity))
        .join(table(VERDICT, "v"), on=_verdict_of_claim(), join_type="left")
    )
    opposed: list[exp.Expr] = []
    for index, (holds, literal) in enumerate(readings):
        alias = f"p{index}"
        reading = exp.Case(ifs=[exp.If(this=holds.copy(), true=literal.copy())])
        on = all_of((equal(column(alias, "head"), column("k", "head")), equal(column(alias, "l0"), reading)))
        query = query.join(table(OPPOSES, alias), on=on, join_type="left")
        opposed.append(negation(exp.Is(this=column(alias, "head"), expression=exp.null())))
    itself = is_head(readings)
    confirmed = any_of((equal(column("v", "confirmed"), number(1)), itself))
    refuted = any_of([equal(column("v", "refuted"), number(1)), *opposed])
    query = query.select(named(one_if(confirmed), "confirmed"), named(one_if(refuted), "refuted"))
    if keep is not None:
        roles = {"head": itself.copy(), "refuter": any_of(condition.copy() for condition in opposed)}
        query = query.where(any_of(roles[role] for role in keep))
    return count_judged(query.with_("claims", as_=claims), ("rule", "prediction"))


def count_judged(judged: Select, keys: Sequence[str]) -> Select:
    """Add up claims that carry `n`, `confirmed` and `refuted` (0 or 1); a claim that is both is evaluable once."""
    c, v = column("j", "confirmed"), column("j", "refuted")
    evaluable = exp.func("greatest", c, v)
    values = (c.copy(), v.copy(), evaluable)
    sums = [named(total(product(column("j", "n"), value)), alias) for value, alias in zip(values, COUNTS, strict=True)]
    return (
        select(*(column("j", k) for k in keys), *sums)
        .from_(judged.subquery(alias="j", copy=False))
        .where(exp.GT(this=evaluable.copy(), expression=number(0)))
        .group_by(*(column("j", k) for k in keys))
    )
