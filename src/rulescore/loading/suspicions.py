"""Suspicious properties of the loaded data: constants of rules that do not occur, texts that look like numbers, predicates that
nobody mentions.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Severity, place_of, ticked
from rulescore.language.declarations.refute import Refute
from rulescore.language.printer import print_term
from rulescore.language.syntax import Atom, Constant, Program, RowAtom, Rule
from rulescore.language.trees import atoms_in, conditions_of
from rulescore.loading.facts import Loaded
from rulescore.loading.tables import LoadedTable
from rulescore.logic.checks import literal_positions
from rulescore.logic.formula import FormulaRule, OrderedText, Relation, Schema, may_equal
from rulescore.logic.problems import print_argument, print_column
from rulescore.logic.refutable import ArgumentCounts
from rulescore.logic.types import with_article
from rulescore.logic.vocabulary import Spellings
from rulescore.readers.table_rows import Guess
from rulescore.setting.model import FactStream, Setting, declaration
from rulescore.sql import suspicions as sql
from rulescore.sql.facts import TYPES, Position, PredictedTargets, position_types
from rulescore.sql.names import fact_table, prediction_table
from rulescore.sql.query import drop, row, select
from rulescore.sql.suspicions import argument_counts
from rulescore.sql.values import distinct_values, extremes
from rulescore.values import MARKER, NUMBERS, ValueType, key_of

_MEASURES = frozenset({ValueType.INTEGER, ValueType.FLOAT, ValueType.DATE, ValueType.DATETIME, ValueType.INSTANT})


def ordered_texts(
    engine: Engine, schema: Schema, rule: FormulaRule, declared_text: Collection[tuple[str, str]]
) -> Iterator[Diagnostic]:
    """An error for every column of text that a rule orders and that holds numbers or dates only; a warning if it mostly does. If a
    column is `declared_text`, the user wants text."""
    for place in dict.fromkeys(rule.ordered_texts):
        if (place.relation, place.column) not in declared_text:
            yield from _look(engine, schema.relations[place.relation], place)


def _look(engine: Engine, relation: Relation, place: OrderedText) -> Iterator[Diagnostic]:
    field = relation.columns[place.column].column
    tables = [table for table in (relation.observed, relation.predicted) if table is not None]
    values = [select(value=t[field]).from_(t) for t in (row(table, "t") for table in tables)]
    (ends,) = engine.query(extremes(values)).to_pylist()
    # Most texts that rules order are words. So we fetch all texts only if the first or the last looks like a number or a date.
    if not any(end is not None and _kind(pa.array([end])) in _MEASURES for end in ends.values()):
        return
    texts = pc.drop_null(engine.query(distinct_values(values))["value"].combine_chunks().cast(pa.string()))
    kind = _kind(texts)
    if kind in _MEASURES:
        yield _error(relation, place, kind, texts)
    elif (strange := _strange(texts)) is not None:
        yield _warning(relation, place, strange)


def _kind(texts: pa.Array) -> ValueType | None:
    guess = Guess()
    guess.look(texts)
    return guess.kind


def _error(relation: Relation, place: OrderedText, kind: ValueType, texts: pa.Array) -> Diagnostic:
    where = print_column(relation, place.column)
    least, greatest = pc.min_max(texts).as_py().values()
    line = f'`types = {{ {place.column} = "{declaration(kind)}" }}`'
    described = f"`[tables.{relation.name}]`, or in `Table`" if relation.is_table else "`[[facts]]`, or in `FactFile`"
    helps = (
        f'declare the type, in a project file under {described}: {line}; `"string"` orders them as texts',
        *(() if relation.is_table else _TRIPLES),
    )
    message = f"`{place.word}` would order texts, but every value of {where} looks like {with_article(kind)}"
    notes = (f"as texts, `{greatest}` comes after `{least}`",) if len(texts) > 1 else ()
    return Diagnostic("E271", message, place_of(place.span), "text", notes=notes, helps=helps)


_TRIPLES = ("if other relations have names there, give this one a file of its own: `predicates = { NAME = PATH }` beside `types`",)


def _strange(texts: pa.Array) -> str | None:
    """A text that is no number and no date, in a column where most texts are."""
    usual = pc.match_substring_regex(texts, _USUAL)
    if 2 * pc.sum(usual).as_py() <= len(texts):
        return None
    return str(texts.filter(pc.invert(usual))[0].as_py()) if pc.any(pc.invert(usual)).as_py() else None


_USUAL = r"^(-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+.*)?)$"


def _warning(relation: Relation, place: OrderedText, strange: str) -> Diagnostic:
    where = print_column(relation, place.column)
    message = f"`{place.word}` orders texts: most values of {where} look like numbers or dates, but not `{strange}`"
    helps = ("leave missing values out, or leave their fields in a table empty; a declared type says where the others are",)
    return Diagnostic("W282", message, place_of(place.span), "text", helps=helps, severity=Severity.WARNING)


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
    of_facts = [place for place in wanted if isinstance(place[0][1], int)]
    of_tables = {place: constant for place, constant in wanted.items() if isinstance(place[0][1], str)}
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
    """Constants in rules, by place, if the data have values at that place. We leave out converted files, because an ontology names
    all its classes, even classes that the data do not have."""
    occurrences: _Occurrences = {
        ((predicate, argument), key): constant
        for ((predicate, arity, argument), key), constant in program.occurrences.constants.items()
        if _has_values(loaded, predicate, arity)
    }
    for statement in program.occurrences.others:
        if not isinstance(statement, Rule | Refute) or (statement.span and statement.span.source.converted):
            continue
        for condition in conditions_of(statement):
            for atom in atoms_in(condition):
                for place, constant in _places(atom, loaded, tables):
                    if not isinstance(constant.value, datetime.timedelta):
                        occurrences.setdefault((place, key_of(constant.value)), constant)
    return occurrences


def _has_values(loaded: Loaded, predicate: str, arity: int) -> bool:
    known = loaded.vocabulary.predicates.get(predicate)
    return known is not None and known.arity == arity and bool(known.observed or known.predicted or known.negative)


def _places(atom: Atom | RowAtom, loaded: Loaded, tables: Mapping[str, LoadedTable]) -> Iterator[tuple[_Place, Constant]]:
    match atom:
        case Atom(predicate, terms):
            if _has_values(loaded, predicate, len(terms)):
                yield from (((predicate, i), term) for i, term in enumerate(terms) if isinstance(term, Constant))
        case RowAtom(table, arguments) if table in tables and tables[table].rows:
            columns = tables[table].columns
            yield from (
                ((table, attribute), term) for attribute, term in arguments if isinstance(term, Constant) and attribute in columns
            )
        case _:
            return


def _in_facts(engine: Engine, loaded: Loaded, wanted: Sequence[tuple[_Place, str]]) -> Iterator[tuple[_Place, str]]:
    known = loaded.vocabulary.predicates
    rows = [
        (loaded.predicate_ids[name] * loaded.stride, int(argument), loaded.constant_ids[key]) for (name, argument), key in wanted
    ]
    asked = {(known[name].arity, int(argument)) for name, argument in {place for place, _ in wanted}}
    positions = [
        Position(source(arity), argument)
        for source, arities in ((fact_table, loaded.fact_arities), (prediction_table, loaded.prediction_arities))
        for arity, argument in sorted(asked)
        if arity in arities
    ]
    if not positions:
        return
    columns = (range(len(rows)), *([row[column] for row in rows] for column in range(3)))
    names = ("number", "literal", "argument", "constant")
    engine.load(sql.WANTED, pa.table({name: pa.array(column, pa.int32()) for name, column in zip(names, columns, strict=True)}))
    numbers = engine.query(sql.occurring(positions, loaded.stride, len(loaded.predicate_ids)))["number"].to_pylist()
    yield from (wanted[number] for number in numbers)
    engine.run(drop(sql.WANTED))


def _in_tables(engine: Engine, tables: Mapping[str, LoadedTable], wanted: _Occurrences) -> Iterator[tuple[_Place, str]]:
    places = {place for place, _ in wanted}
    fields = [(place, field) for place in sorted(places, key=str) for field in _fields(tables, place)]
    if not fields:
        return
    engine.load(sql.WANTED, pa.table({"key": pa.array(sorted({key for _, key in wanted}), pa.string())}))
    for occurrence in engine.query(sql.occurring_values([field for _, field in fields])).to_pylist():
        yield fields[occurrence["place"]][0], occurrence["key"]
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
        literals = [loaded.fact_literal(name), loaded.fact_literal(name, negative=True)]
        facts = [Position(fact_table(arity), position, literals)] if arity in loaded.fact_arities else []
        read = [Position(prediction_table(arity), position, literals[:1])] if arity in loaded.prediction_arities else []
        query = sql.keys_at([*facts, *read], lengths)
    keys = [key for key in engine.query(query)["key"].to_pylist() if not key.startswith(MARKER)]
    return next((other for other in keys if other.casefold() == key.casefold()), None) or Spellings(keys).closest(key)


_MOST_PAIRS = 5

_TypesAt = dict[tuple[str, int], frozenset[ValueType]]


def literal_types(engine: Engine, loaded: Loaded, program: Program) -> _TypesAt:
    """Types of the data's constants at the positions that rules compare with a constant."""
    asked: dict[int, set[int]] = {}
    for (_, arity, argument), _ in program.occurrences.constants:
        asked.setdefault(arity, set()).add(argument)
    for statement in program.occurrences.others:
        if isinstance(statement, Rule | Refute):
            for atom, position, _ in literal_positions(statement):
                asked.setdefault(atom.arity, set()).add(position)
    facts, predicted_types = _types_at(engine, loaded, asked)
    return {
        place: facts.get(place, frozenset()) | predicted_types.get(place, frozenset()) for place in facts.keys() | predicted_types
    }


def _types_at(engine: Engine, loaded: Loaded, asked: Mapping[int, Iterable[int]]) -> tuple[_TypesAt, _TypesAt]:
    """Types of constants at positions of each arity, in facts and in predictions."""
    facts = _positions(fact_table, loaded.fact_arities, asked)
    positions = facts + _positions(prediction_table, loaded.prediction_arities, asked)
    types: tuple[_TypesAt, _TypesAt] = ({}, {})
    for typed in engine.query(position_types(positions)).to_pylist() if positions else ():
        if typed["literal"] % loaded.stride == 0:
            of_source = types[typed["place"] >= len(facts)]
            place = (loaded.predicate_name(typed["literal"]), positions[typed["place"]].number)
            of_source[place] = of_source.get(place, frozenset()) | {TYPES[typed["mark"]]}
    return types


def _positions(source: Callable[[int], str], arities: Collection[int], asked: Mapping[int, Iterable[int]]) -> list[Position]:
    return [Position(source(arity), position) for arity in sorted(asked.keys() & set(arities)) for position in sorted(asked[arity])]


def data_problems(engine: Engine, setting: Setting, loaded: Loaded, tables: Mapping[str, LoadedTable]) -> Iterator[Diagnostic]:
    yield from (warning for table in tables.values() for warning in table.warnings)
    yield from loaded.warnings
    yield from _models(setting, loaded)
    if loaded.summary.negatives_observed:
        yield Diagnostic(
            "W321",
            f"{loaded.summary.negatives_observed:,} of {loaded.summary.negatives:,} negative facts are observed facts too",
            notes=("such a head is confirmed and refuted at once",),
            severity=Severity.WARNING,
        )
    yield from _type_clashes(engine, loaded)


def _models(setting: Setting, loaded: Loaded) -> Iterator[Diagnostic]:
    for model, times in Counter(loaded.models).items():
        if times > 1:
            yield Diagnostic("E204", f"model `{model}` is given {times} times", helps=("give its files as one list",))
    for prediction in setting.predictions:
        # We count a folder, a mapping or the tables of one published schema as one source.
        streams = [source for source in prediction.streams if isinstance(source, FactStream)]
        parts = dict.fromkeys(source.part_of for source in streams if source.part_of is not None)
        stored = dict.fromkeys(source.origin for source in prediction.streams if not isinstance(source, FactStream))
        files = [*parts, *(source.origin for source in streams if source.part_of is None)]
        origins = [*files, *stored, *(table.rows.origin for table in prediction.tables)]
        if len(origins) > 1:
            yield Diagnostic(
                "W324",
                f"model `{prediction.model}` is the union of {len(origins)} sources",
                notes=(ticked(origins),),
                severity=Severity.WARNING,
            )


def _type_clashes(engine: Engine, loaded: Loaded) -> Iterator[Diagnostic]:
    """Positions with one type in the facts and another in predictions, so no constants there can be equal."""
    named = [(loaded.predicate_name(target.literal), target) for target in loaded.predicted if isinstance(target, PredictedTargets)]
    # Only negative facts may be about the target of a table.
    targets = {name: target.fields for name, target in named if name in loaded.vocabulary.predicates}
    if len(loaded.types) < 2 and not targets:
        return
    arities = loaded.fact_arities & (loaded.prediction_arities | {len(fields) for fields in targets.values()})
    facts, predicted_types = _types_at(engine, loaded, {arity: range(arity) for arity in arities})
    for name, fields in targets.items():
        for i, (_, kind) in enumerate(fields):
            predicted_types[name, i] = NUMBERS if kind is ValueType.MIXED else frozenset({kind})
    for place, types in sorted(predicted_types.items()):
        if place in facts and not any(may_equal(kind, facts[place]) for kind in types):
            predicate, position = place
            yield Diagnostic(
                "W323",
                f"{print_argument(predicate, position)} is {_types_text(facts[place])} in the facts "
                f"and {_types_text(types)} in predictions",
                notes=("constants of different types are never equal, so these predictions meet no fact there",),
                helps=("declare the column's type, or convert it, where either is read",),
                severity=Severity.WARNING,
            )


def _types_text(types: Collection[ValueType]) -> str:
    return " or ".join(with_article(kind) for kind in ValueType if kind in types)


def shown_pairs(pairs: Sequence[tuple[str, str]]) -> Iterator[Diagnostic]:
    """A warning that lists the extracted pairs: extraction is a heuristic, so users should know its result."""
    if pairs:
        shown = ", ".join(f"`{left}` and `{right}`" for left, right in pairs[:_MOST_PAIRS])
        more = f", and {len(pairs) - _MOST_PAIRS:,} more" if len(pairs) > _MOST_PAIRS else ""
        yield Diagnostic(
            "W322",
            f"{len(pairs):,} pairs of predicates count as incompatible, as the data never have both",
            notes=(shown + more,),
            helps=("`rulescore incompatibilities` lists them, with how surprising each is",),
            severity=Severity.WARNING,
        )


# Counts in the data that suggest declarations.


def counted_arguments(engine: Engine, loaded: Loaded) -> dict[str, ArgumentCounts]:
    if 2 not in loaded.fact_arities:
        return {}
    rows = engine.query(argument_counts(loaded.stride, len(loaded.predicate_ids))).to_pylist()
    return {
        loaded.predicate_name(row["literal"]): ArgumentCounts(int(row["facts"]), int(row["first"]), int(row["second"]))
        for row in rows
    }
