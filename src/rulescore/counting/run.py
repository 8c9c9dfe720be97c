"""Runs the counting statements of rules of all forms into counts and contributions."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.counting.parameters import empty_columns, integer_columns
from rulescore.engines.base import Engine, purpose
from rulescore.errors import EngineError, suggestion
from rulescore.language.terms import write_value
from rulescore.loading.facts import Loaded
from rulescore.logic.refutable import Concerned
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA
from rulescore.scoring.results import MOST_PREDICATES, PredictionFindings
from rulescore.sql import results as sql
from rulescore.sql.facts import PredictedFacts
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.names import arguments
from rulescore.sql.query import TitledStatement, drop, select, union_all
from rulescore.sql.united import united
from rulescore.values import text_of, value_of
from rulescore.waiting import tell

CountRows = dict[int, tuple[int, int, int]]
"""Confirmed, refuted and evaluable groundings, by the number of the rule; rules without groundings may be absent."""


def dataset_counts(engine: Engine, statements: Iterable[TitledStatement]) -> CountRows:
    """The counts of the statements over the data, added up."""
    # Databases count; everything else is computed from these counts, without a database (0002).
    counts: CountRows = {}
    for title, statement in _at_once(engine, statements):
        with named_in_errors(title):
            rows = engine.query(statement, as_written=statement.as_written)
        for rule, (confirmed, refuted, evaluable) in _count_rows(rows):
            before = counts.get(rule, (0, 0, 0))
            counts[rule] = (before[0] + confirmed, before[1] + refuted, before[2] + evaluable)
    return counts


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
        parts = [select("*").from_(statement.subquery("q")) for statement in united([statement for _, statement in some])]
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
    """Passes the statements on, and tells the listener of each when its turn comes."""
    for title, statement in statements:
        tell(f"counting {title}")
        yield title, statement


def _count_rows(rows: pa.Table) -> Iterator[tuple[int, tuple[int, int, int]]]:
    columns = [rows[field].to_pylist() for field in ("rule", *COUNTS)]
    for rule, confirmed, refuted, evaluable in zip(*columns, strict=True):
        yield rule, (int(confirmed), int(refuted), int(evaluable))


def model_totals(engine: Engine) -> dict[int, CountRows]:
    """Counts by model and rule."""
    totals: dict[int, CountRows] = {}
    rows = engine.query(sql.model_totals())
    for model, (rule, counts) in zip(rows["model"].to_pylist(), _count_rows(rows), strict=True):
        totals.setdefault(model, {})[rule] = counts
    return totals


@dataclass(frozen=True, slots=True)
class PredictedCounts:
    """How many predictions of one predicate a model makes, and how many of these are linked, have a contribution, violate a hard
    rule, and violate any rule. The same numbers for new predictions, and how many new predictions are linked or have a
    contribution."""

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
    """For each model, the keys of constants in its predictions that do not occur in the data, with the key that was probably
    meant."""
    names = {}
    for row in engine.query(sql.unlinked_names(loaded.predicted)).to_pylist():
        name = row["spelt"] or row["name"]
        names[row["model"]] = (name, _alike(engine, name))
    return names


_MOST_MEANT = 200


def probably_meant(engine: Engine, loaded: Loaded) -> dict[str, str | None]:
    """The keys in predictions that do not occur in the data, with the key that was probably meant; we look for the first few."""
    if not any(isinstance(source, PredictedFacts) for source in loaded.predicted):
        return {}
    names = sorted(engine.query(sql.unlinked_keys(loaded.predicted))["key"].to_pylist())
    return {name: _alike(engine, name) if place < _MOST_MEANT else None for place, name in enumerate(names)}


def _alike(engine: Engine, name: str) -> str | None:
    known = {text_of(key).casefold(): key for key in engine.query(sql.alike(text_of(name), _MOST_ALIKE))["key"].to_pylist()}
    # Names that differ in a digit are two things, not a slip.
    alike = [text for text in known if _digits(text) == _digits(text_of(name))]
    close = suggestion(text_of(name).casefold(), alike)
    return None if close is None else known[close]


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


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


def brought_contributions(engine: Engine, loaded: Loaded, rules: Sequence[str]) -> pa.Table:
    """The contributions of every model, fetched as a table. `rules`: the names of the rules."""
    if not loaded.predicted:
        return CONTRIBUTIONS_SCHEMA.empty_table()
    statements = [sql.contributions(), *map(sql.contributing, loaded.predicted)]
    rows, *contributing = map(engine.query, statements)
    numbers, predicates, words, types = _contributing(loaded, contributing)
    places = pc.index_in(rows["prediction"], pa.chunked_array(numbers, rows["prediction"].type))
    return pa.table(
        [
            _dictionary(rows["model"], pa.array(loaded.models, pa.string())),
            _dictionary(rows["rule"], pa.array(rules, pa.string())),
            predicates.take(places),
            words.take(places),
            types.take(places),
            *(rows[field] for field in ("score", "rank", "query", "confirmed", "refuted", "evaluable")),
        ],
        schema=CONTRIBUTIONS_SCHEMA,
    )


def write_contributions(engine: Engine, loaded: Loaded, rules: Sequence[str], path: Path) -> None:
    """Write the contributions as a Parquet file or, if the engine writes Parquet itself, as files of a folder."""
    if not engine.capabilities.writes_parquet or not loaded.predicted:
        from pyarrow.parquet import write_table

        write_table(brought_contributions(engine, loaded, rules), path)
        return
    words = {"model": loaded.models, "rule": rules, "predicate": list(loaded.predicate_ids)}
    for field, names in words.items():
        numbered = {"id": pa.array(range(len(names)), pa.int32()), "name": pa.array(names, pa.string())}
        engine.load(sql.names_table(field), pa.table(numbered))
    engine.write(sql.described_contributions(loaded.predicted, loaded.stride), path)


def _contributing(loaded: Loaded, contributing: Sequence[pa.Table]) -> tuple[list[pa.Array], pa.Array, pa.Array, pa.Array]:
    """The predictions with a contribution, source by source: number, predicate and arguments of each, and the types of these."""
    names = pa.array(loaded.predicate_ids, pa.string())
    numbers, literals, words, types = [], [], [], []
    for source, rows in zip(loaded.predicted, contributing, strict=True):
        numbers += rows["prediction"].chunks
        literals += rows["literal"].chunks
        types += rows["types"].chunks
        words.append(_lists([rows[field].combine_chunks() for field in arguments(source.arity)]))
    predicates = _dictionary(pc.divide(pa.chunked_array(literals, pa.int32()), loaded.stride), names)
    return numbers, predicates, pa.concat_arrays(words), pa.chunked_array(types, pa.string()).combine_chunks().dictionary_encode()


def _dictionary(numbers: pa.ChunkedArray, names: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(numbers.combine_chunks().cast(pa.int32()), names)


def _lists(columns: Sequence[pa.Array]) -> pa.ListArray:
    """The columns as rows: one list for each row."""
    rows, width = len(columns[0]), len(columns)
    order = np.arange(rows * width).reshape(width, rows).T.ravel()
    values = pa.concat_arrays(columns).take(pa.array(order))
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1) * width, pa.int32()), values)


# Findings about the predictions of each model.


def findings_of(engine: Engine, loaded: Loaded, concerned: Concerned, hard: Sequence[int]) -> dict[str, PredictionFindings]:
    """The findings about each model's predictions, by the model's name. `hard`: the numbers of the hard rules."""
    rows: list[list[PredictedCounts]] = [[] for _ in loaded.models]
    for count in prediction_counts(engine, loaded, hard) if loaded.predicted else ():
        rows[count.model].append(count)
    any_unlinked = any(count.new_linked < count.new for of_model in rows for count in of_model)
    unlinked = unlinked_names(engine, loaded) if any_unlinked else {}
    observed = {name for name, predicate in loaded.vocabulary.predicates.items() if predicate.observed}
    denials = {number: concerned.by_denial[number] for number in hard if number in concerned.by_denial}
    return {
        model: _findings(rows[number], concerned, denials, observed, unlinked.get(number))
        for number, model in enumerate(loaded.models)
    }


def _findings(
    rows: Sequence[PredictedCounts],
    concerned: Concerned,
    denials: Mapping[int, frozenset[str]],
    observed: Collection[str],
    unlinked: tuple[str, str | None] | None,
) -> PredictionFindings:
    unconcerned = {
        row.predicate: row.predictions
        for row in sorted(rows, key=lambda row: row.predicate)
        if row.predicate not in concerned.by_any
    }
    linked = {row.predicate for row in rows if row.linked}
    denied = frozenset[str]().union(*denials.values())
    meant = _meant([name for name in unconcerned if name not in observed], concerned.by_any)
    if unlinked is not None and unlinked[1] is not None:
        meant[_written(unlinked[0])] = _written(unlinked[1])
    return PredictionFindings(
        with_partner=sum(row.with_partner for row in rows),
        violating=sum(row.violating for row in rows),
        violating_any=sum(row.violating_any for row in rows),
        violating_new=sum(row.new_violating for row in rows),
        unconcerned=unconcerned,
        measured=any(row.predicate in concerned.by_refutable for row in rows),
        new=sum(row.new for row in rows),
        linked=sum(row.new_linked for row in rows),
        concerned=sum(row.new for row in rows if row.predicate in concerned.by_any),
        judged=sum(row.new_reached if row.predicate in denied else row.new_with_partner for row in rows),
        denials=frozenset(number for number, predicates in denials.items() if not linked.isdisjoint(predicates)),
        unlinked=None if unlinked is None else _written(unlinked[0]),
        meant=meant,
    )


def _meant(names: Sequence[str], known: Collection[str]) -> dict[str, str]:
    """The known name that each of the first names probably meant."""
    close = {name: suggestion(name, known) for name in names[:MOST_PREDICATES]}
    return {name: pairs for name, pairs in close.items() if pairs is not None}


def _written(key: str) -> str:
    return write_value(value_of(key))
