"""Remembers how we read each source, and checks that against the other data and the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Place, Severity, refuse, suggestion, ticked
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.loading.stored import InPlace
from rulescore.readers.layout import chosen_columns, names_relations, written_columns
from rulescore.setting.model import FactBatch, FactStream, FactTable, FirstLine, FirstRow, Guess, OnePredicate, Recognised
from rulescore.sql.names import arguments
from rulescore.sql.query import Query
from rulescore.sql.stored import different_predicates, first_row
from rulescore.values import value_of
from rulescore.waiting import tell

_MOST_LISTED = 5
_MOST_SUGGESTIONS = 10
_ORDER = (
    "if the columns stand in another order, name them in a first line, `head`, `relation` and `tail`, "
    "or choose them: `--predictions-columns {}`, or `columns = {{ {} }}` in a project file"
)
_WITHOUT_BLANKS = ("remove the blanks beside the delimiters",)


@dataclass(slots=True)
class SourceReading:
    """What a source holds. `whole`: the source that the user named. This reading may be a part of it. `model`: the model whose
    predictions these are. `query`: the rows of a table that the engine reads in place; we ask for its predicates and its first row
    only if need be."""

    origin: str
    whole: str
    model: int | None = None
    guess: Guess | None = None
    predicates: set[str] = field(default_factory=set)
    first: Atom | None = None
    query: Query | None = None
    arity: int = 0

    def look(self, batch: FactBatch) -> None:
        """Notes what a batch of the source holds."""
        tell(f"reading {self.origin}")
        if not batch.rows.num_rows:
            return
        if self.first is None:
            self.guess = batch.guess
            row = batch.rows.slice(0, 1).to_pylist()[0]
            self.first = _atom(row["predicate"] if batch.predicate is None else batch.predicate, batch.arity, row)
        if batch.predicate is not None:
            self.predicates.add(batch.predicate)
        else:
            self.predicates.update(pc.unique(batch.rows.column("predicate")).to_pylist())


def stream_reading(stream: FactStream, model: int | None = None) -> SourceReading:
    return SourceReading(stream.origin, stream.part_of or stream.origin, model)


def table_reading(facts: FactTable, counts: InPlace, model: int | None = None) -> SourceReading:
    whole = "<predicates>" if facts.request.file.predicate is not None else facts.origin
    known = set() if counts.predicate is None or not counts.kept else {counts.predicate}
    return SourceReading(facts.origin, whole, model, counts.guess, known, query=counts.query, arity=counts.arity)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The predicates of all data with their numbers of rows, the predicates that have facts, and whether rules or declarations
    mention a predicate."""

    rows: Mapping[str, int]
    of_facts: frozenset[str]
    mentioned: Callable[[str], bool]


RowCounts = dict[str, dict[int, Counter[str]]]
"""How many rows every predicate has, by arity and by kind: observed, negative, predicted."""


def occurrences(counts: RowCounts, mentioned: Callable[[str], bool]) -> Occurrences:
    rows = {predicate: sum(kinds.total() for kinds in uses.values()) for predicate, uses in counts.items()}
    facts = {predicate for predicate, uses in counts.items() for kinds in uses.values() if kinds["observed"] or kinds["negative"]}
    return Occurrences(rows, frozenset(facts), mentioned)


def predicate_arities(counts: RowCounts) -> dict[str, int]:
    """The arity of every predicate in the data. InputError for predicates with two arities."""
    problems = [
        Diagnostic(
            "E203",
            f"`{predicate}` occurs with {' and '.join(str(n) for n in sorted(uses))} arguments",
            notes=tuple(
                f"{n} argument{'s' if n != 1 else ''}: " + ", ".join(f"{count:,} {kind} rows" for kind, count in kinds.items())
                for n, kinds in sorted(uses.items())
            ),
            helps=("give the two relations different names",),
        )
        for predicate, uses in sorted(counts.items())
        if len(uses) > 1
    ]
    refuse(problems)
    return {predicate: next(iter(uses)) for predicate, uses in counts.items()}


def reading_problems(engine: Engine, readings: Sequence[SourceReading], occurrences: Occurrences) -> Iterator[Diagnostic]:
    """Problems for sources that we probably misread."""
    yield from _unknown_predictions(engine, readings, occurrences)
    yield from _guessed_predicates(engine, readings, occurrences)
    yield from _rows_of_names(engine, readings, occurrences)
    yield from reading_warnings(readings, occurrences)


def reading_warnings(readings: Sequence[SourceReading], occurrences: Occurrences) -> Iterator[Diagnostic]:
    yield from _recognised(readings)
    yield from _first_lines(readings, occurrences)
    yield from _blanks(occurrences)


def _recognised(readings: Iterable[SourceReading]) -> Iterator[Diagnostic]:
    for reading in readings:
        if isinstance(reading.guess, Recognised):
            message = f"`{reading.origin}` is read as {reading.guess.title}"
            option = "--facts-format" if reading.model is None else "--predictions-format"
            helps = (f'if it is, say so: `format = "{reading.guess.format}"` (`{option}`); if not, `format = "text"`',)
            yield Diagnostic("W361", message, Place(reading.origin), helps=helps, severity=Severity.WARNING)


def _unknown_predictions(engine: Engine, readings: Iterable[SourceReading], occurrences: Occurrences) -> Iterator[Diagnostic]:
    def known(predicate: str) -> bool:
        return predicate in occurrences.of_facts or occurrences.mentioned(predicate)

    if all(map(known, occurrences.rows)):
        return
    sources: dict[tuple[int, str], list[SourceReading]] = {}
    for reading in readings:
        if reading.model is not None:
            sources.setdefault((reading.model, reading.whole), []).append(reading)
    for parts in sources.values():
        predicates = sorted({name for part in parts for name in _predicates(engine, part)})
        if predicates and not any(map(known, predicates)):
            yield _unknown(engine, parts, predicates, known, list(filter(known, occurrences.rows)))


def _unknown(
    engine: Engine, parts: Sequence[SourceReading], predicates: Sequence[str], known: Callable[[str], bool], names: Sequence[str]
) -> Diagnostic:
    """`names`: the known predicates that have rows; rules may mention others."""
    first = next(part for part in parts if _predicates(engine, part))
    row = _first(engine, first)
    # If the columns are read in the wrong order, there are as many predicates as entities, and no name is close to another.
    stripped = (name.strip() if known(name.strip()) else suggestion(name, names) for name in predicates[:_MOST_SUGGESTIONS])
    meant = next(filter(None, stripped), None)
    if meant is not None and any(name.strip() == meant for name in predicates):
        return Diagnostic(
            "E328", _blank_names(predicates), Place(first.origin), notes=_read_as(row, first.guess), helps=_WITHOUT_BLANKS
        )
    helps = [] if meant is None else [f"did you mean `{meant}`?"]
    places = _places(row, known)
    order = _ORDER.format(places.replace(" ", ""), places)
    helps += [order] if isinstance(first.guess, FirstLine) else _columns_help(first.guess)
    helps.append(f"if they are meant, declare the predicate: `predicate {print_atom(row).partition('(')[0]}/{row.arity}.`")
    what = f"predicate {_listed(predicates)}" if len(predicates) == 1 else f"predicates {_listed(predicates)}"
    message = f"no fact and no rule is about the {what} of these predictions"
    return Diagnostic("E328", message, Place(first.origin), notes=_read_as(row, first.guess), helps=tuple(helps))


def _blank_names(predicates: Sequence[str]) -> str:
    return f"names of predicates begin or end with a blank, and fields are taken as they stand: {_listed(predicates)}"


def _places(row: Atom, known: Callable[[str], bool]) -> str:
    """The columns of a triple. The relation is the column in which a row has the name of a known predicate, or else the last
    column."""
    first = next((term.value for term in row.terms[:1] if isinstance(term, Constant)), None)
    return "head = 2, relation = 1, tail = 3" if isinstance(first, str) and known(first) else "head = 1, relation = 3, tail = 2"


def _guessed_predicates(engine: Engine, readings: Sequence[SourceReading], occurrences: Occurrences) -> Iterator[Diagnostic]:
    """Tables whose predicate we guessed, if no rule or declaration mentions it, and no source that needed no guess."""
    sure = {name for reading in readings if not isinstance(reading.guess, OnePredicate) for name in reading.predicates}
    for reading in readings:
        if not isinstance(reading.guess, OnePredicate) or not reading.predicates or reading.model is not None:
            continue
        (predicate,) = reading.predicates
        if predicate in sure or occurrences.mentioned(predicate):
            continue
        row = _first(engine, reading)
        message = f"nothing says that these are facts of a predicate `{predicate}` with {row.arity} arguments"
        helps = (*_columns_help(reading.guess), 'if they are, say `layout = "predicate"`, or give the predicate its name')
        code, severity = ("W325", Severity.WARNING) if reading.guess.in_folder else ("E328", Severity.ERROR)
        yield Diagnostic(code, message, Place(reading.origin), notes=_read_as(row, reading.guess), helps=helps, severity=severity)


def _first_lines(readings: Sequence[SourceReading], occurrences: Occurrences) -> Iterator[Diagnostic]:
    """First lines whose predicate occurs only in first lines, and so may be headers: files of one origin often share one."""
    suspects = [
        (reading.first, reading)
        for reading in readings
        if isinstance(reading.guess, FirstLine | FirstRow) and reading.first is not None
    ]
    times = Counter(atom.predicate for atom, _ in suspects)
    for atom, reading in suspects:
        if occurrences.rows.get(atom.predicate, 0) > times[atom.predicate] or occurrences.mentioned(atom.predicate):
            continue
        in_text = isinstance(reading.guess, FirstLine)
        yield Diagnostic(
            "W325",
            f"the first {'line' if in_text else 'row'} may be a header: nothing else mentions `{atom.predicate}`",
            Place(reading.origin, 1 if in_text else None),
            notes=_read_as(atom, None),
            helps=(*_columns_help(reading.guess), "if it is a fact, say so: `--no-header`, or `header = false`")
            if in_text
            else (_leave_out(atom.predicate, atom.arity),),
            severity=Severity.WARNING,
        )


def _rows_of_names(engine: Engine, readings: Sequence[SourceReading], occurrences: Occurrences) -> Iterator[Diagnostic]:
    """Rows of stored tables that may be headers: their predicate is a usual name of relation columns. Such tables have no first
    row."""
    alone = [
        name for name, rows in occurrences.rows.items() if rows == 1 and names_relations(name) and not occurrences.mentioned(name)
    ]
    for reading in readings if alone else ():
        if reading.query is not None and reading.guess is None:
            for name in sorted(_predicates(engine, reading).intersection(alone)):
                message = f"a row may be a header: nothing else mentions `{name}`"
                helps = (_leave_out(name, reading.arity),)
                yield Diagnostic("W325", message, Place(reading.origin), helps=helps, severity=Severity.WARNING)


def _leave_out(predicate: str, arity: int) -> str:
    return f"leave it out; or, if it is a fact, declare the predicate: `predicate {predicate}/{arity}.`"


def _blanks(occurrences: Occurrences) -> Iterator[Diagnostic]:
    padded = sorted(name for name in occurrences.rows if name != name.strip() and not occurrences.mentioned(name))
    if padded:
        yield Diagnostic(
            "W327",
            f"names of predicates begin or end with a blank: {_listed(padded)}",
            notes=("fields of text files are taken as they stand",),
            helps=("remove the blanks beside the delimiters",),
            severity=Severity.WARNING,
        )


def _columns_help(guess: Guess | None) -> tuple[str, ...]:
    if guess is None or not guess.names:
        return ()
    what = "if it is a header (`--header`)" if isinstance(guess, FirstLine) else "if the rows are triples"
    return (
        f"{what}, call the columns `head`, `relation` and `tail`, or choose them: `{written_columns(chosen_columns(guess.names))}`",
    )


def _read_as(row: Atom, guess: Guess | None) -> tuple[str, ...]:
    names = guess.names if isinstance(guess, OnePredicate) else ()
    columns = (f"the columns are {ticked(names)}",) if names else ()
    return (f"the first row was read as `{print_atom(row)}`", *columns)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return ticked(names[:_MOST_LISTED]) + more


def _predicates(engine: Engine, reading: SourceReading) -> set[str]:
    if not reading.predicates and reading.query is not None:
        reading.predicates = set(engine.query(different_predicates(reading.query))["predicate"].to_pylist())
    return reading.predicates


def _first(engine: Engine, reading: SourceReading) -> Atom:
    if reading.first is None:
        assert reading.query is not None
        row = engine.query(first_row(reading.query)).to_pylist()[0]
        reading.first = _atom(row["predicate"], reading.arity, row)
    return reading.first


def _atom(predicate: str, arity: int, row: Mapping[str, str]) -> Atom:
    return Atom(predicate, tuple(Constant(value_of(row[argument])) for argument in arguments(arity)))
