"""Heads judged by evidence: what the signature of a tuple says of a head.

If only other facts of the same tuple can refute a head, the tuple's signature alone judges it, and we never look at a body
grounding whose head tuple carries no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from rulescore.logic.refutation import Order
from rulescore.sql.horn.claims import head_argument, own_argument, own_readings
from rulescore.sql.horn.context import HornContext
from rulescore.sql.horn.signatures import MEMBER
from rulescore.sql.names import name
from rulescore.sql.query import Query, Row, Select, alias, exists, row, same, select
from rulescore.sql.words import Sql, all_of, any_of, greatest, sql, when

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
    """Add the step `verdict`: what the signatures of `located` say of its heads; no row if they say nothing.

    The definition counts whether facts confirm or refute a head, the appendix how many do."""
    o, m = row(OPPOSES, "o"), row(MEMBER, "m")
    p = select(_LOCATED.head, _LOCATED.signature).distinct().from_(_LOCATED).as_("p")
    refutes = ~o.head.is_null()
    if context.ambiguous:
        refutes = all_of(refutes, ~_read_before(context.stride, o, m))
    answers = select(p.head, p.signature, c=when(m.literal == p.head, 1, 0), v=when(refutes, 1, 0)).from_(p)
    answers = answers.join(m, m.signature == p.signature).left_join(o, o.head == p.head, o.l0 == m.literal)
    e = answers.as_("e")
    counts = [e.c.sum(), e.v.sum(), e.c.sum() + e.v.sum()] if context.appendix else [e.c.max(), e.v.max(), sql(1)]
    verdict = select(e.head, e.signature, **{name: count.integer() for name, count in zip(COUNTS, counts, strict=True)})
    return query.with_step("verdict", verdict.from_(e).where(any_of(e.c == 1, e.v == 1)).group_by(e.head, e.signature))


def is_found(name: str, field: str) -> Sql:
    return ~alias(name)[field].is_null()


def verdict_of(name: str) -> Sql:
    return all_of(*same(_VERDICT, alias(name), ["head", "signature"]))


def weighed(query: Select, keys: Sequence[str], context: HornContext) -> Select:
    """Counts of `located` claims (`head`, `signature`, `n` and the keys), judged by observed facts alone."""
    given = _LOCATED[keys]
    counts = {count: (_LOCATED.n * _VERDICT[count]).sum() for count in COUNTS}
    query = with_verdicts(query, context).select(*given, **counts)
    return query.from_(_LOCATED).join(_VERDICT, verdict_of("l")).group_by(*given)


def observed_counts(located: Select, context: HornContext, keys: Sequence[str]) -> Select:
    """Counts per rule (and prediction) of claims that observed facts alone judge."""
    return weighed(select().with_step("located", located), keys, context)


def plain_counts(claims: Select, keys: Sequence[str], *, confirmed: bool, refuted: bool, steps: Select | None = None) -> Select:
    """Counts of claims that are all judged alike: the claims of a denial are refuted, those of a predicted head confirmed. `steps`
    precede the query."""
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
    given = [claim[f"reading{index}"] for index in range(readings)]
    opposed: list[Sql] = []
    for index, reading in enumerate(given):
        p = row(OPPOSES, f"p{index}")
        query = query.left_join(p, p.head == claim.head, p.l0 == reading)
        opposed.append(~p.head.is_null())
    itself = any_of(*(reading == claim.head for reading in given))
    confirmed, refuted = any_of(verdict.confirmed == 1, itself), any_of(verdict.refuted == 1, *opposed)
    query = query.select(confirmed=when(confirmed, 1, 0), refuted=when(refuted, 1, 0))
    if keep is not None:
        roles = {"head": itself, "refuter": any_of(*opposed)}
        query = query.where(any_of(*(roles[role] for role in keep)))
    return count_judged(query, ("rule", "prediction"))


def count_judged(judged: Select, keys: Sequence[str]) -> Select:
    """Add up claims that carry `n`, `confirmed` and `refuted` (0 or 1); a claim that is both is evaluable once."""
    j = judged.as_("j")
    evaluable = greatest(j.confirmed, j.refuted)
    values = zip(COUNTS, (j.confirmed, j.refuted, evaluable), strict=True)
    query = select(*j[keys], **{count: (j.n * value).sum() for count, value in values}).from_(j)
    return query.where(evaluable > 0).group_by(*j[keys])
