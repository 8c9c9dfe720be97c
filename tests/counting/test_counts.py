"""Counts of more than 64 bits. No data of this world reach them, so the statements that add counts up are given large ones."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from rulescore.engines.base import Engine, connect
from rulescore.errors import EngineError
from rulescore.setting.options import EngineOptions
from rulescore.sql import results
from rulescore.sql.facts import MODEL_PREDICTION
from rulescore.sql.horn.evidence import COUNTS

LARGEST = 2**63 - 1


@pytest.fixture
def session(engine: str) -> Iterator[Engine]:
    opened = connect(EngineOptions(url=engine))
    yield opened
    opened.close()


def integers(values: list[int]) -> pa.Array:
    return pa.array(values, pa.int32())


def load_part(session: Engine, part: int, predictions: list[int], count: int) -> None:
    """What a statement found for rule 0 and some predictions: each count is the same."""
    keys = {"rule": integers([0] * len(predictions)), "prediction": integers(predictions)}
    session.load(
        results.part_table(part), pa.table(keys | {one: pa.array([count] * len(predictions), pa.int64()) for one in COUNTS})
    )


def test_totals_of_a_model_have_more_than_64_bits(session: Engine):
    load_part(session, 0, [0, 1, 2], LARGEST)
    session.run(results.create_contributions(range(1)))
    session.load(MODEL_PREDICTION, pa.table({"prediction": integers([0, 1, 2]), "model": integers([0, 0, 0])}))
    (row,) = session.query(results.model_totals()).to_pylist()
    assert {int(row[one]) for one in COUNTS} == {3 * LARGEST}


def test_a_contribution_of_more_than_64_bits_is_an_error(session: Engine):
    """Of two statements that add to it, each fits."""
    for part in range(2):
        load_part(session, part, [0], LARGEST)
    with pytest.raises(EngineError, match="out of range"):
        session.run(results.create_contributions(range(2)))
