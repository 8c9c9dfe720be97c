"""The plan of Horn rules on an engine: loads the tables that it needs, and makes statements that count many rules at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.counting import chains
from rulescore.counting.parameters import Counter, load_group, sizes
from rulescore.logic.plan import Group, Judge
from rulescore.logic.planner import Sizes, estimated_by_rule, estimated_groundings
from rulescore.setting.choices import Role
from rulescore.sql.horn import claims, conditions, evidence, triangles
from rulescore.sql.horn.chains import EVIDENCE, create_reach, create_shared, is_chain
from rulescore.sql.horn.claims import Entry, Grounded, HornContext
from rulescore.sql.horn.conditions import ConditionSource
from rulescore.sql.horn.triangles import is_triangle
from rulescore.sql.query import Select, TitledStatement
from rulescore.waiting import is_heard, tell


def prepare(counter: Counter) -> None:
    """Load the parameters of all rules of a plan, and make the tables that triangles and chains share. Evidence must be numbered
    before."""
    engine, loaded, groups = counter.engine, counter.loaded, counter.plan.groups
    for number, group in enumerate(groups):
        load_group(engine, loaded, number, group)
    met = [group for group in groups if is_chain(group)]
    if 2 not in loaded.fact_arities or not met:
        return
    predictions = 2 in loaded.prediction_arities
    engine.run(evidence.create_inverses(loaded.stride))
    engine.run(create_reach(EVIDENCE))
    if any(map(is_triangle, met)):
        for statement in triangles.tables(groups, counter.context):
            engine.run(statement, as_written=True)
    if predictions or not all(map(is_triangle, met)):
        for statement in create_shared(predictions=predictions):
            engine.run(statement)


def estimates(counter: Counter) -> dict[int, int]:
    """How many groundings we expect of each rule whose groundings the engine walks one by one, by the rule's number."""
    walked = [group for group in counter.plan.groups if len(group.shape.atoms) > 1 and not is_chain(group)]
    known = sizes(counter.engine, counter.loaded) if walked else {}
    return {rule: n for group in walked for rule, n in estimated_by_rule(group, known).items()}


def over_the_data(counter: Counter) -> Iterator[TitledStatement]:
    """Every statement that counts the plan over the data."""
    known = _sizes_if_heard(counter)
    for number in range(len(counter.plan.groups)):
        _tell_step(counter, number, "over the data", known)
        for statement in dataset_statements(counter, number):
            yield _title(counter, number, "over the data"), statement


def dataset_statements(counter: Counter, number: int) -> Iterator[Select]:
    """The statements that together count a group's groundings over the data."""
    group, context = counter.plan.groups[number], counter.context
    if is_chain(group) and not is_triangle(group) and 2 in context.fact_arities:
        yield from chains.dataset_statements(counter, number)
    elif (statement := dataset_statement(number, group, context)) is not None:
        yield statement


def with_predictions(counter: Counter) -> Iterator[TitledStatement]:
    """Every statement that counts the plan's groundings in which a prediction takes part."""
    known = _sizes_if_heard(counter)
    for number in range(len(counter.plan.groups)):
        _tell_step(counter, number, "with predictions", known)
        for title, statement in statements_with_predictions(counter, number):
            yield _title(counter, number, title), statement


def statements_with_predictions(counter: Counter, number: int) -> Iterator[TitledStatement]:
    """The statements that count a group's groundings in which a prediction takes part, each with a title."""
    group, context, roles = counter.plan.groups[number], counter.context, counter.roles
    if not is_chain(group) or not chains.counts_roles(roles, context):
        yield from prediction_statements(number, group, context, roles)
        return
    yield from chains.prediction_statements(counter, number)
    if not context.appendix:
        yield from refuter_statements(number, group, context, roles)
    elif Role.REFUTER in roles:
        for statement in chains.refuter_statements(counter, number):
            yield "prediction is the incompatible fact", statement


def _title(counter: Counter, number: int, what: str) -> str:
    """The rules that a statement counts, for errors of the database."""
    group = counter.plan.groups[number]
    others = f" and {len(group.heads) - 1:,} more" if len(group.heads) > 1 else ""
    return f"{_first_rule(counter, group)}{others}, of shape {group.text}, {what}"


def _first_rule(counter: Counter, group: Group) -> str:
    return counter.titles[group.heads[0].rule]


def _sizes_if_heard(counter: Counter) -> Sizes | None:
    """The numbers that estimates need, if somebody listens and the engine has them at once."""
    return sizes(counter.engine, counter.loaded) if is_heard() and counter.engine.capabilities.cheap_statements else None


def _tell_step(counter: Counter, number: int, what: str, known: Sizes | None) -> None:
    """Report progress: first all shapes over the data and then, if there are predictions, all shapes with them."""
    group, shapes = counter.plan.groups[number], len(counter.plan.groups)
    steps = shapes * (2 if counter.loaded.prediction_arities else 1)
    many = len(group.heads) > 1
    named = f"{len(group.heads):,} rules of shape {group.text}" if many else _first_rule(counter, group)
    done = number + (shapes if what == "with predictions" else 0)
    tell(f"counting {named} {what}", done, steps, None if known is None else estimated_groundings(group, known))


# Which statements count the groundings of a group: over the data, and for each place where a prediction can stand.


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
            if is_triangle(group) and not one_rule:
                return triangles.dataset_counts(number, context).keeping_order()
            counts = evidence.observed_counts(claims.located(groundings, readings=False), context, ["rule"])
            # With one atom, the facts of the bodies are few enough to find their evidence.
            return counts.keeping_order() if len(group.shape.atoms) == 1 else counts
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
            readings = len(context.orders[arity]) if own else 0
            return evidence.prediction_counts(claims.located(grounded, readings=own), context, readings, keep=keep)
        case Judge.CONDITIONS:
            sources = condition_sources(number, group)
            judged = claims.claims(grounded)
            return conditions.condition_counts(judged, sources, context, arity, predictions=True, own=own, keep=keep)
