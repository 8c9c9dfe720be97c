"""From a setting to the accuracy of its models. No engine takes part: we read held-out facts and values here, for this alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.accuracy.answers import Key, ModelAnswers, batch_keys, fact_keys, read_answers
from rulescore.accuracy.links import Known, UnmeasurableError, link_accuracy, with_rows
from rulescore.accuracy.types import Fitting, declared_sides, observed_sides, type_accuracy, typed_queries
from rulescore.accuracy.values import value_accuracy
from rulescore.arguments.tables import PREDICTION
from rulescore.arguments.truth import DOMAIN, RANGE, RELATION, truth_column
from rulescore.errors import Diagnostic, InputError, Place, suggestion
from rulescore.readers.table_rows import fitted, value_type
from rulescore.scoring.accuracy import ModelAccuracy, Task
from rulescore.setting.model import (
    FactBatch,
    FactSource,
    FactStream,
    HeldOut,
    HiddenIds,
    KeyedTable,
    ModelPredictions,
    ObservedSides,
    RowStream,
    Setting,
    TableTruth,
    ValueTask,
)
from rulescore.values.keys import restored
from rulescore.values.types import ValueType

_TYPE = frozenset(
    {
        "type",
        "rdf:type",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "instance_of",
        "is_a",
        "isa",
        "wdt:p31",
    }
)
"""Predicates that say what an entity is."""

_IN_PLACE = "predictions that a database holds are not read for accuracy"


def accuracies(setting: Setting) -> tuple[ModelAccuracy, ...]:
    """Every model against what is held out, if anything is."""
    return () if setting.truth is None else tuple(_measured(setting, setting.truth))


def _measured(setting: Setting, truth: HeldOut) -> Iterator[ModelAccuracy]:
    facts = list(fact_keys(truth.facts))
    sources = [*setting.observed, *truth.known]
    tables = {table.name: table for table in setting.tables}
    fitting = None if truth.domains is None else _fitting(truth.domains, setting, truth)
    labels = cache(lambda number: _labels(tables[truth.tables[number].table], truth.tables[number]))
    for model in setting.predictions:
        if model.streams and (facts or fitting is not None):
            yield from _of_facts(model, facts, fitting, sources, truth)
        for number, one in enumerate(truth.tables):
            if any(predicted.table == one.table for predicted in model.tables):
                yield _of_table(model, tables[one.table], labels(number), truth)


def _of_facts(
    model: ModelPredictions, truth: Sequence[Key], fitting: Fitting | None, sources: Sequence[FactSource], options: HeldOut
) -> Iterator[ModelAccuracy]:
    streams = _readable(model)
    task = Task.LINKS if truth else Task.TYPES
    if streams is None:
        yield ModelAccuracy(model.model, task, asked=len(truth), reason=_IN_PLACE)
        return
    try:
        answers = with_rows(read_answers(streams), truth)
    except UnmeasurableError as reason:
        yield ModelAccuracy(model.model, task, asked=len(truth), reason=str(reason))
        return
    known = _known(answers, sources, further=bool(options.known))
    if truth:
        yield link_accuracy(model.model, answers, truth, known, options)
    if fitting is not None:
        yield _of_types(model.model, answers, fitting, truth, known, options)


def _of_types(
    model: str, answers: ModelAnswers, fitting: Fitting, truth: Sequence[Key], known: Known, options: HeldOut
) -> ModelAccuracy:
    left_out = set(known.answers()) if options.filtered else set[Key]()
    if options.filtered and answers.test_rows is not None:
        # If a query did not know the row of its own truth, it would lose its right answer with the other truths.
        left_out |= set(truth)
    try:
        queries = typed_queries(answers, left_out, truth)
    except UnmeasurableError as reason:
        return ModelAccuracy(model, Task.TYPES, reason=str(reason))
    return type_accuracy(model, queries, fitting, options.hits)


def _readable(model: ModelPredictions) -> list[FactStream] | None:
    """The streams of a model, unless a database holds some of its predictions."""
    streams = [one for one in model.streams if isinstance(one, FactStream)]
    stored = len(streams) < len(model.streams) or any(one.native and one.native.frame is not None for one in streams)
    return None if stored else streams


def _fitting(domains: RowStream | ObservedSides, setting: Setting, truth: HeldOut) -> Fitting:
    observed = fact_keys(one for one in setting.observed if isinstance(one, FactStream))
    if isinstance(domains, ObservedSides):
        return observed_sides(observed)
    declared = _declared(domains)
    wanted = {one for classes in declared.values() for one in classes}
    members: dict[str, set[str]] = {}
    for predicate, *arguments in chain(observed, fact_keys(truth.types)):
        if len(arguments) == 1 and predicate in wanted:
            members.setdefault(predicate, set()).add(arguments[0])
        elif len(arguments) == 2 and predicate.lower() in _TYPE and arguments[1] in wanted:
            members.setdefault(arguments[1], set()).add(arguments[0])
    return declared_sides(declared, members)


def _declared(domains: RowStream) -> dict[tuple[str, bool], set[str]]:
    """The classes of each side of a relation."""
    sides = {False: DOMAIN, True: RANGE}
    present = {side: name for side, name in sides.items() if name in domains.schema().names}
    found: dict[tuple[str, bool], set[str]] = {}
    for batch in domains.open([RELATION, *present.values()]):
        for row in batch.to_pylist():
            for side, name in present.items():
                if row[name]:
                    found.setdefault((row[RELATION], side), set()).add(row[name])
    return found


def _known(answers: ModelAnswers, sources: Sequence[FactSource], *, further: bool) -> Known:
    """The answers that are known, found on request and batch by batch: there may be far more known facts than answers."""
    streams = [one for one in sources if isinstance(one, FactStream) and not (one.native and one.native.frame is not None)]

    @cache
    def among() -> Collection[Key]:
        wanted = set(answers.facts)
        texts = pa.array(["\x1f".join(key) for key in wanted], pa.string())
        return {key for stream in streams for batch in stream.open() for key in batch_keys(_near(batch, texts)) if key in wanted}

    words = ("observed", *(["further known"] if further else []))
    stored = " (but those that a database holds)" if len(streams) < len(sources) else ""
    return Known(among, ", ".join(words) + stored)


def _near(batch: FactBatch, texts: pa.Array) -> FactBatch:
    """The rows of a batch that may be among some facts."""
    rows = batch.rows
    columns = [rows.column(f"a{place}") for place in range(batch.arity)]
    names = pa.scalar(batch.predicate) if batch.predicate is not None else rows.column("predicate")
    joined = pc.binary_join_element_wise(names, *columns, "\x1f")
    return replace(batch, rows=rows.filter(pc.is_in(joined, value_set=texts)))


Values = dict[tuple[str, ...], Any]


def _of_table(model: ModelPredictions, table: KeyedTable, labels: Values, options: HeldOut) -> ModelAccuracy:
    rows = [one.rows for one in model.tables if one.table == table.name]
    streams = [one for one in rows if isinstance(one, RowStream)]
    task = options.task or _task(labels)
    name = Task(task.value)
    if len(streams) < len(rows):
        return ModelAccuracy(model.model, name, table.name, len(labels), reason=_IN_PLACE)
    given: Values = {}
    for stream in streams:
        for key, value in _rows(table, stream, PREDICTION):
            given.setdefault(key, value)
    if task is ValueTask.REGRESSION:
        numbers, wrong = _numbers(given)
        known, wrong_label = _numbers(labels)
        if (text := wrong or wrong_label) is not None:
            return ModelAccuracy(model.model, name, table.name, len(labels), reason=f"`{text}` is not a number")
        return value_accuracy(model.model, table.name, task, known, numbers)
    return value_accuracy(model.model, table.name, task, _classes(labels), _classes(given))


def _task(labels: Values) -> ValueTask:
    """Numbers are measured by their distance, anything else by whether it is right."""
    return ValueTask.REGRESSION if labels and _numbers(labels)[1] is None else ValueTask.CLASSIFICATION


def _numbers(values: Values) -> tuple[dict[tuple[str, ...], float], str | None]:
    """Values as numbers, and the first value that is not a number."""
    found = {}
    for key, value in values.items():
        try:
            if isinstance(value, bool):
                return {}, str(value).lower()
            found[key] = float(value)
        except (TypeError, ValueError):
            return {}, str(value)
    return found, None


def _classes(values: Values) -> dict[tuple[str, ...], Any]:
    """A class that one file has as text and another as a number or a boolean is one class."""
    return {key: classified(value) for key, value in values.items()}


def classified(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def classes_of(table: KeyedTable, truth: TableTruth, options: HeldOut) -> dict[tuple[str, ...], str]:
    """The true classes of a table's hidden rows, by their keys; none if the target is measured by distance."""
    labels = _labels(table, truth)
    return _classes(labels) if (options.task or _task(labels)) is ValueTask.CLASSIFICATION else {}


def _labels(table: KeyedTable, truth: TableTruth) -> Values:
    names = truth.rows.schema().names
    for column in table.key:
        if column not in names:
            close = suggestion(column, names)
            notes = (f"the columns are {', '.join(f'`{name}`' for name in names)}",)
            helps = (f"is it `{close}`?",) if close else ()
            message = f"there is no column `{column}`, the key of table `{table.name}`"
            raise InputError(Diagnostic("E552", message, Place(truth.rows.origin), notes=notes, helps=helps))
    found: Values = {}
    for key, value in _rows(table, truth.rows, truth_column(table, truth.rows)):
        if found.setdefault(key, value) != value:
            message = f"the key `{', '.join(key)}` has two true values, `{found[key]}` and `{value}`"
            raise InputError(Diagnostic("E553", message, Place(truth.rows.origin)))
    hidden = _listed_keys(table)
    return found if hidden is None else {key: value for key, value in found.items() if key in hidden}


def _listed_keys(table: KeyedTable) -> set[tuple[str | None, ...]] | None:
    """The keys of hidden rows, if they are listed: a truth may be the whole table."""
    if not isinstance(table.hidden, HiddenIds) or not isinstance(table.hidden.ids, RowStream):
        return None
    types = _key_types(table)
    found: set[tuple[str | None, ...]] = set()
    for batch in table.hidden.ids.open(list(table.key)):
        found.update(zip(*(_key(batch.column(place), types.get(name)) for place, name in enumerate(table.key)), strict=True))
    return found


def _rows(table: KeyedTable, rows: RowStream, column: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Keys and values; rows without a value are left out. Keys are compared as text, after conversion to the types of the table."""
    types = _key_types(table)
    kind = value_type(rows.schema().field(column).type)
    for batch in rows.open([*table.key, column]):
        keys = [_key(batch.column(place), types.get(name)) for place, name in enumerate(table.key)]
        values = batch.column(len(table.key))
        present = [restored(one, kind) for one in values.to_pylist()]
        for key, value in zip(zip(*keys, strict=True), present, strict=True):
            if value is not None and value != "" and None not in key:
                yield key, value


def _key_types(table: KeyedTable) -> Mapping[str, ValueType | None]:
    if not isinstance(table.rows, RowStream):
        return {}
    schema = table.rows.schema()
    return {name: value_type(schema.field(name).type) for name in table.key if name in schema.names}


def _key(column: pa.Array, wanted: ValueType | None) -> list[str | None]:
    if pa.types.is_string(column.type) and wanted is not None and wanted is not ValueType.STRING:
        column = pc.coalesce(fitted(column, wanted).cast(pa.string()), column)
    return list(column.cast(pa.string()).to_pylist())
