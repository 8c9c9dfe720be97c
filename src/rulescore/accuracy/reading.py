"""From a setting to the accuracy of its models, and how many of the predictions that violate rules are right. No engine takes
part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.accuracy import links
from rulescore.accuracy.answers import Key, ModelAnswers, batch_keys, fact_keys, read_answers
from rulescore.accuracy.metrics import value_accuracy
from rulescore.arguments.truth import DOMAIN, RANGE, RELATION, truth_column
from rulescore.errors import Diagnostic, InputError, Place, suggestion, ticked
from rulescore.readers.layout import key_columns, prediction_column
from rulescore.readers.table_rows import fitted, value_type
from rulescore.scoring.evaluation import ModelAccuracy, RightPredictions, Task
from rulescore.setting.choices import ValueTask
from rulescore.setting.model import (
    DeclaredSides,
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
)
from rulescore.values import ValueType, restored, text_of, value_of

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
    """The accuracy of every model against the held-out truth, if there is one."""
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
        for number, table in enumerate(truth.tables):
            if any(predicted.table == table.table for predicted in model.tables):
                yield _of_table(model, tables[table.table], labels(number), truth)


def _of_facts(
    model: ModelPredictions, truth: Sequence[Key], fitting: links.Fitting | None, sources: Sequence[FactSource], options: HeldOut
) -> Iterator[ModelAccuracy]:
    streams = _readable(model)
    task = Task.LINKS if truth else Task.TYPES
    if streams is None:
        yield ModelAccuracy(model.model, task, asked=len(truth), reason=_IN_PLACE)
        return
    try:
        answers = links.with_rows(read_answers(streams), truth)
    except links.UnmeasurableError as reason:
        yield ModelAccuracy(model.model, task, asked=len(truth), reason=str(reason))
        return
    known = _known(answers, sources, further=bool(options.known))
    if truth:
        yield links.link_accuracy(model.model, answers, truth, known, options)
    if fitting is not None:
        yield _of_types(model.model, answers, fitting, truth, known, options)


def _of_types(
    model: str, answers: ModelAnswers, fitting: links.Fitting, truth: Sequence[Key], known: links.Known, options: HeldOut
) -> ModelAccuracy:
    left_out = set(known.answers()) if options.filtered else set[Key]()
    if options.filtered and answers.test_rows is not None:
        # A query must know the row of its own truth. Otherwise we would remove its right answer together with the other truths.
        left_out |= set(truth)
    try:
        queries = links.typed_queries(answers, left_out, truth)
    except links.UnmeasurableError as reason:
        return ModelAccuracy(model, Task.TYPES, reason=str(reason))
    return links.type_accuracy(model, queries, fitting, options.hits)


def _readable(model: ModelPredictions) -> list[FactStream] | None:
    """The streams of a model, unless a database holds some of its predictions."""
    streams = [stream for stream in model.streams if isinstance(stream, FactStream)]
    stored = len(streams) < len(model.streams) or any(stream.native and stream.native.frame is not None for stream in streams)
    return None if stored else streams


def _fitting(domains: RowStream | ObservedSides | DeclaredSides, setting: Setting, truth: HeldOut) -> links.Fitting:
    observed = fact_keys(source for source in setting.observed if isinstance(source, FactStream))
    if isinstance(domains, ObservedSides):
        return links.observed_sides(observed)
    declared = domains.classes if isinstance(domains, DeclaredSides) else _declared(domains)
    wanted = {name for sets in declared.values() for classes in sets for name in classes}
    members: dict[str, set[str]] = {}
    for predicate, *arguments in chain(observed, fact_keys(truth.types)):
        if len(arguments) == 1 and predicate in wanted:
            members.setdefault(predicate, set()).add(arguments[0])
        elif len(arguments) == 2 and predicate.lower() in _TYPE and arguments[1] in wanted:
            members.setdefault(arguments[1], set()).add(arguments[0])
    return links.declared_sides(declared, members)


def _declared(domains: RowStream) -> dict[tuple[str, bool], tuple[frozenset[str], ...]]:
    """The classes of each side of a relation. An entity must be an instance of one of them."""
    sides = {False: DOMAIN, True: RANGE}
    present = {side: name for side, name in sides.items() if name in domains.schema().names}
    classes: dict[tuple[str, bool], set[str]] = {}
    for batch in domains.open([RELATION, *present.values()]):
        for row in batch.to_pylist():
            for side, name in present.items():
                if row[name]:
                    classes.setdefault((row[RELATION], side), set()).add(row[name])
    return {side: (frozenset(several),) for side, several in classes.items()}


def _known(answers: ModelAnswers, sources: Sequence[FactSource], *, further: bool) -> links.Known:
    """The answers that are known facts. We look for them on request and batch by batch, since there may be far more known facts
    than answers."""
    streams = [part for part in sources if isinstance(part, FactStream) and not (part.native and part.native.frame is not None)]

    @cache
    def among() -> Collection[Key]:
        wanted = set(answers.facts)
        texts = pa.array(["\x1f".join(key) for key in wanted], pa.string())
        return {key for stream in streams for batch in stream.open() for key in batch_keys(_near(batch, texts)) if key in wanted}

    words = ("observed", *(["further known"] if further else []))
    stored = " (but those that a database holds)" if len(streams) < len(sources) else ""
    return links.Known(among, ", ".join(words) + stored)


def _near(batch: FactBatch, texts: pa.Array) -> FactBatch:
    """The rows of a batch that may occur among some facts."""
    rows = batch.rows
    columns = [rows.column(f"a{place}") for place in range(batch.arity)]
    names = pa.scalar(batch.predicate) if batch.predicate is not None else rows.column("predicate")
    joined = pc.binary_join_element_wise(names, *columns, "\x1f")
    return replace(batch, rows=rows.filter(pc.is_in(joined, value_set=texts)))


Values = dict[tuple[str, ...], Any]


def _of_table(model: ModelPredictions, table: KeyedTable, labels: Values, options: HeldOut) -> ModelAccuracy:
    rows = [part.rows for part in model.tables if part.table == table.name]
    streams = [row for row in rows if isinstance(row, RowStream)]
    task = options.task or _task(labels)
    name = Task(task.value)
    if len(streams) < len(rows):
        return ModelAccuracy(model.model, name, table.name, len(labels), reason=_IN_PLACE)
    predicted: Values = {}
    for stream in streams:
        for key, value in _keys_and_values(table, stream, prediction_column(stream.schema().names, table.target)):
            predicted.setdefault(key, value)
    if task is ValueTask.REGRESSION:
        numbers, wrong = _as_numbers(predicted)
        known, wrong_label = _as_numbers(labels)
        if (text := wrong or wrong_label) is not None:
            return ModelAccuracy(model.model, name, table.name, len(labels), reason=f"`{text}` is not a number")
        return value_accuracy(model.model, table.name, task, known, numbers)
    return value_accuracy(model.model, table.name, task, _classes(labels), _classes(predicted))


def _task(labels: Values) -> ValueTask:
    """For numbers we measure the distance, for anything else whether it is right."""
    return ValueTask.REGRESSION if labels and _as_numbers(labels)[1] is None else ValueTask.CLASSIFICATION


def _as_numbers(values: Values) -> tuple[dict[tuple[str, ...], float], str | None]:
    """Values as numbers, and the first value that is not a number."""
    numbers = {}
    for key, value in values.items():
        try:
            if isinstance(value, bool):
                return {}, str(value).lower()
            numbers[key] = float(value)
        except (TypeError, ValueError):
            return {}, str(value)
    return numbers, None


def _classes(values: Values) -> dict[tuple[str, ...], Any]:
    """A class that one file has as text and another as a number or a boolean is one class."""
    return {key: classified(value) for key, value in values.items()}


def classified(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _labels(table: KeyedTable, truth: TableTruth) -> Values:
    names = truth.rows.schema().names
    for column in table.key:
        if column not in names:
            close = suggestion(column, names)
            notes = (f"the columns are {ticked(names)}",)
            helps = (f"is it `{close}`?",) if close else ()
            message = f"there is no column `{column}`, the key of table `{table.name}`"
            raise InputError(Diagnostic("E320", message, Place(truth.rows.origin), notes=notes, helps=helps))
    labels: Values = {}
    for key, value in _keys_and_values(table, truth.rows, truth_column(table, truth.rows)):
        if labels.setdefault(key, value) != value:
            message = f"the key `{', '.join(key)}` has two true values, `{labels[key]}` and `{value}`"
            raise InputError(Diagnostic("E345", message, Place(truth.rows.origin)))
    hidden = _listed_keys(table)
    return labels if hidden is None else {key: value for key, value in labels.items() if key in hidden}


def _listed_keys(table: KeyedTable) -> set[tuple[str | None, ...]] | None:
    """The keys of hidden rows, if they are listed, because a truth may be the whole table."""
    if not isinstance(table.hidden, HiddenIds) or not isinstance(table.hidden.ids, RowStream):
        return None
    ids = table.hidden.ids
    batches = ids.open(key_columns(ids.schema().names, table.key, listed=True))
    return {key for batch in batches for key in _keys(table, batch)}


def _keys_and_values(table: KeyedTable, rows: RowStream, column: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Keys and values; rows without a value are left out. Keys are compared as text, after conversion to the types of the table."""
    schema = rows.schema()
    kind = value_type(schema.field(column).type)
    for batch in rows.open([*key_columns(schema.names, table.key), column]):
        for key, value in zip(_keys(table, batch), batch.column(len(table.key)).to_pylist(), strict=True):
            if value is not None and value != "" and None not in key:
                yield cast(Key, key), restored(value, kind)


def _keys(table: KeyedTable, batch: pa.RecordBatch) -> Iterator[tuple[str | None, ...]]:
    """The keys in the first columns of some rows as texts, after conversion to the types of the table."""
    schema = table.rows.schema() if isinstance(table.rows, RowStream) else pa.schema([])
    columns = []
    for column, name in zip(batch.columns, table.key, strict=False):
        wanted = value_type(schema.field(name).type) if name in schema.names else None
        if pa.types.is_string(column.type) and wanted not in (None, ValueType.STRING):
            column = pc.coalesce(fitted(column, wanted).cast(pa.string()), column)
        columns.append(column.cast(pa.string()).to_pylist())
    return zip(*columns, strict=True)


IsRight = Callable[[Key], bool | None]
"""Whether a prediction is right; None if nobody knows."""


def right_predictions(setting: Setting, predictions: Iterable[pa.Table]) -> tuple[RightPredictions, ...]:
    """`predictions`: as `Counted.violating` gives them. Values of regression are never exactly right: they are left out."""
    assert setting.truth is not None
    tables = {table.name: table for table in setting.tables}
    targets = [(tables[truth.table], truth) for truth in setting.truth.tables]
    judges = {f"{table.name}.{table.target}": _judge_of_classes(table, truth, setting.truth) for table, truth in targets}
    otherwise = _judge_of_facts(setting.truth)
    counts: Counter[tuple[int, bool, bool]] = Counter()
    for rows in predictions:
        arguments = [rows[name].to_pylist() for name in rows.column_names if name.startswith("a")]
        facts = zip(rows["predicate"].to_pylist(), *arguments, strict=True)
        for model, violating, fact in zip(rows["model"].to_pylist(), rows["violating"].to_pylist(), facts, strict=True):
            right = judges.get(fact[0], otherwise)(fact)
            if right is not None:
                counts[model, bool(violating), right] += 1
    measured = {number for number, _, _ in counts}
    return tuple(_of_model(place, model.model, counts) for place, model in enumerate(setting.predictions) if place in measured)


def _judge_of_facts(truth: HeldOut) -> IsRight:
    """A fact is right if it is held out. A known fact is not among the answers that were asked for."""
    facts = set(fact_keys(truth.facts))
    known = set(fact_keys(truth.known)) - facts
    return lambda fact: None if not facts or fact in known else fact in facts


def _judge_of_classes(table: KeyedTable, truth: TableTruth, options: HeldOut) -> IsRight:
    """A class is right if it is the true one of its row. If a target is measured by distance, no prediction is right."""
    labels = _labels(table, truth)
    classes = _classes(labels) if (options.task or _task(labels)) is ValueTask.CLASSIFICATION else {}

    def is_right(prediction: Key) -> bool | None:
        _, *key, value = prediction
        true = classes.get(tuple(map(text_of, key)))
        return None if true is None else true == classified(value_of(value))

    return is_right


def _of_model(number: int, model: str, counts: Counter[tuple[int, bool, bool]]) -> RightPredictions:
    def both(violating: bool) -> Sequence[int]:
        right = counts[number, violating, True]
        return right + counts[number, violating, False], right

    return RightPredictions(model, *both(True), *both(False))
