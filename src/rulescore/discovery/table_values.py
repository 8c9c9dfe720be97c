"""Finds rules about one column: bounds that its values keep, and lists of its values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa

from rulescore.discovery.model import Form
from rulescore.discovery.table_search import MOST_VALUES, ROWS, Candidate, Search, SearchedColumn, telling, together
from rulescore.discovery.table_words import compared, one_of, roundest, roundest_below, row_of, rule_of
from rulescore.language.syntax import Constant, Head, Operator
from rulescore.sql.query import Query, row, select
from rulescore.sql.words import count_rows, sql
from rulescore.values import ValueType

_NATURAL_LIMITS = (1, 100)
"""The greatest share, and the greatest percentage."""


def bounds(search: Search) -> Iterator[Candidate]:
    """Signs, natural limits, and limits at which rows pile up. Otherwise the least and greatest value of a sample are no bounds."""
    for column in search.columns:
        if column.is_number and column.distinct > 2 and not column.is_counter and _listed(search, column) is None:
            values, counts = column.ordered()
            ends = list(_ends(search, values, counts))
            positive = any(operator is Operator.AT_LEAST and limit > 0 for operator, limit in ends)
            signs = () if positive or column.is_far_from_zero else _signs(search, values, counts)
            for operator, limit in (*signs, *ends):
                broken = int(counts[~_kept(values, operator, limit)].sum())
                yield _candidate(search, column, Form.BOUND, compared(column.variable, operator, limit), broken)


def allowed_values(search: Search) -> Iterator[Candidate]:
    """The values that enough rows have, if all others are rare. We skip columns of one value or of truth values: they say
    nothing."""
    for column in search.columns:
        listed = _listed(search, column)
        if listed is not None:
            rare = column.known - int(column.counts[column.counts >= search.options.min_support].sum())
            yield _candidate(search, column, Form.ALLOWED_VALUES, one_of(column.variable, listed), rare)


def _listed(search: Search, column: SearchedColumn) -> list[str | int] | None:
    """The values that a rule lists. None if there are too many, or if they are whole numbers without a gap, which bounds describe
    more briefly."""
    if column.type not in (ValueType.STRING, ValueType.INTEGER) or column.is_constant:
        return None
    frequent = column.counts >= search.options.min_support
    rare = int(column.counts[~frequent].sum())
    if not 0 < frequent.sum() <= MOST_VALUES or rare > search.options.max_rate * column.known:
        return None
    allowed = sorted(column.values.filter(pa.array(frequent)).to_pylist())
    return None if _is_range(column, allowed) else allowed


def _signs(search: Search, values: np.ndarray, counts: np.ndarray) -> Iterator[tuple[Operator, int]]:
    """The strictest sign that the values keep."""
    most = search.options.max_rate * counts.sum()
    positive, negative = int(counts[values > 0].sum()), int(counts[values < 0].sum())
    zero = int(counts.sum()) - positive - negative
    if not negative and zero:
        yield Operator.AT_LEAST, 0
    if zero + negative <= most:
        yield Operator.GREATER, 0
    elif negative and negative <= most:
        yield Operator.AT_LEAST, 0


def _ends(search: Search, values: np.ndarray, counts: np.ndarray) -> Iterator[tuple[Operator, int | float]]:
    enough = search.options.min_support
    often = values[counts >= enough]
    rare = counts.sum() - counts[counts >= enough].sum()
    if len(often) > 2 and often[0] + len(often) - 1 == often[-1] < values[-1] and rare <= search.options.max_rate * counts.sum():
        yield Operator.AT_MOST, often[-1].item()  # the numbers up to here are common and have no gap; greater ones are rare
    if counts[0] >= enough and values[0] != 0:
        yield Operator.AT_LEAST, values[0].item()
    limit = next((limit for limit in _NATURAL_LIMITS if values[0] >= 0 and 0.95 * limit <= values[-1] <= limit), None)
    if limit is not None:
        yield Operator.AT_MOST, limit
    elif counts[-1] >= enough and values[-1] != 0:
        yield Operator.AT_MOST, values[-1].item()


def _is_range(column: SearchedColumn, allowed: Sequence[int]) -> bool:
    """Whether the values are whole numbers without a gap."""
    return column.type is ValueType.INTEGER and len(allowed) > 2 and allowed[-1] - allowed[0] + 1 == len(allowed)


def _kept(values: np.ndarray, operator: Operator, limit: int | float) -> np.ndarray:
    match operator:
        case Operator.GREATER:
            return values > limit
        case Operator.AT_LEAST:
            return values >= limit
        case _:
            return values <= limit


def _candidate(search: Search, column: SearchedColumn, form: Form, head: Head, broken: int) -> Candidate:
    rule = rule_of(head, row_of(search.table, {column.attribute: column.variable}))
    return Candidate(form, rule, broken / column.known, column.known)


_MOST_GROUPS = 50
"""How many values a column has at most if rules name them one by one."""
_MOST_CHOICES = 3
"""How many values a rule under a condition lists."""


def conditional_values(search: Search, decided: Collection[tuple[str, str]]) -> list[Candidate]:
    """The bounds and values that rows keep if another column has a certain value. `decided`: pairs in which the first column
    decides the second; we skip them, because a dependency says more."""
    others = [column for column in search.columns if not column.is_constant]
    others = list(search.affordable(others, (2 * count * count for count in range(1, len(others) + 1)), "conditions"))
    naming = [column for column in others if _is_named(column)]
    # A value of one column, with statistics of the other column over the rows that have this value.
    cases = [
        (named, other)
        for named in naming
        for other in others
        if other is not named and (named.attribute, other.attribute) not in decided
    ]
    bounded = [case for case in cases if _is_amount(case[1])]
    listed = [case for case in cases if not _is_amount(case[1]) and _can_be_listed(case[1])]
    candidates = [*_bounds(search, bounded), *_choices(search, listed)]
    return telling(candidates, len(candidates) + sum(named.distinct * 2 for named, _ in cases))


def _is_named(column: SearchedColumn) -> bool:
    most = _MOST_GROUPS if column.type is ValueType.STRING else MOST_VALUES
    return 1 < column.distinct <= most and column.type in (ValueType.STRING, ValueType.INTEGER, ValueType.BOOLEAN)


def _is_amount(column: SearchedColumn) -> bool:
    return column.is_number and column.distinct > 2 and not (column.type is ValueType.INTEGER and column.is_far_from_zero)


def _can_be_listed(column: SearchedColumn) -> bool:
    plain = column.type in (ValueType.STRING, ValueType.INTEGER, ValueType.BOOLEAN)
    return plain and column.distinct <= _MOST_GROUPS


Case = tuple[SearchedColumn, SearchedColumn]


def _bounds(search: Search, cases: Sequence[Case]) -> Iterator[Candidate]:
    """The bounds that all rows with a value keep, as round as they can be with the same counts."""
    ordered = {case[1].place: case[1].ordered() for case in cases}
    for group in together(search, [_extremes(number, *case) for number, case in enumerate(cases)]):
        named, other = cases[group["number"]]
        if group["known"] < search.options.min_support:
            continue
        values, counts = ordered[other.place]
        if group["least"] == group["greatest"]:
            chance = 1 - counts[np.searchsorted(values, group["least"])] / counts.sum()
            head = compared(other.variable, Operator.EQUAL, group["least"])
            yield _conditional(search, named, group["code"], other, head, 0.0, group["known"], chance)
            continue
        for operator, limit, chance in _round_bounds(values, counts, group["least"], group["greatest"]):
            head = compared(other.variable, operator, limit)
            yield _conditional(search, named, group["code"], other, head, 0.0, group["known"], chance)


def _round_bounds(
    values: np.ndarray, counts: np.ndarray, least: float, greatest: float
) -> Iterator[tuple[Operator, int | float, float]]:
    """A lower and an upper bound, with the share of all rows that break it."""
    first, last = np.searchsorted(values, [least, greatest])
    total = counts.sum()
    if first > 0:
        yield Operator.AT_LEAST, roundest(values[first - 1].item(), values[first].item()), counts[:first].sum() / total
    if last < len(values) - 1:
        limit = roundest_below(values[last].item(), values[last + 1].item())
        yield Operator.AT_MOST, limit, counts[last + 1 :].sum() / total


def _choices(search: Search, cases: Sequence[Case]) -> Iterator[Candidate]:
    """The one or few values that nearly all rows with a value have."""
    options = search.options
    cells: dict[tuple[int, int], dict[int, int]] = {}
    for cell in together(search, [_cells(number, *case) for number, case in enumerate(cases)]):
        cells.setdefault((cell["number"], cell["code"]), {})[cell["other"]] = cell["rows"]
    for (number, code), rows in cells.items():
        named, other = cases[number]
        known = sum(rows.values())
        frequent = sorted((choice for choice in rows if rows[choice] >= options.min_support), key=lambda choice: -rows[choice])
        broken = known - sum(rows[choice] for choice in frequent)
        if 0 < len(frequent) <= _MOST_CHOICES and broken <= options.max_rate * known:
            allowed = sorted(other.values[choice].as_py() for choice in frequent)
            chance = 1 - sum(int(other.counts[choice]) for choice in frequent) / other.known
            head = one_of(other.variable, allowed)
            yield _conditional(search, named, code, other, head, broken / known, known, chance)


def _extremes(number: int, named: SearchedColumn, other: SearchedColumn) -> Query:
    t = row(ROWS, "t")
    value = t[other.field]
    fields = {"number": sql(number), "code": t[named.code], "known": value.count()}
    # The values share one column, so integers become doubles as well.
    fields |= {"least": value.min().cast("DOUBLE"), "greatest": value.max().cast("DOUBLE")}
    return select(**fields).from_(t).where(t[named.code].is_known(), value.is_known()).group_by(t[named.code])


def _cells(number: int, named: SearchedColumn, other: SearchedColumn) -> Query:
    t = row(ROWS, "t")
    fields = {"number": sql(number), "code": t[named.code], "other": t[other.code], "rows": count_rows()}
    known = (t[named.code].is_known(), t[other.code].is_known())
    return select(**fields).from_(t).where(*known).group_by(t[named.code], t[other.code])


def _conditional(
    search: Search, named: SearchedColumn, code: int, other: SearchedColumn, head: Head, rate: float, known: int, chance: float
) -> Candidate:
    condition = Constant(named.values[code].as_py())
    rule = rule_of(head, row_of(search.table, {named.attribute: condition, other.attribute: other.variable}))
    return Candidate(Form.CONDITIONAL_VALUES, rule, rate, known, float(chance))
