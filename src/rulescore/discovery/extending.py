"""Extends kept rules that are sometimes broken by one atom between two of their variables.

We count a rule of two atoms by triangles. These also say what else holds between its constants, so we look at no grounding a second
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.counting.parameters import integer_columns
from rulescore.discovery import statements as sql
from rulescore.discovery.graph import Graph, GraphRule, Pattern, X, Y, Z, number, with_bodies
from rulescore.discovery.model import Form
from rulescore.scoring.results import Counts
from rulescore.sql.horn.evidence import MEMBER
from rulescore.sql.horn.triangles import placed, sides
from rulescore.sql.names import name, tuple_table
from rulescore.sql.query import Create, Query, Select, create, drop, row, select, union_all
from rulescore.sql.words import count_rows, when
from rulescore.waiting import tell

_RULES = name("extended")
_XZ, _YZ, _XY = range(3)
r, x, y, e = row(_RULES, "r"), row(MEMBER, "x"), row(MEMBER, "y"), row(MEMBER, "e")


def extensions(graph: Graph, kept: Sequence[GraphRule], reasons: list[str]) -> Iterator[GraphRule]:
    """Every extension that enough groundings confirm."""
    pairs = [rule for rule in kept if rule.counts.refuted and rule.form in (Form.IMPLICATION, Form.INVERSION)]
    chains = [rule for rule in kept if rule.counts.refuted and rule.form is Form.TWO_ATOMS]
    for parents, bodies, ways in ((pairs, _pairs(distinct=graph.distinct), None), (chains, _triangles(), _ways())):
        if parents:
            yield from _of(graph, parents, bodies, ways, reasons)


def _of(graph: Graph, parents: Sequence[GraphRule], bodies: Create, ways: Select | None, reasons: list[str]) -> Iterator[GraphRule]:
    columns: dict[str, list[int]] = {"rule": list(range(len(parents))), "literal": [int(rule.key[0]) for rule in parents]}  # type: ignore[call-overload]
    for place in range(1, len(parents[0].key)):
        columns[f"l{place - 1}"] = [int(rule.key[place]) for rule in parents]  # type: ignore[call-overload]
    graph.engine.load(_RULES, integer_columns(columns))
    try:
        looked, most = None if ways is None else number(graph, ways), graph.options.max_groundings
        tell(f"extending {len(parents):,} rules by an atom", groundings=looked)
        if looked is not None and looked > most:
            reasons.append(
                f"longer rules are left out: extending {len(parents):,} rules looks at {looked:,} kinds of groundings, "
                f"and the limit is {most:,}"
            )
            return
        options = graph.options
        query = sql.judged(
            ["rule", "side", "l2"],
            _RULES,
            options.min_support,
            several=graph.appendix,
            most=1.0 if options.everything else options.max_rate,
            of_rule=True,
        )
        for counts in with_bodies(graph, bodies, query):
            parent = parents[counts["rule"]]
            head, extra = counts["head"], _pattern(counts["side"], counts["l2"])
            yield GraphRule(
                Form.LONGER,
                parent.head,
                (*parent.body, extra),
                Counts(counts["confirmed"], counts["refuted"], counts["confirmed"] + counts["refuted"]),
                counts["bodies"] * graph.facts[head // 2] / graph.tuples[2],
                counts["apart"],
                graph.facts[head // 2],
                counts["confirmed"] if ways is None else None,
                key=_key(parent, counts["side"], counts["l2"]),
                parent=parent,
            )
    finally:
        graph.engine.run(drop(_RULES))


def _pattern(side: int, literal: int) -> Pattern:
    match side:
        case 0:
            return Pattern(literal, (X, Z))
        case 1:
            return Pattern(literal ^ 1, (Z, Y))
        case _:
            return Pattern(literal, (X, Y))


def _key(parent: GraphRule, side: int, literal: int) -> tuple[object, ...]:
    """The head, and the literals on each side of the triangle, in a fixed order."""
    head, *body = parent.key
    on: list[list[object]] = [[body[0]], [body[1]], []] if len(body) == 2 else [[], [], [body[0]]]
    on[side].append(literal)
    return (head, *(tuple(sorted(literals, key=str)) for literals in on))


def _pairs(*, distinct: bool) -> Create:
    """Bodies of two atoms on one pair of constants."""
    t = row(tuple_table(2), "t")
    w = select(t.signature, n=count_rows(), apart=when(t.a0 == t.a1, 0, 1).sum()).from_(t)
    s = w.where(*([t.a0 != t.a1] if distinct else [])).group_by(t.signature).as_("s")
    query = select(r.rule, side=_XY).select(e.literal.named("l2"), *s["signature", "n", "apart"]).from_(s)
    query = query.join(x, x.signature == s.signature).join(r, r.l0 == x.literal)
    return create(sql.BODIES, query.join(e, e.signature == s.signature, e.literal != r.l0, e.literal != r.literal))


def _triangles() -> Create:
    """Bodies of two atoms and one more on a side of the triangle."""
    p = row("placed", "p")
    parts: list[Query] = []
    for side, field, taken in ((_XZ, "xz", "l0"), (_YZ, "yz", "l1"), (_XY, "xy", "literal")):
        part = select(r.rule, side=side).select(e.literal.named("l2"), p.xy.named("signature"), p.n, p.apart).from_(p)
        part = part.join(x, x.signature == p.xz).join(r, r.l0 == x.literal).join(y, y.signature == p.yz, y.literal == r.l1)
        parts.append(part.join(e, e.signature == p[field], e.literal != r[taken]))
    u = union_all(parts).as_("u")
    keys = u["rule", "side", "l2", "signature"]
    query = select(*keys, n=u.n.sum().big(), apart=u.apart.sum().big()).from_(u).group_by(*keys)
    return create(sql.BODIES, query.with_step("sides", sides()).with_step("placed", placed()))


def _ways() -> Select:
    """How many kinds of triangles the bodies of all rules have."""
    p = row("placed", "p")
    query = select(n=count_rows()).from_(p).join(x, x.signature == p.xz).join(r, r.l0 == x.literal)
    query = query.join(y, y.signature == p.yz, y.literal == r.l1)
    return query.with_step("sides", sides()).with_step("placed", placed())
