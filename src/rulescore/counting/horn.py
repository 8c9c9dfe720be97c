"""The plan of Horn rules on an engine: loads the tables that it needs, and makes statements that count many rules at once."""

from __future__ import annotations

from collections.abc import Iterator

from rulescore.counting import chains
from rulescore.counting.parameters import Counter, load_group, sizes
from rulescore.logic.plan import Group
from rulescore.logic.planner import Sizes, estimated_by_rule, estimated_groundings, shape_text
from rulescore.setting.choices import Role
from rulescore.sql.horn import evidence as evidence_sql
from rulescore.sql.horn import triangles as triangle_sql
from rulescore.sql.horn.chains import create_shared, is_chain
from rulescore.sql.horn.statements import dataset_statement, prediction_statements, refuter_statements
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
    engine.run(evidence_sql.create_inverses(loaded.stride))
    if any(map(is_triangle, met)):
        engine.run(triangle_sql.create_ranks())
        engine.run(triangle_sql.create_edges(), as_written=True)
        engine.run(triangle_sql.create_triangles(distinct=counter.context.distinct_variables), as_written=True)
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
    return f"{_first_rule(counter, group)}{others}, of shape {shape_text(group.shape)}, {what}"


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
    named = f"{len(group.heads):,} rules of shape {shape_text(group.shape)}" if many else _first_rule(counter, group)
    done = number + (shapes if what == "with predictions" else 0)
    tell(f"counting {named} {what}", done, steps, None if known is None else estimated_groundings(group, known))
