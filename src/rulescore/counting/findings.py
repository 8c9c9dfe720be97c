"""Findings about the predictions of each model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from rulescore.counting.run import PredictedCounts
from rulescore.errors import suggestion
from rulescore.language.literals import write_value
from rulescore.logic.refutable import Concerned
from rulescore.scoring.results import MOST_PREDICATES, PredictionFindings
from rulescore.values.keys import value_of

Unlinked = Mapping[int, tuple[str, str | None]]
"""By model: the key of a constant that does not occur in the data, and the key that was probably meant."""


def prediction_findings(
    models: Sequence[str],
    counts: Iterable[PredictedCounts],
    concerned: Concerned,
    *,
    hard: Collection[int],
    observed: Collection[str],
    unlinked: Unlinked,
) -> dict[str, PredictionFindings]:
    """The findings by the model's name; `counts` and `unlinked` have the models' numbers. `hard`: the numbers of the hard rules.
    `observed`: the predicates of observed facts."""
    rows: list[list[PredictedCounts]] = [[] for _ in models]
    for count in counts:
        rows[count.model].append(count)
    denials = {number: concerned.by_denial[number] for number in hard if number in concerned.by_denial}
    return {
        model: _findings(rows[number], concerned, denials, observed, unlinked.get(number)) for number, model in enumerate(models)
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
    return {name: one for name, one in close.items() if one is not None}


def _written(key: str) -> str:
    return write_value(value_of(key))
