"""People read counts with separators, rates with 4 digits, scores with 3 significant ones."""

from __future__ import annotations

import pytest

from rulescore.reporting.listing import Cell, CellKind, shown


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1234567, CellKind.COUNT, "1,234,567"),
        (0, CellKind.COUNT, "0"),
        (10**24, CellKind.COUNT, "1,000,000,000,000,000,000,000,000"),
        (0.46666, CellKind.RATE, "0.4667"),
        (1.0, CellKind.RATE, "1.0000"),
        (0.0, CellKind.SCORE, "0"),
        (1.0, CellKind.SCORE, "1.00"),
        (0.12345, CellKind.SCORE, "0.123"),
        (0.99999, CellKind.SCORE, "1.00"),
        (0.00123456, CellKind.SCORE, "0.00123"),
        (0.0000123456, CellKind.SCORE, "1.23e-05"),
        (12.345, CellKind.SCORE, "12.3"),
        (847.0, CellKind.SCORE, "847"),
        (1234.5678, CellKind.SCORE, "1,235"),
        (1234, CellKind.SCORE, "1,234"),
        (2.5, CellKind.WEIGHT, "2.5"),
        (1500, CellKind.VALUE, "1,500"),
        (1500.0, CellKind.VALUE, "1,500"),
        (51961.524227, CellKind.VALUE, "51,961.5"),
        (0.09531017980432, CellKind.VALUE, "0.0953102"),
        (0.0000123456789, CellKind.VALUE, "1.23457e-05"),
        (0.0000001, CellKind.VALUE, "1e-07"),
        (None, CellKind.RATE, "–"),
        (("a", "b"), CellKind.TEXTS, "a, b"),
        ({"X": "a", "Y": "b"}, CellKind.BINDING, "X = a, Y = b"),
    ],
)
def test_a_value_is_shown_as_people_read_it(value: Cell, kind: CellKind, text: str) -> None:
    assert shown(value, kind) == text
