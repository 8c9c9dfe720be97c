"""The parameters of a plan as tables of an engine: bodies, heads, conditions, and what refutes what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.engines.loading import Loaded
from rulescore.logic.plan import ConditionRow, Group, LiteralName
from rulescore.logic.refutation import Refutations, identity
from rulescore.sql import claims as claim_sql
from rulescore.sql import conditions as condition_sql


def head_literal(loaded: Loaded, predicate: str) -> int:
    arity = loaded.vocabulary.predicates[predicate].arity
    return loaded.literal(LiteralName(predicate, identity(arity)))


def oppositions(loaded: Loaded, ways: Refutations, heads: set[str]) -> tuple[pa.Array, pa.Array]:
    """Pairs of a head's literal and a literal that refutes it, each once, for the heads in use."""
    literals = {predicate: head_literal(loaded, predicate) for predicate in loaded.predicate_ids}
    single: list[tuple[int, int]] = []
    parts: list[np.ndarray[tuple[int, int], np.dtype[np.int64]]] = []
    for group in ways.groups:
        members = [literals[predicate] for predicate in group if predicate in literals]
        if len(members) == 2:
            single += [(members[0], members[1]), (members[1], members[0])]
        elif members:
            left, right = np.meshgrid(np.array(members, np.int64), members, indexing="ij")
            parts.append(np.stack([left.ravel(), right.ravel()], axis=1))
    for one in ways.oppositions:
        single.append((literals[one.head], loaded.literal(LiteralName(one.opponent, one.order, one.negative))))
    parts.append(np.array(single, np.int64).reshape(-1, 2))
    pairs = np.concatenate(parts)
    used = np.isin(pairs[:, 0], [literals[head] for head in heads])
    pairs = np.unique(pairs[used & (pairs[:, 0] != pairs[:, 1])], axis=0)
    return pa.array(pairs[:, 0], pa.int32()), pa.array(pairs[:, 1], pa.int32())


def load_group(engine: Engine, loaded: Loaded, number: int, group: Group) -> list[str]:
    """Load a group's parameters; returns the names of the tables that hold them."""
    literals = len(group.shape.atoms) + len(group.shape.negated)
    body: dict[str, list[int]] = {"body": list(range(len(group.bodies)))}
    for i in range(literals):
        body[f"l{i}"] = [loaded.literal(one.literals[i]) for one in group.bodies]
    for i in range(len(group.bodies[0].constants)):
        body[f"c{i}"] = [loaded.constant_ids[one.constants[i]] for one in group.bodies]
    engine.load(claim_sql.body_table(number), integer_columns(body))
    head: dict[str, list[int]] = {
        "rule": [one.rule for one in group.heads],
        "body": [one.body for one in group.heads],
        "literal": [-1 if one.predicate is None else head_literal(loaded, one.predicate) for one in group.heads],
    }
    for i in range(len(group.heads[0].constants)):
        head[f"h{i}"] = [loaded.constant_ids[one.constants[i]] for one in group.heads]
    engine.load(claim_sql.head_table(number), integer_columns(head))
    tables = [claim_sql.body_table(number), claim_sql.head_table(number)]
    for index, (_, rows) in enumerate(group.conditions):
        tables.append(condition_sql.condition_table(number, index))
        engine.load(tables[-1], integer_columns(_condition_rows(loaded, rows)))
    return tables


def _condition_rows(loaded: Loaded, rows: Sequence[ConditionRow]) -> dict[str, list[int]]:
    columns: dict[str, list[int]] = {"head": [head_literal(loaded, row.predicate) for row in rows]}
    for i in range(len(rows[0].literals)):
        columns[f"l{i}"] = [loaded.literal(row.literals[i]) for row in rows]
    for i in range(len(rows[0].constants)):
        columns[f"c{i}"] = [loaded.constant_ids[row.constants[i]] for row in rows]
    return columns


def integer_columns(columns: dict[str, list[int]]) -> pa.Table:
    return pa.table({field: pa.array(values, pa.int32()) for field, values in columns.items()})


def empty_columns(*fields: str) -> pa.Table:
    return pa.table({field: pa.array([], pa.int32()) for field in fields})
