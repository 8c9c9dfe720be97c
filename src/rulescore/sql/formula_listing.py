"""Statements that list the groundings of a formula whose head is refuted, with the parts a prediction plays and what refutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from rulescore.language.syntax import RowAtom
from rulescore.language.trees import nodes_in
from rulescore.logic.formula import All, Any, Exists, Judgement, Leaf, Opposite
from rulescore.sql.build import Select, any_of, column, equal, named, number, one_if, select, table
from rulescore.sql.formula import Context, Joins, Scope, Source
from rulescore.sql.formula_counts import fields_of, grounding, head_places, judged, measure_places


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
        fields += [named(one_if(condition), role) for role, condition in _roles(scope, found)]
    query = select(*(column("g", c) for c in names), *fields).from_(table(listed, "g"))
    return query.order_by(*(column("g", c) for c in names)) if names else query


def _roles(scope: Scope, found: Sequence[Judgement]) -> Iterator[tuple[str, exp.Expr]]:
    rule, context = scope.context.rule, scope.context
    tests = [test for disjunct in rule.disjuncts for test in disjunct.tests]
    body = [atom for disjunct in rule.disjuncts for atom in disjunct.atoms]
    body += [node for test in tests for node in nodes_in(test) if isinstance(node, RowAtom)]
    places = dict.fromkeys(place for atom in body for place in context.participating(atom))
    yield "body", any_of([*map(scope.is_prediction, places), *measure_places(scope, rule.body_measures)])
    yield "head", any_of(head_places(scope))
    yield "refuter", any_of([way for reason in found for way in _refutes(scope, reason)])


def _refutes(scope: Scope, reason: Judgement) -> Iterator[exp.Expr]:
    """Ways in which the prediction is a fact of a refuting instance."""
    context = scope.context
    match reason:
        case Leaf(RowAtom() as atom) if context.predictable(atom):
            yield scope.is_prediction(atom)
        case Exists(disjuncts):
            for disjunct in context.possible(disjuncts):
                for index, atom in enumerate(disjunct.atoms):
                    if context.predictable(atom):
                        joins = Joins(scope)
                        joins.read(atom, Source.PREDICTED)
                        for other, one in enumerate(disjunct.atoms):
                            if other != index:
                                joins.read(one, Source.EITHER if context.predictable(one) else Source.OBSERVED)
                        joins.compute(disjunct)
                        yield exp.Exists(this=joins.query(number(1), tests=disjunct.tests))
        case _:
            return
