"""Gives each step a name of its own: the printer puts the steps of all parts of a statement together."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import innermost_first, nodes
from rulescore.sql.words import identifier


def tell_steps_apart(statement: exp.Expr) -> exp.Expr:
    for number_of, steps in enumerate(innermost_first(statement, exp.With)):
        names = {step.alias: f"{step.alias}_{number_of}" for step in steps.expressions}
        for step in steps.expressions:
            step.set("materialized", None)
            step.args["alias"].set("this", identifier(names[step.alias]))
        assert steps.parent is not None
        for one in nodes(steps.parent):
            if isinstance(one, exp.Table) and one.name in names:
                one.set("this", identifier(names[one.name]))
    return statement
