"""Facts in the engine's own database as a user describes them: a table of triples, or a table for each predicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rulescore.setting.model import FactTable
from rulescore.setting.request import Arrangement, ColumnChoice, FactFile, Request


def table_facts(
    table: str,
    *,
    predicate: str | None = None,
    layout: Arrangement | str | None = None,
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]] | None = None,
) -> FactTable:
    """Observed or negative facts. Without a predicate the columns' names decide: triples, or facts of the predicate that the table
    is named after."""
    return FactTable(table, _request(table, predicate, layout, columns or {}, predictions=False))


def table_answers(
    table: str,
    model: str,
    *,
    predicate: str | None = None,
    layout: Arrangement | str | None = None,
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]] | None = None,
) -> FactTable:
    """Predictions of a model; all rows, or those whose column `model` has its name."""
    return FactTable(table, _request(table, predicate, layout, columns or {}, predictions=True), model=model)


def _request(
    table: str,
    predicate: str | None,
    layout: Arrangement | str | None,
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]],
    *,
    predictions: bool,
) -> Request:
    file = FactFile(table, layout=layout, columns=columns, predicate=predicate)
    return Request(table, file, predictions, by_names=True, stem=table.rpartition(".")[2], stored=True)
