"""Counts violations of many Horn rules at once by what they have in common, on the engine: we fetch no row of them."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection

from rulescore.counting.horn import Counter, condition_sources
from rulescore.counting.listing.asking import Asked, Counts, told_apart
from rulescore.counting.listing.horn import groundings, texts_of
from rulescore.logic.plan import Bound, ConditionRow, ConditionShape, Group, Judge, LiteralName, ShapeAtom
from rulescore.logic.refutation import identity
from rulescore.scoring.violation import CountedBy
from rulescore.sql.horn import violation_counts as sql
from rulescore.sql.horn.conditions import asked_keys
from rulescore.sql.horn.listing import MODEL, restricted, row_columns
from rulescore.sql.query import Select, create, drop


def countable(counter: Counter, by: CountedBy) -> frozenset[int]:
    """The rules that this module can count: the name of what refutes them must not depend on the grounding."""
    groups = [one for one in counter.plan.groups if by is CountedBy.ENTITY or counter.context.appendix or _refuters_have_names(one)]
    return frozenset(head.rule for group in groups for head in group.heads)


def _refuters_have_names(group: Group) -> bool:
    """Whether every refutation either has a fact that holds, or says that the head is absent."""
    return all(shape.atoms or _is_closed(shape, row) for shape, rows in group.conditions for row in rows)


def _is_closed(shape: ConditionShape, row: ConditionRow) -> bool:
    itself = ShapeAtom(tuple(Bound(i) for i in range(shape.arity)))
    return shape.negated == (itself,) and not shape.tests and row.literals == (LiteralName(row.predicate, identity(shape.arity)),)


def counted(counter: Counter, by: CountedBy, rules: Collection[int], asked: Asked) -> Counts:
    """The numbers of violations of these rules, by the predicate that refutes or by a value of the grounding, and by model."""
    found: Counts = Tally()
    for number, group in enumerate(counter.plan.groups):
        those = {head.rule for head in group.heads} & set(rules)
        if those:
            only = next(iter(those)) if len(rules) == 1 else None
            if by is CountedBy.REFUTER:
                found.update(_by_refuter(counter, number, asked, only))
            else:
                found.update(_by_value(counter, number, asked, only))
    return found


def _by_refuter(counter: Counter, number: int, asked: Asked, only: int | None) -> Counts:
    group, context, models = counter.plan.groups[number], counter.context, asked.models is not None
    arity = len(group.shape.head or ())
    rows = _narrowed(groundings(counter, group, number, asked, ["rule", *asked_keys(arity, predictions=models)]), asked, only)
    if rows is None:
        return Tally()
    sources = condition_sources(number, group)
    with counter.engine.scratch_tables():
        # In a table: if the engine cannot estimate the number of rows, joins with them take ten times as long.
        counter.engine.run(create(sql.VIOLATING, rows))
        try:
            if context.appendix:
                statement = sql.by_opponent(context.stride, models=models)
            elif group.judge is Judge.DENIAL:
                statement = sql.by_head(models=models)
            else:
                statement = sql.by_label(sources, context, arity, models=models)
            counts = counter.engine.query(statement).to_pylist()
        finally:
            counter.engine.run(drop(sql.VIOLATING))
    labels = {row["label"]: "false" if group.judge is Judge.DENIAL else _label(counter, row["label"]) for row in counts}
    found: Counts = Tally()
    for row in counts:
        found[told_apart(labels[row["label"]]), row.get(MODEL)] += int(row["n"])
    return found


def _label(counter: Counter, label: int) -> str:
    if label < 0:
        return f"closed {counter.loaded.predicate_name(-1 - label)}"
    name = counter.loaded.literal_name(label, 2)
    return f"negative {name.predicate}" if name.negative else name.predicate


def _by_value(counter: Counter, number: int, asked: Asked, only: int | None) -> Counts:
    group = counter.plan.groups[number]
    columns = ["rule", *row_columns(group, predictions=asked.predictions)]
    rows = _narrowed(groundings(counter, group, number, asked, columns), asked, only)
    if rows is None or not group.shape.variables:
        return Tally()
    found = counter.engine.query(sql.by_value(rows, group.shape.variables))
    ids, counts = found["id"].to_pylist(), found["n"].to_pylist()
    with counter.engine.scratch_tables():
        texts = texts_of(counter.engine, counter.loaded, set(ids))
    return Tally({(told_apart(texts.value(one)), None): int(n) for one, n in zip(ids, counts, strict=True)})


def _narrowed(rows: Select | None, asked: Asked, only: int | None) -> Select | None:
    if rows is None:
        return None
    if asked.models is not None:
        rows = restricted(rows, models=asked.models, prediction=asked.prediction)
    return rows if only is None else sql.of_rule(rows, only)
