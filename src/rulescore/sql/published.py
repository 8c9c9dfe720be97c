"""The published layout and its queries: a table for each predicate, with observed facts and predictions told apart by columns.

One query counts, for one rule, one predicate and one model, the groundings that a fact of this predicate confirms or refutes. A
rule's counts are the sums over its head and over all predicates that its head is incompatible with."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from sqlglot import exp

from rulescore.logic.normal import Bound, Fixed, NormalRule, PatternAtom, Slot
from rulescore.logic.refutation import Declared, opposition
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    argument,
    column,
    count_rows,
    different,
    equal,
    identifier,
    integer,
    named,
    number,
    select,
    stored_table,
    table,
    union_all,
)
from rulescore.sql.values import call, constant
from rulescore.values.keys import value_of
from rulescore.values.types import Value

OBSERVED, PREDICTED, HIDDEN = 0, 1, 2
"""The meanings of the numbers in the column `tag`. Hidden rows are not evaluated."""

DIALECT = "postgres"

NAMES = "rulescore_names"
"""The table that says which table belongs to which predicate or target."""

MADE_HERE = "made by rulescore"
"""The beginning of the comment on every table that we made, and so may replace."""

MOST_BYTES = 63
"""PostgreSQL silently cuts a longer name."""

MOST_INDEXED, MOST_INDEXED_BYTES = 32, 2000
"""Limits of an index, in columns and bytes of a row, that are safe with PostgreSQL: it refuses more than a third of a page."""


def argument_columns(arity: int) -> list[str]:
    return ["subject", "object", *(f"argument_{i}" for i in range(3, arity + 1))][:arity]


def id_columns(width: int) -> list[str]:
    return ["id"] if width == 1 else [f"id_{i}" for i in range(1, width + 1)]


def table_names(wanted: Iterable[str]) -> list[str]:
    """The names of tables: as wanted, but with a number if a name is too long or differs from another only in case."""
    used = {NAMES}
    found = []
    for name in wanted:
        made = next(one for one in _candidates(name) if one.casefold() not in used)
        used.add(made.casefold())
        found.append(made)
    return found


@dataclass(frozen=True, slots=True)
class PredicateTable:
    """A predicate's table: where it is, what its tags mean, and whether its texts are keys of constants, as we write them."""

    path: tuple[str, str]
    observed: tuple[int, ...] = (OBSERVED,)
    predicted: tuple[int, ...] = (PREDICTED,)
    keys: bool = True


def predicate_tables(predicates: Iterable[str], schema: str) -> dict[str, PredicateTable]:
    """Where `rulescore load` puts the facts of predicates."""
    names = sorted(predicates)
    return {name: PredicateTable((schema, table)) for name, table in zip(names, table_names(names), strict=True)}


def _candidates(name: str) -> Iterator[str]:
    if 0 < len(name.encode()) <= MOST_BYTES:
        yield name
    count = 1
    while True:
        count += 1
        yield f"{_cut(name, MOST_BYTES - len(str(count)) - 1)}_{count}"


def _cut(name: str, most: int) -> str:
    return name.encode()[:most].decode(errors="ignore")


@dataclass(frozen=True, slots=True)
class PublishedQuery:
    """One query of a rule. `model`: None for the observed facts. `evidence` is the atom that confirms or refutes."""

    model: str | None
    evidence: PatternAtom
    confirms: bool
    statement: Select


def evidence(head: PatternAtom, declared: Declared) -> list[tuple[PatternAtom, bool]]:
    """The head, and every atom that refutes it; each with whether it confirms."""
    opposed = filter(None, map(opposition, declared.ways(head.predicate, head.arity)))
    atoms = dict.fromkeys(PatternAtom(found.opponent, tuple(head.slots[i] for i in found.order)) for found in opposed)
    return [(head, True), *((atom, False) for atom in atoms)]


def published_queries(
    rule: NormalRule, declared: Declared, tables: Mapping[str, PredicateTable], models: Sequence[str | None]
) -> list[PublishedQuery]:
    """Every query of a rule whose tables all exist: without one of them there is nothing to count. The rule must have a head that
    only incompatible predicates refute."""
    assert rule.head is not None
    if not all(atom.predicate in tables for atom in rule.pattern.atoms):
        return []
    before: list[PatternAtom] = []
    found = []
    for atom, confirms in evidence(rule.head, declared):
        if atom.predicate in tables:
            alike = [one for one in before if one.predicate == atom.predicate]
            found += [PublishedQuery(model, atom, confirms, _query(rule, atom, confirms, alike, tables, model)) for model in models]
        if not confirms:
            before.append(atom)
    return found


def _query(
    rule: NormalRule,
    atom: PatternAtom,
    confirms: bool,
    alike: Sequence[PatternAtom],
    tables: Mapping[str, PredicateTable],
    model: str | None,
) -> Select:
    atoms = (*rule.pattern.atoms, atom)
    places = [tables[one.predicate] for one in atoms]
    names = _Names(atoms, keys=all(place.keys for place in places))
    query = select(named(count_rows(), "confirmed" if confirms else "refuted")).from_(stored_table(places[0].path, "t0"))
    for i, place in enumerate(places[1:], 1):
        query = query.join(stored_table(place.path, f"t{i}"), join_type="cross")
    conditions = [*names.joins(), *(names.other_fact(atom, one) for one in alike if names.may_be_one(atom, one))]
    tags = _all_observed(places) if model is None else exp.Paren(this=_one_predicted(places, model))
    return query.where(all_of([*conditions, tags]))


class _Names:
    """The columns behind the slots of a tuple of atoms."""

    def __init__(self, atoms: Sequence[PatternAtom], *, keys: bool) -> None:
        self._atoms, self._keys = atoms, keys
        self._columns: dict[Bound, exp.Expr] = {}
        for i, atom in enumerate(atoms):
            for name, slot in zip(argument_columns(atom.arity), atom.slots, strict=True):
                if isinstance(slot, Bound):
                    self._columns.setdefault(slot, column(f"t{i}", name))

    def joins(self) -> Iterator[exp.Expr]:
        """Equal columns for one variable, a constant for a constant, and different values for every two variables."""
        for i, atom in enumerate(self._atoms):
            for name, slot in zip(argument_columns(atom.arity), atom.slots, strict=True):
                place = column(f"t{i}", name)
                if place != (value := self._value(slot)):
                    yield equal(place, value)
        yield from (different(one.copy(), other.copy()) for one, other in combinations(self._columns.values(), 2))

    def _value(self, slot: Slot) -> exp.Expr:
        match slot:
            case Bound():
                return self._columns[slot].copy()
            case Fixed(key):
                return exp.Literal.string(key) if self._keys else _stored(value_of(key))
            case _:
                raise AssertionError(slot)

    def may_be_one(self, atom: PatternAtom, other: PatternAtom) -> bool:
        """Whether two atoms of one predicate can be the same fact: two variables never have one value."""
        pairs = zip(atom.slots, other.slots, strict=True)
        return not any(one != two and type(one) is type(two) for one, two in pairs)

    def other_fact(self, atom: PatternAtom, other: PatternAtom) -> exp.Expr:
        pairs = [(one, two) for one, two in zip(atom.slots, other.slots, strict=True) if one != two]
        return exp.Paren(this=any_of(different(self._value(one), self._value(two)) for one, two in pairs))


def _stored(value: Value) -> exp.Expr:
    """A constant as a user's column holds it."""
    if not isinstance(value, datetime.datetime):
        return constant(value)
    return exp.cast(exp.Literal.string(value.isoformat()), "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ", copy=False)


def _tagged(number_of_place: int, tags: Sequence[int]) -> exp.Expr:
    tag = column(f"t{number_of_place}", "tag")
    return equal(tag, number(tags[0])) if len(tags) == 1 else exp.In(this=tag, expressions=[number(one) for one in tags])


def _all_observed(places: Sequence[PredicateTable]) -> exp.Expr:
    return all_of(_tagged(i, place.observed) for i, place in enumerate(places))


def _one_predicted(places: Sequence[PredicateTable], model: str) -> exp.Expr:
    """One atom of the tuple is a prediction of the model, all others are observed."""

    def conditions(chosen: int) -> Iterator[exp.Expr]:
        for i, place in enumerate(places):
            if i == chosen:
                yield _tagged(i, place.predicted)
                yield equal(column(f"t{i}", "model"), exp.Literal.string(model))
            else:
                yield _tagged(i, place.observed)

    return any_of(exp.Paren(this=all_of(conditions(i))) for i in range(len(places)))


def create_schema(schema: str) -> exp.Create:
    return exp.Create(this=exp.Table(db=identifier(schema)), kind="SCHEMA")


def create_predicate(
    path: tuple[str, str], predicate: str, arity: int, observed: str | None, predicted: str | None, models: str
) -> exp.Create:
    """A predicate's table, made from the staged rows of keys: those of the facts, and those of every model."""
    names = argument_columns(arity)
    parts: list[Query] = []
    mine = equal(column("r", "predicate"), exp.Literal.string(predicate))
    fields = [named(column("r", argument(i)), name) for i, name in enumerate(names)]
    if observed is not None:
        query = select(*(one.copy() for one in fields), *_marks(OBSERVED, exp.null())).distinct()
        parts.append(query.from_(table(observed, "r")).where(mine.copy()))
    if predicted is not None:
        query = select(*(one.copy() for one in fields), *_marks(PREDICTED, column("m", "name"))).distinct()
        query = query.from_(table(predicted, "r"))
        query = query.join(table(models, "m"), on=equal(column("m", "id"), column("r", "model")))
        parts.append(query.where(mine))
    return _create(path, union_all(parts))


def create_predictions(
    path: tuple[str, str], rows: str, keys: Sequence[str], target_type: str, staged: str | None, models: str
) -> exp.Create:
    """The predictions of a table's target: its hidden rows, by the fields of its key, and the models' predictions for them."""
    names = id_columns(len(keys))
    query = select(
        *(named(column("r", key), name) for key, name in zip(keys, names, strict=True)),
        named(exp.cast(exp.null(), target_type, copy=False), "prediction"),
        *_marks(HIDDEN, exp.null()),
    )
    parts: list[Query] = [query.from_(table(rows, "r")).where(column("r", "hidden"))]
    if staged is not None:
        predicted = select(
            *(named(column("p", f"k{i}"), name) for i, name in enumerate(names)),
            named(column("p", "value"), "prediction"),
            *_marks(PREDICTED, column("m", "name")),
        ).distinct()
        same = equal(column("m", "id"), column("p", "model"))
        parts.append(predicted.from_(table(staged, "p")).join(table(models, "m"), on=same))
    return _create(path, union_all(parts))


def create_names(path: tuple[str, str], staged: str) -> exp.Create:
    return _create(path, select(*(column("n", one) for one in ("name", "kind", "table_name"))).from_(table(staged, "n")))


def _marks(tag: int, model: exp.Expr) -> list[exp.Expr]:
    return [named(integer(number(tag)), "tag"), named(exp.cast(model, "TEXT", copy=False), "model")]


def _create(path: tuple[str, str], query: Query) -> exp.Create:
    return exp.Create(this=_named_table(path), kind="TABLE", expression=query.tree())


def _named_table(path: tuple[str, str]) -> exp.Table:
    return exp.Table(this=identifier(path[1]), db=identifier(path[0]))


def comment(path: tuple[str, str], text: str) -> exp.Comment:
    return exp.Comment(this=_named_table(path), kind="TABLE", expression=exp.Literal.string(f"{MADE_HERE}: {text}"))


def drop_table(path: tuple[str, str]) -> exp.Drop:
    return exp.Drop(tables=[_named_table(path)], kind="TABLE")


def create_index(path: tuple[str, str], columns: Sequence[str]) -> exp.Create:
    parameters = exp.IndexParameters(columns=[exp.Ordered(this=exp.column(identifier(one))) for one in columns])
    return exp.Create(this=exp.Index(table=_named_table(path), params=parameters), kind="INDEX")


def longest_row(path: tuple[str, str], columns: Sequence[str]) -> Select:
    """The bytes of the longest row."""
    sizes = [call("OCTET_LENGTH", column("s", one)) for one in columns]
    longest = exp.Max(this=reduce(lambda left, right: exp.Add(this=left, expression=right), sizes))
    return select(named(exp.Coalesce(this=longest, expressions=[number(0)]), "n")).from_(stored_table(path, "s"))


def index_staged(staged: str) -> exp.Create:
    parameters = exp.IndexParameters(columns=[exp.Ordered(this=exp.column(identifier("predicate")))])
    return exp.Create(this=exp.Index(table=table(staged), params=parameters), kind="INDEX")


def analyze(path: tuple[str, str]) -> exp.Expr:
    return exp.Analyze(tables=[_named_table(path)])


def row_counts(path: tuple[str, str]) -> Select:
    """Rows of a table by their tags."""
    rows = select(named(column("s", "tag"), "tag"), named(count_rows(), "n")).from_(stored_table(path, "s"))
    return rows.group_by(column("s", "tag"))
