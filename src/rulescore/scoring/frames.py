"""Arrow tables as frames of other libraries."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from rulescore.errors import MissingExtraError


def pandas_frame(table: Any) -> Any:
    """A pandas frame of nullable types."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("`to_pandas`", "pandas") from error
    nullable = {
        pa.int64(): pandas.Int64Dtype(),
        pa.float64(): pandas.Float64Dtype(),
        pa.string(): pandas.StringDtype(),
        pa.bool_(): pandas.BooleanDtype(),
    }
    return _with_plain_strings(table).to_pandas(types_mapper=lambda kind: nullable.get(kind, pandas.ArrowDtype(kind)))


def polars_frame(table: Any) -> Any:
    try:
        import polars
    except ImportError as error:
        raise MissingExtraError("`to_polars`", "polars") from error
    return polars.from_arrow(_with_plain_strings(table))


def _with_plain_strings(table: Any) -> Any:
    """Frames get strings: few people expect categories."""
    fields = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))
