"""The published layout and its queries: a table for each predicate, with observed facts and predictions told apart by columns.

One query counts, for one rule, one predicate and one model, the groundings that a fact of this predicate confirms or refutes. A
rule's counts are the sums over its head and over all predicates that its head is incompatible with."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add

from sqlglot import exp

from rulescore.logic.normal import Bound, Fixed, NormalRule, PatternAtom, Slot
from rulescore.logic.refutation import Declared, opposition
from rulescore.sql.names import argument
from rulescore.sql.query import Create, Query, Row, Select, alias, row, select, stored_row, union_all
from rulescore.sql.values import constant
from rulescore.sql.words import NULL, Sql, all_of, any_of, call, count_rows, identifier, sql
from rulescore.values import Value, value_of

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
    """The names of tables: the wanted names, with a number if a name is too long or differs from another only in case."""
    used = {NAMES}
    names = []
    for name in wanted:
        made = next(candidate for candidate in _candidates(name) if candidate.casefold() not in used)
        used.add(made.casefold())
        names.append(made)
    return names


@dataclass(frozen=True, slots=True)
class PredicateTable:
    """A predicate's table: its place, the meaning of its tags, and whether its texts are keys of constants that we wrote."""

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
    """One query of a rule. `model`: None for the observed facts. `evidence`: the atom that confirms or refutes the head."""

    model: str | None
    evidence: PatternAtom
    confirms: bool
    statement: Select


def evidence(head: PatternAtom, declared: Declared) -> list[tuple[PatternAtom, bool]]:
    """The head, and every atom that refutes it; each with whether it confirms."""
    opposed = filter(None, map(opposition, declared.ways(head.predicate, head.arity)))
    atoms = dict.fromkeys(
        PatternAtom(opposed_atom.opponent, tuple(head.slots[i] for i in opposed_atom.order)) for opposed_atom in opposed
    )
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
    queries = []
    for atom, confirms in evidence(rule.head, declared):
        if atom.predicate in tables:
            alike = [earlier for earlier in before if earlier.predicate == atom.predicate]
            queries += [
                PublishedQuery(model, atom, confirms, _query(rule, atom, confirms, alike, tables, model)) for model in models
            ]
        if not confirms:
            before.append(atom)
    return queries


def _query(
    rule: NormalRule,
    atom: PatternAtom,
    confirms: bool,
    alike: Sequence[PatternAtom],
    tables: Mapping[str, PredicateTable],
    model: str | None,
) -> Select:
    atoms = (*rule.pattern.atoms, atom)
    places = [tables[atom.predicate] for atom in atoms]
    names = _Names(atoms, keys=all(place.keys for place in places))
    first, *others = (stored_row(place.path, f"t{i}") for i, place in enumerate(places))
    query = select(count_rows().named("confirmed" if confirms else "refuted")).from_(first)
    for other in others:
        query = query.cross_join(other)
    conditions = [*names.joins(), *(names.other_fact(atom, other) for other in alike if names.may_be_one(atom, other))]
    return query.where(*conditions, _all_observed(places) if model is None else _one_predicted(places, model).paren())


class _Names:
    """The columns behind the slots of a tuple of atoms."""

    def __init__(self, atoms: Sequence[PatternAtom], *, keys: bool) -> None:
        self._atoms, self._keys = atoms, keys
        self._columns: dict[Bound, Sql] = {}
        for i, atom in enumerate(atoms):
            for name, slot in zip(argument_columns(atom.arity), atom.slots, strict=True):
                if isinstance(slot, Bound):
                    self._columns.setdefault(slot, _fact(i)[name])

    def joins(self) -> Iterator[Sql]:
        """Equal columns for one variable, a constant for a constant, and different values for every two variables."""
        for i, atom in enumerate(self._atoms):
            for name, slot in zip(argument_columns(atom.arity), atom.slots, strict=True):
                place, value = _fact(i)[name], self._value(slot)
                if place.node != value.node:
                    yield place == value
        yield from (left != other for left, other in combinations(self._columns.values(), 2))

    def _value(self, slot: Slot) -> Sql:
        match slot:
            case Bound():
                return self._columns[slot]
            case Fixed(key):
                return sql(key) if self._keys else _stored(value_of(key))
            case _:
                raise AssertionError(slot)

    def may_be_one(self, atom: PatternAtom, other: PatternAtom) -> bool:
        """Whether two atoms of one predicate can be the same fact: two variables never have one value."""
        pairs = zip(atom.slots, other.slots, strict=True)
        return not any(left != two and type(left) is type(two) for left, two in pairs)

    def other_fact(self, atom: PatternAtom, other: PatternAtom) -> Sql:
        pairs = [(left, two) for left, two in zip(atom.slots, other.slots, strict=True) if left != two]
        return any_of(*(self._value(left) != self._value(two) for left, two in pairs)).paren()


def _stored(value: Value) -> Sql:
    """A constant as a user's column holds it."""
    if not isinstance(value, datetime.datetime):
        return constant(value)
    return sql(value.isoformat()).cast("TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ")


def _fact(index: int) -> Row:
    return alias(f"t{index}")


def _tagged(index: int, tags: Sequence[int]) -> Sql:
    tag = _fact(index).tag
    return tag == tags[0] if len(tags) == 1 else tag.is_in(tags)


def _all_observed(places: Sequence[PredicateTable]) -> Sql:
    return all_of(*(_tagged(i, place.observed) for i, place in enumerate(places)))


def _one_predicted(places: Sequence[PredicateTable], model: str) -> Sql:
    """One atom of the tuple is a prediction of the model, all others are observed."""

    def conditions(chosen: int) -> Iterator[Sql]:
        for i, place in enumerate(places):
            if i == chosen:
                yield _tagged(i, place.predicted)
                yield _fact(i).model == model
            else:
                yield _tagged(i, place.observed)

    return any_of(*(all_of(*conditions(i)).paren() for i in range(len(places))))


def create_schema(schema: str) -> Create:
    return exp.Create(this=exp.Table(db=identifier(schema)), kind="SCHEMA")


def create_predicate(
    path: tuple[str, str], predicate: str, arity: int, observed: str | None, predicted: str | None, models: str
) -> Create:
    """A predicate's table, made from the staged rows of keys: the facts', and every model's."""
    parts: list[Query] = []
    r, m = alias("r"), row(models, "m")
    query = select(**{name: r[argument(i)] for i, name in enumerate(argument_columns(arity))}).distinct()
    query = query.where(r.predicate == predicate)
    if observed is not None:
        parts.append(query.select(**_marks(OBSERVED, NULL)).from_(row(observed, "r")))
    if predicted is not None:
        parts.append(query.select(**_marks(PREDICTED, m.name)).from_(row(predicted, "r")).join(m, m.id == r.model))
    return _create(path, union_all(parts))


def create_predictions(
    path: tuple[str, str], rows: str, keys: Sequence[str], target_type: str, staged: str | None, models: str
) -> Create:
    """The predictions of a table's target: its hidden rows, by the fields of its key, and the models' predictions for them."""
    names = id_columns(len(keys))
    r, m = row(rows, "r"), row(models, "m")
    ids = {name: r[key] for key, name in zip(keys, names, strict=True)}
    hidden = select(**ids, prediction=NULL.cast(target_type), **_marks(HIDDEN, NULL))
    parts: list[Query] = [hidden.from_(r).where(r.hidden)]
    if staged is not None:
        p = row(staged, "p")
        ids = {name: p[f"k{i}"] for i, name in enumerate(names)}
        predicted = select(**ids, prediction=p.value, **_marks(PREDICTED, m.name)).distinct()
        parts.append(predicted.from_(p).join(m, m.id == p.model))
    return _create(path, union_all(parts))


def create_names(path: tuple[str, str], staged: str) -> Create:
    n = row(staged, "n")
    return _create(path, select(n.name, n.kind, n.table_name).from_(n))


def _marks(tag: int, model: Sql) -> dict[str, Sql]:
    return {"tag": sql(tag).integer(), "model": model.cast("TEXT")}


def _create(path: tuple[str, str], query: Query) -> Create:
    return exp.Create(this=_named_table(path), kind="TABLE", expression=query.tree())


def _named_table(path: tuple[str, str]) -> exp.Table:
    return exp.Table(this=identifier(path[1]), db=identifier(path[0]))


def comment(path: tuple[str, str], text: str) -> exp.Comment:
    return exp.Comment(this=_named_table(path), kind="TABLE", expression=exp.Literal.string(f"{MADE_HERE}: {text}"))


def drop_table(path: tuple[str, str]) -> exp.Drop:
    return exp.Drop(tables=[_named_table(path)], kind="TABLE")


def create_index(path: tuple[str, str], columns: Sequence[str]) -> Create:
    return _index(_named_table(path), columns)


def index_staged(staged: str) -> Create:
    return _index(exp.Table(this=identifier(staged)), ["predicate"])


def _index(table: exp.Table, columns: Sequence[str]) -> Create:
    parameters = exp.IndexParameters(columns=[exp.Ordered(this=exp.column(identifier(column))) for column in columns])
    return exp.Create(this=exp.Index(table=table, params=parameters), kind="INDEX")


def longest_row(path: tuple[str, str], columns: Sequence[str]) -> Select:
    """The bytes of the longest row."""
    s = stored_row(path, "s")
    size = reduce(add, (call("OCTET_LENGTH", s[column]) for column in columns))
    return select(n=size.max().or_else(0)).from_(s)


def analyze(path: tuple[str, str]) -> exp.Expr:
    return exp.Analyze(tables=[_named_table(path)])


def row_counts(path: tuple[str, str]) -> Select:
    """Rows of a table by their tags."""
    s = stored_row(path, "s")
    return select(tag=s.tag, n=count_rows()).from_(s).group_by(s.tag)
