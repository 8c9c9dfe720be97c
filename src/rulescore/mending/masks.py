"""Masks of forbidden answers, for decoding, sampling and generation."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.mending.enumeration import Integers
from rulescore.mending.numbered import Labels, NumberedTable
from rulescore.mending.reasons import AGAINST
from rulescore.mending.table import CandidateTable
from rulescore.values import text_of


def mask(
    table: CandidateTable,
    heads: Any,
    relations: Any,
    tails: Any,
    entities: Labels | None,
    relation_labels: Labels | None,
    reasons: Collection[str] | None,
) -> Any:
    """The mask that `CandidateTable.mask` returns."""
    if (heads is None) == (tails is None) or relations is None:
        helps = ("give `heads` and `relations` to ask for tails, `relations` and `tails` to ask for heads",)
        raise InputError(Diagnostic("E813", "a batch of queries needs relations, and either heads or tails", helps=helps))
    known_ends = heads if heads is not None else tails
    constants = table.constants if entities is None else entities
    names = list(table.predicates) if relation_labels is None else relation_labels
    numbered = NumberedTable(table, constants, names)
    ids = _numbers(known_ends, None if entities is not None else constants, "entity", numbered.entities)
    relation_ids = _numbers(relations, None if relation_labels is not None else names, "relation", numbered.relations)
    if len(ids) != len(relation_ids):
        message = f"a batch has {len(ids):,} entities and {len(relation_ids):,} relations"
        raise InputError(Diagnostic("E813", message, helps=("give one of each for every query",)))
    is_forbidden = numbered.forbidden(relation_ids, ids, heads=heads is not None, reasons=AGAINST if reasons is None else reasons)
    if type(known_ends).__module__.partition(".")[0] == "torch":
        import torch

        return torch.from_numpy(is_forbidden).to(known_ends.device)
    return is_forbidden


def _numbers(batch: Any, labels: Labels | None, what: str, most: int) -> Integers:
    values = batch.tolist() if hasattr(batch, "tolist") else list(batch)
    if not values:
        raise InputError(Diagnostic("E813", "the batch is empty", helps=("ask for at least one query",)))
    if labels is not None:
        known = {label: number for number, label in enumerate(labels)}
        for value in values:
            if value not in known:
                helps = meant(str(value), map(str, known))
                raise InputError(Diagnostic("E813", f"the table knows no {what} `{text_of(str(value))}`", helps=helps))
        values = [known[value] for value in values]
    wrong = [value for value in values if not isinstance(value, int) or not 0 <= value < most]
    if wrong:
        raise InputError(Diagnostic("E813", f"`{wrong[0]}` is no id of one of {most:,}: {what}", helps=("ids count from 0",)))
    return np.array(values, np.int64)
