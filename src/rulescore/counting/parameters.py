"""A plan on an engine: its parameters as tables, and the sizes of relations, from which we estimate how many groundings rules
have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.formula import Relation
from rulescore.logic.horn import Refutations, distinct_variables, opposed_both_ways, roles
from rulescore.logic.plan import ConditionRow, Group, LiteralName, Plan
from rulescore.logic.planner import RelationSize, Sizes
from rulescore.setting.choices import Convention, Role
from rulescore.setting.options import ScoringOptions
from rulescore.sql.horn import claims as claim_sql
from rulescore.sql.horn import conditions as condition_sql
from rulescore.sql.horn.claims import HornContext
from rulescore.sql.horn.evidence import OPPOSES
from rulescore.sql.query import relation_sizes, stored_size


def formula_sizes(engine: Engine, relations: Iterable[Relation]) -> dict[str, dict[str | None, int]]:
    """For each relation: under None its number of rows, and under each attribute an estimate of its number of different values."""
    sizes: dict[str, dict[str | None, int]] = {}
    for relation in relations:
        (row,) = engine.query(stored_size(relation)).to_pylist()
        sizes[relation.name] = {None: row["n"], **{name: row[f"a{i}"] for i, name in enumerate(relation.columns)}}
    return sizes


def sizes(engine: Engine, loaded: Loaded) -> Sizes:
    """The size of every literal."""
    sizes: dict[LiteralName, RelationSize] = {}
    for arity in sorted(loaded.fact_arities):
        for row in engine.query(relation_sizes(arity)).to_pylist():
            constants = tuple(row[f"a{i}"] for i in range(arity))
            sizes[loaded.literal_name(row["literal"], arity)] = RelationSize(row["n"], constants)
    return sizes


_Integers = np.ndarray[Any, np.dtype[np.int64]]


def oppositions(loaded: Loaded, refutations: Refutations, heads: set[str]) -> tuple[pa.Array, pa.Array]:
    """Pairs of a head's literal and a literal that refutes it, each once, for the heads in use."""
    literals = {predicate: loaded.fact_literal(predicate) for predicate in loaded.vocabulary.predicates}
    pairs = [
        (literals[group[0]], literals[group[1]])
        for group in refutations.groups
        if len(group) == 2 and group[0] in literals and group[1] in literals
    ]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    parts = [both, both[:, ::-1]]
    for group in refutations.groups:
        if len(group) > 2:
            members = [literals[predicate] for predicate in group if predicate in literals]
            left, right = np.meshgrid(np.array(members, np.int64), members, indexing="ij")
            parts.append(np.stack([left.ravel(), right.ravel()], axis=1))
    others = [
        (literals[opposition.head], loaded.literal(LiteralName(opposition.opponent, opposition.order, opposition.negative)))
        for opposition in refutations.oppositions
    ]
    parts.append(np.array(others, np.int64).reshape(-1, 2))
    head, opponent = _distinct(np.concatenate(parts))
    is_used = np.zeros(max(literals.values(), default=0) + 1, np.bool_)
    is_used[[literals[head] for head in heads]] = True
    used = is_used[head] & (head != opponent)
    # We pass lists, because Arrow would import numpy's masked arrays to convert a numpy array.
    return pa.array(head[used].tolist(), pa.int32()), pa.array(opponent[used].tolist(), pa.int32())


def _distinct(pairs: _Integers) -> tuple[_Integers, _Integers]:
    """Each pair once, in order. numpy's own function for this compares rows, which is thirty times slower than numbers."""
    if not len(pairs):
        return pairs[:, 0], pairs[:, 1]
    width = int(pairs[:, 1].max()) + 1
    numbers = np.sort(pairs[:, 0] * width + pairs[:, 1])
    first = np.append(True, numbers[1:] != numbers[:-1])
    return numbers[first] // width, numbers[first] % width


@dataclass(frozen=True, slots=True)
class Counter:
    """A plan and the loaded data. Statements that count read tables that `prepare` makes; listings need none of them."""

    engine: Engine
    loaded: Loaded
    plan: Plan
    context: HornContext
    roles: frozenset[Role]
    titles: Sequence[str]


def open_counter(
    engine: Engine, loaded: Loaded, plan: Plan, refutations: Refutations, options: ScoringOptions, titles: Sequence[str]
) -> Counter:
    """Load what refutes the heads of a plan. `titles`: how errors call each rule."""
    if plan.groups:
        heads, opponents = oppositions(loaded, refutations, {h.predicate for g in plan.groups for h in g.heads if h.predicate})
        engine.load(OPPOSES, pa.table({"head": heads, "l0": opponents}))
    appendix = options.convention is Convention.APPENDIX
    context = HornContext(
        loaded.stride,
        loaded.orders,
        loaded.fact_arities,
        loaded.prediction_arities,
        distinct_variables(options),
        appendix,
        appendix and opposed_both_ways(refutations),
        loaded.any_observed_prediction,
    )
    return Counter(engine, loaded, plan, context, roles(options), titles)


def load_group(engine: Engine, loaded: Loaded, number: int, group: Group) -> list[str]:
    """Load a group's parameters. Returns the names of their tables."""
    tables = [claim_sql.body_table(number), claim_sql.head_table(number)]
    literals = len(group.shape.atoms) + len(group.shape.negated)
    body: dict[str, list[int]] = {"body": list(range(len(group.bodies)))}
    for i in range(literals):
        body[f"l{i}"] = [loaded.literal(body.literals[i]) for body in group.bodies]
    for i in range(len(group.bodies[0].constants)):
        body[f"c{i}"] = [loaded.constant_ids[body.constants[i]] for body in group.bodies]
    engine.load(tables[0], integer_columns(body))
    head: dict[str, list[int]] = {
        "rule": [head.rule for head in group.heads],
        "body": [head.body for head in group.heads],
        "literal": [-1 if head.predicate is None else loaded.fact_literal(head.predicate) for head in group.heads],
    }
    for i in range(len(group.heads[0].constants)):
        head[f"h{i}"] = [loaded.constant_ids[head.constants[i]] for head in group.heads]
    engine.load(tables[1], integer_columns(head))
    for index, (_, rows) in enumerate(group.conditions):
        tables.append(condition_sql.condition_table(number, index))
        engine.load(tables[-1], integer_columns(_condition_rows(loaded, rows)))
    return tables


def _condition_rows(loaded: Loaded, rows: Sequence[ConditionRow]) -> dict[str, list[int]]:
    columns: dict[str, list[int]] = {"head": [loaded.fact_literal(row.predicate) for row in rows]}
    for i in range(len(rows[0].literals)):
        columns[f"l{i}"] = [loaded.literal(row.literals[i]) for row in rows]
    for i in range(len(rows[0].constants)):
        columns[f"c{i}"] = [loaded.constant_ids[row.constants[i]] for row in rows]
    return columns


def integer_columns(columns: dict[str, list[int]]) -> pa.Table:
    return pa.table({field: pa.array(values, pa.int32()) for field, values in columns.items()})


def empty_columns(*fields: str) -> pa.Table:
    return pa.table({field: pa.array([], pa.int32()) for field in fields})
