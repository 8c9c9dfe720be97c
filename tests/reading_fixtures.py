"""What the tests of reading share: writing a file, and facts as plain Python values."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from rulescore.errors import Diagnostic, InputError
from rulescore.readers.selection import PredictionReader
from rulescore.setting.model import FactBatch, FactStream, ModelPredictions
from rulescore.values import value_of

Fact = tuple[Any, ...]
Write = Callable[..., Path]
FactsOf = Callable[[Iterable[FactStream]], list[Fact]]
AnswersOf = Callable[..., list[Fact]]
ProblemsOf = Callable[[Callable[[], object]], tuple[Diagnostic, ...]]


def _facts(batch: FactBatch) -> list[Fact]:
    rows = batch.rows.to_pylist()
    return [(batch.predicate or row["predicate"], *(value_of(row[f"a{i}"]) for i in range(batch.arity))) for row in rows]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes text or bytes to a named file; a name that ends in .gz is compressed."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


@pytest.fixture
def facts_of() -> FactsOf:
    """The facts of streams as (predicate, argument, …), in order."""
    return lambda streams: [fact for stream in streams for batch in stream.open() for fact in _facts(batch)]


@pytest.fixture
def answers_of() -> AnswersOf:
    """Predictions that top_k keeps, as (predicate, argument, …, score, rank, query)."""

    def answers(streams: Iterable[FactStream], top_k: int | None = None) -> list[Fact]:
        found = []
        for batch in PredictionReader(ModelPredictions("model", tuple(streams), top_k)):
            rest = [(row["score"], row["rank"], row["query"]) for row in batch.rows.to_pylist()]
            found.extend((*fact, *more) for fact, more in zip(_facts(batch), rest, strict=True))
        return found

    return answers


@pytest.fixture
def problems_of() -> ProblemsOf:
    """What a call complains of."""

    def problems(call: Callable[[], object]) -> tuple[Diagnostic, ...]:
        with pytest.raises(InputError) as raised:
            call()
        return raised.value.problems

    return problems
