"""The statements of a run, for people: shapes with their statements, and one rule's statement alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.counting.formulas import Formulas
from rulescore.counting.horn import condition_sources, dataset_statement, dataset_statements, statements_with_predictions
from rulescore.counting.parameters import Counter, load_group, sizes
from rulescore.logic.horn import Refutations
from rulescore.logic.normal import NormalRule
from rulescore.logic.plan import Group
from rulescore.logic.planner import estimated_groundings, plan
from rulescore.sql.formula import counts as formula_sql
from rulescore.sql.horn import claims as claim_sql
from rulescore.sql.horn import conditions as condition_sql
from rulescore.sql.horn import evidence as evidence_sql
from rulescore.sql.query import Select, alone, drop, every_row, tables_read


@dataclass(frozen=True, slots=True)
class ShapeExplanation:
    """A shape, how many rules have it, how many groundings we expect, and the statements that count them."""

    title: str
    rules: int
    estimated_groundings: int | None
    statements: list[str]


def explain(counter: Counter) -> list[ShapeExplanation]:
    """Every group of the plan, without counting."""
    known = sizes(counter.engine, counter.loaded)
    explanations = []
    for number, group in enumerate(counter.plan.groups):
        statements = []
        for statement in dataset_statements(counter, number):
            statements.append(f"-- over the data\n{counter.engine.text(statement, pretty=True)}")
        for title, statement in statements_with_predictions(counter, number):
            statements.append(f"-- {title}\n{counter.engine.text(statement, pretty=True)}")
        explanations.append(ShapeExplanation(group.text, len(group.heads), estimated_groundings(group, known), statements))
    return explanations


def rule_statement(counter: Counter, refutations: Refutations, rule: NormalRule) -> str:
    """The statement that counts one rule over the data, with its parameters written in."""
    number = len(counter.plan.groups)
    group = plan([(0, rule)], refutations).groups[0]
    statement = _statement(counter, number, group)
    if statement is None:
        return "-- no facts of the arities that this rule needs: nothing to count"
    with counter.engine.scratch_tables():
        tables = load_group(counter.engine, counter.loaded, number, group)
        rows = {table: counter.engine.query(every_row(table)) for table in tables}
        for table in tables:
            counter.engine.run(drop(table))
    names = {literal: _literal_text(literal, counter) for literal in _literals(counter, group)}
    return counter.engine.text(alone(statement, rows, names), pretty=True)


def _statement(counter: Counter, number: int, group: Group) -> Select | None:
    if counter.context.appendix:
        return dataset_statement(number, group, counter.context, one_rule=True)
    if not claim_sql.possible(group, counter.context, None):
        return None
    claims = claim_sql.claims(claim_sql.dataset_groundings(group, number, counter.context))
    if group.shape.head is None:
        return evidence_sql.plain_counts(claims, ["rule"], confirmed=False, refuted=True)
    sources = condition_sources(number, group)
    arity = len(group.shape.head)
    return condition_sql.condition_counts(claims, sources, counter.context, arity, predictions=False, own=False)


def _literals(counter: Counter, group: Group) -> set[int]:
    loaded = counter.loaded
    literals = {loaded.literal(literal) for body in group.bodies for literal in body.literals}
    literals |= {loaded.fact_literal(head.predicate) for head in group.heads if head.predicate is not None}
    return literals | {loaded.literal(literal) for _, rows in group.conditions for row in rows for literal in row.literals}


def _literal_text(literal: int, counter: Counter) -> str:
    name = counter.loaded.predicate_name(literal)
    return f"{name}, reversed" if literal % counter.loaded.stride == 1 else name


def formula_statement(formulas: Formulas, number: int) -> str:
    """The statement that counts one formula over the data."""
    statement = formula_sql.counts(formulas.context(number, predictions=False), number)
    if statement is None:
        return "-- a relation that this rule reads has no rows: nothing to count"
    text = f"{_legend(formulas, statement)}{formulas.engine.text(statement, pretty=True)}"
    if formulas.sorted_form(number) is None:
        return text
    return f"-- the pairs of this rule are counted by sorting; this statement, which joins, counts the same\n{text}"


def _legend(formulas: Formulas, statement: Select) -> str:
    """What the tables of a statement hold."""
    used = tables_read(statement)
    lines = [
        f"-- {stored} holds {what} {relation.name}\n"
        for relation in formulas.schema.relations.values()
        for stored, what in ((relation.observed, "the observed rows of"), (relation.predicted, "the predicted rows of"))
        if stored in used
    ]
    return "".join(lines)


def explain_formulas(formulas: Formulas, texts: Sequence[str]) -> list[ShapeExplanation]:
    """Every formula with its statements."""
    explanations = []
    estimates = formulas.estimates()
    for number in formulas.rules:
        statements = [f"-- over the data\n{formula_statement(formulas, number)}"]
        statement = formula_sql.counts(formulas.context(number, predictions=True), number)
        if statement is not None:
            statements.append(f"-- predictions\n{formulas.engine.text(statement, pretty=True)}")
        explanations.append(ShapeExplanation(texts[number], 1, estimates.get(number), statements))
    return explanations
