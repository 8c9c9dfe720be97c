"""Constants of rules that do not occur at their places in the data: they are probably misspelt."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Severity, place_of
from rulescore.language.declarations.refute import Refute
from rulescore.language.printer import print_term
from rulescore.language.syntax import Atom, Constant, Program, RowAtom, Rule
from rulescore.language.trees import atoms_in
from rulescore.loading.facts import Loaded
from rulescore.loading.tables.loaded import LoadedTable
from rulescore.logic.problems import print_argument
from rulescore.logic.slips import Spellings
from rulescore.logic.vocabulary import conditions_of
from rulescore.sql import rule_constants as sql
from rulescore.sql.constant_types import Position
from rulescore.sql.names import candidate_table, fact_table
from rulescore.sql.query import drop
from rulescore.values.keys import MARKER, key_of

_MOST_SHOWN = 3
_MOST_SLIPS = 2

_Place = tuple[str, int | str]
"""A predicate and the number of its argument; a table and its attribute."""
_Occurrences = dict[tuple[_Place, str], Constant]
"""Constants by place and key, each where rules first have it."""


def misplaced_constants(
    engine: Engine, loaded: Loaded, tables: Mapping[str, LoadedTable], program: Program
) -> Iterator[Diagnostic]:
    """A warning for each, or one for all if there are many: mined rules may have thousands."""
    wanted = _constants(program, loaded, tables)
    of_facts = {one: constant for one, constant in wanted.items() if isinstance(one[0][1], int)}
    of_tables = {one: constant for one, constant in wanted.items() if isinstance(one[0][1], str)}
    occurring = {*_in_facts(engine, loaded, of_facts), *_in_tables(engine, tables, of_tables)}
    missing = [(place, key, constant) for (place, key), constant in wanted.items() if (place, key) not in occurring]
    told = [
        (_told(place, constant, _meant(engine, loaded, tables, place, key)), constant)
        for place, key, constant in missing[:_MOST_SHOWN]
    ]
    if len(missing) > _MOST_SHOWN:
        many = f"{len(missing):,} constants of rules do not occur at their places in the data"
        examples = (*(text for text, _ in told), f"and {len(missing) - _MOST_SHOWN:,} more")
        yield Diagnostic("W217", many, place_of(told[0][1].span), notes=examples, severity=Severity.WARNING)
        return
    for text, constant in told:
        notes = ("no fact, negative fact or prediction has it there",)
        yield Diagnostic("W217", text, place_of(constant.span), notes=notes, severity=Severity.WARNING)


def _told(place: _Place, constant: Constant, meant: str | None) -> str:
    name, position = place
    where = print_argument(name, position) if isinstance(position, int) else f"`{position}` of table `{name}`"
    return f"`{print_term(constant)}` does not occur as {where}" + (f"; did you mean `{meant}`?" if meant else "")


def _constants(program: Program, loaded: Loaded, tables: Mapping[str, LoadedTable]) -> _Occurrences:
    """Those of predicates and columns that have values at all. An ontology speaks of all its classes, whichever the data have."""
    found: _Occurrences = {}
    for statement in program.statements:
        if not isinstance(statement, Rule | Refute) or (statement.span and statement.span.source.converted):
            continue
        for condition in conditions_of(statement):
            for atom in atoms_in(condition):
                for place, constant in _places(atom, loaded, tables):
                    if not isinstance(constant.value, datetime.timedelta):
                        found.setdefault((place, key_of(constant.value)), constant)
    return found


def _places(atom: Atom | RowAtom, loaded: Loaded, tables: Mapping[str, LoadedTable]) -> Iterator[tuple[_Place, Constant]]:
    match atom:
        case Atom(predicate, terms):
            known = loaded.vocabulary.predicates.get(predicate)
            if known is not None and known.arity == len(terms) and (known.observed or known.predicted or known.negative):
                yield from (((predicate, i), term) for i, term in enumerate(terms) if isinstance(term, Constant))
        case RowAtom(table, arguments) if table in tables and tables[table].rows:
            columns = tables[table].columns
            yield from (((table, one), term) for one, term in arguments if isinstance(term, Constant) and one in columns)
        case _:
            return


def _in_facts(engine: Engine, loaded: Loaded, wanted: _Occurrences) -> Iterator[tuple[_Place, str]]:
    known = loaded.vocabulary.predicates
    asked = {(known[name].arity, position) for (name, position), _ in wanted if isinstance(position, int)}
    positions = [
        Position(source(arity), position)
        for source, arities in ((fact_table, loaded.fact_arities), (candidate_table, loaded.candidate_arities))
        for arity, position in sorted(asked)
        if arity in arities
    ]
    if not positions:
        return
    keys = {loaded.constant_ids[key]: key for _, key in wanted}
    engine.load(sql.WANTED, pa.table({"constant": pa.array(sorted(keys), pa.int32())}))
    for row in engine.query(sql.occurring(positions)).to_pylist():
        if row["literal"] % loaded.stride == 0:
            yield (loaded.predicate_name(row["literal"]), positions[row["place"]].number), keys[row["constant"]]
    engine.run(drop(sql.WANTED))


def _in_tables(engine: Engine, tables: Mapping[str, LoadedTable], wanted: _Occurrences) -> Iterator[tuple[_Place, str]]:
    places = {place for place, _ in wanted}
    fields = [(place, field) for place in sorted(places, key=str) for field in _fields(tables, place)]
    if not fields:
        return
    engine.load(sql.WANTED, pa.table({"key": pa.array(sorted({key for _, key in wanted}), pa.string())}))
    for row in engine.query(sql.occurring_values([field for _, field in fields])).to_pylist():
        yield fields[row["place"]][0], row["key"]
    engine.run(drop(sql.WANTED))


def _fields(tables: Mapping[str, LoadedTable], place: _Place) -> Iterator[sql.Field]:
    name, attribute = place
    table = tables[name]
    column = table.columns[str(attribute)]
    yield sql.Field(table.observed, column.name, column.type)
    if table.predicted is not None and attribute in table.from_target:
        yield sql.Field(table.predicted, column.name, column.type)


def _meant(engine: Engine, loaded: Loaded, tables: Mapping[str, LoadedTable], place: _Place, key: str) -> str | None:
    """The text that occurs there, and is spelt nearly the same."""
    if key.startswith(MARKER):
        return None
    name, position = place
    lengths = (len(key) - _MOST_SLIPS, len(key) + _MOST_SLIPS)
    if isinstance(position, str):
        query = sql.values_at(list(_fields(tables, place)), lengths)
    else:
        arity = loaded.vocabulary.predicates[name].arity
        literal, negative = loaded.predicate_ids[name] * loaded.stride, len(loaded.predicate_ids) * loaded.stride
        facts = [Position(fact_table(arity), position, [literal, literal + negative])] if arity in loaded.fact_arities else []
        read = [Position(candidate_table(arity), position, [literal])] if arity in loaded.candidate_arities else []
        query = sql.keys_at([*facts, *read], lengths)
    keys = [one for one in engine.query(query)["key"].to_pylist() if not one.startswith(MARKER)]
    return next((one for one in keys if one.casefold() == key.casefold()), None) or Spellings(keys).closest(key)
