"""Finds columns that one or two others decide: rows that agree in these also agree in the column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

from rulescore.discovery.model import Form
from rulescore.discovery.table_search import ROWS, Candidate, Search, SearchedColumn, telling, together
from rulescore.discovery.table_words import compared, pair_of, rule_of
from rulescore.language.syntax import Operator, Rule
from rulescore.sql.query import Query, row, select
from rulescore.sql.words import count_rows, sql
from rulescore.values import ValueType

Deciding = tuple[SearchedColumn, ...]
Dependency = tuple[Deciding, SearchedColumn]
_FOLLOWS = "follows from dependencies that are kept"
_RECURRING = 5
_TIMES = 4
"""How many times more often chance must break a dependency: amounts that are nearly always 0 agree with anything."""
_MOST_PAIRS = 50_000_000
"""The most pairs of rows that a rule may compare: `score` goes through them as well."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far rows agree, in the groups that the deciding columns make.

    `pairs`: how many pairs of different rows of a group there are, in both orders. `agreeing`: how many of them agree. `trials`:
    how many rows there are beyond the first of each group.
    """

    pairs: int
    agreeing: int
    trials: int

    @property
    def rate(self) -> float:
        return 1 - self.agreeing / self.pairs if self.pairs else 1.0


def dependencies(search: Search) -> tuple[list[Candidate], set[tuple[str, str]]]:
    """The dependencies on one column, and on two columns if both together decide far better than each alone.

    If one column decides a second, and the second a third, we leave out that the first decides the third. Also gives all pairs in
    which the first column decides the second.
    """
    columns = [column for column in search.columns if not column.is_constant and column.known >= search.options.min_support]
    columns = list(search.affordable(columns, (count * count for count in range(1, len(columns) + 1)), "dependencies"))
    deciding = [column for column in columns if _recurs(search, column)]
    singles = [((first,), decided) for first in deciding for decided in columns if decided is not first]
    alone = agreements(search, singles)
    kept = _telling(search, alone)
    passes = (comb(count, 2) * len(columns) for count in range(1, len(deciding) + 1))
    few = search.affordable(deciding, passes, "dependencies of two columns")
    doubles = [
        ((first, second), decided)
        for first, second in combinations(few, 2)
        if not {((first,), second), ((second,), first)} & kept.keys()
        for decided in columns
        if decided not in (first, second) and not {((first,), decided), ((second,), decided)} & kept.keys()
    ]
    pairs = {
        (pair, decided): agreement
        for (pair, decided), agreement in agreements(search, doubles).items()
        if _TIMES * agreement.rate <= min(alone[(column,), decided].rate for column in pair)
    }
    decided = {(first.attribute, column.attribute) for (first, *_), column in kept}
    return [*_without_detours(kept), *_coarsest(_telling(search, pairs), kept)], decided


def _recurs(search: Search, column: SearchedColumn) -> bool:
    """Whether rows share values that can decide something. If two amounts are equal, that is chance. Numbers that recur may name
    things."""
    if column.known - column.distinct < search.options.min_support or column.type is ValueType.FLOAT:
        return False
    return column.is_class or column.known >= _RECURRING * column.distinct


def _telling(search: Search, tried: Mapping[Dependency, Agreement]) -> dict[Dependency, Candidate]:
    options, too_many = search.options, 0
    candidates: dict[Dependency, Candidate] = {}
    for (deciding, decided), agreement in tried.items():
        enough = min(agreement.trials, agreement.agreeing) >= options.min_support
        if not enough or agreement.rate > options.max_rate:
            continue
        if agreement.pairs > _MOST_PAIRS:
            too_many += 1
            continue
        rule = _rule(search, deciding, decided)
        chance = _by_chance(decided)
        candidates[deciding, decided] = Candidate(Form.DEPENDENCY, rule, agreement.rate, agreement.trials, chance)
    if too_many:
        what = f"{too_many:,} dependencies of `{search.table}`"
        search.told.append(f"{what} are left out: each compares more than {_MOST_PAIRS:,} pairs of rows")
    places = {id(candidate): dependency for dependency, candidate in candidates.items()}
    kept = telling(candidates.values(), len(tried), _TIMES)
    return {places[id(candidate)]: candidate for candidate in kept}


def agreements(search: Search, tried: Sequence[Dependency]) -> dict[Dependency, Agreement]:
    """How far the rows that agree in the deciding columns agree in the decided one, for many dependencies."""
    counted = together(search, [_agreement(number, *case) for number, case in enumerate(tried)])
    return {tried[row["number"]]: Agreement(row["pairs"] or 0, row["agreeing"] or 0, row["trials"] or 0) for row in counted}


def _agreement(number: int, deciding: Deciding, decided: SearchedColumn) -> Query:
    """How many pairs of rows agree in the deciding columns, and how many of these in the decided one."""
    t = row(ROWS, "t")
    keys = {f"k{place}": t[column.code] for place, column in enumerate(deciding)}
    known = [value.is_known() for value in (*keys.values(), t[decided.code])]
    cells = select(**keys, rows=count_rows()).from_(t).where(*known).group_by(*keys.values(), t[decided.code])
    c = cells.as_("c")
    groups = select(rows=c.rows.sum(), squares=(c.rows * c.rows).sum()).from_(c).group_by(*(c[key] for key in keys))
    g = groups.as_("g")
    return select(
        number=sql(number),
        pairs=(g.rows * g.rows - g.rows).sum().big(),
        agreeing=(g.squares - g.rows).sum().big(),
        trials=(g.rows - 1).sum().big(),
    ).from_(g)


def _by_chance(decided: SearchedColumn) -> float:
    """How often two different rows differ in a column."""
    counts = decided.counts.astype(float)
    return 1 - float((counts * (counts - 1)).sum()) / (decided.known * (decided.known - 1))


def _rule(search: Search, deciding: Deciding, decided: SearchedColumn) -> Rule:
    shared = {column.attribute: column.variable for column in deciding}
    own, other = ({decided.attribute: variable} for variable in (decided.variable, decided.other))
    return rule_of(
        compared(decided.variable, Operator.EQUAL, decided.other), *pair_of(search.table, search.key, shared, own, other)
    )


def _without_detours(kept: Mapping[Dependency, Candidate]) -> Iterator[Candidate]:
    """The dependencies on one column, the least broken first. We mark a dependency as left out if it follows from earlier ones."""
    decides: dict[int, set[int]] = {}
    order = sorted(kept.items(), key=lambda item: (item[1].rate, -item[1].surprise))
    for ((first,), decided), candidate in order:
        if _reaches(decides, first.place, decided.place):
            yield replace(candidate, left_out=_FOLLOWS)
        else:
            decides.setdefault(first.place, set()).add(decided.place)
            yield candidate


def _coarsest(pairs: Mapping[Dependency, Candidate], kept: Mapping[Dependency, Candidate]) -> Iterator[Candidate]:
    """The dependencies on two columns. If one of the two decides a third column, and that column does as well in its place, we mark
    the dependency as left out."""
    for ((first, second), decided), candidate in pairs.items():
        coarser = [{column, second} for (finer, *_), column in kept if finer is first]
        coarser += [{first, column} for (finer, *_), column in kept if finer is second]
        follows = any({*pair} in coarser and other is decided for pair, other in pairs)
        yield replace(candidate, left_out=_FOLLOWS) if follows else candidate


def _reaches(decides: Mapping[int, set[int]], start: int, end: int) -> bool:
    waiting, seen = [start], {start}
    while waiting:
        for place in decides.get(waiting.pop(), ()):
            if place == end:
                return True
            if place not in seen:
                seen.add(place)
                waiting.append(place)
    return False
