"""The parameters of a plan as tables of an engine: bodies, heads, conditions, and what refutes what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.horn import Refutations
from rulescore.logic.plan import ConditionRow, Group, LiteralName
from rulescore.logic.refutation import identity
from rulescore.sql.horn import claims as claim_sql
from rulescore.sql.horn import conditions as condition_sql

_Integers = np.ndarray[Any, np.dtype[np.int64]]


def head_literal(loaded: Loaded, predicate: str) -> int:
    arity = loaded.vocabulary.predicates[predicate].arity
    return loaded.literal(LiteralName(predicate, identity(arity)))


def oppositions(loaded: Loaded, refutations: Refutations, heads: set[str]) -> tuple[pa.Array, pa.Array]:
    """Pairs of a head's literal and a literal that refutes it, each once, for the heads in use."""
    literals = {predicate: head_literal(loaded, predicate) for predicate in loaded.vocabulary.predicates}
    pairs = [
        (literals[one[0]], literals[one[1]])
        for one in refutations.groups
        if len(one) == 2 and one[0] in literals and one[1] in literals
    ]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    parts = [both, both[:, ::-1]]
    for group in refutations.groups:
        if len(group) > 2:
            members = [literals[predicate] for predicate in group if predicate in literals]
            left, right = np.meshgrid(np.array(members, np.int64), members, indexing="ij")
            parts.append(np.stack([left.ravel(), right.ravel()], axis=1))
    others = [
        (literals[one.head], loaded.literal(LiteralName(one.opponent, one.order, one.negative))) for one in refutations.oppositions
    ]
    parts.append(np.array(others, np.int64).reshape(-1, 2))
    head, opponent = _distinct(np.concatenate(parts))
    is_used = np.zeros(max(literals.values(), default=0) + 1, np.bool_)
    is_used[[literals[one] for one in heads]] = True
    used = is_used[head] & (head != opponent)
    # As lists: to convert its first numpy array, Arrow would import numpy's masked arrays.
    return pa.array(head[used].tolist(), pa.int32()), pa.array(opponent[used].tolist(), pa.int32())


def _distinct(pairs: _Integers) -> tuple[_Integers, _Integers]:
    """Each pair once, in order. numpy's own function for this compares rows, which is thirty times slower than numbers."""
    if not len(pairs):
        return pairs[:, 0], pairs[:, 1]
    width = int(pairs[:, 1].max()) + 1
    numbers = np.sort(pairs[:, 0] * width + pairs[:, 1])
    first = np.append(True, numbers[1:] != numbers[:-1])
    return numbers[first] // width, numbers[first] % width


def load_group(engine: Engine, loaded: Loaded, number: int, group: Group) -> list[str]:
    """Load a group's parameters. Returns the names of their tables."""
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
