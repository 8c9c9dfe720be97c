"""How many predictions are right: of those that violate a hard rule, and of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa

from rulescore.accuracy.answers import Key, fact_keys
from rulescore.accuracy.reading import classes_of, classified
from rulescore.scoring.accuracy import RightPredictions
from rulescore.setting.model import HeldOut, Setting
from rulescore.values.keys import text_of, value_of

IsRight = Callable[[Key], bool | None]
"""Whether a prediction is right; None if nobody knows."""


def right_predictions(setting: Setting, predictions: Iterable[pa.Table]) -> tuple[RightPredictions, ...]:
    """`predictions`: as `Counted.violating` gives them. Values of regression are never exactly right: they are left out."""
    assert setting.truth is not None
    judges = dict(_judges(setting, setting.truth))
    otherwise = _judge_of_facts(setting.truth)
    counts: Counter[tuple[int, bool, bool]] = Counter()
    for rows in predictions:
        for model, violating, prediction in _rows(rows):
            right = judges.get(prediction[0], otherwise)(prediction)
            if right is not None:
                counts[model, violating, right] += 1
    return tuple(_of_model(number, one.model, counts) for number, one in enumerate(setting.predictions) if _is_in(number, counts))


def _rows(rows: pa.Table) -> Iterator[tuple[int, bool, Key]]:
    arguments = [rows[f"a{place}"].to_pylist() for place in range(sum(name.startswith("a") for name in rows.column_names))]
    facts = zip(rows["predicate"].to_pylist(), *arguments, strict=True)
    yield from zip(rows["model"].to_pylist(), map(bool, rows["violating"].to_pylist()), facts, strict=True)


def _judge_of_facts(truth: HeldOut) -> IsRight:
    """A fact is right if it is held out. A known one is not among the answers that were asked for."""
    facts = set(fact_keys(truth.facts))
    known = set(fact_keys(truth.known)) - facts
    return lambda fact: None if not facts or fact in known else fact in facts


def _judges(setting: Setting, truth: HeldOut) -> Iterator[tuple[str, IsRight]]:
    """By predicate, for tables: a class is right if it is the true one of its row."""
    tables = {table.name: table for table in setting.tables}
    for one in truth.tables:
        table = tables[one.table]
        classes = classes_of(table, one, truth)
        yield f"{table.name}.{table.target}", _judge_of_classes(classes)


def _judge_of_classes(classes: dict[Key, str]) -> IsRight:
    def is_right(prediction: Key) -> bool | None:
        _, *key, value = prediction
        true = classes.get(tuple(map(text_of, key)))
        return None if true is None else true == classified(value_of(value))

    return is_right


def _is_in(model: int, counts: Counter[tuple[int, bool, bool]]) -> bool:
    return any(number == model for number, _, _ in counts)


def _of_model(number: int, model: str, counts: Counter[tuple[int, bool, bool]]) -> RightPredictions:
    def both(violating: bool) -> Sequence[int]:
        right = counts[number, violating, True]
        return right + counts[number, violating, False], right

    return RightPredictions(model, *both(True), *both(False))
