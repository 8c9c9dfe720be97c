"""A seeded typed graph of any size, with a hub, and rules of several shapes over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

Integers = npt.NDArray[np.int64]

TYPES = 4
KINDS = TYPES * TYPES  # of a first and a second argument
LAYERS = (0.6, 0.3, 0.1)  # relations of one kind, by their share of its facts
FACTS_PER_ENTITY = 5
HUB_SHARE = 0.08  # of the arguments of the hub's type
ECHOES = 0.1  # facts whose pair another relation of the same kind has too
PREDICTIONS = 0.01  # of the number of facts: half have a fact's pair under another relation, half its first argument and relation
FILES = 8

_TO_PARQUET = """
COPY (SELECT format('entity/{:09d}', first) AS head, format('relation/{:02d}', relation) AS relation,
             format('entity/{:09d}', second) AS tail FROM rows) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 250000)
"""


def write_graph(folder: Path, facts: int, seed: int = 0) -> None:
    """`facts` and `predictions`, folders of Parquet files."""
    random = np.random.default_rng(seed)
    (folder / "facts").mkdir(parents=True)
    (folder / "predictions").mkdir()
    entities = max(TYPES, facts // FACTS_PER_ENTITY)
    for i, size in enumerate(_parts(facts)):
        rows = _rows(random, size, entities)
        _write(folder / "facts" / f"part-{i}.parquet", rows)
        predicted = rows[random.permutation(size)[: max(1, int(PREDICTIONS * size))]].copy()
        half = len(predicted) // 2
        predicted[:half, 0] = (predicted[:half, 0] + KINDS) % (KINDS * len(LAYERS))
        predicted[half:, 2] = _entities(random, predicted[half:, 0] % KINDS // TYPES, entities)
        _write(folder / "predictions" / f"part-{i}.parquet", predicted)


def _parts(facts: int) -> Iterator[int]:
    for i in range(FILES):
        yield facts * (i + 1) // FILES - facts * i // FILES


def _rows(random: np.random.Generator, size: int, entities: int) -> Integers:
    """Relation, first and second argument."""
    echoes = int(ECHOES * size)
    weights = 1 / (np.arange(KINDS) + 2.0)
    kind = random.choice(KINDS, size - echoes, p=weights / weights.sum())
    layer = random.choice(len(LAYERS), size - echoes, p=LAYERS)
    first, second = _entities(random, kind % TYPES, entities), _entities(random, kind // TYPES, entities)
    rows = np.stack([kind + KINDS * layer, first, second], axis=1)
    again = rows[random.integers(0, len(rows), echoes)]
    again[:, 0] = (again[:, 0] + KINDS) % (KINDS * len(LAYERS))
    found: Integers = np.concatenate([rows, again])
    return found


def _entities(random: np.random.Generator, kind: Integers, entities: int) -> Integers:
    """An entity of each type, by a power law: the share of the one of rank r falls as r to the power of -2/3. One entity of the
    first type is a hub beyond that."""
    of_a_type = entities // TYPES
    rank = (of_a_type * random.random(len(kind)) ** 3).astype(np.int64)
    hub = (kind == 0) & (random.random(len(kind)) < HUB_SHARE)
    found: Integers = np.where(hub, 0, rank) + kind * of_a_type
    return found


def _write(path: Path, rows: Integers) -> None:
    with duckdb.connect() as connection:
        connection.register("rows", pa.table({"relation": rows[:, 0], "first": rows[:, 1], "second": rows[:, 2]}))
        connection.execute(_TO_PARQUET.replace("{path}", str(path)))


def relation(first: int, second: int, layer: int) -> str:
    """A relation between entities of two types."""
    return f'"relation/{first + TYPES * second + KINDS * layer:02d}"'


# The declarations that every set of rules has: relations of one kind exclude each other, but for the last pair.
_EXCLUSIONS = "\n".join(
    f"incompatible {relation(a, b, 0)}, {relation(a, b, 1)}.\nincompatible {relation(a, b, 0)}, {relation(a, b, 2)}."
    for a in range(TYPES)
    for b in range(TYPES)
)


def _chain(name: str, a: int, b: int, c: int, layers: tuple[int, int, int]) -> str:
    head, first, second = relation(a, c, layers[0]), relation(a, b, layers[1]), relation(b, c, layers[2])
    return f"{name}: {head}(X, Y) <- {first}(X, Z), {second}(Z, Y)."


def _chains(count: int) -> str:
    """Rules of one shape, all different."""
    places = [(a, b, c) for a in range(TYPES) for b in range(TYPES) for c in range(TYPES)]
    return "\n".join(_chain(f"chain_{i}", *places[i], (0, i % 2, i % 3)) for i in range(count))


# Through entities of type 0, among them the hub.
SHAPES = {
    "inverse": f"inverse: {relation(1, 0, 0)}(Y, X) <- {relation(0, 1, 0)}(X, Y).",
    "functional": f"functional {relation(2, 1, 2)}(X -> Y).\nfunctional: {relation(2, 1, 2)}(X, Y) <- {relation(2, 1, 1)}(X, Y).",
    "chain": _chain("chain", 1, 0, 1, (0, 0, 0)),
    "closed": f"closed: false <- {relation(1, 0, 2)}(X, Y), {relation(0, 2, 2)}(Y, Z), {relation(1, 2, 2)}(X, Z).",
}

MANY = 50

RULE_SETS = {"all": "\n".join(SHAPES.values()), **SHAPES, "chains": _chains(MANY)}


def rules(name: str) -> str:
    return f"{RULE_SETS[name]}\n{_EXCLUSIONS}\n"


_MEASURES = """
WITH facts AS (SELECT DISTINCT * FROM '{folder}/facts/*.parquet'),
     tuples AS (SELECT DISTINCT head AS x, tail AS y FROM facts UNION SELECT tail, head FROM facts),
     degree AS (SELECT x, count(*) AS degree FROM tuples GROUP BY x),
     edges AS (SELECT t.x FROM tuples t JOIN degree a ON a.x = t.x JOIN degree b ON b.x = t.y
               WHERE (a.degree, a.x) <= (b.degree, b.x)),
     forks AS (SELECT count(*) AS n FROM edges GROUP BY x),
     incoming AS (SELECT tail AS z, count(*) AS n FROM facts WHERE relation = '{first}' GROUP BY tail),
     outgoing AS (SELECT head AS z, count(*) AS n FROM facts WHERE relation = '{second}' GROUP BY head)
SELECT (SELECT count(*) FROM facts) AS facts, (SELECT count(*) FROM degree) AS constants,
       (SELECT max(degree) FROM degree) AS largest_degree, (SELECT sum(n * (n + 1) // 2)::BIGINT FROM forks) AS forks,
       (SELECT sum(i.n * o.n)::BIGINT FROM incoming i JOIN outgoing o USING (z)) AS wedges
"""


def measures(folder: Path) -> dict[str, int]:
    """What the volume of statements depends on: facts, pairs of edges at their corner of least degree (`forks`), and pairs of
    facts that the first two atoms of the rule `closed` join (`wedges`)."""
    first, second = relation(1, 0, 2).strip('"'), relation(0, 2, 2).strip('"')
    with duckdb.connect(config={"memory_limit": "6GB", "temp_directory": str(folder / "duckdb")}) as connection:
        found = connection.sql(_MEASURES.format(folder=folder, first=first, second=second))
        return dict(zip(found.columns, found.fetchall()[0], strict=True))
