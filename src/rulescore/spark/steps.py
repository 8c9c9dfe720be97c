"""Statements taken apart: Spark writes a step out wherever it is read, and computes it as often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from graphlib import TopologicalSorter

from sqlglot import exp

from rulescore.spark.dialect import tell_steps_apart
from rulescore.sql.dialect import nodes
from rulescore.sql.names import PREFIX
from rulescore.sql.words import identifier


def taken_apart(statement: exp.Expr, number: int) -> tuple[dict[str, exp.Expr], exp.Expr]:
    """Steps to compute first, each as a table of this name, in order, and the rest of the statement, which reads these tables. They
    are the steps that were to be computed once and are read more than once. `number` tells the tables of statements apart."""
    if statement.find(exp.With) is None:
        return {}, statement.copy()
    rest = statement.copy()
    once = [bool(step.args.get("materialized")) for step in rest.find_all(exp.CTE)]
    rest = tell_steps_apart(rest)
    steps = {step.alias: step for step in rest.find_all(exp.CTE)}
    computed_once = dict(zip(steps, once, strict=True))
    for clause in list(rest.find_all(exp.With)):
        assert clause.parent is not None
        clause.parent.set("with_", None)
    reads = {name: _read(step, steps) for name, step in steps.items()}
    order = list(TopologicalSorter(reads).static_order())
    times = _read(rest, steps)
    first: list[str] = []
    for name in reversed(order):
        is_first = computed_once[name] and times[name] > 1
        first += [name] * is_first
        for below, reads_of in reads[name].items():
            times[below] += reads_of if is_first else reads_of * times[name]
    tables = {name: f"{PREFIX}step_{number}_{name}" for name in reversed(first)}
    inline = {name: steps[name] for name in order if name not in tables}
    for part in (*steps.values(), rest):
        for table in nodes(part):
            if isinstance(table, exp.Table) and table.name in tables:
                table.set("this", identifier(tables[table.name]))
    return {tables[name]: with_steps(steps[name].this, inline) for name in tables}, with_steps(rest, inline)


def _read(part: exp.Expr, steps: Mapping[str, exp.CTE]) -> Counter[str]:
    """How often each step is read in a part of a statement."""
    body = part.this if isinstance(part, exp.CTE) else part
    return Counter(node.name for node in nodes(body) if isinstance(node, exp.Table) and node.name in steps)


def with_steps(query: exp.Expr, inline: Mapping[str, exp.CTE]) -> exp.Expr:
    """A query with the steps that it reads, and those that these read."""
    needed: list[str] = []
    waiting = [*_read(query, inline)]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.append(name)
            waiting += _read(inline[name], inline)
    if not needed:
        return query.copy()
    complete = query.copy()
    complete.set("with_", exp.With(expressions=[step.copy() for name, step in inline.items() if name in needed]))
    return complete
