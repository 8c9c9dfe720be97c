"""How sources were read, and whether the other data and the rules bear it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow.compute as pc
from sqlglot import exp

from rulescore.data.constants import value_of
from rulescore.data.layout import chosen_columns, names_relations
from rulescore.data.setting import FactBatch, FactStream, FactTable, FirstLine, FirstRow, Guess, OnePredicate, Recognised
from rulescore.engines.base import Engine
from rulescore.engines.in_place import InPlace
from rulescore.errors import Diagnostic, Place, Severity, suggestion
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.progress import tell
from rulescore.sql.build import arguments
from rulescore.sql.in_place import different_predicates, first_row

CODES = {
    "E328": "neither a fact nor a rule is about what a source of predictions predicts",
    "E329": "nothing says that the columns of a file or table are the arguments of one predicate",
    "W325": "the first line of a file, or the first row of a table, is a fact about a predicate that nothing else mentions",
    "W326": "a file of a folder has three columns or more, and its predicate is one that nothing else mentions",
    "W361": "a file was recognised as another tool's by its content",
    "W327": "names of predicates begin or end with a blank",
}

_MOST_LISTED = 5
_MOST_SUGGESTIONS = 10
_ORDER = (
    "if the columns stand in another order, name them in a first line, `head`, `relation` and `tail`, "
    "or choose them: `columns = { head = 1, relation = 3, tail = 2 }`"
)


@dataclass(slots=True)
class Reading:
    """What a source turned out to hold. `whole`: what the user named, of which it may be a part. `model`: whose predictions these
    are. `query`: the rows of a table that is read in place, of which predicates and first row are asked only if need be."""

    origin: str
    whole: str
    model: int | None = None
    guess: Guess | None = None
    predicates: set[str] = field(default_factory=set)
    first: Atom | None = None
    query: exp.Query | None = None
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


def stream_reading(stream: FactStream, model: int | None = None) -> Reading:
    return Reading(stream.origin, stream.part_of or stream.origin, model)


def table_reading(facts: FactTable, found: InPlace, model: int | None = None) -> Reading:
    """To be made before the engine takes the rows over: a statement is used up then."""
    whole = "<predicates>" if facts.request.file.predicate is not None else facts.origin
    known = set() if found.predicate is None or not found.kept else {found.predicate}
    return Reading(facts.origin, whole, model, found.guess, known, query=found.query.copy(), arity=found.arity)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Predicates of all data with the number of their rows, those of facts, and what rules and declarations speak of."""

    rows: Mapping[str, int]
    of_facts: frozenset[str]
    mentioned: Callable[[str], bool]


def reading_problems(engine: Engine, readings: Sequence[Reading], found: Occurrences) -> Iterator[Diagnostic]:
    """Sources that were probably read wrongly."""
    yield from _unknown_predictions(engine, readings, found)
    yield from _guessed_predicates(engine, readings, found)
    yield from _rows_of_names(engine, readings, found)
    yield from reading_warnings(readings, found)


def reading_warnings(readings: Sequence[Reading], found: Occurrences) -> Iterator[Diagnostic]:
    yield from _recognised(readings)
    yield from _first_lines(readings, found)
    yield from _blanks(found)


def _recognised(readings: Iterable[Reading]) -> Iterator[Diagnostic]:
    for one in readings:
        if isinstance(one.guess, Recognised):
            message = f"`{one.origin}` is read as {one.guess.title}"
            option = "--facts-format" if one.model is None else "--predictions-format"
            helps = (f'if it is, say so: `format = "{one.guess.format}"` (`{option}`); if not, `format = "text"`',)
            yield Diagnostic("W361", message, Place(one.origin), helps=helps, severity=Severity.WARNING)


def _unknown_predictions(engine: Engine, readings: Iterable[Reading], found: Occurrences) -> Iterator[Diagnostic]:
    def known(predicate: str) -> bool:
        return predicate in found.of_facts or found.mentioned(predicate)

    if all(map(known, found.rows)):
        return
    sources: dict[tuple[int, str], list[Reading]] = {}
    for one in readings:
        if one.model is not None:
            sources.setdefault((one.model, one.whole), []).append(one)
    for parts in sources.values():
        predicates = sorted({name for one in parts for name in _predicates(engine, one)})
        if predicates and not any(map(known, predicates)):
            yield _unknown(engine, parts, predicates, [name for name in found.rows if known(name)])


def _unknown(engine: Engine, parts: Sequence[Reading], predicates: Sequence[str], known: Sequence[str]) -> Diagnostic:
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


def _guessed_predicates(engine: Engine, readings: Sequence[Reading], found: Occurrences) -> Iterator[Diagnostic]:
    """Tables whose predicate nothing but themselves and other guesses speaks of."""
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


def _first_lines(readings: Sequence[Reading], found: Occurrences) -> Iterator[Diagnostic]:
    """First lines about a predicate that occurs in first lines alone: files of one origin often have one header."""
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


def _rows_of_names(engine: Engine, readings: Sequence[Reading], found: Occurrences) -> Iterator[Diagnostic]:
    """Rows of stored tables, which have no first one, about what columns of relations are usually called."""
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


def _predicates(engine: Engine, reading: Reading) -> set[str]:
    if not reading.predicates and reading.query is not None:
        reading.predicates = set(engine.query(different_predicates(reading.query))["predicate"].to_pylist())
    return reading.predicates


def _first(engine: Engine, reading: Reading) -> Atom:
    if reading.first is None:
        assert reading.query is not None
        row = engine.query(first_row(reading.query)).to_pylist()[0]
        reading.first = _atom(row["predicate"], reading.arity, row)
    return reading.first


def _atom(predicate: str, arity: int, row: Mapping[str, str]) -> Atom:
    return Atom(predicate, tuple(Constant(value_of(row[one])) for one in arguments(arity)))
