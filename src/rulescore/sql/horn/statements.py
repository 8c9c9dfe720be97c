"""Which statements count the groundings of a group: over the data, and for each place where a prediction can stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.logic.plan import Group, Judge
from rulescore.setting.choices import Role
from rulescore.sql.horn import claims, conditions, evidence, triangles
from rulescore.sql.horn.claims import Entry, Grounded, HornContext
from rulescore.sql.horn.conditions import ConditionSource
from rulescore.sql.query import Select, TitledStatement


def condition_sources(number: int, group: Group) -> list[ConditionSource]:
    """Every way to refute the heads of a group, oppositions among them."""
    sources = [conditions.opposition_source(len(group.shape.head or ()))]
    for index, (shape, _) in enumerate(group.conditions):
        sources.append(ConditionSource(shape, conditions.condition_table(number, index)))
    return sources


def dataset_statement(number: int, group: Group, context: HornContext, *, one_rule: bool = False) -> Select | None:
    """The statement that counts a group's groundings over the data; None if there are no facts of an arity that it needs.

    `one_rule`: use the plain form, since triangles pay only for many rules at once."""
    if not claims.possible(group, context, None):
        return None
    groundings = claims.dataset_groundings(group, number, context)
    arity = len(group.shape.head or ())
    match group.judge:
        case Judge.DENIAL:
            return evidence.plain_counts(claims.claims(groundings), ["rule"], confirmed=False, refuted=True)
        case Judge.EVIDENCE:
            if arity not in context.fact_arities:
                return None
            if triangles.is_triangle(group) and not one_rule:
                return triangles.dataset_counts(number, context).keeping_order()
            return evidence.observed_counts(claims.located(groundings, readings=False), context, ["rule"])
        case Judge.CONDITIONS:
            sources = condition_sources(number, group)
            return conditions.condition_counts(claims.claims(groundings), sources, context, arity, predictions=False, own=False)


def prediction_statements(number: int, group: Group, context: HornContext, roles: frozenset[Role]) -> Iterator[TitledStatement]:
    """The statements that count a group's groundings in which a prediction takes part, in some of these roles."""
    return (_by_the_appendix if context.appendix else _by_the_definition)(number, group, context, roles)


def _by_the_appendix(number: int, group: Group, context: HornContext, roles: frozenset[Role]) -> Iterator[TitledStatement]:
    keys = ["rule", "prediction"]
    if Role.BODY in roles and len(group.shape.head or ()) in context.fact_arities:
        for index in range(len(group.shape.atoms)):
            entry = Entry((index,))
            if claims.possible(group, context, entry):
                located = claims.located(claims.body_groundings(group, number, context, entry), readings=False)
                yield f"prediction at body atom {index + 1}", evidence.observed_counts(located, context, keys)
    if not claims.possible(group, context, Entry()):
        return
    if Role.HEAD in roles:
        heads = claims.claims(claims.head_groundings(group, number, context))
        yield "prediction is the head", evidence.plain_counts(heads, keys, confirmed=True, refuted=False)
    if Role.REFUTER in roles:
        opposed = claims.claims(claims.head_groundings(group, number, context, evidence.OPPOSES))
        yield "prediction is the incompatible fact", evidence.plain_counts(opposed, keys, confirmed=False, refuted=True)


def _by_the_definition(number: int, group: Group, context: HornContext, roles: frozenset[Role]) -> Iterator[TitledStatement]:
    # Without the body's role, a prediction in the body counts if it also plays another role that counts.
    others = [role for role in (Role.HEAD, Role.REFUTER) if role in roles]
    for entry in claims.body_entries(group):
        if claims.possible(group, context, entry):
            grounded = claims.body_groundings(group, number, context, entry)
            counts = _judged(number, group, context, grounded, None if Role.BODY in roles else others)
            if counts is not None:
                yield f"prediction at body atom {' and '.join(str(index + 1) for index in entry.atoms)}", counts
    if group.judge is Judge.DENIAL:
        return
    if others and claims.possible(group, context, Entry()):
        grounded = claims.head_groundings(group, number, context)
        counts = _judged(number, group, context, grounded, None if Role.HEAD in roles else others)
        if counts is not None:
            yield "prediction is the head", counts
    yield from refuter_statements(number, group, context, roles)


def refuter_statements(number: int, group: Group, context: HornContext, roles: frozenset[Role]) -> Iterator[TitledStatement]:
    """By the definition, the statement that counts predictions that only refute."""
    if Role.REFUTER in roles:
        sources = condition_sources(number, group)
        refuters = conditions.refuter_claims(group, number, context, sources)
        if refuters is not None:
            arity = len(group.shape.head or ())
            counts = conditions.condition_counts(refuters, sources, context, arity, predictions=True, own=False)
            yield "prediction refutes the head", counts


def _judged(number: int, group: Group, context: HornContext, grounded: Grounded, keep: Sequence[Role] | None) -> Select | None:
    arity = len(group.shape.head or ())
    own = grounded.own_arity == arity
    match group.judge:
        case Judge.DENIAL:
            if keep is not None:
                return None
            return evidence.plain_counts(claims.claims(grounded), ["rule", "prediction"], confirmed=False, refuted=True)
        case Judge.EVIDENCE:
            if arity not in context.fact_arities | context.prediction_arities:
                return None
            readings = len(context.orders_of(arity)) if own else 0
            return evidence.prediction_counts(claims.located(grounded, readings=own), context, readings, keep=keep)
        case Judge.CONDITIONS:
            sources = condition_sources(number, group)
            judged = claims.claims(grounded)
            return conditions.condition_counts(judged, sources, context, arity, predictions=True, own=own, keep=keep)
