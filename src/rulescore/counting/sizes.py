"""The sizes of relations, from which we estimate how many groundings rules have."""

from __future__ import annotations

from collections.abc import Iterable

from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.estimates import RelationSize, Sizes
from rulescore.logic.plan import LiteralName
from rulescore.logic.schema import Relation
from rulescore.sql.readable import relation_sizes, stored_size


def formula_sizes(engine: Engine, relations: Iterable[Relation]) -> dict[str, dict[str | None, int]]:
    """How many rows each relation has, by None, and nearly how many different values each attribute."""
    found: dict[str, dict[str | None, int]] = {}
    for relation in relations:
        (row,) = engine.query(stored_size(relation)).to_pylist()
        found[relation.name] = {None: row["n"], **{name: row[f"a{i}"] for i, name in enumerate(relation.columns)}}
    return found


def sizes(engine: Engine, loaded: Loaded) -> Sizes:
    """The size of every literal."""
    found: dict[LiteralName, RelationSize] = {}
    for arity in sorted(loaded.fact_arities):
        for row in engine.query(relation_sizes(arity)).to_pylist():
            constants = tuple(row[f"a{i}"] for i in range(arity))
            found[loaded.literal_name(row["literal"], arity)] = RelationSize(row["n"], constants)
    return found
