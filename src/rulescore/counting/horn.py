"""The plan of Horn rules on an engine: its parameters as tables, and the statements that count many rules at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from rulescore.counting import chain_predictions, chains
from rulescore.counting.parameters import load_group, oppositions
from rulescore.counting.run import TitledStatement
from rulescore.counting.sizes import sizes
from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.estimates import Sizes, estimated_groundings, shape_text
from rulescore.logic.horn import Refutations, opposed_both_ways
from rulescore.logic.plan import Bound, Group, Judge, Plan, ShapeTest
from rulescore.progress import is_heard, tell
from rulescore.setting.choices import Role
from rulescore.sql.horn import claims as claim_sql
from rulescore.sql.horn import conditions as condition_sql
from rulescore.sql.horn import evidence as evidence_sql
from rulescore.sql.horn import signatures as signature_sql
from rulescore.sql.horn import wedges as wedge_sql
from rulescore.sql.horn.claims import Entry
from rulescore.sql.horn.context import HornContext
from rulescore.sql.query import Select, select, union_all


@dataclass(frozen=True, slots=True)
class Counter:
    """A plan and what is loaded. Statements that count read tables that `prepare` makes; listings need none of them."""

    engine: Engine
    loaded: Loaded
    plan: Plan
    context: HornContext
    roles: frozenset[Role]
    titles: Sequence[str]


def open_counter(
    engine: Engine,
    loaded: Loaded,
    plan: Plan,
    refutations: Refutations,
    *,
    appendix: bool,
    distinct_variables: bool,
    roles: frozenset[Role],
    titles: Sequence[str],
) -> Counter:
    """Load what refutes the heads of a plan. `titles`: how errors call each rule."""
    if plan.groups:
        heads, opponents = oppositions(loaded, refutations, {h.predicate for g in plan.groups for h in g.heads if h.predicate})
        engine.load(evidence_sql.OPPOSES, pa.table({"head": heads, "l0": opponents}))
    ambiguous = appendix and opposed_both_ways(refutations)
    context = HornContext(
        loaded.stride,
        loaded.orders,
        loaded.fact_arities,
        loaded.candidate_arities,
        distinct_variables,
        appendix,
        ambiguous,
        loaded.any_observed_prediction,
    )
    return Counter(engine, loaded, plan, context, roles, titles)


def prepare(counter: Counter) -> None:
    """Load the parameters of all rules of a plan, and make the tables that wedges and chains share. Evidence must be numbered
    before."""
    engine, loaded, groups = counter.engine, counter.loaded, counter.plan.groups
    for number, group in enumerate(groups):
        load_group(engine, loaded, number, group)
    if 2 not in loaded.fact_arities or not any(is_met_halfway(group, counter.context) for group in groups):
        return
    distinct = counter.context.distinct_variables
    engine.run(signature_sql.create_inverses(loaded.stride))
    if any(map(_is_wedge, groups)):
        _find_triangles(engine, loaded, distinct=distinct)
    if any(chains.is_chain(group, distinct=distinct) for group in groups):
        chains.prepare(engine, predictions=2 in loaded.candidate_arities)


def _is_wedge(group: Group) -> bool:
    return group.shape == wedge_sql.WEDGE and group.judge is Judge.EVIDENCE


def is_met_halfway(group: Group, context: HornContext) -> bool:
    """Whether we count a group's groundings without walking each of them."""
    return _is_wedge(group) or chains.is_chain(group, distinct=context.distinct_variables)


def _find_triangles(engine: Engine, loaded: Loaded, *, distinct: bool) -> None:
    engine.run(wedge_sql.create_ranks())
    engine.run(wedge_sql.create_edges(), as_written=True)
    engine.run(wedge_sql.create_triangles(distinct=distinct), as_written=True)
    if 2 in loaded.candidate_arities:
        engine.run(wedge_sql.create_spokes(distinct=distinct), as_written=True)
        for statement in () if distinct else wedge_sql.create_looped():
            engine.run(statement)


def condition_sources(number: int, group: Group) -> list[condition_sql.ConditionSource]:
    """Every way to refute the heads of a group, oppositions among them."""
    arity = len(group.shape.head or ())
    found = [condition_sql.opposition_source(arity)]
    for index, (shape, _) in enumerate(group.conditions):
        found.append(condition_sql.ConditionSource(shape, condition_sql.condition_table(number, index)))
    return found


def dataset_statement(counter: Counter, number: int, *, one_rule: bool = False) -> Select | None:
    """The statement that counts a group's groundings over the data; None if there are no facts of an arity that it needs.

    `one_rule`: use the plain form, since triangles pay only for many rules at once."""
    group = counter.plan.groups[number]
    context = counter.context
    if not claim_sql.possible(group, context, None):
        return None
    found = claim_sql.dataset_groundings(group, number, context)
    arity = len(group.shape.head or ())
    match group.judge:
        case Judge.DENIAL:
            return evidence_sql.plain_counts(claim_sql.claims(found), ["rule"], confirmed=False, refuted=True)
        case Judge.EVIDENCE:
            if arity not in context.fact_arities:
                return None
            if _is_wedge(group) and not one_rule:
                return wedge_sql.dataset_counts(number, context).keeping_order()
            return evidence_sql.observed_counts(claim_sql.located(found, readings=False), context, ["rule"])
        case Judge.CONDITIONS:
            sources = condition_sources(number, group)
            claims = claim_sql.claims(found)
            return condition_sql.condition_counts(claims, sources, context, arity, predictions=False, own=False)


def dataset_statements(counter: Counter, number: int) -> Iterator[Select]:
    """The statements that together count a group's groundings over the data."""
    group, context = counter.plan.groups[number], counter.context
    if chains.is_chain(group, distinct=context.distinct_variables) and 2 in context.fact_arities:
        yield from chains.dataset_statements(counter.engine, counter.loaded, number, group, context)
    elif (statement := dataset_statement(counter, number)) is not None:
        yield statement


def over_the_data(counter: Counter) -> Iterator[TitledStatement]:
    """Every statement that counts the plan over the data."""
    known = _sizes_if_heard(counter)
    for number in range(len(counter.plan.groups)):
        _tell_step(counter, number, "over the data", known)
        for statement in dataset_statements(counter, number):
            yield _title(counter, number, "over the data"), statement


def _title(counter: Counter, number: int, what: str) -> str:
    """The rules that a statement counts, for errors of the database."""
    group = counter.plan.groups[number]
    others = f" and {len(group.heads) - 1:,} more" if len(group.heads) > 1 else ""
    first = counter.titles[group.heads[0].rule]
    return f"{first}{others}, of shape {shape_text(group.shape)}, {what}"


def prediction_statements(counter: Counter, number: int) -> Iterator[TitledStatement]:
    """The statements that count a group's groundings in which a prediction takes part, each with a title."""
    group, context = counter.plan.groups[number], counter.context
    is_chain = chains.is_chain(group, distinct=context.distinct_variables)
    if is_chain and chain_predictions.counts_roles(counter.roles, context):
        yield from chain_predictions.statements(counter.engine, counter.loaded, number, group, context, counter.roles)
        yield from _chain_refuters(counter, number) if context.appendix else _refuters(counter, number)
    elif context.appendix:
        if _is_wedge(group) and context.distinct_variables and counter.roles == frozenset(Role) and _binary_predictions(context):
            yield from _wedge_statements(counter, number)
        else:
            yield from _appendix_statements(counter, number)
    elif _is_wedge(group) and counter.roles == {Role.BODY, Role.HEAD} and _binary_predictions(context):
        yield from _wedge_statements(counter, number)
        if not context.distinct_variables:
            yield "prediction and a loop", _coincidences(counter, number)
    else:
        yield from _definition_statements(counter, number)


def _binary_predictions(context: HornContext) -> bool:
    return 2 in context.fact_arities and 2 in context.candidate_arities


def _wedge_statements(counter: Counter, number: int) -> Iterator[TitledStatement]:
    """Groundings of a wedge whose corner opposite the prediction is neither of the prediction's ends."""
    for index in (0, 1):
        yield f"prediction at body atom {index + 1}", wedge_sql.body_counts(number, index, counter.context).keeping_order()
    yield "prediction is the head", wedge_sql.head_counts(number, counter.context).keeping_order()
    if counter.context.appendix:
        yield "prediction is the incompatible fact", wedge_sql.refuter_counts(number).keeping_order()


def _coincidences(counter: Counter, number: int) -> Select:
    """Counts the groundings of a wedge in which the corner opposite the prediction is one of the prediction's own ends. One side of
    the triangle is then a loop, so that the prediction is a loop or touches one."""
    group, context = counter.plan.groups[number], replace(counter.context, looped=True)
    found = []
    for opposite, ends, entry in ((1, (0, 2), Entry((0,))), (0, (1, 2), Entry((1,))), (2, (0, 1), Entry())):
        for tests in (
            (ShapeTest(True, Bound(opposite), Bound(ends[0])),),
            (ShapeTest(True, Bound(opposite), Bound(ends[1])), ShapeTest(False, Bound(ends[0]), Bound(ends[1]))),
        ):
            narrowed = replace(group, shape=replace(group.shape, tests=tests))
            found.append(_groundings(narrowed, number, context, entry))
    if any(len({literal.predicate for literal in body.literals}) == 1 for body in group.bodies):
        found.append(_groundings(group, number, context, Entry((0, 1))))
    parts = [select("*").from_(claim_sql.located(one, readings=True).subquery("q")) for one in found]
    return evidence_sql.prediction_counts(union_all(parts), context, len(context.orders_of(2)), keep=None)


def _groundings(group: Group, number: int, context: HornContext, entry: Entry) -> claim_sql.Grounded:
    if entry.atoms:
        return claim_sql.body_groundings(group, number, context, entry)
    return claim_sql.head_groundings(group, number, context)


def _entry_statements(
    counter: Counter, number: int, group: Group, entry: Entry, title: str, keep: Sequence[Role] | None
) -> Iterator[TitledStatement]:
    context = counter.context
    if not claim_sql.possible(group, context, entry):
        return
    statement = _judge(counter, number, _groundings(group, number, context, entry), keep)
    if statement is not None:
        yield title, statement


def _appendix_statements(counter: Counter, number: int) -> Iterator[TitledStatement]:
    group, context = counter.plan.groups[number], counter.context
    arity = len(group.shape.head or ())
    keys = ["rule", "prediction"]
    if Role.BODY in counter.roles and arity in context.fact_arities:
        for index in range(len(group.shape.atoms)):
            entry = Entry((index,))
            if claim_sql.possible(group, context, entry):
                located = claim_sql.located(claim_sql.body_groundings(group, number, context, entry), readings=False)
                yield f"prediction at body atom {index + 1}", evidence_sql.observed_counts(located, context, keys)
    if not claim_sql.possible(group, context, Entry()):
        return
    if Role.HEAD in counter.roles:
        claims = claim_sql.claims(claim_sql.head_groundings(group, number, context))
        yield "prediction is the head", evidence_sql.plain_counts(claims, keys, confirmed=True, refuted=False)
    if Role.REFUTER in counter.roles:
        claims = claim_sql.claims(claim_sql.head_groundings(group, number, context, evidence_sql.OPPOSES))
        yield "prediction is the incompatible fact", evidence_sql.plain_counts(claims, keys, confirmed=False, refuted=True)


def _chain_refuters(counter: Counter, number: int) -> Iterator[TitledStatement]:
    if Role.REFUTER in counter.roles:
        group = counter.plan.groups[number]
        for statement in chains.refuter_statements(counter.engine, counter.loaded, number, group, counter.context):
            yield "prediction is the incompatible fact", statement


def _definition_statements(counter: Counter, number: int) -> Iterator[TitledStatement]:
    group = counter.plan.groups[number]
    # Without the body's role, a prediction in the body counts if it also plays another role that counts.
    others = [role for role in (Role.HEAD, Role.REFUTER) if role in counter.roles]
    for entry in claim_sql.body_entries(group):
        atoms = " and ".join(str(index + 1) for index in entry.atoms)
        keep = None if Role.BODY in counter.roles else others
        yield from _entry_statements(counter, number, group, entry, f"prediction at body atom {atoms}", keep)
    if group.judge is Judge.DENIAL:
        return
    if others:
        keep = None if Role.HEAD in counter.roles else others
        yield from _entry_statements(counter, number, group, Entry(), "prediction is the head", keep)
    yield from _refuters(counter, number)


def _refuters(counter: Counter, number: int) -> Iterator[TitledStatement]:
    group, context = counter.plan.groups[number], counter.context
    if Role.REFUTER in counter.roles:
        claims = condition_sql.refuter_claims(group, number, context, condition_sources(number, group))
        if claims is not None:
            yield "prediction refutes the head", _judge_refuter(counter, number, claims)


def _judge(counter: Counter, number: int, found: claim_sql.Grounded, keep: Sequence[Role] | None) -> Select | None:
    group, context = counter.plan.groups[number], counter.context
    arity = len(group.shape.head or ())
    own = found.own_arity == arity
    match group.judge:
        case Judge.DENIAL:
            if keep is not None:
                return None
            return evidence_sql.plain_counts(claim_sql.claims(found), ["rule", "prediction"], confirmed=False, refuted=True)
        case Judge.EVIDENCE:
            if arity not in context.fact_arities | context.candidate_arities:
                return None
            readings = len(context.orders_of(arity)) if own else 0
            return evidence_sql.prediction_counts(claim_sql.located(found, readings=own), context, readings, keep=keep)
        case Judge.CONDITIONS:
            sources = condition_sources(number, group)
            claims = claim_sql.claims(found)
            return condition_sql.condition_counts(claims, sources, context, arity, predictions=True, own=own, keep=keep)


def _judge_refuter(counter: Counter, number: int, claims: Select) -> Select:
    group, context = counter.plan.groups[number], counter.context
    arity = len(group.shape.head or ())
    sources = condition_sources(number, group)
    return condition_sql.condition_counts(claims, sources, context, arity, predictions=True, own=False)


def with_predictions(counter: Counter) -> Iterator[TitledStatement]:
    """Every statement that counts the plan's groundings in which a prediction takes part."""
    known = _sizes_if_heard(counter)
    for number in range(len(counter.plan.groups)):
        _tell_step(counter, number, "with predictions", known)
        for title, statement in prediction_statements(counter, number):
            yield _title(counter, number, title), statement


def _sizes_if_heard(counter: Counter) -> Sizes | None:
    """What estimates need, if somebody hears them and the engine has it at once."""
    return sizes(counter.engine, counter.loaded) if is_heard() and counter.engine.capabilities.cheap_statements else None


def _tell_step(counter: Counter, number: int, what: str, known: Sizes | None) -> None:
    """Report progress: first all shapes over the data and then, if there are predictions, all shapes with them."""
    group, shapes = counter.plan.groups[number], len(counter.plan.groups)
    steps = shapes * (2 if counter.loaded.candidate_arities else 1)
    first = counter.titles[group.heads[0].rule]
    named = first if len(group.heads) == 1 else f"{len(group.heads):,} rules of shape {shape_text(group.shape)}"
    done = number + (shapes if what == "with predictions" else 0)
    tell(f"counting {named} {what}", done, steps, None if known is None else estimated_groundings(group, known))
