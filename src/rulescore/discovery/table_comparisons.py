"""Rules that compare columns of one row: columns in order, equal columns, or a column that is the sum of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from rulescore.discovery.model import Form
from rulescore.discovery.table_search import AGGREGATE, ROWS, SHUFFLED, Candidate, Search, SearchedColumn, count_if, telling, totals
from rulescore.discovery.table_words import compared, row_of, rule_of
from rulescore.language.syntax import Arithmetic, Call, Comparison, Constant, Expression, Head, Operation, Operator, Rule
from rulescore.sql.query import Row, row
from rulescore.sql.values import constant
from rulescore.sql.words import Sql
from rulescore.values import ValueType

Pair = tuple[SearchedColumn, SearchedColumn]
Sum = tuple[SearchedColumn, tuple[SearchedColumn, ...]]

_MOST_DECIMALS = 6
_ADDENDS = (1, 2, 3)
"""How many addends we try. A sum of one addend is an equality: it tells whether the others are needed."""
_LARGEST = 2**60


def comparisons(search: Search) -> list[Candidate]:
    """The pairs of columns of one type whose values are in order, or equal. We skip columns whose ranges do not meet: they are
    always in order."""
    pairs = list(_pairs(search))
    real, chance = (_orders(search, source, pairs) for source in (ROWS, SHUFFLED))
    candidates = []
    for pair, (below, equal, above), by_chance in zip(pairs, real, chance, strict=True):
        if (known := below + equal + above) < search.options.min_support:
            continue
        left, right = pair if above <= below else pair[::-1]
        broken = min(below, above)
        if (known - equal) <= search.options.max_rate * known:
            operator, broken, expected = Operator.EQUAL, known - equal, by_chance[0] + by_chance[2]
        else:
            operator = Operator.AT_MOST if equal else Operator.LESS
            expected = by_chance[2] if above <= below else by_chance[0]
            expected += 0 if equal else by_chance[1]
        if broken <= search.options.max_rate * known:
            rule = _rule(search, compared(left.variable, operator, right.variable), (left, right))
            candidates.append(Candidate(Form.COMPARISON, rule, broken / known, known, expected / max(sum(by_chance), 1)))
    return telling(candidates, len(pairs))


def sums(search: Search) -> list[Candidate]:
    """The columns that are the sum of two or three others, if none of these can be left out."""
    numbers = [column for column in search.columns if _can_be_added(column)]
    passes = (2 * count * sum(comb(count - 1, addends) for addends in _ADDENDS) for count in range(1, len(numbers) + 1))
    numbers = list(search.affordable(numbers, passes, "sums", AGGREGATE))
    tried = [(total, addends) for total in numbers for addends in _addends([column for column in numbers if column is not total])]
    real = [_differing(search, ROWS, tried, known=known) for known in (False, True)]
    broken = dict(zip(tried, zip(*real, strict=True), strict=True))
    near = [
        (total, addends)
        for (total, addends), (off, known) in broken.items()
        if len(addends) > 1
        and known >= search.options.min_support
        and off <= search.options.max_rate * known
        and all(2 * off / known <= _rate(broken, total, part) for part in combinations(addends, len(addends) - 1))
    ]
    chance = [_differing(search, SHUFFLED, near, known=known) for known in (False, True)]
    candidates = []
    for (total, addends), off, known in zip(near, *chance, strict=True):
        rule = _rule(search, _is_sum(total, addends), (total, *addends))
        rate = broken[total, addends][0] / broken[total, addends][1]
        candidates.append(Candidate(Form.SUM, rule, rate, broken[total, addends][1], off / max(known, 1)))
    return telling(candidates, len(tried))


def _pairs(search: Search) -> Iterator[Pair]:
    ordered = [column for column in search.columns if column.is_ordered and not column.is_constant]
    ordered = list(
        search.affordable(ordered, (3 * count * count for count in range(1, len(ordered) + 1)), "comparisons", AGGREGATE)
    )
    for first, second in combinations(ordered, 2):
        same = first.type is second.type or (first.is_number and second.is_number)
        if same and _meet(first, second):
            yield first, second


def _meet(first: SearchedColumn, second: SearchedColumn) -> bool:
    least, greatest = zip(*(_range(column) for column in (first, second)), strict=True)
    return bool(max(least) <= min(greatest))


def _range(column: SearchedColumn) -> tuple[Any, Any]:
    values = column.values.to_numpy(zero_copy_only=False)
    return values.min(), values.max()


def _orders(search: Search, source: str, pairs: Sequence[Pair]) -> Iterator[tuple[int, int, int]]:
    """In how many rows the first column is less than the second, equal, and greater."""
    t = row(source, "t")
    fields = []
    for left, right in pairs:
        first, second = t[left.field], t[right.field]
        fields += [count_if(first < second), count_if(first == second), count_if(first > second)]
    counts = totals(search, source, fields)
    return zip(counts[0::3], counts[1::3], counts[2::3], strict=True)


def _addends(columns: Sequence[SearchedColumn]) -> list[tuple[SearchedColumn, ...]]:
    return [addends for count in _ADDENDS for addends in combinations(columns, count)]


def _differing(search: Search, source: str, tried: Sequence[Sum], *, known: bool) -> list[int]:
    """In how many rows each sum is wrong; with `known`, in how many rows all its columns have values."""
    t = row(source, "t")
    remainders = [(_remainder(t, total, addends), total, addends) for total, addends in tried]
    if known:
        return totals(search, source, [remainder.count() for remainder, _, _ in remainders])
    fields = [count_if(remainder.abs() >= constant(_tolerance(total, addends))) for remainder, total, addends in remainders]
    return totals(search, source, fields)


def _remainder(t: Row, total: SearchedColumn, addends: Sequence[SearchedColumn]) -> Sql:
    return t[total.field] - reduce(lambda left, right: left + right, [t[addend.field] for addend in addends]).paren()


def _rate(broken: dict[Sum, tuple[int, int]], total: SearchedColumn, addends: tuple[SearchedColumn, ...]) -> float:
    """The rate of a shorter sum; 1 for a sum of nothing."""
    if not addends:
        return 1.0
    off, known = broken[total, addends]
    return off / known if known else 1.0


def _is_sum(total: SearchedColumn, addends: Sequence[SearchedColumn]) -> Head:
    variables: list[Expression] = [addend.variable for addend in addends]
    whole = reduce(lambda left, right: Operation(Arithmetic.ADD, left, right), variables)
    if all(column.type is ValueType.INTEGER for column in (total, *addends)):
        return Comparison(Operator.EQUAL, total.variable, whole)
    difference = Call("abs", (Operation(Arithmetic.SUBTRACT, total.variable, whole),))
    return Comparison(Operator.LESS, difference, Constant(_tolerance(total, addends)))


def _tolerance(total: SearchedColumn, addends: Sequence[SearchedColumn]) -> float:
    """Half a unit of the last decimal, because computed sums of decimal numbers are not exact."""
    return float(f"5e-{max(_decimals(column) or 0 for column in (total, *addends)) + 1}")


def _can_be_added(column: SearchedColumn) -> bool:
    if not column.is_number or column.is_constant or _decimals(column) is None:
        return False
    least, greatest = _range(column)
    return bool(max(-float(least), float(greatest)) < _LARGEST)  # the sum of integers must fit 64 bits


def _decimals(column: SearchedColumn) -> int | None:
    """How many decimals the values have; None if they have more than any amount that people write."""
    if column.type is ValueType.INTEGER:
        return 0
    values = column.values.to_numpy(zero_copy_only=False)
    return next((count for count in range(_MOST_DECIMALS + 1) if (np.round(values, count) == values).all()), None)


def _rule(search: Search, head: Head, columns: Sequence[SearchedColumn]) -> Rule:
    return rule_of(head, row_of(search.table, {column.attribute: column.variable for column in columns}))
