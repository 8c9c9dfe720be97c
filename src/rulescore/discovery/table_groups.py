"""Rules about rows of one group: values lie close together, or not far from their average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from rulescore.counting.proximity import close_pairs, ordered
from rulescore.discovery.model import Form
from rulescore.discovery.table_search import (
    ROWS,
    SHUFFLED,
    Candidate,
    Search,
    SearchedColumn,
    count_if,
    telling,
    together,
)
from rulescore.discovery.table_words import pair_of, round_grid, row_of, rule_of
from rulescore.language import syntax
from rulescore.logic.formula import ResolvedAtom
from rulescore.logic.proximity import Proximity
from rulescore.logic.tolerances import log_distance
from rulescore.scoring.results import Tolerance
from rulescore.sql.query import Query, row, select
from rulescore.sql.values import constant
from rulescore.sql.words import count_rows, sql
from rulescore.values import ValueType

_FEWEST_VALUES = 20
"""A column with fewer values is a class, not a measure."""
_MOST_UNEXPLAINED = 0.7
"""A grouping tells something of a measure if ranks vary within groups at most this share of what they vary among all rows."""
_MOST_GROUPINGS = 20
_PERCENTAGES = (5, 10, 20, 50, 100)
_NEXT = 3
_ANOTHER = "another tolerance of a rule that is kept"
_UPPER, _LOWER = (1.5, 2, 3, 5, 10), (0.5, 0.3, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A column of numbers within the groups that other columns make.

    `unexplained`: the variance of its ranks within groups, divided by their variance among all rows. `trials`: how many rows there
    are beyond the first of each group.
    """

    groups: tuple[SearchedColumn, ...]
    measured: SearchedColumn
    unexplained: float
    trials: int


def groupings(search: Search) -> list[Grouping]:
    """The groupings that explain most of a measure. Two columns make groups only if they explain clearly more than each alone."""
    measures = [column for column in search.columns if column.is_number and column.distinct >= _FEWEST_VALUES]
    grouping = [
        column
        for column in search.columns
        if column.is_class and column.known - column.distinct >= search.options.min_support and column.distinct <= column.known / 3
    ]
    costs = ((count + comb(count, 2)) * len(measures) for count in range(1, len(grouping) + 1))
    grouping = list(search.affordable(grouping, costs, "groups")) if measures else []
    sets = [(column,) for column in grouping] + list(combinations(grouping, 2))
    cases = [(groups, measured) for groups in sets for measured in measures if measured not in groups]
    kept: dict[tuple[tuple[SearchedColumn, ...], SearchedColumn], Grouping] = {}
    variances = together(search, [_variance(number, *case) for number, case in enumerate(cases)])
    for variance in sorted(variances, key=lambda row: row["number"]):  # single columns come before the pairs that have them
        groups, measured = cases[variance["number"]]
        trials = int(variance["rows"] or 0) - int(variance["groups"] or 0)
        whole = variance["rows"] and variance["squares"] - variance["total"] ** 2 / variance["rows"]
        if trials < search.options.min_support or not whole:
            continue
        share = (variance["within"] / trials) / (whole / max(variance["rows"] - 1, 1))
        best = min((kept[(group,), measured].unexplained for group in groups if ((group,), measured) in kept), default=1.0)
        if share <= _MOST_UNEXPLAINED * (1.0 if len(groups) == 1 else best):
            kept[groups, measured] = Grouping(groups, measured, share, trials)
    # Sums of doubles differ in their last digits from run to run.
    order = {grouping: [column.place for column in (*grouping.groups, grouping.measured)] for grouping in kept.values()}
    return sorted(order, key=lambda grouping: (round(grouping.unexplained, 9), order[grouping]))[:_MOST_GROUPINGS]


def tolerances(search: Search, chosen: Sequence[Grouping]) -> list[Candidate]:
    """For each grouping, the least round tolerance that rows of one group seldom break, if rows of different groups break it far
    more often. If everything is listed, we add the tolerances next to it, whatever their rates. We skip tables with a key of
    several columns, because no plan counts their pairs by sorting."""
    if len(search.key) > 1:
        return []
    grids = {grid[0]: grid for grid in (_closest(search, case) for case in chosen) if grid}
    return [candidate for picked in telling(grids, 2 * len(chosen)) for candidate in grids[picked]]


def averages(search: Search, chosen: Sequence[Grouping]) -> list[Candidate]:
    """For each grouping, multiples of the group's average that values seldom exceed, or seldom fall below, although by chance they
    often would."""
    cases = [case for case in chosen if float(case.measured.ordered()[0][0]) > 0]
    candidates = []
    by_chance = together(search, [_against_average(SHUFFLED, number, case) for number, case in enumerate(cases)])
    expected = {row["number"]: row for row in by_chance}
    for counts in together(search, [_against_average(ROWS, number, case) for number, case in enumerate(cases)]):
        case, chance = cases[counts["number"]], expected[counts["number"]]
        known = counts["known"] or 0
        for factors in (_UPPER, _LOWER):
            factor = next((factor for factor in factors if (counts[_field(factor)] or 0) <= search.options.max_rate * known), None)
            if factor is not None and known >= search.options.min_support:
                rate, usual = counts[_field(factor)] / known, chance[_field(factor)] / max(chance["known"], 1)
                candidates.append(Candidate(Form.RELATIVE_BOUND, _relative(search, case, factor), rate, case.trials, usual))
    return telling(candidates, len(cases) * (len(_UPPER) + len(_LOWER)))


def _closest(search: Search, case: Grouping) -> list[Candidate]:
    """The tolerance, as a distance or in percent, that is least likely by chance, before the tolerances next to it."""
    values, _ = case.measured.ordered()
    span = float(values[-1]) - float(values[0])
    limits = [Tolerance(distance) for distance in round_grid(span / 10_000, span / 2)]
    whole = case.measured.type is ValueType.INTEGER
    grids = [_grid(search, case, [limit for limit in limits if not whole or isinstance(limit.value, int)])]
    if values[0] > 0:
        grids.append(_grid(search, case, [Tolerance(percent, relative=True) for percent in _PERCENTAGES]))
    return max(filter(None, grids), key=lambda grid: grid[0].surprise, default=[])


def _grid(search: Search, case: Grouping, limits: Sequence[Tolerance]) -> list[Candidate]:
    """The least tolerance that rows seldom break, before the tolerances next to it if everything is listed."""
    if not limits:
        return []
    real, usual = (ordered(search.engine.query(_values(source, case, limits[0]))) for source in (ROWS, SHUFFLED))
    if not real.fits:
        return []

    def candidate(tolerance: Tolerance, left_out: str | None = None) -> Candidate:
        pairs, by_chance = (close_pairs(values, _form(tolerance)) for values in (real, usual))
        rate, chance = (counts.refuted / max(counts.evaluable, 1) for counts in (pairs, by_chance))
        return Candidate(Form.TOLERANCE, _near(search, case, tolerance), rate, case.trials, chance, left_out)

    options = search.options
    for place, tolerance in enumerate(limits):
        pairs = close_pairs(real, _form(tolerance))
        often = pairs.confirmed >= options.min_support and pairs.evaluable >= options.min_evaluable
        if often and pairs.refuted <= options.max_rate * pairs.evaluable:
            near = limits[max(place - _NEXT, 0) : place + _NEXT + 1] if options.everything else ()
            return [candidate(tolerance), *(candidate(other, _ANOTHER) for other in near if other != tolerance)]
    return []


def _form(tolerance: Tolerance) -> Proximity:
    limit = log_distance(tolerance.value) if tolerance.relative else tolerance.value
    value = syntax.Variable("value")
    return Proximity(ResolvedAtom("", ()), (), (), value, syntax.Operator.AT_MOST, limit, distinct=True)


def _values(source: str, case: Grouping, tolerance: Tolerance) -> Query:
    """The values of a measure in order within each group."""
    t = row(source, "t")
    number = sql(0)
    for column in case.groups:
        number = number * column.distinct + t[column.code]
    measure = t[case.measured.field]
    value = measure.ln() if tolerance.relative else measure
    known = [t[column.code].is_known() for column in case.groups]
    numbered = select(id=number, value=value).from_(t).where(*known, measure.is_known()).as_("v")
    return select(numbered.id, numbered.value).from_(numbered).order_by(numbered.id, numbered.value)


def _near(search: Search, case: Grouping, tolerance: Tolerance) -> syntax.Rule:
    measured = case.measured
    shared = {column.attribute: column.variable for column in case.groups}
    own, other = ({measured.attribute: variable} for variable in (measured.variable, measured.other))
    if tolerance.relative:
        percent = syntax.Call("percent", (syntax.Constant(tolerance.value),))
        head: syntax.Head = syntax.Test("within", (measured.variable, measured.other, percent))
    else:
        distance = syntax.Call("abs", (syntax.Operation(syntax.Arithmetic.SUBTRACT, measured.variable, measured.other),))
        head = syntax.Comparison(syntax.Operator.AT_MOST, distance, syntax.Constant(tolerance.value))
    return rule_of(head, *pair_of(search.table, search.key, shared, own, other))


def _variance(number: int, groups: tuple[SearchedColumn, ...], measured: SearchedColumn) -> Query:
    """The sums from which we compute the variance of a measure's ranks within groups and among all rows."""
    t = row(ROWS, "t")
    keys, rank = [t[column.code] for column in groups], t[measured.rank]
    fields = {"rows": count_rows(), "total": rank.sum(), "squares": (rank * rank).sum()}
    known = [key.is_known() for key in keys]
    g = select(**fields).from_(t).where(*known, rank.is_known()).group_by(*keys).as_("g")
    within = (g.squares - g.total * g.total / g.rows).sum()
    return select(
        number=sql(number),
        groups=count_rows(),
        rows=g.rows.sum().big(),
        total=g.total.sum(),
        squares=g.squares.sum(),
        within=within,
    ).from_(g)


def _against_average(source: str, number: int, case: Grouping) -> Query:
    """In how many rows a measure exceeds multiples of its group's average, or falls below fractions of it."""
    t, m = row(source, "t"), row(source, "m")
    keys = {f"k{place}": m[column.code] for place, column in enumerate(case.groups)}
    measure = t[case.measured.field]
    own = m[case.measured.field]
    means = select(**keys, mean=own.sum().cast("DOUBLE") / own.count()).from_(m).group_by(*keys.values()).as_("a")
    fields = {"known": count_if(measure.is_known())}
    fields |= {_field(factor): count_if(measure > constant(float(factor)) * means.mean) for factor in _UPPER}
    fields |= {_field(factor): count_if(measure < constant(factor) * means.mean) for factor in _LOWER}
    same = [means[name] == t[column.code] for name, column in zip(keys, case.groups, strict=True)]
    return select(number=sql(number), **fields).from_(t).join(means, *same)


def _field(factor: float) -> str:
    return f"f{round(10 * factor)}"


def _relative(search: Search, case: Grouping, factor: float) -> syntax.Rule:
    measured = case.measured
    shared = {column.attribute: column.variable for column in case.groups}
    inside = syntax.And((row_of(search.table, {**shared, measured.attribute: measured.other}),))
    average = syntax.Operation(
        syntax.Arithmetic.MULTIPLY, syntax.Constant(factor), syntax.Aggregate(syntax.Aggregation.AVERAGE, measured.other, inside)
    )
    operator = syntax.Operator.AT_MOST if factor > 1 else syntax.Operator.AT_LEAST
    head = syntax.Comparison(operator, measured.variable, average)
    return rule_of(head, row_of(search.table, {**shared, measured.attribute: measured.variable}))
