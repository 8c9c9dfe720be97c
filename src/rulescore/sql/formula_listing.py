"""Statements that list the groundings of a formula whose head is refuted, with the parts a prediction plays and what refutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from rulescore.language.syntax import RowAtom
from rulescore.language.trees import nodes_in
from rulescore.logic.formula import All, Any, Exists, Judgement, Leaf, Opposite
from rulescore.sql.build import Select, all_of, any_of, column, equal, named, number, one_if, select, table
from rulescore.sql.formula import Context, Scope
from rulescore.sql.formula_branches import refutes
from rulescore.sql.formula_changes import can_be_inside, held_over_data, judged_otherwise
from rulescore.sql.formula_counts import fields_of, grounding, head_atoms, judged, measure_places


def violations(context: Context, *, predictions: bool) -> Select | None:
    """Groundings whose head is refuted."""
    rows = judged(context, predictions=predictions)
    if rows is None:
        return None
    fields: list[exp.Expr] = [column("g", c) for c in fields_of(context, predictions=predictions)]
    query = select(*(fields or [named(number(1), "one")])).from_(rows.subquery(alias="g", copy=False))
    return query.where(equal(column("g", "refuted"), number(1)))


def reasons(judgement: Judgement) -> Iterator[Judgement]:
    """The refutations of atoms among all that makes a head refuted: each is a reason of its own."""
    match judgement:
        case Leaf(RowAtom()) | Opposite(Leaf(RowAtom())) | Exists():
            yield judgement
        case All(parts) | Any(parts):
            for part in parts:
                yield from reasons(part)
        case Leaf() | Opposite():
            return


def explained(context: Context, listed: str, *, predictions: bool) -> Select:
    """Listed groundings, kept in a table, with flags: `body`, `head` and `refuter` for the parts the prediction plays, `r0`, `r1`,
    … for the reasons that hold."""
    rule = context.rule
    names = fields_of(context, predictions=predictions)
    scope = grounding(context, predictions=predictions)
    found = list(reasons(rule.refuted))
    fields = [named(one_if(scope.judgement(reason)), f"r{i}") for i, reason in enumerate(found)]
    if predictions:
        fields += [named(one_if(condition), role) for role, condition in _roles(scope)]
    aggregated = predictions and can_be_inside(context, (*rule.body_measures, *rule.head_measures))
    rows = _with_changes(scope, listed) if aggregated else table(listed, "g")
    query = select(*(column("g", c) for c in names), *fields).from_(rows)
    return query.order_by(*(column("g", c) for c in names)) if names else query


def _with_changes(scope: Scope, listed: str) -> exp.Expr:
    """Listed groundings, with whether each is judged otherwise than over the data alone."""
    before = replace(scope, prediction=None)
    changed = judged_otherwise(scope, before, held_over_data(before))
    fields = [column("g", c) for c in fields_of(scope.context, predictions=True)]
    return select(*fields, named(one_if(changed), "changed")).from_(table(listed, "g")).subquery(alias="g", copy=False)


def _roles(scope: Scope) -> Iterator[tuple[str, exp.Expr]]:
    rule, context = scope.context.rule, scope.context
    tests = [test for disjunct in rule.disjuncts for test in disjunct.tests]
    body = [atom for disjunct in rule.disjuncts for atom in disjunct.atoms]
    body += [node for test in tests for node in nodes_in(test) if isinstance(node, RowAtom)]
    places = dict.fromkeys(place for atom in body for place in context.participating(atom))
    yield "body", any_of([*map(scope.is_prediction, places), *_in_changed(scope, rule.body_measures)])
    yield "head", any_of([*head_atoms(scope), *_in_changed(scope, rule.head_measures)])
    yield "refuter", any_of(refutes(scope, rule.refuted))


def _in_changed(scope: Scope, measures: Sequence[str]) -> Iterator[exp.Expr]:
    """Ways in which the prediction takes part through aggregates."""
    for way in measure_places(scope, measures):
        yield exp.Paren(this=all_of([equal(column("g", "changed"), number(1)), way]))
