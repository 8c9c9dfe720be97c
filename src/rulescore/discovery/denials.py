"""Finds denial constraints: patterns that never occur in a graph, although chance would make them occur often. The statements below
count how often patterns occur, and how often they would by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from rulescore.discovery.graph import MOST_PREDICATES, Graph, GraphRule, Pattern, X, Y, Z, number
from rulescore.discovery.model import Form
from rulescore.language.syntax import Variable, Wildcard
from rulescore.scoring.results import Counts
from rulescore.sql.names import fact_table, name
from rulescore.sql.query import Create, Select, create, drop, row, select
from rulescore.sql.words import Sql, count_rows

_MOST_OF_A_FORM = 1_000
_DEGREES = name("degrees")
f, d = row(fact_table(2), "f"), row(_DEGREES, "d")


def constraints(graph: Graph, wanted: Iterable[Form], notes: list[str], reasons: list[str]) -> Iterator[GraphRule]:
    """The denial constraints that the data never break and chance would break `min_support` times or more. Within a form, we put
    first what chance would break most often."""
    forms = [form for form in wanted if form.is_denial]
    if graph.appendix:
        if forms:
            reasons.append("denial constraints are left out: the appendix convention cannot count them")
        return
    if graph.of_arity(2) and set(forms) - {Form.INCOMPATIBLE}:
        graph.engine.run(_create_degrees())
    for form in forms:
        rules = sorted(_of_form(graph, form, reasons), key=lambda rule: (-rule.expected, str(rule.body)))
        if len(rules) > _MOST_OF_A_FORM and not graph.options.everything:
            notes.append(
                f"of {len(rules):,} constraints of the form “{form.heading}” {_MOST_OF_A_FORM:,} are looked at: `--all` lists all"
            )
            rules = rules[:_MOST_OF_A_FORM]
        yield from rules
    if graph.of_arity(2) and set(forms) - {Form.INCOMPATIBLE}:
        graph.engine.run(drop(_DEGREES))


def _of_form(graph: Graph, form: Form, reasons: list[str]) -> Iterator[GraphRule]:
    if form is Form.INCOMPATIBLE:
        for arity in (1, 2):
            yield from _incompatible(graph, arity, reasons)
    elif graph.of_arity(2):
        match form:
            case Form.FUNCTIONAL:
                yield from _functional(graph)
            case Form.ASYMMETRIC:
                yield from _never(graph, form, _both_ways(distinct=graph.distinct), (X, Y), (Y, X))
            case Form.IRREFLEXIVE if not graph.distinct:
                yield from _never(graph, form, _loops(), (X, X))
            case Form.DISJOINT:
                yield from _disjoint(graph, reasons)
            case _:
                pass


def _denial(form: Form, body: tuple[Pattern, ...], expected: float) -> GraphRule:
    return GraphRule(form, None, body, Counts(), expected, key=tuple(pattern.literal for pattern in body))


def _incompatible(graph: Graph, arity: int, reasons: list[str]) -> Iterator[GraphRule]:
    """Chance draws the facts of two predicates independently from the tuples that could carry one."""
    predicates = sorted(graph.of_arity(arity), key=lambda predicate: -graph.facts[predicate])
    if len(predicates) > MOST_PREDICATES:
        reasons.append(
            f"{len(predicates):,} predicates of {arity} places make too many pairs: we do not look which of them never meet, "
            "so nothing refutes their facts and no rule has them as its head"
        )
        return
    terms = (X, Y)[:arity]
    for place, left in enumerate(predicates):
        for right in predicates[place + 1 :]:
            expected = graph.facts[left] * graph.facts[right] / graph.tuples[arity]
            if expected < graph.options.min_support:
                break
            if not graph.meet(2 * left, 2 * right):
                first, second = sorted((left, right))
                yield _denial(Form.INCOMPATIBLE, (Pattern(2 * first, terms), Pattern(2 * second, terms)), expected)


def _functional(graph: Graph) -> Iterator[GraphRule]:
    """Chance draws the constant of each fact from all constants that stand in a fact."""
    constants = max(1, number(graph, _count_of_constants()))
    for place in graph.engine.query(_places()).to_pylist():
        facts, expected = int(place["facts"]), place["facts"] * (place["facts"] - 1) / constants
        if place["pairs"] == 0 and facts and expected >= graph.options.min_support:
            literal = int(place["literal"])
            rule = _denial(Form.FUNCTIONAL, (Pattern(literal, (X, Y)), Pattern(literal, (X, Z))), expected)
            yield replace(rule, different=(Y, Z))


def _never(graph: Graph, form: Form, query: Select, *terms: tuple[Variable, ...]) -> Iterator[GraphRule]:
    """Chance pairs each predicate's subjects and objects. Each subject and object keeps its number of facts."""
    for counted in graph.engine.query(query).to_pylist():
        literal = int(counted["literal"])
        expected = counted["chance"] / graph.facts[literal // 2]
        if not counted["n"] and expected >= graph.options.min_support:
            yield _denial(form, tuple(Pattern(literal, pair) for pair in terms), expected)


def _disjoint(graph: Graph, reasons: list[str]) -> Iterator[GraphRule]:
    """Chance draws the constants of two places independently from all that stand in a fact."""
    ways, most = number(graph, _ways_of_places()), graph.options.max_groundings
    if ways > most:
        looked = f"that looks at {ways:,} pairs of places, and the limit is {most:,}"
        reasons.append(f"places that never meet are not looked for: {looked}")
        return
    constants = max(1, number(graph, _count_of_constants()))
    meeting = graph.engine.query(_meeting_places())
    met = set(zip(meeting["left"].to_pylist(), meeting["right"].to_pylist(), strict=True))
    standing = {int(place["literal"]): int(place["constants"]) for place in graph.engine.query(_places()).to_pylist()}
    # Two places meet so often by chance only if each has many constants.
    frequent = sorted(literal for literal, n in standing.items() if n >= graph.options.min_support)
    if len(frequent) > 2 * MOST_PREDICATES:
        reasons.append(f"{len(frequent):,} places make too many pairs: we do not look which of them never meet")
        return
    for left, right in combinations(frequent, 2):
        expected = standing[left] * standing[right] / constants
        if expected >= graph.options.min_support and (left, right) not in met:
            yield _denial(Form.DISJOINT, tuple(Pattern(literal, (X, Wildcard())) for literal in (left, right)), expected)


def _create_degrees() -> Create:
    """For each literal and constant, how many of its facts begin with the constant."""
    query = select(f.literal, f.a0, n=count_rows().cast("DOUBLE")).from_(f)
    return create(_DEGREES, query.group_by(f.literal, f.a0))


def _places() -> Select:
    """For each place: how many constants and facts it has, and how many groundings two facts of one constant make."""
    pairs = (d.n * (d.n - 1)).sum().cast("DOUBLE")
    return select(d.literal, constants=count_rows(), facts=d.n.sum(), pairs=pairs).from_(d).group_by(d.literal)


def _count_of_constants() -> Select:
    """How many constants stand in a fact of two places."""
    c = select(d.a0).distinct().from_(d).as_("c")
    return select(n=count_rows()).from_(c)


def _both_ways(*, distinct: bool) -> Select:
    """For how many facts of each predicate the reversed fact also holds, and for how many it would if chance paired subjects and
    objects."""
    x, y, g = row(_DEGREES, "x"), row(_DEGREES, "y"), row(fact_table(2), "g")
    facing = select(f.literal, chance=(x.n * y.n).sum()).from_(f)
    facing = facing.join(x, x.literal == f.literal, x.a0 == f.a1).join(y, y.literal == f.literal + 1, y.a0 == f.a0)
    c = facing.where(f.literal % 2 == 0).group_by(f.literal).as_("c")
    met = select(f.literal, n=count_rows()).from_(f).join(g, g.literal == f.literal, g.a0 == f.a1, g.a1 == f.a0)
    m = met.where(f.literal % 2 == 0, *_apart(distinct)).group_by(f.literal).as_("m")
    return select(c.literal, c.chance, n=m.n.or_else(0).big()).from_(c).left_join(m, m.literal == c.literal)


def _apart(distinct: bool) -> list[Sql]:
    return [f.a0 != f.a1] if distinct else []


def _loops() -> Select:
    """How many facts of each predicate join a constant to itself, and the sum that says how many would by chance."""
    x, y = row(_DEGREES, "x"), row(_DEGREES, "y")
    c = select(x.literal, chance=(x.n * y.n).sum()).from_(x).join(y, y.literal == x.literal + 1, y.a0 == x.a0)
    c_rows = c.where(x.literal % 2 == 0).group_by(x.literal).as_("c")
    m = select(f.literal, n=count_rows()).from_(f).where(f.a0 == f.a1, f.literal % 2 == 0).group_by(f.literal).as_("m")
    query = select(c_rows.literal, c_rows.chance, n=m.n.or_else(0).big()).from_(c_rows)
    return query.left_join(m, m.literal == c_rows.literal)


def _ways_of_places() -> Select:
    """How many pairs of places `_meeting_places` looks at."""
    k = select(n=count_rows().cast("DOUBLE")).from_(d).group_by(d.a0).as_("k")
    return select(n=(k.n * k.n).sum()).from_(k)


def _meeting_places() -> Select:
    """The pairs of places that share a constant."""
    x, y = row(_DEGREES, "x"), row(_DEGREES, "y")
    query = select(left=x.literal, right=y.literal).distinct().from_(x)
    return query.join(y, y.a0 == x.a0, x.literal < y.literal)
