"""Published values of charts, in the form in which charts take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

_MEASURES = {"hits@1": "hits_at_1", "mrr": "mrr", "soft": "soft_score", "hard": "hard_score"}


def model_figures(models: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    rows = [(model, _MEASURES[key], float(value)) for model, numbers in models.items() for key, value in numbers.items()]
    return table_of(("model", "measure", "value"), rows)


def table_of(names: Sequence[str], rows: Sequence[Sequence[object]]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
