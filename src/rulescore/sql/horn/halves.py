"""Predictions in chains, and the halves of the chain that they leave on either side of them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    candidate_table,
    column,
    create,
    different,
    equal,
    fact_table,
    name,
    named,
    number,
    select,
    table,
    total,
    union_all,
)
from rulescore.sql.horn.chains import DEGREE, Piece
from rulescore.sql.horn.claims import head_table

_FACT = fact_table(2)
_CANDIDATE = candidate_table(2)

AT_HEAD = -1
"""The first and last atom of a prediction that stands at the head."""
NOTHING = -1
"""The half of a prediction that stands at the end of the chain."""


_ENDS = ("first", "last")


def place_table(group: int) -> str:
    """The literals of bodies by their place, from the head's first argument to its second."""
    return name(f"place_{group}")


def jump_table(group: int) -> str:
    """Every two atoms of a body that one prediction may fill: their places and literals, and the half between them."""
    return name(f"jump_{group}")


def span_table(group: int) -> str:
    """Predictions in bodies, from the first atom that they fill to the last: where they enter (`u`) and leave (`v`), and how many
    paths lead from there to there."""
    return name(f"span_{group}")


def half_table(group: int) -> str:
    """Halves: the number of atoms (`length`), the first literal, the number of the rest (`tail`), the number of the start (all
    atoms but the last), the last literal in both directions, and the one before it."""
    return name(f"half_{group}")


def part_table(group: int) -> str:
    """The starts of each half, by the number of their atoms: their last literal, and the start before it."""
    return name(f"half_part_{group}")


def seat_table(group: int) -> str:
    """Where predictions stand in a body, from atom to atom, and the halves that they leave, seen from either side."""
    return name(f"seat_{group}")


def paths_table(group: int) -> str:
    """How many rows we walk of halves."""
    return name(f"half_paths_{group}")


def either(condition: exp.Expr, true: exp.Expr, false: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=true)], default=false)


def has(alias: str, field: str, value: int) -> exp.Expr:
    return equal(column(alias, field), number(value))


def same(left: str, right: str, *fields: str) -> list[exp.Expr]:
    return [equal(column(left, field), column(right, field)) for field in fields]


def columns(alias: str, *fields: str) -> list[exp.Expr]:
    return [column(alias, field) for field in fields]


def grouped(query: Select, fields: Mapping[str, exp.Expr], n: exp.Expr) -> Select:
    query = query.select(*(named(value, field) for field, value in fields.items()), named(n, "n"))
    return query.group_by(*(value.copy() for value in fields.values() if not isinstance(value, exp.Literal)))


def singles(group: int, *, distinct: bool) -> Select:
    """Spans of predictions that fill one atom."""
    query = select(
        *columns("c", "prediction", "observed"), column("p", "body"), *(named(column("p", "place"), field) for field in _ENDS)
    )
    query = query.select(named(column("c", "a0"), "u"), named(column("c", "a1"), "v"), named(number(1), "n"))
    query = query.from_(table(_CANDIDATE, "c")).join(table(place_table(group), "p"), on=all_of(same("p", "c", "literal")))
    return query.where(different(*columns("c", "a0", "a1"))) if distinct else query


def placed(group: int, piece: Piece | None) -> Select:
    """Predictions in bodies, seen from either side: the ends at which the two halves begin."""
    turned = has("s", "turned", 1)
    far_end = either(turned.copy(), column("v", "u"), column("v", "v"))
    return (
        select(*columns("v", "prediction", "observed", "n"), *columns("s", "body", "turned", "near", "far"))
        .select(named(either(turned, column("v", "v"), column("v", "u")), "near_end"), named(far_end, "far_end"))
        .from_(table(span_table(group), "v"))
        .join(table(seat_table(group), "s"), on=all_of(same("s", "v", "body", "first", "last")))
        .where(*(piece.conditions(far_end.copy()) if piece else ()))
    )


def placed_heads(group: int, piece: Piece | None, *, distinct: bool) -> Select:
    """Predictions that are the head, seen from either side; `far_end` is where the chain begins and `y` where it must end."""
    turned = has("s", "turned", 1)
    far_end = either(turned.copy(), column("c", "a1"), column("c", "a0"))
    return (
        select(*columns("c", "prediction", "literal", "a0", "a1"), *columns("s", "turned", "near", "far"), column("h", "rule"))
        .select(named(far_end, "far_end"), named(either(turned, column("c", "a0"), column("c", "a1")), "y"))
        .from_(table(_CANDIDATE, "c"))
        .join(table(head_table(group), "h"), on=equal(column("h", "literal"), column("c", "literal")))
        .join(table(seat_table(group), "s"), on=all_of([*same("s", "h", "body"), has("s", "first", AT_HEAD)]))
        .where(*(piece.conditions(far_end.copy()) if piece else ()), *([different(*columns("c", "a0", "a1"))] if distinct else []))
    )


def create_paths(group: int, length: int, *, distinct: bool) -> exp.Create:
    """How many rows we walk of each half from each end of a prediction at which it begins: `n`, and `m` without its last atom. We
    add up paths that end alike, so that these are no more than the last atom has facts."""
    ends: list[Query] = [
        select(named(column("p", half), "half"), named(column("p", end), "c")).from_(table("placed", "p"))
        for half, end in (("near", "near_end"), ("far", "far_end"))
    ]
    heads = placed_heads(group, None, distinct=distinct).subquery("p")
    ends.append(select(named(column("p", "far"), "half"), named(column("p", "far_end"), "c")).from_(heads))
    query = select().with_step("placed", placed(group, None))
    query = query.with_step("ends", select(*columns("e", "half", "c")).distinct().from_(union_all(ends).subquery(alias="e")))
    facts = {"literal": column("d", "literal")}
    query = query.with_step("facts", grouped(select().from_(table(DEGREE, "d")), facts, total(_double(column("d", "n")))))
    for index in range(1, length):
        query = query.with_step(f"ways_{index}", _ways(group, index))
    ways = union_all([select("*").from_(table(f"ways_{index}", "w")) for index in range(1, length)])
    query = query.with_step("ways", ways)
    half = all_of(same("h", "e", "half"))
    single = select(*columns("e", "half", "c"), *_one_atom()).from_(table("ends", "e"))
    single = single.join(table(half_table(group), "h"), on=half)
    on = [equal(column("d", "literal"), column("h", "first")), equal(column("d", "a0"), column("e", "c"))]
    single = single.join(table(DEGREE, "d"), on=all_of(on)).where(has("h", "length", 1))
    longer = _with_most(select().from_(table("ends", "e")).join(table(half_table(group), "h"), on=half.copy()))
    on = [equal(column("f", "literal"), column("h", "first")), equal(column("f", "a0"), column("e", "c"))]
    longer = _with_tail(longer.join(table(_FACT, "f"), on=all_of(on)), "ways", {"half": column("e", "half"), "c": column("e", "c")})
    both = union_all([single, longer]).subquery("b")
    return create(paths_table(group), query.select("*").from_(both))


def _one_atom() -> tuple[exp.Expr, exp.Expr]:
    return named(_double(column("d", "n")), "n"), named(_double(number(1)), "m")


def _double(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "DOUBLE", copy=False)


def _with_most(query: Select) -> Select:
    """Join how many facts the last atom of each half has (`n`), and the atom before it (`m`)."""
    query = query.join(table("facts", "m"), on=equal(column("m", "literal"), column("h", "before")))
    return query.join(table("facts", "n"), on=equal(column("n", "literal"), column("h", "literal")))


def _with_tail(query: Select, ways: str, fields: Mapping[str, exp.Expr]) -> Select:
    """One atom, and the ways from its end through the rest of the half."""
    on = [equal(column("w", "half"), column("h", "tail")), equal(column("w", "a"), column("f", "a1"))]
    query = query.join(table(ways, "w"), on=all_of(on))
    n, m = (exp.func("least", total(column("w", field)), exp.Min(this=column(field, "n"))) for field in ("n", "m"))
    return grouped(query, fields, n).select(named(m, "m"))


def _ways(group: int, length: int) -> Select:
    """How many rows we walk, from each constant, of each half of that length that is the rest of another."""
    query = select().from_(table(half_table(group), "h")).where(has("h", "length", length), has("h", "is_tail", 1))
    literal = column("h", "first")
    if length == 1:
        query = query.select(column("h", "half"), named(column("d", "a0"), "a"), *_one_atom())
        return query.join(table(DEGREE, "d"), on=equal(column("d", "literal"), literal))
    query = _with_most(query).join(table(_FACT, "f"), on=equal(column("f", "literal"), literal))
    return _with_tail(query, f"ways_{length - 1}", {"half": column("h", "half"), "a": column("f", "a0")})


def sizes(group: int, *, distinct: bool) -> Select:
    """How many paths each far half has from its chosen ends: the whole half in bodies, all atoms but the last at heads."""
    query = select().with_step("placed", placed(group, None)).with_step("chosen", chosen(group))
    query = query.with_step("placed_heads", placed_heads(group, None, distinct=distinct))
    query = query.with_step("chosen_heads", chosen_heads(group, "placed_heads"))
    parts: list[Query] = []
    for source, n, at_head in (("chosen", "n", 0), ("chosen_heads", "m", 1)):
        ends = select(*columns("p", "far", "far_end")).distinct().from_(table(source, "p")).subquery("e")
        part = select().from_(ends)
        part = part.join(table(paths_table(group), "p"), on=_paths_on("p", column("e", "far"), column("e", "far_end")))
        parts.append(grouped(part, {"at_head": number(at_head), "far": column("e", "far")}, total(column("p", n))))
    return query.select("*").from_(union_all(parts).subquery("u"))


def _is_cheaper(n: str) -> exp.Expr:
    """Whether this is the cheaper of the two views of a prediction: fewer paths in `a` than in `b`; if equal, the view that is not
    turned."""
    less = exp.LT(this=column("a", n), expression=column("b", n))
    return any_of((less, all_of((*same("a", "b", n), has("p", "turned", 0)))))


def _paths_on(alias: str, half: exp.Expr, end: exp.Expr) -> exp.Expr:
    return all_of((equal(column(alias, "half"), half), equal(column(alias, "c"), end)))


def chosen(group: int) -> Select:
    """Predictions in bodies that have paths on both sides, seen from the side with fewer."""
    fields = ("prediction", "observed", "n", "body", "turned", "near", "far", "near_end", "far_end")
    near = table(paths_table(group), "a")
    far = table(paths_table(group), "b")
    return (
        select(*columns("p", *fields), named(column("b", "n"), "far_n"))
        .from_(table("placed", "p"))
        .join(near, on=_paths_on("a", column("p", "near"), column("p", "near_end")), join_type="left")
        .join(far, on=_paths_on("b", column("p", "far"), column("p", "far_end")))
        .where(any_of((has("p", "near", NOTHING), _is_cheaper("n"))))
    )


def chosen_heads(group: int, source: str) -> Select:
    return (
        select(*columns("p", "rule", "prediction", "literal", "a0", "a1", "far", "far_end", "y"))
        .from_(table(source, "p"))
        .join(table(paths_table(group), "a"), on=_paths_on("a", column("p", "far"), column("p", "far_end")))
        .join(table(paths_table(group), "b"), on=_paths_on("b", column("p", "near"), column("p", "y")))
        .where(_is_cheaper("m"))
    )
