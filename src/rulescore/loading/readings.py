"""How we read each source, and whether the other data and the rules confirm that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Place, Severity, suggestion
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.loading.stored import InPlace
from rulescore.progress import tell
from rulescore.readers.layout import chosen_columns, names_relations
from rulescore.setting.model import FactBatch, FactStream, FactTable, FirstLine, FirstRow, Guess, OnePredicate, Recognised
from rulescore.sql.names import arguments
from rulescore.sql.query import Query
from rulescore.sql.stored import different_predicates, first_row
from rulescore.values.keys import value_of

_MOST_LISTED = 5
_MOST_SUGGESTIONS = 10
_ORDER = (
    "if the columns stand in another order, name them in a first line, `head`, `relation` and `tail`, "
    "or choose them: `columns = { head = 1, relation = 3, tail = 2 }`"
)


@dataclass(slots=True)
class SourceReading:
    """What a source holds. `whole`: the source that the user named, of which this may be a part. `model`: the model whose
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


def table_reading(facts: FactTable, found: InPlace, model: int | None = None) -> SourceReading:
    whole = "<predicates>" if facts.request.file.predicate is not None else facts.origin
    known = set() if found.predicate is None or not found.kept else {found.predicate}
    return SourceReading(facts.origin, whole, model, found.guess, known, query=found.query, arity=found.arity)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The predicates of all data with the number of their rows, those that have facts, and whether rules or declarations mention a
    predicate."""

    rows: Mapping[str, int]
    of_facts: frozenset[str]
    mentioned: Callable[[str], bool]


def reading_problems(engine: Engine, readings: Sequence[SourceReading], found: Occurrences) -> Iterator[Diagnostic]:
    """Problems for sources that we probably misread."""
    yield from _unknown_predictions(engine, readings, found)
    yield from _guessed_predicates(engine, readings, found)
    yield from _rows_of_names(engine, readings, found)
    yield from reading_warnings(readings, found)


def reading_warnings(readings: Sequence[SourceReading], found: Occurrences) -> Iterator[Diagnostic]:
    yield from _recognised(readings)
    yield from _first_lines(readings, found)
    yield from _blanks(found)


def _recognised(readings: Iterable[SourceReading]) -> Iterator[Diagnostic]:
    for one in readings:
        if isinstance(one.guess, Recognised):
            message = f"`{one.origin}` is read as {one.guess.title}"
            option = "--facts-format" if one.model is None else "--predictions-format"
            helps = (f'if it is, say so: `format = "{one.guess.format}"` (`{option}`); if not, `format = "text"`',)
            yield Diagnostic("W361", message, Place(one.origin), helps=helps, severity=Severity.WARNING)


def _unknown_predictions(engine: Engine, readings: Iterable[SourceReading], found: Occurrences) -> Iterator[Diagnostic]:
    def known(predicate: str) -> bool:
        return predicate in found.of_facts or found.mentioned(predicate)

    if all(map(known, found.rows)):
        return
    sources: dict[tuple[int, str], list[SourceReading]] = {}
    for one in readings:
        if one.model is not None:
            sources.setdefault((one.model, one.whole), []).append(one)
    for parts in sources.values():
        predicates = sorted({name for one in parts for name in _predicates(engine, one)})
        if predicates and not any(map(known, predicates)):
            yield _unknown(engine, parts, predicates, [name for name in found.rows if known(name)])


def _unknown(engine: Engine, parts: Sequence[SourceReading], predicates: Sequence[str], known: Sequence[str]) -> Diagnostic:
    first = next(one for one in parts if _predicates(engine, one))
    row = _first(engine, first)
    # If columns stand in another order there are as many predicates as entities, and none is close.
    meant = next((close for one in predicates[:_MOST_SUGGESTIONS] if (close := _meant(one, known))), None)
    helps = [] if meant is None else [f"did you mean `{meant}`?"]
    helps += [_ORDER] if isinstance(first.guess, FirstLine) else _columns_help(first.guess)
    helps.append(f"if they are meant, declare the predicate: `predicate {print_atom(row).partition('(')[0]}/{row.arity}.`")
    what = f"predicate {_listed(predicates)}" if len(predicates) == 1 else f"predicates {_listed(predicates)}"
    message = f"no fact and no rule is about the {what} of these predictions"
    return Diagnostic("E328", message, Place(first.origin), notes=_read_as(row, first.guess), helps=tuple(helps))


def _guessed_predicates(engine: Engine, readings: Sequence[SourceReading], found: Occurrences) -> Iterator[Diagnostic]:
    """Tables whose predicate we guessed, if no rule, no declaration and no source that needed no guess mentions it."""
    sure = {name for one in readings if not isinstance(one.guess, OnePredicate) for name in one.predicates}
    for one in readings:
        if not isinstance(one.guess, OnePredicate) or not one.predicates or one.model is not None:
            continue
        (predicate,) = one.predicates
        if predicate in sure or found.mentioned(predicate):
            continue
        row = _first(engine, one)
        message = f"nothing says that these are facts of a predicate `{predicate}` with {row.arity} arguments"
        helps = (*_columns_help(one.guess), 'if they are, say `layout = "predicate"`, or give the predicate its name')
        code, severity = ("W326", Severity.WARNING) if one.guess.in_folder else ("E329", Severity.ERROR)
        yield Diagnostic(code, message, Place(one.origin), notes=_read_as(row, one.guess), helps=helps, severity=severity)


def _first_lines(readings: Sequence[SourceReading], found: Occurrences) -> Iterator[Diagnostic]:
    """First lines whose predicate occurs only in first lines, and so may be headers: files of one origin often share one."""
    suspects = [(one.first, one) for one in readings if isinstance(one.guess, FirstLine | FirstRow) and one.first is not None]
    times = Counter(atom.predicate for atom, _ in suspects)
    for atom, one in suspects:
        if found.rows.get(atom.predicate, 0) > times[atom.predicate] or found.mentioned(atom.predicate):
            continue
        in_text = isinstance(one.guess, FirstLine)
        yield Diagnostic(
            "W325",
            f"the first {'line' if in_text else 'row'} may be a header: nothing else speaks of `{atom.predicate}`",
            Place(one.origin, 1 if in_text else None),
            notes=_read_as(atom, None),
            helps=(*_columns_help(one.guess), "if it is a fact, say so: `--no-header`, or `header = false`")
            if in_text
            else (_leave_out(atom.predicate, atom.arity),),
            severity=Severity.WARNING,
        )


def _rows_of_names(engine: Engine, readings: Sequence[SourceReading], found: Occurrences) -> Iterator[Diagnostic]:
    """Rows of stored tables that may be headers: their predicate is a usual name of relation columns. Such tables have no first
    row."""
    alone = [name for name, rows in found.rows.items() if rows == 1 and names_relations(name) and not found.mentioned(name)]
    for one in readings if alone else ():
        if one.query is not None and one.guess is None:
            for name in sorted(_predicates(engine, one).intersection(alone)):
                message = f"a row may be a header: nothing else speaks of `{name}`"
                helps = (_leave_out(name, one.arity),)
                yield Diagnostic("W325", message, Place(one.origin), helps=helps, severity=Severity.WARNING)


def _leave_out(predicate: str, arity: int) -> str:
    return f"leave it out; or, if it is a fact, declare the predicate: `predicate {predicate}/{arity}.`"


def _blanks(found: Occurrences) -> Iterator[Diagnostic]:
    padded = sorted(name for name in found.rows if name != name.strip() and not found.mentioned(name))
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
    return (f"{what}, call the columns `head`, `relation` and `tail`, or choose them: `{chosen_columns(guess.names)}`",)


def _read_as(row: Atom, guess: Guess | None) -> tuple[str, ...]:
    names = guess.names if isinstance(guess, OnePredicate) else ()
    columns = (f"the columns are {', '.join(f'`{name}`' for name in names)}",) if names else ()
    return (f"the first row was read as `{print_atom(row)}`", *columns)


def _meant(predicate: str, known: Sequence[str]) -> str | None:
    return predicate.strip() if predicate.strip() in known else suggestion(predicate, known)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(f"`{name}`" for name in names[:_MOST_LISTED]) + more


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
    return Atom(predicate, tuple(Constant(value_of(row[one])) for one in arguments(arity)))
