"""Heads judged by evidence: what the signature of a tuple says of a head.

If only other facts of the same tuple can refute a head, the tuple's signature alone judges it, and we never look at a body
grounding whose head tuple carries no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from rulescore.logic.refutation import Order
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    column,
    equal,
    exists,
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
)
from rulescore.sql.horn.claims import head_argument, own_argument, own_readings
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.signatures import MEMBER

OPPOSES = name("opposes")
COUNTS = ("confirmed", "refuted", "evaluable")


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


def with_verdicts(query: Select, context: HornContext) -> Select:
    """Add the step `verdict`: what the signatures of `located` say of its heads; no row if they say nothing.

    The definition counts whether facts confirm or refute a head, the appendix how many do."""
    pairs = select(column("l", "head"), column("l", "signature")).distinct().from_(table("located", "l"))
    refutes = is_found("o", "head")
    if context.ambiguous:
        refutes = all_of((refutes, negation(_read_before(context.stride))))
    opposed = all_of((equal(column("o", "head"), column("p", "head")), equal(column("o", "l0"), column("m", "literal"))))
    answers = (
        select(
            column("p", "head"),
            column("p", "signature"),
            named(one_if(equal(column("m", "literal"), column("p", "head"))), "c"),
            named(one_if(refutes), "v"),
        )
        .from_(pairs.subquery("p"))
        .join(table(MEMBER, "m"), on=equal(column("m", "signature"), column("p", "signature")))
        .join(table(OPPOSES, "o"), on=opposed, join_type="left")
    )
    c, v = column("e", "c"), column("e", "v")
    if context.appendix:
        counts = [total(c), total(v), exp.Add(this=total(c.copy()), expression=total(v.copy()))]
    else:
        counts = [exp.Max(this=c), exp.Max(this=v), number(1)]
    selected = [named(integer(value), alias) for value, alias in zip(counts, COUNTS, strict=True)]
    verdict = select(column("e", "head"), column("e", "signature"), *selected)
    verdict = verdict.from_(answers.subquery("e")).where(any_of((_is_one(c.copy()), _is_one(v.copy()))))
    return query.with_step("verdict", verdict.group_by(column("e", "head"), column("e", "signature")))


def _is_one(value: exp.Expr) -> exp.Expr:
    return equal(value, number(1))


def is_found(alias: str, field: str) -> exp.Expr:
    return negation(exp.Is(this=column(alias, field), expression=exp.null()))


def verdict_of(alias: str) -> exp.Expr:
    fields = ("head", "signature")
    return all_of(equal(column("v", field), column(alias, field)) for field in fields)


def weighed(query: Select, keys: Sequence[str], context: HornContext) -> Select:
    """Counts of `located` claims (`head`, `signature`, `n` and the keys), judged by observed facts alone."""
    counts = [named(total(product(column("l", "n"), column("v", c))), c) for c in COUNTS]
    query = with_verdicts(query, context).select(*(column("l", key) for key in keys), *counts)
    query = query.from_(table("located", "l")).join(table("verdict", "v"), on=verdict_of("l"))
    return query.group_by(*(column("l", key) for key in keys))


def observed_counts(located: Select, context: HornContext, keys: Sequence[str]) -> Select:
    """Counts per rule (and prediction) of claims that observed facts alone judge."""
    return weighed(select().with_step("located", located), keys, context)


def plain_counts(claims: Select, keys: Sequence[str], *, confirmed: bool, refuted: bool, steps: Select | None = None) -> Select:
    """Counts of claims that are all judged alike: the claims of a denial are refuted, those of a predicted head confirmed. `steps`
    precede the query."""
    n = total(column("k", "n"))
    values = [n if confirmed else number(0), n.copy() if refuted else number(0), n.copy()]
    return (
        (steps or select())
        .select(*(column("k", c) for c in keys), *(named(value, c) for value, c in zip(values, COUNTS, strict=True)))
        .with_named("claims", claims)
        .from_(table("claims", "k"))
        .group_by(*(column("k", c) for c in keys))
    )


def claim_readings(context: HornContext, arity: int) -> list[tuple[exp.Expr, exp.Expr]]:
    """The ways in which a claim's own prediction can be a literal on the head's tuple."""
    own = [column("k", own_argument(i)) for i in range(arity)]
    return own_readings(context, column("k", "own"), own, [column("k", head_argument(i)) for i in range(arity)])


def is_head(readings: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    """Whether the prediction is the head itself."""
    return any_of(all_of((holds.copy(), equal(literal.copy(), column("k", "head")))) for holds, literal in readings)


def prediction_counts(
    located: Query, context: HornContext, readings: int, *, keep: Sequence[str] | None, steps: Select | None = None
) -> Select:
    """Counts per rule and prediction over the observed facts and the prediction together.

    `readings`: how many columns `reading0` … of `located` hold the prediction as a literal on the head's tuple. `keep` restricts to
    claims in which the prediction also plays one of these roles. `steps` precede the query."""
    query = with_verdicts((steps or select()).with_step("located", located), context)
    query = query.select(*(column("l", c) for c in ("rule", "prediction", "n"))).from_(table("located", "l"))
    query = query.join(table("verdict", "v"), on=verdict_of("l"), join_type="left")
    opposed: list[exp.Expr] = []
    for index in range(readings):
        alias = f"p{index}"
        on = (equal(column(alias, "head"), column("l", "head")), equal(column(alias, "l0"), column("l", f"reading{index}")))
        query = query.join(table(OPPOSES, alias), on=all_of(on), join_type="left")
        opposed.append(is_found(alias, "head"))
    itself = any_of(equal(column("l", f"reading{index}"), column("l", "head")) for index in range(readings))
    confirmed = any_of((equal(column("v", "confirmed"), number(1)), itself))
    refuted = any_of([equal(column("v", "refuted"), number(1)), *opposed])
    query = query.select(named(one_if(confirmed), "confirmed"), named(one_if(refuted), "refuted"))
    if keep is not None:
        roles = {"head": itself.copy(), "refuter": any_of(condition.copy() for condition in opposed)}
        query = query.where(any_of(roles[role] for role in keep))
    return count_judged(query, ("rule", "prediction"))


def count_judged(judged: Select, keys: Sequence[str]) -> Select:
    """Add up claims that carry `n`, `confirmed` and `refuted` (0 or 1); a claim that is both is evaluable once."""
    c, v = column("j", "confirmed"), column("j", "refuted")
    evaluable = exp.func("greatest", c, v)
    values = (c.copy(), v.copy(), evaluable)
    sums = [named(total(product(column("j", "n"), value)), alias) for value, alias in zip(values, COUNTS, strict=True)]
    return (
        select(*(column("j", k) for k in keys), *sums)
        .from_(judged.subquery("j"))
        .where(exp.GT(this=evaluable.copy(), expression=number(0)))
        .group_by(*(column("j", k) for k in keys))
    )
