"""Counts what every candidate would contribute to every rule of positive atoms: seat by seat, one statement for each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pyarrow as pa

from rulescore.counting.parameters import oppositions
from rulescore.counting.run import named_in_errors
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError
from rulescore.loading.facts import Loaded
from rulescore.logic import horn as conventions
from rulescore.logic.normal import Bound, Fixed, NormalRule, PatternAtom, normal_rule
from rulescore.mending import statements as sql
from rulescore.mending.open_seats import Difference, Holds, differences
from rulescore.mending.ways import HeadOpponents, Seat, Way, asks_by_witness, seats
from rulescore.session.session import Session
from rulescore.setting.choices import Convention, Role
from rulescore.waiting import tell

COUNTS = ("confirmed", "refuted", "evaluable")
Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

NO_ARGUMENT = -1
"""Fills the places of arguments that a predicate does not have. Smaller numbers stand for arguments that may be anything; equal
numbers for arguments that must be equal."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The counts of candidates, by predicate and arguments. A row with open arguments is for all candidates that fit it."""

    rule: Integers
    predicate: Integers
    arguments: Integers
    counts: Integers

    def __len__(self) -> int:
        return len(self.rule)

    def taken(self, places: Integers) -> Rows:
        return Rows(self.rule[places], self.predicate[places], self.arguments[places], self.counts[places])


def no_rows(width: int) -> Rows:
    empty = np.zeros(0, np.int64)
    return Rows(empty, empty, np.zeros((0, width), np.int64), np.zeros((0, 3), np.int64))


def joined(parts: Sequence[Rows], width: int) -> Rows:
    """All rows, with one row for each rule and candidate: equal ones are added up."""
    parts = [part for part in parts if len(part)] or [no_rows(width)]
    rule, predicate = (np.concatenate([getattr(part, field) for part in parts]) for field in ("rule", "predicate"))
    arguments, counts = np.concatenate([part.arguments for part in parts]), np.concatenate([part.counts for part in parts])
    order = np.lexsort((*arguments.T[::-1], predicate, rule))
    rows = Rows(rule[order], predicate[order], arguments[order], counts[order])
    if not len(rows):
        return rows
    changed = (np.diff(rows.rule) != 0) | (np.diff(rows.predicate) != 0) | (np.diff(rows.arguments, axis=0) != 0).any(axis=1)
    starts = np.flatnonzero(np.append(True, changed))
    summed = rows.taken(starts)
    added = np.add.reduceat(rows.counts, starts, axis=0)
    kept = np.flatnonzero(added.any(axis=1))
    return Rows(summed.rule[kept], summed.predicate[kept], summed.arguments[kept], added[kept])


@dataclass(frozen=True, slots=True)
class _Seated:
    """A seat of a rule, and the ways that the data can have."""

    rule: int
    head: PatternAtom | None
    seat: Seat
    ways: tuple[Way, ...]


def reasons_for_lists(session: Session) -> dict[str, str]:
    """The rules that we can count only for lists, by name, with the reason."""
    reasons = {}
    for number, info in enumerate(session.rules):
        if number not in session.data.horn_rules:
            reasons[info.name] = "it is no Horn rule"
            continue
        rule = normal_rule(session.program.rules[number])
        if rule.pattern.negated:
            reasons[info.name] = "its body has `not`"
        elif rule.head is not None and any(map(asks_by_witness, session.refutations.general(rule.head.predicate))):
            reasons[info.name] = f"which absent facts refute `{rule.head.predicate}` depends on facts that are there"
        elif rule.head is not None and _too_open(session, rule):
            reasons[info.name] = "more than two arguments of a candidate may be anything"
    return reasons


def _too_open(session: Session, rule: NormalRule) -> bool:
    if max(atom.arity for atom in rule.pattern.atoms) < 3:
        return False
    distinct = conventions.distinct_variables(session.setting.scoring)
    every_seat = seats(rule, _Opponents(session).of(rule), distinct_variables=distinct)
    return any(len(seat.free) > 2 and any(map(seat.opened, seat.ways)) for seat in every_seat)


def refuse_conventions(session: Session) -> None:
    """Raise if the convention or the roles give candidates other contributions than the definition."""
    options = session.setting.scoring
    if options.convention is not Convention.DEFINITION or conventions.roles(options) != {Role.BODY, Role.HEAD}:
        message = "contributions of all candidates are counted by the definition, in its roles"
        helps = ("leave out `convention` and `roles`, or give lists of candidates: `of=…`",)
        raise InputError(Diagnostic("E801", message, helps=helps))


class _Opponents:
    """What refutes the heads of rules. There can be many pairs of incompatible predicates, so we go through them once."""

    def __init__(self, session: Session) -> None:
        self._loaded, self._refutations = session.data.loaded, session.refutations
        rules = (normal_rule(session.program.rules[number]) for number in session.data.horn_rules)
        predicates = {rule.head.predicate for rule in rules if rule.head is not None}
        heads, opponents = oppositions(self._loaded, self._refutations, predicates)
        self._opposed: dict[int, list[int]] = {}
        for head, opponent in zip(heads.to_pylist(), opponents.to_pylist(), strict=True):
            self._opposed.setdefault(head, []).append(opponent)

    def of(self, rule: NormalRule) -> HeadOpponents:
        if rule.head is None:
            return HeadOpponents((), ())
        predicate, arity = rule.head.predicate, rule.head.arity
        opposed = self._opposed.get(self._loaded.fact_literal(predicate), [])
        literals = tuple(self._loaded.literal_name(other, arity) for other in opposed)
        return HeadOpponents(literals, self._refutations.general(predicate))


def _seated(session: Session, *, asked: bool = False) -> list[_Seated]:
    """The seats of all rules or, if `asked`, the seats with an argument that a query can give."""
    loaded = session.data.loaded
    distinct = conventions.distinct_variables(session.setting.scoring)
    opponents, all_seated = _Opponents(session), []
    for number in sorted(session.data.horn_rules):
        rule = normal_rule(session.program.rules[number])
        for seat in seats(rule, opponents.of(rule), distinct_variables=distinct):
            ways = tuple(way for way in seat.ways if sql.possible(loaded, way))
            if ways and (seat.candidate.arity or not asked):
                all_seated.append(_Seated(number, rule.head, seat, ways))
    return all_seated


def estimate(session: Session, most: int, *, asked: bool = False) -> int:
    """How many groundings the contributions of candidates have. All candidates count or, if `asked`, the candidates that answer the
    loaded queries. The statements keep no row, and we stop counting beyond `most`."""
    loaded, engine, total = session.data.loaded, session.engine, 0
    _ = session.counted.counter  # creates the table of incompatible predicates, which the statements below read
    for seated in _seated(session, asked=asked):
        with named_in_errors(f"the groundings of candidates, of {_title(session, seated)}"):
            total += int(engine.query(sql.size(loaded, seated.seat, seated.ways, seated.head, asked=asked))["n"][0].as_py() or 0)
        if total > most:
            break
    return total


def _title(session: Session, seated: _Seated) -> str:
    return f"rule `{session.rules[seated.rule].name}`, candidates `{seated.seat.candidate.predicate}`"


@dataclass(frozen=True, slots=True)
class Query:
    """Candidates of a predicate with one argument given."""

    predicate: str
    place: int
    constant: int


def all_contributions(session: Session, *, asked: bool = False) -> Rows:
    """The contributions of all candidates, or (`asked`) only of candidates that answer the loaded queries. A candidate's
    contribution is the sum of the rows that fit it."""
    engine, loaded = session.engine, session.data.loaded
    _ = session.counted.counter
    all_seated = _seated(session, asked=asked)
    width = width_of(loaded)
    parts: list[Rows] = []
    for seated in all_seated:
        tell(f"counting candidates of {_title(session, seated)}")
        with named_in_errors(f"candidates of {_title(session, seated)}"):
            parts += _rows_of(engine, loaded, seated, width, asked=asked)
    return joined(parts, width)


def width_of(loaded: Loaded) -> int:
    """The most arguments that a predicate has, and at least 1."""
    return max([1, *(predicate.arity for predicate in loaded.vocabulary.predicates.values())])


def load_queries(session: Session, queries: Sequence[Query]) -> None:
    """Make the table of queries, which the statements for queries read."""
    loaded = session.data.loaded
    rows = {(loaded.fact_literal(query.predicate), query.place, query.constant) for query in queries}
    columns = list(zip(*sorted(rows), strict=True)) or [(), (), ()]
    fields = ("literal", "place", "value")
    session.engine.load(
        sql.QUERIES, pa.table({name: pa.array(list(column), pa.int32()) for name, column in zip(fields, columns, strict=True)})
    )


def _rows_of(engine: Engine, loaded: Loaded, seated: _Seated, width: int, *, asked: bool) -> Iterator[Rows]:
    """Few keys have open ways. We count their groundings in Python; the engine counts the groundings of all other keys."""
    seat, head = seated.seat, seated.head
    openings = [way for way in seated.ways if seat.opened(way)]
    closed = [way for way in seated.ways if not seat.opened(way)]
    opened = [(way, engine.query(sql.groundings(loaded, seat, way, head))) for way in openings]
    opened = [(way, rows) for way, rows in opened if rows.num_rows]
    keyed = [way for way, _ in opened] if seat.keys else []
    if closed and (seat.keys or not opened):
        yield _counted_rows(
            loaded, seated, engine.query(sql.counted(loaded, seat, closed, head, asked=asked, openings=keyed)), width
        )
    if opened:
        shared = [(way, sql.groundings(loaded, seat, way, head, asked=asked, openings=keyed, opened=True)) for way in closed]
        yield _opened_rows(loaded, seated, [*opened, *((way, engine.query(query)) for way, query in shared)], width)


def _counted_rows(loaded: Loaded, seated: _Seated, rows: pa.Table, width: int) -> Rows:
    n = rows.num_rows
    arguments = np.full((n, width), NO_ARGUMENT, np.int64)
    for place in range(seated.seat.candidate.arity):
        arguments[:, place] = rows[f"a{place}"].to_numpy()
    counts = np.stack([rows[count].to_numpy().astype(np.int64) for count in COUNTS], axis=1)
    predicate = loaded.predicate_ids[seated.seat.candidate.predicate]
    return Rows(np.full(n, seated.rule), np.full(n, predicate), arguments, counts)


def _opened_rows(loaded: Loaded, seated: _Seated, rows_by_way: Sequence[tuple[Way, pa.Table]], width: int) -> Rows:
    seat, wide = seated.seat, len(seated.seat.free)
    by_key: dict[tuple[int, ...], set[Holds]] = {}
    for way, rows in rows_by_way:
        tests = [test for test, _ in sql.aparts(seat, way)]
        fields = [*(sql.key(i) for i in range(len(seat.keys))), *(sql.free(i) for i in range(wide))]
        fields += [sql.apart(i) for i in range(len(tests))]
        columns = [rows[field].to_pylist() for field in fields]
        for row in zip(*columns, strict=True) if columns else [()] * rows.num_rows:
            keys, values, others = row[: len(seat.keys)], row[len(seat.keys) :][:wide], row[len(seat.keys) + wide :]
            by_key.setdefault(keys, set()).add(_held(way, values, [*zip(tests, others, strict=True)]))
    arguments, counts = [], []
    for keys, ways in by_key.items():
        for difference in differences(ways, wide):
            arguments.append(_arguments(loaded, seat, keys, difference, width))
            counts.append(difference.counts)
    predicate = loaded.predicate_ids[seat.candidate.predicate]
    n = len(arguments)
    shaped = np.array(arguments, np.int64).reshape(n, width), np.array(counts, np.int64).reshape(n, 3)
    return Rows(np.full(n, seated.rule), np.full(n, predicate), *shaped)


def _held(way: Way, values: Sequence[int], tests: Sequence[tuple[sql.Apart, int | None]]) -> Holds:
    cell = tuple(None if value < 0 else value for value in values)
    alike = len(values) == 2 and values[0] < 0 and values[0] == values[1]
    excluded = frozenset((test.free, other) for test, other in tests if test.other is None and other is not None)
    unlike = any(test.other is not None for test, _ in tests)
    return Holds(cell, way.confirmed, excluded, unlike, alike, way.unless, way.refutation, way.vetoes)


def _arguments(loaded: Loaded, seat: Seat, keys: Sequence[int], difference: Difference, width: int) -> list[int]:
    values: Mapping[int, int] = dict(zip(seat.keys, keys, strict=True))
    arguments = [NO_ARGUMENT] * width
    for place, slot in enumerate(seat.candidate.slots):
        match slot:
            case Fixed():
                arguments[place] = sql.number_of(loaded, slot)
            case Bound(index) if index in values:
                arguments[place] = values[index]
            case Bound(index):
                class_number = seat.free.index(index)
                value = difference.cell[class_number]
                arguments[place] = value if value is not None else sql.open_number(0 if difference.alike else class_number)
            case _:
                raise AssertionError("a candidate has no free slot")
    return arguments


def conclusions_of(session: Session, rules: Collection[int]) -> dict[tuple[int, ...], int]:
    """The facts that rules conclude and the data lack, each with one rule.

    We leave out a conclusion that has the same constant twice if its predicate has no such fact. The rule's author probably forgot
    to say that the variables differ.
    """
    engine, loaded = session.engine, session.data.loaded
    has_reflexive = cache(partial(_has_reflexive, engine, loaded))
    conclusions: dict[tuple[int, ...], int] = {}
    for seated in _seated(session):
        if seated.rule not in rules or seated.seat.in_body:
            continue
        predicate, arity = loaded.predicate_ids[seated.seat.candidate.predicate], seated.seat.candidate.arity
        rows = engine.query(sql.counted(loaded, seated.seat, [seated.ways[0]], seated.head, asked=False))
        reflexive = arity == 2 and has_reflexive(seated.seat.candidate.predicate)
        for values in zip(*(rows[f"a{place}"].to_pylist() for place in range(arity)), strict=True):
            if arity != 2 or values[0] != values[1] or reflexive:
                conclusions.setdefault((predicate, *values), seated.rule)
    return conclusions


def _has_reflexive(engine: Engine, loaded: Loaded, predicate: str) -> bool:
    return bool(engine.query(sql.reflexive_facts(loaded, predicate))["n"][0].as_py())
