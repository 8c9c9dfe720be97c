"""The sizes of relations, from which we estimate how many groundings rules have."""

from __future__ import annotations

from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.estimates import RelationSize, Sizes
from rulescore.logic.plan import LiteralName
from rulescore.sql.readable import relation_sizes


def sizes(engine: Engine, loaded: Loaded) -> Sizes:
    """The size of every literal."""
    found: dict[LiteralName, RelationSize] = {}
    for arity in sorted(loaded.fact_arities):
        for row in engine.query(relation_sizes(arity)).to_pylist():
            constants = tuple(row[f"a{i}"] for i in range(arity))
            found[loaded.literal_name(row["literal"], arity)] = RelationSize(row["n"], constants)
    return found
