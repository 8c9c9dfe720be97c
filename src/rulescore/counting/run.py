"""Runs the counting statements of rules of all forms: over the data into counts, with predictions into contributions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from rulescore.counting.parameters import empty_columns, integer_columns
from rulescore.engines.base import Engine
from rulescore.engines.log import purpose
from rulescore.errors import EngineError, suggestion
from rulescore.loading.facts import Loaded
from rulescore.progress import tell
from rulescore.sql import results as sql
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.query import Select, drop, select, union_all
from rulescore.values.keys import text_of

CountRows = dict[int, tuple[int, int, int]]
"""Confirmed, refuted and evaluable groundings, by the number of the rule; rules without groundings may be absent."""

TitledStatement = tuple[str, Select]
"""What a statement counts, in words, and the statement."""


def dataset_counts(engine: Engine, statements: Iterable[TitledStatement]) -> CountRows:
    """The counts of the statements over the data, added up."""
    found: CountRows = {}
    for title, statement in _at_once(engine, statements):
        with named_in_errors(title):
            rows = engine.query(statement, as_written=statement.as_written)
        for rule, (confirmed, refuted, evaluable) in _count_rows(rows):
            before = found.get(rule, (0, 0, 0))
            found[rule] = (before[0] + confirmed, before[1] + refuted, before[2] + evaluable)
    return found


def count_contributions(engine: Engine, statements: Iterable[TitledStatement]) -> None:
    """Fill the table of contributions with the counts of the statements."""
    engine.run(drop(sql.CONTRIBUTION))
    parts = 0
    for title, statement in _at_once(engine, statements):
        with named_in_errors(title):
            engine.run(sql.create_part(parts, statement), as_written=statement.as_written)
        parts += 1
    if parts:
        engine.run(sql.create_contributions(range(parts)))
        for index in range(parts):
            engine.run(drop(sql.part_table(index)))
    else:
        engine.load(sql.CONTRIBUTION, empty_columns("rule", "prediction", *COUNTS))


def _at_once(engine: Engine, statements: Iterable[TitledStatement]) -> Iterator[TitledStatement]:
    """The statements, united into as few as the engine takes at once."""
    waiting = iter(statements)
    while some := list(islice(waiting, engine.capabilities.statements_at_once)):
        if len(some) == 1:
            yield some[0]
            continue
        parts = [select("*").from_(statement.subquery("q")) for _, statement in some]
        yield (
            f"{some[0][0]}; or by one of {len(some) - 1} further statements, asked together",
            select("*").from_(union_all(parts).subquery("u")),
        )


@contextmanager
def named_in_errors(what: str) -> Iterator[None]:
    """Context manager: database errors inside it, and the log of statements, say what we were counting."""
    try:
        with purpose(f"counting {what}"):
            yield
    except EngineError as error:
        raise EngineError(f"{error}\nwhile counting {what}") from error


def told(statements: Iterable[TitledStatement]) -> Iterator[TitledStatement]:
    """The same statements; tells the listener of each when its turn comes."""
    for title, statement in statements:
        tell(f"counting {title}")
        yield title, statement


def _count_rows(rows: pa.Table) -> Iterator[tuple[int, tuple[int, int, int]]]:
    columns = [rows[field].to_pylist() for field in ("rule", *COUNTS)]
    for rule, confirmed, refuted, evaluable in zip(*columns, strict=True):
        yield rule, (int(confirmed), int(refuted), int(evaluable))


def model_totals(engine: Engine) -> dict[int, CountRows]:
    """Counts by model and rule."""
    found: dict[int, CountRows] = {}
    rows = engine.query(sql.model_totals())
    for model, (rule, counts) in zip(rows["model"].to_pylist(), _count_rows(rows), strict=True):
        found.setdefault(model, {})[rule] = counts
    return found


@dataclass(frozen=True, slots=True)
class PredictedCounts:
    """How many predictions of one predicate a model makes, and how many of those are linked, have a contribution, violate a hard
    rule, and violate any rule; how many are new, and of the new ones how many are linked, have a contribution, either of these, and
    violate a hard rule."""

    model: int
    predicate: str
    predictions: int
    linked: int
    with_partner: int
    violating: int
    violating_any: int
    new: int
    new_linked: int
    new_with_partner: int
    new_reached: int
    new_violating: int


def prediction_counts(engine: Engine, loaded: Loaded, hard: Sequence[int]) -> list[PredictedCounts]:
    """Counts of predictions by model and predicate. `hard`: the numbers of the hard rules."""
    engine.load(sql.HARD_RULES, integer_columns({"rule": list(hard)}))
    rows = engine.query(sql.prediction_counts(loaded.predicted)).to_pylist()
    engine.run(drop(sql.HARD_RULES))
    fields = [field.name for field in dataclasses.fields(PredictedCounts)[2:]]
    return [
        PredictedCounts(row["model"], loaded.predicate_name(row["literal"]), *(int(row[field]) for field in fields)) for row in rows
    ]


_MOST_ALIKE = 2000


def unlinked_names(engine: Engine, loaded: Loaded) -> dict[int, tuple[str, str | None]]:
    """By model: the key of a constant in its predictions that does not occur in the data, and the key that was probably meant."""
    found = {}
    for row in engine.query(sql.unlinked_names(loaded.predicted)).to_pylist():
        name = row["spelt"] or row["name"]
        known = {text_of(key).casefold(): key for key in engine.query(sql.alike(text_of(name), _MOST_ALIKE))["key"].to_pylist()}
        close = suggestion(text_of(name).casefold(), known)
        found[row["model"]] = (name, None if close is None else known[close])
    return found


def violating_predictions(engine: Engine, loaded: Loaded, hard: Sequence[int]) -> Iterator[pa.Table]:
    """The predictions that are not observed: `model`, `predicate`, keys and whether they are `violating`. `hard`: as above."""
    engine.load(sql.HARD_RULES, integer_columns({"rule": list(hard)}))
    for source in loaded.predicted:
        rows = engine.query(sql.violating_predictions(source))
        literals = rows["literal"].combine_chunks().dictionary_encode()
        names = pa.array([loaded.predicate_name(literal) for literal in literals.dictionary.to_pylist()], pa.string())
        predicates = pa.DictionaryArray.from_arrays(literals.indices, names).cast(pa.string())
        yield rows.append_column("predicate", predicates)
    engine.run(drop(sql.HARD_RULES))


def predicted(engine: Engine, loaded: Loaded, model: int) -> set[str]:
    """The predicates of a model's predictions."""
    if not loaded.predicted:
        return set()
    rows = engine.query(sql.predicted_literals(loaded.predicted, model))
    return {loaded.predicate_name(literal) for literal in rows["literal"].to_pylist()}
